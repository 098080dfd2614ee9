"""Pairs of documents of different grades by how far their scores are apart, counted without listing them."""

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.compiling import compiled
from boostplug.kernels.ranking import longest_query, sort
from boostplug.kernels.ranks import add_grade, grades_below

# compiled in: ranking.py 1a161b2ce626
# compiled in: ranks.py 7572fa5cd1db

__all__ = [
    "by_score",
    "next_gap",
    "pairs_apart",
    "pairs_between",
    "precision_at_percent",
    "share_at_the_cut",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FEW = 512  # pairs; from here on the gap at the cut is found by listing them
_LEAST = 5e-324  # of all gaps above 0


@compiled()
def by_score(
    scores: Floats,
    code: Ints,
    boundaries: Ints,
    starts: Ints,
    first: int,
    last: int,
    sorted_scores: Floats,
    sorted_code: Ints,
) -> None:
    """Write the judged documents of each query q by descending score to ``starts[q]:starts[q + 1]``."""
    n_longest = longest_query(boundaries, first, last)
    keys, spare_keys = np.empty(n_longest), np.empty(n_longest)
    codes, spare_codes = np.empty(n_longest, np.int64), np.empty(n_longest, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if code[i] >= 0:
                keys[n], codes[n] = scores[i], code[i]
                n += 1
        sort(keys, codes, n, spare_keys, spare_codes)
        for j in range(n):
            sorted_scores[starts[q] + j], sorted_code[starts[q] + j] = keys[j], codes[j]


@compiled()
def _pairs_apart(
    x: Floats, code: Ints, start: int, stop: int, grades: int, gap: float, counts: Ints, same: Ints
) -> tuple[int, int]:
    """Return how many pairs of different grades in ``start:stop`` are at least `gap` > 0 apart, and misordered of them.

    O(n log K) for n documents of K grades; `counts` and `same` are scratch.
    """
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


@compiled()
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
def pairs_apart(
    sorted_scores: Floats,
    sorted_code: Ints,
    starts: Ints,
    n_grades: Ints,
    gap: float,
    nearest: bool,
    first: int,
    last: int,
    n: Floats,
    wrong: Floats,
    least: Floats,
    largest: Floats,
) -> None:
    """Count, by query, the pairs of different grades with scores at least `gap` > 0 apart, and those misordered.

    Writes a lower bound of the least gap that counts, and an upper bound of the largest that does not: `gap` and the
    number below, or with `nearest` gaps that occur.
    """
    size = 1
    for q in range(first, last):
        size = max(size, n_grades[q] + 1)
    counts, same = np.empty(size, np.int64), np.empty(size, np.int64)
    for q in range(first, last):
        a, b = starts[q], starts[q + 1]
        n[q], wrong[q] = _pairs_apart(sorted_scores, sorted_code, a, b, n_grades[q], gap, counts, same)
        if nearest:
            least[q], largest[q] = _nearest_gaps(sorted_scores, a, b, gap)
        else:
            least[q], largest[q] = gap, np.nextafter(gap, 0.0)


@compiled()
def _list(
    x: Floats,
    code: Ints,
    start: int,
    stop: int,
    low: float,
    high: float,
    at: int,
    end: int,
    gaps: Floats,
    right: Floats,
) -> int:
    """List the pairs of different grades with ``low <= gap <= high``, low > 0, from the position `at` on.

    Writes the gap of each, and 1 where the scores order it as the grades do, else 0. Returns where the list ends, or -1
    where it does not fit in before `end`.
    """
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
def pairs_between(
    sorted_scores: Floats,
    sorted_code: Ints,
    starts: Ints,
    weight: Floats,
    low: float,
    high: float,
    scale: float,
    first: int,
    last: int,
    gaps: Floats,
    right: Floats,
    of_query: Floats,
    bins: Ints,
    by_bin: Floats,
    right_by_bin: Floats,
) -> int:
    """List the pairs of different grades with scores ``low <= gap <= high`` apart, low > 0, at most one per document.

    Writes, from the position ``starts[first]`` on, what `_list` does, the weight of the query, and the bin
    ``scale * (gap - low)``; adds the weights up by bin. Returns where the list ends, or -1 where it is too long.
    """
    at = int(starts[first])
    for q in range(first, last):
        begin = at
        at = _list(sorted_scores, sorted_code, starts[q], starts[q + 1], low, high, at, starts[last], gaps, right)
        if at < 0:
            return -1
        for p in range(begin, at):
            u = int(scale * (gaps[p] - low)) if scale > 0.0 else 0
            of_query[p], bins[p] = weight[q], u
            by_bin[u] += weight[q]
            right_by_bin[u] += weight[q] * right[p]
    return at


@compiled()
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


@compiled()
def precision_at_percent(
    sorted_scores: Floats,
    sorted_code: Ints,
    starts: Ints,
    n_grades: Ints,
    n_pairs: Floats,
    share: float,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Share of pairs that are not misordered among the `share` of a query's pairs whose scores are farthest apart.

    Steps of linear time narrow down the gap at the cut, until the pairs left are few, or of one gap.
    """
    gaps, spare, right = np.empty(_FEW), np.empty(_FEW), np.empty(_FEW)
    size = 1
    for q in range(first, last):
        size = max(size, n_grades[q] + 1)
    counts, same = np.empty(size, np.int64), np.empty(size, np.int64)
    for q in range(first, last):
        if n_pairs[q] == 0.0:
            out[q] = np.nan
            continue
        start, stop, grades = starts[q], starts[q + 1], n_grades[q]
        if share == 1.0:
            out[q] = (
                1.0
                - _pairs_apart(sorted_scores, sorted_code, start, stop, grades, _LEAST, counts, same)[1] / n_pairs[q]
            )
            continue
        wanted = share * n_pairs[q]
        low, n_low, right_low = 0.0, n_pairs[q], -1.0  # as many pairs are at least this far apart: enough
        high, n_beyond, right_beyond = sorted_scores[start] - sorted_scores[stop - 1], 0.0, 0.0  # beyond it: too few
        if not high >= 0.0:
            high = 0.0  # ∞ alone
        step = 0
        while low < high and not (low > 0.0 and n_low - n_beyond <= _FEW):
            gap = next_gap(low, high, step, n_low, n_beyond, wanted, 0.4 * _FEW)
            n, wrong = _pairs_apart(sorted_scores, sorted_code, start, stop, grades, gap, counts, same)
            least, largest = gap, np.nextafter(gap, 0.0)
            if not n_beyond < n < n_low:  # perhaps no gap between occurs
                least, largest = _nearest_gaps(sorted_scores, start, stop, gap)
            if n >= wanted:
                low, n_low, right_low = least, float(n), float(n - wrong)
            else:
                high, n_beyond, right_beyond = largest, float(n), float(n - wrong)
            step += 1
        if low < high:
            found = _list(sorted_scores, sorted_code, start, stop, low, high, 0, _FEW, gaps, right)
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
            wrong = _pairs_apart(sorted_scores, sorted_code, start, stop, grades, _LEAST, counts, same)[1]
            right_low = n_low - wrong
        out[q] = share_at_the_cut(wanted, n_low, right_low, n_beyond, right_beyond)


@compiled()
def next_gap(low: float, high: float, step: int, n_low: float, n_high: float, wanted: float, slack: float) -> float:
    """Return a gap in ``low < gap <= high`` to try next, given the numbers of pairs at least `low` and beyond `high`.

    Mostly by linear interpolation, which is fast where gaps are spread out, in turns for `slack` pairs more and fewer
    than `wanted`, so that the bracket closes from both sides. Now and then by a mean, arithmetic or geometric, which is
    safe, and by the least gap there is, since ties may be at the cut.
    """
    if low == 0.0 and step % 6 == 4:
        return _LEAST
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


@compiled()
def share_at_the_cut(wanted: float, n: float, right: float, n_beyond: float, right_beyond: float) -> float:
    """Return the share of right pairs among the `wanted` farthest apart; those at the cut count in equal parts."""
    part = min(max((wanted - n_beyond) / (n - n_beyond), 0.0), 1.0) if n > n_beyond else 0.0
    return min((right_beyond + part * (right - right_beyond)) / (n_beyond + part * (n - n_beyond)), 1.0)
