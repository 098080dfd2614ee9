r"""Sums of smooth functions of score differences over the pairs of a query, in linear time.

For document i of a query and a function κ of the difference "higher grade minus lower grade":

.. math:: \sum_{r_j < r_i} s_j\, c_{ij}\, \kappa(F_i - F_j) \pm \sum_{r_j > r_i} s_j\, c_{ij}\, \kappa(F_j - F_i)

Documents come by query and grade (`boostplug.queries.GradeRuns`). The scores of a query fall into boxes of one width.
Within a box the position is y in [-1, 1]; a (grade, box) cell is known by its moments Σ s_j y_j^u, u < 12; the sum over
it, seen from another box, is a polynomial in the position there, whose coefficients are a 12 × 12 matrix times the
moments. The matrix depends on the distance of the two boxes alone and is sampled once (`tables`). Box pairs further
apart than the tables reach take the function's tail, q0 + q1 d + q2 d² + c e^(-λ d), which factorises: running sums
over the boxes, exact at any range. Cost: 12 multiplications per document and output, and 144 per pair of a cell and a
box in reach.

The matrices are truncated Chebyshev series (for γ = σ(1 - σ) the poles at ±iπ set the rate: boxes of 2.5 give 1e-7 of
every single pair, far pairs included); moments are of plain powers, which twelve of them can afford in float64.

With many grades the pairs are those of the upper half of the grades with the lower half, and of each half likewise:
O(n log n). Short lists are summed pair by pair, without an exponential per pair: known functions as they are, others by
pieces of polynomials; which way is faster is reckoned from documents, pairs and the range of the scores.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from boostplug.kernels.arithmetic import EXP_MAX, exponential
from boostplug.kernels.compiling import compiled

# compiled in: arithmetic.py 65d2c856e0ab

__all__ = [
    "GAINS",
    "GENERAL",
    "NDCG",
    "NDCG_VALUE",
    "ONES",
    "RANKNET",
    "RANKNET_VALUE",
    "TABLE",
    "Kernel",
    "Tables",
    "Tail",
    "accumulate",
    "gap_sums",
    "tables",
]

Floats = NDArray[np.float64]

ONES, GAINS, TABLE = 0, 1, 2  # weight of a pair of grades: 1, the gap of their gains, an entry of a table
GENERAL, NDCG, RANKNET, NDCG_VALUE, RANKNET_VALUE = -1, 0, 1, 2, 3  # functions that kernels know exactly
P = 12  # moments of a cell
_TERMS = 8  # of the polynomial of a piece
_PIECES = 16  # in the width of a box: 1e-12 of any function that boxes describe
_SAMPLES = 32
_SAFE_RANGE = 600.0  # of scores: e^300 squared twice is finite
_SHORT = 40  # documents; below it, one by one is faster
_LEAF = 128  # documents of a part of the grades that are summed one by one
_LEAF_BY_PIECE = 48
_FEW_GRADES, _MANY_GRADES = 8, 32  # runs up to which cells do, of a part and of a whole query
_FARTHEST = 2.0**50  # boxes; past it a position within a box means nothing
unsigned = numba.uint64  # a loop over unsigned indices vectorises: it needs no test for negative ones


@dataclass(frozen=True)
class Tail:
    """What a function is far out on one side: q0 + q1 x + q2 x² + c e^(-rate x), x = abs(d)."""

    q0: float = 0.0
    q1: float = 0.0
    q2: float = 0.0
    c: float = 0.0
    rate: float = 1.0

    def __call__(self, x: Floats) -> Floats:
        """Return the tail at distances x ≥ 0."""
        return self.q0 + x * (self.q1 + x * self.q2) + self.c * np.exp(-self.rate * x)


@dataclass(frozen=True)
class Kernel:
    """A smooth function of the difference, with its tails to the left and to the right."""

    function: Callable[[Floats], Floats]
    left: Tail
    right: Tail
    even: bool = False


@dataclass(frozen=True, eq=False)
class Tables:
    """What `accumulate` needs of its functions.

    Attributes
    ----------
    width : float
        Of a box, in score units.
    reach : int
        Pairs of boxes further apart than this take the tails.
    box : ndarray of shape (n_functions, 2, P · (2 reach + 1) · P)
        Moments to coefficients; [f, 0] where the source has the lower grade, [f, 1] where it has the higher.
        In the last axis: moment of the source, distance of the boxes (target - source), power of the target.
    tail : ndarray of shape (n_functions, 2, 5)
        [f, 0] left and [f, 1] right: q0, q1, q2, c, rate, in units of half a box.
    power : ndarray of shape (n_functions, 2, 2, P)
        Polynomials of e^(-rate y), [f, side, 0], and e^(rate y), [f, side, 1].
    piece : ndarray of shape (n_functions, 2 · reach · 16, 8)
        Polynomials of the function within a 16th of a width, from -reach widths on; position in [-1, 1].
    even : ndarray of bool, shape (n_functions,)
    """

    width: float
    reach: int
    box: Floats
    tail: Floats
    power: Floats
    piece: Floats
    even: NDArray[np.bool_]


def tables(kernels: tuple[Kernel, ...], width: float, reach: int) -> Tables:
    """Sample functions into `Tables`."""
    half = width / 2.0
    box = np.empty((len(kernels), 2, P, 2 * reach + 1, P))
    tail = np.empty((len(kernels), 2, 5))
    power = np.empty((len(kernels), 2, 2, P))
    middle = half / _PIECES * np.arange(1.0 - 2 * reach * _PIECES, 2 * reach * _PIECES, 2.0)
    piece = np.empty((len(kernels), len(middle), _TERMS))
    distance = np.arange(-reach, reach + 1)
    sign = (-1.0) ** np.arange(P)
    for k, kernel in enumerate(kernels):
        box[k, 0] = _box_to_box(kernel.function, half, distance).transpose(1, 0, 2)
        # κ(F_s - F_t): mirror the axis of scores, which turns distance and odd powers around.
        box[k, 1] = box[k, 0, :, ::-1, :] * sign[:, None, None] * sign[None, None, :]
        for side, t in enumerate((kernel.left, kernel.right)):
            tail[k, side] = t.q0, t.q1 * half, t.q2 * half * half, t.c, t.rate * half
            for n, rate in enumerate((-t.rate, t.rate)):
                power[k, side, n] = _to_powers() @ np.exp(rate * half * _nodes())
        d = middle[:, None] + half / _PIECES * _nodes()
        piece[k] = np.asarray(kernel.function(d.ravel()), np.float64).reshape(d.shape) @ _to_powers(_TERMS).T
    even = np.array([kernel.even for kernel in kernels])
    for array in (box, tail, power, piece, even):
        array.setflags(write=False)
    return Tables(width, reach, box.reshape(len(kernels), 2, -1), tail, power, piece, even)


def _nodes() -> Floats:
    nodes: Floats = np.cos((2.0 * np.arange(_SAMPLES) + 1.0) * np.pi / (2.0 * _SAMPLES))
    return nodes


def _to_powers(terms: int = P) -> Floats:
    """Return the matrix from values at the nodes to coefficients of powers, by the truncated Chebyshev series."""
    to_chebyshev = (2.0 / _SAMPLES) * chebyshev.chebvander(_nodes(), terms - 1).T
    to_chebyshev[0] /= 2.0
    powers_of = np.zeros((terms, terms))
    for u in range(terms):
        powers_of[: u + 1, u] = chebyshev.cheb2poly([0.0] * u + [1.0])
    matrix: Floats = powers_of @ to_chebyshev
    return matrix


def _box_to_box(function: Callable[[Floats], Floats], half: float, distance: NDArray[np.int64]) -> Floats:
    """Return the matrices [distance, moment of the source, power of the target] of a function of target - source."""
    y = _nodes()
    d = (2.0 * distance[:, None, None] + y[None, None, :] - y[None, :, None]) * half
    sampled = np.asarray(function(d.ravel()), dtype=np.float64).reshape(d.shape)
    matrix = _to_powers()
    result: Floats = matrix @ sampled @ matrix.T
    return result


@compiled(fastmath={"contract", "reassoc"}, error_model="numpy")
def _pair_by_pair(
    f: Any, s: Any, start: Any, base: int, u0: int, u1: int, level: Any, what: int, kind: int,
    e: Any, c: Any, p: Any, r: Any, a: Any, b: Any,
) -> None:  # fmt: skip
    """Add all pairs of the runs u0..u1, one by one; f in units of the function, s the weights; e, c, p, r are scratch.

    With e = exp(F): σ(F_j - F_i) = e_j / (e_i + e_j), γ = e_i e_j / (e_i + e_j)². Two documents i at a time share one
    division: 1/x = y/(xy).
    """
    first, last = unsigned(start[u0] - base), unsigned(start[u1] - base)
    low = high = f[first]
    for i in range(first, last):
        low = min(low, f[i])
        high = max(high, f[i])
    near = high - low <= _SAFE_RANGE
    if near:
        middle = low + (high - low) / 2.0
        for i in range(first, last):
            e[i] = exponential(f[i] - middle)
    for i in range(first, last):
        p[i] = 0.0
        r[i] = 0.0
    two = unsigned(2)
    for v in range(u0 + 1, u1):
        v_first, v_last = unsigned(start[v] - base), unsigned(start[v + 1] - base)
        for u in range(u0, v):
            w = level[v] - level[u] if what == GAINS else 1.0
            for j in range(unsigned(start[u] - base), unsigned(start[u + 1] - base)):
                c[j] = w * s[j]
        if near and kind <= RANKNET:
            for j in range(first, v_first):
                c[j] *= e[j]
        i = v_first
        if near and kind == NDCG:
            while i < v_last:
                k = i + unsigned(1) if i + unsigned(1) < v_last else i
                e_i, e_k = e[i], e[k]
                w_i, w_k = e_i * s[i], (e_k * s[k] if k > i else 0.0)
                sum_i = sum_k = 0.0
                for j in range(first, v_first):
                    x, y = e_i + e[j], e_k + e[j]
                    q = 1.0 / (x * y)
                    x, y = q * y, q * x
                    x, y = c[j] * x * x, c[j] * y * y
                    sum_i += x
                    sum_k += y
                    p[j] += w_i * x + w_k * y
                a[i] -= e_i * sum_i
                b[i] += e_i * sum_i
                if k > i:
                    a[k] -= e_k * sum_k
                    b[k] += e_k * sum_k
                i += two
        elif near and kind == RANKNET:
            while i < v_last:
                k = i + unsigned(1) if i + unsigned(1) < v_last else i
                e_i, e_k = e[i], e[k]
                s_i, s_k = s[i], (s[k] if k > i else 0.0)
                w_i, w_k = e_i * s_i, e_k * s_k
                sum_i = sum_k = curve_i = curve_k = 0.0
                for j in range(first, v_first):
                    x, y = e_i + e[j], e_k + e[j]
                    q = 1.0 / (x * y)
                    x, y = q * y, q * x
                    x1, y1 = c[j] * x, c[j] * y
                    x2, y2 = x1 * x, y1 * y
                    sum_i += x1
                    sum_k += y1
                    curve_i += x2
                    curve_k += y2
                    p[j] += s_i * x1 + s_k * y1
                    r[j] += w_i * x2 + w_k * y2
                a[i] -= sum_i
                b[i] += e_i * curve_i
                if k > i:
                    a[k] -= sum_k
                    b[k] += e_k * curve_k
                i += two
        else:
            for i in range(v_first, v_last):
                sum_i = curve_i = 0.0
                if kind in (NDCG, RANKNET):
                    for j in range(first, v_first):
                        d = f[i] - f[j]
                        t = exponential(-min(abs(d), EXP_MAX)) if abs(d) <= EXP_MAX else 0.0
                        x = 1.0 / (1.0 + t)
                        w = c[j] * (x if d < 0.0 else t * x)
                        y = c[j] * t * x * x
                        w = y if kind == NDCG else w
                        sum_i += w
                        curve_i += y
                        p[j] += s[i] * w
                        r[j] += s[i] * y
                    a[i] -= sum_i
                    b[i] += curve_i
                elif kind == NDCG_VALUE:
                    for j in range(first, v_first):
                        d = f[i] - f[j]
                        t = exponential(-min(abs(d), EXP_MAX)) if abs(d) <= EXP_MAX else 0.0
                        sum_i += c[j] * ((1.0 if d < 0.0 else t) / (1.0 + t))
                    a[i] += sum_i
                else:
                    for j in range(first, v_first):
                        d = f[i] - f[j]
                        sum_i += c[j] * (max(0.0, -d) + math.log1p(math.exp(-abs(d))))
                    a[i] += sum_i
    shared = near and kind == NDCG
    for i in range(first, last):
        a[i] += p[i] / s[i]
        b[i] += (p[i] if shared else r[i]) / s[i]


@compiled(fastmath={"contract", "reassoc"}, error_model="numpy")
def _pair_by_piece(
    f: Any, s: Any, start: Any, base: int, u0: int, u1: int, level: Any, what: int, weights: Any, t0: int,
    width: float, piece: Any, tail: Any, lower: Any, higher: Any, c: Any, p: Any, a: Any, b: Any,
) -> None:  # fmt: skip
    """Add all pairs of the runs u0..u1, one by one, of functions known by their tables; c and p are scratch."""
    first, last = unsigned(start[u0] - base), unsigned(start[u1] - base)
    n_pieces = piece.shape[1]
    inverse, zero = _PIECES / width, 0.5 * n_pieces
    for k in range(piece.shape[0]):
        terms = piece[k]
        for i in range(first, last):
            p[i] = 0.0
        for v in range(u0 + 1, u1):
            v_first, v_last = unsigned(start[v] - base), unsigned(start[v + 1] - base)
            for u in range(u0, v):
                w = 1.0
                if what == GAINS:
                    w = level[v] - level[u]
                elif what == TABLE:
                    w = weights[t0 + (v - u0) * (v - u0 - 1) // 2 + u - u0]
                for j in range(unsigned(start[u] - base), unsigned(start[u + 1] - base)):
                    c[j] = w * s[j]
            for i in range(v_first, v_last):
                total = 0.0
                for j in range(first, v_first):
                    x = (f[i] - f[j]) * inverse + zero
                    if 0.0 <= x < n_pieces:
                        at = int(x)
                        y = 2.0 * (x - at) - 1.0
                        y2 = y * y
                        t = terms[unsigned(at)]
                        z = (t[0] + t[1] * y) + (t[2] + t[3] * y) * y2
                        z += ((t[4] + t[5] * y) + (t[6] + t[7] * y) * y2) * (y2 * y2)
                    else:
                        z = _far(2.0 * (f[i] - f[j]) / width, tail[k])
                    z *= c[j]
                    total += z
                    p[j] += s[i] * z
                a[i] += lower[k, 0] * total
                if lower.shape[1] > 1:
                    b[i] += lower[k, 1] * total
        for i in range(first, last):
            a[i] += higher[k, 0] * p[i] / s[i]
            if lower.shape[1] > 1:
                b[i] += higher[k, 1] * p[i] / s[i]


@compiled()
def _far(d: float, tail: Any) -> float:
    """Return a function's tail at d, in units of half a box."""
    q0, q1, q2, c, rate = tail[1 if d > 0.0 else 0]
    x = abs(d)
    z: float = q0 + x * (q1 + x * q2)
    return z + c * exponential(-rate * x) if c != 0.0 and rate * x <= EXP_MAX else z


@compiled()
def _into_boxes(f: Any, first: int, last: int, inverse: float, y: Any, box: Any, ids: Any, work: Any) -> int:
    """Write position and occupied box of each document, and the occupied boxes' places; return their number."""
    low = high = f[first]
    for i in range(first, last):
        low = min(low, f[i])
        high = max(high, f[i])
    n_boxes = math.floor((high - low) * inverse) + 1.0
    # Boxes stand symmetrically about the scores.
    origin = low - 0.5 * (n_boxes / inverse - (high - low))
    n = last - first
    highest = int(n_boxes) - 1
    for i in range(first, last):
        x = (f[i] - origin) * inverse
        at = min(max(int(x), 0), highest)
        y[i] = 2.0 * (x - at) - 1.0
        box[i] = at
    if n_boxes <= 2.0 * n:
        m = int(n_boxes)
        for k in range(m):
            work[k] = 0
        for i in range(first, last):
            work[box[i]] = 1
        count = 0
        for k in range(m):
            if work[k]:
                ids[count] = k
                work[k] = count
                count += 1
        for i in range(first, last):
            box[i] = work[box[i]]
        return count
    for k in range(n):
        work[k] = box[first + k]
    work[:n].sort()
    count = 0
    for k in range(n):
        if count == 0 or ids[count - 1] != work[k]:
            ids[count] = work[k]
            count += 1
    for i in range(first, last):
        box[i] = np.searchsorted(ids[:count], box[i])
    return count


@compiled(fastmath={"contract"})
def _moments(y: Any, box: Any, s: Any, level: Any, levelled: bool, first: int, last: int, n_boxes: int, m: Any) -> None:
    """Write the moments Σ s y^u of each box, over the documents first..last; times their level, where said."""
    for k in range(unsigned(n_boxes * P)):
        m[k] = 0.0
    for i in range(unsigned(first), unsigned(last)):
        k = unsigned(box[i]) * unsigned(P)
        x = y[i]
        x2 = x * x
        x4 = x2 * x2
        x8 = x4 * x4
        p0 = s[i] * level[i] if levelled else s[i]
        p1, p2, p3 = p0 * x, p0 * x2, p0 * x * x2
        m[k] += p0
        m[k + unsigned(1)] += p1
        m[k + unsigned(2)] += p2
        m[k + unsigned(3)] += p3
        m[k + unsigned(4)] += p0 * x4
        m[k + unsigned(5)] += p1 * x4
        m[k + unsigned(6)] += p2 * x4
        m[k + unsigned(7)] += p3 * x4
        m[k + unsigned(8)] += p0 * x8
        m[k + unsigned(9)] += p1 * x8
        m[k + unsigned(10)] += p2 * x8
        m[k + unsigned(11)] += p3 * x8


@compiled(fastmath={"contract"})
def _fields(m: Any, ids: Any, n: int, table: Any, reach: int, left: Any, right: Any, power: Any, mirrored: bool,
            out: Any) -> None:  # fmt: skip
    """Write the polynomial of each box: the sum over all boxes with moments m. `mirrored`: κ(source - target)."""
    for k in range(unsigned(n * P)):
        out[k] = 0.0
    across = unsigned((2 * reach + 1) * P)
    begin = 0
    for b in range(n):
        while ids[begin] < ids[b] - reach:
            begin += 1
        if m[b * P] == 0.0:
            continue
        t = begin
        while t < n and ids[t] <= ids[b] + reach:
            end = t + 1
            while end < n and ids[end] == ids[end - 1] + 1 and ids[end] <= ids[b] + reach:
                end += 1
            o = unsigned(t * P)
            at = unsigned((ids[t] - ids[b] + reach) * P)
            length = unsigned((end - t) * P)
            for v in range(0, P, 4):
                k = b * P + v
                m0, m1, m2, m3 = m[k], m[k + 1], m[k + 2], m[k + 3]
                t0 = at + unsigned(v) * across
                t1 = t0 + across
                t2 = t1 + across
                t3 = t2 + across
                for u in range(length):
                    out[o + u] += (m0 * table[t0 + u] + m1 * table[t1 + u]) + (m2 * table[t2 + u] + m3 * table[t3 + u])
            t = end
    if ids[n - 1] - ids[0] > reach:
        # Sources to the left of the target: κ is right of 0, unless mirrored.
        _tail(m, ids, n, reach, 1, left if mirrored else right, power[0] if mirrored else power[1], out)
        _tail(m, ids, n, reach, -1, right if mirrored else left, power[1] if mirrored else power[0], out)


@compiled(fastmath={"contract"})
def _tail(m: Any, ids: Any, n: int, reach: int, step: int, tail: Any, power: Any, out: Any) -> None:
    """Add to each box the tail's sum over all boxes more than `reach` before it, going up (step 1) or down (-1)."""
    q0, q1, q2, c, rate = tail[0], tail[1], tail[2], tail[3], tail[4]
    if q0 == 0.0 and q1 == 0.0 and q2 == 0.0 and c == 0.0:
        return
    falling = 0 if step > 0 else 1  # e^(-rate · step · y)
    rising = 1 - falling
    n0 = n1 = n2 = e = 0.0  # Σ s z^k and Σ s e^(rate z), z = step · (position of the source) from the target's box
    source = 0 if step > 0 else n - 1
    t = source
    here = ids[t]
    for _ in range(n):
        gap = 2.0 * abs(ids[t] - here)
        here = ids[t]
        n2 += gap * (gap * n0 - 2.0 * n1)
        n1 -= gap * n0
        e *= math.exp(-rate * gap)
        while step * (here - ids[source]) > reach:
            k = source * P
            if m[k] != 0.0:
                far = 2.0 * abs(here - ids[source])
                m1, m2 = step * m[k + 1], m[k + 2]
                n2 += m2 + far * (far * m[k] - 2.0 * m1)
                n1 += m1 - far * m[k]
                n0 += m[k]
                if c != 0.0:
                    x = 0.0
                    for u in range(P):
                        x += m[k + u] * power[rising, u]
                    e += x * math.exp(-rate * far)
            source += step
        k = t * P
        out[k] += q0 * n0 - q1 * n1 + q2 * n2
        out[k + 1] += step * (q1 * n0 - 2.0 * q2 * n1)
        out[k + 2] += q2 * n0
        if c != 0.0:
            for u in range(P):
                out[k + u] += c * e * power[falling, u]
        t += step


@compiled(fastmath={"contract"})
def _evaluate(y: Any, box: Any, first: int, last: int, field: Any, out: Any) -> None:
    """Add to each document its box's polynomial at its position."""
    for i in range(unsigned(first), unsigned(last)):
        k = unsigned(box[i]) * unsigned(P)
        x = y[i]
        x2 = x * x
        p = field[k + unsigned(10)]
        q = field[k + unsigned(11)]
        p = p * x2 + field[k + unsigned(8)]
        q = q * x2 + field[k + unsigned(9)]
        p = p * x2 + field[k + unsigned(6)]
        q = q * x2 + field[k + unsigned(7)]
        p = p * x2 + field[k + unsigned(4)]
        q = q * x2 + field[k + unsigned(5)]
        p = p * x2 + field[k + unsigned(2)]
        q = q * x2 + field[k + unsigned(3)]
        p = p * x2 + field[k]
        q = q * x2 + field[k + unsigned(1)]
        out[i] += p + x * q


@compiled(fastmath={"contract"})
def _cells(
    y: Any, box: Any, ids: Any, n_boxes: int, s: Any, start: Any, base: int, u0: int, u1: int, level: Any, what: int,
    weights: Any, t0: int, table: Any, reach: int, tail: Any, power: Any, even: Any, lower: Any, higher: Any,
    m: Any, field: Any, mirror: Any, a: Any, b: Any,
) -> None:  # fmt: skip
    """Add all pairs of the runs u0..u1, cell by cell."""
    n_grades = u1 - u0
    size = unsigned(n_boxes * P)
    n_outputs = lower.shape[1]
    total = np.zeros((n_outputs, n_grades, n_boxes * P))
    for source in range(n_grades):
        first, last = start[u0 + source] - base, start[u0 + source + 1] - base
        _moments(y, box, s, s, False, first, last, n_boxes, m)
        for k in range(table.shape[0]):
            _fields(m, ids, n_boxes, table[k, 0], reach, tail[k, 0], tail[k, 1], power[k], False, field)
            above = field
            if not even[k] and higher[k].any():
                above = mirror
                _fields(m, ids, n_boxes, table[k, 1], reach, tail[k, 0], tail[k, 1], power[k], True, mirror)
            for target in range(n_grades):
                if target == source:
                    continue
                high, low = max(source, target), min(source, target)
                c = 1.0
                if what == GAINS:
                    c = level[u0 + high] - level[u0 + low]
                elif what == TABLE:
                    c = weights[t0 + high * (high - 1) // 2 + low]
                for o in range(n_outputs):
                    to = total[o, target]
                    if source < target:
                        w = c * lower[k, o]
                        if w != 0.0:
                            for u in range(size):
                                to[u] += w * field[u]
                    else:
                        w = c * higher[k, o]
                        if w != 0.0:
                            for u in range(size):
                                to[u] += w * above[u]
    for target in range(n_grades):
        first, last = start[u0 + target] - base, start[u0 + target + 1] - base
        _evaluate(y, box, first, last, total[0, target], a)
        if n_outputs > 1:
            _evaluate(y, box, first, last, total[1, target], b)


@compiled()
def _halves(
    f: Any, y: Any, box: Any, ids: Any, work: Any, s: Any, start: Any, base: int, u0: int, u1: int, level: Any,
    what: int, weights: Any, kind: int, width: float, table: Any, reach: int, tail: Any, power: Any, piece: Any,
    even: Any, lower: Any, higher: Any, e: Any, c: Any, a: Any, b: Any, m: Any, field: Any, mirror: Any,
) -> None:  # fmt: skip
    """Add all pairs of the runs u0..u1: upper half against lower half of the grades, and each half likewise."""
    n_outputs = lower.shape[1]
    n = start[u1] - base
    gap = np.empty(n)
    part = np.empty(n)
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = u0, u1
    depth = 1
    while depth:
        depth -= 1
        v0, v1 = stack[depth, 0], stack[depth, 1]
        first, last = start[v0] - base, start[v1] - base
        if kind >= 0 and last - first <= _LEAF:
            _pair_by_pair(f, s, start, base, v0, v1, level, what, kind, e, c, y, part, a, b)
            continue
        if kind < 0 and last - first <= _LEAF_BY_PIECE:
            _pair_by_piece(
                f, s, start, base, v0, v1, level, what, weights, 0, width, piece, tail, lower, higher, c, part, a, b
            )
            continue
        n_boxes = _into_boxes(f, first, last, 1.0 / width, y, box, ids, work)
        by_boxes = 70.0 * n_boxes * min(n_boxes, 2.0 * reach + 1.0)
        near = (ids[n_boxes - 1] - ids[0]) * width <= _SAFE_RANGE
        if kind == NDCG and near and 0.25 * float(last - first) ** 2 < by_boxes:
            _pair_by_pair(f, s, start, base, v0, v1, level, what, kind, e, c, y, part, a, b)
            continue
        if v1 - v0 <= _FEW_GRADES:
            _cells(
                y, box, ids, n_boxes, s, start, base, v0, v1, level, what, weights, 0,
                table, reach, tail, power, even, lower, higher, m, field, mirror, a, b,
            )  # fmt: skip
            continue
        middle = v0 + 1
        while middle < v1 - 1 and start[middle] - base - first < (last - first) // 2:
            middle += 1
        cut = start[middle] - base
        # A gap of gains, G_i - G_j = (G_i - G) + (G - G_j) with G between: both are positive, nothing cancels.
        if what == GAINS:
            for v in range(v0, v1):
                for i in range(start[v] - base, start[v + 1] - base):
                    gap[i] = abs(level[v] - level[middle])
        for side in range(2):
            source, source_end = (first, cut) if side == 0 else (cut, last)
            target, target_end = (cut, last) if side == 0 else (first, cut)
            share = lower if side == 0 else higher
            for levelled in range(2 if what == GAINS else 1):
                _moments(y, box, s, gap, levelled == 1, source, source_end, n_boxes, m)
                for k in range(table.shape[0]):
                    if not share[k].any():
                        continue
                    _fields(m, ids, n_boxes, table[k, side], reach, tail[k, 0], tail[k, 1], power[k], side == 1, field)
                    for i in range(target, target_end):
                        part[i] = 0.0
                    _evaluate(y, box, target, target_end, field, part)
                    if what == GAINS and levelled == 0:
                        for i in range(target, target_end):
                            part[i] *= gap[i]
                    for i in range(target, target_end):
                        a[i] += share[k, 0] * part[i]
                    if n_outputs > 1:
                        for i in range(target, target_end):
                            b[i] += share[k, 1] * part[i]
        stack[depth, 0], stack[depth, 1] = v0, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, v1
        depth += 2


@compiled()
def accumulate(
    first: int,
    last: int,
    scores: Any,
    multiplier: float,
    rows: Any,
    s: Any,
    start: Any,
    query_run: Any,
    skipped: Any,
    level: Any,
    what: int,
    weights: Any,
    weights_start: Any,
    n_pairs: Any,
    kind: int,
    width: float,
    table: Any,
    reach: int,
    tail: Any,
    power: Any,
    piece: Any,
    even: Any,
    lower: Any,
    higher: Any,
    factor: Any,
    out: Any,
) -> None:
    """Write the outputs of the rows of the queries ``first <= q < last``.

    Parameters
    ----------
    skipped : ndarray of bool
        Queries to leave alone; empty for none.
    multiplier : float
        Of scores, before any function sees them.
    level : ndarray of shape (n_runs,)
        Gain of each run, for ``what=GAINS``.
    weights, weights_start : ndarray
        For ``what=TABLE``: from weights_start[q] on, the weight of grade v with each lower grade, v ascending.
    n_pairs : ndarray
        Of each query.
    kind : int
        The functions' name, for queries summed pair by pair; `GENERAL` where the kernel knows them by tables alone:
        the caller then sees to it that no score range passes 2^50 boxes, or `reach` where there are no tails.
    width, table, reach, tail, power, piece, even
        See `Tables`.
    lower, higher : ndarray of shape (n_functions, n_outputs)
        What each function counts in each output, where the other document has the lower and the higher grade.
    factor : ndarray
        What each query's outputs are multiplied with.
    out : ndarray of shape (n_outputs, n_rows)
    """
    size = 0
    for q in range(first, last):
        size = max(size, start[query_run[q + 1]] - start[query_run[q]])
    n_outputs = out.shape[0]
    f, y, v, e, c = np.empty(size), np.empty(size), np.ones(size), np.empty(size), np.empty(size)
    r, a, b = np.empty(size), np.empty(size), np.empty(size)
    box, ids = np.empty(size, np.int64), np.empty(size, np.int64)
    work = np.empty(2 * size + 1, np.int64)
    m, field, mirror = np.empty(0), np.empty(0), np.empty(0)
    weighted = s.shape[0] > 0
    for q in range(first, last):
        if skipped.shape[0] and skipped[q]:
            continue
        u0, u1 = query_run[q], query_run[q + 1]
        base = unsigned(start[u0])
        n = unsigned(start[u1]) - base
        low, high = np.inf, -np.inf
        for i in range(n):
            x = multiplier * scores[rows[base + i]]
            f[i] = x
            a[i] = 0.0
            b[i] = 0.0
            low = min(low, x)
            high = max(high, x)
        if weighted:
            for i in range(n):
                v[i] = s[base + i]
        boxes = 1.0 + (high - low) / width
        n_grades = u1 - u0
        in_cells = n_grades * min(boxes, 1.0 * n) <= 4.0 * n + 4096.0 or what == TABLE
        by_pair = 0.5 if high - low <= _SAFE_RANGE else 2.5
        if kind == GENERAL:
            by_pair = 3.0 * table.shape[0]
        elif kind == NDCG_VALUE:
            by_pair = 2.0
        elif kind == RANKNET_VALUE:
            by_pair = 12.0
        cells = min(boxes * n_grades, 1.0 * n)
        by_boxes = 300.0 + 18.0 * n + 25.0 * table.shape[0] * cells * min(boxes, 2.0 * reach + 1.0)
        by_boxes += 4.0 * n_grades * n_grades * min(boxes, 1.0 * n)
        if not in_cells or n_grades > _MANY_GRADES:
            by_boxes = n * (60.0 * math.log2(max(1.0, n / _LEAF)) + 60.0) * table.shape[0]
        one_by_one = n < _SHORT or by_pair * n_pairs[q] < by_boxes or not boxes < _FARTHEST
        if one_by_one and kind == GENERAL:
            _pair_by_piece(
                f, v, start, start[u0], u0, u1, level, what, weights, weights_start[q],
                width, piece, tail, lower, higher, c, y, a, b,
            )  # fmt: skip
        elif one_by_one:
            _pair_by_pair(f, v, start, start[u0], u0, u1, level, what, kind, e, c, y, r, a, b)
        else:
            if m.shape[0] == 0:
                m, field, mirror = np.empty(P * size), np.empty(P * size), np.empty(P * size)
            if what == TABLE or (in_cells and n_grades <= _MANY_GRADES):
                n_boxes = _into_boxes(f, 0, int(n), 1.0 / width, y, box, ids, work)
                _cells(
                    y, box, ids, n_boxes, v, start, start[u0], u0, u1, level, what, weights, weights_start[q],
                    table, reach, tail, power, even, lower, higher, m, field, mirror, a, b,
                )  # fmt: skip
            else:
                _halves(
                    f, y, box, ids, work, v, start, start[u0], u0, u1, level, what, weights, kind, width,
                    table, reach, tail, power, piece, even, lower, higher, e, c, a, b, m, field, mirror,
                )  # fmt: skip
        for i in range(n):
            w = factor[q] * v[i]
            out[0, rows[base + i]] = w * a[i]
        if n_outputs > 1:
            for i in range(n):
                out[1, rows[base + i]] = factor[q] * v[i] * b[i]


@compiled()
def gap_sums(query_run: Any, level: Any, mass: Any, out: Any) -> None:
    """Write, for each run, the sum over the query's runs of their mass times the gap of levels, which ascend."""
    for q in range(query_run.shape[0] - 1):
        for step in (1, -1):
            u = query_run[q] if step > 0 else query_run[q + 1] - 1
            passed = total = 0.0
            before = level[u]
            for _ in range(query_run[q + 1] - query_run[q]):
                total += passed * abs(level[u] - before)
                before = level[u]
                passed += mass[u]
                out[u] = total if step > 0 else out[u] + total
                u += step
