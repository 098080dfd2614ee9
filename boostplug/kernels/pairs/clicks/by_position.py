"""Counts of pairs by the positions of both documents and by their score difference."""

import math
from typing import Any, NamedTuple

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.views import GroupArrays

# Classes of differences, on either side of 0: 1/40 wide up to .3, 1/8 up to 1.3, 1/4 up to 4.3, 3/4 up to 10.3.
_PER_UNIT = (40.0, 8.0, 4.0, 4.0 / 3.0)
_STARTS = (0.0, 0.3, 1.3, 4.3)
_NUMBERS = (0.0, 12.0, 20.0, 32.0)  # number of classes up to each start
HALF = 40  # classes on each side; the outermost also holds all larger differences
_INNER = np.interp(np.arange(HALF) + 0.5, (*_NUMBERS, HALF), (*_STARTS, 10.3))
EDGES = np.r_[-np.inf, -_INNER[::-1], _INNER, np.inf]
EDGES.setflags(write=False)

_PARTS = 4  # tables filled in parallel; a fixed number, so that sums do not depend on the number of threads
_SMALL = 20_000  # documents; up to here one table is filled
_MOST = 100_000  # documents; with more, only every second (third, …) page is counted


class PlacedDocuments(NamedTuple):
    """Documents at the first positions, by query and then by grade; query q has ``start[q]:start[q + 1]``.

    `winner` and `loser` are their weights in pairs, empty if all are 1. Only every `step`-th page is included.
    """

    rows: Ints
    group: Ints
    place: Ints
    start: Ints
    winner: Floats
    loser: Floats
    n: int
    step: int


def placed_documents(groups: GroupArrays, position: Ints, n: int) -> PlacedDocuments:
    """Return the documents at positions up to n; of a large log, those of pages at regular distances."""
    of_query = np.repeat(np.arange(len(groups.query_group) - 1), np.diff(groups.group_start[groups.query_group]))
    group = np.repeat(np.arange(len(groups.group_grade)), np.diff(groups.group_start))
    place = position[groups.rows] - 1
    kept = np.flatnonzero(place < n)
    step = 1 + len(kept) // _MOST
    kept = kept[of_query[kept] % step == 0]
    start = np.searchsorted(of_query[kept], np.arange(len(groups.query_group)))
    winner, loser = (weight[kept] if len(weight) else weight for weight in (groups.winner, groups.loser))
    return PlacedDocuments(groups.rows[kept], group[kept], place[kept], start, winner, loser, n, step)


@inlined()
def _class_of(d: float) -> int:
    """Return the class of a difference. `EDGES` holds the boundaries of the classes."""
    a = abs(d)
    steps = float(HALF)
    for k in range(4):
        steps = min(steps, _NUMBERS[k] + (a - _STARTS[k]) * _PER_UNIT[k])
    return int(math.copysign(steps, d) + (HALF + 0.5))


@compiled()
def _count(first: int, last: int, documents: Any, scores: Any, scale: float, edges: Any, table: Any) -> None:
    """Add the weights of the pairs of some parts, and weight times difference, to the table of each part."""
    rows, group, place, start = documents.rows, documents.group, documents.place, documents.start
    weighted = len(documents.winner) > 0
    for part in range(first, last):
        for q in range(edges[part], edges[part + 1]):
            begin, end = unsigned(start[q]), unsigned(start[q + 1])
            for i in range(begin, end):
                if group[i] == group[begin]:
                    continue
                score = scores[unsigned(rows[i])]
                counts = table[part, place[i]]
                for j in range(begin, i):
                    if group[j] == group[i]:
                        break
                    w = documents.winner[i] * documents.loser[j] if weighted else 1.0
                    d = min(max(scale * (score - scores[unsigned(rows[j])]), -1e100), 1e100)
                    at = unsigned(_class_of(d))
                    counts[unsigned(place[j]), at, 0] += w
                    counts[unsigned(place[j]), at, 1] += w * d


def pairs_by_position(documents: PlacedDocuments, scores: Floats, scale: float) -> Floats:
    """Return the pairs of different grades, counted by positions and by score difference.

    Parameters
    ----------
    documents : PlacedDocuments
    scores : ndarray of shape (n_rows,)
    scale : float
        Multiplies the differences, the winner's score less the loser's. Each is then clipped at 1e100.

    Returns
    -------
    ndarray of shape (n, n, 2 HALF + 1, 2)
        Sums over pairs of their weight, and of weight times difference. The axes are the winner's position, the
        loser's, the class of the difference, and these two sums. Both are multiplied by `documents.step`, so that
        tables of several workers add up.
    """
    start, n = documents.start, documents.n
    parts = 1 if start[-1] < _SMALL else _PARTS
    edges = np.searchsorted(start, np.linspace(0, start[-1], parts + 1))
    edges[0], edges[-1] = 0, len(start) - 1
    table = np.zeros((parts, n, n, 2 * HALF + 1, 2))
    run_over_queries(_count, start[edges], documents, scores, scale, edges, table)
    total: Floats = documents.step * table.sum(axis=0)
    return total
