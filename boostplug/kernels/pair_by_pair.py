"""Sums of smooth functions over the pairs of some runs, one at a time: for short lists and small parts of long ones.

Two ways, neither with a call per pair: functions that are known by name (`Functions.kind`) take one exponential per
document; any other is read from the pieces of its tables.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.checks import frozen
from boostplug.kernels.arithmetic import EXP_MAX, exponential
from boostplug.kernels.compiling import inner
from boostplug.kernels.tables import NDCG, NDCG_VALUE, PIECES, RANKNET, Functions

# compiled in: arithmetic.py 65d2c856e0ab
# compiled in: tables.py 21012e798eb9

__all__ = [
    "GAINS",
    "ONES",
    "SAFE_RANGE",
    "TABLE",
    "Documents",
    "PairWeights",
    "Scratch",
    "add_by_pair",
    "add_by_piece",
    "counts",
    "weight_of_grades",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ONES, GAINS, TABLE = 0, 1, 2  # weight of a pair of grades: 1, the gap of their gains, an entry of a table
SAFE_RANGE = 600.0  # of scores: e^300 squared twice is finite
unsigned = numba.uint64  # a loop over unsigned indices vectorises: it needs no test for negative ones


class PairWeights(NamedTuple):
    """What a pair weighs: by its grades, times the winner's weight of the higher document and the loser's of the lower.

    Attributes
    ----------
    what : int
        How grades weigh: `ONES`, `GAINS` or `TABLE`.
    level : ndarray of shape (n_runs,)
        For `GAINS`: the gain of each run, ascending within a query.
    table, table_start : ndarray
        For `TABLE`: from table_start[q] on, the weight of grade v with each lower grade, v ascending.
    winner, loser : ndarray of shape (n_paired,), or (0,)
        Positive weights of each document of `Runs.rows`: pair (i, j), i higher, weighs winner[i] · loser[j]. Without
        them both are the square root of the row weight.
    """

    what: int = ONES
    level: Floats = frozen(np.zeros(0))
    table: Floats = frozen(np.zeros(0))
    table_start: NDArray[np.int64] = frozen(np.zeros(0, np.int64))
    winner: Floats = frozen(np.zeros(0))
    loser: Floats = frozen(np.zeros(0))


class Documents(NamedTuple):
    """The documents of one query: entry i stands at ``base + i`` in `Runs.rows`, its runs begin at `run_start`.

    Sums are collected in units of the winner's weight, as if each document were the higher one of all its pairs:
    `first` and `second` are still to be multiplied with it.
    """

    base: int
    run_start: Ints
    f: Floats  # scores, in units of the function
    winner: Floats
    loser: Floats  # the array `winner` itself where nobody told them apart
    apart: bool
    first: Floats  # outputs
    second: Floats


class Scratch(NamedTuple):
    """Space for what the sums of one query keep of each document."""

    e: Floats  # e^F
    c: Floats  # weight as the lower document of the pairs at hand
    p: Floats  # sums over the higher documents, in units of nothing
    r: Floats


@numba.njit(inline="always")
def weight_of_grades(what: int, level: Any, table: Any, t0: int, u0: int, v: int, u: int) -> float:
    """Return what the runs v > u of a query weigh together; u0 is the run and t0 the entry the table begins with.

    The arrays of `PairWeights` come one by one, since a loop that reads fields of a tuple counts references.
    """
    w = 1.0
    if what == GAINS:
        w = level[v] - level[u]
    elif what == TABLE:
        w = table[t0 + (v - u0) * (v - u0 - 1) // 2 + u - u0]
    return w


@numba.njit(inline="always")
def counts(share: Any, k: int) -> bool:
    """Whether function k counts in an output, of which there are one or two."""
    used: bool = share[k, 0] != 0.0 or share[k, share.shape[1] - 1] != 0.0
    return used


@inner(fastmath={"contract", "reassoc"}, error_model="numpy")
def add_by_pair(documents: Documents, u0: int, u1: int, weights: PairWeights, kind: int, scratch: Scratch) -> None:
    """Add all pairs of the runs u0..u1 of functions that have a name, weighed by `ONES` or `GAINS`.

    With e = exp(F): σ(F_j - F_i) = e_j / (e_i + e_j), γ = e_i e_j / (e_i + e_j)². Two documents i at a time share one
    division: 1/x = y/(xy).
    """
    start, base = documents.run_start, documents.base
    what, level, table = weights.what, weights.level, weights.table
    f, winner, loser, a, b = documents.f, documents.winner, documents.loser, documents.first, documents.second
    e, c, p, r = scratch.e, scratch.c, scratch.p, scratch.r
    first, last = unsigned(start[u0] - base), unsigned(start[u1] - base)
    low = high = f[first]
    for i in range(first, last):
        low = min(low, f[i])
        high = max(high, f[i])
    near = high - low <= SAFE_RANGE
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
            w = weight_of_grades(what, level, table, 0, u0, v, u)
            for j in range(unsigned(start[u] - base), unsigned(start[u + 1] - base)):
                c[j] = w * loser[j]
        if near and kind <= RANKNET:
            for j in range(first, v_first):
                c[j] *= e[j]
        i = v_first
        if near and kind == NDCG:
            while i < v_last:
                k = i + unsigned(1) if i + unsigned(1) < v_last else i
                e_i, e_k = e[i], e[k]
                w_i, w_k = e_i * winner[i], (e_k * winner[k] if k > i else 0.0)
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
                s_i, s_k = winner[i], (winner[k] if k > i else 0.0)
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
                        p[j] += winner[i] * w
                        r[j] += winner[i] * y
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
        a[i] += p[i] / winner[i]
        b[i] += (p[i] if shared else r[i]) / winner[i]


@inner(fastmath={"contract", "reassoc"}, error_model="numpy")
def add_by_piece(
    documents: Documents, u0: int, u1: int, weights: PairWeights, t0: int, functions: Functions, scratch: Scratch
) -> None:
    """Add all pairs of the runs u0..u1 of functions known by their tables."""
    start, base = documents.run_start, documents.base
    what, level, table = weights.what, weights.level, weights.table
    f, winner, loser, a, b = documents.f, documents.winner, documents.loser, documents.first, documents.second
    c, p = scratch.c, scratch.p
    lower, higher = functions.lower, functions.higher
    width, piece, tail = functions.tables.width, functions.tables.piece, functions.tables.tail
    first, last = unsigned(start[u0] - base), unsigned(start[u1] - base)
    n_pieces = piece.shape[1]
    inverse, zero = PIECES / width, 0.5 * n_pieces
    for k in range(piece.shape[0]):
        terms = piece[k]
        for i in range(first, last):
            p[i] = 0.0
        for v in range(u0 + 1, u1):
            v_first, v_last = unsigned(start[v] - base), unsigned(start[v + 1] - base)
            for u in range(u0, v):
                w = weight_of_grades(what, level, table, t0, u0, v, u)
                for j in range(unsigned(start[u] - base), unsigned(start[u + 1] - base)):
                    c[j] = w * loser[j]
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
                    p[j] += winner[i] * z
                a[i] += lower[k, 0] * total
                if lower.shape[1] > 1:
                    b[i] += lower[k, 1] * total
        for i in range(first, last):
            a[i] += higher[k, 0] * p[i] / winner[i]
            if lower.shape[1] > 1:
                b[i] += higher[k, 1] * p[i] / winner[i]


@inner()
def _far(d: float, tail: Any) -> float:
    """Return a function's tail at d, in units of half a box."""
    q0, q1, q2, c, rate = tail[1 if d > 0.0 else 0]
    x = abs(d)
    z: float = q0 + x * (q1 + x * q2)
    return z + c * exponential(-rate * x) if c != 0.0 and rate * x <= EXP_MAX else z
