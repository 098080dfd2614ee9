"""Sums of smooth functions over pairs, one at a time: for short lists and small parts of long ones.

Functions that kernels know by name take one exponential per document where the scores are near each other, and one per
pair where they are not; any other function is read from the pieces of its tables. Parts that boxes would sum faster are
left to them.
"""

from collections.abc import Callable
from typing import Any

import numba

from boostplug.kernels.base.arithmetic import EXP_MAX, exponential, log1p, unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.pairs.cost_model import SAFE_RANGE
from boostplug.kernels.pairs.pair_loop import exponentiate, pair_loop, value_loop
from boostplug.kernels.pairs.pair_task import (
    DONE,
    GAINS,
    TABLE,
    Parts,
    Task,
    documents_in,
    gather,
    longest,
    scatter,
    space_for,
    spread_levels,
)
from boostplug.kernels.pairs.tables import PIECES, Functions, Tables


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
def _tail(d: float, tail: Any) -> float:
    """Return a function's tail at d, in units of half a box."""
    q0, q1, q2, c, rate = tail[1 if d > 0.0 else 0]
    x = abs(d)
    z: float = q0 + x * (q1 + x * q2)
    return z + c * _vanishing(rate * x) if c != 0.0 else z


@inlined()
def _from_table(tables: Tables, k: int, d: float) -> float:
    """Return the k-th tabulated function of a difference."""
    piece, n_pieces = tables.piece, tables.piece.shape[1]
    x = d * (PIECES / tables.width) + 0.5 * n_pieces
    z: float
    if not 0.0 <= x < n_pieces:
        z = _tail(2.0 * d / tables.width, tables.tail[k])
        return z
    at = unsigned(x)
    y = 2.0 * (x - at) - 1.0
    y2 = y * y
    z = (piece[k, at, 0] + piece[k, at, 1] * y) + (piece[k, at, 2] + piece[k, at, 3] * y) * y2
    z += ((piece[k, at, 4] + piece[k, at, 5] * y) + (piece[k, at, 6] + piece[k, at, 7] * y) * y2) * (y2 * y2)
    return z


@inlined()
def _tabulated(w: float, f_i: float, f_k: float, f_j: float, tables: Tables) -> Any:
    first, second = -w * _from_table(tables, 0, f_i - f_j), w * _from_table(tables, 1, f_i - f_j)
    if f_k == f_i:  # mostly one document, which has no other of its grade beside it
        return first, second, first, second
    return first, second, -w * _from_table(tables, 0, f_k - f_j), w * _from_table(tables, 1, f_k - f_j)


@numba.njit(inline="always")
def _tabulated_value(w: float, f_i: float, f_j: float, tables: Tables) -> Any:
    return w * _from_table(tables, 0, f_i - f_j)


def _over_parts(loop: Callable[..., Any], *, near: bool = False) -> Any:
    """Return a function that adds parts by a loop over their pairs, and returns the number of those that it leaves.

    It leaves a part that boxes sum faster, and with `near` one whose scores range too far: then it writes the range of
    its scores, else `DONE`.
    """

    @inlined(_nrt=True)
    def add(begin: int, end: int, task: Task, parts: Parts, ranges: Any, parameter: Any) -> int:
        documents = documents_in(space_for(longest(task.runs, parts, begin, end)), task.runs.apart)
        start, weights, left = task.runs.run_start, task.weights, 0
        for p in range(begin, end):
            u0, u1 = parts.first[p], parts.last[p]
            low, high = gather(task, u0, u1, documents)
            if high - low <= parts.limit[p] or (near and not high - low <= SAFE_RANGE):
                ranges[p] = high - low
                left += 1
                continue
            ranges[p] = DONE
            if weights.what == GAINS:
                spread_levels(task, u0, u0, u1, documents)
            table_at = weights.table_start[parts.query[p]] if weights.what == TABLE else 0
            x, loser = documents.f, documents.loser
            if near:
                exponentiate(documents, start[u1] - start[u0], low + 0.5 * (high - low))
                x, loser = documents.e, documents.loser_e
            loop(x, loser, documents, start, u0, u1, start[u0], weights, table_at, parameter)
            scatter(task, parts, p, documents)
        return left

    return add


# Each function has a kernel of its own, so that a loss compiles only what it needs. They stand here one by one, because
# numba's cache does not find kernels again that a function returns with another function in them.
_ranknet_near_parts = _over_parts(pair_loop(_ranknet_near), near=True)
_ranknet_parts = _over_parts(pair_loop(_ranknet))
_ranknet_value_parts = _over_parts(value_loop(_ranknet_value))
_ndcg_near_parts = _over_parts(pair_loop(_ndcg_near, even=True), near=True)
_ndcg_parts = _over_parts(pair_loop(_ndcg, even=True))
_ndcg_value_parts = _over_parts(value_loop(_ndcg_value))
_tabulated_parts = _over_parts(pair_loop(_tabulated))
_tabulated_value_parts = _over_parts(value_loop(_tabulated_value))


@compiled()
def ranknet_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts ``begin <= p < end`` of RankNet's derivatives whose scores are near each other.

    Write the range of the scores of each part that is left, or `DONE`, and return the number of those left. So do the
    other kernels here.
    """
    left: int = _ranknet_near_parts(begin, end, task, parts, ranges, None)
    return left


@compiled()
def ranknet_far_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of RankNet's derivatives, whatever their range."""
    left: int = _ranknet_parts(begin, end, task, parts, ranges, None)
    return left


@compiled()
def ndcg_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of NDCGBoost's derivatives whose scores are near each other."""
    left: int = _ndcg_near_parts(begin, end, task, parts, ranges, None)
    return left


@compiled()
def ndcg_far_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of NDCGBoost's derivatives, whatever their range."""
    left: int = _ndcg_parts(begin, end, task, parts, ranges, None)
    return left


@compiled()
def ranknet_value_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of RankNet's value."""
    left: int = _ranknet_value_parts(begin, end, task, parts, ranges, None)
    return left


@compiled()
def ndcg_value_by_pair(begin: int, end: int, task: Task, parts: Parts, ranges: Any) -> int:
    """Add the parts of NDCGBoost's value."""
    left: int = _ndcg_value_parts(begin, end, task, parts, ranges, None)
    return left


@compiled()
def tabulated_by_pair(begin: int, end: int, task: Task, parts: Parts, functions: Functions, ranges: Any) -> int:
    """Add the parts of derivatives that are known by their tables."""
    left: int = _tabulated_parts(begin, end, task, parts, ranges, functions.tables)
    return left


@compiled()
def tabulated_value_by_pair(begin: int, end: int, task: Task, parts: Parts, functions: Functions, ranges: Any) -> int:
    """Add the parts of a value that is known by its table."""
    left: int = _tabulated_value_parts(begin, end, task, parts, ranges, functions.tables)
    return left
