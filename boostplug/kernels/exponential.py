r"""Sums of :math:`w_{ij} = s_i s_j e^{-d_{ij}(F_i - F_j)}` over the pairs of a query, document by document.

Documents come by query and grade (`boostplug.kernels.views.Runs`); i has the higher grade, j the lower one.
For one pair of grades d is one number, and the sum over all its pairs factorises:

.. math:: \sum_j w_{ij} = s_i e^{-d F_i} \cdot \sum_j s_j e^{d F_j}

so all pairs of a query with K grades cost O(nK) exponentials and O(n) memory. Where a query has so many grades that the
table of their distances would outgrow its documents, pairs are summed one by one in O(n) memory; for a distance that is
the same for all pairs, running sums over the grades do in O(n).

Range. As long as no exponent passes ±600, factors around the middle of the scores are safe. Past it each sum takes its
own reference (the extreme score of the grade summed over), and a query's results are held relative to ``e^shift``.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.arithmetic import exponential, total
from boostplug.kernels.compiling import compiled
from boostplug.kernels.views import Listed, Runs
from boostplug.threads import run_over_queries

# compiled in: arithmetic.py 65d2c856e0ab

__all__ = [
    "BINARY",
    "FACTORISED",
    "LINEAR",
    "LOG",
    "LOGISTIC",
    "PAIRWISE",
    "RUNNING",
    "Curvature",
    "Sums",
    "Table",
    "costs",
    "squared_distances",
    "sum_listed",
    "sum_over_pairs",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FACTORISED, RUNNING, PAIRWISE = 0, 1, 2  # how to sum a query's pairs
BINARY, LINEAR, LOG, LOGISTIC = 0, 1, 2, 3  # distances that kernels can compute
unsigned = numba.uint64  # a loop over unsigned indices vectorises: it needs no test for negative ones
_SAFE_EXPONENT = 600.0  # largest exponent that leaves room for sums of 1e40 in float64


class Table(NamedTuple):
    """How each query's pairs are summed, and the distances of its grades.

    `how` and the `longest` distance are per query. A FACTORISED query has its distances in `values` from ``start[q]``
    on: of run v to each lower run u, v ascending, then u. Those of PAIRWISE ones are computed by `kind` and
    `parameter`; of RUNNING ones all are 1.
    """

    how: Ints
    longest: Floats
    start: Ints
    values: Floats
    kind: int
    parameter: float


class Curvature(NamedTuple):
    """A document's Hessian is Σ_j (squared · d² + constant) w."""

    squared: float
    constant: float


class Sums(NamedTuple):
    """Gradient and Hessian of every row, and what is to know of each query's: they are relative to e^shift.

    `top` is the largest of them; 0 where there is none.
    """

    gradient: Floats
    hessian: Floats
    shift: Floats
    top: Floats


class _Scratch(NamedTuple):
    """Room for the documents of one query: scores, exponentials, gradient, Hessian."""

    f: Floats
    e: Floats
    g: Floats
    h: Floats


@compiled()
def _distance(kind: int, parameter: float, gap: float) -> float:
    """Return the distance of a gap > 0 between two grades (see `boostplug.losses.directed_distance`)."""
    if kind == LINEAR:
        return parameter * gap
    if kind == LOG:
        return math.log1p(parameter * gap)
    if kind == LOGISTIC:
        return 1.0 / (1.0 + math.exp(-parameter * gap))
    return 1.0


@compiled(fastmath={"contract"}, error_model="numpy")
def _factorised(scratch: Any, runs: Any, table: Any, q: int, c: Any) -> None:
    """Sum all pairs of a query by factorisation; scores f, centred, exponents within ±300 on either side."""
    f, e, g, h = scratch
    s, start = runs.sqrt_weight, runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = unsigned(start[u0])
    t = table.start[q]
    for v in range(u0 + 1, u1):
        v_first, v_last = unsigned(start[v]) - base, unsigned(start[v + 1]) - base
        for u in range(u0, v):
            u_first, u_last = unsigned(start[u]) - base, unsigned(start[u + 1]) - base
            d = table.values[t]
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
            curvature = c.squared * d * d + c.constant
            gi, hi = -d * below, curvature * below
            for i in range(v_first, v_last):
                g[i] += gi * e[i]
                h[i] += hi * e[i]
            gj, hj = d * above, curvature * above
            for j in range(u_first, u_last):
                g[j] += gj * e[j]
                h[j] += hj * e[j]


@compiled()
def _factorised_any_range(scratch: Any, runs: Any, table: Any, q: int, c: Any) -> float:
    """Do what `_factorised` does for scores of any range; return the shift: results are relative to e^shift."""
    f, _, g, h = scratch
    s, start = runs.sqrt_weight, runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = start[u0]
    lowest, highest = np.empty(u1 - u0), np.empty(u1 - u0)
    for u in range(u0, u1):
        lowest[u - u0] = f[start[u] - base : start[u + 1] - base].min()
        highest[u - u0] = f[start[u] - base : start[u + 1] - base].max()
    shift = 0.0
    t = table.start[q]
    for v in range(u0 + 1, u1):
        for u in range(u0, v):
            shift = max(shift, table.values[t] * (highest[u - u0] - lowest[v - u0]) - _SAFE_EXPONENT)
            t += 1
    t = table.start[q]
    for v in range(u0 + 1, u1):
        v_first, v_last = start[v] - base, start[v + 1] - base
        f_v = lowest[v - u0]
        for u in range(u0, v):
            u_first, u_last = start[u] - base, start[u + 1] - base
            f_u = highest[u - u0]
            d = table.values[t]
            t += 1
            above = below = 0.0
            for i in range(v_first, v_last):
                above += math.exp(-d * (f[i] - f_v)) * (s[base + i] if weighted else 1.0)
            for j in range(u_first, u_last):
                below += math.exp(d * (f[j] - f_u)) * (s[base + j] if weighted else 1.0)
            curvature = c.squared * d * d + c.constant
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
def _running(scratch: Any, runs: Any, q: int, c: Any) -> None:
    """Sum all pairs where every pair has the distance 1, by running sums over the grades, upwards and downwards."""
    f, e, g, h = scratch
    s, start = runs.sqrt_weight, runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = unsigned(start[u0])
    n = unsigned(start[u1]) - base
    curvature = c.squared + c.constant
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
def _running_any_range(scratch: Any, runs: Any, q: int, c: Any) -> float:
    """Do what `_running` does for scores of any range; return the shift: results are relative to e^shift."""
    f, _, g, h = scratch
    s, start = runs.sqrt_weight, runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = start[u0]
    curvature = c.squared + c.constant
    shift = 0.0
    highest = -np.inf
    for u in range(u0, u1):
        for i in range(start[u] - base, start[u + 1] - base):
            shift = max(shift, highest - f[i] - _SAFE_EXPONENT)
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
def _pair_by_pair(scratch: Any, runs: Any, table: Any, q: int, c: Any, bounded: bool) -> float:
    """Sum all pairs one by one; return the shift: results are relative to e^shift."""
    f, _, g, h = scratch
    s, start, grade = runs.sqrt_weight, runs.run_start, runs.run_grade
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = start[u0]
    shift = 0.0
    if not bounded:
        for v in range(u0 + 1, u1):
            for u in range(u0, v):
                d = _distance(table.kind, table.parameter, grade[v] - grade[u])
                for i in range(start[v] - base, start[v + 1] - base):
                    for j in range(start[u] - base, start[u + 1] - base):
                        shift = max(shift, -d * (f[i] - f[j]) - _SAFE_EXPONENT)
    for v in range(u0 + 1, u1):
        for i in range(start[v] - base, start[v + 1] - base):
            gi = hi = 0.0
            for u in range(u0, v):
                d = _distance(table.kind, table.parameter, grade[v] - grade[u])
                curvature = c.squared * d * d + c.constant
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
def _sum_queries(first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any) -> None:
    """Write what `sum_over_pairs` returns of the queries ``first <= q < last``."""
    rows, start, query_run = runs.rows, runs.run_start, runs.query_run
    size = 0
    for q in range(first, last):
        size = max(size, start[query_run[q + 1]] - start[query_run[q]])
    scratch = _Scratch(np.empty(size), np.empty(size), np.empty(size), np.empty(size))
    f, _, g, h = scratch
    for q in range(first, last):
        base = unsigned(start[query_run[q]])
        n = unsigned(start[query_run[q + 1]]) - base
        low = high = scores[rows[base]]
        for i in range(n):
            x = scores[rows[base + i]]
            f[i] = x
            g[i] = 0.0
            h[i] = 0.0
            low = min(low, x)
            high = max(high, x)
        how = table.how[q]
        bounded = table.longest[q] * (high - low) <= _SAFE_EXPONENT
        shift = 0.0
        if how == PAIRWISE:
            shift = _pair_by_pair(scratch, runs, table, q, c, bounded)
        elif how == RUNNING and not bounded:
            shift = _running_any_range(scratch, runs, q, c)
        elif not bounded:
            shift = _factorised_any_range(scratch, runs, table, q, c)
        else:
            centre = low + (high - low) / 2.0
            for i in range(n):
                f[i] -= centre
            if how == RUNNING:
                _running(scratch, runs, q, c)
            else:
                _factorised(scratch, runs, table, q, c)
        times, top = factor[q], 0.0
        for i in range(n):
            gi, hi = times * g[i], times * h[i]
            top = max(top, abs(gi), hi)
            out.gradient[rows[base + i]] = gi
            out.hessian[rows[base + i]] = hi
        out.shift[q] = shift
        out.top[q] = top


def sum_over_pairs(
    scores: Floats, runs: Runs, table: Table, cost: Ints, curvature: Curvature, factor: Floats, out: Sums
) -> None:
    """Write gradient -Σ_j ± d w and Hessian of the rows in pairs, each query's times its factor.

    `cost` is that of `costs`.
    """
    run_over_queries(lambda first, last: _sum_queries(first, last, scores, runs, table, curvature, factor, out), cost)


def costs(runs: Runs, how: Ints) -> Ints:
    """Return the work before each query, so that threads share it evenly: of shape (n_queries + 1,).

    Counted, not fitted: exponentials per document, which are one per other grade, or half of the other documents.
    """
    n_documents = np.diff(runs.run_start[runs.query_run])
    n_other_grades = np.minimum(np.diff(runs.query_run), 2**20) - 1
    per_document = np.where(how == PAIRWISE, n_documents / 2, np.where(how == RUNNING, 1, n_other_grades))
    cost: Ints = np.r_[0, np.cumsum(n_documents * np.maximum(per_document, 1))].astype(np.int64)
    return cost


@compiled()
def _largest_exponent(scores: Any, pairs: Any, distance: Any) -> float:
    """Return the largest -d (F_winner - F_loser)."""
    largest = -np.inf
    for k in range(distance.shape[0]):
        largest = max(largest, -distance[k] * (scores[pairs.winner[k]] - scores[pairs.loser[k]]))
    return largest


@compiled()
def _add_listed(first: int, last: int, scores: Any, pairs: Any, distance: Any, c: Any, factor: Any, out: Any) -> None:
    """Add the explicit pairs of the queries ``first <= q < last``, relative to e^shift."""
    gradient, hessian, shift = out.gradient, out.hessian, out.shift[0]
    for q in range(first, last):
        for k in range(pairs.start[q], pairs.start[q + 1]):
            i, j, d = pairs.winner[k], pairs.loser[k], distance[k]
            w = factor[q] * pairs.weight[k] * math.exp(-d * (scores[i] - scores[j]) - shift)
            gradient[i] -= d * w
            gradient[j] += d * w
            curvature = (c.squared * d * d + c.constant) * w
            hessian[i] += curvature
            hessian[j] += curvature


def sum_listed(scores: Floats, pairs: Listed, distance: Floats, curvature: Curvature, factor: Floats) -> Sums:
    """Return what `sum_over_pairs` writes, of one or more explicit pairs; one shift and top stand for all queries."""
    out = Sums(np.zeros(len(scores)), np.zeros(len(scores)), np.zeros(1), np.zeros(1))
    if distance.max() * np.ptp(scores) > _SAFE_EXPONENT:
        out.shift[0] = max(0.0, _largest_exponent(scores, pairs, distance) - _SAFE_EXPONENT)
    run_over_queries(
        lambda first, last: _add_listed(first, last, scores, pairs, distance, curvature, factor, out),
        pairs.start,
        1 if pairs.crosses else None,
    )
    out.top[0] = max(np.abs(out.gradient).max(), out.hessian.max())
    return out


@compiled()
def _square_queries(first: int, last: int, runs: Any, mass: Any, table: Any, squares: Any) -> None:
    """Write what `squared_distances` returns of the queries ``first <= q < last``."""
    grade, query_run = runs.run_grade, runs.query_run
    for q in range(first, last):
        t = table.start[q]
        total_of_query = 0.0
        for v in range(query_run[q] + 1, query_run[q + 1]):
            for u in range(query_run[q], v):
                if table.how[q] == FACTORISED:
                    d = table.values[t]
                    t += 1
                else:
                    d = _distance(table.kind, table.parameter, grade[v] - grade[u])
                total_of_query += d * d * mass[v] * mass[u]
        squares[q] = total_of_query


def squared_distances(runs: Runs, mass: Floats, table: Table) -> Floats:
    """Return the sum of d² over the pairs of each query, times the masses of both runs.

    None may be RUNNING, where that is the sum of products of masses.
    """
    squares = np.empty(len(table.how))
    run_over_queries(
        lambda first, last: _square_queries(first, last, runs, mass, table, squares), runs.run_start[runs.query_run]
    )
    return squares
