"""Documents of `Queries` sorted for losses and rankers: by query and grade, explicit pairs by query, complete lists.

Pairs of different grades are enumerated by `pairs_of_grades` and, document by document, by `GradeGroups.pairs`.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.cached import cached_property
from boostplug.core.checks import frozen
from boostplug.data.boundaries import places_within
from boostplug.kernels.base.views import GroupArrays, ListArrays, PairArrays

_BLOCK = 1 << 18  # pairs of one block


def distinct(numbers: Ints) -> Ints:
    """Return the distinct integers, sorted.

    For equally spaced integers, `numpy.unique` of NumPy 2.4 takes 100 times as long, because it hashes them.
    """
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    different: Ints = ordered[is_first]
    return different


def roots_and_unit(weight: Floats | None) -> tuple[Floats, float]:
    """Return the square roots of row weights divided by a unit, and the unit; no roots if all weights are 1.

    The unit is the largest weight, so sums of products of roots stay in range for weights of any size.
    """
    if weight is None:
        return frozen(np.zeros(0)), 1.0
    unit = float(weight.max(initial=0.0)) or 1.0
    return frozen(np.sqrt(weight / unit)), unit


PairBlock = tuple[Ints, Ints]
"""Higher and lower ones of a block of pairs of groups or documents, sorted by query, higher and lower."""


@dataclass(frozen=True, eq=False)
class GradeGroups:
    """Documents that are in a pair, sorted by query and grade.

    A document is in a pair if it is labelled and has a positive weight. Its query must hold another such document with
    another grade. All other documents are left out.

    Attributes
    ----------
    rows : ndarray of shape (n_paired,)
        Row of each document; within a group in file order.
    group_start : ndarray of shape (n_groups + 1,)
        A group is the documents of one grade in one query: ``rows[group_start[u]:group_start[u + 1]]``.
    group_grade : ndarray of shape (n_groups,)
        Grades ascend within a query.
    query_group : ndarray of shape (n_paired_queries + 1,)
        First group of each query that holds a pair.
    query : ndarray of shape (n_paired_queries,)
        Index of these queries in `Queries`.
    n_pairs, n_judged : ndarray of shape (n_paired_queries,)
        Pairs of different grades (each once), and documents that are labelled with a positive weight.
    sqrt_weight : ndarray of shape (n_paired,) or (0,)
        Square roots of the row weights over `unit`, empty if all weights are 1. The weight of a pair is unit · s_i s_j.
    unit : float
        See `roots_and_unit`; sums of products of the roots must be multiplied by it.
    pair_weight_of_documents : tuple of two ndarrays of shape (n_paired,), optional
        Weight of a document in its pairs with lower grades, and in those with higher grades, over `unit`. Default:
        `sqrt_weight` for both.
    """

    rows: Ints
    group_start: Ints
    group_grade: Floats
    query_group: Ints
    query: Ints
    n_pairs: Floats
    n_judged: Floats
    sqrt_weight: Floats
    unit: float
    pair_weight_of_documents: tuple[Floats, Floats] | None = None

    def weighted(self, winner: Floats, loser: Floats) -> "GradeGroups":
        """Return the same documents with pair weights ``winner[i] * loser[j]``, where i has the higher grade.

        Both arrays have one entry per document. Cached values are kept; `mass` and `pair_weight_of_queries` still use
        the row weights.
        """
        out = copy.copy(self)
        out.__dict__["pair_weight_of_documents"] = frozen(winner), frozen(loser)
        out.__dict__.pop("view", None)
        return out

    def unweighted(self) -> "GradeGroups":
        """Return the same documents with pair weights from their row weights."""
        return self if self.pair_weight_of_documents is None else replace(self, pair_weight_of_documents=None)

    @cached_property
    def view(self) -> GroupArrays:
        """Arrays for kernels."""
        longest, most_grades = int(self.n_documents.max(initial=0)), int(self.n_grades.max(initial=0))
        own, root = self.pair_weight_of_documents, self.sqrt_weight
        weights = (root, root, False) if own is None else (*own, True)
        return GroupArrays(
            self.rows, *weights, self.group_start, self.group_grade, self.query_group, longest, most_grades
        )

    @cached_property
    def mass(self) -> Floats:
        """Sum of `sqrt_weight` over each group; its number of documents if all weights are 1."""
        if not len(self.sqrt_weight):
            return frozen(np.diff(self.group_start).astype(np.float64))
        return frozen(np.add.reduceat(self.sqrt_weight, self.group_start[:-1]))

    @cached_property
    def pair_weight_of_queries(self) -> Floats:
        """Total weight of the pairs of each query that holds one, over `unit`."""
        if not len(self.sqrt_weight):
            return self.n_pairs
        from boostplug.kernels.pairs.masses import pair_masses  # numba is slow to import

        out = np.empty(len(self.query))
        pair_masses(self.query_group, self.mass, out)
        return frozen(out)

    @cached_property
    def n_grades(self) -> Ints:
        """Number of grades, and so of groups, of each query that holds a pair."""
        return np.diff(self.query_group)

    @cached_property
    def query_start(self) -> Ints:
        """First index in `rows` of each query that holds a pair, and the end, of shape (n_paired_queries + 1,)."""
        return self.group_start[self.query_group]

    @cached_property
    def n_documents(self) -> Ints:
        """Number of documents of each query that holds a pair."""
        return np.diff(self.query_start)

    @cached_property
    def query_of_group(self) -> Ints:
        """Index in `query` of each group's query."""
        return np.repeat(np.arange(len(self.query)), self.n_grades)

    @property
    def group_of_document(self) -> Ints:
        """Group of each document in `rows`; not cached, since it is long and seldom needed."""
        return np.repeat(np.arange(len(self.group_grade)), np.diff(self.group_start))

    def pairs(self, parts: tuple[Ints, Ints] | None = None, *, block: int = _BLOCK) -> Iterator[PairBlock]:
        """Yield the pairs of documents of different grades within each part, in blocks of bounded memory.

        A part is a range ``first <= u < last`` of the groups of one query, by default all of them. Pairs are sorted by
        part, higher document and lower document. A block holds about `block` pairs, or those of one document.
        """
        first, last = (self.query_group[:-1], self.query_group[1:]) if parts is None else parts
        group = np.repeat(first, last - first) + places_within(last - first)
        size = self.group_start[group + 1] - self.group_start[group]
        document = np.repeat(self.group_start[group], size) + places_within(size)
        lowest = np.repeat(self.group_start[np.repeat(first, last - first)], size)
        yield from _with_all_before(document, lowest, np.repeat(self.group_start[group], size), block)


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Explicit pairs, sorted by the query of their winner.

    Pairs of weight 0, or with a row of weight 0, are left out. A pair across queries belongs to its winner's query.

    Attributes
    ----------
    winner, loser : ndarray of shape (n_pairs,)
        Rows.
    weight : ndarray of shape (n_pairs,)
        The pair's weight times √(w_i w_j) of its rows, over `unit`.
    margin : ndarray of shape (n_pairs,)
        Grade gap of each pair, > 0.
    start : ndarray of shape (n_paired_queries + 1,)
        Boundaries of the pairs of each query that holds one.
    query : ndarray of shape (n_paired_queries,)
        Index of these queries in `Queries`.
    n_pairs, n_judged : ndarray of shape (n_paired_queries,)
        Number of pairs, and of documents in them.
    crosses : bool
        True if any pair connects two queries.
    unit : float
        See `roots_and_unit`; sums of the weights must be multiplied by it.
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

    @cached_property
    def view(self) -> PairArrays:
        """Arrays for kernels."""
        return PairArrays(self.winner, self.loser, self.weight, self.margin, self.start, self.crosses)

    @cached_property
    def pair_weight_of_queries(self) -> Floats:
        """Total weight of the pairs of each query that holds one, over `unit`."""
        return self.sums(self.weight)

    def sums(self, of_pair: Floats) -> Floats:
        """Return the sum of `of_pair` over the pairs of each query that holds one."""
        return frozen(np.add.reduceat(np.r_[of_pair, 0.0], self.start[:-1]))


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """Judged documents by query, for losses on complete lists. All of a query may have the same grade.

    A document is judged when it is labelled and has a positive weight. Queries without one are left out.

    Attributes
    ----------
    rows : ndarray of shape (n_judged,)
        Row of each document, ascending.
    grade, weight : ndarray of shape (n_judged,)
        Grade and weight of each document. The default weight is 1.
    start : ndarray of shape (n_lists + 1,)
        Boundaries of the lists.
    query : ndarray of shape (n_lists,)
        Index of these queries in `Queries`.
    """

    rows: Ints
    grade: Floats
    weight: Floats
    start: Ints
    query: Ints

    @cached_property
    def view(self) -> ListArrays:
        """Arrays for kernels."""
        return ListArrays(self.rows, self.grade, self.weight, self.start)

    @cached_property
    def label_shares(self) -> Floats:
        """Weight times label of each document over their sum in its list, for labels ≥ 0; 0 in a list without any."""
        first, sizes = self.start[:-1], np.diff(self.start)
        best = np.repeat(np.maximum.reduceat(self.grade, first), sizes) if len(first) else np.zeros(0)
        # Over the best, so that no sum overflows.
        shares = self.weight * np.divide(self.grade, best, out=np.zeros(len(best)), where=best > 0.0)
        return frozen(self.over_sums(shares))

    def over_sums(self, shares: Floats) -> Floats:
        """Return numbers ≥ 0 of the documents over their sum in each list; 0 where that is 0."""
        if not len(shares):
            return shares
        total = np.repeat(np.add.reduceat(shares, self.start[:-1]), np.diff(self.start))
        out: Floats = np.divide(shares, total, out=np.zeros(len(total)), where=total > 0.0)
        return out


def pairs_of_grades(query_group: Ints, chosen: NDArray[np.bool_]) -> Iterator[PairBlock]:
    """Yield the pairs of groups of the chosen queries, in blocks of bounded memory; see `GradeGroups.query_group`."""
    group = np.arange(query_group[-1])
    first = np.repeat(query_group[:-1], np.diff(query_group))
    of_chosen = np.repeat(chosen, np.diff(query_group))
    yield from _with_all_before(group[of_chosen], first[of_chosen], group[of_chosen])


def _with_all_before(chosen: Ints, first: Ints, end: Ints, block: int = _BLOCK) -> Iterator[PairBlock]:
    """Yield the pairs (i, j) of each chosen i with ``first <= j < end``, in blocks of about `block` pairs."""
    counts = end - first
    edges = np.searchsorted(np.cumsum(counts), np.arange(0, counts.sum(), block))
    for a, b in pairwise(np.unique(np.r_[edges, len(chosen)])):
        c = counts[a:b]
        within = places_within(c)
        if len(within):
            yield np.repeat(chosen[a:b], c), within + np.repeat(first[a:b], c)
