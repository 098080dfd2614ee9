"""Sums of smooth functions over pairs, one at a time: for short lists and small parts of long ones.

No way has a call per pair. Functions that are known by name take one exponential per document where the scores are near
each other, and one per pair where they are not; any other function is read from the pieces of its tables. Each way is
a kernel of its own, so that a loss compiles what it needs alone. Parts that boxes would sum faster are left to them.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import EXP_MAX, exponential
from boostplug.kernels.base.compiling import compiled, inner
from boostplug.kernels.pairs.cost_model import SAFE_RANGE
from boostplug.kernels.pairs.pair_task import (
    GAINS,
    TABLE,
    TAKEN,
    Documents,
    Parts,
    Task,
    documents_in,
    gather,
    longest,
    scatter,
    spread_levels,
    unsigned,
)
from boostplug.kernels.pairs.tables import NDCG, NDCG_VALUE, PIECES, RANKNET, Functions

__all__ = ["by_exponentials", "by_pieces", "near_ndcg", "near_ranknet"]

Floats = NDArray[np.float64]

_ROWS = 12  # of space: documents and scratch


class _Scratch(NamedTuple):
    """Space for what the sums of one part keep of each document."""

    e: Floats  # e^F
    q: Floats  # weight as a loser, times e^F
    c: Floats  # the same in the pairs at hand
    p: Floats  # sums over the higher documents
    r: Floats


@numba.njit(inline="always")
def _scratch(x: Any) -> _Scratch:
    return _Scratch(x[7], x[8], x[9], x[10], x[11])


@inner()
def _take(task: Task, parts: Parts, p: int, most: float, documents: Documents, ranges: Any) -> float:
    """Read a part, write the range of its scores if it is left, or `TAKEN`, and return their middle.

    It is left where boxes are faster or the scores range over more than `most`.
    """
    u0, u1 = parts.first[p], parts.last[p]
    low, high = gather(task, u0, u1, documents)
    if task.weights.what == GAINS:
        spread_levels(task, u0, u0, u1, documents)
    extent = high - low
    left = extent <= parts.limit[p] or (most < np.inf and not extent <= most)  # NaN is far
    ranges[p] = extent if left else TAKEN
    middle: float = low + extent / 2.0
    return middle


@inner(fastmath={"contract", "reassoc"}, error_model="numpy")
def _begin(documents: Documents, middle: float, n: int, scratch: _Scratch) -> None:
    f, loser, e, q, c, p, r = documents.f, documents.loser, scratch.e, scratch.q, scratch.c, scratch.p, scratch.r
    for i in range(unsigned(n)):
        e[i] = exponential(f[i] - middle)
        q[i] = c[i] = loser[i] * e[i]
        p[i] = r[i] = 0.0


@inner(fastmath={"contract", "reassoc"}, error_model="numpy")
def _sum_ndcg(task: Task, u0: int, u1: int, middle: float, documents: Documents, scratch: _Scratch) -> None:
    """Add the pairs of γ; with e = exp(F): γ(F_i - F_j) = e_i e_j / (e_i + e_j)².

    Two documents i at a time share one division: 1/x = y/(xy).
    """
    start, by_gain, of_run = task.runs.run_start, task.weights.what == GAINS, task.weights.level
    winner, level, first, second = documents.winner, documents.level, documents.first, documents.second
    e, q, c, p = scratch.e, scratch.q, scratch.c, scratch.p
    base, n = start[u0], start[u1] - start[u0]
    _begin(documents, middle, n, scratch)
    two = unsigned(2)
    for v in range(u0 + 1, u1):
        v_first, v_last = unsigned(start[v] - base), unsigned(start[v + 1] - base)
        if by_gain:
            for j in range(v_first):
                c[j] = (of_run[v] - level[j]) * q[j]
        i = v_first
        while i < v_last:
            k = i + unsigned(1) if i + unsigned(1) < v_last else i
            e_i, e_k = e[i], e[k]
            w_i, w_k = e_i * winner[i], (e_k * winner[k] if k > i else 0.0)
            sum_i = sum_k = 0.0
            for j in range(v_first):
                x, y = e_i + e[j], e_k + e[j]
                z = 1.0 / (x * y)
                x, y = z * y, z * x
                x, y = c[j] * x * x, c[j] * y * y
                sum_i += x
                sum_k += y
                p[j] += w_i * x + w_k * y
            first[k] = w_k * sum_k
            first[i] = w_i * sum_i
            i += two
    for i in range(unsigned(n)):
        x = first[i]
        first[i] = p[i] - x
        second[i] = p[i] + x


@inner(fastmath={"contract", "reassoc"}, error_model="numpy")
def _sum_ranknet(task: Task, u0: int, u1: int, middle: float, documents: Documents, scratch: _Scratch) -> None:
    """Add the pairs of σ(F_j - F_i) = e_j / (e_i + e_j), and of γ as in `_sum_ndcg`."""
    start, by_gain, of_run = task.runs.run_start, task.weights.what == GAINS, task.weights.level
    winner, level, first, second = documents.winner, documents.level, documents.first, documents.second
    e, q, c, p, r = scratch.e, scratch.q, scratch.c, scratch.p, scratch.r
    base, n = start[u0], start[u1] - start[u0]
    _begin(documents, middle, n, scratch)
    two = unsigned(2)
    for v in range(u0 + 1, u1):
        v_first, v_last = unsigned(start[v] - base), unsigned(start[v + 1] - base)
        if by_gain:
            for j in range(v_first):
                c[j] = (of_run[v] - level[j]) * q[j]
        i = v_first
        while i < v_last:
            k = i + unsigned(1) if i + unsigned(1) < v_last else i
            e_i, e_k = e[i], e[k]
            s_i, s_k = winner[i], (winner[k] if k > i else 0.0)
            w_i, w_k = e_i * s_i, e_k * s_k
            sum_i = sum_k = curve_i = curve_k = 0.0
            for j in range(v_first):
                x, y = e_i + e[j], e_k + e[j]
                z = 1.0 / (x * y)
                x, y = z * y, z * x
                x1, y1 = c[j] * x, c[j] * y
                x2, y2 = x1 * x, y1 * y
                sum_i += x1
                sum_k += y1
                curve_i += x2
                curve_k += y2
                p[j] += s_i * x1 + s_k * y1
                r[j] += w_i * x2 + w_k * y2
            first[k], second[k] = s_k * sum_k, w_k * curve_k
            first[i], second[i] = s_i * sum_i, w_i * curve_i
            i += two
    for i in range(unsigned(n)):
        first[i] = p[i] - first[i]
        second[i] += r[i]


@numba.njit(inline="always")
def _log_of_one_and(t: float) -> float:
    """Return log(1 + t) for 0 ≤ t ≤ 1 to 1e-16, in a form that vectorises: 2 artanh(t / (2 + t)) by its series."""
    x = t / (2.0 + t)
    square = x * x
    series = 0.0
    for k in range(16):
        series = series * square + 2.0 / (31.0 - 2.0 * k)
    return x * series


@inner(fastmath={"contract", "reassoc"}, error_model="numpy")
def _sum_named(task: Task, u0: int, u1: int, kind: int, documents: Documents, scratch: _Scratch) -> None:
    """Add the pairs of any function that has a name, at any distance, with an exponential for each."""
    start, by_gain, of_run = task.runs.run_start, task.weights.what == GAINS, task.weights.level
    f, winner, loser, level = documents.f, documents.winner, documents.loser, documents.level
    first, second, c, p, r = documents.first, documents.second, scratch.c, scratch.p, scratch.r
    base = start[u0]
    n = unsigned(start[u1] - base)
    for i in range(n):
        c[i] = loser[i]
        p[i] = r[i] = 0.0
    even, derivatives = kind == NDCG, kind in (NDCG, RANKNET)
    for v in range(u0 + 1, u1):
        v_first = unsigned(start[v] - base)
        if by_gain:
            for j in range(v_first):
                c[j] = (of_run[v] - level[j]) * loser[j]
        for i in range(v_first, unsigned(start[v + 1] - base)):
            s, total, curve = winner[i], 0.0, 0.0
            if derivatives:
                for j in range(v_first):
                    d = f[i] - f[j]
                    t = abs(d)
                    t = exponential(-t) if t <= EXP_MAX else 0.0
                    x = 1.0 / (1.0 + t)
                    y = c[j] * t * x * x
                    x = y if even else c[j] * x * (1.0 if d < 0.0 else t)
                    total += x
                    curve += y
                    p[j] += s * x
                    r[j] += s * y
            else:
                for j in range(v_first):
                    d = f[i] - f[j]
                    t = abs(d)
                    t = exponential(-t) if t <= EXP_MAX else 0.0
                    if kind == NDCG_VALUE:
                        x = (1.0 if d < 0.0 else t) / (1.0 + t)
                    else:
                        x = (0.0 if d > 0.0 else -d) + _log_of_one_and(t)
                    total += c[j] * x
            first[i], second[i] = s * total, s * curve
    if derivatives:
        for i in range(n):
            first[i] = p[i] - first[i]
            second[i] += r[i]


@inner(fastmath={"contract", "reassoc"}, error_model="numpy")
def _sum_pieces(
    task: Task, u0: int, u1: int, t0: int, functions: Functions, documents: Documents, scratch: _Scratch
) -> None:
    """Add the pairs of functions known by their tables."""
    start, what, of_run, table = task.runs.run_start, task.weights.what, task.weights.level, task.weights.table
    f, winner, loser, level = documents.f, documents.winner, documents.loser, documents.level
    first, second, c, p = documents.first, documents.second, scratch.c, scratch.p
    lower, higher = functions.lower, functions.higher
    width, piece, tail = functions.tables.width, functions.tables.piece, functions.tables.tail
    base = start[u0]
    n, n_pieces = unsigned(start[u1] - base), piece.shape[1]
    inverse, zero = PIECES / width, 0.5 * n_pieces
    for k in range(piece.shape[0]):
        terms = piece[k]
        for i in range(n):
            c[i] = loser[i]
            p[i] = 0.0
        for v in range(u0 + 1, u1):
            v_first = unsigned(start[v] - base)
            if what == GAINS:
                for j in range(v_first):
                    c[j] = (of_run[v] - level[j]) * loser[j]
            elif what == TABLE:
                at = t0 + (v - u0) * (v - u0 - 1) // 2 - u0
                for u in range(u0, v):
                    for j in range(unsigned(start[u] - base), unsigned(start[u + 1] - base)):
                        c[j] = table[at + u] * loser[j]
            for i in range(v_first, unsigned(start[v + 1] - base)):
                total = 0.0
                for j in range(v_first):
                    x = (f[i] - f[j]) * inverse + zero
                    if 0.0 <= x < n_pieces:
                        t = terms[unsigned(x)]
                        y = 2.0 * (x - unsigned(x)) - 1.0
                        y2 = y * y
                        z = (t[0] + t[1] * y) + (t[2] + t[3] * y) * y2
                        z += ((t[4] + t[5] * y) + (t[6] + t[7] * y) * y2) * (y2 * y2)
                    else:
                        z = _far(2.0 * (f[i] - f[j]) / width, tail[k])
                    z *= c[j]
                    total += z
                    p[j] += winner[i] * z
                total *= winner[i]
                first[i] += lower[k, 0] * total
                if lower.shape[1] > 1:
                    second[i] += lower[k, 1] * total
        for i in range(n):
            first[i] += higher[k, 0] * p[i]
            if lower.shape[1] > 1:
                second[i] += higher[k, 1] * p[i]


@inner()
def _far(d: float, tail: Any) -> float:
    """Return a function's tail at d, in units of half a box."""
    q0, q1, q2, c, rate = tail[1 if d > 0.0 else 0]
    x = abs(d)
    z: float = q0 + x * (q1 + x * q2)
    return z + c * exponential(-rate * x) if c != 0.0 and rate * x <= EXP_MAX else z


@compiled()
def near_ndcg(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts ``begin <= p < end`` of NDCGBoost's derivatives that go pair by pair and whose scores are near.

    Write the range of the scores of each part that is left, or `TAKEN`, and return the number of those left. So do the
    other kernels here.
    """
    x = np.empty((_ROWS, longest(task.runs, parts, begin, end)))
    documents, scratch, left = documents_in(x, task), _scratch(x), 0
    for p in range(begin, end):
        middle = _take(task, parts, p, SAFE_RANGE, documents, ranges)
        if ranges[p] == TAKEN:
            _sum_ndcg(task, parts.first[p], parts.last[p], middle, documents, scratch)
            scatter(task, parts, p, documents)
        else:
            left += 1
    return left


@compiled()
def near_ranknet(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of RankNet's derivatives that go pair by pair and whose scores are near."""
    x = np.empty((_ROWS, longest(task.runs, parts, begin, end)))
    documents, scratch, left = documents_in(x, task), _scratch(x), 0
    for p in range(begin, end):
        middle = _take(task, parts, p, SAFE_RANGE, documents, ranges)
        if ranges[p] == TAKEN:
            _sum_ranknet(task, parts.first[p], parts.last[p], middle, documents, scratch)
            scatter(task, parts, p, documents)
        else:
            left += 1
    return left


@compiled()
def by_exponentials(begin: int, end: int, task: Task, parts: Parts, kind: int, ranges: Any) -> int:
    """Add the parts that go pair by pair, of a function that has a name."""
    x = np.empty((_ROWS, longest(task.runs, parts, begin, end)))
    documents, scratch, left = documents_in(x, task), _scratch(x), 0
    for p in range(begin, end):
        _take(task, parts, p, np.inf, documents, ranges)
        if ranges[p] == TAKEN:
            _sum_named(task, parts.first[p], parts.last[p], kind, documents, scratch)
            scatter(task, parts, p, documents)
        else:
            left += 1
    return left


@compiled()
def by_pieces(begin: int, end: int, task: Task, parts: Parts, functions: Functions, ranges: Any) -> int:
    """Add the parts that go pair by pair, of functions known by their tables."""
    x = np.empty((_ROWS, longest(task.runs, parts, begin, end)))
    documents, scratch, left = documents_in(x, task), _scratch(x), 0
    for p in range(begin, end):
        _take(task, parts, p, np.inf, documents, ranges)
        if ranges[p] == TAKEN:
            t0 = task.weights.table_start[parts.query[p]] if task.weights.what == TABLE else 0
            _sum_pieces(task, parts.first[p], parts.last[p], t0, functions, documents, scratch)
            scatter(task, parts, p, documents)
        else:
            left += 1
    return left
