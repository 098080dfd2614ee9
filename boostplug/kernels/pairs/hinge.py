r"""Sums of squared hinges :math:`w_i w_j \max(0, (z_i - z_j) + τ)^2` over the pairs of a query, in O(n log n).

Documents come by query and grade (`boostplug.kernels.base.views.GroupArrays`); i has the higher grade, j the lower one.
With :math:`z = r - F` and τ = 0, the margin of a pair is its grade gap. With :math:`z = -F` it is the constant τ. A
pair is active if :math:`(z_i - z_j) + τ > 0` in float64. It is evaluated in this order only, so ties fall as in a
double loop. `docs/explanation/pair_sums.md` explains the merge sort.

In NumPy::

    def hinge(scores, labels, winner, loser, margin):
        z = -scores if margin != "grade" else labels - scores
        d = z[:, None] - z + (0.0 if margin == "grade" else margin)
        w = np.where((labels[:, None] > labels) & (d > 0), winner[:, None] * loser, 0.0)
        g, squares = -w * d, (w * d * d).sum()
        return g.sum(axis=1) - g.sum(axis=0), w.sum(axis=1) + w.sum(axis=0), squares
"""

from typing import Any, NamedTuple

import numba
import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import merge, sort_range, workspace_for

BY_PAIR_UP_TO = 768  # documents; up to here single pairs take no longer than sorting (for 5 grades or real labels)
_LARGEST = 1e150  # bound of |z|: its square is finite
_DEEPEST = 256  # a part of two or more grades is halved by every second cut


class Hinge(NamedTuple):
    """Terms of a pair.

    Its margin is `margin` plus `per_grade` times its grade gap. It adds `curvature` to both Hessians if it is active,
    or always with `every_pair`. With `squares` only the sums of squares are computed for pairs of grades, otherwise
    only derivatives.
    """

    per_grade: float
    margin: float
    every_pair: bool
    curvature: float
    squares: bool


@inlined()
def _clipped(x: float) -> float:
    return min(max(x, -_LARGEST), _LARGEST)


class _Documents(NamedTuple):
    """_Documents of a query by ascending grade: z, weights in pairs, and sums over pairs."""

    z: Floats
    winner: Floats
    loser: Floats
    first: Floats
    second: Floats


@numba.njit(inline="always")
def _documents_in(x: Any, apart: bool) -> _Documents:
    """Return the documents in five rows; `apart`: winners and losers have different weights."""
    x[1] = 1.0
    return _Documents(x[0], x[1], x[2] if apart else x[1], x[3], x[4])


@inlined(fastmath={"contract", "reassoc"})
def _add_below(documents: _Documents, i: int, begin: int, end: int, margin: float) -> None:
    """Write the sums of document i over the pairs with ``begin <= j < end``, and add each pair to those of j."""
    z, loser, first, second = documents.z, documents.loser, documents.first, documents.second
    z_i, s, g, active = z[i], documents.winner[i], 0.0, 0.0
    for j in range(begin, end):
        x = z_i - z[j]
        # In float64, x > -τ is the same as x + τ > 0, and no compiler may reorder it.
        n = loser[j] if x > -margin else 0.0
        g += n * (x + margin)
        active += n
        first[j] += s * n * (x + margin)
        second[j] += s * n
    first[i], second[i] = -s * g, s * active


@inlined()
def _add_pair_by_pair(documents: _Documents, start: Any, u0: int, u1: int, base: int, margin: float) -> None:
    """Write the sums over all pairs of the groups u0..u1."""
    begin = unsigned(start[u0] - base)
    for j in range(begin, unsigned(start[u0 + 1] - base)):
        documents.first[j] = documents.second[j] = 0.0
    for u in range(u0 + 1, u1):
        end = unsigned(start[u] - base)
        for i in range(end, unsigned(start[u + 1] - base)):
            _add_below(documents, i, begin, end, margin)


@inlined(fastmath={"contract", "reassoc"})
def _squares_by_pair(documents: _Documents, start: Any, u0: int, u1: int, base: int, margin: float) -> float:
    """Return the sum of squares."""
    z, total = documents.z, 0.0
    for u in range(u0 + 1, u1):
        end = unsigned(start[u] - base)
        for i in range(end, unsigned(start[u + 1] - base)):
            square = 0.0
            for j in range(unsigned(start[u0] - base), end):
                x = z[i] - z[j]
                square += documents.loser[j] * (x + margin) * (x + margin) if x > -margin else 0.0
            total += documents.winner[i] * square
    return total


@inlined()
def _pair_by_pair(
    documents: _Documents, start: Any, u0: int, u1: int, base: int, margin: float, squares: bool
) -> float:
    """Write the sums of `_between` pair by pair, for z in any order; or return the sum of squares, with `squares`."""
    total = 0.0
    if squares:
        total = _squares_by_pair(documents, start, u0, u1, base, margin)
    else:
        _add_pair_by_pair(documents, start, u0, u1, base, margin)
    return total


@inlined()
def _between(places: Any, documents: _Documents, first: int, middle: int, last: int, margin: float) -> float:
    """Sum all pairs of lower grades at first..middle and higher ones at middle..last. Keys are -z and descend.

    Adds each document's derivative by the score to `_Documents.first`, and the weights of its active pairs to
    `_Documents.second`. Returns the sum of squares.
    """
    keys, order, _, _ = places
    winner, loser, g, active = documents.winner, documents.loser, documents.first, documents.second
    squares = 0.0
    total = weight = square = 0.0  # Σ w x, Σ w, Σ w x² over the lower documents whose pair with i is active
    j = first
    for i in range(middle, last):
        if i > middle:
            step = keys[i - 1] - keys[i]
            square += step * (2.0 * total + step * weight)
            total += step * weight
        while j < middle:
            x = (keys[j] - keys[i]) + margin
            if x <= 0.0:
                break
            w = loser[order[j]]
            weight += w
            total += w * x
            square += w * x * x
            j += 1
        k = order[i]
        g[k] -= winner[k] * total
        active[k] += winner[k] * weight
        squares += winner[k] * square
    total = weight = 0.0
    i = last - 1
    for j in range(middle - 1, first - 1, -1):
        if j < middle - 1:
            total += (keys[j] - keys[j + 1]) * weight
        while i >= middle:
            x = (keys[j] - keys[i]) + margin
            if x <= 0.0:
                break
            w = winner[order[i]]
            weight += w
            total += w * x
            i -= 1
        k = order[j]
        g[k] += loser[k] * total
        active[k] += loser[k] * weight
    return squares


@inlined()
def _middle_group(start: Ints, u0: int, u1: int) -> int:
    """Return the group whose first document is nearest to the middle of the documents of the groups u0..u1."""
    half = start[u0] + (start[u1] - start[u0]) // 2
    low, high = u0 + 1, u1 - 1
    while low < high:  # bisection: the first group after u0 that starts at or after the middle
        u = (low + high) // 2
        if start[u] < half:
            low = u + 1
        else:
            high = u
    return low - 1 if low > u0 + 1 and half - start[low - 1] < start[low] - half else low


@inlined()
def _all_pairs(
    places: Any, documents: _Documents, start: Any, u0: int, u1: int, margin: float, squares: bool, stack: Any
) -> float:
    """Sum all pairs of a query, the groups u0..u1, and sort its `places` by z."""
    base = start[u0]
    total = 0.0
    stack[0, 0], stack[0, 1], stack[0, 2] = u0, u1, 0
    depth = 1
    while depth > 0:
        a, b, cut = stack[depth - 1, 0], stack[depth - 1, 1], stack[depth - 1, 2]
        first, last = start[a] - base, start[b] - base
        if cut > 0:  # both parts are done
            middle = start[cut] - base
            total += _between(places, documents, first, middle, last, margin)
            if depth > 1:
                merge(places, first, middle, last)
            depth -= 1
        elif b - a == 1 or last - first <= BY_PAIR_UP_TO:
            total += _pair_by_pair(documents, start, a, b, base, margin, squares)
            sort_range(places, first, last)
            depth -= 1
        else:
            cut = _middle_group(start, a, b)
            stack[depth - 1, 2] = cut
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = cut, b, 0
            stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = a, cut, 0
            depth += 2
    return total


@inlined()
def _weights_of_all_pairs(documents: _Documents, start: Any, u0: int, u1: int) -> None:
    """Write the weights of each document's pairs, active or not."""
    winner, loser, all_weight = documents.winner, documents.loser, documents.second
    base = start[u0]
    for upwards in (True, False):
        passed = 0.0
        for k in range(u1 - u0):
            u = u0 + k if upwards else u1 - 1 - k
            of_group = 0.0
            for i in range(start[u] - base, start[u + 1] - base):
                all_weight[i] = winner[i] * passed if upwards else all_weight[i] + loser[i] * passed
                of_group += loser[i] if upwards else winner[i]
            passed += of_group


@inlined()
def _begin(q: int, scores: Any, groups: Any, hinge: Any, documents: _Documents) -> int:
    """Fill z and the weights of a query's documents; return their number."""
    start, z, winner, loser = groups.group_start, documents.z, documents.winner, documents.loser
    u0, u1 = groups.query_group[q], groups.query_group[q + 1]
    base = start[u0]
    size: int = start[u1] - base
    for u in range(u0, u1):
        label = groups.group_grade[u] * hinge.per_grade
        for i in range(unsigned(start[u]), unsigned(start[u + 1])):
            z[i - unsigned(base)] = _clipped(label - scores[unsigned(groups.rows[i])])
    if groups.winner.shape[0] > 0:
        for i in range(unsigned(size)):
            winner[i] = groups.winner[unsigned(base) + i]
    if groups.apart:
        for i in range(unsigned(size)):
            loser[i] = groups.loser[unsigned(base) + i]
    return size


@inlined()
def _finish(q: int, groups: Any, hinge: Any, factor: float, documents: _Documents, gradient: Any, hessian: Any) -> None:
    """Add a query's sums times its factor to its rows."""
    rows = groups.rows
    first, second = documents.first, documents.second
    u0, u1 = groups.query_group[q], groups.query_group[q + 1]
    base = unsigned(groups.group_start[u0])
    if hinge.every_pair:
        _weights_of_all_pairs(documents, groups.group_start, u0, u1)
    curvature = hinge.curvature * factor
    for i in range(unsigned(groups.group_start[u1]) - base):
        row = unsigned(rows[base + i])
        gradient[row] += factor * first[i]
        hessian[row] += curvature * second[i]


@compiled()
def add_short(
    first: int, last: int, scores: Any, groups: Any, hinge: Any, factor: Any, gradient: Any, hessian: Any, _: Any
) -> None:  # fmt: skip
    """Add the derivatives of the queries ``first <= q < last``, all of them short."""
    documents = _documents_in(np.empty((5, groups.longest)), groups.apart)
    start = groups.group_start
    for q in range(first, last):
        u0, u1 = groups.query_group[q], groups.query_group[q + 1]
        _begin(q, scores, groups, hinge, documents)
        _add_pair_by_pair(documents, start, u0, u1, start[u0], hinge.margin)
        _finish(q, groups, hinge, factor[q], documents, gradient, hessian)


@compiled()
def add_any(
    first: int, last: int, scores: Any, groups: Any, hinge: Any, factor: Any, gradient: Any, hessian: Any, squares: Any
) -> None:  # fmt: skip
    """Add the derivatives of the queries ``first <= q < last``, of any length, or write their sums of squares."""
    documents = _documents_in(np.empty((5, groups.longest)), groups.apart)
    start = groups.group_start
    stack = np.empty((_DEEPEST, 3), np.int64)
    places = workspace_for(groups.group_start[groups.query_group], first, last)
    for q in range(first, last):
        u0, u1 = groups.query_group[q], groups.query_group[q + 1]
        size = _begin(q, scores, groups, hinge, documents)
        if size <= BY_PAIR_UP_TO:
            squares[q] = _pair_by_pair(documents, start, u0, u1, start[u0], hinge.margin, hinge.squares)
        else:
            for i in range(size):
                places.keys[i], places.rows[i] = -documents.z[i], i
            squares[q] = _all_pairs(places, documents, start, u0, u1, hinge.margin, hinge.squares, stack)
        if not hinge.squares:
            _finish(q, groups, hinge, factor[q], documents, gradient, hessian)


@compiled()
def add_listed(
    first: int, last: int, scores: Any, pairs: Any, hinge: Any, factor: Any, gradient: Any, hessian: Any, squares: Any
) -> None:  # fmt: skip
    """Add the explicit pairs of the queries ``first <= q < last``, and write their sums of squares.

    A pair is active if F_winner - F_loser is below its own margin.
    """
    for q in range(first, last):
        total = 0.0
        for k in range(pairs.start[q], pairs.start[q + 1]):
            i, j = pairs.winner[k], pairs.loser[k]
            ahead = scores[i] - scores[j]
            active = ahead < pairs.margin[k]
            if active:
                short = min(pairs.margin[k] - ahead, _LARGEST)
                step = factor[q] * pairs.weight[k] * short
                gradient[i] -= step
                gradient[j] += step
                total += pairs.weight[k] * short * short
            if active or hinge.every_pair:
                hessian[i] += hinge.curvature * factor[q] * pairs.weight[k]
                hessian[j] += hinge.curvature * factor[q] * pairs.weight[k]
        squares[q] = total
