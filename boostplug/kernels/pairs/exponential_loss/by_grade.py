r"""Sums of :math:`w_{ij} = a_i b_j e^{-d_{ij}(F_i - F_j)}` over the pairs of a query, document by document.

Documents come by query and grade (`boostplug.kernels.base.views.Runs`); i has the higher grade, j the lower one, and a
and b are their weights as winner and loser. For one pair of grades d is one number, and the sum over its pairs
factorises:

.. math:: \sum_j w_{ij} = a_i e^{-d F_i} \cdot \sum_j b_j e^{d F_j}

so all pairs of a query with K grades cost O(nK) exponentials and O(n) memory. For a distance that is the same for all
pairs, running sums over the grades do in O(n). For many grades there is `grade_boxes`.

Range. As long as no exponent passes ±600, factors around the middle of the scores are safe. Past it each sum takes its
own reference (the extreme score of the grade summed over), and a query's results are held relative to ``e^shift``. The
exponent of a pair may then be so large that its last bit is more than 1: what two documents share of it is rounded
once, for both, so that gradients still sum to 0. Weights and distances stand in units, powers of 2, that a query's
results are multiplied with at the end.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core import buffers
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import exponential
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, first_lanes, load, store, sum_of
from boostplug.kernels.base.views import Listed, Runs
from boostplug.kernels.pairs.exponential_loss.one_query import (
    BINARY,
    LARGEST_POWER,
    SAFE_EXPONENT,
    SMALLEST,
    Curvature,
    Sums,
    Units,
    finish,
    finish_padded,
    gather,
    gather_padded,
    padded_size,
    power_of,
    scratch_for,
)

__all__ = [
    "BOXES",
    "FACTORISED",
    "RUNNING",
    "Table",
    "costs",
    "sum_listed",
    "sum_over_pairs",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FACTORISED, RUNNING, BOXES = 0, 1, 2  # how to sum a query's pairs; BOXES: not here
_NOT_SUMMED = -1.0  # the shift of a query that another kernel is to sum


class Table(NamedTuple):
    """How each query's pairs are summed, and the distances of its grades.

    `how` and the `longest` distance are per query. A FACTORISED query has its distances in `values` from ``start[q]``
    on: of run v to each lower run u, v ascending, then u. Those of BOXES ones are computed by `kind` and `parameter`;
    of RUNNING ones all are 1.
    """

    how: Ints
    longest: Floats
    start: Ints
    values: Floats
    kind: int
    parameter: float


@inlined(fastmath={"contract"})
def _exponentials(scratch: Any, weight: Any, first: int, last: int, d: float) -> float:
    """Write weight · e^(d f) of a run, 0 in what lanes reach past it, and return its sum."""
    f, e = scratch.f, scratch.e
    total_of_run = broadcast(0.0)
    for k in range(first, last, WIDTH):
        x = exponential(d * load(f, k))
        if weight.shape[0] > 0:
            x = x * load(weight, k)
        x = first_lanes(last - k, x, 0.0)
        store(e, k, x)
        total_of_run = total_of_run + x
    of_run: float = sum_of(total_of_run)
    return of_run


@inlined(fastmath={"contract"})
def _add(scratch: Any, first: int, last: int, of_g: float, of_h: float) -> None:
    """Add multiples of a run's exponentials to its derivatives."""
    e, g, h = scratch.e, scratch.g, scratch.h
    for k in range(first, last, WIDTH):
        x = load(e, k)
        store(g, k, load(g, k) + of_g * x)
        store(h, k, load(h, k) + of_h * x)


@inlined()
def _factorised(scratch: Any, runs: Any, table: Any, q: int, c: Any, per_unit: float) -> None:
    """Sum all pairs of a query by factorisation; scores f, centred, exponents within ±300 on either side."""
    start, values = runs.run_start, table.values
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    t = table.start[q]
    v_first = padded_size(runs, u0)
    for v in range(u0 + 1, u1):
        v_last = v_first + start[v + 1] - start[v]
        u_first = 0
        for u in range(u0, v):
            u_last = u_first + start[u + 1] - start[u]
            d = values[t]
            t += 1
            below = _exponentials(scratch, scratch.loser, u_first, u_last, d)
            above = _exponentials(scratch, scratch.winner, v_first, v_last, -d)
            d *= per_unit
            curvature = c.squared * d * d + c.constant
            _add(scratch, u_first, u_last, d * above, curvature * above)
            _add(scratch, v_first, v_last, -d * below, curvature * below)
            u_first += padded_size(runs, u)
        v_first += padded_size(runs, v)


@inlined()
def _factorised_any_range(
    scratch: Any, runs: Any, table: Any, q: int, c: Any, per_unit: float, lowest: Any, highest: Any
) -> float:
    """Do what `_factorised` does for scores of any range; return the shift: results are relative to e^shift.

    `lowest` and `highest` hold the extreme scores of each run.
    """
    f, _, g, h, winner, loser = scratch
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = winner.shape[0] > 0
    base = start[u0]
    for u in range(u0, u1):
        low = high = f[start[u] - base]
        for i in range(start[u] - base, start[u + 1] - base):
            low, high = min(low, f[i]), max(high, f[i])
        lowest[u - u0], highest[u - u0] = low, high
    largest = SAFE_EXPONENT
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
            top = (d * (f_u - f_v) - largest) + SAFE_EXPONENT
            above = below = 0.0
            for i in range(v_first, v_last):
                above += math.exp(-d * (f[i] - f_v)) * (winner[i] if weighted else 1.0)
            for j in range(u_first, u_last):
                below += math.exp(d * (f[j] - f_u)) * (loser[j] if weighted else 1.0)
            x = d * per_unit
            curvature = c.squared * x * x + c.constant
            for i in range(v_first, v_last):
                w = math.exp(top - d * (f[i] - f_v)) * below * (winner[i] if weighted else 1.0)
                g[i] -= x * w
                h[i] += curvature * w
            for j in range(u_first, u_last):
                w = math.exp(top + d * (f[j] - f_u)) * above * (loser[j] if weighted else 1.0)
                g[j] += x * w
                h[j] += curvature * w
    return largest - SAFE_EXPONENT


@inlined(fastmath={"contract"})
def _running(scratch: Any, runs: Any, q: int, c: Any) -> None:
    """Sum all pairs where every pair has the distance 1, by running sums over the grades, upwards and downwards."""
    f, _, g, h, winner, loser = scratch
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    for sign in (1.0, -1.0):
        passed = 0.0
        own, other = (loser, winner) if sign > 0.0 else (winner, loser)  # as one of those passed, and beside them
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            last = start[u + 1] - start[u0]
            total = broadcast(0.0)
            for i in range(start[u] - start[u0], last, WIDTH):
                x = load(f, i) * sign
                mine, theirs = exponential(x), passed * exponential(0.0 - x)
                if own.shape[0] > 0:
                    mine, theirs = mine * load(own, i), theirs * load(other, i)
                theirs = first_lanes(last - i, theirs, 0.0)
                store(g, i, load(g, i) - sign * theirs)
                store(h, i, load(h, i) + (c.squared + c.constant) * theirs)
                total = total + first_lanes(last - i, mine, 0.0)
            passed += sum_of(total)


@inlined()
def _difference(a: float, b: float) -> tuple[float, float]:
    """Return a - b, and what rounding has left out of it."""
    high = a - b
    back = a - high
    return high, (a - (high + back)) + (back - b)


@inlined()
def _running_any_range(scratch: Any, runs: Any, q: int, c: Any) -> float:
    """Do what `_running` does for scores of any range; return the shift: results are relative to e^shift."""
    f, _, g, h, winner, loser = scratch
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    weighted = winner.shape[0] > 0
    base = start[u0]
    curvature = c.squared + c.constant
    largest, rest = SAFE_EXPONENT, 0.0
    highest = f[0]
    for u in range(u0, u1):
        for i in range(start[u] - base, start[u + 1] - base):
            if u > u0:
                high, low = _difference(highest, f[i])
                if (high - largest) + (low - rest) > 0.0:
                    largest, rest = high, low
        for i in range(start[u] - base, start[u + 1] - base):
            highest = max(highest, f[i])
    for sign in (1.0, -1.0):
        passed, extreme = 0.0, -np.inf  # the sum passed so far is passed · e^extreme
        own, other = (loser, winner) if sign > 0.0 else (winner, loser)
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            for i in range(start[u] - base, start[u + 1] - base):
                if k > 0:
                    high, low = _difference(extreme, sign * f[i])
                    w = passed * math.exp((high - largest) + (low - rest) + SAFE_EXPONENT)
                    if weighted:
                        w *= other[i]
                    g[i] -= sign * w
                    h[i] += curvature * w
            for i in range(start[u] - base, start[u + 1] - base):
                if sign * f[i] > extreme:
                    passed *= math.exp(extreme - sign * f[i])
                    extreme = sign * f[i]
                passed += math.exp(sign * f[i] - extreme) * (own[i] if weighted else 1.0)
    return largest - SAFE_EXPONENT


@inlined()
def _centre(q: int, runs: Any, scratch: Any, low: float, high: float) -> None:
    """Move the scores so that 0 is in the middle of them."""
    f = scratch.f
    centre = low + (high - low) / 2.0
    for k in range(0, runs.run_start[runs.query_run[q + 1]] - runs.run_start[runs.query_run[q]], WIDTH):
        store(f, k, load(f, k) - centre)


@inlined()
def _units(q: int, table: Any, c: Any, factor: Any, of_weight: int, shift: float) -> Units:
    """Return the units that the sums of a query are in."""
    of_distance = 0 if table.kind == BINARY else power_of(table.longest[q])
    return Units(factor[q], of_weight, of_distance, c.squared > 0.0, shift)


@compiled()
def _sum_factorised(
    first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any, scratch: Any
) -> bool:
    """Sum the FACTORISED queries of safe exponents; return whether there are others of them, and mark those."""
    f = scratch.f
    left = False
    for q in range(first, last):
        out.shift[q] = _NOT_SUMMED
        if table.how[q] != FACTORISED:
            continue
        low, high, of_weight, n = gather_padded(q, scores, runs, scratch)
        if table.longest[q] * (high - low) > SAFE_EXPONENT:
            left = True
            continue
        centre = low + (high - low) / 2.0
        for k in range(0, n, WIDTH):
            store(f, k, load(f, k) - centre)
        units = _units(q, table, c, factor, of_weight, 0.0)
        _factorised(scratch, runs, table, q, c, math.ldexp(1.0, -units.of_distance))
        finish_padded(q, scratch, runs, units, out)
    return left


@compiled()
def _sum_any_range(
    first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any, scratch: Any
) -> bool:
    """Sum the FACTORISED queries that `_sum_factorised` has left."""
    grades = 0
    for q in range(first, last):
        grades = max(grades, runs.query_run[q + 1] - runs.query_run[q])
    lowest, highest = np.empty(grades), np.empty(grades)
    for q in range(first, last):
        if table.how[q] == FACTORISED and out.shift[q] == _NOT_SUMMED:
            _, _, of_weight = gather(q, scores, runs, scratch)
            per_unit = math.ldexp(1.0, -power_of(table.longest[q]))
            shift = _factorised_any_range(scratch, runs, table, q, c, per_unit, lowest, highest)
            finish(q, scratch, runs, _units(q, table, c, factor, of_weight, shift), out)
    return False


@compiled()
def _sum_running(
    first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any, scratch: Any
) -> bool:
    """Sum the queries of safe exponents where all distances are 1; return whether others are left, and mark them."""
    left = False
    for q in range(first, last):
        low, high, of_weight = gather(q, scores, runs, scratch)
        if high - low <= SAFE_EXPONENT:
            _centre(q, runs, scratch, low, high)
            _running(scratch, runs, q, c)
            finish(q, scratch, runs, _units(q, table, c, factor, of_weight, 0.0), out)
        else:
            out.shift[q] = _NOT_SUMMED
            left = True
    return left


@compiled()
def _sum_running_any_range(
    first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any, scratch: Any
) -> bool:
    """Sum the queries that `_sum_running` has left."""
    for q in range(first, last):
        if out.shift[q] == _NOT_SUMMED:
            _, _, of_weight = gather(q, scores, runs, scratch)
            shift = _running_any_range(scratch, runs, q, c)
            finish(q, scratch, runs, _units(q, table, c, factor, of_weight, shift), out)
    return False


def sum_over_pairs(
    scores: Floats, runs: Runs, table: Table, cost: Ints, curvature: Curvature, factor: Floats, out: Sums
) -> None:
    """Write gradient -Σ_j ± d w and Hessian of the rows in pairs, each query's times its factor; not of BOXES ones.

    `cost` is that of `costs`. A way that no query takes is not compiled: what the first one leaves, the others do.
    """

    def any_left_by(kernel: Callable[..., bool]) -> bool:
        left: list[bool] = []
        run_over_queries(
            lambda first, last: left.append(
                kernel(first, last, scores, runs, table, curvature, factor, out, scratch_for(runs))
            ),
            cost,
        )
        return True in left

    near, far = (_sum_running, _sum_running_any_range) if table.kind == BINARY else (_sum_factorised, _sum_any_range)
    if any_left_by(near):
        any_left_by(far)


def costs(runs: Runs, how: Ints) -> Ints:
    """Return the work before each query, so that threads share it evenly: of shape (n_queries + 1,).

    Counted, not fitted: exponentials per document, which are one per other grade; none of BOXES queries.
    """
    n_documents = np.diff(runs.run_start[runs.query_run])
    n_other_grades = np.minimum(np.diff(runs.query_run), 2**20) - 1
    per_document = np.where(how == FACTORISED, n_other_grades, how == RUNNING)
    cost: Ints = np.r_[0, np.cumsum(n_documents * per_document)].astype(np.int64)
    return cost


class _Sizes(NamedTuple):
    """What the sums over explicit pairs are reckoned in: the inverse units of weights and distances.

    `exponent` is the largest of the pairs, or less than `SAFE_EXPONENT`; `factor`, of each query, is 1 at most.
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
            if largest > SAFE_EXPONENT:
                exponent = (exponent - largest) + SAFE_EXPONENT
            w = sizes.factor[q] * (pairs.weight[k] * sizes.per_weight) * math.exp(exponent)
            d *= sizes.per_distance
            gradient[i] -= d * w
            gradient[j] += d * w
            curvature = (c.squared * d * d + c.constant) * w
            hessian[i] += curvature
            hessian[j] += curvature


def sum_listed(scores: Floats, pairs: Listed, distance: Floats, curvature: Curvature, factor: Floats) -> Sums:
    """Return what `sum_over_pairs` writes, of one or more explicit pairs; one shift and top stand for all queries."""
    gradient, hessian = buffers.zeros(2, len(scores))
    out = Sums(gradient, hessian, np.zeros(1), np.zeros(1))
    exponent = 0.0
    if distance.max() * np.ptp(scores) > SAFE_EXPONENT:
        exponent = max(0.0, float((-distance * (scores[pairs.winner] - scores[pairs.loser])).max()))
        out.shift[0] = max(0.0, exponent - SAFE_EXPONENT)
    of_weight, of_distance, of_factor = (
        int(np.frexp(max(values.max(), SMALLEST))[1]) for values in (pairs.weight, distance, factor)
    )
    sizes = _Sizes(exponent, 2.0**-of_weight, 2.0**-of_distance, np.ldexp(factor, -of_factor))
    run_over_queries(
        lambda first, last: _add_listed(first, last, scores, pairs, distance, curvature, sizes, out),
        pairs.start,
        1 if pairs.crosses else None,
    )
    of_gradient = of_weight + of_factor + of_distance
    of_hessian = of_gradient + of_distance if curvature.squared else of_weight + of_factor
    beyond = max(0, max(of_gradient, of_hessian) - LARGEST_POWER)
    np.ldexp(out.gradient, of_gradient - beyond, out=out.gradient)
    np.ldexp(out.hessian, of_hessian - beyond, out=out.hessian)
    out.shift[0] += beyond * math.log(2.0)
    out.top[0] = max(np.abs(out.gradient).max(), out.hessian.max())
    return out
