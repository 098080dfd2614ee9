"""Pairs of documents of different grades by how far their scores are apart, counted without listing them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import numbers_by_query, run_over_queries
from boostplug.kernels.base.compiling import compiled, inner
from boostplug.kernels.base.sorting import room_for
from boostplug.kernels.metrics.ranks import Grades, add_grade, codes_by_score, grades_below

__all__ = [
    "PairsBetween",
    "documents_by_score",
    "next_gap",
    "pairs_apart",
    "pairs_between",
    "precision_at_percent",
    "share_at_the_cut",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FEW = 512  # pairs; from here on the gap at the cut is found by listing them
LEAST = 5e-324  # of all gaps above 0
BINS = 4096
_LARGEST = float(np.finfo(np.float64).max)


class Documents(NamedTuple):
    """The judged documents of each query q by descending score, at ``start[q]:start[q + 1]``."""

    score: Floats
    code: Ints  # of the grade, from 0 to n_grades[q] - 1
    start: Ints
    n_grades: Ints


class Apart(NamedTuple):
    """Counts by query of pairs at least some gap apart, and bounds of the gaps beside it.

    Pairs of different grades, and those of them that are misordered; a lower bound of the least gap that counts, and an
    upper bound of the largest that does not.
    """

    n: Floats
    wrong: Floats
    least: Floats
    largest: Floats


class Listed(NamedTuple):
    """Pairs one by one: their gap, 1 where the scores order them as the grades do, weight of their query, and bin."""

    gap: Floats
    right: Floats
    weight: Floats
    bin: Ints


@compiled()
def _documents_by_score(
    scores: Floats, grades: Grades, boundaries: Ints, first: int, last: int, out: Documents
) -> None:
    """Write the judged documents of each query to their places."""
    room = room_for(boundaries, first, last)
    for q in range(first, last):
        n = codes_by_score(scores, grades.code, boundaries[q], boundaries[q + 1], room)
        for j in range(n):
            out.score[out.start[q] + j], out.code[out.start[q] + j] = room.keys[j], room.rows[j]


def documents_by_score(scores: Floats, grades: Grades, boundaries: Ints) -> Documents:
    """Return the judged documents in the order of their scores."""
    start = np.r_[0, np.cumsum(grades.n_judged)]
    documents = Documents(np.empty(start[-1]), np.empty(start[-1], np.int64), start, grades.n_grades)
    run_over_queries(lambda a, b: _documents_by_score(scores, grades, boundaries, a, b, documents), boundaries)
    return documents


@inner(_nrt=True)
def _counts_for(documents: Documents, first: int, last: int) -> tuple[Ints, Ints]:
    """Return scratch of `_pairs_apart`, for the queries ``first <= q < last``."""
    size = 1
    for q in range(first, last):
        size = max(size, documents.n_grades[q] + 1)
    return np.empty(size, np.int64), np.empty(size, np.int64)


@inner()
def _pairs_apart(documents: Documents, q: int, gap: float, counts: Ints, same: Ints) -> tuple[int, int]:
    """Return how many pairs of different grades of query q are at least `gap` > 0 apart, and misordered of them.

    O(n log K) for n documents of K grades; `counts` and `same` are scratch.
    """
    x, code, grades = documents.score, documents.code, documents.n_grades[q]
    start, stop = documents.start[q], documents.start[q + 1]
    for u in range(grades + 1):
        counts[u] = same[u] = 0
    n = wrong = 0
    j = start
    for i in range(start, stop):
        while x[j] - x[i] >= gap:  # ∞ - ∞ is no gap
            add_grade(counts, code[j], grades)
            same[code[j]] += 1
            j += 1
        n += j - start - same[code[i]]
        wrong += grades_below(counts, code[i])
    return n, wrong


@inner()
def _nearest_gaps(x: Floats, start: int, stop: int, gap: float) -> tuple[float, float]:
    """Return the least gap of the descending ``x[start:stop]`` that is at least `gap` > 0, and the largest below.

    ∞ and 0 where there is none. The documents may be of one grade: the least gap that counts is no smaller.
    """
    least, largest = np.inf, 0.0
    j = start
    for i in range(start, stop):
        while j < stop and not x[i] - x[j] >= gap:
            j += 1
        if j < stop:
            least = min(least, x[i] - x[j])
        if j > start:
            d = x[i] - x[j - 1]
            if largest < d < gap:
                largest = d
    return least, largest


@compiled()
def _all_pairs_apart(documents: Documents, gap: float, nearest: bool, first: int, last: int, out: Apart) -> None:
    """Count the pairs of each query, and write `gap` and the number below, or with `nearest` gaps that occur."""
    counts, same = _counts_for(documents, first, last)
    for q in range(first, last):
        out.n[q], out.wrong[q] = _pairs_apart(documents, q, gap, counts, same)
        if nearest:
            start, stop = documents.start[q], documents.start[q + 1]
            out.least[q], out.largest[q] = _nearest_gaps(documents.score, start, stop, gap)
        else:
            out.least[q], out.largest[q] = gap, np.nextafter(gap, 0.0)


def pairs_apart(documents: Documents, gap: float, *, nearest: bool) -> Apart:
    """Return by query what is at least `gap` > 0 apart; with `nearest` the bounds are gaps that occur."""
    out = Apart(*np.empty((4, len(documents.start) - 1)))
    run_over_queries(lambda a, b: _all_pairs_apart(documents, gap, nearest, a, b, out), documents.start)
    return out


@inner()
def _list(documents: Documents, q: int, low: float, high: float, at: int, end: int, gaps: Floats, right: Floats) -> int:
    """List the pairs of different grades of query q with ``low <= gap <= high``, low > 0, from the position `at` on.

    Writes the gap of each, and 1 where the scores order it as the grades do, else 0. Returns where the list ends, or -1
    where it does not fit in before `end`.
    """
    x, code = documents.score, documents.code
    start, stop = documents.start[q], documents.start[q + 1]
    j_low = start
    for i in range(start, stop):
        while j_low < stop and not x[i] - x[j_low] >= low:
            j_low += 1
        j = j_low
        while j < stop and x[i] - x[j] <= high:
            if code[i] != code[j]:
                if at == end:
                    return -1
                gaps[at], right[at] = x[i] - x[j], code[i] > code[j]
                at += 1
            j += 1
    return at


@compiled()
def _pairs_between(
    documents: Documents,
    weight: Floats,
    gaps: tuple[float, float, float],
    first: int,
    last: int,
    out: Listed,
    by_bin: Floats,
) -> int:
    """List the pairs of different grades with scores ``low <= gap <= high`` apart, low > 0, at most one per document.

    `gaps` is low, high, and how many bins there are to a unit between them. Writes from the position ``start[first]``
    on, and adds the weights up by bin, of all and of those in order. Returns where the list ends, or -1 where it is too
    long.
    """
    low, high, scale = gaps
    at = int(documents.start[first])
    for q in range(first, last):
        begin = at
        at = _list(documents, q, low, high, at, documents.start[last], out.gap, out.right)
        if at < 0:
            return -1
        for p in range(begin, at):
            u = int(scale * (out.gap[p] - low)) if scale > 0.0 else 0
            out.weight[p], out.bin[p] = weight[q], u
            by_bin[0, u] += weight[q]
            by_bin[1, u] += weight[q] * out.right[p]
    return at


class PairsBetween(NamedTuple):
    """What `pairs_between` found: pairs, in parts of the arrays, and weights by bin, of all and of those in order."""

    listed: Listed
    parts: list[tuple[int, int]]
    by_bin: Floats

    def in_bin(self, at: int) -> Listed:
        """Return the pairs of one bin."""
        kept = np.concatenate([a + np.flatnonzero(self.listed.bin[a:b] == at) for a, b in self.parts])
        return Listed(*(values[kept] for values in self.listed))


def pairs_between(documents: Documents, weight: Floats, low: float, high: float) -> PairsBetween | None:
    """Return the pairs of different grades with scores ``low <= gap <= high`` apart, low > 0, by `BINS` bins and one.

    None where there are more than one per document. `weight` is that of each query.
    """
    n = len(documents.score)
    listed = Listed(np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.int64))
    gaps = (low, high, _bins_per_unit(low, high))
    parts: list[tuple[int, int, Floats]] = []

    def list_chunk(a: int, b: int) -> None:
        by_bin = np.zeros((2, BINS + 1))
        parts.append((int(documents.start[a]), _pairs_between(documents, weight, gaps, a, b, listed, by_bin), by_bin))

    run_over_queries(list_chunk, documents.start)
    parts.sort(key=lambda part: part[0])
    if any(end < 0 for _, end, _ in parts):
        return None
    by_bin = sum((part[2] for part in parts), np.zeros((2, BINS + 1)))
    return PairsBetween(listed, [part[:2] for part in parts], by_bin)


def _bins_per_unit(low: float, high: float) -> float:
    """Return how many bins there are to a unit of the gaps from `low` to `high`; 0 where it is no number."""
    width = high - low
    return BINS / width if BINS / _LARGEST < width < np.inf else 0.0


@inner()
def _nth(values: Floats, spare: Floats, n: int, at: int) -> float:
    """Return what stands at `at` in ``values[:n]`` in ascending order (Hoare's selection, in `spare`)."""
    for i in range(n):
        spare[i] = values[i]
    low, high = 0, n - 1
    while low < high:
        pivot = spare[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while spare[i] < pivot:
                i += 1
            while spare[j] > pivot:
                j -= 1
            if i <= j:
                spare[i], spare[j] = spare[j], spare[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            break
    found: float = spare[at]
    return found


def next_gap(low: float, high: float, step: int, n_low: float, n_high: float, wanted: float, slack: float) -> float:
    """Return a gap in ``low < gap <= high`` to try next, given the numbers of pairs at least `low` and beyond `high`.

    Mostly by linear interpolation, which is fast where gaps are spread out, in turns for `slack` pairs more and fewer
    than `wanted`, so that the bracket closes from both sides. Now and then by a mean, arithmetic or geometric, which is
    safe, and by the least gap there is, since ties may be at the cut.
    """
    if low == 0.0 and step % 6 == 4:
        return LEAST
    if high == np.inf:
        return high
    if step % 6 == 5:
        gap = np.sqrt(low) * np.sqrt(high)
    elif step % 6 == 3:
        gap = low + 0.5 * (high - low)
    else:
        aim = wanted + (slack if step % 2 == 0 else -slack)
        if not n_high < aim < n_low:
            aim = wanted
        gap = high - (aim - n_high) / (n_low - n_high) * (high - low)
    return gap if low < gap <= high else high


def share_at_the_cut(wanted: float, n: float, right: float, n_beyond: float, right_beyond: float) -> float:
    """Return the share of right pairs among the `wanted` farthest apart; those at the cut count in equal parts."""
    part = min(max((wanted - n_beyond) / (n - n_beyond), 0.0), 1.0) if n > n_beyond else 0.0
    return min((right_beyond + part * (right - right_beyond)) / (n_beyond + part * (n - n_beyond)), 1.0)


_next_gap, _share_at_the_cut = inner()(next_gap), inner()(share_at_the_cut)  # what Python calls too


@compiled()
def _precision_at_percent(
    documents: Documents, n_pairs: Floats, share: float, first: int, last: int, out: Floats
) -> None:
    """Share of pairs that are not misordered among the `share` of a query's pairs whose scores are farthest apart.

    Steps of linear time narrow down the gap at the cut, until the pairs left are few, or of one gap.
    """
    gaps, spare, right = np.empty(_FEW), np.empty(_FEW), np.empty(_FEW)
    counts, same = _counts_for(documents, first, last)
    for q in range(first, last):
        if n_pairs[q] == 0.0:
            out[q] = np.nan
            continue
        if share == 1.0:
            out[q] = 1.0 - _pairs_apart(documents, q, LEAST, counts, same)[1] / n_pairs[q]
            continue
        x, start, stop = documents.score, documents.start[q], documents.start[q + 1]
        wanted = share * n_pairs[q]
        low, n_low, right_low = 0.0, n_pairs[q], -1.0  # as many pairs are at least this far apart: enough
        high, n_beyond, right_beyond = x[start] - x[stop - 1], 0.0, 0.0  # beyond it: too few
        if not high >= 0.0:
            high = 0.0  # ∞ alone
        step = 0
        while low < high and not (low > 0.0 and n_low - n_beyond <= _FEW):
            gap = _next_gap(low, high, step, n_low, n_beyond, wanted, 0.4 * _FEW)
            n, wrong = _pairs_apart(documents, q, gap, counts, same)
            least, largest = gap, np.nextafter(gap, 0.0)
            if not n_beyond < n < n_low:  # perhaps no gap between occurs
                least, largest = _nearest_gaps(x, start, stop, gap)
            if n >= wanted:
                low, n_low, right_low = least, float(n), float(n - wrong)
            else:
                high, n_beyond, right_beyond = largest, float(n), float(n - wrong)
            step += 1
        if low < high:
            found = _list(documents, q, low, high, 0, _FEW, gaps, right)
            at = max(found - max(int(np.ceil(wanted - n_beyond)), 1), 0)
            low = _nth(gaps, spare, found, at)
            n_low, right_low = n_beyond, right_beyond
            for p in range(found):
                if gaps[p] >= low:
                    n_low += 1.0
                    right_low += right[p]
                    if gaps[p] > low:
                        n_beyond += 1.0
                        right_beyond += right[p]
        elif low == 0.0:
            wrong = _pairs_apart(documents, q, LEAST, counts, same)[1]
            right_low = n_low - wrong
        out[q] = _share_at_the_cut(wanted, n_low, right_low, n_beyond, right_beyond)


def precision_at_percent(documents: Documents, n_pairs: Floats, share: float) -> Floats:
    """Return the share of each query."""
    return numbers_by_query(_precision_at_percent, documents.start, documents, n_pairs, share)
