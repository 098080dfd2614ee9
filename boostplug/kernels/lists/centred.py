"""Squared errors less the mean error of their list."""

from typing import Any

from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined

_LARGEST = 1e150  # bound of |r - F|: its square is finite


@inlined()
def _error(labels: Any, scores: Any, row: int, other: int) -> float:
    """Return the error r - F of a row, less that of another row."""
    x: float = (labels[row] - labels[other]) - (scores[row] - scores[other])
    return min(max(x, -_LARGEST), _LARGEST)


@compiled()
def centred_squares(first: int, last: int, lists: Any, scores: Any, labels: Any, factor: float, sums: Any) -> None:
    """Write Σ v x²/2 of each list, x = r - F less its weighted mean, and factor times the derivatives -v x and v.

    x is first taken relative to the document of the largest weight, so that rounding stays small. Equal errors then
    give derivatives of exactly 0.
    """
    for q in range(first, last):
        a, b = unsigned(lists.start[q]), unsigned(lists.start[q + 1])
        if b - a < unsigned(2):
            continue
        heaviest = a
        for at in range(a, b):
            if lists.weight[at] > lists.weight[heaviest]:
                heaviest = at
        own = unsigned(lists.rows[heaviest])
        weight = mean = 0.0
        for at in range(a, b):
            row, share = unsigned(lists.rows[at]), lists.weight[at] / lists.weight[heaviest]
            x = _error(labels, scores, row, own)
            sums.gradient[row] = x
            weight += share
            mean += share * x
        mean /= weight
        square = 0.0
        for at in range(a, b):
            row, v = unsigned(lists.rows[at]), lists.weight[at]
            x = sums.gradient[row] - mean
            sums.gradient[row] = -(factor * v) * x
            sums.hessian[row] = factor * v
            square += v * x * x
        sums.value[q] = 0.5 * square
