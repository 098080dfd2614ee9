r"""Sums of smooth functions over the pairs of some runs, box by box: the documents of a box at once.

Documents of a box are known by their moments Σ s_j y_j^u, u < 12; the sum over them, seen from another box, is a
polynomial in the position there, whose coefficients are a 12 × 12 matrix (`Tables.box`) times the moments. Box pairs
further apart than the tables reach take the function's tail, q0 + q1 d + q2 d² + c e^(-λ d), which factorises: running
sums over the boxes, exact at any range. Cost: 12 multiplications per document and output, and 144 per pair of boxes in
reach.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.compiling import inner
from boostplug.kernels.pair_by_pair import Documents, PairWeights, counts, weight_of_grades
from boostplug.kernels.ranking import Room, sort
from boostplug.kernels.tables import MOMENTS, Functions, Tables

# compiled in: pair_by_pair.py 7b61984d51e2
# compiled in: ranking.py f2f82ac5b1b8
# compiled in: tables.py 21012e798eb9

__all__ = ["Boxes", "add_across", "add_cells", "into_boxes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
P = MOMENTS
unsigned = numba.uint64


class Boxes(NamedTuple):
    """The boxes of some documents of one query, and space for the moments and polynomials of each box."""

    y: Floats  # position of each document in its box
    box: Ints  # of each document, counting those that are not empty
    ids: Ints  # place of each box that is not empty
    work: Ints  # two entries a document, and one
    moments: Floats
    field: Floats  # coefficients of each box's polynomial
    part: Floats  # its value at each document
    totals: Floats  # coefficients of each cell's polynomials, for `add_cells`


@inner()
def into_boxes(documents: Documents, u0: int, u1: int, width: float, boxes: Boxes) -> int:
    """Put the documents of the runs u0..u1 into boxes and return the number of those that are not empty."""
    start, base = documents.run_start, documents.base
    first, last = start[u0] - base, start[u1] - base
    f, y, box, ids, work = documents.f, boxes.y, boxes.box, boxes.ids, boxes.work
    inverse = 1.0 / width
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
    count = 0
    if n_boxes <= 2.0 * n:
        m = int(n_boxes)
        for k in range(m):
            work[k] = 0
        for i in range(first, last):
            work[box[i]] = 1
        for k in range(m):
            if work[k]:
                ids[count] = k
                work[k] = count
                count += 1
        for i in range(first, last):
            box[i] = work[box[i]]
        return count
    keys, rows = boxes.moments, work
    for k in range(n):
        keys[k], rows[k] = -box[first + k], first + k
    sort(Room(keys, rows, boxes.field, ids), n)
    for k in range(n):
        i = rows[k]
        if k == 0 or keys[k] != keys[k - 1]:
            ids[count] = box[i]
            count += 1
        box[i] = count - 1
    return count


@inner(fastmath={"contract"})
def _moments(boxes: Boxes, s: Any, level: Any, first: int, last: int, n_boxes: int) -> None:
    """Write the moments Σ s y^u of each box, over the documents first..last; times their level (empty for 1)."""
    levelled = len(level) > 0
    y, box, m = boxes.y, boxes.box, boxes.moments
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


@inner(fastmath={"contract"})
def _fields(boxes: Boxes, n: int, tables: Tables, function: int, side: int) -> None:
    """Write the polynomial of each box: the sum over all boxes with their moments.

    Side 0: κ(target - source), of sources of the lower grade; side 1: κ(source - target).
    """
    m, ids, out = boxes.moments, boxes.ids, boxes.field
    table, reach = tables.box[function, side], tables.reach
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
        for step in (1, -1):
            # Going up, sources are to the left of the target: κ is right of 0, unless mirrored.
            right = int((step > 0) != (side == 1))
            _tail(m, ids, n, reach, step, tables.tail[function, right], tables.power[function, right], out)


@inner(fastmath={"contract"})
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


@inner(fastmath={"contract"})
def _evaluate(boxes: Boxes, field: Any, first: int, last: int, out: Any) -> None:
    """Add to each document its box's polynomial at its position."""
    y, box = boxes.y, boxes.box
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


@inner(fastmath={"contract"})
def add_cells(
    documents: Documents,
    u0: int,
    u1: int,
    weights: PairWeights,
    t0: int,
    functions: Functions,
    boxes: Boxes,
    n_boxes: int,
) -> None:
    """Add all pairs of the runs u0..u1, cell by cell: a cell is the documents of one grade in one box."""
    start, base = documents.run_start, documents.base
    what, level, table = weights.what, weights.level, weights.table
    n_grades = u1 - u0
    size = unsigned(n_boxes * P)
    n_functions, n_outputs = functions.lower.shape
    even, field, no_level = functions.tables.even, boxes.field, documents.f[:0]
    # Where winners and losers weigh apart, sums over lower and over higher documents are kept apart.
    n_sides = 2 if documents.apart else 1
    totals = boxes.totals
    for u in range(unsigned(n_sides * n_outputs * n_grades) * size):
        totals[u] = 0.0
    for source in range(n_grades):
        first, last = start[u0 + source] - base, start[u0 + source + 1] - base
        _moments(boxes, documents.loser, no_level, first, last, n_boxes)
        for k in range(n_functions):
            for side in range(2):
                share = functions.lower if side == 0 else functions.higher
                if not counts(share, k):
                    continue
                if documents.apart:
                    s = documents.loser if side == 0 else documents.winner
                    _moments(boxes, s, no_level, first, last, n_boxes)
                if side == 0 or documents.apart or not even[k]:
                    _fields(boxes, n_boxes, functions.tables, k, side)
                for target in range(source + 1, n_grades) if side == 0 else range(source):
                    w = weight_of_grades(what, level, table, t0, u0, u0 + max(source, target), u0 + min(source, target))
                    for o in range(n_outputs):
                        c = w * share[k, o]
                        if c != 0.0:
                            at = size * unsigned((min(side, n_sides - 1) * n_outputs + o) * n_grades + target)
                            for u in range(size):
                                totals[at + u] += c * field[u]
    for target in range(n_grades):
        first, last = start[u0 + target] - base, start[u0 + target + 1] - base
        for o in range(n_outputs):
            out = documents.first if o == 0 else documents.second
            at = size * unsigned(o * n_grades + target)
            _evaluate(boxes, totals[at:], first, last, out)
            if documents.apart:
                _evaluate_part(boxes, totals[at + size * unsigned(n_outputs * n_grades) :], first, last)
                for i in range(first, last):
                    out[i] += boxes.part[i] * documents.loser[i] / documents.winner[i]


@inner()
def add_across(
    documents: Documents, first: int, middle: int, last: int, gap: Any, functions: Functions, boxes: Boxes, n_boxes: int
) -> None:
    """Add all pairs of the documents first..middle, of lower grades, with the documents middle..last.

    They weigh 1, or the gap of their levels, given as the distance `gap` of each from a level between (empty for 1):
    G_i - G_j = (G_i - G) + (G - G_j), both positive, so that nothing cancels.
    """
    no_level, part = gap[:0], boxes.part
    for side in range(2):
        source, source_end = (first, middle) if side == 0 else (middle, last)
        target, target_end = (middle, last) if side == 0 else (first, middle)
        share = functions.lower if side == 0 else functions.higher
        s = documents.loser if side == 0 else documents.winner
        for levelled in range(2 if len(gap) else 1):
            _moments(boxes, s, gap if levelled else no_level, source, source_end, n_boxes)
            for k in range(len(share)):
                if not counts(share, k):
                    continue
                _fields(boxes, n_boxes, functions.tables, k, side)
                _evaluate_part(boxes, boxes.field, target, target_end)
                if len(gap) and not levelled:
                    for i in range(target, target_end):
                        part[i] *= gap[i]
                if side == 1 and documents.apart:
                    for i in range(target, target_end):
                        part[i] *= documents.loser[i] / documents.winner[i]
                for o in range(share.shape[1]):
                    out, c = documents.first if o == 0 else documents.second, share[k, o]
                    for i in range(target, target_end):
                        out[i] += c * part[i]


@inner()
def _evaluate_part(boxes: Boxes, field: Any, first: int, last: int) -> None:
    """Write to `boxes.part` each document's polynomial."""
    for i in range(first, last):
        boxes.part[i] = 0.0
    _evaluate(boxes, field, first, last, boxes.part)
