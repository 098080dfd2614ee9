r"""Sums of :math:`w_{ij} = a_i b_j e^{-d_{ij}(F_i - F_j)}` over the pairs of a query, document by document.

Documents come by query and grade (`boostplug.kernels.base.views.Runs`); i has the higher grade, j the lower one, and a
and b are their weights as winner and loser. For one pair of grades d is one number, and the sum over its pairs
factorises:

.. math:: \sum_j w_{ij} = a_i e^{-d F_i} \cdot \sum_j b_j e^{d F_j}

so all pairs of a query with K grades cost O(nK) exponentials and O(n) memory. For a distance that is the same for all
pairs, running sums over the grades do in O(n). For many grades there is `grade_boxes`.

Range. As long as no exponent passes ±600, factors around the middle of the scores are safe. Past it each sum takes its
own reference (the extreme score of the grade summed over), and a query's results are held relative to ``e^shift``.
Weights and distances stand in units, powers of 2, that a query's results are multiplied with at the end.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core import buffers
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import EXP_MAX, exponential
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, first_lanes, larger, load, store, sum_of
from boostplug.kernels.base.views import Listed, Runs
from boostplug.kernels.pairs.exponential_loss.one_query import (
    BINARY,
    LARGEST_POWER,
    SAFE_EXPONENT,
    SMALLEST,
    Curvature,
    Sums,
    Units,
    centre,
    finish,
    gather,
    padded,
    power_of,
    scratch_for,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FACTORISED, RUNNING, BOXES = 0, 1, 2  # how to sum a query's pairs; BOXES: not here


class Table(NamedTuple):
    """Method of summing each query's pairs, and the distances of its grades.

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
def _exponentials(scratch: Any, weight: Any, first: int, last: int, d: float, origin: float) -> float:
    """Write weight · e^(d (f - origin)) of a run, 0 in what lanes reach past it, and return its sum."""
    f, e = scratch.f, scratch.e
    total_of_run, least = broadcast(0.0), exponential(broadcast(-EXP_MAX))  # smaller ones are nothing
    for k in range(first, last, WIDTH):
        x = exponential(larger(d * (load(f, k) - origin), broadcast(-EXP_MAX))) - least
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
def _references(scratch: Any, runs: Any, q: int, far: bool, by_run: bool, lowest: Any, highest: Any) -> None:
    """Write what each run's exponentials are relative to: its extreme scores if scores are `far` apart.

    Else 0, which is the middle of all scores. Documents stand as `gather` put them with this `by_run`.
    """
    f, start = scratch.f, runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    first = 0
    for u in range(u0, u1):
        size = start[u + 1] - start[u]
        low = high = f[first] if far else 0.0
        for i in range(first, first + size if far else first):
            low, high = min(low, f[i]), max(high, f[i])
        lowest[u - u0], highest[u - u0] = low, high
        first += padded(size) if by_run else size


@inlined()
def _factorised(
    scratch: Any, runs: Any, table: Any, q: int, c: Any, per_unit: float, far: bool, lowest: Any, highest: Any
) -> float:
    """Sum all pairs of a query by factorisation; return the shift: results are relative to e^shift.

    Scores that are not `far` apart are centred, and exponents within ±300 on either side. `lowest` and `highest` are
    space for a number of each run.
    """
    start, values = runs.run_start, table.values
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    _references(scratch, runs, q, far, True, lowest, highest)
    largest, t = SAFE_EXPONENT, table.start[q]
    for v in range(u0 + 1, u1):
        for u in range(u0, v):
            largest = max(largest, values[t] * (highest[u - u0] - lowest[v - u0]))
            t += 1
    t = table.start[q]
    v_first = padded(start[u0 + 1] - start[u0])
    for v in range(u0 + 1, u1):
        v_last, f_v = v_first + start[v + 1] - start[v], lowest[v - u0]
        u_first = 0
        for u in range(u0, v):
            u_last, f_u = u_first + start[u + 1] - start[u], highest[u - u0]
            d = values[t]
            t += 1
            below = _exponentials(scratch, scratch.loser, u_first, u_last, d, f_u)
            above = _exponentials(scratch, scratch.winner, v_first, v_last, -d, f_v)
            if far:  # what two runs share is rounded once, for both, so that gradients still sum to 0
                times = math.exp((d * (f_u - f_v) - largest) + SAFE_EXPONENT)
                below, above = times * below, times * above
            d *= per_unit
            curvature = c.squared * d * d + c.constant
            _add(scratch, u_first, u_last, d * above, curvature * above)
            _add(scratch, v_first, v_last, -d * below, curvature * below)
            u_first += padded(u_last - u_first)
        v_first += padded(v_last - v_first)
    return largest - SAFE_EXPONENT


@inlined()
def _difference(a: float, b: float) -> tuple[float, float]:
    """Return a - b, and the rounding error of it."""
    high = a - b
    back = a - high
    return high, (a - (high + back)) + (back - b)


@inlined(fastmath={"contract"})
def _running(scratch: Any, runs: Any, q: int, c: Any, far: bool, lowest: Any, highest: Any) -> float:
    """Do what `_factorised` does where all distances are 1, by running sums over the grades, upwards and downwards."""
    f, _, g, h, winner, loser = scratch
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    largest, rest, low, high = SAFE_EXPONENT, 0.0, 0.0, 0.0
    if far:
        _references(scratch, runs, q, far, False, lowest, highest)
        extreme = highest[0]
        for k in range(1, u1 - u0):
            exponent, lost = _difference(extreme, lowest[k])
            if (exponent - largest) + (lost - rest) > 0.0:
                largest, rest = exponent, lost
            extreme = max(extreme, highest[k])
    least = exponential(broadcast(-EXP_MAX))  # smaller ones are nothing
    for sign in (1.0, -1.0):
        passed, extreme = 0.0, -np.inf  # where scores are far, the sum of those passed is passed · e^extreme
        own, other = (loser, winner) if sign > 0.0 else (winner, loser)  # as one of those passed, and beside them
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            beside = passed
            if far:
                low, high = (lowest[u - u0], highest[u - u0]) if sign > 0.0 else (-highest[u - u0], -lowest[u - u0])
                if k > 0:
                    exponent, lost = _difference(extreme, low)
                    beside *= math.exp((exponent - largest) + (lost - rest) + SAFE_EXPONENT)
                high = max(high, extreme)
                passed *= math.exp(extreme - high)
                extreme = high
            last = start[u + 1] - start[u0]
            total = broadcast(0.0)
            for i in range(start[u] - start[u0], last, WIDTH):
                x = load(f, i) * sign
                if far:
                    mine = exponential(larger(x - high, broadcast(-EXP_MAX))) - least
                    theirs = beside * (exponential(larger(low - x, broadcast(-EXP_MAX))) - least)
                else:
                    mine, theirs = exponential(x), beside * exponential(0.0 - x)
                if own.shape[0] > 0:
                    mine, theirs = mine * load(own, i), theirs * load(other, i)
                theirs = first_lanes(last - i, theirs, 0.0)
                store(g, i, load(g, i) - sign * theirs)
                store(h, i, load(h, i) + (c.squared + c.constant) * theirs)
                total = total + first_lanes(last - i, mine, 0.0)
            passed += sum_of(total)
    return largest - SAFE_EXPONENT


@inlined()
def _units(q: int, table: Any, c: Any, factor: Any, of_weight: int, shift: float) -> Units:
    """Return the units that the sums of a query are in."""
    of_distance = 0 if table.kind == BINARY else power_of(table.longest[q])
    return Units(factor[q], of_weight, of_distance, c.squared > 0.0, shift)


@compiled()
def _sum_factorised(
    first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any, scratch: Any
) -> None:
    """Sum the FACTORISED queries among ``first <= q < last``."""
    lowest, highest = np.empty(runs.most_grades), np.empty(runs.most_grades)
    for q in range(first, last):
        if table.how[q] != FACTORISED:
            continue
        low, high, of_weight, n = gather(q, scores, runs, scratch, True)
        far = table.longest[q] * (high - low) > SAFE_EXPONENT
        if not far:
            centre(scratch, n, low, high)
        per_unit = math.ldexp(1.0, -power_of(table.longest[q]))
        shift = _factorised(scratch, runs, table, q, c, per_unit, far, lowest, highest)
        finish(q, scratch, runs, _units(q, table, c, factor, of_weight, shift), out, True)


@compiled()
def _sum_running(
    first: int, last: int, scores: Any, runs: Any, table: Any, c: Any, factor: Any, out: Any, scratch: Any
) -> None:
    """Sum the queries ``first <= q < last``, where all distances are 1."""
    lowest, highest = np.empty(runs.most_grades), np.empty(runs.most_grades)
    for q in range(first, last):
        low, high, of_weight, n = gather(q, scores, runs, scratch, False)
        far = high - low > SAFE_EXPONENT
        if not far:
            centre(scratch, n, low, high)
        shift = _running(scratch, runs, q, c, far, lowest, highest)
        finish(q, scratch, runs, _units(q, table, c, factor, of_weight, shift), out, False)


def sum_over_pairs(
    scores: Floats, runs: Runs, table: Table, cost: Ints, curvature: Curvature, factor: Floats, out: Sums
) -> None:
    """Write gradient -Σ_j ± d w and Hessian of the rows in pairs, each query's times its factor; not of BOXES ones.

    `cost` is that of `costs`.
    """
    kernel = _sum_running if table.kind == BINARY else _sum_factorised
    run_over_queries(
        lambda first, last: kernel(first, last, scores, runs, table, curvature, factor, out, scratch_for(runs)), cost
    )


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
    """Inverse units of weights and distances in the sums over explicit pairs.

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
