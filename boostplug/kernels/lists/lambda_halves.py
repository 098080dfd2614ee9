"""The pair sums of `lambdas` over long lists, in O(n log n) and with a relative error of 1e-9 for every pair.

In NumPy, pair by pair, for NDCG without a cut-off and scores without ties::

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

The list in score order is split in halves, recursively. Pairs of a document above and one below the middle are summed
together, from eight nodes for each range of score distances; parts of up to 160 documents are summed pair by pair. Tied
documents have the same position value, so these sums give their pairs the weight 0; `lambdas.sum_within` adds those
pairs. `docs/explanation/pair_sums.md` derives the sums.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import exponential, log1p
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import (
    WIDTH,
    absolute,
    broadcast,
    first_lanes,
    larger,
    load,
    store,
    sum_of,
    where_positive,
)
from boostplug.kernels.base.sorting import sort, workspace_for
from boostplug.kernels.lists.lambdas import (
    NEAR,
    Ordered,
    PositionValues,
    falling,
    in_range,
    ordered_workspace,
    shares_of_pairs,
    softplus,
    sum_within,
    write_position_values,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BY_PAIR_UP_TO = 160  # documents that are summed pair by pair
_LEAST = 1e-290  # floor of t in log(1 + t)/t
_DEPTH = 128  # largest number of parts on the stack
# Ends of the pieces of distances: eight nodes interpolate f and f² to 1e-9 in each; in the last both are linear.
_EDGES = (0.73, 1.51, 2.43, 3.74, 5.24, 7.6, 10.5, 14.9, 24.9)
_PIECES = len(_EDGES) + 1
_SUMS = (
    8 * WIDTH
)  # for each piece: sums, and sums times gaps of gains; of two functions; with and without the own position's value


def _nodes() -> tuple[Floats, Floats]:
    """Return eight Chebyshev nodes, and the coefficients of their Lagrange polynomials, highest power first."""
    at = np.cos((np.arange(WIDTH) + 0.5) * np.pi / WIDTH)
    return at, np.ascontiguousarray(np.linalg.inv(np.vander(at)))


_AT, _POWERS = _nodes()


class _Workspace(NamedTuple):
    """Space for one list.

    - By document, ascending gains: `order`, its position, and `spare`, a copy.
    - By position: `distance` from the middle score; `power`, e^-distance; `piece`, the index of its piece.
    - By piece, for each half: `edge`, where it begins and its width; `node`, and `falling`, e^-node; `sums`.
    - `own`: data of the documents of a short part. `to_do`: a stack of the parts that are left.
    """

    order: Ints
    spare: Ints
    distance: Floats
    power: Floats
    piece: Ints
    edge: Floats
    node: Floats
    falling: Floats
    sums: Floats
    own: Floats
    to_do: Ints


@inlined(_nrt=True)
def _workspace_of(n: int) -> _Workspace:
    return _Workspace(
        np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n + WIDTH), np.zeros(n + WIDTH), np.zeros(n, np.int64),
        np.zeros((2, _PIECES, 2)), np.zeros(_PIECES * WIDTH), np.zeros(_PIECES * WIDTH), np.zeros(_PIECES * _SUMS),
        np.zeros((10, _BY_PAIR_UP_TO + WIDTH)), np.empty((_DEPTH, 2), np.int64),
    )  # fmt: skip


@inlined(fastmath={"contract"}, error_model="numpy")
def _pair_by_pair(first: int, last: int, two: bool, with_value: bool, ordered: Ordered, workspace: _Workspace) -> float:
    """Add the pairs of the positions first..last, at most `_BY_PAIR_UP_TO`, and return their total value."""
    own = workspace.own
    x, e, winner, loser, gain, u, v = own[0], own[1], own[2], own[3], own[4], own[5], own[6]
    c, g, h = own[7], own[8], own[9]
    order, n = workspace.order, last - first
    middle = 0.5 * (ordered.x[first] + ordered.x[last - 1])
    near = ordered.x[first] - ordered.x[last - 1] <= NEAR
    for k in range(n):
        j = order[first + k]
        x[k], gain[k], u[k] = ordered.x[j], ordered.gain[j], ordered.u[j]
        winner[k], loser[k] = ordered.winner[j], ordered.loser[j]
        if two:
            v[k] = ordered.v[j]
        g[k] = h[k] = 0.0
    for k in range(0, n, WIDTH):
        store(e, k, exponential(first_lanes(n - k, load(x, k) - middle, 0.0)) if near else broadcast(1.0))
    value = broadcast(0.0)
    below = 0
    for i in range(n):
        if i > 0 and gain[i] > gain[i - 1]:
            below = i
            for j in range(0, below, WIDTH):
                store(c, j, first_lanes(below - j, (gain[i] - load(gain, j)) * load(loser, j), 0.0))
        g_i, h_i, value_i = broadcast(0.0), broadcast(0.0), broadcast(0.0)
        for j in range(0, below, WIDTH):
            w = u[i] - load(u, j)
            w = where_positive(w, w, larger(load(v, j) - v[i], broadcast(0.0))) if two else absolute(w)
            w = w * load(c, j)
            wrong, right = shares_of_pairs(near, e, x, i, j)
            if with_value:
                value_i = value_i + w * softplus(x[i] - load(x, j))
            w = w * wrong
            g_i = g_i + w
            store(g, j, load(g, j) + w * winner[i])
            w = w * right
            h_i = h_i + w
            store(h, j, load(h, j) + w * winner[i])
        g[i] -= winner[i] * sum_of(g_i)
        h[i] += winner[i] * sum_of(h_i)
        value = value + value_i * winner[i]
    for k in range(n):
        j = order[first + k]
        ordered.gradient[j] += g[k]
        ordered.hessian[j] += h[k]
    total: float = sum_of(value)
    return total


@inlined(fastmath={"contract"}, error_model="numpy")
def _distances(first: int, middle: int, last: int, ordered: Ordered, workspace: _Workspace) -> None:
    """Write the distance of each position's score from that of the middle, and e^-distance."""
    x, distance, power = ordered.x, workspace.distance, workspace.power
    for j in range(first, last, WIDTH):
        d = absolute(load(x, j) - x[middle])
        store(distance, j, d)
        store(power, j, falling(d))


@inlined()
def _into_pieces(first: int, last: int, side: int, workspace: _Workspace) -> int:
    """Assign the documents of one half to pieces of the distance; return the number of pieces with documents."""
    distance, piece, edge = workspace.distance, workspace.piece, workspace.edge
    closest, farthest = min(distance[first], distance[last - 1]), max(distance[first], distance[last - 1])
    if farthest <= _EDGES[0] or closest >= _EDGES[-1]:
        for j in range(first, last):
            piece[j] = 0
        edge[side, 0, 0], edge[side, 0, 1] = closest, farthest
        count = 1
    else:
        count, before = 0, -1
        ascending = distance[first] <= distance[last - 1]
        at = 0
        for k in range(last - first):
            j = first + k if ascending else last - 1 - k
            while at < _PIECES - 1 and distance[j] > _EDGES[at]:
                at += 1
            if at != before:
                before = at
                edge[side, count, 0] = distance[j]
                count += 1
            edge[side, count - 1, 1] = distance[j]
            piece[j] = count - 1
    for k in range(count):
        width = edge[side, k, 1] - edge[side, k, 0]
        edge[side, k, 1] = width if width > 0.0 else 0.5
    return count


@inlined(fastmath={"contract"}, error_model="numpy")
def _clear_sums(count: int, side: int, workspace: _Workspace) -> None:
    """Write the nodes of the pieces of one half, and set their sums to 0."""
    for k in range(count):
        low, width = workspace.edge[side, k, 0], workspace.edge[side, k, 1]
        t = (load(_AT, 0) * 0.5 + 0.5) * width + low
        store(workspace.node, k * WIDTH, t)
        store(workspace.falling, k * WIDTH, falling(t))
        for o in range(k * _SUMS, (k + 1) * _SUMS, WIDTH):
            store(workspace.sums, o, broadcast(0.0))


@inlined(fastmath={"contract"}, error_model="numpy")
def _sum_other_half(
    first: int, middle: int, last: int, up: bool, upper: bool, count: int, values: Any, with_value: bool,
    ordered: Ordered, workspace: _Workspace,
) -> float:  # fmt: skip
    """Add the pairs of each document of one half with the other half, in one order of gains; return their value.

    `upper`: derivatives go to the upper half, and the lower half is summed. `up`: documents come by ascending gain, so
    those summed so far are the losers. `values` are the values of the positions, u or v.
    """
    order, distance, power = workspace.order, workspace.distance, workspace.power
    piece, sums = workspace.piece, workspace.sums
    gain, winner, loser = ordered.gain, ordered.winner, ordered.loser
    own, other = (winner, loser) if up else (loser, winner)  # weights of the target, and of the documents summed
    right = up == upper  # winners stand above losers
    side = 0 if upper else 1
    _clear_sums(count, side, workspace)
    at_middle = values[middle]
    before = gain[order[first if up else last - 1]]
    value = 0.0
    for place in range(last - first):
        j = order[first + place if up else last - 1 - place]
        gap = abs(gain[j] - before)
        if gap > 0.0:
            before = gain[j]
            for o in range(0, count * _SUMS, 8 * WIDTH):
                for k in range(o, o + 4 * WIDTH, WIDTH):
                    store(sums, k + 4 * WIDTH, load(sums, k + 4 * WIDTH) + load(sums, k) * gap)
        from_middle = abs(values[j] - at_middle)
        if (j < middle) == upper:
            k = piece[j]
            y = 2.0 * (distance[j] - workspace.edge[side, k, 0]) / workspace.edge[side, k, 1] - 1.0
            t = load(_POWERS[0], 0)
            for p in range(1, WIDTH):
                t = t * y + load(_POWERS[p], 0)
            o = k * _SUMS + 4 * WIDTH
            first_sum = own[j] * sum_of((load(sums, o) * from_middle + load(sums, o + WIDTH)) * t)
            if with_value:
                value += first_sum * (power[j] if right else 1.0)
                continue
            second_sum = own[j] * sum_of((load(sums, o + 2 * WIDTH) * from_middle + load(sums, o + 3 * WIDTH)) * t)
            first_sum *= power[j] if right else 1.0
            ordered.gradient[j] += -first_sum if up else first_sum
            ordered.hessian[j] += power[j] * second_sum
        else:
            s, e = other[j], power[j]
            s_from_middle = s * from_middle
            for k in range(count):
                o = k * _SUMS
                t = load(workspace.falling, k * WIDTH)
                if with_value:
                    t = larger(t * e, broadcast(_LEAST))
                    y = log1p(t) / t * e if right else log1p(t) + (load(workspace.node, k * WIDTH) + distance[j])
                    store(sums, o, load(sums, o) + y * s)
                    store(sums, o + WIDTH, load(sums, o + WIDTH) + y * s_from_middle)
                    continue
                z = 1.0 / (t * e + 1.0)
                y = z * e if right else z
                z = z * z * e
                store(sums, o, load(sums, o) + y * s)
                store(sums, o + WIDTH, load(sums, o + WIDTH) + y * s_from_middle)
                store(sums, o + 2 * WIDTH, load(sums, o + 2 * WIDTH) + z * s)
                store(sums, o + 3 * WIDTH, load(sums, o + 3 * WIDTH) + z * s_from_middle)
    return value


@inlined()
def _halve(first: int, middle: int, last: int, workspace: _Workspace) -> None:
    """Reorder by half: first the positions before the middle, then the others, each half by gain."""
    order, spare = workspace.order, workspace.spare
    a, b = first, 0
    for k in range(first, last):
        j = order[k]
        if j < middle:
            order[a] = j
            a += 1
        else:
            spare[b] = j
            b += 1
    for k in range(b):
        order[middle + k] = spare[k]


@inlined()
def _sum_part(n: int, two: bool, with_value: bool, ordered: Ordered, workspace: _Workspace) -> float:
    """Add the pairs of n documents, except those of tied ones, and return their value."""
    u, v, to_do = ordered.u, ordered.v, workspace.to_do
    value = 0.0
    to_do[0, 0], to_do[0, 1] = 0, n
    left = 1
    while left > 0:
        left -= 1
        first, last = to_do[left, 0], to_do[left, 1]
        if u[first] == u[last - 1] and v[first] == v[last - 1]:
            continue
        if last - first <= _BY_PAIR_UP_TO:
            value += _pair_by_pair(first, last, two, with_value, ordered, workspace)
            continue
        middle = (first + last) // 2
        _distances(first, middle, last, ordered, workspace)
        above, below = _into_pieces(first, middle, 0, workspace), _into_pieces(middle, last, 1, workspace)
        value += _sum_other_half(first, middle, last, True, True, above, u, with_value, ordered, workspace)
        value += _sum_other_half(first, middle, last, False, True, above, v, with_value, ordered, workspace)
        if not with_value:
            _sum_other_half(first, middle, last, True, False, below, v, with_value, ordered, workspace)
            _sum_other_half(first, middle, last, False, False, below, u, with_value, ordered, workspace)
        _halve(first, middle, last, workspace)
        to_do[left, 0], to_do[left, 1] = first, middle
        to_do[left + 1, 0], to_do[left + 1, 1] = middle, last
        left += 2
    return value


@compiled()
def sum_lists(
    groups: Any, start: Any, scores: Any, multiplier: float, gain: Any, positions: PositionValues, with_value: bool,
    begin: int, end: int, value: Any, gradient: Any, hessian: Any,
) -> None:  # fmt: skip
    """Sum all pairs of the lists ``begin <= q < end``; list q has the documents from ``start[q]`` on in ``groups``.

    ``gain`` has an entry per group. Writes the value of each list, and each row's derivatives by its score times the
    multiplier.
    """
    workspace = workspace_for(start, begin, end)
    two = len(positions.discount) == 0
    ordered = ordered_workspace(len(workspace.keys), two, groups.apart)
    space, spare = _workspace_of(len(workspace.keys)), np.empty((3 if two else 0, len(workspace.keys)))
    gains = np.empty(len(workspace.keys))
    for q in range(begin, end):
        base, n = start[q], start[q + 1] - start[q]
        for u in range(groups.query_group[q], groups.query_group[q + 1]):
            for k in range(groups.group_start[u] - base, groups.group_start[u + 1] - base):
                workspace.keys[k], workspace.rows[k] = scores[groups.rows[base + k]], k
                gains[k] = gain[u]
        if not gains[n - 1] > gains[0]:
            continue
        sort(workspace, n)
        for j in range(n):
            k = workspace.rows[j]
            space.order[k] = j
            ordered.x[j], ordered.gain[j] = in_range(multiplier * workspace.keys[j]), gains[k]
            ordered.gradient[j] = ordered.hessian[j] = 0.0
            if len(groups.winner):
                ordered.winner[j] = groups.winner[base + k]
            if groups.apart:
                ordered.loser[j] = groups.loser[base + k]
        write_position_values(workspace.keys, n, positions, ordered, spare)
        value[q] = sum_within(workspace.keys, n, ordered) + _sum_part(n, two, with_value, ordered, space)
        for j in range(n):
            row = groups.rows[base + workspace.rows[j]]
            gradient[row] = ordered.gradient[j]
            hessian[row] = ordered.hessian[j]
