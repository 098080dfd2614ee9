r"""Sums of squared hinges :math:`s_i s_j \max(0, (z_i - z_j) + τ)^2` over the pairs of a query, document by document.

Documents come by query and grade (`boostplug.queries.GradeRuns`); i has the higher grade, j the lower one. With
:math:`z = r - F` and τ = 0 a pair's margin is its grade gap; with :math:`z = -F` it is the constant τ.

A query is cut into two parts at a grade near its middle, and each part again, until a part is one grade or short.
Short parts are summed pair by pair, in vectors. All pairs between two longer parts, each sorted by z, take two
pointers, which move the same way; then the parts are merged. That is one merge sort, O(n log n) for any number of
grades.

Precision. A pair is active where :math:`(z_i - z_j) + τ > 0` in float64, evaluated in this order and nowhere otherwise,
so that ties fall as in a double loop. Sums over active pairs grow by terms ≥ 0 as the pointers advance: no offset of
the scores enters, nothing cancels, no centre is needed.
"""

from typing import Any

import numba
import numpy as np

from boostplug.kernels.compiling import compiled

__all__ = ["accumulate", "squared_error"]

unsigned = numba.uint64  # a loop over unsigned indices vectorises: it needs no test for negative ones
_SHORT = 512  # documents; up to here pair by pair is faster than sorting
_BLOCK = 32  # documents; sorted by counting, in vectors, then merged
_LARGEST = 1e150  # of |z|: its square is finite
_DEEPEST = 256  # a part of two or more grades is halved by every second cut


@compiled()
def _shortfall(upper: float, lower: float, margin: float) -> float:
    """Return max(0, (upper - lower) + margin).

    A function of its own, for the callers' licence to reorder sums does not reach into it: at a kink the order decides.
    """
    d = (upper - lower) + margin
    return max(0.0, d)


@compiled()
def _clipped(x: float) -> float:
    return min(max(x, -_LARGEST), _LARGEST)


@compiled(fastmath={"contract", "reassoc"}, error_model="numpy")
def _pair_by_pair(z: Any, s: Any, start: Any, u0: int, u1: int, base: int, margin: float, g: Any, n: Any) -> float:
    """Sum the pairs of the runs u0..u1 one by one; see `_between`."""
    first = unsigned(start[u0] - base)
    squares = 0.0
    for u in range(u0 + 1, u1):
        middle, last = unsigned(start[u] - base), unsigned(start[u + 1] - base)
        for i in range(middle, last):
            z_i, s_i = z[i], s[i]
            g_i = n_i = q_i = 0.0
            for j in range(first, middle):
                x = _shortfall(z_i, z[j], margin)
                active = 1.0 if x > 0.0 else 0.0
                s_j = s[j]
                g_i += s_j * x
                n_i += s_j * active
                q_i += s_j * x * x
                g[j] += s_i * x
                n[j] += s_i * active
            g[i] -= g_i
            n[i] += n_i
            squares += s_i * q_i
    return squares


@compiled()
def _between(z: Any, order: Any, s: Any, first: int, middle: int, last: int, margin: float, g: Any, n: Any) -> float:
    """Sum all pairs of lower grades at first..middle and higher ones at middle..last, both sorted by z.

    Adds the derivatives of half the sum of squares by -z to g and Σ s over active partners to n, without the
    document's own s; returns the sum of squares.
    """
    squares = 0.0
    total = weight = square = 0.0  # Σ s x, Σ s, Σ s x² over the lower documents that are active with i
    j = first
    for i in range(middle, last):
        if i > middle:
            step = z[i] - z[i - 1]
            square += step * (2.0 * total + step * weight)
            total += step * weight
        while j < middle:
            x = _shortfall(z[i], z[j], margin)
            if x <= 0.0:
                break
            s_j = s[order[j]]
            weight += s_j
            total += s_j * x
            square += s_j * x * x
            j += 1
        g[order[i]] -= total
        n[order[i]] += weight
        squares += s[order[i]] * square
    total = weight = 0.0
    i = last - 1
    for j in range(middle - 1, first - 1, -1):
        if j < middle - 1:
            total += (z[j + 1] - z[j]) * weight
        while i >= middle:
            x = _shortfall(z[i], z[j], margin)
            if x <= 0.0:
                break
            s_i = s[order[i]]
            weight += s_i
            total += s_i * x
            i -= 1
        g[order[j]] += total
        n[order[j]] += weight
    return squares


@compiled()
def _merge(z: Any, order: Any, first: int, middle: int, last: int, spare_z: Any, spare_order: Any) -> None:
    """Merge two neighbours that are sorted by z."""
    if z[middle - 1] <= z[middle]:
        return
    for i in range(first, middle):
        spare_z[i], spare_order[i] = z[i], order[i]
    i, j, to = first, middle, first
    while i < middle and j < last:
        if spare_z[i] <= z[j]:
            z[to], order[to] = spare_z[i], spare_order[i]
            i += 1
        else:
            z[to], order[to] = z[j], order[j]
            j += 1
        to += 1
    while i < middle:
        z[to], order[to] = spare_z[i], spare_order[i]
        i += 1
        to += 1


@compiled()
def _sort(z: Any, order: Any, first: int, last: int, spare_z: Any, spare_order: Any) -> None:
    """Sort z and, along with it, order, stably: a document's place in a block is the number of those before it."""
    for low in range(first, last, _BLOCK):
        a, b = unsigned(low), unsigned(min(low + _BLOCK, last))
        for i in range(a, b):
            z_i = z[i]
            place = a
            for j in range(a, i):
                place += unsigned(z[j] <= z_i)
            for j in range(i, b):
                place += unsigned(z[j] < z_i)
            spare_z[place], spare_order[place] = z_i, order[i]
        for i in range(a, b):
            z[i], order[i] = spare_z[i], spare_order[i]
    width = _BLOCK
    while width < last - first:
        for low in range(first, last - width, 2 * width):
            _merge(z, order, low, low + width, min(low + 2 * width, last), spare_z, spare_order)
        width *= 2


@compiled()
def _middle_run(start: Any, u0: int, u1: int) -> int:
    """Return the run between u0 and u1 whose start is nearest to the middle of their documents."""
    half = start[u0] + (start[u1] - start[u0]) // 2
    low, high = u0 + 1, u1 - 1
    while low < high:  # the first run from u0 + 1 on that starts at the middle or past it
        u = (low + high) // 2
        if start[u] < half:
            low = u + 1
        else:
            high = u
    return low - 1 if low > u0 + 1 and half - start[low - 1] < start[low] - half else low


@compiled()
def _all_pairs(
    z: Any,
    s: Any,
    order: Any,
    spare_z: Any,
    spare_order: Any,
    start: Any,
    u0: int,
    u1: int,
    margin: float,
    g: Any,
    n: Any,
    stack: Any,
) -> float:
    """Sum all pairs of a query, the runs u0..u1; z and order are sorted on the way."""
    base = start[u0]
    squares = 0.0
    stack[0, 0], stack[0, 1], stack[0, 2] = u0, u1, 0
    depth = 1
    while depth > 0:
        a, b, cut = stack[depth - 1, 0], stack[depth - 1, 1], stack[depth - 1, 2]
        first, last = start[a] - base, start[b] - base
        if cut > 0:  # both parts are done
            middle = start[cut] - base
            squares += _between(z, order, s, first, middle, last, margin, g, n)
            if depth > 1:
                _merge(z, order, first, middle, last, spare_z, spare_order)
            depth -= 1
        elif b - a == 1 or last - first <= _SHORT:
            if b - a > 1:
                squares += _pair_by_pair(z, s, start, a, b, base, margin, g, n)
            _sort(z, order, first, last, spare_z, spare_order)
            depth -= 1
        else:
            cut = _middle_run(start, a, b)
            stack[depth - 1, 2] = cut
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = cut, b, 0
            stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = a, cut, 0
            depth += 2
    return squares


@compiled()
def _partners(s: Any, start: Any, u0: int, u1: int, n: Any) -> None:
    """Write Σ s over all documents of other grades, active or not."""
    base = start[u0]
    for upwards in (True, False):
        passed = 0.0
        for k in range(u1 - u0):
            u = u0 + k if upwards else u1 - 1 - k
            own = 0.0
            for i in range(start[u] - base, start[u + 1] - base):
                n[i] = passed if upwards else n[i] + passed
                own += s[i]
            passed += own


@compiled()
def accumulate(
    first: int,
    last: int,
    scores: Any,
    rows: Any,
    sqrt_weight: Any,
    start: Any,
    grade: Any,
    query_run: Any,
    margin: float,
    by_grade: bool,
    every_pair: bool,
    slope: Any,
    curvature: Any,
    gradient: Any,
    hessian: Any,
    squares: Any,
) -> None:
    """Add to gradient and Hessian of the rows of the queries ``first <= q < last``; write their sums of squares.

    Parameters
    ----------
    margin : float
        The constant margin, unless `by_grade`.
    by_grade : bool
        A pair's margin is its grade gap.
    every_pair : bool
        The Hessian counts all pairs, not the active ones alone.
    slope, curvature : ndarray
        What each query's derivatives of half its sum of squares and its counts of pairs are multiplied with.
    squares : ndarray
        Out: each query's Σ s s max(0, ·)², not multiplied.
    """
    size = 0
    for q in range(first, last):
        size = max(size, start[query_run[q + 1]] - start[query_run[q]])
    z, s, g, n = np.empty(size), np.ones(size), np.empty(size), np.empty(size)
    spare_z, order, spare_order = np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64)
    stack = np.empty((_DEEPEST, 3), np.int64)
    weighted = sqrt_weight.shape[0] > 0
    tau = 0.0 if by_grade else margin
    for q in range(first, last):
        u0, u1 = query_run[q], query_run[q + 1]
        base = start[u0]
        size = start[u1] - base
        for u in range(u0, u1):
            label = grade[u] if by_grade else 0.0
            for i in range(start[u] - base, start[u + 1] - base):
                z[i] = _clipped(label - scores[rows[base + i]])
        for i in range(size):
            g[i] = n[i] = 0.0
            if weighted:
                s[i] = sqrt_weight[base + i]
        if size <= _SHORT:
            squares[q] = _pair_by_pair(z, s, start, u0, u1, base, tau, g, n)
        else:
            for i in range(size):
                order[i] = i
            squares[q] = _all_pairs(z, s, order, spare_z, spare_order, start, u0, u1, tau, g, n, stack)
        if every_pair:
            _partners(s, start, u0, u1, n)
        for i in range(size):
            gradient[rows[base + i]] += slope[q] * s[i] * g[i]
            hessian[rows[base + i]] += curvature[q] * s[i] * n[i]


@compiled()
def squared_error(
    first: int,
    last: int,
    scores: Any,
    labels: Any,
    weight: Any,
    labelled: Any,
    boundaries: Any,
    factor: float,
    gradient: Any,
    hessian: Any,
    squares: Any,
) -> None:
    """Write gradient and Hessian of factor · v (l - F)²/2 and Σ v (l - F)², 0 where not labelled, of some queries.

    Empty `weight` and `labelled`: all 1, and all labelled.
    """
    weighted, masked = weight.shape[0] > 0, labelled.shape[0] > 0
    for q in range(first, last):
        square = 0.0
        for i in range(unsigned(boundaries[q]), unsigned(boundaries[q + 1])):
            x = _clipped(scores[i] - labels[i])
            v = 1.0
            if weighted:
                v = weight[i]
            if masked and not labelled[i]:
                v = 0.0
            gradient[i] = factor * v * x
            hessian[i] = factor * v
            square += v * x * x
        squares[q] = square


@compiled()
def accumulate_pairs(
    first: int,
    last: int,
    scores: Any,
    winner: Any,
    loser: Any,
    weight: Any,
    margin: Any,
    start: Any,
    every_pair: bool,
    slope: Any,
    curvature: Any,
    gradient: Any,
    hessian: Any,
    squares: Any,
) -> None:
    """Add the explicit pairs of the queries ``first <= q < last``; one is active where F_winner - F_loser < margin."""
    for q in range(first, last):
        total = 0.0
        for k in range(start[q], start[q + 1]):
            i, j = winner[k], loser[k]
            ahead = scores[i] - scores[j]
            active = ahead < margin[k]
            if active:
                short = min(margin[k] - ahead, 1e150)
                step = slope[q] * weight[k] * short
                gradient[i] -= step
                gradient[j] += step
                total += weight[k] * short * short
            if active or every_pair:
                hessian[i] += curvature[q] * weight[k]
                hessian[j] += curvature[q] * weight[k]
        squares[q] = total
