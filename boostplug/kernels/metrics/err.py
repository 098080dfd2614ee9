"""Expected reciprocal rank at which a user stops who reads from the top; exact for tied documents."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import numbers_by_query
from boostplug.kernels.base.compiling import compiled, inner
from boostplug.kernels.base.sorting import best_rows, room_for

__all__ = ["Chances", "expected_reciprocal_rank"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NEVER = 1e-15  # a user who gets this far with a smaller probability adds nothing to the sum
_NO_WAY = 1e-25  # the same for one way among many


class Chances(NamedTuple):
    """The rows of each query in some order, and the chance of each, in that order, to stop a user who reads it."""

    order: Ints
    stops: Floats


@inner(fastmath={"reassoc", "contract"})
def _stops_in_random_order(
    stops: Floats, r: int, most: int, stop_at: Floats, goes_on: Floats, way: Floats, rest: Floats, spare: Floats
) -> int:
    r"""Write the probability that a user stops at the j-th of `r` documents in random order to ``stop_at[j - 1]``.

    Document i stops a user with probability :math:`R_i > 0` (`stops`, descending). Returns how many there are: at most
    `most`, and none for ranks that a user reaches with a probability below 1e-15.

    Documents of equal R join those before as one group. A user who has read t of the α + β documents and goes on has
    read i of the first α with a probability ``way[i] * goes_on[i]``: the first factor by a walk from t to t + 1, the
    second known of the α alone. All terms are ≥ 0, so a small R keeps its digits. For J ranks and K different R the
    cost is O(r J), and O(K J √J) where the groups are large. The buffers hold r + 1 elements, `spare` twice that.
    """
    stop_at[0], goes_on[0] = 0.0, 1.0
    length = 1  # of goes_on and stop_at
    size = 0  # α
    while size < r:
        stop = stops[size]
        total = size + 1
        while total < r and stops[total] == stop:
            total += 1
        for i in range(length):
            way[i], rest[i] = 0.0, size - i
        way[0] = 1.0
        low = high = t = 0
        while t <= min(total, most - 1):
            left = float(total - t)
            inverse = 1.0 / max(left, 1.0)
            alive = stopped = moved = 0.0
            if high + 1 < length and way[high] > _NO_WAY:
                high += 1
            ways, unread, stops_at, goes = way[low:], rest[low:], stop_at[low:], goes_on[low:]
            for i in range(high + 1 - low):  # from 0: the compiler then knows that no index is negative
                of_first = ways[i] * unread[i]
                of_group = ways[i] * (left - unread[i])
                alive += ways[i] * goes[i]
                stopped += of_first * stops_at[i] + of_group * stop * goes[i]
                ways[i] = (of_group * (1.0 - stop) + moved) * inverse
                moved = of_first
            if alive < _NEVER:
                break
            spare[2 * t], spare[2 * t + 1] = stopped * inverse, alive
            while low < high and way[low] < _NO_WAY:
                low += 1
            t += 1
        length = t
        for j in range(length):
            stop_at[j], goes_on[j] = spare[2 * j], spare[2 * j + 1]
        size = total
    return min(length, r)


@inner()
def _mean_reciprocal_ranks(n: int, r: int, before: int, ranks: int, most: int, out: Floats, chance: Floats) -> None:
    r"""Write the expected 1/rank of the j-th of r marked documents among n in random order to ``out[j - 1]``, j ≤ most.

    The first of the n has the rank ``before + 1``; those after the first `ranks` (at most n) count 0. With
    :math:`T_j` the place of the j-th, b = `before` and L = `ranks`,

    .. math:: P(T_j = t) = \binom{t-1}{j-1} \binom{n-t}{r-j} \Big/ \binom nr

    gives for the sums :math:`h_j = \sum_{t \le L} P(T_j = t) / (b + t)` (the factor b + t divides out term by term,
    what is left is one of Vandermonde's sums)

    .. math:: (r - j)(b + j)\, h_j + j (n - r + j + 1 + b)\, h_{j+1}
              = r\, P(\text{at least } j \text{ of } r - 1 \text{ marked among the first } L).

    The ratio of the two factors on the left falls with j: where it is above 1 the recurrence damps errors on the way
    down, elsewhere on the way up. So it starts in between, from a sum. O(n) in all.
    """
    if r == n:
        for j in range(most):
            out[j] = 1.0 / (before + j + 1) if j < ranks else 0.0
        return
    start = 1
    while start < most and (r - start) * (before + start) > start * (n - r + start + 1.0 + before):
        start += 1
    _at_least(n, r - 1, ranks, chance)
    out[start - 1] = _mean_reciprocal_rank(n, r, before, ranks, start)
    for j in range(start, most):
        rest = r * chance[j] - (r - j) * (before + j) * out[j - 1]
        out[j] = max(rest / (j * (n - r + j + 1.0 + before)), 0.0)
    for j in range(start - 1, 0, -1):
        rest = r * chance[j] - j * (n - r + j + 1.0 + before) * out[j]
        out[j - 1] = max(rest / ((r - j) * float(before + j)), 0.0)


@inner()
def _mean_reciprocal_rank(n: int, r: int, before: int, ranks: int, j: int) -> float:
    """Return `_mean_reciprocal_ranks` of one j: sums outwards from the likeliest place, divided by that of all chances.

    (Binomials of large numbers by logarithms would cost half of the digits.)
    """
    place = 1 + (j - 1) * (n - 1) // max(r - 1, 1)
    place = min(max(place, j), n - r + j)
    total = mean = 0.0
    chance = 1.0
    t = place
    while t <= n - r + j and chance > _NO_WAY:
        total += chance
        if t <= ranks:
            mean += chance / (before + t)
        chance *= t / (t - j + 1.0) * (n - t - r + j) / max(n - t, 1)
        t += 1
    chance, t = 1.0, place
    while t > j and chance > _NO_WAY:
        t -= 1
        chance *= (t - j + 1.0) / t * (n - t) / (n - t - r + j)
        total += chance
        if t <= ranks:
            mean += chance / (before + t)
    return mean / total


@inner()
def _at_least(n: int, r: int, first: int, out: Floats) -> None:
    """Write to ``out[j]`` the chance of at least j of r marked documents among the `first` of n in random order.

    As above: chances outwards from the likeliest, divided by their sum.
    """
    out[: r + 1] = 0.0
    if first >= n:
        out[: r + 1] = 1.0
        return
    lowest, highest = max(0, first - (n - r)), min(r, first)
    likeliest = min(max((first + 1) * (r + 1) // (n + 2), lowest), highest)
    chance = 1.0
    for j in range(likeliest, highest + 1):
        out[j] = chance
        chance *= (r - j) / (j + 1.0) * (first - j) / (n - r - first + j + 1.0)
    chance = 1.0
    for j in range(likeliest, lowest, -1):
        chance *= j / (r - j + 1.0) * (n - r - first + j) / (first - j + 1.0)
        out[j - 1] = chance
    for j in range(highest - 1, -1, -1):
        out[j] += out[j + 1]
    total = out[0]
    for j in range(highest + 1):
        out[j] /= total


@compiled()
def _expected_reciprocal_rank(
    scores: Floats, chances: Chances, boundaries: Ints, k: int, average: bool, first: int, last: int, out: Floats
) -> None:
    r"""Compute the expected 1/rank at which a user stops; NaN for a query in which no document ever stops one.

    .. math:: \sum_{j \le k} \frac1j R_j \prod_{i < j} (1 - R_i)

    The :math:`R_i` are `chances`; ties stay in their order, or, with `average`, that is the order of descending R and
    the value is the expected one over a random order of tied documents:

    .. math:: \sum_j P(\text{stops at the j-th with R > 0})\, E[1/\text{rank of the j-th with R > 0}] .

    The user's chance to get past a whole block of them does not depend on their order.
    """
    order, stops = chances
    room = room_for(boundaries, first, last)
    keys, rows = room.keys, room.rows
    longest = len(keys)
    own, tied, rank = np.empty(longest), np.empty(longest), np.empty(longest)
    stop_at, goes_on, spare = np.empty(longest + 1), np.empty(longest + 1), np.empty(2 * longest + 2)
    way, rest = np.empty(longest + 1), np.empty(longest + 1)
    for q in range(first, last):
        start = boundaries[q]
        n = boundaries[q + 1] - start
        any_stop = False
        for i in range(n):
            any_stop |= stops[start + i] > 0.0
            own[i] = scores[order[start + i]]
        if not any_stop:
            out[q] = np.nan
            continue
        cut = min(k, n)
        m = best_rows(own, 0, n, cut, room)
        total, alive = 0.0, 1.0
        a = 0
        while a < cut and alive > 1e-18:
            b = a + 1
            while average and b < m and keys[b] == keys[a]:
                b += 1
            if b == a + 1:
                stop = stops[start + rows[a]]
                total += alive * stop / b
                alive *= 1.0 - stop
            else:
                ranks = min(b, cut) - a
                r = 0
                for p in range(a, b):
                    tied[p - a] = stops[start + rows[p]]
                    r += 1 if tied[p - a] > 0.0 else 0
                if r > 0:
                    most = _stops_in_random_order(tied, r, ranks, stop_at, goes_on, way, rest, spare)
                    _mean_reciprocal_ranks(b - a, r, a, ranks, most, rank, way)
                    here = 0.0
                    for j in range(most):
                        here += stop_at[j] * rank[j]
                    total += alive * here
                    for p in range(r):
                        alive *= 1.0 - tied[p]
            a = b
        out[q] = total


def expected_reciprocal_rank(scores: Floats, chances: Chances, boundaries: Ints, k: int, *, average: bool) -> Floats:
    """Return the expected reciprocal rank of each query."""
    return numbers_by_query(_expected_reciprocal_rank, boundaries, scores, chances, boundaries, k, average)
