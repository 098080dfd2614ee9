r"""LambdaRank's pairs, weighted by the change of a metric when both documents swap positions.

Position j of a list in score order has two values. :math:`u_j` is for a document that stands above documents of lower
grades, and :math:`v_j` for one that stands below documents of lower grades. Neither rises down the list. The pair of i,
of the higher grade, and j has the weight

.. math:: a_i b_j\,(G_i - G_j) \cdot \begin{cases} u_i - u_j & i \text{ stands above } j \\
    v_j - v_i & \text{otherwise} \end{cases}

with a and b the weights of winner and loser, and G the gains of their grades. For NDCG u and v are the discounts. For
MAP gains are 0 and 1, :math:`u_j = P_j/j - S_j` and :math:`v_j = (P_j + 1)/j - S_j`. P_j is the number of relevant
documents among the best j, and S_j = Σ rel/position over them. S covers the changes of precision between i and j.

`sum_tops` sums pair by pair, with a truncation. `lambda_halves.sum_lists` sums lists of any length, without one.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import EXP_MAX, exponential, log1p
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import (
    WIDTH,
    absolute,
    broadcast,
    first_lanes,
    larger,
    load,
    smaller,
    store,
    sum_of,
    where_positive,
)
from boostplug.kernels.base.sorting import workspace_for
from boostplug.kernels.lists.order import average_over_ties, order_by_score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR = 600.0  # range of scores within which e^x serves for every pair
FARTHEST = 1e300  # scores are clipped to ±1e300, so that differences are finite
_NOTHING = 1e-304  # above e^-700
_NORM = 0.01  # LightGBM adds it to a difference of scores


class PositionValues(NamedTuple):
    """Discounts of positions.

    Attributes
    ----------
    discount : ndarray
        NDCG's discounts, down to the length of the longest list; empty for average precision.
    cutoff : int
        The k of average precision.
    """

    discount: Floats
    cutoff: int


class RowWeights(NamedTuple):
    """For each row: the gain of its grade, the square root of its weight, its weights as winner and as loser."""

    gain: Floats
    root: Floats
    winner: Floats
    loser: Floats


class Ordered(NamedTuple):
    """One list by position, best first. Each array has `WIDTH` entries more than there are documents."""

    x: Floats  # score times the multiplier, within ±1e300
    winner: Floats  # weight in pairs with lower gains
    loser: Floats  # weight in pairs with higher gains; may be the array `winner` itself
    gain: Floats
    u: Floats  # value of the position for a document that stands above those of lower grades
    v: Floats  # value for a document that stands below them; the array `u` itself if they are equal
    tied_distance: Floats  # mean difference of two positions in a block of tied documents, averaged over u and v
    gradient: Floats
    hessian: Floats


@inlined(_nrt=True)
def ordered_workspace(n: int, two: bool, two_weights: bool) -> Ordered:
    """Return workspace for n documents; `two`: u and v differ; `two_weights`: weights of winners and losers differ."""
    m = n + WIDTH
    u, winner = np.zeros(m), np.ones(m)
    return Ordered(
        np.zeros(m), winner, np.ones(m) if two_weights else winner, np.zeros(m), u, np.zeros(m) if two else u,
        np.zeros(m), np.zeros(m), np.zeros(m),
    )  # fmt: skip


@inlined()
def in_range(x: float) -> float:
    """Return x, clipped to ±1e300."""
    return min(max(x, -FARTHEST), FARTHEST)


@inlined()
def _relevance(keys: Any, n: int, gain: Any, positions: PositionValues, average: bool, u: Any, v: Any) -> None:
    """Write average precision's u and v; with `average` tied documents share their relevance."""
    relevant = passed = 0.0
    a = 0
    while a < n:
        b, total = a, 0.0
        while b < n and keys[b] == keys[a] and (average or b == a):
            total += 1.0 if gain[b] > 0.0 else 0.0
            b += 1
        share = total / (b - a)
        for j in range(a, b):
            if j < positions.cutoff:
                relevant += share
                passed += share / (j + 1.0)
                u[j] = relevant / (j + 1.0) - passed
                v[j] = (relevant + 1.0) / (j + 1.0) - passed
            else:
                u[j] = v[j] = -passed
        a = b


@inlined()
def write_position_values(keys: Any, n: int, positions: PositionValues, ordered: Ordered, spare: Any) -> None:
    """Write the values of a list's positions, averaged over the orders of tied documents. `spare` has 3 rows."""
    gain, u, v, tied = ordered.gain, ordered.u, ordered.v, ordered.tied_distance
    if len(positions.discount):
        average_over_ties(keys, n, positions.discount, u, tied)
        return
    _relevance(keys, n, gain, positions, True, spare[0], spare[1])
    average_over_ties(keys, n, spare[0], u, tied)
    average_over_ties(keys, n, spare[1], v, spare[2])
    for j in range(n):
        tied[j] = 0.5 * (tied[j] + spare[2, j])


@inlined()
def sum_within(keys: Any, n: int, ordered: Ordered) -> float:
    """Add the pairs of tied documents, with σ = ½, and return their value; gains ascend within a block of ties."""
    value = 0.0
    a = 0
    while a + 1 < n:
        b = a + 1
        while b < n and keys[b] == keys[a]:
            b += 1
        if b - a > 1 and ordered.tied_distance[a] > 0.0 and ordered.gain[b - 1] > ordered.gain[a]:
            for up in (True, False):
                own, other = (ordered.winner, ordered.loser) if up else (ordered.loser, ordered.winner)
                passed = gaps = 0.0
                before = ordered.gain[a if up else b - 1]
                for k in range(b - a):
                    j = a + k if up else b - 1 - k
                    gaps += abs(ordered.gain[j] - before) * passed
                    before = ordered.gain[j]
                    passed += other[j]
                    w = ordered.tied_distance[a] * own[j] * gaps
                    ordered.gradient[j] += -0.5 * w if up else 0.5 * w
                    ordered.hessian[j] += 0.25 * w
                    value += w if up else 0.0
        a = b
    return value * 0.6931471805599453


@numba.njit(inline="always")
def falling(d: Any) -> Any:
    """Return e^-d of lanes d ≥ 0; 0 if it is below 1e-304."""
    return larger(exponential(smaller(d, broadcast(EXP_MAX)) * -1.0) - _NOTHING, broadcast(0.0))


@numba.njit(inline="always")
def shares(d: Any) -> Any:
    """Return σ(-d) and σ(d) of lanes, for any d."""
    t = falling(absolute(d))
    z = 1.0 / (t + 1.0)
    return where_positive(d, t * z, z), where_positive(d, z, t * z)


@inlined(fastmath={"contract"}, error_model="numpy")
def shares_of_pairs(near: bool, e: Any, x: Any, i: int, j: int) -> Any:
    """Return σ(-d) and σ(d) of document i with documents j and on; `near`: computed from `e`, powers of e."""
    if near:
        e_j = load(e, j)
        z = 1.0 / (e_j + e[i])
        return e_j * z, z * e[i]
    return shares(x[i] - load(x, j))


@numba.njit(inline="always")
def softplus(d: Any) -> Any:
    """Return log(1 + e^-d) of lanes, for any d."""
    t = falling(absolute(d))
    return larger(d * -1.0, broadcast(0.0)) + log1p(t)


@inlined(fastmath={"contract"}, error_model="numpy")
def _sum_of_tops(
    n: int, top: int, f: Any, e: Any, near: bool, two: bool, normed: bool, with_value: bool, ordered: Ordered
) -> Any:
    """Add the pairs whose better document is among the best `top`; return their value and the sum of their lambdas.

    `f` are the scores by position; `e` are powers of e, used if the scores are `near` each other.
    """
    x, gain, u, v = ordered.x, ordered.gain, ordered.u, ordered.v
    winner, loser = ordered.winner, ordered.loser
    g, h = ordered.gradient, ordered.hessian
    value, total = broadcast(0.0), broadcast(0.0)
    for i in range(top):
        g_i, h_i, value_i, total_i = broadcast(0.0), broadcast(0.0), broadcast(0.0), broadcast(0.0)
        for j in range(i + 1, n, WIDTH):
            gap = first_lanes(n - j, gain[i] - load(gain, j), 0.0)
            w = u[i] - load(u, j)
            if two:
                w = where_positive(gap, w, v[i] - load(v, j))
            w = w * where_positive(gap, load(loser, j) * winner[i], load(winner, j) * loser[i])
            if normed:
                w = w / first_lanes(n - j, f[i] - load(f, j) + _NORM, 1.0)
            wrong, right = shares_of_pairs(near, e, x, i, j)
            size = absolute(gap) * w
            y = size * where_positive(gap, wrong, right)
            total_i = total_i + y
            y = where_positive(gap, y, y * -1.0)
            g_i = g_i + y
            store(g, j, load(g, j) + y)
            y = size * wrong * right
            h_i = h_i + y
            store(h, j, load(h, j) + y)
            if with_value:
                d = x[i] - load(x, j)
                value_i = value_i + size * softplus(where_positive(gap, d, d * -1.0))
        g[i] -= sum_of(g_i)
        h[i] += sum_of(h_i)
        total, value = total + total_i, value + value_i
    return sum_of(value), sum_of(total)


@compiled()
def sum_tops(
    lists: Any, scores: Any, multiplier: float, rows: RowWeights, positions: PositionValues, top: int, norm: bool,
    with_value: bool, first: int, last: int, sums: Any,
) -> None:  # fmt: skip
    """Sum the pairs whose better document is among the best `top` of its list; ties stand in file order.

    `norm` is LightGBM's normalization: each pair is divided by its score difference, and a list's sums are multiplied
    by log2(1 + Σ)/Σ, where Σ is twice the sum of its lambdas.
    """
    workspace = workspace_for(lists.start, first, last)
    two = len(positions.discount) == 0
    ordered = ordered_workspace(len(workspace.keys), two, True)
    gain, root = rows.gain, rows.root
    x, f, e = ordered.x, np.zeros(len(ordered.x)), np.ones(len(ordered.x))
    for q in range(first, last):
        n = order_by_score(scores, lists, q, workspace)
        keys = workspace.keys
        total_weight = highest = 0.0
        for j in range(n):
            row = lists.rows[workspace.rows[j]]
            f[j], x[j] = in_range(keys[j]), in_range(multiplier * keys[j])
            ordered.winner[j], ordered.loser[j], ordered.gain[j] = rows.winner[row], rows.loser[row], gain[row]
            ordered.gradient[j] = ordered.hessian[j] = 0.0
            total_weight += root[row] * root[row]
            highest = max(highest, gain[row])
        if highest == 0.0:
            continue
        if two:
            _relevance(keys, n, ordered.gain, positions, False, ordered.u, ordered.v)
        else:
            for j in range(n):
                ordered.u[j] = positions.discount[j]
        near = x[0] - x[n - 1] <= NEAR
        if near:
            middle = 0.5 * (x[0] + x[n - 1])
            for j in range(0, n, WIDTH):
                store(e, j, exponential(first_lanes(n - j, load(x, j) - middle, 0.0)))
        normed = norm and keys[0] != keys[n - 1]
        value, total = _sum_of_tops(n, min(top, n - 1), f, e, near, two, normed, with_value, ordered)
        times = 1.0
        total *= 2.0 * multiplier * n / total_weight
        if norm and total > 0.0:
            times = np.log1p(total) / (0.6931471805599453 * total)
        sums.value[q] = times * value
        for j in range(n):
            row = lists.rows[workspace.rows[j]]
            sums.gradient[row] = times * ordered.gradient[j]
            sums.hessian[row] = times * ordered.hessian[j]
