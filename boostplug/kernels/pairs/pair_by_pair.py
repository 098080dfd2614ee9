"""Sums pair by pair: all pairs of short lists, and the pairs within a block of long ones.

The derivatives of RankNet and NDCGBoost take one exponential per document if the scores of a part are within
`SAFE_RANGE` of each other. All other functions are read from the pieces of their tables.
"""

from collections.abc import Callable
from typing import Any

import numba

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.pairs.pair_loop import exponentiate, pair_loop, value_loop
from boostplug.kernels.pairs.pair_task import (
    SAFE_RANGE,
    Functions,
    Parts,
    Task,
    documents_in,
    gather,
    longest,
    scatter,
    space_for,
    spread_levels,
)
from boostplug.kernels.pairs.tables import PIECES, Tables


@numba.njit(inline="always")
def _ranknet(w: float, e_i: float, e_k: float, e_j: float, _: float) -> Any:
    """Return w times σ(-d) and σ(d)σ(-d), from e^F; w includes e_j. Two pairs share one division: 1/x = y/(xy)."""
    x, y = e_i + e_j, e_k + e_j
    z = 1.0 / (x * y)
    x, y = z * y, z * x
    first_i, first_k = w * x, w * y
    return first_i, first_i * x * e_i, first_k, first_k * y * e_k


@numba.njit(inline="always")
def _ndcg(w: float, e_i: float, e_k: float, e_j: float, _: float) -> Any:
    """Return w times σ(d)σ(-d), computed like `_ranknet`."""
    x, y = e_i + e_j, e_k + e_j
    z = 1.0 / (x * y)
    x, y = z * y, z * x
    return w * x * x * e_i, w * y * y * e_k


@inlined()
def _from_table(tables: Tables, k: int, d: float) -> float:
    """Return the k-th tabulated function of a difference."""
    piece, n_pieces = tables.piece, tables.piece.shape[1]
    x = d * (PIECES / tables.width) + 0.5 * n_pieces
    z: float
    if not 0.0 <= x < n_pieces:
        x, tail = abs(d) * (2.0 / tables.width), tables.tail[k, 1 if d > 0.0 else 0]
        z = tail[0] + x * (tail[1] + x * tail[2]) if tail[2] != 0.0 else tail[0] + x * tail[1]
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
    if f_k == f_i:  # mostly one document, the only one of its grade
        return first, second, first, second
    return first, second, -w * _from_table(tables, 0, f_k - f_j), w * _from_table(tables, 1, f_k - f_j)


@numba.njit(inline="always")
def _tabulated_value(w: float, f_i: float, f_j: float, tables: Tables) -> Any:
    return w * _from_table(tables, 0, f_i - f_j)


def _over_parts(loop: Callable[..., Any], *, near: bool = False) -> Any:
    """Return a function that adds the pairs of parts by a loop over pairs.

    With `near` the loop takes exponentials of the scores; parts with a larger range of scores are marked and left out.
    """

    @inlined(_nrt=True)
    def add(begin: int, end: int, task: Task, parts: Parts, too_far: Any, parameter: Any) -> None:
        documents = documents_in(space_for(longest(task.groups, parts, begin, end)), task.groups.apart)
        start, by_gain = task.groups.group_start, task.gain.shape[0] > 0
        for p in range(begin, end):
            u0, u1 = parts.first[p], parts.last[p]
            low, high = gather(task, u0, u1, documents)
            if near and not high - low <= SAFE_RANGE:
                too_far[p] = True
                continue
            if by_gain:
                spread_levels(task, u0, u0, u1, documents)
            x, loser = documents.f, documents.loser
            if near:
                exponentiate(documents, start[u1] - start[u0], low + 0.5 * (high - low))
                x, loser = documents.e, documents.loser_e
            loop(x, loser, documents, start, u0, u1, start[u0], by_gain, parameter)
            scatter(task, parts, p, documents)

    return add


# Each function has a kernel of its own, so that a loss compiles only what it needs. They are written out, because
# numba's cache loses kernels that a factory returns with another function inside.
_ranknet_parts = _over_parts(pair_loop(_ranknet), near=True)
_ndcg_parts = _over_parts(pair_loop(_ndcg, even=True), near=True)
_tabulated_parts = _over_parts(pair_loop(_tabulated))
_tabulated_value_parts = _over_parts(value_loop(_tabulated_value))


@compiled()
def ranknet_by_pair(begin: int, end: int, task: Task, parts: Parts, too_far: Any) -> None:
    """Add the pairs of the parts ``begin <= p < end`` by RankNet's derivatives; mark parts with too wide scores."""
    _ranknet_parts(begin, end, task, parts, too_far, None)


@compiled()
def ndcg_by_pair(begin: int, end: int, task: Task, parts: Parts, too_far: Any) -> None:
    """Add the pairs of the parts ``begin <= p < end`` by NDCGBoost's derivatives; mark parts with too wide scores."""
    _ndcg_parts(begin, end, task, parts, too_far, None)


@compiled()
def tabulated_by_pair(begin: int, end: int, task: Task, parts: Parts, functions: Functions) -> None:
    """Add the pairs of parts by the tables of both derivatives."""
    _tabulated_parts(begin, end, task, parts, None, functions.tables)


@compiled()
def tabulated_value_by_pair(begin: int, end: int, task: Task, parts: Parts, functions: Functions) -> None:
    """Add the pairs of parts by the table of a value."""
    _tabulated_value_parts(begin, end, task, parts, None, functions.tables)
