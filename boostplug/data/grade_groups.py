"""`Queries` as losses and rankers walk them: documents by query and grade, explicit pairs by query, whole lists.

Whoever enumerates pairs of different grades does it here: `GradeRuns.cells` by grades, `GradeRuns.pairs` one by one.
"""

import copy
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import frozen
from boostplug.core.threads import Computed
from boostplug.data.boundaries import places_within
from boostplug.kernels.base.views import Listed, Lists, Runs

__all__ = ["GradeRuns", "ListRuns", "PairBlock", "PairRuns", "distinct", "exponent_of", "roots_and_unit"]

_T = TypeVar("_T")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 1 << 18  # pairs that are listed at once


def distinct(numbers: Ints) -> Ints:
    """Return the different integers, sorted.

    For integers at regular distances, `numpy.unique` of NumPy 2.4 takes 100 times as long, because it hashes them.
    """
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    different: Ints = ordered[is_first]
    return different


def exponent_of(weights: Floats) -> int:
    """Return the exponent of the power of two that brings the largest weight into [1, 2) where it divides all."""
    return int(np.frexp(weights.max(initial=0.0) or 1.0)[1]) - 1


def roots_and_unit(weight: Floats | None) -> tuple[Floats, float]:
    """Return the square roots of row weights over a unit, and the unit; no roots where all weights are 1.

    The unit is the power of two that brings the largest weight into [1, 2). So all weights times a power of two have
    the same roots, bit for bit, and sums of products of roots stay in range whatever the weights' own size.
    """
    if weight is None:
        return frozen(np.zeros(0)), 1.0
    exponent = exponent_of(weight)
    return frozen(np.sqrt(np.ldexp(weight, -exponent))), float(np.ldexp(1.0, exponent))


class PairBlock(NamedTuple):
    """Some pairs, of runs or of documents, by query, `higher` ascending, then `lower`."""

    higher: Ints
    lower: Ints


@dataclass(frozen=True, eq=False)
class GradeRuns:
    """The documents that stand in a pair, by query and then by grade.

    A document stands in a pair when it is labelled, has a positive weight, and its query holds another such document
    of another grade. All other documents are left out, so they cost nothing.

    Attributes
    ----------
    rows : ndarray of shape (n_paired,)
        Row of each document; within a run in file order.
    run_start : ndarray of shape (n_runs + 1,)
        A run is the documents of one grade in one query: ``rows[run_start[u]:run_start[u + 1]]``.
    run_grade : ndarray of shape (n_runs,)
        Grades ascend within a query.
    query_run : ndarray of shape (n_paired_queries + 1,)
        First run of each query that holds a pair.
    query : ndarray of shape (n_paired_queries,)
        Index of these queries in `Queries`.
    n_pairs, n_judged : ndarray of shape (n_paired_queries,)
        Pairs of different grades (each once), and documents that are labelled with a positive weight.
    sqrt_weight : ndarray of shape (n_paired,) or (0,)
        Square roots of the row weights over `unit`, empty where all weights are 1: a pair weighs unit · s_i s_j.
    unit : float
        See `roots_and_unit`; what is summed with the roots is to be multiplied with it.
    pair_weight : tuple of two ndarrays of shape (n_paired,), optional
        What a document weighs in its pairs with lower grades, and in those with higher ones, over `unit`; else both
        are `sqrt_weight`.
    """

    rows: Ints
    run_start: Ints
    run_grade: Floats
    query_run: Ints
    query: Ints
    n_pairs: Floats
    n_judged: Floats
    sqrt_weight: Floats
    unit: float
    pair_weight: tuple[Floats, Floats] | None = None

    def weighted(self, winner: Floats, loser: Floats) -> "GradeRuns":
        """Return the same documents, whose pairs weigh ``winner[i] * loser[j]``, i of the higher grade; one per place.

        What was computed of the documents is kept; `mass` and `weight_of_pairs` are those of the rows' weights.
        """
        out = copy.copy(self)
        out.__dict__.update(pair_weight=(frozen(winner), frozen(loser)), _remembered=self._remembered)
        out.__dict__.pop("view", None)
        return out

    def unweighted(self) -> "GradeRuns":
        """Return the same documents, whose pairs weigh what their rows do."""
        return self if self.pair_weight is None else replace(self, pair_weight=None)

    @Computed
    def view(self) -> Runs:
        """What kernels read of it."""
        longest, most_grades = int(self.n_documents.max(initial=0)), int(self.n_grades.max(initial=0))
        weights = (self.sqrt_weight, self.sqrt_weight, False) if self.pair_weight is None else (*self.pair_weight, True)
        return Runs(self.rows, *weights, self.run_start, self.run_grade, self.query_run, longest, most_grades)

    @Computed
    def _remembered(self) -> dict[Hashable, Any]:
        return {}

    def remember(self, key: Hashable, compute: Callable[[], _T]) -> _T:
        """Return what `compute` returned when it was first asked for under `key`: what kernels reckon of the runs."""
        if key not in self._remembered:
            self._remembered[key] = compute()
        value: _T = self._remembered[key]
        return value

    @Computed
    def mass(self) -> Floats:
        """Sum of `sqrt_weight` over each run; the number of its documents where all weights are 1."""
        if not len(self.sqrt_weight):
            return frozen(np.diff(self.run_start).astype(np.float64))
        return frozen(np.add.reduceat(self.sqrt_weight, self.run_start[:-1]))

    @Computed
    def weight_of_pairs(self) -> Floats:
        """What the pairs of each query that holds one weigh together, over `unit`."""
        if not len(self.sqrt_weight):
            return self.n_pairs
        from boostplug.kernels.pairs.masses import pair_masses  # numba is slow to import, and readers need none of this

        out = np.empty(len(self.query))
        pair_masses(self.query_run, self.mass, out)
        return frozen(out)

    @Computed
    def n_grades(self) -> Ints:
        """Grades, and so runs, of each query that holds a pair."""
        return np.diff(self.query_run)

    @Computed
    def query_start(self) -> Ints:
        """First place in `rows` of each query that holds a pair, and the end: of shape (n_paired_queries + 1,)."""
        return self.run_start[self.query_run]

    @Computed
    def n_documents(self) -> Ints:
        """Documents of each query that holds a pair."""
        return np.diff(self.query_start)

    @Computed
    def query_of_run(self) -> Ints:
        """Place of each run's query in `query`."""
        return np.repeat(np.arange(len(self.query)), self.n_grades)

    @property
    def run_of_document(self) -> Ints:
        """Run of each place in `rows`; made anew each time, since it is as long as they are and seldom needed."""
        return np.repeat(np.arange(len(self.run_grade)), np.diff(self.run_start))

    @Computed
    def n_cells(self) -> Ints:
        """Pairs of grades of each query that holds a pair."""
        return self.n_grades * (self.n_grades - 1) // 2

    @Computed
    def few_grades(self) -> NDArray[np.bool_]:
        """Whether a table with an entry per pair of grades stays in proportion to each query's documents.

        The one rule for it: 4 entries a document are as much memory as the rest that a loss keeps of one, and 64 let
        11 grades pass however short the list.
        """
        return self.n_cells <= 4 * self.n_documents + 64

    def cells(self, chosen: NDArray[np.bool_]) -> Iterator[PairBlock]:
        """Yield the pairs of runs of the chosen queries (a mask over `query`), in blocks of bounded memory."""
        run = np.flatnonzero(chosen[self.query_of_run])
        yield from _with_all_before(run, self.query_run[self.query_of_run[run]], run)

    def pairs(self, chosen: NDArray[np.bool_], *, block: int = _BLOCK) -> Iterator[PairBlock]:
        """Yield the pairs of documents of the chosen queries (a mask over `query`), in blocks of bounded memory.

        By query, the higher document ascending in `rows`, then the lower one. A block is of about `block` pairs, or of
        one document's.
        """
        run_of = self.run_of_document
        query_of = self.query_of_run[run_of]
        place = np.flatnonzero(chosen[query_of])
        first = self.query_start[query_of[place]]
        yield from _with_all_before(place, first, self.run_start[run_of[place]], block)


@dataclass(frozen=True, eq=False)
class PairRuns:
    """The explicit pairs by the query of their winner.

    Pairs of weight 0, or with a row of weight 0, are left out. A pair that crosses queries counts in its winner's.

    Attributes
    ----------
    winner, loser : ndarray of shape (n_pairs,)
        Rows.
    weight : ndarray of shape (n_pairs,)
        The pair's weight times √(w_i w_j) of its rows, over `unit`.
    margin : ndarray of shape (n_pairs,)
        Grade gap of each pair, > 0.
    start : ndarray of shape (n_paired_queries + 1,)
        Pairs of each query that holds one.
    query : ndarray of shape (n_paired_queries,)
        Index of these queries in `Queries`.
    n_pairs, n_judged : ndarray of shape (n_paired_queries,)
        Pairs, and documents that stand in them.
    crosses : bool
        Whether any pair crosses queries.
    unit : float
        See `roots_and_unit`; what is summed with the weights is to be multiplied with it.
    """

    winner: Ints
    loser: Ints
    weight: Floats
    margin: Floats
    start: Ints
    query: Ints
    n_pairs: Floats
    n_judged: Floats
    crosses: bool
    unit: float

    @Computed
    def view(self) -> Listed:
        """What kernels read of it."""
        return Listed(self.winner, self.loser, self.weight, self.margin, self.start, self.crosses)

    @Computed
    def weight_of_pairs(self) -> Floats:
        """What the pairs of each query that holds one weigh together, over `unit`."""
        return self.sums(self.weight)

    def weighted(self, factor: Floats) -> "PairRuns":
        """Return the same pairs, whose weights are times a factor each."""
        return replace(self, weight=frozen(self.weight * factor))

    def sums(self, of_pair: Floats) -> Floats:
        """Return the sum of a number per pair over each query that holds one."""
        return frozen(np.add.reduceat(np.r_[of_pair, 0.0], self.start[:-1]))


@dataclass(frozen=True, eq=False)
class ListRuns:
    """The judged documents by query, also where all have one grade: what losses on whole lists walk.

    A document is judged when it is labelled and has a positive weight; queries without one are left out.

    Attributes
    ----------
    rows : ndarray of shape (n_judged,)
        Row of each document, ascending.
    grade, weight : ndarray of shape (n_judged,)
        Of each document; weights are 1 where none are given.
    start : ndarray of shape (n_lists + 1,)
        Documents of each list.
    query : ndarray of shape (n_lists,)
        Index of these queries in `Queries`.
    """

    rows: Ints
    grade: Floats
    weight: Floats
    start: Ints
    query: Ints

    @Computed
    def view(self) -> Lists:
        """What kernels read of it."""
        return Lists(self.rows, self.grade, self.weight, self.start)


def _with_all_before(chosen: Ints, first: Ints, end: Ints, block: int = _BLOCK) -> Iterator[PairBlock]:
    """Yield (i, j) for each chosen i with all j from its first to before its end, in blocks of about `block`."""
    counts = end - first
    edges = np.searchsorted(np.cumsum(counts), np.arange(0, counts.sum(), block))
    for a, b in pairwise(np.unique(np.r_[edges, len(chosen)])):
        c = counts[a:b]
        within = places_within(c)
        if len(within):
            yield PairBlock(np.repeat(chosen[a:b], c), within + np.repeat(first[a:b], c))
