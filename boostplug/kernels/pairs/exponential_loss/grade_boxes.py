r"""Sums of :math:`w_{ij} = a_i b_j e^{-d(r_i - r_j)(F_i - F_j)}` over many different grades, box by box of grades.

For one distance the sum factorises, whatever the scores (`by_grade`). Between two boxes, of which
one holds the higher grades, the distance is a smooth function of the gap, so there

.. math:: w_{ij} = \sum_k \ell_k(r_i - r_j)\; a_i e^{-d(\gamma_k) F_i}\; b_j e^{d(\gamma_k) F_j}

with the Lagrange polynomials :math:`\ell_k` of m Chebyshev nodes :math:`\gamma_k` of the gaps. Polynomials of degree
m - 1 of the gap are known by their values at m nodes of either box: so all pairs of two boxes cost m exponentials and
m² products per document, and m³ steps in between. Derivatives are the sums with :math:`d(\gamma_k)` or its square as a
factor. All pairs of a query are those of its upper half, those of its lower half, and those between the halves.

Accuracy. The error is below `_ERROR` of every pair's own w: m is such that Chebyshev coefficients past it are as small,
at the largest and at the smallest difference of the boxes' scores. So every pair adds to the Hessian, and what is far
in the right order keeps its digits. Where an exponent changes by more than `_CHANGE` between the boxes, or `_MOST`
nodes are too few, the wider box is cut. A few documents are summed pair by pair, two grades take one node: exactly.

Range. As in `by_grade`: past ±600 each pair of boxes takes its extreme scores for references, and
results are held relative to e^shift, which comes from a first walk over the boxes.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import EXP_MAX, exponential, log1p
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import (
    WIDTH,
    broadcast,
    first_lanes,
    larger,
    largest_of,
    least_of,
    load,
    smaller,
    store,
    sum_of,
)
from boostplug.kernels.base.views import Runs
from boostplug.kernels.pairs.exponential_loss.one_query import (
    LINEAR,
    LOG,
    SAFE_EXPONENT,
    Curvature,
    Sums,
    Units,
    centre,
    distance_of,
    finish,
    gather,
    power_of,
    scratch_for,
)
from boostplug.kernels.pairs.pair_task import middle_run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST = 32  # nodes
_FIRST = 8  # nodes that are tried first
_BLOCK = 64  # documents whose exponentials are at hand at a time
_CHANGE = 7.0  # of an exponent between two boxes: e^7 and the cancellation that goes with it leave 12 digits
_ERROR = 3e-11  # of a pair's w, and of its d² w beside the largest d of the two boxes
_NEAREST = 2e-5  # smallest distance between two boxes, beside the largest: of its square a tenth is to be right


class Distances(NamedTuple):
    """A built-in distance; which queries are to be summed, and the distance of the widest gap of each."""

    chosen: NDArray[np.bool_]
    longest: Floats
    kind: int
    parameter: float


class Nodes(NamedTuple):
    """Chebyshev nodes and the weights of their Lagrange polynomials, [m, k], and cos(c (k + 1/2) π / m), [m, c, k]."""

    at: Floats
    weight: Floats
    cosine: Floats


class _Workspace(NamedTuple):
    """Space for one query's work.

    By document: its grade `r`. By side (the upper box, the lower one), node, and document of a block: exponentials `e`,
    Lagrange polynomials `t`; by node of the gap and node of a box, those `between` the boxes. By side, node of the gap,
    and node of the box: `moment`, `field`. By node: distance `d`, and a `value`. Boxes, and pairs of boxes, `to_do`:
    first run and end of the upper one, then of the lower one, which is the same where pairs are within it.
    """

    r: Floats
    e: Floats
    t: Floats
    between: Floats
    moment: Floats
    field: Floats
    d: Floats
    value: Floats
    to_do: Ints


def _nodes() -> Nodes:
    at, weight = np.zeros((2, _MOST + 1, _MOST))
    cosine = np.zeros((_MOST + 1, _MOST, _MOST))
    for m in range(1, _MOST + 1):
        k = np.arange(m)
        angle = (k + 0.5) * np.pi / m
        at[m, :m], weight[m, :m] = np.cos(angle), (-1.0) ** k * np.sin(angle)
        cosine[m, :m, :m] = np.cos(np.outer(k, angle))
    return Nodes(at, weight, cosine)


_NODES = _nodes()


@inlined(fastmath={"contract"}, error_model="numpy")
def _pair_by_pair(a: Any, b: Any, scratch: Any, r: Any, kind: int, parameter: float, c: Any, unit: Any) -> float:
    """Add the pairs of the documents a with those of b that have lower grades; return the largest exponent."""
    f, _, g, h, winner, loser = scratch
    per_unit, shift = unit
    steepest, least = broadcast(0.0), exponential(broadcast(-EXP_MAX))  # smaller ones are nothing
    end = b[0]
    for i in range(a[0], a[1]):
        while end < b[1] and r[end] < r[i]:
            end += 1
        g_i, h_i = broadcast(0.0), broadcast(0.0)
        for j in range(b[0], end, WIDTH):
            gap = first_lanes(end - j, r[i] - load(r, j), 1.0)
            if kind == LINEAR:
                d = gap * parameter
            elif kind == LOG:
                d = log1p(gap * parameter)
            else:
                d = 1.0 / (exponential(larger(gap * -parameter, broadcast(-EXP_MAX))) + 1.0)
            exponent = first_lanes(end - j, d * (load(f, j) - f[i]), -np.inf)
            steepest = larger(steepest, exponent)
            w = exponential(smaller(larger(exponent - shift, broadcast(-EXP_MAX)), broadcast(EXP_MAX))) - least
            if winner.shape[0] > 0:
                w = w * load(loser, j) * winner[i]
            w = first_lanes(end - j, w, 0.0)
            x = d * per_unit
            y = (x * x * c.squared + c.constant) * w
            x = x * w
            g_i, h_i = g_i - x, h_i + y
            store(g, j, load(g, j) + x)
            store(h, j, load(h, j) + y)
        g[i] += sum_of(g_i)
        h[i] += sum_of(h_i)
    largest: float = largest_of(steepest)
    return largest


@inlined()
def _extremes(f: Any, first: int, last: int) -> tuple[float, float]:
    """Return the lowest and the highest of ``f[first:last]``."""
    low = high = broadcast(f[first])
    for i in range(first, last, WIDTH):
        x = first_lanes(last - i, load(f, i), f[first])
        low, high = smaller(low, x), larger(high, x)
    return least_of(low), largest_of(high)


@inlined(error_model="numpy")
def _n_nodes(gap: Any, difference: Any, workspace: Any, nodes: Any, kind: int, parameter: float) -> int:
    """Return how many nodes the gaps and differences of scores of two boxes need, 0 where the boxes are to be cut.

    Two functions of the gap, e^(-dx) and (d/d_max)² e^(-dx), at the two extreme differences x. Each has its largest
    value, 1, at one end, and its smallest at the other: that one is to be right.
    """
    d, value = workspace.d, workspace.value
    d_0, d_1 = distance_of(gap[0], kind, parameter), distance_of(gap[1], kind, parameter)
    low, high = min(difference[0], 0.0), max(difference[1], 0.0)
    if (d_1 - d_0) * max(high, -low) > _CHANGE or d_0 < _NEAREST * d_1:
        return 0
    middle, half = 0.5 * (gap[1] + gap[0]), 0.5 * (gap[1] - gap[0])
    if half == 0.0:
        return 2
    m = _FIRST
    while m <= _MOST:
        for k in range(m):
            d[k] = distance_of(middle + half * nodes.at[m, k], kind, parameter)
        need = 1
        for way in range(4):
            x = low if way < 2 else high
            top = d_1 if x <= 0.0 else d_0
            least = math.exp(-(d_1 - d_0) * abs(x))
            nearest = d_0 / d_1 if way % 2 == 1 else 1.0
            allowed = _ERROR * least
            at_end = whole = 0.0
            for k in range(m):
                value[k] = math.exp((top - d[k]) * x)
                if way % 2 == 1:
                    value[k] *= (d[k] / d_1) ** 2
                share = nodes.weight[m, k] / (1.0 + nodes.at[m, k])
                at_end += share * value[k]
                whole += share
            # Changes between the smallest gap and the first node show only there.
            if abs(at_end / whole - math.exp((top - d_0) * x) * nearest * nearest) > 10.0 * allowed:
                need = m + 1
                break
            rest = 0.0
            n = m
            while n > need:
                coefficient = 0.0
                for k in range(m):
                    coefficient += value[k] * nodes.cosine[m, n - 1, k]
                rest += abs(coefficient) * 2.0 / m
                if rest > allowed:
                    break
                n -= 1
            need = n
        if need < m:
            return need + need % 2
        m *= 2
    return 0


@inlined(fastmath={"contract"}, error_model="numpy")
def _lagrange(x: Any, t: Any, at: int, stride: int, m: int, nodes: Any) -> None:
    """Store the Lagrange polynomials of m nodes at x from ``t[at]`` on, by the barycentric formula."""
    whole = broadcast(0.0)
    for k in range(m):
        z = nodes.weight[m, k] / ((x - nodes.at[m, k]) + 1e-200)  # none is divided by 0
        store(t, at + k * stride, z)
        whole = whole + z
    for k in range(m):
        store(t, at + k * stride, load(t, at + k * stride) / whole)


@inlined(fastmath={"contract"}, error_model="numpy")
def _read_block(m: int, side: int, n: int, first: int, box: Any, scratch: Any, workspace: Any, nodes: Any) -> None:
    """Write what n documents of a box are at the nodes; `box` is its lowest and highest grade and its origin."""
    f, r, e, t, d = scratch.f, workspace.r, workspace.e, workspace.t, workspace.d
    low, high, origin = box
    sign, weight = (-1.0, scratch.winner) if side == 0 else (1.0, scratch.loser)
    per_half = 2.0 / (high - low) if high > low else 0.0
    least = exponential(broadcast(-EXP_MAX))  # smaller ones are nothing
    at = side * _MOST * _BLOCK
    for i in range(0, n, WIDTH):
        score = load(f, first + i) - origin
        for k in range(m):
            w = exponential(larger(score * (sign * d[k]), broadcast(-EXP_MAX))) - least
            if weight.shape[0] > 0:
                w = w * load(weight, first + i)
            store(e, at + k * _BLOCK + i, first_lanes(n - i, w, 0.0))
        x = first_lanes(n - i, (load(r, first + i) - low) * per_half - 1.0, 0.0)
        _lagrange(x, t, at + i, _BLOCK, m, nodes)


@inlined(fastmath={"contract"}, error_model="numpy")
def _add_moments(m: int, side: int, n: int, workspace: Any) -> None:
    """Add the moments of n documents, two nodes by two."""
    e, t, moment = workspace.e, workspace.t, workspace.moment
    at = side * _MOST * _BLOCK
    for k in range(0, m, 2):
        for l in range(0, m, 2):
            s00, s01, s10, s11 = broadcast(0.0), broadcast(0.0), broadcast(0.0), broadcast(0.0)
            at_e, at_t = at + k * _BLOCK, at + l * _BLOCK
            for i in range(0, n, WIDTH):
                e0, e1 = load(e, at_e + i), load(e, at_e + _BLOCK + i)
                t0, t1 = load(t, at_t + i), load(t, at_t + _BLOCK + i)
                s00, s01 = s00 + e0 * t0, s01 + e0 * t1
                s10, s11 = s10 + e1 * t0, s11 + e1 * t1
            moment[side, k, l] += sum_of(s00)
            moment[side, k, l + 1] += sum_of(s01)
            moment[side, k + 1, l] += sum_of(s10)
            moment[side, k + 1, l + 1] += sum_of(s11)


@inlined(fastmath={"contract"}, error_model="numpy")
def _add_fields(m: int, side: int, n: int, first: int, scratch: Any, workspace: Any, c: Any, per_unit: float) -> None:
    """Add to the derivatives of n documents what the fields say of them."""
    g, h, e, t, d, field = scratch.g, scratch.h, workspace.e, workspace.t, workspace.d, workspace.field
    sign, at = -1.0 if side == 0 else 1.0, side * _MOST * _BLOCK
    for i in range(0, n, WIDTH):
        of_g, of_h = load(g, first + i), load(h, first + i)
        for k in range(0, m, 2):
            p, q = broadcast(0.0), broadcast(0.0)
            for l in range(m):
                t0 = load(t, at + l * _BLOCK + i)
                p, q = p + t0 * field[side, k, l], q + t0 * field[side, k + 1, l]
            p = p * load(e, at + k * _BLOCK + i)
            q = q * load(e, at + (k + 1) * _BLOCK + i)
            d0, d1 = d[k] * per_unit, d[k + 1] * per_unit
            of_g = of_g + (p * (sign * d0) + q * (sign * d1))
            of_h = of_h + (p * (c.squared * d0 * d0 + c.constant) + q * (c.squared * d1 * d1 + c.constant))
        store(g, first + i, of_g)
        store(h, first + i, of_h)


@inlined(fastmath={"contract"}, error_model="numpy")
def _moments_to_fields(m: int, share: float, times_at: Any, workspace: Any, nodes: Any) -> None:
    """Write the fields of both boxes; `share` is the width of the upper one beside both, `times_at` (rise, shift)."""
    d, moment, field, between = workspace.d, workspace.moment, workspace.field, workspace.between
    rise, shift = times_at
    for l in range(m):
        for i in range(0, m, WIDTH):
            x = share * nodes.at[m, l] - load(nodes.at[m], i) * (1.0 - share)
            _lagrange(x, between, i, _MOST, m, nodes)
        for k in range(m):
            times = math.exp(d[k] * rise - shift)
            above = times * moment[0, k, l]
            below = broadcast(0.0)
            for i in range(0, m, WIDTH):
                x = load(between, k * _MOST + i)
                below = below + x * load(moment[1, k], i)
                store(field[1, k], i, load(field[1, k], i) + x * above)
            field[0, k, l] = times * sum_of(below)


@inlined(fastmath={"contract"}, error_model="numpy")
def _box_by_box(
    m: int, a: Any, b: Any, origin: Any, gap: Any, scratch: Any, workspace: Any, nodes: Any, kind: int,
    parameter: float, c: Any, unit: Any,
) -> None:  # fmt: skip
    """Add the pairs of the documents a with those b, all of lower grades, by m nodes; m is even."""
    r, d = workspace.r, workspace.d
    per_unit, shift = unit
    middle, half = 0.5 * (gap[1] + gap[0]), 0.5 * (gap[1] - gap[0])
    for k in range(m):
        d[k] = distance_of(middle + half * nodes.at[m, k], kind, parameter)
    for side in range(2):
        for k in range(m):
            for l in range(0, m, WIDTH):
                store(workspace.moment[side, k], l, broadcast(0.0))
                store(workspace.field[side, k], l, broadcast(0.0))
    for way in range(2):  # moments of the documents, then what the fields say of them
        for side in range(2):
            begin, end = a if side == 0 else b
            box = (r[begin], r[end - 1], origin[0] if side == 0 else origin[1])
            for first in range(begin, end, _BLOCK):
                n = min(end - first, _BLOCK)
                if way == 0 or end - begin > _BLOCK:
                    _read_block(m, side, n, first, box, scratch, workspace, nodes)
                if way == 0:
                    _add_moments(m, side, n, workspace)
                else:
                    _add_fields(m, side, n, first, scratch, workspace, c, per_unit)
        if way == 0:
            width_a, width_b = r[a[1] - 1] - r[a[0]], r[b[1] - 1] - r[b[0]]
            share = width_a / (width_a + width_b) if half > 0.0 else 0.0
            _moments_to_fields(m, share, (origin[1] - origin[0], shift), workspace, nodes)


@inlined()
def _cut(n: int, to_do: Any, runs: Any) -> int:
    """Put what a box, or a pair of boxes, is cut into in its place and after it; return the end."""
    start, grade = runs.run_start, runs.run_grade
    a_0, a_1, b_0, b_1 = to_do[n, 0], to_do[n, 1], to_do[n, 2], to_do[n, 3]
    within = a_0 == b_0
    wider = grade[a_1 - 1] - grade[a_0] >= grade[b_1 - 1] - grade[b_0]
    upper = within or b_1 - b_0 == 1 or (wider and a_1 - a_0 > 1)
    u = middle_run(start, a_0, a_1) if upper else middle_run(start, b_0, b_1)
    for k in range(3 if within else 2):  # a box: the lower half, the upper half, and the pair of both
        to_do[n + k, 0] = u if upper and k > 0 else a_0
        to_do[n + k, 1] = u if upper and k == 0 else a_1
        to_do[n + k, 2] = u if (within or not upper) and k == 1 else b_0
        to_do[n + k, 3] = u if (within and k != 1) or (not upper and k == 0) else b_1
    return n + (3 if within else 2)


@inlined(error_model="numpy")
def _method(
    q: int, a_0: int, a_1: int, b_0: int, b_1: int, bounded: bool, f: Any, runs: Any, workspace: Any, nodes: Any,
    kind: int, parameter: float,
) -> Any:  # fmt: skip
    """Return how the pairs of two boxes, or within one, are summed: -1 pair by pair, 0 after a cut, else by m nodes.

    For nodes return also the origins of both boxes' scores, and the smallest and the largest gap. Costs are in
    nanoseconds, as measured. Boxes that are to be cut cost about as much as 12 nodes.
    """
    start, grade, base = runs.run_start, runs.run_grade, runs.run_start[runs.query_run[q]]
    a, b = (start[a_0] - base, start[a_1] - base), (start[b_0] - base, start[b_1] - base)
    n_a, n_b = a[1] - a[0], b[1] - b[0]
    within = a_0 == b_0
    m, origin, gap = 0, (0.0, 0.0), (0.0, 0.0)
    pairs = 4.0 * n_a * n_b * (0.5 if within else 1.0)
    other = 80.0 * n_a if within else 80.0 * (n_a + n_b) + 3000.0
    if not within and pairs > 20.0 * (n_a + n_b) + 1000.0:
        low_a, high_a = _extremes(f, a[0], a[1])
        low_b, high_b = _extremes(f, b[0], b[1])
        gap = (grade[a_0] - grade[b_1 - 1], grade[a_1 - 1] - grade[b_0])
        if not bounded:
            origin = (low_a, high_b)
        m = _n_nodes(gap, (low_a - high_b, high_a - low_b), workspace, nodes, kind, parameter)
        if m > 0:
            other = (n_a + n_b) * (3.0 * m + 0.25 * m * m) + 1.2 * m**3 + 500.0
            k_a, k_b = a_1 - a_0, b_1 - b_0
            if m > 2 and other > 5.0 * (k_a * n_b + k_b * n_a) + 500.0 * k_a * k_b:
                m = 0  # grade by grade
    return -1 if pairs <= other else m, a, b, origin, gap


@inlined(error_model="numpy")
def _walk(
    q: int, looks: bool, bounded: bool, runs: Any, distances: Any, c: Any, nodes: Any, scratch: Any, workspace: Any,
    unit: Any,
) -> float:  # fmt: skip
    """Sum all pairs of a query; or, if it only `looks`, return their largest exponent, about, if past the safe one."""
    kind, parameter, to_do = distances.kind, distances.parameter, workspace.to_do
    u_0, u_1 = runs.query_run[q], runs.query_run[q + 1]
    steepest = SAFE_EXPONENT
    to_do[0, 0], to_do[0, 1], to_do[0, 2], to_do[0, 3] = u_0, u_1, u_0, u_1
    n = 1
    while n > 0:
        n -= 1
        a_0, a_1, b_0, b_1 = to_do[n, 0], to_do[n, 1], to_do[n, 2], to_do[n, 3]
        if a_0 == b_0 and a_1 - a_0 == 1:
            continue
        m, a, b, origin, gap = _method(
            q, a_0, a_1, b_0, b_1, bounded, scratch.f, runs, workspace, nodes, kind, parameter
        )
        if m < 0:
            longest = _pair_by_pair(a, b, scratch, workspace.r, kind, parameter, c, unit)
            if looks:
                steepest = max(steepest, longest)
        elif m == 0:
            n = _cut(n, to_do, runs)
        elif looks:
            steepest = max(steepest, distance_of(gap[1], kind, parameter) * (origin[1] - origin[0]))
        else:
            _box_by_box(m, a, b, origin, gap, scratch, workspace, nodes, kind, parameter, c, unit)
    return steepest


@compiled(error_model="numpy", _nrt=False)
def _sum_queries(
    first: int, last: int, scores: Any, runs: Any, distances: Any, c: Any, factor: Any, out: Any, nodes: Any,
    scratch: Any, workspace: Any,
) -> None:  # fmt: skip
    """Write what `sum_by_boxes` returns of the queries ``first <= q < last``."""
    start = runs.run_start
    for q in range(first, last):
        if not distances.chosen[q]:
            continue
        u_0, u_1 = runs.query_run[q], runs.query_run[q + 1]
        low, high, of_weight, n = gather(q, scores, runs, scratch, False)
        for u in range(u_0, u_1):
            for i in range(start[u] - start[u_0], start[u + 1] - start[u_0]):
                workspace.r[i] = runs.run_grade[u]
        of_distance = power_of(distances.longest[q])
        bounded = distances.longest[q] * (high - low) <= SAFE_EXPONENT
        if bounded:
            centre(scratch, n, low, high)
        steepest = SAFE_EXPONENT
        for walk in range(1 if bounded else 0, 2):  # the first one looks for the largest exponent
            unit = (math.ldexp(1.0, -of_distance), steepest - SAFE_EXPONENT)
            longest = _walk(q, walk == 0, bounded, runs, distances, c, nodes, scratch, workspace, unit)
            if walk == 0:
                steepest = longest
                for i in range(0, n, WIDTH):
                    store(scratch.g, i, broadcast(0.0))
                    store(scratch.h, i, broadcast(0.0))
        units = Units(factor[q], of_weight, of_distance, c.squared > 0.0, steepest - SAFE_EXPONENT)
        finish(q, scratch, runs, units, out, False)


def _workspace_for(n: int) -> _Workspace:
    """Return workspace for n documents of a query; compiled code would take longer to compile if it made its own."""
    e, t = np.empty((2, 2 * _MOST * _BLOCK))
    moment, field = np.empty((2, 2, _MOST, _MOST))
    d, value = np.empty((2, _MOST))
    return _Workspace(np.empty(n + WIDTH), e, t, np.empty(_MOST * _MOST), moment, field, d, value, _to_do())


def _to_do() -> Ints:
    """Return workspace for all boxes that wait. Two cuts halve one: of 2^40 documents, at most 320 wait."""
    return np.empty((400, 4), np.int64)


def sum_by_boxes(
    scores: Floats, runs: Runs, distances: Distances, curvature: Curvature, factor: Floats, out: Sums
) -> None:
    """Write gradient -Σ_j ± d w and Hessian of the rows of the chosen queries, each query's times its factor."""
    n_documents = np.where(distances.chosen, np.diff(runs.run_start[runs.query_run]), 0)

    def kernel(first: int, last: int) -> None:
        scratch, workspace = scratch_for(runs), _workspace_for(int(n_documents[first:last].max()))
        _sum_queries(first, last, scores, runs, distances, curvature, factor, out, _NODES, scratch, workspace)

    # A document costs as much as that many exponentials: half of the others, where they are few.
    run_over_queries(kernel, np.r_[0, np.cumsum(n_documents * np.minimum(n_documents // 2 + 1, 500))])
