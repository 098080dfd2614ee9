"""Cross entropy of each label with σ(F), and of a list's labels with its σ(F) divided by their sum.

Logarithms are taken before sums: log σ(F) = -log(1 + e^-F). Shares are relative to the largest of a list.

In NumPy, for one list, whose labels are probabilities:

.. code-block:: python

    def calibrated_softmax(scores, labels, weight, row_share, list_share):
        sigma = 1 / (1 + np.exp(-scores))
        entropy = labels * np.log(sigma) + (1 - labels) * np.log(1 - sigma)
        value = -row_share * (weight * entropy).sum()
        gradient = row_share * weight * (sigma - labels)
        hessian = row_share * weight * sigma * (1 - sigma)
        target = weight * labels / (weight * labels).sum()
        p = weight * sigma / (weight * sigma).sum()
        list_weight = list_share * (weight**2).sum() / weight.sum()
        value -= list_weight * (target * np.log(p)).sum()
        gradient += list_weight * (1 - sigma) * (p - target)
        hessian += list_weight * (1 - sigma) * (target * sigma + p * (1 - sigma))
        return value, gradient, hessian
"""

import math
from typing import Any

import numpy as np

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import longest_list

_LARGEST = 1e290  # bound of |F|: a sum over a list is finite


@inlined()
def _log_sigmoid(x: float) -> float:
    """Return log σ(x)."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


@inlined()
def _sigmoid(x: float) -> float:
    t = math.exp(-abs(x))
    return (1.0 if x >= 0.0 else t) / (1.0 + t)


@compiled(error_model="numpy")
def calibrated_softmax(
    first: int, last: int, lists: Any, scores: Any, row_share: float, list_share: float, per_grade: float,
    factor: float, sums: Any,
) -> None:  # fmt: skip
    """Write the value of each list, and factor times its derivatives. The shares weigh the two cross entropies.

    A probability is ``per_grade`` times the label. The weight of a list is Σ v²/Σ v, the mean weight of its documents.
    """
    share, log_sigma = np.empty((2, longest_list(lists.start, first, last)))
    for q in range(first, last):
        a, b = unsigned(lists.start[q]), unsigned(lists.start[q + 1])
        relevance = weight = square = value = 0.0
        best = -np.inf
        for at in range(a, b):
            row, v, y = unsigned(lists.rows[at]), lists.weight[at], lists.grade[at] * per_grade
            x = min(max(scores[row], -_LARGEST), _LARGEST)
            below, above = _log_sigmoid(-x), _log_sigmoid(x)
            value -= row_share * v * (y * above + (1.0 - y) * below)
            sigma, other = _sigmoid(x), _sigmoid(-x)
            sums.gradient[row] = factor * row_share * v * (sigma * (1.0 - y) - other * y)
            sums.hessian[row] = factor * row_share * v * sigma * other
            log_sigma[at - a] = above
            best = max(best, above)
            relevance += v * y
            weight += v
            square += v * v
        if list_share > 0.0 and relevance > 0.0:
            total = 0.0
            for at in range(a, b):
                share[at - a] = lists.weight[at] / weight * math.exp(log_sigma[at - a] - best)
                total += share[at - a]
            w = list_share * square / weight
            for at in range(a, b):
                row, v = unsigned(lists.rows[at]), lists.weight[at]
                x = min(max(scores[row], -_LARGEST), _LARGEST)
                target, p = v * lists.grade[at] * per_grade / relevance, share[at - a] / total
                if target > 0.0:
                    value -= w * target * (log_sigma[at - a] - best + math.log(v / weight / total))
                sigma, other = _sigmoid(x), _sigmoid(-x)
                sums.gradient[row] += factor * w * other * (p - target)
                sums.hessian[row] += factor * w * other * (target * sigma + p * other)
        sums.value[q] = value
