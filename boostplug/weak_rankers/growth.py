"""`TreeGrower`: regression trees on one training set, the trees of scikit-learn's `DecisionTreeRegressor`."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.threads import run_evenly
from boostplug.weak_rankers.tree import Tree
from boostplug.weak_rankers.tree_growth import Bins, ValueCodes, grow


class TreeGrower:
    """Least-squares regression trees, grown best first, on one training set.

    They are the trees of scikit-learn's ``DecisionTreeRegressor(max_leaf_nodes=…)``, node by node. Thresholds lie
    midway between values of the node. Missing values go to the side where they fit better; if the node has none of a
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
    Memory: each entry of X has a code of 1 byte (up to 256 values of the feature), 2 (up to 65,536) or 4; each distinct
    value takes 4. A tree takes 28 bytes per row. A thread takes 36 bytes per value of the feature with the most values.
    """

    def __init__(self, X: NDArray[np.float32], max_leaf_nodes: int) -> None:
        self._values = _values(X)
        self._max_leaf_nodes = max_leaf_nodes
        self._spare: deque[Bins] = deque()

    def grow(self, targets: Floats, weight: Floats) -> Tree:
        """Return the tree fitted to `targets`; both arrays have shape (n_rows,).

        Rows of weight 0 are ignored; at least one weight must be positive.
        """
        return Tree.from_splits(*grow(self._values, targets, weight, self._max_leaf_nodes, self._spare))


def _values(X: NDArray[np.float32]) -> ValueCodes:
    """Return the distinct values of each feature, and the code of every entry of X: the index of its value."""
    n_rows, n_features = X.shape
    distinct = [np.empty(0, np.float32)] * n_features

    def sort(first: int, last: int) -> None:
        for k in range(first, last):
            distinct[k] = np.unique(_missing_last(X[:, k]))

    def place(first: int, last: int) -> None:
        for k in range(first, last):
            codes[k] = np.searchsorted(distinct[k], _missing_last(X[:, k]))

    run_evenly(sort, n_features, n_rows)
    sizes = np.array([len(values) for values in distinct])
    codes = np.empty((n_features, n_rows), np.min_scalar_type(int(sizes.max()) - 1))
    run_evenly(place, n_features, n_rows)
    return ValueCodes(codes, np.r_[0, np.cumsum(sizes)], np.concatenate(distinct))


def _missing_last(column: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a copy of a column with inf for missing values."""
    return np.where(np.isnan(column), np.float32(np.inf), column)
