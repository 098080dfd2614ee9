r"""Sums of the exponential loss in queries whose pairs may have exponents above 60.

Beyond 60 the weight of a pair stays e^60: its derivatives stay constant and its value grows linearly ("Range" in
`docs/explanation/mpboost.md`). For two grades with distance d, both sides are sorted by score. With :math:`x = d F`, a
winner i has

.. math::
    \sum_j b_j e^{\min(x_j - x_i,\, 60)} = \sum_{x_j - x_i \le 60} b_j e^{x_j - x_i} + e^{60} \sum_{x_j - x_i > 60} b_j

The first sum times :math:`e^{x_i - x_{i'}} \le 1` is carried from one winner to the next higher one, i'. Losers are
summed the same way, with the signs of the scores reversed. The cost is O(n log n + nK) for n documents and K grades.
"""

import math
from typing import Any

import numpy as np

from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH
from boostplug.kernels.base.sorting import Workspace as Sorting
from boostplug.kernels.base.sorting import sort_range
from boostplug.kernels.pairs.exponential_loss.query import LARGEST_EXPONENT, distances_below, gather, scatter

_LIMIT = math.exp(LARGEST_EXPONENT)


@inlined()
def _weight(weight: Any, i: int) -> float:
    return weight[i] if weight.shape[0] > 0 else 1.0


@inlined()
def _sum_beside(
    order: Any, own: Any, other: Any, d: float, own_weight: Any, other_weight: Any, after: Any, c: Any,
    factor: float, workspace: Any,
) -> None:  # fmt: skip
    """Add the derivatives of the documents `own` in their pairs with `other`, both ranges of `order`.

    `order` holds documents by descending score in each range. Winners (d > 0) are walked from the lowest score up,
    losers (d < 0) from the highest down. `after` is space for the sums of weights and of weighted scores.
    """
    f, g, h = workspace.f, workspace.g, workspace.h
    n_own, n_other = own[1] - own[0], other[1] - other[0]
    after[0, n_other] = after[1, n_other] = 0.0
    for k in range(n_other - 1, -1, -1):
        j = order[other[1] - 1 - k if d > 0.0 else other[0] + k]
        b = _weight(other_weight, j)
        after[0, k], after[1, k] = after[0, k + 1] + b, after[1, k + 1] + b * (d * f[j])
    passed, total, before = 0, 0.0, 0.0
    for k in range(n_own):
        i = order[own[1] - 1 - k if d > 0.0 else own[0] + k]
        if k > 0:
            total *= math.exp(d * (before - f[i]))
        before = f[i]
        while passed < n_other:
            j = order[other[1] - 1 - passed if d > 0.0 else other[0] + passed]
            exponent = d * (f[j] - f[i])
            if exponent > LARGEST_EXPONENT:
                break
            total += _weight(other_weight, j) * math.exp(exponent)
            passed += 1
        beyond = max(0.0, after[1, passed] - (d * f[i] + LARGEST_EXPONENT) * after[0, passed])
        sum_of_pairs = total + _LIMIT * (after[0, passed] + c.beyond * beyond)
        w = sum_of_pairs * (factor * _weight(own_weight, i))
        g[i] -= d * w
        h[i] += (c.squared * d * d + c.constant) * w


@compiled()
def sum_far(
    first: int, last: int, scores: Any, groups: Any, method: Any, c: Any, factor: Any, out: Any, workspace: Any
) -> None:
    """Sum those of the queries ``first <= q < last`` that are marked as far."""
    start = groups.group_start
    distances = np.empty(groups.most_grades)
    after = np.empty((2, groups.longest + 1))
    n = groups.longest + WIDTH
    sorting = Sorting(np.empty(n), np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))
    winner, loser = workspace.winner, workspace.loser
    for q in range(first, last):
        if not out.far[q]:
            continue
        gather(q, scores, groups, workspace, False)
        u0, u1 = groups.query_group[q], groups.query_group[q + 1]
        base, at = start[u0], method.start[q]
        for u in range(u0, u1):
            for i in range(start[u] - base, start[u + 1] - base):
                sorting.keys[i], sorting.rows[i] = workspace.f[i], i
            sort_range(sorting, start[u] - base, start[u + 1] - base)
        for v in range(u0 + 1, u1):
            distances_below(method, q, groups, v, at, distances)
            at += v - u0
            above = (start[v] - base, start[v + 1] - base)
            for u in range(u0, v):
                below, d = (start[u] - base, start[u + 1] - base), distances[u - u0]
                _sum_beside(sorting.rows, above, below, d, winner, loser, after, c, factor[q], workspace)
                _sum_beside(sorting.rows, below, above, -d, loser, winner, after, c, factor[q], workspace)
        scatter(q, workspace, groups, out, False)
