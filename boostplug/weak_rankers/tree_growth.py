r"""A regression tree by weighted least squares, grown best first: the leaf whose split gains most is split next.

Take a cut of a node of weight W. The rows below it have the weight L, and their weighted targets minus the node's mean
sum to S; those above sum to -S. The weighted squares about the means fall by

.. math:: \frac{S^2}{L} + \frac{S^2}{W - L} = \frac{S^2\, W}{L\, (W - L)} .

For each feature, rows are added to a bin for each value, and a bit marks bins that are not empty. Running sums over
these bins give the cuts of the node. So m rows take O(m + n_values / 64), without sorting.
"""

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import add_two

_PURE = float(np.finfo(np.float64).eps)  # largest variance of targets that scikit-learn does not split
_APART = np.float32(1e-7)  # largest distance of values that scikit-learn does not split
_CHEAP = 4  # rows of a feature in the time of one row of `run_over_queries`, which counts work in rows
_TURNS = 2  # bins per value, used in turn: a second addition to one would wait until the first is stored
_FEW = 4096
_TIE = 1e-11  # share of a node's squares; gains may differ by it through the order of summation

_WORD = unsigned(64)
_ONE = unsigned(1)
_SEQUENCE = 0x03F79D71B4CB0A89  # De Bruijn: its product with each power of two has other top six bits
_PLACE = np.zeros(64, np.uint64)
_PLACE[[(_SEQUENCE << i & (1 << 64) - 1) >> 58 for i in range(64)]] = np.arange(64)
_FACTOR = unsigned(_SEQUENCE)
_TOP = unsigned(58)


class ValueCodes(NamedTuple):
    """The distinct values of every feature: feature k has ``start[k]:start[k + 1]``, and rows have codes there.

    Values ascend. The last one is inf, for missing values.
    """

    codes: NDArray[np.unsignedinteger[Any]]
    start: Ints
    value: NDArray[np.float32]


class _Nodes(NamedTuple):
    """The nodes of a tree, children after their parents.

    Attributes
    ----------
    feature, threshold, missing_left, below : ndarray of shape (n_nodes,)
        The node's best split, made or not. Values up to the threshold go left; `below` is their largest code. With an
        infinite threshold only missing values go right.
    left, right : ndarray of shape (n_nodes,)
        -1 at leaves.
    value : ndarray of shape (n_nodes,)
        The weighted mean of the targets.
    gain : ndarray of shape (n_nodes,)
        Decrease of the weighted sum of squares by the split; -1 without a split.
    squares : ndarray of shape (n_nodes,)
        Weighted sum of squares about the mean.
    unit : ndarray of shape (n_nodes,)
        Unit of the node's weights, a power of two, which keeps all products of sums within the range of float64.
    first, last : ndarray of shape (n_nodes,)
        Range of the node's rows in `_Rows`.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    missing_left: NDArray[np.bool_]
    below: Ints
    gain: Floats
    squares: Floats
    weight: Floats
    unit: Floats
    first: Ints
    last: Ints


class _Rows(NamedTuple):
    """The rows by node, ascending in each, with their weight in the node's unit, and weight times (target - mean).

    `spare` is workspace for `_part`.
    """

    row: NDArray[np.uint32]
    moments: Floats
    spare: NDArray[np.uint32]


class _Best(NamedTuple):
    """The best cut of each feature in the two newest nodes: an entry per node and feature. The root is the second node.

    Attributes
    ----------
    gain : ndarray
        Gain in the node's unit; -1 without a cut.
    below, above : ndarray
        Codes of the values next to the cut.
    missing_left : ndarray
    work : ndarray of one entry more
        Work before each entry, in units of `_CHEAP` rows.
    """

    gain: Floats
    below: Ints
    above: Ints
    missing_left: NDArray[np.bool_]
    work: Ints


class Bins(NamedTuple):
    """Workspace of one thread: sums by code, and bits of the codes that have rows; 0 between uses.

    A code has `_TURNS` bins for weight and product if the feature has few values.
    """

    total: Floats
    present: NDArray[np.uint64]


def grow(values: ValueCodes, targets: Floats, weight: Floats, max_leaf_nodes: int, spare: deque[Bins]) -> list[Any]:
    """Return the tree of at most `max_leaf_nodes` leaves fitted to `targets`, as arguments of `Tree.from_splits`.

    Rows of weight 0 are ignored. Among splits of equal gain the first wins: the first node, the first feature, missing
    values right, the lowest threshold. Threads take their bins from `spare`, make missing ones, and put them back for
    the next tree.
    """
    row = np.flatnonzero(weight).astype(np.uint32)
    rows = _Rows(row, np.empty((len(row), 2)), np.empty_like(row))
    most = 2 * min(max_leaf_nodes, len(row)) - 1
    nodes = _Nodes(*_arrays("i8 f8 i8 i8 f8 ? i8 f8 f8 f8 f8 i8 i8", most))
    nodes.first[0], nodes.last[0] = 0, len(row)
    n_parts = 2 * len(values.codes)
    best = _Best(*_arrays("f8 i8 i8 ?", n_parts), *_arrays("i8", n_parts + 1))

    def search(first: int, last: int) -> None:
        try:
            bins = spare.pop()
        except IndexError:
            bins = _bins(int(np.diff(values.start).max()))
        _search(*values, rows, nodes, n_nodes, bins, best, first, last)
        spare.append(bins)

    known, n_nodes = 0, _advance(*values, targets, weight, rows, nodes, 0, best)
    while known < n_nodes < most:
        run_over_queries(search, best.work)
        known, n_nodes = n_nodes, _advance(*values, targets, weight, rows, nodes, n_nodes, best)
    return [array[:n_nodes] for array in nodes[:6]]


def _bins(widest: int) -> Bins:
    """Return bins for features of up to `widest` values."""
    n_bins = max(widest, _TURNS * min(widest, _FEW))
    present = np.zeros(-(-widest // 64), np.uint64)
    return Bins(np.zeros((n_bins, 2)), present)


def _arrays(kinds: str, n: int) -> list[Any]:
    """Return an array of n entries for each type."""
    return [np.empty(n, kind) for kind in kinds.split()]


@compiled()
def _search(
    codes: Any, start: Any, value: Any, rows: Any, nodes: Any, n_nodes: int, bins: Any, best: Any,
    first: int, last: int,
) -> None:  # fmt: skip
    """Write the best cut of some features in the newest nodes."""
    values = ValueCodes(codes, start, value)
    for part in range(first, last):
        best.gain[part] = -1.0
        if best.work[part] < best.work[part + 1]:
            _search_part(values, rows, nodes, n_nodes, bins, best, part)


@inlined()
def _search_part(values: Any, rows: Any, nodes: Any, n_nodes: int, bins: Any, best: Any, part: int) -> None:
    """Write the best cut of one feature in one node."""
    row, moments = rows.row, rows.moments
    total, present = bins.total, bins.present
    n_features = len(values.codes)
    node, k = n_nodes - 2 + part // n_features, part % n_features
    code, value = values.codes[k], values.value[values.start[k] : values.start[k + 1]]
    first, last, n_values = unsigned(nodes.first[node]), unsigned(nodes.last[node]), unsigned(len(value))
    p = first
    while n_values > _ONE and p < last and code[row[p]] == code[row[first]]:
        p += _ONE
    if n_values == _ONE or p == last:  # only one value
        return
    turns = unsigned(_TURNS if n_values <= _FEW else 1)
    unit = nodes.unit[node]
    whole, tie = nodes.weight[node] / unit, _TIE * nodes.squares[node] / unit
    bar = -1.0  # bound that S² / (L (W - L)) must exceed
    for missing_left in range(2):
        for p in range(first, last):
            c = unsigned(code[row[p]])
            present[c // _WORD] |= _ONE << c % _WORD
            add_two(total, c * turns + (p & (turns - _ONE)), moments, p)
        below = s = 0.0
        if missing_left:
            c = n_values - _ONE
            present[c // _WORD] ^= _ONE << c % _WORD
            for turn in range(c * turns, (c + _ONE) * turns):
                below += total[turn, 0]
                s += total[turn, 1]
                total[turn, 0] = total[turn, 1] = 0.0
        lower, before = np.float32(np.inf), unsigned(0)  # the value and code of the bin before
        for word in range((n_values + unsigned(63)) // _WORD):
            bits = present[word]
            present[word] = 0
            while bits:
                rest = bits & (bits - _ONE)
                c = word * _WORD + _PLACE[((bits ^ rest) * _FACTOR) >> _TOP]
                bits = rest
                upper, above = value[c], whole - below
                if s * s > bar * below * above and above > 0.0 and upper > lower + _APART:
                    gain = s / below * (s / above) * whole
                    bar = (gain + tie) / whole
                    best.gain[part] = gain
                    best.below[part], best.above[part] = before, c
                    best.missing_left[part] = missing_left == 1
                lower, before = upper, c
                for turn in range(c * turns, (c + _ONE) * turns):
                    below += total[turn, 0]
                    s += total[turn, 1]
                    total[turn, 0] = total[turn, 1] = 0.0
        if lower < np.inf:  # no missing values
            return


@compiled()
def _advance(
    codes: Any, start: Any, value: Any, targets: Any, weight: Any, rows: Any, nodes: Any, n_nodes: int, best: Any
) -> int:  # no tuple: numba 0.60 confuses the types of codes in it
    """Write the best cuts of the newest nodes, and split the leaf that gains most; return the number of nodes.

    The first call makes the root.
    """
    return int(_advanced(ValueCodes(codes, start, value), targets, weight, rows, nodes, n_nodes, best))


@inlined()
def _advanced(values: Any, targets: Any, weight: Any, rows: Any, nodes: Any, n_nodes: int, best: Any) -> int:
    n_features = len(values.codes)
    first, grown = n_nodes - 2, n_nodes + min(n_nodes + 1, 2)
    if n_nodes:
        for node in range(max(first, 0), n_nodes):
            _settle(values, nodes, node, (node - first) * n_features, best)
        chosen = n_nodes
        for node in range(n_nodes):
            if nodes.left[node] < 0 and nodes.gain[node] >= 0.0:
                if chosen == n_nodes:
                    chosen = node
                tie = _TIE * max(nodes.squares[node], nodes.squares[chosen])
                if nodes.gain[node] > nodes.gain[chosen] + tie:
                    chosen = node
        if chosen == n_nodes:
            return n_nodes
        middle = _part(values, rows, nodes, chosen)
        nodes.left[chosen], nodes.right[chosen] = n_nodes, n_nodes + 1
        nodes.first[n_nodes], nodes.last[n_nodes] = nodes.first[chosen], middle
        nodes.first[n_nodes + 1], nodes.last[n_nodes + 1] = middle, nodes.last[chosen]
    for node in range(n_nodes, grown):
        _open(targets, weight, rows, nodes, node)
    best.work[0] = 0
    for part in range(2 * n_features):
        node, size = grown - 2 + part // n_features, 0
        if node >= 0 and nodes.gain[node] >= 0.0:
            size = nodes.last[node] - nodes.first[node]
        best.work[part + 1] = best.work[part] + (size + _CHEAP - 1) // _CHEAP
    return int(grown)


@inlined()
def _settle(values: Any, nodes: Any, node: int, part: int, best: Any) -> None:
    """Set a node's split to the best cut of the best feature."""
    unit, start = nodes.unit[node], values.start
    tie = _TIE * nodes.squares[node] / unit
    top = -1.0
    for k in range(len(start) - 1):
        gain = best.gain[part + k]
        if gain >= 0.0 and (top < 0.0 or gain > top + tie):
            top = gain
            below, above = best.below[part + k], best.above[part + k]
            lower, upper = values.value[start[k] + below], values.value[start[k] + above]
            nodes.feature[node], nodes.below[node] = k, below
            nodes.threshold[node] = 0.5 * np.float64(lower) + 0.5 * np.float64(upper)
            nodes.missing_left[node] = best.missing_left[part + k]
    nodes.gain[node] = top * unit


@inlined()
def _part(values: Any, rows: Any, nodes: Any, node: int) -> int:
    """Move the rows that a node's split sends left before the others; return the first index of the others.

    If no value of the node is missing, later missing values go with more rows.
    """
    row, spare = rows.row, rows.spare
    first, last, k, below = nodes.first[node], nodes.last[node], nodes.feature[node], nodes.below[node]
    code = values.codes[k]
    missing = values.start[k + 1] - values.start[k] - 1
    if values.value[values.start[k] + missing] < np.inf:
        missing += 1  # no missing values
    middle, n_right, n_missing = first, 0, 0
    for p in range(first, last):
        c = np.int64(code[row[p]])
        n_missing += c == missing
        if c <= below or (c == missing and nodes.missing_left[node]):
            row[middle] = row[p]
            middle += 1
        else:
            spare[n_right] = row[p]
            n_right += 1
    for p in range(n_right):
        row[middle + p] = spare[p]
    if not n_missing:
        nodes.missing_left[node] = middle - first > n_right
    return int(middle)


@inlined()
def _open(targets: Any, weight: Any, rows: Any, nodes: Any, node: int) -> None:
    """Initialise a node as a leaf with its rows."""
    row, first, last = rows.row, nodes.first[node], nodes.last[node]
    total = product = squares = 0.0
    for p in range(first, last):
        total += weight[row[p]]
        product += weight[row[p]] * targets[row[p]]
    mean = product / total
    unit = math.ldexp(1.0, math.frexp(total)[1])
    for p in range(first, last):
        w, gap = weight[row[p]] / unit, targets[row[p]] - mean
        rows.moments[p, 0], rows.moments[p, 1] = w, w * gap
        squares += w * gap * gap
    nodes.left[node] = nodes.right[node] = -1
    nodes.value[node], nodes.squares[node], nodes.weight[node], nodes.unit[node] = mean, squares * unit, total, unit
    nodes.gain[node] = 0.0 if last - first > 1 and squares * unit > _PURE * total else -1.0
