"""Sums over the pairs of a query whose grades weigh by a table, cell by cell: a cell is one grade in one box."""

from typing import Any

import numpy as np

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
    Documents,
    Parts,
    Task,
    documents_in,
    longest,
    scatter,
    space_for,
)
from boostplug.kernels.pairs.tables import MOMENTS, Functions

P = MOMENTS


@inlined(fastmath={"contract"})
def _sum_fields(
    task: Task, u0: int, u1: int, t0: int, functions: Functions, documents: Documents, boxes: Boxes, size: int,
    space: Any, sums: Any,
) -> None:  # fmt: skip
    """Write the polynomials of every grade, each output's, apart for both sides: what the other grades sum to."""
    start, table = task.runs.run_start, task.weights.table
    moments, field = space[:size], space[size : 2 * size]
    n_functions, n_outputs = functions.lower.shape
    n_grades = u1 - u0
    for k in range(unsigned(2 * n_outputs * n_grades * size)):
        sums[k] = 0.0
    for source in range(n_grades):
        first, last = start[u0 + source] - start[u0], start[u0 + source + 1] - start[u0]
        for side in range(2):
            share = functions.higher if side else functions.lower
            for k in range(unsigned(size)):
                moments[k] = 0.0
            seen = SourceWeights(documents.winner if side else documents.loser, documents.level, 0.0, 0.0)
            add_moments(boxes, seen, first, last, moments, 0)
            for k in range(n_functions):
                if share[k, 0] == 0.0 and share[k, n_outputs - 1] == 0.0:
                    continue
                fields_of(moments, boxes.ids, size // P, functions.tables, k, side, field)
                for target in range(source) if side else range(source + 1, n_grades):
                    v, u = (source, target) if side else (target, source)
                    w = table[t0 + v * (v - 1) // 2 + u]
                    for o in range(n_outputs):
                        at = unsigned(((side * n_outputs + o) * n_grades + target) * size)
                        c = w * share[k, o]
                        for i in range(unsigned(size)):
                            sums[at + i] += c * field[i]


@compiled(fastmath={"contract"})
def by_cells(begin: int, end: int, task: Task, parts: Parts, functions: Functions, ranges: Any) -> int:
    """Add all pairs of the parts ``begin <= p < end`` whose scores range up to their limit.

    Write the range of the scores of each part that is left, or `DONE`, and return the number of those left.
    """
    run_start = task.runs.run_start
    n_outputs = functions.lower.shape[1]
    n = longest(task.runs, parts, begin, end)
    documents, boxes = documents_in(space_for(n), task.runs.apart), space_for_boxes(n)
    space, left = np.empty(0), 0
    for p in range(begin, end):
        u0, u1 = parts.first[p], parts.last[p]
        base, n_grades = run_start[u0], u1 - u0
        n_boxes, ranges[p] = gather_in_boxes(task, parts, p, functions.tables.width, documents, boxes)
        if n_boxes == 0:
            left += 1
            continue
        size = P * n_boxes
        if len(space) < (2 * n_outputs * n_grades + 2) * size:
            space = np.empty((2 * n_outputs * n_grades + 2) * size)
        sums = space[2 * size :]
        _sum_fields(
            task, u0, u1, task.weights.table_start[parts.query[p]], functions, documents, boxes, size, space, sums
        )
        for j in range(2 * n_outputs):
            seen = SourceWeights(documents.loser if j >= n_outputs else documents.winner, documents.level, 0.0, 0.0)
            d = 1.0 * (j % n_outputs)
            for u in range(n_grades):
                first, last, at = run_start[u0 + u] - base, run_start[u0 + u + 1] - base, (j * n_grades + u) * size
                evaluate(boxes, seen, first, last, sums, at, 1.0 - d, d, documents.first, documents.second)
        scatter(task, parts, p, documents)
    return left
