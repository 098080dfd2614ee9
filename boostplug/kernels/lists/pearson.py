"""Pearson's correlation of scores and labels in each list, regularised, and its derivatives.

In NumPy, for one list:

.. code-block:: python

    def one_minus_pearson(scores, labels, weight, epsilon):
        def mean(x):
            return np.average(x, weights=weight)

        x, z = scores - mean(scores), labels - mean(labels)
        z = z / np.sqrt(mean(z**2))
        spread = np.sqrt(mean(x**2) + epsilon**2)
        correlation = mean(x * z) / spread
        value = weight.sum() * (1 - correlation)
        gradient = weight * (correlation * x / spread - z) / spread
        return value, gradient, weight * (2 / np.sqrt(3)) / spread**2
"""

import math
from typing import Any

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined

_LARGEST = 1e140  # bound of a score less the list's first one: its square is finite
_CURVATURE = 2.0 / math.sqrt(3.0)  # largest curvature of 1 - s·a/|(s, ε)| over unit vectors a, times |(s, ε)|²


@inlined()
def _apart(scores: Any, row: int, other: int) -> float:
    x: float = min(max(scores[row] - scores[other], -_LARGEST), _LARGEST)
    return x


@compiled(error_model="numpy")
def one_minus_pearson(
    first: int, last: int, lists: Any, scores: Any, target: Any, epsilon: float, factor: float, sums: Any
) -> None:
    """Write a list's total weight times 1 - correlation, and factor times its derivatives.

    `target` holds the labels of all lists, standardised within each list; 0 in a list with equal labels.
    """
    for q in range(first, last):
        a, b = unsigned(lists.start[q]), unsigned(lists.start[q + 1])
        own = unsigned(lists.rows[a])
        weight = mean = size = 0.0
        for at in range(a, b):
            v = lists.weight[at]
            weight += v
            mean += v * _apart(scores, unsigned(lists.rows[at]), own)
            size += abs(target[at])
        if size == 0.0:
            continue
        mean /= weight
        variance = covariance = 0.0
        for at in range(a, b):
            v, x = lists.weight[at], _apart(scores, unsigned(lists.rows[at]), own) - mean
            variance += v * x * x
            covariance += v * x * target[at]
        spread = math.sqrt(variance / weight + epsilon * epsilon)
        correlation = covariance / weight / spread
        sums.value[q] = weight * (1.0 - correlation)
        for at in range(a, b):
            row, v = unsigned(lists.rows[at]), factor * lists.weight[at]
            x = _apart(scores, row, own) - mean
            sums.gradient[row] = v * (correlation * (x / spread) - target[at]) / spread
            sums.hessian[row] = v * _CURVATURE / spread / spread
