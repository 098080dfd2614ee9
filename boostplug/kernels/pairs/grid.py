"""Pair sums of a long list in O(n): documents of lower and of higher grades meet on a grid of scores.

Each document spreads its weight over the eight nodes of the grid around its score. The sum over all pairs of nodes
gives a field. Each document of the other half of the grades reads it at its score. So only the function's values at
differences of nodes are needed (`sampling`). `docs/explanation/pair_sums.md` explains the method, its cost and its
error.

In NumPy, without tails::

    def sum_across(scores, is_higher, weight, function, spacing):
        x = scores / spacing
        cell = np.floor(x)
        offsets = np.arange(8) - 3.5
        to_powers = np.linalg.inv(np.vander(offsets, increasing=True))
        share = np.vander(x - cell - 0.5, 8, increasing=True) @ to_powers  # of each node around a document
        place = (cell - cell.min()).astype(int)[:, None] + np.arange(8)
        nodes = np.arange(place.max() + 1) * spacing
        matrix = function(nodes[:, None] - nodes)  # higher, lower
        at_nodes = np.zeros(len(nodes))
        np.add.at(at_nodes, place[~is_higher], (weight[:, None] * share)[~is_higher])
        field = matrix @ at_nodes
        return np.where(is_higher, weight * (field[place] * share).sum(axis=1), 0.0)
"""

from typing import Any, NamedTuple

import numba
import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import broadcast, load, store, sum_of
from boostplug.kernels.base.sorting import Workspace, sort
from boostplug.kernels.pairs.pair_task import Task
from boostplug.kernels.pairs.sampling import NODES, REACH, SIZE, Sampled

_LARGEST = 1e150  # of a score in spacings: its square is finite
_SPARE = 128  # blocks; so many more than documents may be laid without sorting


class _Documents(NamedTuple):
    """Documents of a list by ascending grade."""

    block: Floats  # of the first of its eight nodes, counted from a fixed origin
    place: Ints  # of that node in its block
    y: Floats  # score less the middle of its cell, in spacings
    winner: Floats
    loser: Floats
    level: Floats  # gain of its grade
    node: Ints  # place of the first node in the arrays of `_Grid`


class _Grid(NamedTuple):
    """Nodes of a cut in blocks of eight, by score. Weights and fields have a value for each node."""

    block: Floats
    weight: Floats
    by_gap: Floats  # weights times gaps
    field: Floats  # `size` values for each function
    field_of_gap: Floats
    size: int
    basis: Floats  # as in `Sampled`
    by_gain: bool  # whether a pair weighs the gap of its gains: the sum of two gaps ≥ 0 to the gain at the cut


@inlined()
def _read(task: Task, u0: int, u1: int, spacing: float, documents: _Documents) -> None:
    """Read the documents of the groups u0..u1, and find their nodes."""
    groups, start, base = task.groups, task.groups.group_start, task.groups.group_start[u0]
    weighted, by_gain = len(groups.winner) > 0, len(task.gain) > 0
    for u in range(u0, u1):
        for k in range(start[u], start[u + 1]):
            x = task.steepness * task.scores[groups.rows[k]] / spacing
            x = min(max(x, -_LARGEST), _LARGEST)
            cell = np.floor(x)
            first = cell - (NODES // 2 - 1)
            block, i = np.floor(first / NODES), k - base
            documents.block[i], documents.place[i] = block, int(first - NODES * block)
            documents.y[i] = x - cell - 0.5
            documents.winner[i] = groups.winner[k] if weighted else 1.0
            documents.loser[i] = groups.loser[k] if weighted else 1.0
            documents.level[i] = task.gain[u] if by_gain else 0.0


@inlined()
def _lay_grid(documents: _Documents, first: int, last: int, grid: _Grid, places: Workspace) -> int:
    """Find the blocks and nodes of the documents first..last, and return the number of blocks.

    These are all blocks from the lowest to the highest score, or two for each document if scores are far apart.
    """
    block, node, n = documents.block, documents.node, last - first
    low = high = block[first]
    for i in range(first, last):
        low, high = min(low, block[i]), max(high, block[i])
    if high - low < _SPARE + n:
        count = int(high - low) + 2
        for b in range(count):
            grid.block[b] = low + b
        for i in range(first, last):
            node[i] = NODES * int(block[i] - low) + documents.place[i]
        return count
    for i in range(n):
        places.keys[i], places.rows[i] = -block[first + i], first + i
    sort(places, n)
    count = 0
    for k in range(n):
        b, i = -places.keys[k], places.rows[k]
        if k == 0 or b != -places.keys[k - 1]:
            if k == 0 or b != grid.block[count - 1]:
                grid.block[count] = b
                count += 1
            grid.block[count] = b + 1.0
            count += 1
        node[i] = NODES * (count - 2) + documents.place[i]
    return count


@numba.njit(inline="always")
def _shares(y: float, basis: Floats) -> Any:
    """Return the share of each of the eight nodes in a document at y, by Horner's rule."""
    share = load(basis, 0)
    for power in range(1, NODES):
        share = share * y + load(basis, NODES * power)
    return share


@inlined()
def _spread(documents: _Documents, w: Floats, first: int, last: int, edge: float, grid: _Grid, n_blocks: int) -> None:
    """Write to each node the weights of the documents first..last, each times the node's share in it."""
    for k in range(unsigned(NODES * n_blocks)):
        grid.weight[k] = 0.0
        grid.by_gap[k] = 0.0
    for i in range(first, last):
        at, share = documents.node[i], _shares(documents.y[i], grid.basis) * w[i]
        store(grid.weight, at, load(grid.weight, at) + share)
        if grid.by_gain:
            store(grid.by_gap, at, load(grid.by_gap, at) + share * abs(documents.level[i] - edge))


@inlined()
def _fill_field(weight: Floats, block: Floats, n: int, values: Any, tails: Any, side: int, out: Any) -> None:
    """Write the sum over the weights of all nodes to each node of n blocks.

    Side 0: κ(target - source), for sources of the lower grades; side 1: κ(source - target).
    """
    begin = end = 0
    for t in range(n):
        while block[begin] < block[t] - REACH:
            begin += 1
        while end < n and block[end] <= block[t] + REACH:
            end += 1
        even = odd = broadcast(0.0)
        for s in range(begin, end):
            at, k = NODES * int(block[t] - block[s]) + SIZE // 2, NODES * s
            for j in range(0, NODES, 2):
                even = even + load(values, at - j) * weight[k + j]
                odd = odd + load(values, at - j - 1) * weight[k + j + 1]
        store(out, NODES * t, even + odd)
    if block[n - 1] - block[0] > REACH:
        # Going up, target - source is positive: the right tail of κ, or the left one for side 1.
        _add_tail(weight, block, n, 1, tails[1 - side], out)
        _add_tail(weight, block, n, -1, tails[side], out)


@inlined()
def _add_tail(weight: Floats, block: Floats, n: int, step: int, tail: Any, out: Any) -> None:
    """Add to each node the tail's sum over all blocks more than `REACH` before it, upwards (step 1) or downwards (-1).

    Running sums of w, w d and w d² over these nodes, with the distance d from the first node of the target's block.
    """
    total = linear = square = 0.0
    source = t = 0 if step > 0 else n - 1
    here = block[t]
    for _ in range(n):
        gap = NODES * abs(block[t] - here)
        here = block[t]
        square += gap * (2.0 * linear + gap * total)
        linear += gap * total
        while step * (here - block[source]) > REACH:
            for j in range(NODES):
                w, d = weight[NODES * source + j], step * (NODES * (here - block[source]) - j)
                total += w
                linear += w * d
                square += w * d * d
            source += step
        for j in range(NODES):
            d = step * j
            of_square = square + d * (2.0 * linear + d * total)
            out[NODES * t + j] += tail[0] * total + tail[1] * (linear + d * total) + tail[2] * of_square
        t += step


@inlined()
def _collect(
    task: Task, base: int, documents: _Documents, w: Floats, first: int, last: int, edge: float, grid: _Grid,
    factor: float, signs: Any,
) -> None:  # fmt: skip
    """Add the fields at the scores of the documents first..last to the outputs of their rows."""
    for i in range(first, last):
        share, row, at = _shares(documents.y[i], grid.basis), task.groups.rows[base + i], documents.node[i]
        for k in range(len(signs)):
            x = sum_of(load(grid.field, at) * share)
            if grid.by_gain:
                x = x * abs(documents.level[i] - edge) + sum_of(load(grid.field_of_gap, at) * share)
            task.out[k, row] += factor * signs[k] * w[i] * x
            at += grid.size


@compiled()
def sum_across(begin: int, end: int, task: Task, lists: Ints, cuts: Ints, sampled: Sampled, signs: Floats) -> None:
    """Add the pairs of all cuts of the lists ``begin <= p < end``: see `Plan`; signs as of `sum_over_pairs`."""
    groups, start, by_gain = task.groups, task.groups.group_start, len(task.gain) > 0
    n, n_functions = 0, len(task.out)
    for q in lists[begin:end, 0]:
        n = max(n, start[groups.query_group[q + 1]] - start[groups.query_group[q]])
    x, ints, size = np.empty((5, n)), np.empty((4, n), np.int64), NODES * (2 * n + _SPARE)
    y = np.empty((2, size))
    documents = _Documents(x[0], ints[0], x[1], x[2], x[3], x[4], ints[1])
    fields = np.empty((2, n_functions * size))
    grid = _Grid(np.empty(2 * n + _SPARE), y[0], y[1], fields[0], fields[1], size, sampled.basis, by_gain)
    places = Workspace(np.empty(n), ints[2], np.empty(n), ints[3])
    for p in range(begin, end):
        q = lists[p, 0]
        u0 = groups.query_group[q]
        base = start[u0]
        _read(task, u0, groups.query_group[q + 1], sampled.spacing, documents)
        for cut in range(lists[p, 1], lists[p, 2]):
            u, v, w = cuts[cut, 0], cuts[cut, 1], cuts[cut, 2]
            first, middle, last = start[u] - base, start[v] - base, start[w] - base
            edge = task.gain[v] if by_gain else 0.0
            n_blocks = _lay_grid(documents, first, last, grid, places)
            for side in range(2):
                if not signs[side].any():
                    continue
                source, target = documents.loser, documents.winner
                source_first, source_last, target_first, target_last = first, middle, middle, last
                if side == 1:
                    source, target = target, source
                    source_first, source_last, target_first, target_last = middle, last, first, middle
                _spread(documents, source, source_first, source_last, edge, grid, n_blocks)
                for k in range(n_functions):
                    values, tails, of_k = sampled.values[k, side], sampled.tails[k], slice(k * size, (k + 1) * size)
                    _fill_field(grid.weight, grid.block, n_blocks, values, tails, side, grid.field[of_k])
                    if by_gain:
                        _fill_field(grid.by_gap, grid.block, n_blocks, values, tails, side, grid.field_of_gap[of_k])
                factor, sign = task.factor[q], signs[side]
                _collect(task, base, documents, target, target_first, target_last, edge, grid, factor, sign)
