r"""Boxes of the scores: the documents of a box at once.

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

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import inlined
from boostplug.kernels.base.sorting import Workspace, sort
from boostplug.kernels.pairs.pair_task import DONE, Documents, Parts, Task, gather
from boostplug.kernels.pairs.tables import MOMENTS, Tables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
P = MOMENTS


class Boxes(NamedTuple):
    """The boxes of the documents of one part."""

    y: Floats  # position of each document in its box
    box: Ints  # of each document, counting those that are not empty
    ids: Ints  # place of each box that is not empty
    work: Ints  # two entries a document, and one


class SourceWeights(NamedTuple):
    """Weights of documents: s, times the gap of their level from an edge where `gap` is 1 and not 0."""

    s: Floats
    level: Floats
    edge: float
    gap: float


@inlined()
def _sort_into_boxes(n: int, documents: Documents, boxes: Boxes) -> int:
    """Find the boxes that are not empty by sorting, where these are few of very many; return how many there are."""
    _, box, ids, work = boxes
    places = Workspace(documents.e, work[:n], documents.loser_e, work[n : 2 * n])
    for i in range(n):
        places.keys[i], places.rows[i] = -numba.float64(box[i]), i
    sort(places, n)
    count = 0
    for j in range(n):
        i = places.rows[j]
        if count == 0 or box[i] != ids[count - 1]:
            ids[count] = box[i]
            count += 1
        box[i] = count - 1
    return count


@inlined()
def into_boxes(documents: Documents, n: int, low: float, high: float, width: float, boxes: Boxes) -> int:
    """Put n documents whose scores range from `low` to `high` into boxes; return the number that are not empty."""
    f, (y, box, ids, work) = documents.f, boxes
    inverse = 1.0 / width
    n_boxes = math.floor((high - low) * inverse) + 1.0
    # Boxes stand symmetrically about the scores.
    origin = low - 0.5 * (n_boxes / inverse - (high - low))
    highest = numba.int64(n_boxes) - 1
    for i in range(unsigned(n)):
        x = (f[i] - origin) * inverse
        at = numba.int64(x)
        at = 0 if at < 0 else highest if at > highest else at
        y[i] = 2.0 * (x - at) - 1.0
        box[i] = at
    if highest >= 2 * n:
        return int(_sort_into_boxes(n, documents, boxes))
    count = 0
    for k in range(unsigned(highest + 1)):
        work[k] = 0
    for i in range(unsigned(n)):
        work[unsigned(box[i])] = 1
    for k in range(highest + 1):
        if work[k]:
            ids[count] = k
            work[k] = count
            count += 1
    for i in range(unsigned(n)):
        box[i] = work[unsigned(box[i])]
    return count


@inlined(_nrt=True)
def space_for_boxes(n: int) -> Boxes:
    """Return space for the boxes of n documents."""
    k = np.empty(4 * n + 1, np.int64)
    return Boxes(np.empty(n), k[:n], k[n : 2 * n], k[2 * n :])


@inlined()
def gather_in_boxes(task: Task, parts: Parts, p: int, width: float, documents: Documents, boxes: Boxes) -> Any:
    """Read a part into boxes; return their number, or 0 and the range of the scores where they range too far."""
    u0, u1 = parts.first[p], parts.last[p]
    low, high = gather(task, u0, u1, documents)
    if not high - low <= parts.limit[p]:
        return 0, high - low
    n = task.runs.run_start[u1] - task.runs.run_start[u0]
    return into_boxes(documents, n, low, high, width, boxes), DONE


@inlined(fastmath={"contract"})
def add_moments(boxes: Boxes, seen: SourceWeights, first: int, last: int, to: Any, at: int) -> None:
    """Add the moments Σ w y^u of each box, over the documents first..last with weights w, from to[at] on."""
    y, box, s, level = boxes.y, boxes.box, seen.s, seen.level
    one = 1.0 - seen.gap
    for i in range(unsigned(first), unsigned(last)):
        k = unsigned(at) + unsigned(box[i]) * unsigned(P)
        p = s[i] * (one + seen.gap * abs(seen.edge - level[i]))
        for u in range(unsigned(P)):
            to[k + u] += p
            p *= y[i]


@inlined(fastmath={"contract"})
def fields_of(m: Any, ids: Any, n: int, tables: Tables, function: int, side: int, out: Any) -> None:
    """Write the polynomial of each box: the sum over all n boxes with their moments.

    Side 0: κ(target - source), of sources of the lower grade; side 1: κ(source - target).
    """
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
            right = 1 if (step > 0) != (side == 1) else 0
            _tail(m, ids, n, reach, step, tables.tail[function, right], tables.power[function, right], out)


@inlined(fastmath={"contract"})
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


@inlined(fastmath={"contract"})
def evaluate(
    boxes: Boxes,
    seen: SourceWeights,
    first: int,
    last: int,
    field: Any,
    at: int,
    c: float,
    d: float,
    to: Any,
    also: Any,
) -> None:
    """Add c and d times the polynomials of the boxes, from field[at] on, times the weights of first..last."""
    y, box, s, level = boxes.y, boxes.box, seen.s, seen.level
    one = 1.0 - seen.gap
    for i in range(unsigned(first), unsigned(last)):
        k = unsigned(at) + unsigned(box[i]) * unsigned(P)
        p = field[k + unsigned(P - 1)]
        for u in range(unsigned(P - 1)):
            p = p * y[i] + field[k + unsigned(P - 2) - u]
        p *= s[i] * (one + seen.gap * abs(seen.edge - level[i]))
        to[i] += c * p
        also[i] += d * p
