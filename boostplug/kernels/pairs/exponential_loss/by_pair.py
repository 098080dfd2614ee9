r"""Sums of the exponential loss pair by pair: short lists with many grades, and explicit pairs.

In NumPy, for the labels y, scores f and distances of one query::

    def pair_sums(y, f, distance):
        winner, loser = np.nonzero(y[:, None] > y)
        d = distance(y[winner] - y[loser])
        w = np.exp(np.minimum(-d * (f[winner] - f[loser]), 60))
        n = len(y)
        gradient = np.bincount(loser, d * w, n) - np.bincount(winner, d * w, n)
        hessian = np.bincount(loser, d**2 * w, n) + np.bincount(winner, d**2 * w, n)
        return gradient, hessian
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import EXP_MAX, exponential, log1p, unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, first_lanes, larger, load, smaller, store, sum_of
from boostplug.kernels.base.views import PairArrays
from boostplug.kernels.pairs.exponential_loss.query import (
    BY_PAIR,
    LARGEST_EXPONENT,
    LINEAR,
    LOG,
    Curvature,
    gather,
    scatter,
)

Floats = NDArray[np.float64]


@inlined(fastmath={"contract"}, error_model="numpy")
def _pairs_below(
    workspace: Any, grade: Any, i: int, end: int, kind: int, parameter: float, c: Any, factor: float
) -> None:
    """Add the pairs of document i with the documents before `end`, which have lower grades."""
    f, _, g, h, winner, loser = workspace
    g_i, h_i = broadcast(0.0), broadcast(0.0)
    for j in range(0, end, WIDTH):
        gap = first_lanes(end - j, grade[i] - load(grade, j), 1.0)
        if kind == LINEAR:
            d = gap * parameter
        elif kind == LOG:
            d = log1p(gap * parameter)
        else:
            d = 1.0 / (exponential(larger(gap * -parameter, broadcast(-EXP_MAX))) + 1.0)
        exponent = larger(d * (load(f, j) - f[i]), broadcast(-EXP_MAX))
        w = exponential(smaller(exponent, broadcast(LARGEST_EXPONENT))) * factor
        w = w * (larger(exponent - LARGEST_EXPONENT, broadcast(0.0)) * c.beyond + 1.0)
        if winner.shape[0] > 0:
            w = w * load(loser, j) * winner[i]
        w = first_lanes(end - j, w, 0.0)
        x = d * w
        y = d * x * c.squared + w * c.constant
        g_i, h_i = g_i - x, h_i + y
        store(g, j, load(g, j) + x)
        store(h, j, load(h, j) + y)
    g[i] += sum_of(g_i)
    h[i] += sum_of(h_i)


@compiled()
def sum_by_pair(
    first: int, last: int, scores: Any, groups: Any, method: Any, c: Any, factor: Any, out: Any, workspace: Any
) -> None:
    """Sum the BY_PAIR queries among ``first <= q < last``."""
    grade = np.empty(groups.longest + WIDTH)
    for q in range(first, last):
        if method.how[q] != BY_PAIR:
            continue
        gather(q, scores, groups, workspace, False)
        u0, u1 = groups.query_group[q], groups.query_group[q + 1]
        base = groups.group_start[u0]
        for u in range(u0, u1):
            for i in range(unsigned(groups.group_start[u] - base), unsigned(groups.group_start[u + 1] - base)):
                grade[i] = groups.group_grade[u]
        for u in range(u0 + 1, u1):
            end = groups.group_start[u] - base
            for i in range(end, groups.group_start[u + 1] - base):
                _pairs_below(workspace, grade, i, end, method.kind, method.parameter, c, factor[q])
        scatter(q, workspace, groups, out, False)


@compiled()
def _add_listed(first: int, last: int, scores: Any, pairs: Any, distance: Any, c: Any, factor: Any, out: Any) -> None:
    """Add the explicit pairs of the queries ``first <= q < last``."""
    gradient, hessian = out
    for q in range(first, last):
        for k in range(pairs.start[q], pairs.start[q + 1]):
            i, j, d = pairs.winner[k], pairs.loser[k], distance[k]
            exponent = -d * (scores[i] - scores[j])
            w = factor[q] * pairs.weight[k] * math.exp(min(exponent, LARGEST_EXPONENT))
            x = d * w
            y = c.squared * d * x + c.constant * w
            gradient[i] -= x
            gradient[j] += x
            hessian[i] += y
            hessian[j] += y


def sum_listed(
    scores: Floats, pairs: PairArrays, distance: Floats, curvature: Curvature, factor: Floats
) -> tuple[Floats, Floats]:
    """Return gradient and Hessian of all rows over explicit pairs, each query's times its factor."""
    out = np.zeros((2, len(scores)))
    run_over_queries(
        lambda first, last: _add_listed(first, last, scores, pairs, distance, curvature, factor, (out[0], out[1])),
        pairs.start,
        1 if pairs.crosses else None,
    )
    return out[0], out[1]
