"""Squared error on the labels, document by document: all of `SquaredError`, and the label term of `QBRank`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.pairs.hinge import Derivatives

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 1e150  # bound of a difference: its square is finite


class Labels(NamedTuple):
    """The documents of all queries in file order; empty `weight`: all 1; empty `labelled`: all labelled."""

    labels: Floats
    weight: Floats
    labelled: NDArray[np.bool_]
    boundaries: Ints


@compiled()
def _label_kernel(
    first: int, last: int, scores: Any, labels: Any, factor: float, out: Any, squares: Any
) -> None:  # fmt: skip
    """Write the outputs of `label_term` for the queries ``first <= q < last``."""
    weighted, masked = labels.weight.shape[0] > 0, labels.labelled.shape[0] > 0
    for q in range(first, last):
        square = 0.0
        for i in range(unsigned(labels.boundaries[q]), unsigned(labels.boundaries[q + 1])):
            x = min(max(scores[i] - labels.labels[i], -_LARGEST), _LARGEST)
            v = 1.0
            if weighted:
                v = labels.weight[i]
            if masked and not labels.labelled[i]:
                v = 0.0
            out.gradient[i] = factor * v * x
            out.hessian[i] = factor * v
            square += v * x * x
        squares[q] = square


def label_term(scores: Floats, labels: Labels, factor: float) -> tuple[Derivatives, Floats]:
    """Return the derivatives of factor · v (l - F)²/2, 0 where not labelled, and each query's Σ v (l - F)²."""
    n = len(scores)
    gradient, hessian = np.empty((2, n))
    out, squares = Derivatives(gradient, hessian), np.empty(len(labels.boundaries) - 1)
    run_over_queries(
        lambda first, last: _label_kernel(first, last, scores, labels, factor, out, squares), labels.boundaries
    )
    return out, squares
