"""Sums of smooth functions over pairs, one at a time: for short lists and small parts of long ones.

Functions that kernels know by name take one exponential per document where the scores are near each other, and one per
pair where they are not; any other function is read from the pieces of its tables. Parts that boxes would sum faster are
left to them.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from boostplug.kernels.base.arithmetic import EXP_MAX, exponential, log1p, unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.pairs.cost_model import SAFE_RANGE
from boostplug.kernels.pairs.pair_loop import (
    Documents,
    documents_in,
    exponentiate,
    pair_loop,
    space_for,
    value_loop,
)
from boostplug.kernels.pairs.pair_task import (
    DONE,
    GAINS,
    TABLE,
    Parts,
    Task,
    gather,
    longest,
    scatter,
    spread_levels,
)
from boostplug.kernels.pairs.tables import PIECES, Functions

__all__ = [
    "ndcg_by_pair",
    "ndcg_far_by_pair",
    "ndcg_value_by_pair",
    "ranknet_by_pair",
    "ranknet_far_by_pair",
    "ranknet_value_by_pair",
    "tabulated_by_pair",
]


@numba.njit(inline="always")
def _ranknet_near(w: float, e_i: float, e_k: float, e_j: float, _: float) -> Any:
    """σ(-d) and σ(d)σ(-d), from e^F; w is times e_j. Two pairs share one division: 1/x = y/(xy)."""
    x, y = e_i + e_j, e_k + e_j
    z = 1.0 / (x * y)
    x, y = z * y, z * x
    first_i, first_k = w * x, w * y
    return first_i, first_i * x * e_i, first_k, first_k * y * e_k


@numba.njit(inline="always")
def _ndcg_near(w: float, e_i: float, e_k: float, e_j: float, _: float) -> Any:
    """σ(d)σ(-d), in the same way."""
    x, y = e_i + e_j, e_k + e_j
    z = 1.0 / (x * y)
    x, y = z * y, z * x
    return w * x * x * e_i, w * y * y * e_k


@numba.njit(inline="always")
def _vanishing(x: float) -> Any:
    """Return e^-x of x ≥ 0, and 0 where it is next to nothing."""
    return exponential(-x) if x <= EXP_MAX else 0.0


@numba.njit(inline="always")
def _shares(d: float) -> Any:
    """Return σ(-d) and σ(d)σ(-d)."""
    t = _vanishing(abs(d))
    z = 1.0 / (1.0 + t)
    return z * (1.0 if d < 0.0 else t), t * z * z


@numba.njit(inline="always")
def _ranknet(w: float, f_i: float, f_k: float, f_j: float, _: float) -> Any:
    wrong_i, curvature_i = _shares(f_i - f_j)
    wrong_k, curvature_k = _shares(f_k - f_j)
    return w * wrong_i, w * curvature_i, w * wrong_k, w * curvature_k


@numba.njit(inline="always")
def _ndcg(w: float, f_i: float, f_k: float, f_j: float, _: float) -> Any:
    return w * _shares(f_i - f_j)[1], w * _shares(f_k - f_j)[1]


@numba.njit(inline="always")
def _ranknet_value(w: float, f_i: float, f_j: float, _: float) -> Any:
    d = f_i - f_j
    return w * (log1p(_vanishing(abs(d))) + (0.0 if d > 0.0 else -d))


@numba.njit(inline="always")
def _ndcg_value(w: float, f_i: float, f_j: float, _: float) -> Any:
    return w * _shares(f_i - f_j)[0]


@inlined()
def _gathered(task: Task, parts: Parts, p: int, documents: Documents, ranges: Any) -> tuple[float, float]:
    """Read a part, and return the lowest and the highest score.

    Write the range of its scores if boxes are to sum it, else `DONE`.
    """
    u0, u1 = parts.first[p], parts.last[p]
    low, high = gather(task, u0, u1, documents)
    if task.weights.what == GAINS:
        spread_levels(task, u0, u0, u1, documents)
    ranges[p] = high - low if high - low <= parts.limit[p] else DONE
    return low, high


def _derivatives_of_part(terms: Callable[..., Any], *, near: bool, even: bool = False) -> Any:
    """Return a function that adds the derivatives of one part; it returns 1 if the part is left, else 0.

    It leaves a part to boxes, and with `near` one whose scores range too far.
    """
    loop = pair_loop(terms, even=even)

    @inlined()
    def add(task: Task, parts: Parts, p: int, ranges: Any, space: Any) -> int:
        documents = documents_in(space, task.runs.apart)
        start, u0, u1, by_gap = task.runs.run_start, parts.first[p], parts.last[p], task.weights.what == GAINS
        low, high = _gathered(task, parts, p, documents, ranges)
        if near and not high - low <= SAFE_RANGE:
            ranges[p] = high - low
        if ranges[p] != DONE:
            return 1
        if near:
            exponentiate(documents, start[u1] - start[u0], low + 0.5 * (high - low))
            loop(documents.e, documents.loser_e, documents, start, u0, u1, start[u0], by_gap, 0.0)
        else:
            loop(documents.f, documents.loser, documents, start, u0, u1, start[u0], by_gap, 0.0)
        scatter(task, parts, p, documents)
        return 0

    return add


def _values_of_part(terms: Callable[..., Any]) -> Any:
    """Return a function that adds the values of one part; it returns 1 if the part is left to boxes, else 0."""
    loop = value_loop(terms)

    @inlined()
    def add(task: Task, parts: Parts, p: int, ranges: Any, space: Any) -> int:
        documents = documents_in(space, task.runs.apart)
        start, u0, u1 = task.runs.run_start, parts.first[p], parts.last[p]
        _gathered(task, parts, p, documents, ranges)
        if ranges[p] != DONE:
            return 1
        loop(documents.f, documents.loser, documents, start, u0, u1, start[u0], task.weights.what == GAINS, 0.0)
        scatter(task, parts, p, documents)
        return 0

    return add


# Each function has a kernel of its own, so that a loss compiles only what it needs. They stand here one by one, because
# numba's cache does not find kernels again that a function returns with another function in them.
_ranknet_by_pair = _derivatives_of_part(_ranknet_near, near=True)
_ranknet_far_by_pair = _derivatives_of_part(_ranknet, near=False)
_ndcg_by_pair = _derivatives_of_part(_ndcg_near, near=True, even=True)
_ndcg_far_by_pair = _derivatives_of_part(_ndcg, near=False, even=True)
_ranknet_value_by_pair = _values_of_part(_ranknet_value)
_ndcg_value_by_pair = _values_of_part(_ndcg_value)


@compiled()
def ranknet_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts ``begin <= p < end`` of RankNet's derivatives whose scores are near each other.

    Write the range of the scores of each part that is left, or `DONE`, and return the number of those left. So do the
    other kernels here.
    """
    space, left = space_for(longest(task.runs, parts, begin, end)), 0
    for p in range(begin, end):
        left += _ranknet_by_pair(task, parts, p, ranges, space)
    return left


@compiled()
def ranknet_far_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of RankNet's derivatives, whatever their range."""
    space, left = space_for(longest(task.runs, parts, begin, end)), 0
    for p in range(begin, end):
        left += _ranknet_far_by_pair(task, parts, p, ranges, space)
    return left


@compiled()
def ndcg_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of NDCGBoost's derivatives whose scores are near each other."""
    space, left = space_for(longest(task.runs, parts, begin, end)), 0
    for p in range(begin, end):
        left += _ndcg_by_pair(task, parts, p, ranges, space)
    return left


@compiled()
def ndcg_far_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of NDCGBoost's derivatives, whatever their range."""
    space, left = space_for(longest(task.runs, parts, begin, end)), 0
    for p in range(begin, end):
        left += _ndcg_far_by_pair(task, parts, p, ranges, space)
    return left


@compiled()
def ranknet_value_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of RankNet's value."""
    space, left = space_for(longest(task.runs, parts, begin, end)), 0
    for p in range(begin, end):
        left += _ranknet_value_by_pair(task, parts, p, ranges, space)
    return left


@compiled()
def ndcg_value_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of NDCGBoost's value."""
    space, left = space_for(longest(task.runs, parts, begin, end)), 0
    for p in range(begin, end):
        left += _ndcg_value_by_pair(task, parts, p, ranges, space)
    return left


@inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
def _sum_pieces(task: Task, u0: int, u1: int, t0: int, functions: Functions, documents: Documents, p: Any) -> None:
    """Add the pairs of functions known by their tables; `p` is space for the sums over higher documents."""
    start, what, of_run, table = task.runs.run_start, task.weights.what, task.weights.level, task.weights.table
    f, winner, loser, level = documents.f, documents.winner, documents.loser, documents.level
    first, second, c = documents.first, documents.second, documents.weight
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
                        z = _tail(2.0 * (f[i] - f[j]) / width, tail[k])
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


@inlined()
def _tail(d: float, tail: Any) -> float:
    """Return a function's tail at d, in units of half a box."""
    q0, q1, q2, c, rate = tail[1 if d > 0.0 else 0]
    x = abs(d)
    z: float = q0 + x * (q1 + x * q2)
    return z + c * _vanishing(rate * x) if c != 0.0 else z


@inlined()
def _add_tabulated_part(
    task: Task, parts: Parts, p: int, functions: Functions, ranges: Any, space: Any, sums: Any
) -> int:
    documents = documents_in(space, task.runs.apart)
    _gathered(task, parts, p, documents, ranges)
    if ranges[p] != DONE:
        return 1
    t0 = task.weights.table_start[parts.query[p]] if task.weights.what == TABLE else 0
    _sum_pieces(task, parts.first[p], parts.last[p], t0, functions, documents, sums)
    scatter(task, parts, p, documents)
    return 0


@compiled()
def tabulated_by_pair(begin: int, end: int, task: Task, parts: Parts, functions: Functions, ranges: Any) -> int:
    """Add the parts that go pair by pair, of functions known by their tables."""
    n = longest(task.runs, parts, begin, end)
    space, sums, left = space_for(n), np.empty(n), 0
    for p in range(begin, end):
        left += _add_tabulated_part(task, parts, p, functions, ranges, space, sums)
    return left
