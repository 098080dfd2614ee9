"""`SmoothPairLoss`: a smooth function of the score difference, summed over pairs in linear time.

To add one, state its `PairFunction`, made of the value and two derivatives as NumPy functions, and, if grades weigh,
its `pair_weights`; everything else is inherited.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_number, frozen
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.pairs.pair_task import NDCG, TABULATED, Functions, PairWeights, Task
from boostplug.kernels.pairs.smooth import short_and_long, sum_pairs
from boostplug.kernels.pairs.tables import Tables, tables_of
from boostplug.losses.base.loss import LARGEST_VALUE
from boostplug.losses.base.pair_loss import PairLoss
from boostplug.losses.base.position_bias import PairCurve

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Function = Callable[[Floats], Floats]

_BLOCK = 1 << 18  # differences in one call of a function
_NONE = frozen(np.zeros(0, np.bool_))
# Shares of the functions (rows) in the outputs (columns), where the other document has the lower and the higher grade.
_ONCE, _NOT = frozen(np.ones((1, 1))), frozen(np.zeros((1, 1)))
_LOWER, _HIGHER = frozen(np.diag([1.0, 1.0])), frozen(np.diag([-1.0, 1.0]))
# NDCGBoost's first derivative is minus the second: the sums of that are enough.
_LOWER_EVEN, _HIGHER_EVEN = frozen(np.array([[0.0, 0.0], [-1.0, 1.0]])), frozen(np.array([[0.0, 0.0], [1.0, 1.0]]))


@dataclass(frozen=True, eq=False)
class SmoothSums:
    """Functions of the difference with their share in each output, ready to be summed."""

    functions: Functions

    def __call__(
        self,
        scores: Floats,
        queries: Queries,
        factor: Floats,
        *,
        weights: PairWeights = PairWeights(),  # noqa: B008 (a constant)
        multiplier: float = 1.0,
        skipped: Bools = _NONE,
    ) -> Floats:
        """Return the outputs of each row, of shape (n_outputs, n_rows): pair weights and factors multiplied in."""
        groups, functions = queries.grade_groups, self.functions
        out = np.zeros((functions.lower.shape[1], queries.n_rows))
        key = SmoothSums, functions.kind, weights.what
        short, long = groups.remember(
            key, lambda: short_and_long(groups.view, groups.n_pairs, functions.kind, weights.what)
        )
        task = Task(frozen(scores.view()), float(multiplier), groups.view, weights, frozen(factor.view()), out)
        sum_pairs(task, short, long, functions, skipped)
        return out


def value_per_query(per_row: Floats, queries: Queries) -> Floats:
    """Return the sum over each query's rows, cut where the sum over queries might overflow."""
    groups = queries.grade_groups
    out = np.zeros(queries.n_queries)
    if len(groups.query):
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(per_row[groups.rows], groups.query_start[:-1])
        out[groups.query] = np.clip(sums, -LARGEST_VALUE, LARGEST_VALUE)
    return out


@dataclass(frozen=True, eq=False)
class PairFunction:
    """A smooth function ρ of the score difference of a pair, the higher grade's less the lower grade's.

    Attributes
    ----------
    value, first, second : callable
        ρ, ρ' and ρ'', or what a loss takes for ρ'': from a float64 array of differences to one of the same shape.
    largest_second : float
        The largest ``abs`` of the second derivative, for Hessians that bound the loss everywhere.
    tables : Tables, optional
        The three functions as polynomials; None if no tables describe them.
    kind : int
        A kernel that knows the derivatives, if there is one.
    """

    value: Function
    first: Function
    second: Function
    largest_second: float
    tables: Tables | None
    kind: int = TABULATED

    @classmethod
    def sampled(
        cls, value: Function, first: Function, second: Function, largest_second: float, *, kind: int = TABULATED
    ) -> "PairFunction":
        """Sample a function into tables; beyond them it must be of the form a + b d + c d².

        Raises
        ------
        ValueError
            If no tables describe the functions at any distance; `PairwiseLoss` takes such functions.
        """
        tables = tables_of((value, first, second))
        if tables is None or not tables.has_tails:
            raise ValueError("no tables describe these functions at any distance; use PairwiseLoss")
        return cls(value, first, second, largest_second, tables, kind)

    @property
    def value_sums(self) -> SmoothSums:
        """Sums with one output, in which each pair counts once: in the row of the higher grade."""
        return self._sums(TABULATED, 0, 1, _ONCE, _NOT)

    @property
    def derivative_sums(self) -> SmoothSums:
        """Sums with two outputs: gradient, where the row of the lower grade counts negatively, and Hessian."""
        lower, higher = (_LOWER_EVEN, _HIGHER_EVEN) if self.kind == NDCG else (_LOWER, _HIGHER)
        return self._sums(self.kind, 1, 3, lower, higher)

    def _sums(self, kind: int, first: int, last: int, lower: Floats, higher: Floats) -> SmoothSums:
        return SmoothSums(Functions(kind, lower, higher, cast("Tables", self.tables).chosen(first, last)))


@dataclass(frozen=True, eq=False)
class PairWeightTotals:
    """Weights of pairs by their grades, in addition to row weights; totals are None if there are only row weights.

    Attributes
    ----------
    weights : PairWeights
        By grades; the winner's and the loser's weights of each document are separate there.
    of_queries : ndarray, optional
        Sum over each query's pairs, over the unit of weights.
    of_documents : ndarray, optional
        Sum over each document's pairs, by `GradeGroups.rows`, over that unit; for "global" Hessians.
    """

    weights: PairWeights = PairWeights()  # noqa: RUF009 (a constant)
    of_queries: Floats | None = None
    of_documents: Floats | None = None


class SmoothPairLoss(PairLoss, ABC):
    """A sum over pairs of a smooth function of the score difference.

    A subclass states `pair_function`; its field `sigmoid`, if it has one, multiplies score differences. A field
    `hessian` may offer "newton" (the function's second derivative), "bound" (twice that) and "global" (twice the
    largest).
    """

    accuracy = 2e-7

    def __post_init__(self) -> None:
        super().__post_init__()
        if hasattr(self, "sigmoid"):
            check_number(f"{type(self).__name__}: sigmoid", self.sigmoid, least=1e-100, most=1e100)

    @property
    @abstractmethod
    def pair_function(self) -> PairFunction:
        """The function of a pair's score difference."""

    def pair_weights(self, queries: Queries) -> PairWeightTotals:  # noqa: ARG002 (the default)
        """Return what pairs weigh by their grades; the same for each pair unless a subclass says otherwise."""
        return PairWeightTotals()

    def weight_of_pairs(self, queries: Queries) -> Floats | None:
        """Return what the pairs of each query weigh together."""
        return None if queries.pairs is not None else self.pair_weights(queries).of_queries

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        factors, s = self.factors(queries), self._multiplier
        if queries.pairs is None:
            per_row = self.sums_over_grades(scores, queries, factors, value=True)[0]
            return value_per_query(per_row, queries)
        return value_of_listed(scores, queries, factors, lambda d: self.pair_function.value(s * d))

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian."""
        pair, s, choice = self.pair_function, self._multiplier, getattr(self, "hessian", "newton")
        factors, times = self.factors(queries) * (scale * s), 2.0 * s if choice == "bound" else s
        if queries.pairs is not None:

            def second(d: Floats) -> Floats:
                return np.full(len(d), 2.0 * pair.largest_second) if choice == "global" else pair.second(s * d)

            gradient, hessian = derivatives_of_listed(scores, queries, factors, lambda d: pair.first(s * d), second)
        else:
            gradient, hessian = self.sums_over_grades(scores, queries, factors)
            if choice == "global":
                hessian = (2.0 * pair.largest_second) * self._weight_of_rows(queries, factors, scale)
        if times != 1.0:
            hessian *= times
        positive_beside(gradient, hessian)
        return gradient, hessian

    def sums_over_grades(self, scores: Floats, queries: Queries, factors: Floats, *, value: bool = False) -> Floats:
        """Return the value of each row, or its gradient and Hessian, over the pairs of different grades.

        The shape is (n_outputs, n_rows).
        """
        sums = self.pair_function.value_sums if value else self.pair_function.derivative_sums
        return sums(scores, queries, factors, weights=self.pair_weights(queries).weights, multiplier=self._multiplier)

    @property
    def pair_curve(self) -> PairCurve:
        """The pair function, by the difference times sigmoid."""
        pair = self.pair_function
        return PairCurve(self._multiplier, pair.value, pair.first, pair.second)

    @property
    def _multiplier(self) -> float:
        return float(getattr(self, "sigmoid", 1.0))

    def _weight_of_rows(self, queries: Queries, factors: Floats, scale: float) -> Floats:
        """Return the sum of each row's pair weights times the query's factor; no score changes it."""

        def compute() -> Floats:
            groups, of_documents = queries.grade_groups, self.pair_weights(queries).of_documents
            if of_documents is None:
                of_queries = np.bincount(groups.query_of_group, groups.mass, len(groups.query))
                of_documents = np.repeat(of_queries[groups.query_of_group] - groups.mass, np.diff(groups.group_start))
                of_documents = of_documents * groups.sqrt_weight if len(groups.sqrt_weight) else of_documents
            out = np.zeros(queries.n_rows)
            out[groups.rows] = np.repeat(factors, groups.n_documents) * of_documents
            return frozen(out)

        return queries.remember((SmoothPairLoss, self, scale), compute)


def value_of_listed(scores: Floats, queries: Queries, factor: Floats, rho: Function) -> Floats:
    """Return the value of each query over its explicit pairs."""
    groups = queries.listed_pairs
    terms = np.empty(len(groups.winner))
    out = np.zeros(queries.n_queries)
    with np.errstate(over="ignore"):  # cut below
        for part in _blocks(len(groups.winner)):
            terms[part] = groups.weight[part] * rho(scores[groups.winner[part]] - scores[groups.loser[part]])
        out[groups.query] = factor * groups.sums(terms)
    return np.clip(out, -LARGEST_VALUE, LARGEST_VALUE)


def derivatives_of_listed(
    scores: Floats, queries: Queries, factor: Floats, first: Function, second: Function
) -> tuple[Floats, Floats]:
    """Return gradient and Hessian over the explicit pairs."""
    groups = queries.listed_pairs
    n = queries.n_rows
    gradient, hessian = np.zeros((2, n))
    of_pair = groups.weight * np.repeat(factor, np.diff(groups.start))
    for part in _blocks(len(groups.winner)):
        winner, loser = groups.winner[part], groups.loser[part]
        d = scores[winner] - scores[loser]
        g, h = of_pair[part] * first(d), of_pair[part] * second(d)
        gradient += np.bincount(winner, g, n) - np.bincount(loser, g, n)
        hessian += np.bincount(winner, h, n) + np.bincount(loser, h, n)
    return gradient, hessian


def _blocks(n: int) -> Iterator[slice]:
    size = max(_BLOCK, n // 16)  # few of them, since each costs a pass over all rows
    for first in range(0, n, size):
        yield slice(first, min(n, first + size))
