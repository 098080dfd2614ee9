"""Kernels of the ranking metrics: order the best documents of each query, then sum over the positions.

`best_rows` is the one way to rank: a metric's kernel calls it for each query and walks the blocks of tied documents.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["average_precision", "best_rows", "dcg"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SELECT = 64  # up to this cut-off a sorted list of the best scores beats sorting the query
_RUN = 16  # runs of this length are sorted by insertion, then merged


@njit(cache=True, nogil=True)
def _sort(keys: Floats, rows: Ints, n: int, spare_keys: Floats, spare_rows: Ints) -> None:
    """Sort ``keys[:n]`` in descending order, stably, and ``rows[:n]`` along with it."""
    for low in range(0, n, _RUN):
        for i in range(low + 1, min(low + _RUN, n)):
            key, row = keys[i], rows[i]
            j = i
            while j > low and keys[j - 1] < key:
                keys[j], rows[j] = keys[j - 1], rows[j - 1]
                j -= 1
            keys[j], rows[j] = key, row
    width = _RUN
    while width < n:
        for low in range(0, n - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, n)
            if keys[middle - 1] >= keys[middle]:
                continue  # in order already
            for i in range(low, middle):
                spare_keys[i], spare_rows[i] = keys[i], rows[i]
            i, j, to = low, middle, low
            while i < middle and j < high:
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
        width *= 2


@njit(cache=True, nogil=True)
def best_rows(
    scores: Floats, start: int, stop: int, k: int, keys: Floats, rows: Ints, spare_keys: Floats, spare_rows: Ints
) -> int:
    """Write the best rows of one query to `rows` and their scores to `keys`; return their number.

    The rows ``start <= i < stop`` that score at least as high as the `k`-th best, best first, ties in file order: the
    block of tied documents at the cut is complete. `k` is at least 1; the buffers hold ``stop - start`` elements.
    """
    n = stop - start
    select = k <= _SELECT and 2 * k < n
    kth = -np.inf  # of the k best scores so far, kept in descending order as spare_keys[:k]
    if select:
        spare_keys[:k] = kth
        for i in range(start, stop):
            score = scores[i]
            if score > kth:
                j = k - 1
                while j > 0 and spare_keys[j - 1] < score:
                    spare_keys[j] = spare_keys[j - 1]
                    j -= 1
                spare_keys[j] = score
                kth = spare_keys[k - 1]
    m = 0
    for i in range(start, stop):
        if scores[i] > kth or not select:
            keys[m], rows[m] = scores[i], i
            m += 1
    _sort(keys, rows, m, spare_keys, spare_rows)
    if select:
        for i in range(start, stop):
            if scores[i] == kth:
                keys[m], rows[m] = kth, i
                m += 1
    else:
        m = min(k, n)
        while 0 < m < n and keys[m] == keys[m - 1]:
            m += 1
    return m


@njit(cache=True, nogil=True)
def _longest(boundaries: Ints, first: int, last: int) -> int:
    n = 0
    for q in range(first, last):
        n = max(n, boundaries[q + 1] - boundaries[q])
    return n


@njit(cache=True, nogil=True)
def dcg(
    scores: Floats,
    gains: Floats,
    boundaries: Ints,
    discount: Floats,
    average: bool,
    first: int,
    last: int,
    out: Floats,
) -> None:
    r"""Discounted cumulative gain of the queries ``first <= q < last``.

    .. math:: \sum_{j \le k} d_j\, \bar g_j

    `discount` holds :math:`d_1 … d_k`. With `average`, :math:`\bar g_j` is the mean gain of the documents that tie
    with the one at position j; otherwise its own gain, ties in file order.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        cut = min(stop - start, len(discount))
        total = 0.0
        if cut > 0:
            m = best_rows(scores, start, stop, cut, keys, rows, spare_keys, spare_rows)
            a = 0
            while a < cut:
                b = a + 1
                gain, weight = gains[rows[a]], discount[a]
                if average:
                    while b < m and keys[b] == keys[a]:
                        gain += gains[rows[b]]
                        b += 1
                    if b > a + 1:
                        for j in range(a + 1, min(b, cut)):
                            weight += discount[j]
                        weight /= b - a
                total += weight * gain
                a = b
        out[q] = total


@njit(cache=True, nogil=True)
def average_precision(
    scores: Floats,
    relevant: NDArray[np.bool_],
    boundaries: Ints,
    k: int,
    average: bool,
    first: int,
    last: int,
    out: Floats,
) -> None:
    r"""Average precision of the queries ``first <= q < last``; NaN for a query without relevant documents.

    .. math:: \frac1R \sum_{j \le k} \mathrm{rel}_j \frac{\#\{\text{relevant at } 1 … j\}}{j}

    With `average`, the expected value over a random order of tied documents: position j of a block of n documents,
    r of them relevant, that starts after position a with s relevant documents before it, contributes (McSherry &
    Najork, ECIR 2008, §2.3)

    .. math:: \frac rn \Bigl(s + 1 + (j - a - 1)\frac{r - 1}{n - 1}\Bigr)\frac1j .
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n_relevant = 0
        for i in range(start, stop):
            n_relevant += relevant[i]
        if n_relevant == 0:
            out[q] = np.nan
            continue
        cut = min(k, stop - start)
        m = best_rows(scores, start, stop, cut, keys, rows, spare_keys, spare_rows)
        total = 0.0
        before = 0  # relevant documents above the block
        a = 0
        while a < cut:
            b = a + 1
            inside = 1 if relevant[rows[a]] else 0  # relevant documents in the block
            if average:
                while b < m and keys[b] == keys[a]:
                    inside += 1 if relevant[rows[b]] else 0
                    b += 1
            if inside > 0:
                share = inside / (b - a)
                slope = (inside - 1) / max(b - a - 1, 1)
                for j in range(a, min(b, cut)):
                    total += share * (before + 1 + (j - a) * slope) / (j + 1)
            before += inside
            a = b
        out[q] = min(total / n_relevant, 1.0)
