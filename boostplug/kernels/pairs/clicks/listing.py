"""Lists of the preference pairs within each query that clicks or purchases give."""

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import SPLITMIX_STEP, mixed
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import longest_list

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_UNIT = 2.0**-53


@inlined()
def _beats(rate: Floats, position: Ints, nearest: int, farthest: int, i: int, j: int) -> bool:
    """Return whether row i beats row j: its rate is higher, and j stands `nearest` to `farthest` positions below i.

    A row with the rate NaN neither beats nor loses.
    """
    loses: bool = (nearest <= position[j] - position[i] <= farthest) & (rate[j] < rate[i])
    return loses


@compiled()
def count_pairs(
    rate: Floats, position: Ints, boundaries: Ints, nearest: int, farthest: int, first: int, last: int, out: Ints
) -> None:
    """Write the number of pairs that `list_pairs` lists for each page."""
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if rate[i] > 0.0:
                for j in range(boundaries[q], boundaries[q + 1]):
                    n += _beats(rate, position, nearest, farthest, i, j)
        out[q] = n


@compiled()
def list_pairs(
    rate: Floats,
    position: Ints,
    boundaries: Ints,
    nearest: int,
    farthest: int,
    start: Ints,
    first: int,
    last: int,
    winner: Ints,
    loser: Ints,
) -> None:
    """List the pairs of each page q from ``start[q]`` on: each row i with each row j that it beats."""
    for q in range(first, last):
        k = start[q]
        for i in range(boundaries[q], boundaries[q + 1]):
            if rate[i] > 0.0:
                for j in range(boundaries[q], boundaries[q + 1]):
                    if _beats(rate, position, nearest, farthest, i, j):
                        winner[k], loser[k] = i, j
                        k += 1


@compiled()
def count_shared_pages(row: Ints, boundaries: Ints, start: Ints, loser: Ints, out: Ints) -> None:
    """Add to ``out[k]`` the number of pages that show both rows of pair k.

    The pairs of winner a are ``start[a]:start[a + 1]``, their losers ascending. Runs on one thread, because pages share
    pairs.
    """
    last_page = np.full(len(loser), -1)  # of each pair: a page that shows a row twice counts once
    for q in range(len(boundaries) - 1):
        for i in range(boundaries[q], boundaries[q + 1]):
            end = start[row[i] + 1]
            if start[row[i]] == end:
                continue
            for j in range(boundaries[q], boundaries[q + 1]):
                low = start[row[i]] + np.searchsorted(loser[start[row[i]] : end], row[j])
                if low < end and loser[low] == row[j] and last_page[low] != q:
                    out[low] += 1
                    last_page[low] = q


@compiled()
def list_drawn(
    taken: Bools,
    boundaries: Ints,
    most: int,
    seed: np.uint64,
    start: Ints,
    first: int,
    last: int,
    winner: Ints,
    loser: Ints,
) -> None:
    """List, for each taken row, pairs with `most` rows of its query that were not taken, drawn without replacement.

    The pairs of query q are listed from ``start[q]`` on. Each query has its own random numbers, so the pairs do not
    depend on the number of threads. A partial Fisher-Yates shuffle draws the rows.
    """
    others = np.empty(longest_list(boundaries, first, last), np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if not taken[i]:
                others[n] = i
                n += 1
        state = mixed(seed + SPLITMIX_STEP * np.uint64(q))
        k = start[q]
        for i in range(boundaries[q], boundaries[q + 1]):
            if taken[i]:
                for t in range(min(most, n)):
                    if most < n:
                        state += SPLITMIX_STEP
                        u = t + int((mixed(state) >> np.uint64(11)) * _UNIT * (n - t))
                        others[t], others[u] = others[u], others[t]
                    winner[k], loser[k] = i, others[t]
                    k += 1
