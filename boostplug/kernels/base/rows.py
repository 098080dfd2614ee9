"""Operations on rows in parallel: a factor for each query, values from a table, differences."""

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 16_384  # rows
_NOTHING = np.empty(0)
_NOTHING.setflags(write=False)  # scores are read-only: one type for the kernel


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


@compiled()
def _look_up(table: Floats, place: NDArray[np.int32], plus: Floats, out: Floats, first: int, last: int) -> None:
    for i in range(unsigned(first), unsigned(last)):
        out[i] = table[unsigned(place[i])] + (plus[i] if len(plus) else 0.0)


def looked_up(table: Floats, place: NDArray[np.int32], plus: Floats = _NOTHING) -> Floats:
    """Return ``table[place] + plus``, on several threads; places outside the table are not detected."""
    out = np.empty(len(place))
    edges = _edges(len(place))
    run_over_queries(lambda a, b: _look_up(table, place, plus, out, edges[a], edges[b]), edges)
    return out


def _edges(n: int) -> Ints:
    """Return the boundaries of blocks of `_BLOCK` rows among n rows."""
    edges: Ints = np.r_[0:n:_BLOCK, n].astype(np.int64)
    return edges
