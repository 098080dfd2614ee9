"""`SmoothPairLoss`: a smooth function of the score difference, summed over pairs in linear time.

To add one, state its `PairFunction`, made of the value and two derivatives as NumPy functions, and, if grades have
gains, its `grade_gains`; everything else is inherited. Where weights follow the current ranks, see `losses.base.lists`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_number, frozen
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.pairs.pair_task import NDCG, TABULATED, Functions, Task
from boostplug.kernels.pairs.smooth import short_and_long, sum_pairs
from boostplug.kernels.pairs.tables import Function, Tables, tables_of
from boostplug.losses.base.loss import LARGEST_VALUE
from boostplug.losses.base.pair_loss import PairCurve, PairLoss

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 1 << 18  # differences in one call of a function
_NONE = frozen(np.zeros(0))
# Shares of the functions (rows) in the outputs (columns), where the other document has the lower and the higher grade.
_ONCE, _NOT = frozen(np.ones((1, 1))), frozen(np.zeros((1, 1)))
_LOWER, _HIGHER = frozen(np.diag([1.0, 1.0])), frozen(np.diag([-1.0, 1.0]))
# NDCGBoost's first derivative is minus the second: the sums of that are enough.
_LOWER_EVEN, _HIGHER_EVEN = frozen(np.array([[0.0, 0.0], [-1.0, 1.0]])), frozen(np.array([[0.0, 0.0], [1.0, 1.0]]))


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
            If no tables describe the functions; `PairwiseLoss` takes such functions.
        """
        tables = tables_of((value, first, second))
        if tables is None:
            raise ValueError("no tables describe these functions at any distance; use PairwiseLoss")
        return cls(value, first, second, largest_second, tables, kind)

    @property
    def for_value(self) -> Functions:
        """One output, in which each pair counts once: in the row of the higher grade."""
        assert self.tables is not None
        return Functions(TABULATED, _ONCE, _NOT, self.tables.chosen(0, 1))

    @property
    def for_derivatives(self) -> Functions:
        """Two outputs: gradient, where the row of the lower grade counts negatively, and Hessian."""
        assert self.tables is not None
        lower, higher = (_LOWER_EVEN, _HIGHER_EVEN) if self.kind == NDCG else (_LOWER, _HIGHER)
        return Functions(self.kind, lower, higher, self.tables.chosen(1, 3))


def sum_over_grades(
    functions: Functions,
    scores: Floats,
    queries: Queries,
    factor: Floats,
    *,
    gain: Floats = _NONE,
    multiplier: float = 1.0,
) -> Floats:
    """Return sums over the pairs of different grades, each query's times its factor, of shape (n_outputs, n_rows).

    A pair weighs the gap of its grades' gains, if there are any, and what its documents weigh.
    """
    groups = queries.grade_groups
    out = np.zeros((functions.lower.shape[1], queries.n_rows))
    key = sum_over_grades, functions.kind
    short, long = groups.remember(key, lambda: short_and_long(groups.view, groups.n_pairs, functions.kind))
    task = Task(frozen(scores.view()), float(multiplier), groups.view, gain, frozen(factor.view()), out)
    sum_pairs(task, short, long, functions)
    return out


class WeightedPairs(NamedTuple):
    """Some pairs: rows of winner and loser, index of the query among those that hold a pair, and the pair's weight."""

    winner: Ints
    loser: Ints
    query: Ints
    weight: Floats


class GradeGains(NamedTuple):
    """Gains of grades, whose gap a pair weighs in addition to the weights of its documents.

    Attributes
    ----------
    gain : ndarray of shape (n_groups,)
        Of each group of `Queries.grade_groups`, ascending within a query.
    pair_weight_of_queries, pair_weight_of_documents : ndarray
        Sums over each query's pairs and over each document's pairs, over the unit of weights.
    """

    gain: Floats
    pair_weight_of_queries: Floats
    pair_weight_of_documents: Floats


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

    @property
    def pair_curve(self) -> PairCurve:
        """The pair function, by the difference times sigmoid."""
        pair = self.pair_function
        return PairCurve(self._multiplier, pair.value, pair.first, pair.second)

    @property
    def _multiplier(self) -> float:
        return float(getattr(self, "sigmoid", 1.0))

    def grade_gains(self, queries: Queries) -> GradeGains | None:  # noqa: ARG002 (the default)
        """Return the gains of the grades; None if all pairs of different grades weigh the same."""
        return None

    def pair_blocks(self, queries: Queries) -> Iterator[WeightedPairs] | None:
        """Return the pairs to sum one by one, in blocks: the explicit ones. None for the pairs of different grades."""
        return None if queries.pairs is None else _listed(queries)

    def pair_weight_of_queries(self, queries: Queries) -> Floats | None:
        """Return the weight of each query's pairs together."""
        gains = None if queries.pairs is not None else self.grade_gains(queries)
        return None if gains is None else gains.pair_weight_of_queries

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        factors, s, pair = self.normalization_factors(queries), self._multiplier, self.pair_function
        blocks, of_rows = self.pair_blocks(queries), np.zeros(queries.n_rows)
        with np.errstate(over="ignore"):  # cut below
            if blocks is None:
                of_rows = self._sum_over_grades(pair.for_value, scores, queries, factors)[0]
            for block in blocks or ():
                terms = block.weight * pair.value(s * (scores[block.winner] - scores[block.loser]))
                of_rows += np.bincount(block.winner, factors[block.query] * terms, queries.n_rows)
            value = np.bincount(queries.query_of_row, of_rows, queries.n_queries)
        return np.clip(value, -LARGEST_VALUE, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the Hessian."""
        pair, s, choice = self.pair_function, self._multiplier, getattr(self, "hessian", "newton")
        factors = self.normalization_factors(queries) * (scale * s)
        hessian_factor = 2.0 * s if choice == "bound" else s
        global_second = 2.0 * pair.largest_second
        blocks, n = self.pair_blocks(queries), queries.n_rows
        gradient, hessian = np.zeros((2, n))
        if blocks is None:
            gradient, hessian = self._sum_over_grades(pair.for_derivatives, scores, queries, factors)
            if choice == "global":
                hessian = global_second * self._pair_weight_of_rows(queries, factors, scale)
        for winner, loser, query, weight in blocks or ():
            d, w = s * (scores[winner] - scores[loser]), weight * factors[query]
            g, h = w * pair.first(d), w * (global_second if choice == "global" else pair.second(d))
            gradient += np.bincount(winner, g, n) - np.bincount(loser, g, n)
            hessian += np.bincount(winner, h, n) + np.bincount(loser, h, n)
        if hessian_factor != 1.0:
            hessian *= hessian_factor
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _sum_over_grades(self, functions: Functions, scores: Floats, queries: Queries, factors: Floats) -> Floats:
        gains = self.grade_gains(queries)
        gain = _NONE if gains is None else gains.gain
        return sum_over_grades(functions, scores, queries, factors, gain=gain, multiplier=self._multiplier)

    def _pair_weight_of_rows(self, queries: Queries, factors: Floats, scale: float) -> Floats:
        """Return the weight of each row's pairs together, times the query's factor; no score changes it."""

        def compute() -> Floats:
            groups, gains = queries.grade_groups, self.grade_gains(queries)
            if gains is None:
                of_queries = np.bincount(groups.query_of_group, groups.mass, len(groups.query))
                of_documents = np.repeat(of_queries[groups.query_of_group] - groups.mass, np.diff(groups.group_start))
                of_documents = of_documents * groups.sqrt_weight if len(groups.sqrt_weight) else of_documents
            else:
                of_documents = gains.pair_weight_of_documents
            out = np.zeros(queries.n_rows)
            out[groups.rows] = np.repeat(factors, groups.n_documents) * of_documents
            return frozen(out)

        return queries.remember((SmoothPairLoss, self, scale), compute)


def _listed(queries: Queries) -> Iterator[WeightedPairs]:
    """Yield the explicit pairs."""
    listed = queries.listed_pairs
    n = len(listed.winner)
    query = np.repeat(np.arange(len(listed.query)), np.diff(listed.start))
    size = max(_BLOCK, n // 16)  # few blocks, since each costs a pass over all rows
    for first in range(0, n, size):
        part = slice(first, first + size)
        yield WeightedPairs(listed.winner[part], listed.loser[part], query[part], listed.weight[part])
