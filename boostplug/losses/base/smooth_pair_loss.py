"""`SmoothPairLoss`: a smooth function of the score difference, summed over pairs in linear time.

To add one, state its `PairFunction`: the value and two derivatives as NumPy functions. If grades have gains, state its
`grade_gains` too. Everything else is inherited. Where weights follow the current ranks, see `losses.base.lists`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.core.cached import cached_property
from boostplug.core.checks import check_number, frozen
from boostplug.core.threads import run_over_queries
from boostplug.data.grade_groups import GradeGroups, ListedPairs
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.pairs.grid import sum_across
from boostplug.kernels.pairs.masses import gap_sums
from boostplug.kernels.pairs.pair_by_pair import sum_by_pair
from boostplug.kernels.pairs.pair_task import Task
from boostplug.kernels.pairs.sampling import Function
from boostplug.kernels.pairs.smooth import plan
from boostplug.losses.base.loss import LARGEST_VALUE
from boostplug.losses.base.pair_loss import PairFunction, PairLoss

GroupWeight = Callable[[Ints, Ints], Floats]  # of pairs of groups, higher and lower
Functions = tuple[Function, ...]
_PairData = tuple[Floats, Floats | None, GroupWeight | None]  # c_q of queries, gains of grades, weights of grades

_LEAST_CURVATURE = 1e-12  # beside the slope; where it vanishes, a Hessian is held at 1e-16 of the gradient
_BOUND = "use hessian='global', which takes the bound 2 max(second)"
_NO_CORNER = "round the corner, as log(1 + exp(1 - d)) does for a hinge, or use QBRank, which bounds a hinge"
_BLOCK = 1 << 18  # pairs in one call of a function; as many as rows if these are more
_COMPILED_UP_TO, _CALLED_UP_TO = 160.0, 16.0  # pairs a document that are summed one by one
_NONE = frozen(np.zeros(0))
# How the value and the derivatives of a pair count in the row of the higher grade and in that of the lower.
_OF_VALUE, _OF_DERIVATIVES = (frozen(np.array(signs)) for signs in ([[1.0], [0.0]], [[1.0, 1.0], [-1.0, 1.0]]))


def sum_over_pairs(
    pair: PairFunction,
    scores: Floats,
    queries: Queries,
    factor: Floats,
    *,
    gain: Floats | None = None,
    weight: GroupWeight | None = None,
    value: bool = False,
) -> Floats:
    """Return sums over the pairs to learn, each query's times its factor.

    Of shape (2, n_rows): first derivatives, which count negatively in the row of the lower grade, and second ones. With
    `value` of shape (1, n_rows): values, each in the row of the higher grade.

    A pair of grades weighs the gap of its grades' gains, if there are any, and what its documents weigh. `weight` is a
    function of two groups in place of gains. Then every pair is summed by itself.
    """
    functions, signs = ((pair.value,), _OF_VALUE) if value else ((pair.first, pair.second), _OF_DERIVATIVES)
    out = np.zeros((len(functions), len(scores)))
    if queries.pairs is not None:
        _add_listed(functions, signs, scores, queries.listed_pairs, factor, pair.steepness, out)
        return out
    groups, grids, kind = queries.grade_groups, None if weight is not None else pair.grids, None if value else pair.kind
    most = np.inf if grids is None else _CALLED_UP_TO if kind is None else _COMPILED_UP_TO
    found = queries.remember(("plan", most), lambda: plan(groups.view, groups.n_pairs, most))
    factor.setflags(write=False)  # as scores are, so that kernels are compiled for one type
    task = Task(scores, pair.steepness, groups.view, _NONE if gain is None else gain, factor, out)
    if grids is not None and len(found.lists):
        grid = grids[0 if value else 1]
        run_over_queries(sum_across, found.before_list, task, found.lists, found.cuts, grid, signs)
    parts = found.parts
    if kind is not None and len(parts):
        wide = np.zeros(len(parts), np.bool_)  # those whose scores range too widely for the kernel
        run_over_queries(sum_by_pair, found.before_part, task, parts, kind, wide)
        parts = parts[wide]
    if len(parts):
        _add_parts(functions, signs, parts, groups, weight, task)
    return out


def _add_parts(
    functions: Functions, signs: Floats, parts: Ints, groups: GradeGroups, weight: GroupWeight | None, task: Task
) -> None:
    """Add the pairs within parts to the outputs of their rows, by calling the functions."""
    group_of, a, b = groups.group_of_document, groups.view.winner, groups.view.loser
    for i, j in groups.pairs((parts[:, 0], parts[:, 1]), block=max(_BLOCK, len(task.scores))):
        higher, lower = group_of[i], group_of[j]
        w = task.factor[groups.query_of_group[higher]]
        if weight is not None:
            w *= weight(higher, lower)
        if len(task.gain):
            w *= task.gain[higher] - task.gain[lower]
        if len(a):
            w *= a[i] * b[j]
        rows = groups.rows[i], groups.rows[j]
        _add(functions, signs, rows, w, task.steepness * (task.scores[rows[0]] - task.scores[rows[1]]), task.out)


def _add_listed(
    functions: Functions, signs: Floats, scores: Floats, listed: ListedPairs, factor: Floats, steepness: float,
    out: Floats,
) -> None:  # fmt: skip
    """Add the explicit pairs, each query's times its factor, to the outputs of their rows."""
    weight = listed.weight * np.repeat(factor, np.diff(listed.start))
    size = max(_BLOCK, len(scores))
    for first in range(0, len(weight), size):
        part = slice(first, first + size)
        rows = listed.winner[part], listed.loser[part]
        _add(functions, signs, rows, weight[part], steepness * (scores[rows[0]] - scores[rows[1]]), out)


def _add(functions: Functions, signs: Floats, rows: tuple[Ints, Ints], weight: Floats, d: Floats, out: Floats) -> None:
    """Add the functions of the differences d of some pairs to the outputs of both rows."""
    for k, function in enumerate(functions):
        of_pairs = weight * function(d)
        for of_side, sign in zip(rows, signs[:, k], strict=True):
            if sign:
                out[k] += sign * np.bincount(of_side, of_pairs, out.shape[1])


_ONES = PairFunction(np.ones_like, np.ones_like, np.ones_like)


class SmoothPairLoss(PairLoss, ABC):
    """A sum over pairs of a smooth function of the score difference.

    A subclass states `pair_function`; its field `sigmoid`, if it has one, multiplies score differences. A field
    `hessian` may offer "newton" (the function's second derivative), "bound" (twice that) and "global" (twice the
    largest). It must not be 0 where all scores are equal, or the frameworks grow no tree.
    """

    sigmoid: float = 1.0
    hessian: str = "newton"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(f"{type(self).__name__}: sigmoid", self.sigmoid, least=1e-100, most=1e100)
        pair, chosen = self.scaled_pair_function, self.hessian
        slope, second = (float(function(np.zeros(1))[0]) for function in (pair.first, pair.second))
        if abs(pair.largest_second if chosen == "global" else second) <= _LEAST_CURVATURE * abs(slope):
            bounded = chosen != "global" and 0.0 < pair.largest_second < np.inf
            raise ValueError(
                f"{type(self).__name__}: second is {second:g} at 0, where training begins, and first is {slope:g}, so "
                f"that the model would stay constant; {_BOUND if bounded else _NO_CORNER}"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name != "scaled_pair_function"
        }  # lambdas cannot be pickled

    @property
    @abstractmethod
    def pair_function(self) -> PairFunction:
        """The function of a pair's score difference."""

    @cached_property
    def scaled_pair_function(self) -> PairFunction:
        """The pair function, by the difference times `sigmoid`; kept, as its samples are found by its identity."""
        return replace(self.pair_function, steepness=float(self.sigmoid))

    def grade_gains(self, queries: Queries) -> Floats | None:  # noqa: ARG002 (the default)
        """Return the gain of each group of `Queries.grade_groups`, ascending within a query.

        A pair weighs the gap of its gains. None if all pairs of different grades weigh the same.
        """
        return None

    def group_weight(self, queries: Queries) -> GroupWeight | None:  # noqa: ARG002 (the default)
        """Return a function from two groups to the weight of their pairs, in place of `grade_gains`."""
        return None

    def pair_weight_of_queries(self, queries: Queries) -> Floats | None:
        """Return the weight of each query's pairs together."""
        if queries.pairs is not None or (self.grade_gains(queries) is None and self.group_weight(queries) is None):
            return None
        groups = queries.grade_groups
        query_of_document = np.repeat(np.arange(len(groups.query)), groups.n_documents)
        of_queries = np.bincount(query_of_document, self._pair_weight_of_documents(queries), len(groups.query))
        return 0.5 * of_queries.astype(np.float64)

    def _prepared(self, queries: Queries) -> _PairData:
        return self.normalization_factors(queries), self.grade_gains(queries), self.group_weight(queries)

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        pair, (factor, gain, weight) = self.scaled_pair_function, self._prepared(queries)
        with np.errstate(over="ignore"):  # cut below
            of_rows = sum_over_pairs(pair, scores, queries, factor, gain=gain, weight=weight, value=True)[0]
            value = np.bincount(queries.query_of_row, of_rows, queries.n_queries)
        return np.clip(value, -LARGEST_VALUE, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian."""
        pair, choice = self.scaled_pair_function, self.hessian
        factor, gain, weight = queries.remember((SmoothPairLoss, self), partial(self._prepared, queries))
        factors = factor * (scale * pair.steepness)
        gradient, hessian = sum_over_pairs(pair, scores, queries, factors, gain=gain, weight=weight)
        if choice == "global":
            hessian = self._pair_weight_of_rows(queries, factors) * (2.0 * pair.steepness * pair.largest_second)
        elif pair.steepness != 1.0 or choice == "bound":
            hessian *= 2.0 * pair.steepness if choice == "bound" else pair.steepness
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _pair_weight_of_rows(self, queries: Queries, factors: Floats) -> Floats:
        """Return the weight of each row's pairs together, times the query's factor."""
        out = np.zeros(queries.n_rows)
        if queries.pairs is not None:
            pairs = queries.listed_pairs
            weight = pairs.weight * np.repeat(factors, np.diff(pairs.start))
            out += np.bincount(pairs.winner, weight, len(out)) + np.bincount(pairs.loser, weight, len(out))
            return out
        groups = queries.grade_groups
        out[groups.rows] = self._pair_weight_of_documents(queries) * np.repeat(factors, groups.n_documents)
        return out

    def _pair_weight_of_documents(self, queries: Queries) -> Floats:
        """Return the weight of the pairs of each document of the grade groups; no score changes it."""

        def build() -> Floats:
            groups = queries.grade_groups.unweighted()
            _, gain, weight = self._prepared(queries)
            if gain is None:
                scores, factor = frozen(np.zeros(queries.n_rows)), np.ones(len(groups.query))
                of_rows = sum_over_pairs(_ONES, scores, queries.with_grade_groups(groups), factor, weight=weight)[1]
                return frozen(of_rows[groups.rows])
            of_groups = np.empty(len(gain))
            gap_sums(groups.query_group, gain, groups.mass, of_groups)
            of_documents = of_groups[groups.group_of_document]
            return frozen(of_documents * groups.sqrt_weight if len(groups.sqrt_weight) else of_documents)

        return queries.remember(("pair weights", self), build)
