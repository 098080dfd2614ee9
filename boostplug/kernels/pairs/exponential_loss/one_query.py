"""One query's derivatives of the exponential loss: its scores and weights in, its sums multiplied out.

Sums are computed in units, powers of 2, of weights and of distances, and relative to e^shift: `gather` takes what a
query has by document, `finish` writes what its rows get.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import inlined
from boostplug.kernels.base.simd import (
    WIDTH,
    absolute,
    broadcast,
    first_lanes,
    larger,
    largest_of,
    least_of,
    load,
    smaller,
    store,
)
from boostplug.kernels.base.views import Runs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BINARY, LINEAR, LOG, LOGISTIC = 0, 1, 2, 3  # distances that kernels can compute
MIN_HESSIAN = 1e-300  # a Hessian below it has lost its digits: no step, rather than one of rounding errors
MAX_LOST_SHARE = 1e-12  # of a query's largest gradient: where rows without a step have more, the query takes none
SAFE_EXPONENT = 600.0  # largest exponent that leaves room for sums of 1e40 in float64
LARGEST_POWER = 66  # of 2: a query's sums are multiplied with as much; what is more goes into its shift
SMALLEST = 1e-300  # of a unit: its inverse is finite


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


class Scratch(NamedTuple):
    """Workspace for the documents of one query: scores, exponentials, gradient, Hessian, and weights (or none)."""

    f: Floats
    e: Floats
    g: Floats
    h: Floats
    winner: Floats
    loser: Floats


class Units(NamedTuple):
    """Multipliers of a query's sums: powers of 2 and a factor; and their reference, e^shift.

    `squared` says whether the Hessian is one of squared distances.
    """

    factor: float
    of_weight: int
    of_distance: int
    squared: bool
    shift: float


@inlined()
def distance_of(gap: float, kind: int, parameter: float) -> float:
    """Return the distance of a gap > 0 between two grades (see `boostplug.losses.directed_distance`)."""
    if kind == LINEAR:
        return parameter * gap
    if kind == LOG:
        return math.log1p(parameter * gap)
    if kind == LOGISTIC:
        return 1.0 / (1.0 + math.exp(-parameter * gap))
    return 1.0


@inlined()
def power_of(largest: float) -> int:
    """Return the power of 2 of about that size: multiplying by it, or by its inverse, rounds nothing."""
    power: int = math.frexp(max(largest, SMALLEST))[1]
    return power


def scratch_for(runs: Runs) -> Scratch:
    """Return space for the longest query, each grade of it in lanes of its own."""
    size = runs.longest + WIDTH * runs.most_grades
    f, e, g, h = np.empty((4, size))
    winner = np.empty(size if len(runs.winner) else 0)
    return Scratch(f, e, g, h, winner, np.empty(size) if runs.apart else winner)


@inlined()
def padded(n: int) -> int:
    """Return the number of places that n documents take in complete lanes."""
    return (n + WIDTH - 1) & -WIDTH


@inlined()
def gather(q: int, scores: Any, runs: Any, scratch: Any, by_run: bool) -> tuple[float, float, int, int]:
    """Fill f and the weights, clear g and h.

    Return the lowest and the highest score, the power of 2 of weights, and the end of what is filled. Documents stand
    side by side, or, with `by_run`, those of each run in lanes of their own: what is stored in lanes that overlap is
    slow to load again. Past them f repeats the last document, and weights are 0.
    """
    f, _, g, h, winner, loser = scratch
    rows, start = runs.rows, runs.run_start
    weighted = winner.shape[0] > 0
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    to = unsigned(0)
    for u in range(u0, u1 if by_run else u0 + 1):
        for i in range(unsigned(start[u]), unsigned(start[u + 1] if by_run else start[u1])):
            f[to] = scores[unsigned(rows[i])]
            if weighted:
                winner[to], loser[to] = runs.winner[i], runs.loser[i]
            to += unsigned(1)
        while to & unsigned(WIDTH - 1):
            f[to] = f[to - unsigned(1)]
            if weighted:
                winner[to] = loser[to] = 0.0
            to += unsigned(1)
    n = int(to)
    low = high = load(f, 0)
    for k in range(0, n, WIDTH):
        low, high = smaller(low, load(f, k)), larger(high, load(f, k))
        store(g, k, broadcast(0.0))
        store(h, k, broadcast(0.0))
    of_weight = _in_units(scratch, runs.apart, n) if weighted else 0
    return least_of(low), largest_of(high), of_weight, n


@inlined()
def centre(scratch: Any, n: int, low: float, high: float) -> None:
    """Move the scores so that 0 is in the middle of them."""
    middle = low + (high - low) / 2.0
    for k in range(0, n, WIDTH):
        store(scratch.f, k, load(scratch.f, k) - middle)


@inlined()
def _in_units(scratch: Any, apart: bool, n: int) -> int:
    """Divide the weights of n documents by a power of 2 of about the largest one, and return the power."""
    _, _, _, _, winner, loser = scratch
    heaviest = broadcast(0.0)
    for k in range(0, n, WIDTH):
        heaviest = larger(heaviest, first_lanes(n - k, larger(load(winner, k), load(loser, k)), 0.0))
    of_weight: int = power_of(largest_of(heaviest))
    per_weight = math.ldexp(1.0, -of_weight)
    for k in range(0, n, WIDTH):
        store(winner, k, load(winner, k) * per_weight)
        if apart:
            store(loser, k, load(loser, k) * per_weight)
    return of_weight


@inlined()
def _drop(g: Any, h: Any, n: int, largest: float) -> bool:
    """Take no step where the Hessian has lost its digits, nowhere where gradients lack something; is there any step."""
    lost = 0.0
    for i in range(n):
        lost = max(lost, abs(g[i]) if h[i] < MIN_HESSIAN else 0.0)
    any_step = lost <= MAX_LOST_SHARE * largest and largest >= MIN_HESSIAN
    for i in range(n):
        if not any_step or h[i] < MIN_HESSIAN:
            g[i] = h[i] = 0.0
    return any_step


@inlined()
def _multipliers(units: Any) -> tuple[float, float, int]:
    """Return what gradient and Hessian are to be multiplied with, and the power of 2 that goes into the shift."""
    times, of_factor = math.frexp(units.factor)
    of_gradient = of_factor + 2 * units.of_weight + units.of_distance
    of_hessian = of_gradient + (units.of_distance if units.squared else -units.of_distance)
    beyond = max(0, max(of_gradient, of_hessian) - LARGEST_POWER)
    return math.ldexp(times, of_gradient - beyond), math.ldexp(times, of_hessian - beyond), beyond


@inlined()
def _multiply(scratch: Any, first: int, last: int, of_g: float, of_h: float, extremes: Any) -> Any:
    """Multiply both in place; return the largest abs(g), the largest h and the smallest, in lanes."""
    g, h = scratch.g, scratch.h
    most_g, most_h, least_h = extremes
    for k in range(first, last, WIDTH):
        x, y = load(g, k) * of_g, load(h, k) * of_h
        store(g, k, x)
        store(h, k, y)
        most_g = larger(most_g, first_lanes(last - k, absolute(x), 0.0))
        most_h = larger(most_h, first_lanes(last - k, y, 0.0))
        least_h = smaller(least_h, first_lanes(last - k, y, np.inf))
    return most_g, most_h, least_h


@inlined()
def _top(scratch: Any, n: int, extremes: Any) -> float:
    """Return the largest derivative; 0 where no row takes a step."""
    most_g, most_h, least_h = extremes
    largest = largest_of(most_g)
    if (least_of(least_h) < MIN_HESSIAN or largest < MIN_HESSIAN) and not _drop(scratch.g, scratch.h, n, largest):
        return 0.0
    top: float = max(largest, largest_of(most_h))
    return top


@inlined()
def _write(scratch: Any, at: int, first: int, last: int, rows: Any, out: Any) -> None:
    """Write the derivatives from a place in scratch on to the rows of the documents ``first <= i < last``."""
    g, h = scratch.g, scratch.h
    gradient, hessian = out.gradient, out.hessian
    place = unsigned(at)
    for i in range(unsigned(first), unsigned(last)):
        row = unsigned(rows[i])
        gradient[row] = g[place]
        hessian[row] = h[place]
        place += unsigned(1)


@inlined()
def finish(q: int, scratch: Any, runs: Any, units: Any, out: Any, by_run: bool) -> None:
    """Write the derivatives of a query's rows, its shift and its top; documents stand as `gather` put them."""
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    end = u1 if by_run else u0 + 1
    of_g, of_h, beyond = _multipliers(units)
    extremes = (broadcast(0.0), broadcast(0.0), broadcast(np.inf))
    n = 0
    for u in range(u0, end):
        size = (start[u + 1] if by_run else start[u1]) - start[u]
        extremes = _multiply(scratch, n, n + size, of_g, of_h, extremes)
        n += padded(size)
    out.top[q] = _top(scratch, n, extremes)
    out.shift[q] = units.shift + beyond * math.log(2.0)
    n = 0
    for u in range(u0, end):
        last = start[u + 1] if by_run else start[u1]
        _write(scratch, n, start[u], last, runs.rows, out)
        n += padded(last - start[u])
