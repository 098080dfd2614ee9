r"""Sums of :math:`w_{ij} = s_i s_j e^{-d_{ij}(F_i - F_j)}` over the pairs of a query, document by document.

Documents come by query and grade (`boostplug.kernels.views.Runs`); i has the higher grade, j the lower one.
For one pair of grades d is one number, and the sum over all its pairs factorises:

.. math:: \sum_j w_{ij} = s_i e^{-d F_i} \cdot \sum_j s_j e^{d F_j}

so all pairs of a query with K grades cost O(nK) exponentials and O(n) memory. Where a query has so many grades that the
table of their distances would outgrow its documents, pairs are summed one by one in O(n) memory; for a distance that is
the same for all pairs, running sums over the grades do in O(n).

Range. As long as no exponent passes ±600, factors around the middle of the scores are safe. Past it each sum takes its
own reference (the extreme score of the grade summed over), and a query's results are held relative to ``e^shift``. The
exponent of a pair may then be so large that its last bit is more than 1: what two documents share of it is rounded
once, for both, so that gradients still sum to 0. Weights and distances stand in units, powers of 2, that a query's
results are multiplied with at the end.
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
    "LITTLE",
    "LOG",
    "LOGISTIC",
    "NOTHING",
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
NOTHING = 1e-300  # a Hessian below it has lost its digits: no step, rather than one of rounding errors
LITTLE = 1e-12  # of a query's largest gradient: where rows without a step have more, the query takes none
_SAFE_EXPONENT = 600.0  # largest exponent that leaves room for sums of 1e40 in float64
_SMALLEST = 1e-300  # of a unit: its inverse is finite
_LARGEST_POWER = 66  # of 2: a query's sums are multiplied with as much; what is more goes into its shift


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
    """Room for the documents of one query: scores, exponentials, gradient, Hessian, roots of weights (or none)."""

    f: Floats
    e: Floats
    g: Floats
    h: Floats
    s: Floats


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


@compiled(fastmath={"nnan", "nsz"})
def _multiply(g: Any, of_g: float, h: Any, of_h: float, n: int) -> tuple[float, float, float]:
    """Multiply both in place and return the largest abs(g), the largest h and the smallest; the loop vectorises."""
    largest, largest_h, least_h = 0.0, 0.0, np.inf
    for i in range(n):
        g[i] *= of_g
        h[i] *= of_h
        size = abs(g[i])
        largest = max(largest, size)
        largest_h = max(largest_h, h[i])
        least_h = min(least_h, h[i])
    return largest, largest_h, least_h


@compiled()
def _power(largest: float) -> int:
    """Return the power of 2 of about that size: multiplying by it, or by its inverse, rounds nothing."""
    power: int = math.frexp(max(largest, _SMALLEST))[1]
    return power


@compiled(fastmath={"contract"}, error_model="numpy")
def _factorised(scratch: Any, runs: Any, table: Any, q: int, c: Any, per_unit: float) -> None:
    """Sum all pairs of a query by factorisation; scores f, centred, exponents within ±300 on either side."""
    f, e, g, h, s = scratch
    start = runs.run_start
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
                    e[i] *= s[i]
                for j in range(u_first, u_last):
                    e[j] *= s[j]
            above, below = total(e, v_first, v_last), total(e, u_first, u_last)
            d *= per_unit
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
def _factorised_any_range(scratch: Any, runs: Any, table: Any, q: int, c: Any, per_unit: float) -> float:
    """Do what `_factorised` does for scores of any range; return the shift: results are relative to e^shift."""
    f, _, g, h, s = scratch
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = start[u0]
    lowest, highest = np.empty(u1 - u0), np.empty(u1 - u0)
    for u in range(u0, u1):
        lowest[u - u0] = f[start[u] - base : start[u + 1] - base].min()
        highest[u - u0] = f[start[u] - base : start[u + 1] - base].max()
    largest = _SAFE_EXPONENT
    t = table.start[q]
    for v in range(u0 + 1, u1):
        for u in range(u0, v):
            largest = max(largest, table.values[t] * (highest[u - u0] - lowest[v - u0]))
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
            # An exponent is that of the two extremes, rounded once, less what each document is away from its own.
            top = (d * (f_u - f_v) - largest) + _SAFE_EXPONENT
            above = below = 0.0
            for i in range(v_first, v_last):
                above += math.exp(-d * (f[i] - f_v)) * (s[i] if weighted else 1.0)
            for j in range(u_first, u_last):
                below += math.exp(d * (f[j] - f_u)) * (s[j] if weighted else 1.0)
            x = d * per_unit
            curvature = c.squared * x * x + c.constant
            for i in range(v_first, v_last):
                w = math.exp(top - d * (f[i] - f_v)) * below * (s[i] if weighted else 1.0)
                g[i] -= x * w
                h[i] += curvature * w
            for j in range(u_first, u_last):
                w = math.exp(top + d * (f[j] - f_u)) * above * (s[j] if weighted else 1.0)
                g[j] += x * w
                h[j] += curvature * w
    return largest - _SAFE_EXPONENT


@compiled(fastmath={"contract"}, error_model="numpy")
def _running(scratch: Any, runs: Any, q: int, c: Any) -> None:
    """Sum all pairs where every pair has the distance 1, by running sums over the grades, upwards and downwards."""
    f, e, g, h, s = scratch
    start = runs.run_start
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
                e[i] *= s[i]
        passed = 0.0
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            first, last = unsigned(start[u]) - base, unsigned(start[u + 1]) - base
            for i in range(first, last):
                w = passed * s[i] / e[i] * s[i] if weighted else passed / e[i]
                g[i] -= sign * w
                h[i] += curvature * w
            passed += total(e, first, last)


@compiled()
def _difference(a: float, b: float) -> tuple[float, float]:
    """Return a - b, and what rounding has left out of it."""
    high = a - b
    back = a - high
    return high, (a - (high + back)) + (back - b)


@compiled()
def _running_any_range(scratch: Any, runs: Any, q: int, c: Any) -> float:
    """Do what `_running` does for scores of any range; return the shift: results are relative to e^shift."""
    f, _, g, h, s = scratch
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = start[u0]
    curvature = c.squared + c.constant
    largest, rest = _SAFE_EXPONENT, 0.0
    highest = f[0]
    for u in range(u0, u1):
        for i in range(start[u] - base, start[u + 1] - base):
            if u > u0:
                high, low = _difference(highest, f[i])
                if (high - largest) + (low - rest) > 0.0:
                    largest, rest = high, low
        highest = max(highest, f[start[u] - base : start[u + 1] - base].max())
    for sign in (1.0, -1.0):
        passed, extreme = 0.0, -np.inf  # the sum passed so far is passed · e^extreme
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            for i in range(start[u] - base, start[u + 1] - base):
                if k > 0:
                    high, low = _difference(extreme, sign * f[i])
                    w = passed * math.exp((high - largest) + (low - rest) + _SAFE_EXPONENT)
                    if weighted:
                        w *= s[i]
                    g[i] -= sign * w
                    h[i] += curvature * w
            for i in range(start[u] - base, start[u + 1] - base):
                if sign * f[i] > extreme:
                    passed *= math.exp(extreme - sign * f[i])
                    extreme = sign * f[i]
                passed += math.exp(sign * f[i] - extreme) * (s[i] if weighted else 1.0)
    return largest - _SAFE_EXPONENT


@compiled()
def _pair_by_pair(scratch: Any, runs: Any, table: Any, q: int, c: Any, per_unit: float, bounded: bool) -> float:
    """Sum all pairs one by one; return the shift: results are relative to e^shift."""
    f, _, g, h, s = scratch
    start, grade = runs.run_start, runs.run_grade
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = s.shape[0] > 0
    base = start[u0]
    largest = _SAFE_EXPONENT
    if not bounded:
        for v in range(u0 + 1, u1):
            for u in range(u0, v):
                d = _distance(table.kind, table.parameter, grade[v] - grade[u])
                for i in range(start[v] - base, start[v + 1] - base):
                    for j in range(start[u] - base, start[u + 1] - base):
                        largest = max(largest, -d * (f[i] - f[j]))
    shifted = largest > _SAFE_EXPONENT
    for v in range(u0 + 1, u1):
        for i in range(start[v] - base, start[v + 1] - base):
            gi = hi = 0.0
            for u in range(u0, v):
                d = _distance(table.kind, table.parameter, grade[v] - grade[u])
                x = d * per_unit
                curvature = c.squared * x * x + c.constant
                for j in range(start[u] - base, start[u + 1] - base):
                    exponent = -d * (f[i] - f[j])
                    if shifted:
                        exponent = (exponent - largest) + _SAFE_EXPONENT
                    w = math.exp(exponent)
                    if weighted:
                        w *= s[i] * s[j]
                    gi -= x * w
                    hi += curvature * w
                    g[j] += x * w
                    h[j] += curvature * w
            g[i] += gi
            h[i] += hi
    return largest - _SAFE_EXPONENT


@compiled()
def _sum_queries(first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any) -> None:
    """Write what `sum_over_pairs` returns of the queries ``first <= q < last``."""
    rows, start, query_run = runs.rows, runs.run_start, runs.query_run
    size = 0
    for q in range(first, last):
        size = max(size, start[query_run[q + 1]] - start[query_run[q]])
    root = runs.sqrt_weight
    weighted = root.shape[0] > 0
    scratch = _Scratch(
        np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size if weighted else 0)
    )
    f, _, g, h, s = scratch
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
        of_weight, of_distance = 0, (0 if how == RUNNING else _power(table.longest[q]))
        if weighted:
            heaviest = 0.0
            for i in range(n):
                heaviest = max(heaviest, root[base + i])
            of_weight = _power(heaviest)
            per_weight = math.ldexp(1.0, -of_weight)
            for i in range(n):
                s[i] = root[base + i] * per_weight
        per_unit = math.ldexp(1.0, -of_distance)
        bounded = table.longest[q] * (high - low) <= _SAFE_EXPONENT
        shift = 0.0
        if how == PAIRWISE:
            shift = _pair_by_pair(scratch, runs, table, q, c, per_unit, bounded)
        elif how == RUNNING and not bounded:
            shift = _running_any_range(scratch, runs, q, c)
        elif not bounded:
            shift = _factorised_any_range(scratch, runs, table, q, c, per_unit)
        else:
            centre = low + (high - low) / 2.0
            for i in range(n):
                f[i] -= centre
            if how == RUNNING:
                _running(scratch, runs, q, c)
            else:
                _factorised(scratch, runs, table, q, c, per_unit)
        times, of_factor = math.frexp(factor[q])
        of_gradient = of_factor + 2 * of_weight + of_distance
        of_hessian = of_gradient + (of_distance if c.squared > 0.0 else -of_distance)
        beyond = max(0, max(of_gradient, of_hessian) - _LARGEST_POWER)
        of_g, of_h = math.ldexp(times, of_gradient - beyond), math.ldexp(times, of_hessian - beyond)
        largest, largest_h, least_h = _multiply(g, of_g, h, of_h, n)
        lost = 0.0
        if least_h < NOTHING:
            for i in range(n):
                lost = max(lost, abs(g[i]) if h[i] < NOTHING else 0.0)
        any_step = lost <= LITTLE * largest and largest >= NOTHING
        for i in range(n):
            steps = any_step and h[i] >= NOTHING
            out.gradient[rows[base + i]] = g[i] if steps else 0.0
            out.hessian[rows[base + i]] = h[i] if steps else 0.0
        out.shift[q] = shift + beyond * math.log(2.0)
        out.top[q] = max(largest, largest_h) if any_step else 0.0


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


class _Sizes(NamedTuple):
    """What the sums over explicit pairs are reckoned in: the inverse units of weights and distances.

    `exponent` is the largest of the pairs, or less than `_SAFE_EXPONENT`; `factor`, of each query, is 1 at most.
    """

    exponent: float
    per_weight: float
    per_distance: float
    factor: Floats


@compiled()
def _add_listed(first: int, last: int, scores: Any, pairs: Any, distance: Any, c: Any, sizes: Any, out: Any) -> None:
    """Add the explicit pairs of the queries ``first <= q < last``, relative to e^shift, in units: see `_Sizes`."""
    gradient, hessian, largest = out.gradient, out.hessian, sizes.exponent
    for q in range(first, last):
        for k in range(pairs.start[q], pairs.start[q + 1]):
            i, j, d = pairs.winner[k], pairs.loser[k], distance[k]
            exponent = -d * (scores[i] - scores[j])
            if largest > _SAFE_EXPONENT:
                exponent = (exponent - largest) + _SAFE_EXPONENT
            w = sizes.factor[q] * (pairs.weight[k] * sizes.per_weight) * math.exp(exponent)
            d *= sizes.per_distance
            gradient[i] -= d * w
            gradient[j] += d * w
            curvature = (c.squared * d * d + c.constant) * w
            hessian[i] += curvature
            hessian[j] += curvature


def sum_listed(scores: Floats, pairs: Listed, distance: Floats, curvature: Curvature, factor: Floats) -> Sums:
    """Return what `sum_over_pairs` writes, of one or more explicit pairs; one shift and top stand for all queries."""
    out = Sums(np.zeros(len(scores)), np.zeros(len(scores)), np.zeros(1), np.zeros(1))
    exponent = 0.0
    if distance.max() * np.ptp(scores) > _SAFE_EXPONENT:
        exponent = max(0.0, float(_largest_exponent(scores, pairs, distance)))
        out.shift[0] = max(0.0, exponent - _SAFE_EXPONENT)
    of_weight, of_distance, of_factor = (_power(values.max()) for values in (pairs.weight, distance, factor))
    sizes = _Sizes(exponent, 2.0**-of_weight, 2.0**-of_distance, np.ldexp(factor, -of_factor))
    run_over_queries(
        lambda first, last: _add_listed(first, last, scores, pairs, distance, curvature, sizes, out),
        pairs.start,
        1 if pairs.crosses else None,
    )
    of_gradient = of_weight + of_factor + of_distance
    of_hessian = of_gradient + of_distance if curvature.squared else of_weight + of_factor
    beyond = max(0, max(of_gradient, of_hessian) - _LARGEST_POWER)
    np.ldexp(out.gradient, of_gradient - beyond, out=out.gradient)
    np.ldexp(out.hessian, of_hessian - beyond, out=out.hessian)
    out.shift[0] += beyond * math.log(2.0)
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
