"""Data of the kernels over pairs: documents, gains of their grades, and parts, which are ranges of grades."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import inlined
from boostplug.kernels.base.views import GroupArrays
from boostplug.kernels.pairs.tables import Tables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TABULATED, NDCG, RANKNET = -1, 0, 1  # pair functions
SAFE_RANGE = 600.0  # of scores: products of two numbers up to e^300 are finite
TABULATED_COST = 24.0  # multiplications for a pair read from tables; 1 for a function that kernels know
SPACE = 11  # rows of the workspace of `Documents`


class Documents(NamedTuple):
    """Documents by ascending level, the gain of their grade.

    The pair of document i and a document j of a lower level has the weight ``winner[i] * loser[j]``, times the gap of
    their levels if grades have gains (`Task.gain`).
    """

    f: Floats  # scores, in units of the pair function
    winner: Floats
    loser: Floats  # may be the array `winner` itself
    level: Floats
    first: Floats  # sums of first derivatives
    second: Floats  # sums of second derivatives
    e: Floats  # e^(f - middle of the scores), if scores are near each other
    loser_e: Floats  # loser times e
    weight: Floats  # of the documents below the current level
    p: Floats  # sums over the documents of higher levels
    r: Floats


@inlined(_nrt=True)
def space_for(n: int) -> Any:
    """Return workspace for `documents_in`; rows that nobody writes to cost no memory."""
    x = np.empty((SPACE, n))
    x[1] = 1.0
    x[3] = 0.0
    return x


@numba.njit(inline="always")
def documents_in(x: Any, apart: bool) -> Documents:
    """Return the documents in the rows of `space_for`'s array; `apart`: winners and losers have different weights."""
    return Documents(x[0], x[1], x[2] if apart else x[1], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10])


class Parts(NamedTuple):
    """Parts: ranges ``first <= u < last`` of neighbouring grade groups of one query; all pairs in a part are summed."""

    first: Ints
    last: Ints
    query: Ints


class Functions(NamedTuple):
    """Functions of the score difference, and their shares in each output of a sum.

    Attributes
    ----------
    kind : int
        `NDCG` or `RANKNET`, whose derivatives a kernel computes exactly, or `TABULATED`.
    lower, higher : ndarray of shape (n_functions, n_outputs)
        Share of a function in an output if the other document has the lower (the higher) grade.
    tables : Tables
    """

    kind: int
    lower: Floats
    higher: Floats
    tables: Tables


class Task(NamedTuple):
    """Input of the sums: scores of rows, the multiplier of scores, and the weights of pairs.

    `GroupArrays` gives the weight of a pair. `gain` has an entry for each group, ascending within a query; weights are
    then multiplied by the gap of both gains. It is empty if grades have no gains. The sums, times the factor of the
    query, are added to `out`, of shape (n_outputs, n_rows).
    """

    scores: Floats
    multiplier: float
    groups: GroupArrays
    gain: Floats
    factor: Floats
    out: Floats


@inlined()
def longest(groups: GroupArrays, parts: Parts, begin: int, end: int) -> int:
    """Return the number of documents of the longest of the parts ``begin <= p < end``."""
    n = 0
    for p in range(begin, end):
        m = groups.group_start[parts.last[p]] - groups.group_start[parts.first[p]]
        n = m if m > n else n
    return n


@inlined()
def gather(task: Task, u0: int, u1: int, documents: Documents) -> tuple[float, float]:
    """Read the documents of the groups u0..u1, except their levels; return their lowest and their highest score."""
    rows, group_start = task.groups.rows, task.groups.group_start
    scores, multiplier = task.scores, task.multiplier
    f, winner, loser, first, second = documents.f, documents.winner, documents.loser, documents.first, documents.second
    base = unsigned(group_start[u0])
    n = unsigned(group_start[u1]) - base
    low, high = np.inf, -np.inf
    for i in range(n):
        x = multiplier * scores[unsigned(rows[base + i])]
        f[i] = x
        first[i] = 0.0
        second[i] = 0.0
        low = x if x < low else low
        high = x if x > high else high
    if task.groups.winner.shape[0]:
        for i in range(n):
            winner[i] = task.groups.winner[base + i]
    if task.groups.apart:
        for i in range(n):
            loser[i] = task.groups.loser[base + i]
    return low, high


@inlined()
def spread_levels(task: Task, u0: int, first: int, last: int, documents: Documents) -> None:
    """Write the gain of the groups first..last as the level of each of their documents; the part begins at group u0."""
    start, gain, level = task.groups.group_start, task.gain, documents.level
    for u in range(first, last):
        x = gain[u]
        for i in range(unsigned(start[u] - start[u0]), unsigned(start[u + 1] - start[u0])):
            level[i] = x


@inlined()
def scatter(task: Task, parts: Parts, p: int, documents: Documents) -> None:
    """Add the outputs of a part's documents to the outputs of their rows."""
    u0, u1, factor = parts.first[p], parts.last[p], task.factor[parts.query[p]]
    rows, group_start, out = task.groups.rows, task.groups.group_start, task.out
    first, second = documents.first, documents.second
    base = unsigned(group_start[u0])
    n = unsigned(group_start[u1]) - base
    for i in range(n):
        out[0, unsigned(rows[base + i])] += factor * first[i]
    if out.shape[0] > 1:
        for i in range(n):
            out[1, unsigned(rows[base + i])] += factor * second[i]


@inlined()
def middle_group(start: Ints, u0: int, u1: int) -> int:
    """Return the group whose first document is nearest to the middle of the documents of the groups u0..u1."""
    half = start[u0] + (start[u1] - start[u0]) // 2
    low, high = u0 + 1, u1 - 1
    while low < high:  # bisection: the first group after u0 that starts at or after the middle
        u = (low + high) // 2
        if start[u] < half:
            low = u + 1
        else:
            high = u
    return low - 1 if low > u0 + 1 and half - start[low - 1] < start[low] - half else low
