"""`TreeGrower`: regression trees on one training set, as scikit-learn's `DecisionTreeRegressor` grows them."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_evenly
from boostplug.weak_rankers.tree import Tree
from boostplug.weak_rankers.tree_growth import Bins, ValueCodes, grow

Floats = NDArray[np.float64]


class TreeGrower:
    """Least-squares regression trees, best first, on one training set, whose rows are sorted by feature once.

    They are the trees of scikit-learn's ``DecisionTreeRegressor(max_leaf_nodes=…)``: the same splits, thresholds
    midway between the values of the node, missing values on the side where they fit better (or, of a feature that has
    none in the node, with more rows), no split of targets of a variance below 2.2e-16 nor between values 1e-7 apart,
    in the same order. Splits whose gains differ by rounding alone (1e-11 of the squares in the node) are the exception:
    scikit-learn takes the features in random order, and the last bit decides. Here the first one wins: of the
    earliest node, of the lowest feature, with missing values right, of the lowest threshold. So nothing is random, and
    trees are bit-equal for any number of threads.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float32
        Finite, or NaN where missing.
    max_leaf_nodes : int
        At least 2.

    Notes
    -----
    Memory: the place of each entry of X among its feature's values takes 1 byte up to 256 values, 2 up to 65,536, then
    4, each distinct value 4. A tree takes 28 bytes per row, and a thread 36 per value of the feature that has most.
    """

    def __init__(self, X: NDArray[np.float32], max_leaf_nodes: int) -> None:
        self._values = _values(X)
        self._max_leaf_nodes = max_leaf_nodes
        self._spare: deque[Bins] = deque()

    def grow(self, targets: Floats, weight: Floats) -> Tree:
        """Return the tree fitted to `targets`, both arrays of shape (n_rows,).

        Rows of weight 0 do not count; one at least has a positive weight.
        """
        return Tree.from_splits(*grow(self._values, targets, weight, self._max_leaf_nodes, self._spare))


def _values(X: NDArray[np.float32]) -> ValueCodes:
    """Return the distinct values of each feature, and the place of every entry of X among them."""
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
    """Return a new column in which missing values are inf."""
    return np.where(np.isnan(column), np.float32(np.inf), column)
