"""Order the documents of a query by score."""

from typing import NamedTuple

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import inlined

_BEST_ALONE_UP_TO = 64  # up to this cut-off, keeping a sorted list of the best scores is faster than sorting the query
_RUN = 16  # runs of this length are sorted by counting, then merged


class Workspace(NamedTuple):
    """Workspace for sorting one query: a key and a row for each document, twice for merging."""

    keys: Floats
    rows: Ints
    spare_keys: Floats
    spare_rows: Ints


@inlined()
def longest_list(boundaries: Ints, first: int, last: int) -> int:
    """Return the length of the longest of the queries ``first <= q < last``."""
    n = 0
    for q in range(first, last):
        n = max(n, boundaries[q + 1] - boundaries[q])
    return n


@inlined(_nrt=True)
def workspace_for(boundaries: Ints, first: int, last: int) -> Workspace:
    """Return a workspace for the longest of the queries ``first <= q < last``."""
    n = longest_list(boundaries, first, last)
    return Workspace(np.empty(n), np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))


@inlined()
def sort(workspace: Workspace, n: int) -> None:
    """Sort the first n entries of `workspace` by descending key, stably."""
    sort_range(workspace, 0, n)


@inlined()
def sort_range(workspace: Workspace, first: int, last: int) -> None:
    """Sort the entries ``first <= i < last`` of `workspace` by descending key, stably.

    Runs of `_RUN` entries are sorted by counting the keys before each, without a branch, then merged.
    """
    keys, rows, spare_keys, spare_rows = workspace
    for low in range(first, last, _RUN):
        a, b = unsigned(low), unsigned(min(low + _RUN, last))
        for i in range(a, b):
            key, to = keys[i], a
            for j in range(a, i):
                to += unsigned(keys[j] >= key)
            for j in range(i, b):
                to += unsigned(keys[j] > key)
            spare_keys[to], spare_rows[to] = key, rows[i]
        for i in range(a, b):
            keys[i], rows[i] = spare_keys[i], spare_rows[i]
    width = _RUN
    while width < last - first:
        for low in range(first, last - width, 2 * width):
            merge(workspace, low, low + width, min(low + 2 * width, last))
        width *= 2


@inlined()
def merge(workspace: Workspace, first: int, middle: int, last: int) -> None:
    """Merge two neighbouring ranges of `workspace`, each in descending order of keys, stably."""
    keys, rows, spare_keys, spare_rows = workspace
    if keys[middle - 1] >= keys[middle]:
        return  # in order already
    for i in range(first, middle):
        spare_keys[i], spare_rows[i] = keys[i], rows[i]
    i, j, to = first, middle, first
    while i < middle and j < last:
        if spare_keys[i] >= keys[j]:
            keys[to], rows[to] = spare_keys[i], spare_rows[i]
            i += 1
        else:
            keys[to], rows[to] = keys[j], rows[j]
            j += 1
        to += 1
    while i < middle:
        keys[to], rows[to] = spare_keys[i], spare_rows[i]
        i += 1
        to += 1


@inlined()
def _top_rows(scores: Floats, start: int, stop: int, k: int, keys: Floats, rows: Ints) -> tuple[int, int]:
    """Write the `k` ≥ 1 best rows of one query to `rows`, best first, and their scores to `keys`, in one pass.

    Ties stay in file order. Returns the number of rows, less than `k` in a shorter query. The second number is that of
    further rows that tie with the last one.
    """
    m = tied = 0
    last = -np.inf
    for i in range(start, stop):
        score = scores[i]
        full = m == k
        if full:
            if not score > last:
                tied += score == last
                continue
            j = k - 1
        else:
            j = m
            m += 1
        while j > 0 and keys[j - 1] < score:
            keys[j], rows[j] = keys[j - 1], rows[j - 1]
            j -= 1
        keys[j], rows[j] = score, i
        if m == k:
            tied = tied + 1 if full and keys[k - 1] == last else 0  # the row just dropped may tie with the new last one
            last = keys[k - 1]
    return m, tied


@inlined()
def best_rows(scores: Floats, start: int, stop: int, k: int, ties: bool, workspace: Workspace) -> int:
    """Write the `k` ≥ 1 best rows of one query, and their scores as keys, to `workspace`; return their number.

    The rows are among ``start <= i < stop``, best first, ties in file order. With `ties` the rows that tie with the
    `k`-th one are included. So the block of tied documents at the cut is complete.
    """
    keys, rows, _, _ = workspace
    n = stop - start
    m: int
    if k <= _BEST_ALONE_UP_TO:
        m, tied = _top_rows(scores, start, stop, k, keys, rows)
        if ties and tied:
            last = keys[m - 1]
            while m > 0 and keys[m - 1] == last:
                m -= 1
            for i in range(start, stop):
                if scores[i] == last:
                    keys[m], rows[m] = last, i
                    m += 1
        return m
    for i in range(n):
        keys[i], rows[i] = scores[start + i], start + i
    sort(workspace, n)
    m = min(k, n)
    while ties and 0 < m < n and keys[m] == keys[m - 1]:
        m += 1
    return m
