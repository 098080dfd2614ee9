r"""LambdaRank's pairs, weighted by the change of a metric when both documents swap positions, summed pair by pair.

In NumPy, for NDCG without a cut-off and scores without ties::

    def lambda_rank(scores, gains, root_weight):
        n = len(scores)
        rank = np.argsort(np.argsort(-scores))
        discount = 1 / np.log2(2 + np.arange(n))
        ideal = (np.sort(gains)[::-1] * discount).sum()
        swap = np.abs(np.subtract.outer(discount[rank], discount[rank])) * np.subtract.outer(gains, gains) / ideal
        w = np.where(swap > 0, swap, 0) * np.outer(root_weight, root_weight)  # winners times losers
        wrong = 1 / (1 + np.exp(np.subtract.outer(scores, scores)))
        g, h = -w * wrong, w * wrong * (1 - wrong)
        return g.sum(axis=1) - g.sum(axis=0), h.sum(axis=1) + h.sum(axis=0)

Position j of a list in score order has two values. :math:`u_j` is for a document that stands above documents of lower
grades. :math:`v_j` is for one that stands below such documents. Neither rises down the list. The pair of i, of the
higher grade, and j has the weight

.. math:: a_i b_j\,(G_i - G_j) \cdot \begin{cases} u_i - u_j & i \text{ stands above } j \\
    v_j - v_i & \text{otherwise} \end{cases}

with a and b the weights of winner and loser, and G the gains of their grades. For NDCG u and v are the discounts. For
MAP gains are 0 and 1, :math:`u_j = P_j/j - S_j` and :math:`v_j = (P_j + 1)/j - S_j`. P_j is the number of relevant
documents among the best j, and S_j = Σ rel/position over them. S covers the changes of precision between i and j. For
MRR gains are 0 and 1, :math:`v_j = \max(1/j, 1/p_1)` and :math:`u_j = \max(1/j, 1/p_2)`, with :math:`p_1` and
:math:`p_2` the positions of the first two relevant documents.
"""

from typing import Any, NamedTuple

import numba
import numpy as np

from boostplug.core.arrays import Floats
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

_NEAR = 600.0  # range of scores within which e^x serves for every pair
_FARTHEST = 1e300  # scores are clipped to ±1e300, so that differences are finite
_NOTHING = 1e-304  # above e^-700
_NORM = 0.01  # LightGBM adds it to a difference of scores


class Pairing(NamedTuple):
    """How the pairs of a list are chosen and weighted.

    Attributes
    ----------
    discount : ndarray
        NDCG's discounts, down to the length of the longest list; empty for other metrics.
    only_first : bool
        Whether only the first relevant document counts (MRR); else average precision.
    cutoff : int
        The k of average precision and of MRR.
    top : int
        Only pairs count whose better-ranked document is among the best `top`.
    average_ties : bool
        Whether tied documents count by their mean over a random order; else they stand in row order.
    norm : bool
        LightGBM's normalization: each pair is divided by its score difference. Then a list's sums are multiplied by
        log2(1 + Σ)/Σ, with Σ twice the sum of its lambdas.
    """

    discount: Floats
    only_first: bool
    cutoff: int
    top: int
    average_ties: bool
    norm: bool


class RowWeights(NamedTuple):
    """For each row: the gain of its grade, and its weights in pairs as winner and as loser."""

    gain: Floats
    winner: Floats
    loser: Floats


class _Ordered(NamedTuple):
    """One list by position, best first. Each array has `WIDTH` entries more than there are documents."""

    x: Floats  # score times the multiplier, within ±1e300
    power: Floats  # e^x less the middle score, if the scores are near each other
    winner: Floats
    loser: Floats
    gain: Floats
    u: Floats  # value of the position for a document that stands above those of lower grades
    v: Floats  # value for a document that stands below them
    tied: Floats  # mean difference of two positions in a block of tied documents, averaged over u and v
    tied_v: Floats  # workspace
    gradient: Floats
    hessian: Floats


@inlined()
def _write_position_values(keys: Any, n: int, pairing: Pairing, ordered: _Ordered) -> None:
    """Write the values of a list's positions, averaged over the orders of tied documents if ties are averaged."""
    gain, u, v, tied, tied_v = ordered.gain, ordered.u, ordered.v, ordered.tied, ordered.tied_v
    if len(pairing.discount):
        for j in range(n):
            u[j] = v[j] = pairing.discount[j]
    elif pairing.only_first:
        _write_first_ranks(keys, n, pairing, gain, u, v)
    else:
        _write_relevance(keys, n, pairing, gain, u, v)
    if pairing.average_ties:
        average_over_ties(keys, n, u, u, tied)
        average_over_ties(keys, n, v, v, tied_v)
        for j in range(n):
            tied[j] = 0.5 * (tied[j] + tied_v[j])


@inlined()
def _write_relevance(keys: Any, n: int, pairing: Pairing, gain: Any, u: Any, v: Any) -> None:
    """Write average precision's u and v; where ties are averaged, tied documents share their relevance."""
    relevant = passed = 0.0
    a = 0
    while a < n:
        b, total = a, 0.0
        while b < n and (b == a or (pairing.average_ties and keys[b] == keys[a])):
            total += 1.0 if gain[b] > 0.0 else 0.0
            b += 1
        share = total / (b - a)
        for j in range(a, b):
            if j < pairing.cutoff:
                relevant += share
                passed += share / (j + 1.0)
                u[j] = relevant / (j + 1.0) - passed
                v[j] = (relevant + 1.0) / (j + 1.0) - passed
            else:
                u[j] = v[j] = -passed
        a = b


@inlined()
def _write_first_ranks(keys: Any, n: int, pairing: Pairing, gain: Any, u: Any, v: Any) -> None:
    """Write the reciprocal rank's u and v. A relevant document among tied ones stands at the last of their places."""
    relevant, first, second = 0, n, n
    a = 0
    while a < n and relevant < 2:
        b = a
        while b < n and (b == a or (pairing.average_ties and keys[b] == keys[a])):
            relevant += 1 if gain[b] > 0.0 else 0
            b += 1
        first = b - 1 if relevant > 0 and first == n else first
        second = b - 1 if relevant > 1 else second
        a = b
    for j in range(n):
        at = min(j, first), min(j, second)
        v[j] = 1.0 / (at[0] + 1.0) if at[0] < pairing.cutoff else 0.0
        u[j] = 1.0 / (at[1] + 1.0) if at[1] < pairing.cutoff else 0.0


@numba.njit(inline="always")
def _falling(d: Any) -> Any:
    """Return e^-d of lanes d ≥ 0; 0 if it is below 1e-304."""
    return larger(exponential(smaller(d, broadcast(EXP_MAX)) * -1.0) - _NOTHING, broadcast(0.0))


@inlined(fastmath={"contract"}, error_model="numpy")
def _shares_of_pairs(near: bool, ordered: _Ordered, i: int, j: int) -> Any:
    """Return σ(-d) and σ(d) of document i with documents j and on, d the difference of their scores."""
    if near:
        e_i, e_j = ordered.power[i], load(ordered.power, j)
        z = 1.0 / (e_j + e_i)
        return e_j * z, z * e_i
    d = ordered.x[i] - load(ordered.x, j)  # 0 or more, as the scores descend
    t = _falling(d)
    z = 1.0 / (t + 1.0)
    return t * z, z


@numba.njit(inline="always")
def _softplus(d: Any) -> Any:
    """Return log(1 + e^-d) of lanes, for any d."""
    return larger(d * -1.0, broadcast(0.0)) + log1p(_falling(absolute(d)))


@inlined(fastmath={"contract"}, error_model="numpy")
def _sum_list(
    keys: Any, n: int, near: bool, multiplier: float, pairing: Pairing, normed: bool, with_value: bool,
    ordered: _Ordered,
) -> Any:  # fmt: skip
    """Add the pairs of one list. Return their value and the sum of their lambdas."""
    x, _, winner, loser, gain, u, v, tied, _, g, h = ordered
    value, total = broadcast(0.0), broadcast(0.0)
    end = 0  # of the block of documents that tie with i
    for i in range(min(pairing.top, n - 1)):
        if i >= end:
            end = i + 1
            while pairing.average_ties and end < n and keys[end] == keys[i]:
                end += 1
        g_i, h_i, value_i, total_i = broadcast(0.0), broadcast(0.0), broadcast(0.0), broadcast(0.0)
        for j in range(i + 1, n, WIDTH):
            gap = first_lanes(n - j, gain[i] - load(gain, j), 0.0)
            w = where_positive(gap, u[i] - load(u, j), v[i] - load(v, j))
            w = first_lanes(end - j, broadcast(tied[i]), w)
            w = w * where_positive(gap, load(loser, j) * winner[i], load(winner, j) * loser[i])
            if normed:
                w = w / first_lanes(n - j, (x[i] - load(x, j)) * (1.0 / multiplier) + _NORM, 1.0)
            wrong, right = _shares_of_pairs(near, ordered, i, j)
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
                value_i = value_i + size * _softplus(where_positive(gap, d, d * -1.0))
        g[i] -= sum_of(g_i)
        h[i] += sum_of(h_i)
        total, value = total + total_i, value + value_i
    return sum_of(value), sum_of(total)


@compiled()
def sum_lists(
    first: int, last: int, lists: Any, scores: Any, multiplier: float, rows: RowWeights, unit: float, pairing: Pairing,
    with_value: bool, sums: Any,
) -> None:  # fmt: skip
    """Sum the pairs of each list, by its scores times the multiplier. `unit` is that of the weights in `rows`."""
    workspace = workspace_for(lists.start, first, last)
    keys, m = workspace.keys, len(workspace.keys) + WIDTH
    ordered = _Ordered(
        np.zeros(m), np.ones(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m),
        np.zeros(m), np.zeros(m), np.zeros(m),
    )  # fmt: skip
    x = ordered.x
    for q in range(first, last):
        n = order_by_score(scores, lists, q, workspace)
        total_weight = highest = 0.0
        for j in range(n):
            at = workspace.rows[j]
            row = lists.rows[at]
            x[j] = min(max(multiplier * keys[j], -_FARTHEST), _FARTHEST)
            ordered.winner[j], ordered.loser[j], ordered.gain[j] = rows.winner[row], rows.loser[row], rows.gain[row]
            ordered.gradient[j] = ordered.hessian[j] = 0.0
            total_weight += lists.weight[at]
            highest = max(highest, rows.gain[row])
        if highest == 0.0:
            continue
        _write_position_values(keys, n, pairing, ordered)
        near = x[0] - x[n - 1] <= _NEAR
        if near:
            middle = 0.5 * (x[0] + x[n - 1])
            for j in range(0, n, WIDTH):
                store(ordered.power, j, exponential(first_lanes(n - j, load(x, j) - middle, 0.0)))
        normed = pairing.norm and keys[0] != keys[n - 1]
        value, total = _sum_list(keys, n, near, multiplier, pairing, normed, with_value, ordered)
        times = 1.0
        total *= 2.0 * multiplier * n * unit / total_weight
        if pairing.norm and total > 0.0:
            times = np.log1p(total) / (0.6931471805599453 * total)
        sums.value[q] = times * value
        for j in range(n):
            row = lists.rows[workspace.rows[j]]
            sums.gradient[row] = times * ordered.gradient[j]
            sums.hessian[row] = times * ordered.hessian[j]
