"""Order the documents of a query by score."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.compiling import compiled

__all__ = ["Room", "best_rows", "room_for", "sort"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SELECT = 64  # up to this cut-off a sorted list of the best scores beats sorting the query
_RUN = 16  # runs of this length are sorted by counting, then merged


class Room(NamedTuple):
    """Where the documents of one query are sorted: a key and a row each, and as much again to merge them in."""

    keys: Floats
    rows: Ints
    spare_keys: Floats
    spare_rows: Ints


@compiled()
def room_for(boundaries: Ints, first: int, last: int) -> Room:
    """Return room for the longest of the queries ``first <= q < last``."""
    n = 0
    for q in range(first, last):
        n = max(n, boundaries[q + 1] - boundaries[q])
    return Room(np.empty(n), np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))


@compiled()
def sort(room: Room, n: int) -> None:
    """Sort the first n of `room` by descending key, stably.

    Runs are sorted by counting how many keys go before each, which takes no branch, then merged.
    """
    keys, rows, spare_keys, spare_rows = room
    for low in range(0, n, _RUN):
        high = min(low + _RUN, n)
        for i in range(low, high):
            spare_keys[i], spare_rows[i] = keys[i], rows[i]
        for i in range(low, high):
            key = spare_keys[i]
            to = low
            for j in range(low, i):
                to += spare_keys[j] >= key
            for j in range(i + 1, high):
                to += spare_keys[j] > key
            keys[to], rows[to] = key, spare_rows[i]
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


@compiled()
def best_rows(scores: Floats, start: int, stop: int, k: int, room: Room) -> int:
    """Write the best rows of one query, and their scores as keys, to `room`; return their number.

    The rows ``start <= i < stop`` that score at least as high as the `k`-th best, best first, ties in file order: the
    block of tied documents at the cut is complete. `k` is at least 1.
    """
    keys, rows, spare_keys, _ = room
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
    sort(room, m)
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
