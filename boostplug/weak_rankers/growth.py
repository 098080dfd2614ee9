r"""`TreeGrower`: regression trees by weighted least squares, those of scikit-learn's `DecisionTreeRegressor`.

A tree grows best first: the leaf whose split gains most is split next. Take a cut of a node of weight W. The rows below
it have the weight L, and their weighted targets minus the node's mean sum to S. Those above sum to -S. The weighted
squares about the means fall by

.. math:: \frac{S^2}{L} + \frac{S^2}{W - L} = \frac{S^2\, W}{L\, (W - L)} .

For each feature, rows are added to a bin for each value. A bit marks bins that are not empty. Running sums over these
bins give the cuts of the node. So m rows take O(m + n_values / 64), without sorting.
"""

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Bools, Floats, Ints
from boostplug.core.threads import run_evenly, run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import add_two, lowest_bit
from boostplug.weak_rankers.tree import Tree

_PURE = float(np.finfo(np.float64).eps)  # largest variance of targets that scikit-learn does not split
_APART = np.float32(1e-7)  # largest distance of values that scikit-learn does not split
_CHEAP = 4  # rows of a feature in the time of one row of `run_over_queries`, which counts work in rows
_TURNS = 2  # bins per value, used in turn: a second addition to one would wait until the first is stored
_FEW = 4096  # largest number of values of a feature for `_TURNS` bins each
_TIE = 1e-11  # share of a node's squares; gains may differ by it through the order of summation

_WORD = unsigned(64)
_ONE = unsigned(1)


class _Nodes(NamedTuple):
    """The nodes of a tree, children after their parents.

    Attributes
    ----------
    feature, threshold, missing_left, below : ndarray of shape (n_nodes,)
        The node's best split, made or not. Values up to the threshold go left. `below` is their largest code. With an
        infinite threshold only missing values go right.
    left, right : ndarray of shape (n_nodes,)
        -1 at leaves.
    value : ndarray of shape (n_nodes,)
        The weighted mean of the targets.
    gain : ndarray of shape (n_nodes,)
        Decrease of the weighted sum of squares by the split; -1 without a split.
    squares : ndarray of shape (n_nodes,)
        Weighted sum of squares about the mean.
    weight : ndarray of shape (n_nodes,)
        Total weight of the rows.
    unit : ndarray of shape (n_nodes,)
        Unit of the node's weights, a power of two, which keeps all products of sums within the range of float64.
    first, last : ndarray of shape (n_nodes,)
        Range of the node's rows in `_Search`.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    missing_left: Bools
    below: Ints
    gain: Floats
    squares: Floats
    weight: Floats
    unit: Floats
    first: Ints
    last: Ints


class _Search(NamedTuple):
    """The rows by node, and the best cut of each feature in the two newest nodes. The root is the second node.

    Attributes
    ----------
    row : ndarray of shape (n_rows,)
        Ascending in each node.
    moments : ndarray of shape (n_rows, 2)
        The row's weight in the node's unit, and that times (target - mean).
    spare : ndarray of shape (n_rows,)
        Workspace of `_part`.
    gain : ndarray of shape (2 · n_features,)
        Gain in the node's unit; -1 without a cut.
    below, above : ndarray of shape (2 · n_features,)
        Codes of the values next to the cut.
    missing_left : ndarray of shape (2 · n_features,)
    work : ndarray of shape (2 · n_features + 1,)
        Work before each entry, in units of `_CHEAP` rows.
    """

    row: NDArray[np.uint32]
    moments: Floats
    spare: NDArray[np.uint32]
    gain: Floats
    below: Ints
    above: Ints
    missing_left: Bools
    work: Ints


class TreeGrower:
    """Least-squares regression trees, grown best first, on one training set.

    They are the trees of scikit-learn's ``DecisionTreeRegressor(max_leaf_nodes=…)``, node by node. Thresholds lie
    midway between values of the node. Missing values go to the side where they fit better. If the node has none of a
    feature, they go with more rows. Neither targets of a variance below 2.2e-16 are split, nor values that are at most
    1e-7 apart.

    Gains that differ by at most 1e-11 of the squares in the node are ties. scikit-learn takes the features in random
    order, so rounding decides. Here the first split wins: the earliest node, the lowest feature, missing values right,
    the lowest threshold. So nothing is random, and trees are bit-equal for any number of threads.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float32
        Finite, or NaN where missing.
    max_leaf_nodes : int
        At least 2.

    Notes
    -----
    Memory: each entry of X has a code of 1 byte (up to 256 values of the feature), 2 (up to 65,536) or 4. Each distinct
    value takes 4 bytes. The constructor takes up to 4 more per entry while it runs. A tree takes 28 bytes per row. A
    thread takes 16 bytes per value of the feature with the most values.
    """

    def __init__(self, X: NDArray[np.float32], max_leaf_nodes: int) -> None:
        self._max_leaf_nodes = max_leaf_nodes
        # The codes of rows, by feature; feature k has the distinct values start[k]:start[k + 1], the last one inf if
        # some are missing.
        self._values = _codes_and_values(X)
        self._spare: deque[tuple[Floats, NDArray[np.uint64]]] = deque()  # bins that no thread uses, all 0

    def grow(self, targets: Floats, weight: Floats) -> Tree:
        """Return the tree fitted to `targets`; both arrays have shape (n_rows,).

        Rows of weight 0 are ignored; at least one weight must be positive.
        """
        codes, start, _ = self._values
        row = np.flatnonzero(weight).astype(np.uint32)
        most = 2 * min(self._max_leaf_nodes, len(row)) - 1
        nodes = _Nodes(*_arrays("i8 f8 i8 i8 f8 ? i8 f8 f8 f8 f8 i8 i8", most))
        nodes.first[0], nodes.last[0] = 0, len(row)
        n_parts = 2 * len(codes)
        best = *_arrays("f8 i8 i8 ?", n_parts), *_arrays("i8", n_parts + 1)
        search = _Search(row, np.empty((len(row), 2)), np.empty_like(row), *best)

        def run(first: int, last: int) -> None:
            try:
                bins = self._spare.pop()
            except IndexError:
                bins = _bins(int(np.diff(start).max()))
            _search_features(*self._values, search, nodes, n_nodes, *bins, first, last)
            self._spare.append(bins)

        known, n_nodes = 0, _advance(*self._values, targets, weight, search, nodes, 0)
        while known < n_nodes < most:
            run_over_queries(run, search.work)
            known, n_nodes = n_nodes, _advance(*self._values, targets, weight, search, nodes, n_nodes)
        splits: list[Any] = [array[:n_nodes] for array in nodes[:6]]
        return Tree.from_splits(*splits)


def _codes_and_values(X: NDArray[np.float32]) -> tuple[NDArray[np.unsignedinteger[Any]], Ints, NDArray[np.float32]]:
    """Return the code of every entry of X, where the values of each feature start, and the values, ascending."""
    n_rows, n_features = X.shape
    distinct = [np.empty(0, np.float32)] * n_features
    codes = np.empty((n_features, n_rows), np.uint32)

    def run(first: int, last: int) -> None:
        for k in range(first, last):
            column = np.where(np.isnan(X[:, k]), np.float32(np.inf), X[:, k])  # missing values last
            distinct[k], codes[k] = np.unique(column, return_inverse=True)

    run_evenly(run, n_features, n_rows)
    sizes = np.array([len(values) for values in distinct])
    smallest = np.min_scalar_type(int(sizes.max()) - 1)
    return codes.astype(smallest), np.r_[0, np.cumsum(sizes)], np.concatenate(distinct)


def _bins(widest: int) -> tuple[Floats, NDArray[np.uint64]]:
    """Return sums by code, and bits of the codes that have rows, for features of up to `widest` values.

    A code has `_TURNS` bins for its sums if the feature has few values.
    """
    return np.zeros((max(widest, _TURNS * min(widest, _FEW)), 2)), np.zeros(-(-widest // 64), np.uint64)


def _arrays(kinds: str, n: int) -> list[Any]:
    """Return an array of n entries for each type."""
    return [np.empty(n, kind) for kind in kinds.split()]


@compiled()
def _search_features(
    codes: Any, start: Any, value: Any, search: Any, nodes: Any, n_nodes: int, total: Any, present: Any,
    first: int, last: int,
) -> None:  # fmt: skip
    """Write the best cut of some features in the newest nodes."""
    n_features = len(codes)
    for part in range(first, last):
        search.gain[part] = -1.0
        if search.work[part] < search.work[part + 1]:
            node, k = n_nodes - 2 + part // n_features, part % n_features
            _search_feature(codes[k], value[start[k] : start[k + 1]], search, nodes, node, total, present, part)


@inlined()
def _search_feature(
    code: Any, value: Any, search: Any, nodes: Any, node: int, total: Any, present: Any, part: int
) -> None:
    """Write the best cut of one feature in one node."""
    row, moments = search.row, search.moments
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
    for p in range(first, last):
        c = unsigned(code[row[p]])
        present[c // _WORD] |= _ONE << c % _WORD
        add_two(total, c * turns + (p & (turns - _ONE)), moments, p)
    end = n_values - _ONE
    n_passes = 1 + (value[end] == np.inf and present[end // _WORD] >> end % _WORD == _ONE)
    for missing_left in range(n_passes):
        again = missing_left < n_passes - 1
        below = s = 0.0
        if missing_left:
            present[end // _WORD] ^= _ONE << end % _WORD
            for turn in range(end * turns, (end + _ONE) * turns):
                below += total[turn, 0]
                s += total[turn, 1]
                total[turn, 0] = total[turn, 1] = 0.0
        lower, before = np.float32(np.inf), unsigned(0)  # the value and code of the bin before
        for word in range((n_values + unsigned(63)) // _WORD):
            bits = present[word]
            present[word] = bits if again else unsigned(0)
            while bits:
                c = word * _WORD + lowest_bit(bits)
                bits &= bits - _ONE
                upper, above = value[c], whole - below
                if s * s > bar * below * above and above > 0.0 and upper > lower + _APART:
                    gain = s / below * (s / above) * whole
                    bar = (gain + tie) / whole
                    search.gain[part] = gain
                    search.below[part], search.above[part] = before, c
                    search.missing_left[part] = missing_left == 1
                lower, before = upper, c
                for turn in range(c * turns, (c + _ONE) * turns):
                    w, v = total[turn, 0], total[turn, 1]
                    below += w
                    s += v
                    total[turn, 0] = w if again else 0.0
                    total[turn, 1] = v if again else 0.0


@compiled()
def _advance(
    codes: Any, start: Any, value: Any, targets: Any, weight: Any, search: Any, nodes: Any, n_nodes: int
) -> int:  # no tuple: numba 0.60 confuses the types of codes in it
    """Set the splits of the newest nodes, and split the leaf that gains most. Return the number of nodes.

    The first call makes the root.
    """
    n_features = len(codes)
    first, grown = n_nodes - 2, n_nodes + min(n_nodes + 1, 2)
    if n_nodes:
        for node in range(max(first, 0), n_nodes):
            _settle(start, value, search, nodes, node, (node - first) * n_features)
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
        middle = _part(codes, start, value, search, nodes, chosen)
        nodes.left[chosen], nodes.right[chosen] = n_nodes, n_nodes + 1
        nodes.first[n_nodes], nodes.last[n_nodes] = nodes.first[chosen], middle
        nodes.first[n_nodes + 1], nodes.last[n_nodes + 1] = middle, nodes.last[chosen]
    for node in range(n_nodes, grown):
        _open(targets, weight, search, nodes, node)
    search.work[0] = 0
    for part in range(2 * n_features):
        node, size = grown - 2 + part // n_features, 0
        if node >= 0 and nodes.gain[node] >= 0.0:
            size = nodes.last[node] - nodes.first[node]
        search.work[part + 1] = search.work[part] + (size + _CHEAP - 1) // _CHEAP
    return int(grown)


@inlined()
def _settle(start: Any, value: Any, search: Any, nodes: Any, node: int, part: int) -> None:
    """Set a node's split to the best cut of the best feature."""
    unit = nodes.unit[node]
    tie = _TIE * nodes.squares[node] / unit
    top = -1.0
    for k in range(len(start) - 1):
        gain = search.gain[part + k]
        if gain >= 0.0 and (top < 0.0 or gain > top + tie):
            top = gain
            below, above = search.below[part + k], search.above[part + k]
            lower, upper = value[start[k] + below], value[start[k] + above]
            nodes.feature[node], nodes.below[node] = k, below
            nodes.threshold[node] = 0.5 * np.float64(lower) + 0.5 * np.float64(upper)
            nodes.missing_left[node] = search.missing_left[part + k]
    nodes.gain[node] = top * unit


@inlined()
def _part(codes: Any, start: Any, value: Any, search: Any, nodes: Any, node: int) -> int:
    """Move the rows that a node's split sends left before the others. Return the first index of the others.

    If no value of the node is missing, later missing values go with more rows.
    """
    row, spare = search.row, search.spare
    first, last, k, below = nodes.first[node], nodes.last[node], nodes.feature[node], nodes.below[node]
    code = codes[k]
    missing = start[k + 1] - start[k] - 1
    if value[start[k] + missing] < np.inf:
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
def _open(targets: Any, weight: Any, search: Any, nodes: Any, node: int) -> None:
    """Initialise a node as a leaf with its rows."""
    row, first, last = search.row, nodes.first[node], nodes.last[node]
    total = product = squares = 0.0
    for p in range(first, last):
        total += weight[row[p]]
        product += weight[row[p]] * targets[row[p]]
    mean = product / total
    unit = math.ldexp(1.0, math.frexp(total)[1])
    for p in range(first, last):
        w, gap = weight[row[p]] / unit, targets[row[p]] - mean
        search.moments[p, 0], search.moments[p, 1] = w, w * gap
        squares += w * gap * gap
    nodes.left[node] = nodes.right[node] = -1
    nodes.value[node], nodes.squares[node], nodes.weight[node], nodes.unit[node] = mean, squares * unit, total, unit
    nodes.gain[node] = 0.0 if last - first > 1 and squares * unit > _PURE * total else -1.0
