"""Sums over the pairs of some runs, block by block: a block is a few neighbouring grades.

Each block sees all lower blocks together as one set of moments, and all higher ones as another, so that the cost grows
with the documents and with the polynomials of the blocks (`boxes`). Pairs within a block are left: a
block of one grade has none, those of others are parts to be summed in turn.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.pairs.boxes import (
    Boxes,
    SourceWeights,
    add_moments,
    evaluate,
    fields_of,
    gather_in_boxes,
    space_for_boxes,
)
from boostplug.kernels.pairs.pair_task import (
    GAINS,
    Documents,
    Parts,
    Task,
    documents_in,
    longest,
    scatter,
    space_for,
    spread_levels,
)
from boostplug.kernels.pairs.tables import MOMENTS, Functions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
P = MOMENTS
_PER_DOCUMENT, _ANYWAY = 6.0, 32768.0  # numbers for all blocks of a part: about as many as for its documents


class _Block(NamedTuple):
    """Space for the sums of all blocks of one part, each of so many polynomials with a term per moment and box.

    Weights that are gaps of gains are taken apart, so that sums are of positive terms alone and nothing cancels: from a
    document to the edge of its block, across blocks between, from the edge of the other document's block to it.
    """

    edges: Ints  # first run of each block, and the end of the last
    moments: Floats  # of losers, winners where they weigh apart; with gains, times the gaps to the upper and lower edge
    sums: Floats  # of each output, for both sides where they weigh apart; with gains, what a gap is multiplied with
    passed: Floats  # moments of the blocks passed
    gaps: Floats  # the same, times the gap from each document to the edge of the block at hand
    field: Floats


@inlined()
def _mark(run_start: Any, u0: int, u1: int, size: float, edges: Any, block_end: Any) -> int:
    """Write where blocks of at most `size` documents begin, or of one run, and return the number of blocks."""
    count = 1
    edges[0] = u0
    for u in range(u0 + 1, u1):
        first = edges[count - 1]
        if run_start[u + 1] - run_start[first] > size:
            block_end[first] = u
            edges[count] = u
            count += 1
    block_end[edges[count - 1]] = u1
    edges[count] = u1
    return count


@inlined()
def _sum_moments(
    task: Task, n_blocks: int, n_slots: int, size: int, documents: Documents, boxes: Boxes, block: _Block
) -> None:
    """Write the moments of every block."""
    start, levels, by_gain = task.runs.run_start, task.weights.level, task.weights.what == GAINS
    edges, moments = block.edges, block.moments
    base = start[edges[0]]
    plain = n_slots - 2 if by_gain else n_slots
    for k in range(unsigned(n_blocks * n_slots * size)):
        moments[k] = 0.0
    for t in range(n_blocks):
        low, high = edges[t], edges[t + 1] - 1
        if by_gain and high > low:
            spread_levels(task, edges[0], low, high + 1, documents)
        for slot in range(n_slots if high > low else plain):
            s = documents.winner if slot == plain - 1 or slot == n_slots - 1 else documents.loser
            edge, gap = 0.0, 0.0
            if slot >= plain:
                edge, gap = levels[low if slot > plain else high], 1.0
            seen = SourceWeights(s, documents.level, edge, gap)
            add_moments(boxes, seen, start[low] - base, start[high + 1] - base, moments, (t * n_slots + slot) * size)


@inlined(fastmath={"contract"})
def _sum_fields(
    task: Task, n_blocks: int, n_slots: int, n_sums: int, size: int, apart: bool, functions: Functions, boxes: Boxes,
    block: _Block,
) -> None:  # fmt: skip
    """Write the polynomials of every block: what the blocks below it sum to, and those above."""
    levels, by_gain = task.weights.level, task.weights.what == GAINS
    edges, moments, sums, passed, gaps, field = block
    n_functions, n_outputs = functions.lower.shape
    plain = n_slots - 2 if by_gain else n_slots
    for k in range(unsigned(n_blocks * n_sums * size)):
        sums[k] = 0.0
    for side in range(2):
        share = functions.higher if side else functions.lower
        for k in range(unsigned(size)):
            passed[k] = gaps[k] = 0.0
        for step in range(n_blocks):
            t = n_blocks - 1 - step if side else step
            low, high = edges[t], edges[t + 1] - 1
            for k in range(n_functions if step > 0 else 0):
                if share[k, 0] == 0.0 and share[k, n_outputs - 1] == 0.0:
                    continue
                for with_gap in range(2 if by_gain and high > low else 1):
                    m = passed if with_gap or not by_gain else gaps
                    fields_of(m, boxes.ids, size // P, functions.tables, k, side, field)
                    at, n = t * n_sums + (n_outputs if apart and side else 0), n_outputs
                    if with_gap:
                        at, n = (t + 1) * n_sums - (2 - side) * n_functions + k, 1
                    for o in range(n):
                        c, to = 1.0 if with_gap else share[k, o], unsigned((at + o) * size)
                        for u in range(unsigned(size)):
                            sums[to + u] += c * field[u]
            within = between = 0.0
            own = unsigned((t * n_slots + (plain - 1) * side) * size)
            own_gaps = own
            if by_gain:
                within, own_gaps = levels[high] - levels[low], unsigned((t * n_slots + plain + side) * size)
                if step < n_blocks - 1:
                    between = levels[low] - levels[low - 1] if side else levels[high + 1] - levels[high]
            for k in range(unsigned(size)):
                x = passed[k]
                y = x + moments[own + k]
                passed[k] = y
                gaps[k] += within * x + moments[own_gaps + k] + between * y


@inlined()
def _evaluate(
    task: Task, n_blocks: int, n_sums: int, size: int, functions: Functions, documents: Documents, boxes: Boxes,
    block: _Block,
) -> None:  # fmt: skip
    """Add to each document's outputs the polynomials of its block."""
    start, levels, by_gain, edges = task.runs.run_start, task.weights.level, task.weights.what == GAINS, block.edges
    n_functions, n_outputs = functions.lower.shape
    base = start[edges[0]]
    of_outputs = n_sums - 2 * n_functions if by_gain else n_sums
    for t in range(n_blocks):
        low, high = edges[t], edges[t + 1] - 1
        for j in range(n_sums if high > low else of_outputs):
            if j < of_outputs:
                side, edge, gap = (1 if j >= n_outputs else 0), 0.0, 0.0
                c = 1.0 if j == side * n_outputs else 0.0
                d = 1.0 - c
            else:
                side = 1 if j >= of_outputs + n_functions else 0
                edge, gap = levels[high if side else low], 1.0
                share = functions.higher if side else functions.lower
                k = j - of_outputs - side * n_functions
                c, d = share[k, 0], share[k, n_outputs - 1]
            seen = SourceWeights(documents.loser if side else documents.winner, documents.level, edge, gap)
            evaluate(
                boxes, seen, start[low] - base, start[high + 1] - base, block.sums, (t * n_sums + j) * size, c, d,
                documents.first, documents.second,
            )  # fmt: skip


@compiled()
def by_blocks(
    begin: int, end: int, task: Task, parts: Parts, functions: Functions, sizes: Any, block_end: Any, ranges: Any
) -> int:
    """Add the pairs of different blocks of the parts ``begin <= p < end`` whose scores range up to their limit.

    `sizes` has the largest block by the number of boxes. `block_end` has an entry for each run of the queries, and gets
    one where a block begins. Write the range of the scores of each part that is left, or `DONE`, and return the number
    of those left.
    """
    run_start, apart = task.runs.run_start, task.runs.apart
    n_functions, n_outputs = functions.lower.shape
    n_slots, n_sums = (2, 2 * n_outputs) if apart else (1, n_outputs)
    if task.weights.what == GAINS:
        n_slots, n_sums = n_slots + 2, n_sums + 2 * n_functions
    n = longest(task.runs, parts, begin, end)
    documents, boxes = documents_in(space_for(n), apart), space_for_boxes(n)
    space, left = np.empty(0), 0
    for p in range(begin, end):
        u0, u1 = parts.first[p], parts.last[p]
        m = run_start[u1] - run_start[u0]
        n_boxes, ranges[p] = gather_in_boxes(task, parts, p, functions.tables.width, documents, boxes)
        if n_boxes == 0:
            left += 1
            continue
        edges = boxes.work
        size = n_boxes * P
        least = (n_slots + n_sums) * size * (m / (_PER_DOCUMENT * m + _ANYWAY))  # documents of a block
        most = sizes[n_boxes if n_boxes < len(sizes) else len(sizes) - 1]
        most = most if most > least else least
        most = most if most < 0.5 * m else 0.5 * m
        n_blocks = _mark(run_start, u0, u1, most, edges, block_end)
        of_moments, of_sums = n_blocks * n_slots * size, n_blocks * n_sums * size
        if len(space) < of_moments + of_sums + 3 * size:
            space = np.empty(of_moments + of_sums + 3 * size)
        of_fields = space[of_moments + of_sums :]
        block = _Block(
            edges,
            space[:of_moments],
            space[of_moments:],
            of_fields[:size],
            of_fields[size:],
            of_fields[2 * size :],
        )
        _sum_moments(task, n_blocks, n_slots, size, documents, boxes, block)
        _sum_fields(task, n_blocks, n_slots, n_sums, size, apart, functions, boxes, block)
        _evaluate(task, n_blocks, n_sums, size, functions, documents, boxes, block)
        scatter(task, parts, p, documents)
    return left
