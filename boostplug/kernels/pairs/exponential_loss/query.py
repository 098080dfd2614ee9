"""Documents of one query for the exponential loss: read from the rows, and their derivatives written back."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import log1p, unsigned
from boostplug.kernels.base.compiling import inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, larger, largest_of, least_of, load, smaller, store
from boostplug.kernels.base.views import GroupArrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BINARY, LINEAR, LOG, LOGISTIC = 0, 1, 2, 3  # distances that kernels can compute
LARGEST_EXPONENT = 60.0  # of a pair; e^60 · 1e10 pairs still fit float32


class Curvature(NamedTuple):
    """Terms of a pair with weight w and distance d.

    A pair adds ``(squared · d² + constant) w`` to both Hessians. `beyond` is 1 for the value of the loss, which grows
    linearly where the exponent passes `LARGEST_EXPONENT`; for derivatives it is 0, and w stays constant there.
    """

    squared: float
    constant: float
    beyond: float = 0.0


class Method(NamedTuple):
    """Method by which the pairs of each query are summed, and its distances.

    Attributes
    ----------
    how : ndarray of shape (n_queries,)
        `FACTORISED`, `RUNNING` or `BY_PAIR`.
    largest_distance : ndarray of shape (n_queries,)
        Distance of the largest gap.
    start, values : ndarray
        Stored distances of query q from ``start[q]`` on: of group v to each lower group u, v ascending, then u. A query
        without stored distances computes them by `kind` and `parameter`.
    kind : int
    parameter : float
    """

    how: Ints
    largest_distance: Floats
    start: Ints
    values: Floats
    kind: int
    parameter: float


FACTORISED, RUNNING, BY_PAIR = 0, 1, 2


class Sums(NamedTuple):
    """Gradient and Hessian of every row, and the queries whose pairs may have exponents above the largest one."""

    gradient: Floats
    hessian: Floats
    far: NDArray[np.bool_]


class Workspace(NamedTuple):
    """Documents of one query: scores, exponentials, gradient, Hessian, and weights (empty if all are 1)."""

    f: Floats
    e: Floats
    g: Floats
    h: Floats
    winner: Floats
    loser: Floats


@inlined()
def distance_of(gap: float, kind: int, parameter: float) -> float:
    """Return the distance of a gap > 0 between two grades (see `boostplug.losses.directed_distance`)."""
    if kind == LINEAR:
        return parameter * gap
    if kind == LOG:
        distance: float = log1p(parameter * gap)
        return distance
    if kind == LOGISTIC:
        return 1.0 / (1.0 + math.exp(-parameter * gap))
    return 1.0


@inlined()
def distances_below(method: Method, q: int, groups: GroupArrays, v: int, at: int, out: Floats) -> None:
    """Write the distance of group v of a query to each lower group; stored distances begin at `at`."""
    u0 = groups.query_group[q]
    stored, grade = method.start[q + 1] > method.start[q], groups.group_grade
    for u in range(u0, v):
        if stored:
            out[u - u0] = method.values[at + u - u0]
        else:
            out[u - u0] = distance_of(grade[v] - grade[u], method.kind, method.parameter)


def workspace_for(groups: GroupArrays) -> Workspace:
    """Return workspace for the longest query, with complete lanes for each grade."""
    size = groups.longest + WIDTH * groups.most_grades
    f, e, g, h = np.empty((4, size))
    winner = np.empty(size if len(groups.winner) else 0)
    return Workspace(f, e, g, h, winner, np.empty(size) if groups.apart else winner)


@inlined()
def padded(n: int) -> int:
    """Return the number of elements of the complete lanes that hold n documents."""
    return (n + WIDTH - 1) & -WIDTH


@inlined()
def gather(q: int, scores: Any, groups: Any, workspace: Any, by_group: bool) -> tuple[float, float, int]:
    """Fill f and the weights, set g and h to 0; return the lowest score, the highest, and the end of the filled part.

    With `by_group`, each group starts new lanes, because values stored in overlapping lanes are slow to load again.
    Otherwise documents follow each other. In the remaining lanes f repeats the last document, and weights are 0.
    """
    f, _, g, h, winner, loser = workspace
    rows, start = groups.rows, groups.group_start
    weighted = winner.shape[0] > 0
    u0, u1 = groups.query_group[q], groups.query_group[q + 1]
    to = unsigned(0)
    for u in range(u0, u1 if by_group else u0 + 1):
        for i in range(unsigned(start[u]), unsigned(start[u + 1] if by_group else start[u1])):
            f[to] = scores[unsigned(rows[i])]
            if weighted:
                winner[to], loser[to] = groups.winner[i], groups.loser[i]
            to += unsigned(1)
        while to & unsigned(WIDTH - 1):
            f[to] = f[to - unsigned(1)]
            if weighted:
                winner[to] = loser[to] = 0.0
            to += unsigned(1)
    n = int(to)
    low = high = load(f, 0)
    for k in range(0, n, WIDTH):
        low, high = smaller(low, load(f, k)), larger(high, load(f, k))
        store(g, k, broadcast(0.0))
        store(h, k, broadcast(0.0))
    return least_of(low), largest_of(high), n


@inlined()
def centre(workspace: Any, n: int, low: float, high: float) -> None:
    """Subtract the middle of the range of scores from each score."""
    middle = low + (high - low) / 2.0
    for k in range(0, n, WIDTH):
        store(workspace.f, k, load(workspace.f, k) - middle)


@inlined()
def scatter(q: int, workspace: Any, groups: Any, out: Any, by_group: bool) -> None:
    """Write the derivatives of a query's documents to their rows; documents stand in the order of `gather`."""
    start, rows, g, h = groups.group_start, groups.rows, workspace.g, workspace.h
    gradient, hessian = out.gradient, out.hessian
    u0, u1 = groups.query_group[q], groups.query_group[q + 1]
    place = unsigned(0)
    for u in range(u0, u1 if by_group else u0 + 1):
        for i in range(unsigned(start[u]), unsigned(start[u + 1] if by_group else start[u1])):
            row = unsigned(rows[i])
            gradient[row], hessian[row] = g[place], h[place]
            place += unsigned(1)
        if by_group:
            place = (place + unsigned(WIDTH - 1)) & ~unsigned(WIDTH - 1)
