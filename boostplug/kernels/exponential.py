r"""Sums of :math:`w_{ij} = s_i s_j e^{-d_{ij}(F_i - F_j)}` over the pairs of a query, document by document.

Documents come by query and grade (`boostplug.queries.GradeRuns`); i has the higher grade, j the lower one.
For one pair of grades d is one number, and the sum over all its pairs factorises:

.. math:: \sum_j w_{ij} = s_i e^{-d F_i} \cdot \sum_j s_j e^{d F_j}

so all pairs of a query with K grades cost O(nK) exponentials and O(n) memory. Where a query has so many grades that the
table of their distances would outgrow its documents, pairs are summed one by one in O(n) memory; for a distance that is
the same for all pairs, running sums over the grades do in O(n).

Range. As long as no exponent passes ±600, factors around the middle of the scores are safe. Past it each sum takes its
own reference (the extreme score of the grade summed over), and a query's results are held relative to ``e^shift``.
"""

import math
from typing import Any

import numba
import numpy as np

from boostplug.kernels.arithmetic import exponential, total
from boostplug.kernels.compiling import compiled

# compiled in: arithmetic.py 65d2c856e0ab

__all__ = [
    "BINARY",
    "FACTORISED",
    "GIVEN",
    "LINEAR",
    "LOG",
    "LOGISTIC",
    "PAIRWISE",
    "RUNNING",
    "SAFE_EXPONENT",
    "accumulate",
    "accumulate_block",
    "accumulate_pairs",
    "distance_of_gap",
    "largest_exponent",
    "largest_pair_exponent",
    "squared_distances",
]

FACTORISED, RUNNING, PAIRWISE, GIVEN = 0, 1, 2, 3  # how to sum a query's pairs; GIVEN by `accumulate_block`
BINARY, LINEAR, LOG, LOGISTIC = 0, 1, 2, 3  # distances that kernels can compute
unsigned = numba.uint64  # a loop over unsigned indices vectorises: it needs no test for negative ones
SAFE_EXPONENT = 600.0  # largest exponent that leaves room for sums of 1e40 in float64


@compiled()
def distance_of_gap(kind: int, parameter: float, gap: float) -> float:
    """Return the distance of a gap > 0 between two grades (see `boostplug.losses.directed_distance`)."""
    if kind == LINEAR:
        return parameter * gap
    if kind == LOG:
        return math.log1p(parameter * gap)
    if kind == LOGISTIC:
        return 1.0 / (1.0 + math.exp(-parameter * gap))
    return 1.0


@compiled(fastmath={"contract"}, error_model="numpy")
def _factorised(
    f: Any,
    s: Any,
    weighted: bool,
    start: Any,
    u0: int,
    u1: int,
    table: Any,
    t0: int,
    h_d2: float,
    h_1: float,
    e: Any,
    g: Any,
    h: Any,
) -> None:
    """Sum all pairs of runs u0..u1 by factorisation; scores f, centred, exponents within ±300 on either side."""
    base = unsigned(start[u0])
    t = t0
    for v in range(u0 + 1, u1):
        v_first, v_last = unsigned(start[v]) - base, unsigned(start[v + 1]) - base
        for u in range(u0, v):
            u_first, u_last = unsigned(start[u]) - base, unsigned(start[u + 1]) - base
            d = table[t]
            t += 1
            for i in range(v_first, v_last):
                e[i] = exponential(-d * f[i])
            for j in range(u_first, u_last):
                e[j] = exponential(d * f[j])
            if weighted:
                for i in range(v_first, v_last):
                    e[i] *= s[base + i]
                for j in range(u_first, u_last):
                    e[j] *= s[base + j]
            above, below = total(e, v_first, v_last), total(e, u_first, u_last)
            curvature = h_d2 * d * d + h_1
            gi, hi = -d * below, curvature * below
            for i in range(v_first, v_last):
                g[i] += gi * e[i]
                h[i] += hi * e[i]
            gj, hj = d * above, curvature * above
            for j in range(u_first, u_last):
                g[j] += gj * e[j]
                h[j] += hj * e[j]


@compiled()
def _factorised_any_range(
    f: Any,
    s: Any,
    weighted: bool,
    start: Any,
    u0: int,
    u1: int,
    table: Any,
    t0: int,
    h_d2: float,
    h_1: float,
    g: Any,
    h: Any,
) -> float:
    """Do what `_factorised` does for scores of any range; return the shift: results are relative to e^shift."""
    base = start[u0]
    lowest, highest = np.empty(u1 - u0), np.empty(u1 - u0)
    for u in range(u0, u1):
        lowest[u - u0] = f[start[u] - base : start[u + 1] - base].min()
        highest[u - u0] = f[start[u] - base : start[u + 1] - base].max()
    shift = 0.0
    t = t0
    for v in range(u0 + 1, u1):
        for u in range(u0, v):
            shift = max(shift, table[t] * (highest[u - u0] - lowest[v - u0]) - SAFE_EXPONENT)
            t += 1
    t = t0
    for v in range(u0 + 1, u1):
        v_first, v_last = start[v] - base, start[v + 1] - base
        f_v = lowest[v - u0]
        for u in range(u0, v):
            u_first, u_last = start[u] - base, start[u + 1] - base
            f_u = highest[u - u0]
            d = table[t]
            t += 1
            above = below = 0.0
            for i in range(v_first, v_last):
                above += math.exp(-d * (f[i] - f_v)) * (s[base + i] if weighted else 1.0)
            for j in range(u_first, u_last):
                below += math.exp(d * (f[j] - f_u)) * (s[base + j] if weighted else 1.0)
            curvature = h_d2 * d * d + h_1
            for i in range(v_first, v_last):
                w = math.exp(-d * (f[i] - f_u) - shift) * below * (s[base + i] if weighted else 1.0)
                g[i] -= d * w
                h[i] += curvature * w
            for j in range(u_first, u_last):
                w = math.exp(d * (f[j] - f_v) - shift) * above * (s[base + j] if weighted else 1.0)
                g[j] += d * w
                h[j] += curvature * w
    return shift


@compiled(fastmath={"contract"}, error_model="numpy")
def _running(
    f: Any, s: Any, weighted: bool, start: Any, u0: int, u1: int, h_d2: float, h_1: float, e: Any, g: Any, h: Any
) -> None:
    """Sum all pairs where every pair has the distance 1, by running sums over the grades, upwards and downwards."""
    base = unsigned(start[u0])
    n = unsigned(start[u1]) - base
    curvature = h_d2 + h_1
    for sign in (1.0, -1.0):
        for i in range(n):
            e[i] = exponential(sign * f[i])
        if weighted:
            for i in range(n):
                e[i] *= s[base + i]
        passed = 0.0
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            first, last = unsigned(start[u]) - base, unsigned(start[u + 1]) - base
            for i in range(first, last):
                w = passed / e[i]
                if weighted:
                    w *= s[base + i] * s[base + i]
                g[i] -= sign * w
                h[i] += curvature * w
            passed += total(e, first, last)


@compiled()
def _running_any_range(
    f: Any, s: Any, weighted: bool, start: Any, u0: int, u1: int, h_d2: float, h_1: float, g: Any, h: Any
) -> float:
    """Do what `_running` does for scores of any range; return the shift: results are relative to e^shift."""
    base = start[u0]
    curvature = h_d2 + h_1
    shift = 0.0
    highest = -np.inf
    for u in range(u0, u1):
        for i in range(start[u] - base, start[u + 1] - base):
            shift = max(shift, highest - f[i] - SAFE_EXPONENT)
        highest = max(highest, f[start[u] - base : start[u + 1] - base].max())
    for sign in (1.0, -1.0):
        passed, extreme = 0.0, -np.inf  # the sum passed so far is passed · e^extreme
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            for i in range(start[u] - base, start[u + 1] - base):
                w = passed * math.exp(extreme - sign * f[i] - shift)
                if weighted:
                    w *= s[base + i]
                g[i] -= sign * w
                h[i] += curvature * w
            for i in range(start[u] - base, start[u + 1] - base):
                if sign * f[i] > extreme:
                    passed *= math.exp(extreme - sign * f[i])
                    extreme = sign * f[i]
                passed += math.exp(sign * f[i] - extreme) * (s[base + i] if weighted else 1.0)
    return shift


@compiled()
def _pair_by_pair(
    f: Any,
    s: Any,
    weighted: bool,
    start: Any,
    grade: Any,
    u0: int,
    u1: int,
    kind: int,
    parameter: float,
    bounded: bool,
    h_d2: float,
    h_1: float,
    g: Any,
    h: Any,
) -> float:
    """Sum all pairs one by one; return the shift: results are relative to e^shift."""
    base = start[u0]
    shift = 0.0
    if not bounded:
        for v in range(u0 + 1, u1):
            for u in range(u0, v):
                d = distance_of_gap(kind, parameter, grade[v] - grade[u])
                for i in range(start[v] - base, start[v + 1] - base):
                    for j in range(start[u] - base, start[u + 1] - base):
                        shift = max(shift, -d * (f[i] - f[j]) - SAFE_EXPONENT)
    for v in range(u0 + 1, u1):
        for i in range(start[v] - base, start[v + 1] - base):
            gi = hi = 0.0
            for u in range(u0, v):
                d = distance_of_gap(kind, parameter, grade[v] - grade[u])
                curvature = h_d2 * d * d + h_1
                for j in range(start[u] - base, start[u + 1] - base):
                    w = math.exp(-d * (f[i] - f[j]) - shift)
                    if weighted:
                        w *= s[base + i] * s[base + j]
                    gi -= d * w
                    hi += curvature * w
                    g[j] += d * w
                    h[j] += curvature * w
            g[i] += gi
            h[i] += hi
    return shift


@compiled()
def accumulate(
    first: int,
    last: int,
    scores: Any,
    rows: Any,
    s: Any,
    start: Any,
    grade: Any,
    query_run: Any,
    how: Any,
    table_start: Any,
    table: Any,
    longest: Any,
    kind: int,
    parameter: float,
    h_d2: float,
    h_1: float,
    factor: Any,
    gradient: Any,
    hessian: Any,
    shift: Any,
    top: Any,
) -> None:
    """Write gradient and Hessian of the rows of the queries ``first <= q < last``.

    Parameters
    ----------
    longest : ndarray
        Largest distance of each query.
    h_d2, h_1 : float
        The Hessian is Σ_j (h_d2 d² + h_1) w.
    factor : ndarray
        What each query's results are multiplied with.
    shift, top : ndarray
        Out: results are relative to e^shift; top is the largest of them. 0 where all is in range.
    """
    size = 0
    for q in range(first, last):
        size = max(size, start[query_run[q + 1]] - start[query_run[q]])
    f, e, g, h = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    weighted = s.shape[0] > 0
    for q in range(first, last):
        if how[q] == GIVEN:
            continue
        u0, u1 = query_run[q], query_run[q + 1]
        base = unsigned(start[u0])
        n = unsigned(start[u1]) - base
        low = high = scores[rows[base]]
        for i in range(n):
            x = scores[rows[base + i]]
            f[i] = x
            g[i] = 0.0
            h[i] = 0.0
            low = min(low, x)
            high = max(high, x)
        bounded = longest[q] * (high - low) <= SAFE_EXPONENT
        out_of = 0.0
        if how[q] == PAIRWISE:
            out_of = _pair_by_pair(f, s, weighted, start, grade, u0, u1, kind, parameter, bounded, h_d2, h_1, g, h)
        elif how[q] == RUNNING and not bounded:
            out_of = _running_any_range(f, s, weighted, start, u0, u1, h_d2, h_1, g, h)
        elif not bounded:
            out_of = _factorised_any_range(f, s, weighted, start, u0, u1, table, table_start[q], h_d2, h_1, g, h)
        else:
            centre = low + (high - low) / 2.0
            for i in range(n):
                f[i] -= centre
            if how[q] == RUNNING:
                _running(f, s, weighted, start, u0, u1, h_d2, h_1, e, g, h)
            else:
                _factorised(f, s, weighted, start, u0, u1, table, table_start[q], h_d2, h_1, e, g, h)
        c = factor[q]
        most = 0.0
        for i in range(n):
            gi, hi = c * g[i], c * h[i]
            most = max(most, abs(gi), hi)
            gradient[rows[base + i]] = gi
            hessian[rows[base + i]] = hi
        shift[q] = out_of
        top[q] = most


@compiled()
def largest_exponent(f: Any, start: Any, distance: Any, v0: int) -> float:
    """Return the largest -d (f_i - f_j) over the pairs of `accumulate_block`."""
    largest = -np.inf
    for row in range(distance.shape[0]):
        v = v0 + row
        for u in range(v):
            for i in range(start[v], start[v + 1]):
                for j in range(start[u], start[u + 1]):
                    largest = max(largest, -distance[row, u] * (f[i] - f[j]))
    return largest


@compiled()
def accumulate_block(
    f: Any, s: Any, start: Any, distance: Any, v0: int, h_d2: float, h_1: float, shift: float, g: Any, h: Any
) -> None:
    """Add the pairs of the runs from v0 on with all lower runs of one query; ``distance[v - v0, u]`` is given."""
    weighted = s.shape[0] > 0
    for row in range(distance.shape[0]):
        v = v0 + row
        for u in range(v):
            d = distance[row, u]
            curvature = h_d2 * d * d + h_1
            for i in range(start[v], start[v + 1]):
                for j in range(start[u], start[u + 1]):
                    w = math.exp(-d * (f[i] - f[j]) - shift)
                    if weighted:
                        w *= s[i] * s[j]
                    g[i] -= d * w
                    h[i] += curvature * w
                    g[j] += d * w
                    h[j] += curvature * w


@compiled()
def largest_pair_exponent(scores: Any, winner: Any, loser: Any, distance: Any) -> float:
    """Return the largest -d (F_winner - F_loser)."""
    largest = -np.inf
    for k in range(winner.shape[0]):
        largest = max(largest, -distance[k] * (scores[winner[k]] - scores[loser[k]]))
    return largest


@compiled()
def accumulate_pairs(
    first: int,
    last: int,
    scores: Any,
    winner: Any,
    loser: Any,
    weight: Any,
    distance: Any,
    start: Any,
    factor: Any,
    h_d2: float,
    h_1: float,
    shift: float,
    gradient: Any,
    hessian: Any,
) -> None:
    """Add the explicit pairs of the queries ``first <= q < last``, relative to e^shift."""
    for q in range(first, last):
        for k in range(start[q], start[q + 1]):
            i, j, d = winner[k], loser[k], distance[k]
            w = factor[q] * weight[k] * math.exp(-d * (scores[i] - scores[j]) - shift)
            gradient[i] -= d * w
            gradient[j] += d * w
            curvature = (h_d2 * d * d + h_1) * w
            hessian[i] += curvature
            hessian[j] += curvature


@compiled()
def squared_distances(
    first: int,
    last: int,
    start: Any,
    grade: Any,
    query_run: Any,
    how: Any,
    table_start: Any,
    table: Any,
    kind: int,
    parameter: float,
    squares: Any,
) -> None:
    """Write the sum of d² over the pairs of the queries ``first <= q < last``, but for those that are GIVEN."""
    for q in range(first, last):
        if how[q] == GIVEN:
            continue
        t = table_start[q]
        total_of_query = 0.0
        for v in range(query_run[q] + 1, query_run[q + 1]):
            n_v = start[v + 1] - start[v]
            for u in range(query_run[q], v):
                d = 1.0
                if how[q] == FACTORISED:
                    d = table[t]
                    t += 1
                elif how[q] == PAIRWISE:
                    d = distance_of_gap(kind, parameter, grade[v] - grade[u])
                total_of_query += d * d * n_v * (start[u + 1] - start[u])
        squares[q] = total_of_query
