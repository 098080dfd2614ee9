"""Scores of many rows: the sum of regression trees and a linear function."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.threads import run_evenly
from boostplug.kernels.base.compiling import compiled


class Forest(NamedTuple):
    """A sum of trees and a linear function.

    The nodes of all trees are in common arrays: tree t begins at ``root[t]``, and left is -1 at leaves. The linear
    function is the sum of ``slope[j] * X[i, column[j]]``; missing values add nothing.
    """

    root: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    missing_left: NDArray[np.bool_]
    column: Ints
    slope: Floats


def scores_of(X: NDArray[np.floating], forest: Forest) -> Floats:
    """Return the sum of the trees and the linear function for each row."""
    out = np.empty(len(X))
    run_evenly(lambda a, b: _scores_of(X, forest, a, b, out), len(X), 1)
    return out


@compiled()
def _scores_of(X: Any, forest: Any, first: int, last: int, out: Any) -> None:
    feature, threshold, left, right = forest.feature, forest.threshold, forest.left, forest.right
    column, slope = forest.column, forest.slope
    for i in range(first, last):
        score = 0.0
        for start in forest.root:
            node = start
            while left[node] >= 0:
                x = X[i, feature[node]]
                goes_left = x <= threshold[node] or (forest.missing_left[node] and np.isnan(x))
                node = left[node] if goes_left else right[node]
            score += forest.value[node]
        for j in range(len(column)):
            x = X[i, column[j]]
            if not np.isnan(x):
                score += slope[j] * x
        out[i] = score
