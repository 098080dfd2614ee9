r"""Sums of squared hinges :math:`s_i s_j \max(0, (z_i - z_j) + τ)^2` over the pairs of a query, document by document.

Documents come by query and grade (`boostplug.kernels.base.views.Runs`); i has the higher grade, j the lower one. With
:math:`z = r - F` and τ = 0 a pair's margin is its grade gap; with :math:`z = -F` it is the constant τ.

A query is cut into two parts at a grade near its middle, and each part again, until a part is one grade or short.
Short parts are summed pair by pair, in vectors. All pairs between two longer parts, each sorted by z, take two
pointers, which move the same way; then the parts are merged. That is one merge sort, O(n log n) for any number of
grades.

Precision. A pair is active where :math:`(z_i - z_j) + τ > 0` in float64, evaluated in this order and nowhere otherwise,
so that ties fall as in a double loop. Sums over active pairs grow by terms ≥ 0 as the pointers advance: no offset of
the scores enters, nothing cancels, no centre is needed.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.core import buffers
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, first_lanes, larger, load, store, sum_of, where_positive
from boostplug.kernels.base.views import Listed, Runs

__all__ = ["Factors", "Hinge", "Labels", "Sums", "add_listed", "add_pairs", "squared_error"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 32  # documents; sorted by counting, in vectors, then merged
_SHORT = 768  # documents; up to there pairs one by one take no longer than sorting does (five grades, or as many)
_LARGEST = 1e150  # of |z|: its square is finite
_DEEPEST = 256  # a part of two or more grades is halved by every second cut


class Labels(NamedTuple):
    """The documents of all queries in file order; empty `weight` and `labelled`: all 1, and all labelled."""

    labels: Floats
    weight: Floats
    labelled: NDArray[np.bool_]
    boundaries: Ints


class Hinge(NamedTuple):
    """A pair's margin is `margin`, None: its grade gap; Hessians count active pairs, or `every_pair`.

    Squares of pairs are summed where they are asked for.
    """

    margin: float | None
    every_pair: bool
    squares: bool


class Factors(NamedTuple):
    """What each query's derivatives of half its sum of squares, and its counts of pairs, are multiplied with."""

    slope: Floats
    curvature: Floats


class Sums(NamedTuple):
    """Gradient and Hessian of every row, and each query's Σ s s max(0, ·)², which is not multiplied."""

    gradient: Floats
    hessian: Floats
    squares: Floats


class _Sorted(NamedTuple):
    """z of a query's documents, sorted part by part, the documents that they are of, and space to sort them."""

    z: Floats
    order: Ints
    spare_z: Floats
    spare_order: Ints


class _Documents(NamedTuple):
    """Of a query's documents: s, the gradient, and Σ s over active partners, both without the document's own s."""

    s: Floats
    g: Floats
    n: Floats


@inlined()
def _shortfall(upper: Any, lower: Any, margin: Any) -> Any:
    """Return (upper - lower) + margin of two numbers, one of them lanes perhaps; `margin` is None where it is 0."""
    x = upper - lower
    if margin is not None:
        x = x + margin
    return x


@inlined()
def _clipped(x: float) -> float:
    return min(max(x, -_LARGEST), _LARGEST)


@inlined(fastmath={"contract"}, forceinline=True)
def _with(mine: Any, theirs: float, weight: float, above: bool, margin: Any, sums: Any) -> Any:
    """Add the pairs of some documents, lanes, with one that is below or above to their gradient by -z and Σ s."""
    slope, count = sums
    x = _shortfall(mine, theirs, margin) if above else _shortfall(theirs, mine, margin)
    step = x * weight
    return where_positive(x, slope - step if above else slope + step, slope), where_positive(x, count + weight, count)


@inlined(forceinline=True)
def _sums(mine: Any, z: Any, s: Any, first: int, last: int, above: bool, margin: Any) -> Any:
    """Return the sums of some documents over those ``first <= j < last``, in two halves: a sum waits for its last."""
    left = right = (broadcast(0.0), broadcast(0.0))
    half = (last - first) >> unsigned(1)
    for j in range(first, first + half):
        left = _with(mine, z[j], s[j], above, margin, left)
        right = _with(mine, z[j + half], s[j + half], above, margin, right)
    if first + half + half < last:
        right = _with(mine, z[last - unsigned(1)], s[last - unsigned(1)], above, margin, right)
    return left[0] + right[0], left[1] + right[1]


@inlined(fastmath={"contract"})
def _squares(mine: Any, z: Any, s: Any, first: int, last: int, margin: Any) -> Any:
    """Return Σ s x² of some documents over the lower ones ``first <= j < last``."""
    square = broadcast(0.0)
    for j in range(first, last):
        x = larger(_shortfall(mine, z[j], margin), broadcast(0.0))
        square = square + s[j] * x * x
    return square


@inlined(fastmath={"contract"})
def _beside(mine: Any, z: Any, s: Any, first: int, last: int, below: int, margin: Any, sums: Any) -> Any:
    """Add the pairs of the documents in the lanes with those of one run among them, below which there are `below`."""
    slope, count, square = sums
    above = below + last - first
    for j in range(first, last):
        higher, n_higher = _with(mine, z[j], s[j], True, margin, (slope, count))
        lower, n_lower = _with(mine, z[j], s[j], False, margin, (slope, count))
        x = larger(_shortfall(mine, z[j], margin), broadcast(0.0))
        slope = first_lanes(below, lower, first_lanes(above, slope, higher))
        count = first_lanes(below, n_lower, first_lanes(above, count, n_higher))
        square = first_lanes(above, square, square + s[j] * x * x)
    return slope, count, square


@inlined()
def _pair_by_pair(
    z: Any, documents: Any, start: Any, u0: int, u1: int, base: int, margin: Any, squares_too: bool
) -> float:
    """Write what `_between` adds up, pair by pair, z not being sorted. Squares are right if asked for.

    Each document sums what it gets of all others: a pair is looked at twice, and nothing is written for it. Short runs
    share the lanes.
    """
    s, g, n = documents
    first, last = start[u0] - base, start[u1] - base
    squares = 0.0
    u = u0
    while u < u1:
        to = u + 1
        while to < u1 and start[to + 1] - start[u] <= WIDTH:
            to += 1
        a, b = start[u] - base, start[to] - base
        for k in range(a, b, WIDTH):
            mine = load(z, k)
            down, n_below = _sums(mine, z, s, unsigned(first), unsigned(a), True, margin)
            up, n_above = _sums(mine, z, s, unsigned(b), unsigned(last), False, margin)
            square = _squares(mine, z, s, unsigned(first), unsigned(a), margin) if squares_too else broadcast(0.0)
            sums = down + up, n_below + n_above, square
            if to > u + 1:
                for v in range(u, to):
                    lane = start[v] - start[u]
                    sums = _beside(mine, z, s, start[v] - base, start[v + 1] - base, lane, margin, sums)
            store(g, k, sums[0])  # what is past a run is written again with the next
            store(n, k, sums[1])
            squares += sum_of(first_lanes(b - k, load(s, k) * sums[2], 0.0))
        u = to
    return squares


@inlined()
def _between(places: Any, documents: Any, first: int, middle: int, last: int, margin: Any) -> float:
    """Sum all pairs of lower grades at first..middle and higher ones at middle..last, both sorted by z.

    Adds the derivatives of half the sum of squares by -z to g and Σ s over active partners to n, without the
    document's own s; returns the sum of squares.
    """
    z, order, _, _ = places
    s, g, n = documents
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


@inlined()
def _merge(places: Any, first: int, middle: int, last: int) -> None:
    """Merge two neighbours that are sorted by z."""
    z, order, spare_z, spare_order = places
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


@inlined()
def _sort(places: Any, first: int, last: int) -> None:
    """Sort z and, along with it, order, stably: a document's place in a block is the number of those before it."""
    z, order, spare_z, spare_order = places
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
            _merge(places, low, low + width, min(low + 2 * width, last))
        width *= 2


@inlined()
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


@inlined()
def _all_pairs(
    places: Any, documents: Any, start: Any, u0: int, u1: int, margin: Any, squares_too: bool, stack: Any
) -> float:
    """Sum all pairs of a query, the runs u0..u1; its places are sorted on the way."""
    base = start[u0]
    squares = 0.0
    stack[0, 0], stack[0, 1], stack[0, 2] = u0, u1, 0
    depth = 1
    while depth > 0:
        a, b, cut = stack[depth - 1, 0], stack[depth - 1, 1], stack[depth - 1, 2]
        first, last = start[a] - base, start[b] - base
        if cut > 0:  # both parts are done
            middle = start[cut] - base
            squares += _between(places, documents, first, middle, last, margin)
            if depth > 1:
                _merge(places, first, middle, last)
            depth -= 1
        elif b - a == 1 or last - first <= _SHORT:
            if b - a > 1:
                squares += _pair_by_pair(places.z, documents, start, a, b, base, margin, squares_too)
            else:
                for i in range(first, last):
                    documents.g[i] = documents.n[i] = 0.0
            _sort(places, first, last)
            depth -= 1
        else:
            cut = _middle_run(start, a, b)
            stack[depth - 1, 2] = cut
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = cut, b, 0
            stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = a, cut, 0
            depth += 2
    return squares


@inlined()
def _partners(documents: Any, start: Any, u0: int, u1: int) -> None:
    """Write Σ s over all documents of other grades, active or not."""
    s, _, n = documents
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


@numba.njit(inline="always")
def _parts(space: Any) -> Any:
    """Return z and the documents of a query, in one array, their weights 1 (a function would lose count of views)."""
    n = space.shape[0] // 4
    s = space[n : 2 * n]
    for i in range(n):
        s[i] = 1.0
    return space[:n], _Documents(s, space[2 * n : 3 * n], space[3 * n : 4 * n])


@inlined()
def _begin(q: int, scores: Any, runs: Any, hinge: Any, z: Any, documents: Any) -> int:
    """Fill z and s of a query; return the number of its documents."""
    s = documents.s
    start = runs.run_start
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    base = start[u0]
    size: int = start[u1] - base
    for u in range(u0, u1):
        label = runs.run_grade[u] if hinge.margin is None else 0.0
        for i in range(unsigned(start[u]), unsigned(start[u + 1])):
            z[i - unsigned(base)] = _clipped(label - scores[unsigned(runs.rows[i])])
    if runs.sqrt_weight.shape[0] > 0:
        for i in range(unsigned(size)):
            s[i] = runs.sqrt_weight[unsigned(base) + i]
    return size


@inlined()
def _finish(q: int, runs: Any, hinge: Any, factors: Any, documents: Any, out: Any) -> None:
    """Add a query's sums to its rows."""
    s, g, n = documents
    rows, gradient, hessian = runs.rows, out.gradient, out.hessian
    u0, u1 = runs.query_run[q], runs.query_run[q + 1]
    base = unsigned(runs.run_start[u0])
    if hinge.every_pair:
        _partners(documents, runs.run_start, u0, u1)
    slope, curvature = factors.slope[q], factors.curvature[q]
    for i in range(unsigned(runs.run_start[u1]) - base):
        row = unsigned(rows[base + i])
        gradient[row] += slope * s[i] * g[i]
        hessian[row] += curvature * s[i] * n[i]


@compiled()
def _add_short(
    first: int, last: int, scores: Any, runs: Any, hinge: Any, factors: Any, out: Any, workspace: Any
) -> None:
    """Do what `add_pairs` does of the queries ``first <= q < last``, none of them long."""
    z, documents = _parts(workspace)
    start = runs.run_start
    for q in range(first, last):
        u0, u1 = runs.query_run[q], runs.query_run[q + 1]
        _begin(q, scores, runs, hinge, z, documents)
        out.squares[q] = _pair_by_pair(z, documents, start, u0, u1, start[u0], hinge.margin, hinge.squares)
        _finish(q, runs, hinge, factors, documents, out)


@compiled()
def _add_any(first: int, last: int, scores: Any, runs: Any, hinge: Any, factors: Any, out: Any, workspace: Any) -> None:
    """Do what `add_pairs` does of the queries ``first <= q < last``, some of them long."""
    z, documents = _parts(workspace)
    start = runs.run_start
    stack = np.empty((_DEEPEST, 3), np.int64)
    size = z.shape[0]
    places = _Sorted(z, np.empty(size, np.int64), np.empty(size), np.empty(size, np.int64))
    for q in range(first, last):
        u0, u1 = runs.query_run[q], runs.query_run[q + 1]
        size = _begin(q, scores, runs, hinge, z, documents)
        if size <= _SHORT:
            out.squares[q] = _pair_by_pair(z, documents, start, u0, u1, start[u0], hinge.margin, hinge.squares)
        else:
            for i in range(size):
                places.order[i] = i
            out.squares[q] = _all_pairs(places, documents, start, u0, u1, hinge.margin, hinge.squares, stack)
        _finish(q, runs, hinge, factors, documents, out)


def add_pairs(scores: Floats, runs: Runs, hinge: Hinge, factors: Factors, out: Sums) -> Floats:
    """Add all pairs of different grades to gradient and Hessian; return each query's sum of squares if asked for."""
    added = out._replace(squares=np.empty(len(factors.slope)))
    kernel = _add_short if runs.longest <= _SHORT else _add_any
    size = 4 * (runs.longest + WIDTH)
    run_over_queries(
        lambda first, last: kernel(first, last, scores, runs, hinge, factors, added, np.empty(size)),
        runs.run_start[runs.query_run],
    )
    return added.squares


@compiled()
def _squared_errors(first: int, last: int, scores: Any, labels: Any, factor: float, out: Any) -> None:
    """Write what `squared_error` returns of the queries ``first <= q < last``."""
    weighted, masked = labels.weight.shape[0] > 0, labels.labelled.shape[0] > 0
    for q in range(first, last):
        square = 0.0
        for i in range(unsigned(labels.boundaries[q]), unsigned(labels.boundaries[q + 1])):
            x = _clipped(scores[i] - labels.labels[i])
            v = 1.0
            if weighted:
                v = labels.weight[i]
            if masked and not labels.labelled[i]:
                v = 0.0
            out.gradient[i] = factor * v * x
            out.hessian[i] = factor * v
            square += v * x * x
        out.squares[q] = square


def squared_error(scores: Floats, labels: Labels, factor: float) -> Sums:
    """Return the derivatives of factor · v (l - F)²/2, 0 where not labelled, and each query's Σ v (l - F)²."""
    n = len(scores)
    gradient, hessian = buffers.empty(2, n)
    out = Sums(gradient, hessian, np.empty(len(labels.boundaries) - 1))
    run_over_queries(lambda first, last: _squared_errors(first, last, scores, labels, factor, out), labels.boundaries)
    return out


@compiled()
def _add_listed(first: int, last: int, scores: Any, pairs: Any, every_pair: bool, factors: Any, out: Any) -> None:
    """Do what `add_listed` does of the queries ``first <= q < last``."""
    for q in range(first, last):
        total = 0.0
        for k in range(pairs.start[q], pairs.start[q + 1]):
            i, j = pairs.winner[k], pairs.loser[k]
            ahead = scores[i] - scores[j]
            active = ahead < pairs.margin[k]
            if active:
                short = min(pairs.margin[k] - ahead, 1e150)
                step = factors.slope[q] * pairs.weight[k] * short
                out.gradient[i] -= step
                out.gradient[j] += step
                total += pairs.weight[k] * short * short
            if active or every_pair:
                out.hessian[i] += factors.curvature[q] * pairs.weight[k]
                out.hessian[j] += factors.curvature[q] * pairs.weight[k]
        out.squares[q] = total


def add_listed(scores: Floats, pairs: Listed, every_pair: bool, factors: Factors, out: Sums) -> Floats:
    """Add explicit pairs to gradient and Hessian; return each query's sum of squares.

    A pair is active where F_winner - F_loser < margin.
    """
    added = out._replace(squares=np.empty(len(factors.slope)))
    run_over_queries(
        lambda first, last: _add_listed(first, last, scores, pairs, every_pair, factors, added),
        pairs.start,
        1 if pairs.crosses else None,
    )
    return added.squares
