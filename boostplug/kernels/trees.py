"""Scores of many rows by a sum of regression trees and a linear function."""

from typing import Any

import numpy as np

from boostplug.kernels.compiling import compiled

__all__ = ["trees_and_line"]


@compiled()
def trees_and_line(
    X: Any,
    first: int,
    last: int,
    root: Any,
    feature: Any,
    threshold: Any,
    left: Any,
    right: Any,
    value: Any,
    missing_left: Any,
    column: Any,
    slope: Any,
    out: Any,
) -> None:
    """Write the scores of the rows ``first <= i < last``.

    The nodes of all trees stand in common arrays, each tree's from ``root[t]`` on; left is -1 at leaves. Columns with
    a slope add ``slope[j] * X[i, column[j]]``, or nothing where that is missing.
    """
    for i in range(first, last):
        score = 0.0
        for start in root:
            node = start
            while left[node] >= 0:
                x = X[i, feature[node]]
                goes_left = x <= threshold[node] or (missing_left[node] and np.isnan(x))
                node = left[node] if goes_left else right[node]
            score += value[node]
        for j in range(len(column)):
            x = X[i, column[j]]
            if not np.isnan(x):
                score += slope[j] * x
        out[i] = score
