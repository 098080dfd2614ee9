"""`SmoothPairLoss`: a smooth function of the score difference, summed over pairs in linear time.

To add one, state its `PairFunction`, made of the value and two derivatives as NumPy functions, and, if grades have
gains, its `grade_gains`; everything else is inherited. Where weights follow the current ranks, see `losses.base.lists`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.core.cached import cached_property
from boostplug.core.checks import check_number, frozen
from boostplug.data.grade_groups import GradeGroups, ListedPairs
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.pairs.pair_task import Parts, Task
from boostplug.kernels.pairs.sampling import Function, Sampled, sampled
from boostplug.kernels.pairs.smooth import Plan, plan, sum_by_grid, sum_short_parts
from boostplug.losses.base.loss import LARGEST_VALUE
from boostplug.losses.base.pair_loss import PairCurve, PairLoss

GroupWeight = Callable[[Ints, Ints], Floats]  # of pairs of groups, higher and lower

_LEAST_CURVATURE = 1e-12  # beside the slope; where it vanishes, a Hessian is held at 1e-16 of the gradient
_BOUND = "use hessian='global', which takes the bound 2 max(second)"
_NO_CORNER = "round the corner, as log(1 + exp(1 - d)) does for a hinge, or use QBRank, which bounds a hinge"
_BLOCK = 1 << 18  # pairs in one call of a function; as many as rows if these are more
_COMPILED_UP_TO, _CALLED_UP_TO = 160.0, 16.0  # pairs a document that are summed one by one
_NONE = frozen(np.zeros(0))
# How the value, the derivatives and the weight of a pair count in the row of the higher grade and in that of the lower.
_OF_VALUE, _OF_DERIVATIVES, _OF_WEIGHT = (
    frozen(np.array(signs)) for signs in ([[1.0], [0.0]], [[1.0, 1.0], [-1.0, 1.0]], [[1.0], [1.0]])
)


class Functions(NamedTuple):
    """Functions of the score difference to sum over pairs.

    Attributes
    ----------
    functions : tuple of callable
    signs : ndarray of shape (2, n_functions)
        How each counts in the row of the higher grade, signs[0], and of the lower one.
    sampled : Sampled, optional
        The functions on a grid; None if no grid describes them.
    kind : int, optional
        The compiled functions, if there are such.
    """

    functions: tuple[Function, ...]
    signs: Floats
    sampled: Sampled | None
    kind: int | None = None


@dataclass(frozen=True, eq=False)
class PairFunction:
    """A smooth function ρ of the score difference of a pair, the higher grade's less the lower grade's.

    Attributes
    ----------
    value, first, second : callable
        ρ, ρ' and ρ'', or what a loss takes for ρ'': from a float64 array of differences to one of the same shape.
    largest_second : float
        The largest ``abs`` of the second derivative, for Hessians that bound the loss everywhere.
    kind : int, optional
        A kernel that knows the derivatives, if there is one.
    least_second : float
        The least second derivative, if it is below 0.
    """

    value: Function
    first: Function
    second: Function
    largest_second: float
    kind: int | None = None
    least_second: float = 0.0

    @property
    def sampled(self) -> Sampled | None:
        """The three functions on a grid of score differences; None if no grid describes them."""
        return sampled((self.value, self.first, self.second))

    @property
    def for_value(self) -> Functions:
        """One output, in which each pair counts once: in the row of the higher grade."""
        grid = self.sampled
        return Functions((self.value,), _OF_VALUE, grid and grid.chosen(0, 1))

    @property
    def for_derivatives(self) -> Functions:
        """Two outputs: gradient, where the row of the lower grade counts negatively, and Hessian."""
        grid = self.sampled
        return Functions((self.first, self.second), _OF_DERIVATIVES, grid and grid.chosen(1, 3), self.kind)


def sum_over_grades(
    functions: Functions,
    scores: Floats,
    groups: GradeGroups,
    factor: Floats,
    *,
    gain: Floats | None = None,
    multiplier: float = 1.0,
    weight: GroupWeight | None = None,
) -> Floats:
    """Return sums over the pairs of different grades, each query's times its factor, of shape (n_functions, n_rows).

    A pair weighs the gap of its grades' gains, if there are any, and what its documents weigh. `weight` is a function
    of two groups in place of gains; then every pair is summed by itself.
    """
    on_grid = functions.sampled is not None and weight is None
    most = np.inf if not on_grid else _CALLED_UP_TO if functions.kind is None else _COMPILED_UP_TO
    of_data: Plan = groups.remember((plan, most), lambda: plan(groups.view, groups.n_pairs, most))
    out = np.zeros((len(functions.functions), len(scores)))
    level = _NONE if gain is None else gain
    task = Task(frozen(scores.view()), float(multiplier), groups.view, level, frozen(factor.view()), out)
    if functions.sampled is not None:
        sum_by_grid(task, of_data, functions.sampled, functions.signs)
    parts = of_data.parts if functions.kind is None else sum_short_parts(task, of_data, functions.kind)
    if len(parts.first):
        _add_parts(functions, parts, groups, weight, task)
    return out


def _add_parts(functions: Functions, parts: Parts, groups: GradeGroups, weight: GroupWeight | None, task: Task) -> None:
    """Add the pairs within parts to the outputs of their rows, by calling the functions."""
    group_of, a, b = groups.group_of_document, groups.view.winner, groups.view.loser
    for i, j in groups.pairs((parts.first, parts.last), block=max(_BLOCK, len(task.scores))):
        higher, lower = group_of[i], group_of[j]
        w = task.factor[groups.query_of_group[higher]]
        if weight is not None:
            w *= weight(higher, lower)
        if len(task.gain):
            w *= task.gain[higher] - task.gain[lower]
        if len(a):
            w *= a[i] * b[j]
        _add(functions, groups.rows[i], groups.rows[j], w, task.scores, task.multiplier, task.out)


def sum_over_listed(
    functions: Functions, scores: Floats, listed: ListedPairs, factor: Floats, *, multiplier: float = 1.0
) -> Floats:
    """Return sums over explicit pairs, each query's times its factor, of shape (n_functions, n_rows)."""
    out = np.zeros((len(functions.functions), len(scores)))
    weight = listed.weight * np.repeat(factor, np.diff(listed.start))
    size = max(_BLOCK, len(scores))
    for first in range(0, len(weight), size):
        part = slice(first, first + size)
        _add(functions, listed.winner[part], listed.loser[part], weight[part], scores, multiplier, out)
    return out


def _add(
    functions: Functions, winner: Ints, loser: Ints, weight: Floats, scores: Floats, multiplier: float, out: Floats
) -> None:
    """Add the functions of some pairs to the outputs of both rows."""
    d = multiplier * (scores[winner] - scores[loser])
    for k, function in enumerate(functions.functions):
        terms = weight * function(d)
        for rows, sign in zip((winner, loser), functions.signs[:, k], strict=True):
            if sign:
                out[k] += sign * np.bincount(rows, terms, len(scores))


_ONE = Functions((np.ones_like,), _OF_WEIGHT, sampled((np.ones_like,)))


class SmoothPairLoss(PairLoss, ABC):
    """A sum over pairs of a smooth function of the score difference.

    A subclass states `pair_function`; its field `sigmoid`, if it has one, multiplies score differences. A field
    `hessian` may offer "newton" (the function's second derivative), "bound" (twice that) and "global" (twice the
    largest). It must not be 0 where all scores are equal, or the frameworks grow no tree.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if hasattr(self, "sigmoid"):
            check_number(f"{type(self).__name__}: sigmoid", self.sigmoid, least=1e-100, most=1e100)
        pair, chosen = self._pair, getattr(self, "hessian", "newton")
        slope, second = (float(function(np.zeros(1))[0]) for function in (pair.first, pair.second))
        if abs(pair.largest_second if chosen == "global" else second) <= _LEAST_CURVATURE * abs(slope):
            bounded = chosen != "global" and 0.0 < pair.largest_second < np.inf
            raise ValueError(
                f"{type(self).__name__}: second is {second:g} at 0, where training begins, and first is {slope:g}, so "
                f"that the model would stay constant; {_BOUND if bounded else _NO_CORNER}"
            )

    @cached_property
    def _pair(self) -> PairFunction:
        """The pair function, whose samples are found by its identity."""
        return self.pair_function

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_pair"}  # lambdas cannot be pickled

    @property
    @abstractmethod
    def pair_function(self) -> PairFunction:
        """The function of a pair's score difference."""

    @property
    def pair_curve(self) -> PairCurve:
        """The pair function, by the difference times sigmoid."""
        pair = self._pair
        return PairCurve(self._multiplier, pair.value, pair.first, pair.second)

    @property
    def _multiplier(self) -> float:
        return float(getattr(self, "sigmoid", 1.0))

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
        of_rows = self._pair_weight_of_rows(queries, np.full(len(queries.grade_groups.query), 0.5))
        of_queries = np.bincount(queries.query_of_row, of_rows, queries.n_queries)[queries.grade_groups.query]
        return of_queries.astype(np.float64)

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        with np.errstate(over="ignore"):  # cut below
            of_rows = self._sums(self._pair.for_value, scores, queries, self.normalization_factors(queries))[0]
            value = np.bincount(queries.query_of_row, of_rows, queries.n_queries)
        return np.clip(value, -LARGEST_VALUE, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian."""
        s, choice = self._multiplier, getattr(self, "hessian", "newton")
        factors = self.normalization_factors(queries) * (scale * s)
        gradient, hessian = self._sums(self._pair.for_derivatives, scores, queries, factors)
        if choice == "global":
            hessian = self._pair_weight_of_rows(queries, factors) * (2.0 * s * self._pair.largest_second)
        elif s != 1.0 or choice == "bound":
            hessian *= 2.0 * s if choice == "bound" else s
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _sums(self, functions: Functions, scores: Floats, queries: Queries, factors: Floats) -> Floats:
        if queries.pairs is not None:
            return sum_over_listed(functions, scores, queries.listed_pairs, factors, multiplier=self._multiplier)
        return sum_over_grades(
            functions,
            scores,
            queries.grade_groups,
            factors,
            gain=self.grade_gains(queries),
            multiplier=self._multiplier,
            weight=self.group_weight(queries),
        )

    def _pair_weight_of_rows(self, queries: Queries, factors: Floats) -> Floats:
        """Return the weight of each row's pairs together, times the query's factor; no score changes it."""
        scores, groups = np.zeros(queries.n_rows), queries.grade_groups
        if queries.pairs is not None:
            of_pairs: Floats = sum_over_listed(_ONE, scores, queries.listed_pairs, factors)[0]
            return of_pairs

        def compute() -> Floats:
            gain, weight, ones = self.grade_gains(queries), self.group_weight(queries), np.ones(len(groups.query))
            return frozen(sum_over_grades(_ONE, scores, groups.unweighted(), ones, gain=gain, weight=weight)[0])

        factor_of_row = np.zeros(queries.n_rows)
        factor_of_row[groups.rows] = np.repeat(factors, groups.n_documents)
        of_rows: Floats = queries.remember((SmoothPairLoss, self), compute)
        return of_rows * factor_of_row
