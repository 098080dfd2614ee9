"""Pair sums of a long list in O(n): documents are grouped by score, and all pairs of two boxes are summed at once.

Documents come by grade; neighbouring grades form blocks. This module sums the pairs of different blocks, and leaves the
pairs within a block to `pair_by_pair`. `docs/explanation/pair_sums.md` explains the method, its cost and its error.

In NumPy, one sweep up with blocks of one grade each, without tails::

    def sum_boxes(scores, labels, winner, loser, function, width):
        nodes = np.cos(np.pi * (np.arange(12) + 0.5) / 12)
        to_powers = np.linalg.inv(np.vander(nodes, increasing=True))
        box = np.floor(scores / width)
        powers = np.vander(2 * (scores / width - box) - 1, 12, increasing=True)  # of y
        box = (box - box.min()).astype(int)
        distance = np.arange(box.max() + 1)[:, None] - np.arange(box.max() + 1)  # of target and source
        d = (2 * distance[:, :, None, None] + nodes - nodes[:, None]) * width / 2
        matrix = to_powers @ function(d) @ to_powers.T  # target, source, moment, power
        moments, out = np.zeros((box.max() + 1, 12)), np.zeros(len(scores))
        for grade in np.unique(labels):
            group = labels == grade
            field = np.einsum("su, tsuv -> tv", moments, matrix)
            out[group] = winner[group] * (field[box[group]] * powers[group]).sum(axis=1)
            np.add.at(moments, box[group], loser[group, None] * powers[group])
        return out
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import Workspace, sort
from boostplug.kernels.pairs.pair_task import (
    SAFE_RANGE,
    TABULATED,
    TABULATED_COST,
    Documents,
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
from boostplug.kernels.pairs.tables import MOMENTS, REACH, Tables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
P = MOMENTS


class _Boxes(NamedTuple):
    """Boxes of the documents of one list: box k is ``k * width <= score < (k + 1) * width``."""

    y: Floats  # position of each document in its box, in [-1, 1]
    box: Ints  # index in `ids` of each document's box
    ids: Floats  # k of each box that holds a document, ascending
    work: Ints  # workspace of 2 n + 1 entries


@inlined()
def _sort_into_boxes(n: int, documents: Documents, boxes: _Boxes) -> int:
    """Find the boxes that hold documents, by sorting; return their number. `Documents.e` holds each document's k."""
    _, box, ids, work = boxes
    places = Workspace(documents.e, work[:n], documents.loser_e, work[n : 2 * n])
    for i in range(n):
        places.keys[i], places.rows[i] = -places.keys[i], i
    sort(places, n)
    count = 0
    for j in range(n):
        k = -places.keys[j]
        if count == 0 or k != ids[count - 1]:
            ids[count] = k
            count += 1
        box[places.rows[j]] = count - 1
    return count


@inlined()
def _into_boxes(documents: Documents, n: int, low: float, high: float, width: float, boxes: _Boxes) -> int:
    """Put n documents with scores from `low` to `high` into boxes; return the number of boxes that are not empty."""
    f, k_of, (y, box, ids, work) = documents.f, documents.e, boxes
    inverse = 1.0 / width
    lowest = np.floor(low * inverse)
    extent = np.floor(high * inverse) - lowest
    for i in range(unsigned(n)):
        x = f[i] * inverse
        k = np.floor(x)
        k_of[i] = k
        y[i] = 2.0 * (x - k) - 1.0
    if extent >= 2.0 * n:
        return int(_sort_into_boxes(n, documents, boxes))
    n_places = int(extent) + 1
    for k in range(unsigned(n_places)):
        work[k] = 0
    for i in range(unsigned(n)):
        box[i] = int(k_of[i] - lowest)
        work[unsigned(box[i])] = 1
    count = 0
    for k in range(n_places):
        if work[k]:
            ids[count] = lowest + k
            work[k] = count
            count += 1
    for i in range(unsigned(n)):
        box[i] = work[unsigned(box[i])]
    return count


@inlined()
def _write_gaps(s: Floats, edge: float, first: int, last: int, documents: Documents) -> None:
    """Write s times the gap of gains between `edge` and each of the documents first..last to `Documents.weight`."""
    for i in range(unsigned(first), unsigned(last)):
        documents.weight[i] = s[i] * abs(edge - documents.level[i])


@inlined(fastmath={"contract"})
def _add_moments(boxes: _Boxes, w: Floats, first: int, last: int, moments: Floats) -> None:
    """Add Σ w y^u of the documents first..last to the moments of their boxes."""
    y, box = boxes.y, boxes.box
    for i in range(unsigned(first), unsigned(last)):
        k, p = unsigned(box[i]) * unsigned(P), w[i]
        for u in range(unsigned(P)):
            moments[k + u] += p
            p *= y[i]


@inlined(fastmath={"contract"})
def _evaluate(
    boxes: _Boxes, w: Floats, first: int, last: int, field: Floats, share: Floats, documents: Documents
) -> None:
    """Add w times the polynomial of its box to the outputs of each of the documents first..last, by their shares."""
    y, box, c, d = boxes.y, boxes.box, share[0], share[len(share) - 1]
    for i in range(unsigned(first), unsigned(last)):
        k = unsigned(box[i]) * unsigned(P)
        p = field[k + unsigned(P - 1)]
        for u in range(unsigned(P - 1)):
            p = p * y[i] + field[k + unsigned(P - 2) - u]
        p *= w[i]
        documents.first[i] += c * p
        documents.second[i] += d * p


@inlined(fastmath={"contract"})
def _write_field(m: Floats, ids: Floats, n: int, tables: Tables, function: int, side: int, out: Floats) -> None:
    """Write the polynomial of each of n boxes: the sum of the function over the moments m of all boxes.

    Side 0: κ(target - source), for sources of the lower grade; side 1: κ(source - target).
    """
    table = tables.box[function, side]
    for k in range(unsigned(n * P)):
        out[k] = 0.0
    across = unsigned((2 * REACH + 1) * P)
    begin = 0
    for b in range(n):
        while ids[begin] < ids[b] - REACH:
            begin += 1
        if m[b * P] == 0.0:
            continue
        t = begin
        while t < n and ids[t] <= ids[b] + REACH:
            end = t + 1
            while end < n and ids[end] == ids[end - 1] + 1.0 and ids[end] <= ids[b] + REACH:
                end += 1
            o = unsigned(t * P)
            at = unsigned((int(ids[t] - ids[b]) + REACH) * P)
            for v in range(0, P, 4):
                k = b * P + v
                m0, m1, m2, m3 = m[k], m[k + 1], m[k + 2], m[k + 3]
                t0 = at + unsigned(v) * across
                t1 = t0 + across
                t2 = t1 + across
                t3 = t2 + across
                for u in range(unsigned((end - t) * P)):
                    out[o + u] += (m0 * table[t0 + u] + m1 * table[t1 + u]) + (m2 * table[t2 + u] + m3 * table[t3 + u])
            t = end
    if ids[n - 1] - ids[0] > REACH:
        for step in (1, -1):
            # Going up, target - source is positive: the right tail of κ, or the left one for side 1.
            _add_tail(m, ids, n, step, tables.tail[function, 1 if (step > 0) != (side == 1) else 0], out)


@inlined(fastmath={"contract"})
def _add_tail(m: Floats, ids: Floats, n: int, step: int, tail: Any, out: Floats) -> None:
    """Add to each box the tail's sum over all boxes more than `REACH` before it, upwards (step 1) or downwards (-1)."""
    q0, q1, q2 = tail[0], tail[1], tail[2]
    if q0 == 0.0 and q1 == 0.0 and q2 == 0.0:
        return
    n0 = n1 = n2 = 0.0  # Σ s z^k over the sources, z = step · (position of the source) from the target's box
    source = t = 0 if step > 0 else n - 1
    here = ids[t]
    for _ in range(n):
        gap = 2.0 * abs(ids[t] - here)
        here = ids[t]
        n2 += gap * (gap * n0 - 2.0 * n1) if q2 != 0.0 else 0.0  # a gap of 1e200 would overflow
        n1 -= gap * n0
        while step * (here - ids[source]) > REACH:
            k, width = source * P, 2.0 * abs(here - ids[source])
            n2 += m[k + 2] + width * (width * m[k] - 2.0 * step * m[k + 1]) if q2 != 0.0 else 0.0
            n1 += step * m[k + 1] - width * m[k]
            n0 += m[k]
            source += step
        k = t * P
        out[k] += q0 * n0 - q1 * n1 + q2 * n2
        out[k + 1] += step * (q1 * n0 - 2.0 * q2 * n1)
        out[k + 2] += q2 * n0
        t += step


@inlined()
def _mark_blocks(task: Task, parts: Parts, p: int, cost: float, pair: float, edges: Ints, block_end: Ints) -> int:
    """Write the first grade group of each block and the end of the last block to `edges`; return the number of blocks.

    The polynomials of a block cost `cost` multiplications, and a pair costs `pair` multiplications.
    """
    start, u0, u1 = task.groups.group_start, parts.first[p], parts.last[p]
    size = math.sqrt(2.0 * cost / pair)
    edges[0], count, n_pairs = u0, 1, 0.0
    for u in range(u0 + 1, u1):
        n_pairs += float(start[u] - start[u0]) * float(start[u + 1] - start[u])
        if start[u + 1] - start[edges[count - 1]] > size:
            edges[count] = u
            count += 1
    if count * cost > pair * n_pairs:
        count = 1
    edges[count] = u1
    for t in range(count):
        block_end[edges[t]] = edges[t + 1]
    return count


@inlined()
def _sweep(
    task: Task, side: int, n_blocks: int, edges: Ints, functions: Functions, documents: Documents, boxes: _Boxes,
    n_boxes: int, space: Floats,
) -> None:  # fmt: skip
    """Add to each document its pairs with the blocks below its own (side 0) or above it (side 1).

    A weight by the gap of gains is split at the edge of the target's block, so that all terms are positive and nothing
    cancels. `gaps` holds the moments of the sources times their gap to the edge, `passed` the moments without it.
    """
    start, gain, by_gain = task.groups.group_start, task.gain, task.gain.shape[0] > 0
    source, target, share = documents.loser, documents.winner, functions.lower
    if side == 1:
        source, target, share = documents.winner, documents.loser, functions.higher
    size = n_boxes * P
    passed, gaps, field = space[:size], space[size : 2 * size], space[2 * size :]
    for k in range(unsigned(size)):
        passed[k] = gaps[k] = 0.0
    for step in range(n_blocks):
        t = n_blocks - 1 - step if side else step
        low, high = edges[t], edges[t + 1] - 1
        first, last = start[low] - start[edges[0]], start[high + 1] - start[edges[0]]
        edge = gain[high if side else low] if by_gain else 0.0
        for with_gap in range(0 if step == 0 else 2 if by_gain and high > low else 1):
            moments = gaps if by_gain and not with_gap else passed
            w = documents.weight if with_gap else target
            if with_gap:
                _write_gaps(target, edge, first, last, documents)
            for k in range(share.shape[0]):
                if share[k, share.shape[1] - 1] != 0.0 or share[k, 0] != 0.0:
                    _write_field(moments, boxes.ids, n_boxes, functions.tables, k, side, field)
                    _evaluate(boxes, w, first, last, field, share[k], documents)
        if step == n_blocks - 1:
            return
        if by_gain:
            beyond = gain[low - 1 if side else high + 1]
            for k in range(unsigned(size)):
                gaps[k] += abs(beyond - edge) * passed[k]
            _write_gaps(source, beyond, first, last, documents)
            _add_moments(boxes, documents.weight, first, last, gaps)
        _add_moments(boxes, source, first, last, passed)


@compiled()
def sum_boxes(begin: int, end: int, task: Task, parts: Parts, functions: Functions, block_end: Ints) -> None:
    """Add the pairs of different blocks of the lists ``begin <= p < end``.

    `block_end` has an entry for each grade group of the queries. At the first group of a block, it is set to the group
    after the block.
    """
    group_start = task.groups.group_start
    n = longest(task.groups, parts, begin, end)
    documents, ints = documents_in(space_for(n), task.groups.apart), np.empty(4 * n + 1, np.int64)
    boxes = _Boxes(np.empty(n), ints[:n], np.empty(n), ints[n : 3 * n + 1])
    edges, space = ints[3 * n :], np.empty(0)
    tables = functions.tables
    n_fields = float((functions.lower != 0.0).sum() + (functions.higher != 0.0).sum())
    for p in range(begin, end):
        u0, u1 = parts.first[p], parts.last[p]
        low, high = gather(task, u0, u1, documents)
        n_boxes = _into_boxes(documents, group_start[u1] - group_start[u0], low, high, tables.width, boxes)
        pair = TABULATED_COST if functions.kind == TABULATED or high - low > SAFE_RANGE else 1.0
        cost = n_fields * P * P * n_boxes * min(n_boxes, 2 * REACH + 1)
        n_blocks = _mark_blocks(task, parts, p, cost, pair, edges, block_end)
        if n_blocks == 1:
            continue
        if task.gain.shape[0] > 0:
            spread_levels(task, u0, u0, u1, documents)
        if len(space) < 3 * n_boxes * P:
            space = np.empty(3 * n_boxes * P)
        for side in range(2):
            if (functions.higher if side else functions.lower).any():
                _sweep(task, side, n_blocks, edges, functions, documents, boxes, n_boxes, space)
        scatter(task, parts, p, documents)
