r"""Sums of smooth functions of score differences over the pairs of a query, in linear time.

For document i of a query and a function κ of the difference "higher grade minus lower grade":

.. math::
    \sum_{r_j < r_i} a_i b_j\, c_{ij}\, \kappa(F_i - F_j) \pm \sum_{r_j > r_i} a_j b_i\, c_{ij}\, \kappa(F_j - F_i)

with c the weight of the two grades, and a and b what a document weighs as the winner and as the loser of a pair
(`PairWeights`): both the square root of its row's weight, unless told apart.

Documents come by query and grade (`Runs`). Three ways: short lists pair by pair (`boostplug.kernels.pair_by_pair`); few
grades cell by cell, a cell being the documents of one grade in one box of the scores (`boostplug.kernels.boxes`); many
grades by halves, the upper half of the grades with the lower one, and each half likewise, in O(n log n). Which way is
fastest is reckoned from documents, pairs and the range of the scores.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.checks import frozen
from boostplug.kernels.boxes import Boxes, add_across, add_cells, into_boxes
from boostplug.kernels.compiling import compiled, inner
from boostplug.kernels.pair_by_pair import (
    GAINS,
    SAFE_RANGE,
    TABLE,
    Documents,
    PairWeights,
    Scratch,
    add_by_pair,
    add_by_piece,
)
from boostplug.kernels.tables import GENERAL, MOMENTS, NDCG, NDCG_VALUE, RANKNET_VALUE, Functions
from boostplug.kernels.views import Runs
from boostplug.threads import run_over_queries

# compiled in: boxes.py 3fdb48d144f4
# compiled in: pair_by_pair.py 7b61984d51e2
# compiled in: tables.py 21012e798eb9

__all__ = ["gap_sums", "sum_pairs"]

Floats = NDArray[np.float64]

_SHORT = 40  # documents; below it, one by one is faster
_LEAF = 128  # documents of a part of the grades that are summed one by one
_LEAF_BY_PIECE = 48
_FEW_GRADES, _MANY_GRADES = 8, 32  # runs up to which cells do, of a part and of a whole query
_FIRST_BOXES = 64  # more are made where scores call for them
_SHARES = 4  # polynomials of a cell: two outputs, from lower and from higher documents
_FARTHEST = 2.0**50  # boxes; past it a position within a box means nothing
unsigned = numba.uint64


class Space(NamedTuple):
    """What the sums of one query after the other are reckoned in, for the longest of them."""

    f: Floats  # see `Documents`
    winner: Floats
    loser: Floats
    first: Floats
    second: Floats
    gap: Floats  # of levels, from one between
    stack: NDArray[np.int64]  # of runs still to be halved
    scratch: Scratch


@numba.njit(inline="always")
def _cells_fit(n: float, n_grades: int, n_boxes: float) -> bool:
    """Whether the polynomials of all cells take memory in proportion to the documents; set by hand."""
    return n_grades * min(n_boxes, 1.0 * n) <= 4.0 * n + 4096.0


@numba.njit(inline="always")
def _cost_of_pair(kind: int, n_functions: int, extent: float) -> float:
    """Return the time of one pair, in ns.

    Fitted by hand on lists of 40 to 1,000 documents. Measured anew on an AMD EPYC (Zen 5), 5 grades: .2 to .6 by name,
    .6 to 1.4 for NDCGBoost's value, 10 to 17 for RankNet's, with its logarithm, 4 to 5 for each function of tables.
    """
    cost = 0.5 if extent <= SAFE_RANGE else 2.5
    if kind == GENERAL:
        cost = 3.0 * n_functions
    elif kind == NDCG_VALUE:
        cost = 2.0
    elif kind == RANKNET_VALUE:
        cost = 12.0
    return cost


@numba.njit(inline="always")
def _cost_of_cells(n: float, n_grades: int, n_boxes: float, n_functions: int, reach: int) -> float:
    """Return the time of a query cell by cell, in ns.

    Fitted by hand: 18 a document, 25 for the 12 × 12 terms of a cell and a box in reach, 4 for each polynomial added to
    another grade's. Measured anew as above: the way that is chosen takes at most 1.6 times the other's time.
    """
    occupied = min(n_boxes, 1.0 * n)
    cells = min(n_boxes * n_grades, 1.0 * n)
    cost = 300.0 + 18.0 * n + 25.0 * n_functions * cells * min(n_boxes, 2.0 * reach + 1.0)
    return cost + 4.0 * n_grades * n_grades * occupied


@numba.njit(inline="always")
def _cost_of_halves(n: float, n_functions: int) -> float:
    """Return the time of a query by halves of its grades, in ns.

    Fitted by hand: 60 a document and level of halves down to leaves of 128, and 60 for the leaves. Measured anew for
    grades that are all different: halves win from 60 documents on for tables, from 100 to 150 by name, as reckoned.
    """
    return n * (60.0 * math.log2(max(1.0, n / _LEAF)) + 60.0) * n_functions


@numba.njit(inline="always")
def _part_is_short(kind: int, n: int) -> bool:
    """Whether a part of the grades goes pair by pair whatever its boxes."""
    return n <= (_LEAF if kind != GENERAL else _LEAF_BY_PIECE)


@numba.njit(inline="always")
def _pairs_beat_boxes(kind: int, n: int, n_boxes: int, extent: float, reach: int) -> bool:
    """Whether a part of the grades goes pair by pair for its many boxes: .25 for half of n²/2 pairs.

    70 for the 12 × 12 terms of a pair of boxes on each side, .5 for a pair as in `_cost_of_pair`; other functions than
    NDCGBoost's have none that cheap.
    """
    return (
        kind == NDCG
        and extent <= SAFE_RANGE
        and 0.25 * float(n) ** 2 < 70.0 * n_boxes * min(n_boxes, 2.0 * reach + 1.0)
    )


@inner()
def _add_halves(
    documents: Documents, u0: int, u1: int, weights: PairWeights, t0: int, functions: Functions, space: Space,
    boxes: Boxes,
) -> None:  # fmt: skip
    """Add all pairs of the runs u0..u1: upper half against lower half of the grades, and each half likewise."""
    start, base = documents.run_start, documents.base
    kind, width, reach = functions.kind, functions.tables.width, functions.tables.reach
    by_gain, level, gap, stack = weights.what == GAINS, weights.level, space.gap, space.stack
    stack[0, 0], stack[0, 1] = u0, u1
    depth = 1
    while depth:
        depth -= 1
        v0, v1 = stack[depth, 0], stack[depth, 1]
        first, last = start[v0] - base, start[v1] - base
        n_boxes = 0
        one_by_one = _part_is_short(kind, last - first)
        if not one_by_one:
            n_boxes = into_boxes(documents, v0, v1, width, boxes)
            extent = (boxes.ids[n_boxes - 1] - boxes.ids[0]) * width
            one_by_one = _pairs_beat_boxes(kind, last - first, n_boxes, extent, reach)
        if one_by_one and kind == GENERAL:
            add_by_piece(documents, v0, v1, weights, t0, functions, space.scratch)
        elif one_by_one:
            add_by_pair(documents, v0, v1, weights, kind, space.scratch)
        elif v1 - v0 <= _FEW_GRADES:
            add_cells(documents, v0, v1, weights, t0, functions, boxes, n_boxes)
        else:
            middle = v0 + 1
            while middle < v1 - 1 and start[middle] - base - first < (last - first) // 2:
                middle += 1
            if by_gain:
                for v in range(v0, v1):
                    for i in range(start[v] - base, start[v + 1] - base):
                        gap[i] = abs(level[v] - level[middle])
            of_levels = gap if by_gain else gap[:0]
            add_across(documents, first, start[middle] - base, last, of_levels, functions, boxes, n_boxes)
            stack[depth, 0], stack[depth, 1] = v0, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, v1
            depth += 2


@inner()
def _add_queries(
    first: int, last: int, scores: Any, multiplier: float, runs: Runs, n_pairs: Any, weights: PairWeights,
    functions: Functions, factor: Any, skipped: Any, space: Space, boxes: Boxes, out: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """Write the outputs of the rows of the queries ``first <= q < last``, in space for the longest of them.

    Return the query before which there were too few boxes or cells, or `last`, and how many of both it takes.
    """
    kind, width, reach = functions.kind, functions.tables.width, functions.tables.reach
    n_functions, n_outputs = functions.lower.shape
    f, winner, loser = space.f, space.winner, space.loser
    a, b, scratch, boxes_there = space.first, space.second, space.scratch, len(boxes.field) // MOMENTS
    cells_there = len(boxes.totals) // (_SHARES * MOMENTS)
    rows, run_start, query_run = runs.rows, runs.run_start, runs.query_run
    apart = len(weights.loser) > 0
    own, other = weights.winner if apart else runs.sqrt_weight, weights.loser
    by_table, table_start = weights.what == TABLE, weights.table_start
    for q in range(first, last):
        if skipped.shape[0] and skipped[q]:
            continue
        u0, u1 = query_run[q], query_run[q + 1]
        base = unsigned(run_start[u0])
        n = unsigned(run_start[u1]) - base
        low, high = np.inf, -np.inf
        for i in range(n):
            x = multiplier * scores[rows[base + i]]
            f[i] = x
            a[i] = 0.0
            b[i] = 0.0
            low = min(low, x)
            high = max(high, x)
        if own.shape[0]:
            for i in range(n):
                winner[i] = own[base + i]
        if apart:
            for i in range(n):
                loser[i] = other[base + i]
        documents = Documents(run_start[u0], run_start, f, winner, loser, apart, a, b)
        t0 = 0
        if by_table:
            t0 = table_start[q]
        n_boxes = 1.0 + (high - low) / width
        most = int(min(n_boxes, 1.0 * n))  # occupied, of any part of the grades too
        n_grades = u1 - u0
        in_cells = by_table or (n_grades <= _MANY_GRADES and _cells_fit(n, n_grades, n_boxes))
        most_grades = n_grades if in_cells else _FEW_GRADES  # of one part
        if in_cells and n_grades <= _MANY_GRADES:
            by_boxes = _cost_of_cells(n, n_grades, n_boxes, n_functions, reach)
        else:
            by_boxes = _cost_of_halves(n, n_functions)
        by_pair = _cost_of_pair(kind, n_functions, high - low) * n_pairs[q]
        if n < _SHORT or by_pair < by_boxes or not n_boxes < _FARTHEST:
            if kind == GENERAL:
                add_by_piece(documents, u0, u1, weights, t0, functions, scratch)
            else:
                add_by_pair(documents, u0, u1, weights, kind, scratch)
        elif most > boxes_there or most * most_grades > cells_there:
            return q, most, most * most_grades
        elif in_cells:
            n_occupied = into_boxes(documents, u0, u1, width, boxes)
            add_cells(documents, u0, u1, weights, t0, functions, boxes, n_occupied)
        else:
            _add_halves(documents, u0, u1, weights, t0, functions, space, boxes)
        for i in range(n):
            w = factor[q] * winner[i]
            out[0, rows[base + i]] = w * a[i]
        if n_outputs > 1:
            for i in range(n):
                out[1, rows[base + i]] = factor[q] * winner[i] * b[i]
    return last, 0, 0


@compiled()
def _accumulate(
    first: int, last: int, scores: Any, multiplier: float, runs: Runs, n_pairs: Any, weights: PairWeights,
    functions: Functions, factor: Any, skipped: Any, out: Any,
) -> None:  # fmt: skip
    """Write the outputs of the rows of the queries ``first <= q < last`` (see `sum_pairs`)."""
    n = 0
    for q in range(first, last):
        n = max(n, runs.run_start[runs.query_run[q + 1]] - runs.run_start[runs.query_run[q]])
    # One large block goes back to this process and not to the system, whose new pages would take longer than sums.
    x, k = np.empty((12, n)), np.empty(4 * n + 1, np.int64)
    x[1] = 1.0
    space = Space(
        x[0], x[1], x[2] if len(weights.loser) else x[1], x[3], x[4], x[5], np.empty((128, 2), np.int64),
        Scratch(x[6], x[7], x[8], x[9]),
    )  # fmt: skip
    n_boxes, n_cells = _FIRST_BOXES, _FIRST_BOXES * _FEW_GRADES
    while first < last:
        polynomials = np.empty((2, MOMENTS * n_boxes))
        boxes = Boxes(
            x[10],
            k[:n],
            k[n : 2 * n],
            k[2 * n :],
            polynomials[0],
            polynomials[1],
            x[11],
            np.empty(_SHARES * MOMENTS * n_cells),
        )
        first, n_boxes, n_cells = _add_queries(
            first, last, scores, multiplier, runs, n_pairs, weights, functions, factor, skipped, space, boxes, out
        )


def sum_pairs(
    scores: Floats,
    multiplier: float,
    runs: Runs,
    n_pairs: Floats,
    weights: PairWeights,
    functions: Functions,
    factor: Floats,
    skipped: NDArray[np.bool_],
    out: Floats,
) -> None:
    """Write the outputs of the rows of all queries that hold a pair, on all threads.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
    multiplier : float
        Of scores, before any function sees them.
    runs : Runs
    n_pairs : ndarray
        Of each query.
    weights : PairWeights
        `TABLE` needs functions of kind `GENERAL`.
    functions : Functions
        For kind `GENERAL` the caller sees to it that no query's scores span 2^50 boxes, or `reach` where there are no
        tails.
    factor : ndarray
        What each query's outputs are multiplied with.
    skipped : ndarray of bool
        Queries to leave alone; empty for none.
    out : ndarray of shape (n_outputs, n_rows)
    """
    scores, factor = frozen(scores.view()), frozen(factor.view())  # one type, so that the kernel is compiled once

    def kernel(first: int, last: int) -> None:
        _accumulate(first, last, scores, float(multiplier), runs, n_pairs, weights, functions, factor, skipped, out)

    if len(runs.query_run) > 1:
        run_over_queries(kernel, runs.run_start[runs.query_run])


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
