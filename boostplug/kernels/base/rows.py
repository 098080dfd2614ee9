"""Multiply the derivatives of each query."""

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled

__all__ = ["multiply_queries"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled()
def _multiply_queries(gradient: Floats, hessian: Floats, factor: Floats, start: Ints, first: int, last: int) -> None:
    for q in range(first, last):
        by = factor[q]
        for i in range(unsigned(start[q]), unsigned(start[q + 1])):
            gradient[i] *= by
            hessian[i] *= by


def multiply_queries(gradient: Floats, hessian: Floats, factor: Floats, boundaries: Ints) -> None:
    """Multiply the derivatives of each query's rows by its factor, in place."""
    run_over_queries(lambda a, b: _multiply_queries(gradient, hessian, factor, boundaries, a, b), boundaries)
