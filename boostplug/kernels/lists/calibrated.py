r"""Cross entropy of each label with σ(F), and of a list's labels with the shares that its σ(F) have.

Logarithms are taken before sums: log σ(F) = -log(1 + e^-F), and shares are relative to the largest of a list.
"""

import math
from typing import Any

import numpy as np

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import longest_list

_LARGEST = 1e290  # of |F|: a sum over a list is finite


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
    lists: Any, scores: Any, of_rows: float, of_list: float, per_grade: float, factor: float, first: int, last: int,
    sums: Any,
) -> None:  # fmt: skip
    """Write the value of each list, and factor times its derivatives, with the weights of the two cross entropies.

    ``per_grade`` times a label is a probability. A list weighs the mean weight of its documents, Σ v²/Σ v.
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
            value -= of_rows * v * (y * above + (1.0 - y) * below)
            sigma, other = _sigmoid(x), _sigmoid(-x)
            sums.gradient[row] = factor * of_rows * v * (sigma * (1.0 - y) - other * y)
            sums.hessian[row] = factor * of_rows * v * sigma * other
            log_sigma[at - a] = above
            best = max(best, above)
            relevance += v * y
            weight += v
            square += v * v
        if of_list > 0.0 and relevance > 0.0:
            total = 0.0
            for at in range(a, b):
                share[at - a] = lists.weight[at] / weight * math.exp(log_sigma[at - a] - best)
                total += share[at - a]
            w = of_list * square / weight
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
