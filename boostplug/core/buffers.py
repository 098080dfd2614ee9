"""Arrays that are reused from one boosting round to the next.

New memory comes from the system page by page, which takes 9 ms a round for a million rows, a third of the round. So the
adapters keep the arrays of a training, and losses make their derivatives here. Elsewhere they are new.

An array is reused only when no other object references it.
"""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Buffers", "empty", "zeros"]

Floats = NDArray[np.float64]

_FEWEST = 1 << 14  # numbers of 8 bytes; below this the C library keeps memory by itself


class Buffers:
    """What is kept of the calls with one set of rows.

    Two threads may use them at once: each step on the list is one.
    """

    def __init__(self) -> None:
        self._kept: list[Floats] = []

    @contextmanager
    def lent(self, most: int) -> Iterator[None]:
        """Have `empty` and `zeros` take these arrays within, and keep them afterwards: `most` numbers in all."""
        taken: list[Floats] = []
        token = _lent.set((self, taken))
        try:
            yield
        finally:
            _lent.reset(token)
            for array in taken:
                if sum(kept.size for kept in tuple(self._kept)) + array.size <= most:
                    self._kept.append(array)

    def take(self, size: int) -> Floats:
        """Return one that is kept and that nobody uses, or a new one; what does not fit this call is dropped."""
        array = None
        while array is None:
            array = _unused(self._kept, size) if self._kept else np.empty(size)
        return array


_lent: ContextVar[tuple[Buffers, list[Floats]] | None] = ContextVar("_lent", default=None)  # and what a call has taken


def empty(*shape: int) -> Floats:
    """Return an array of any content, as `numpy.empty` does."""
    lent, size = _lent.get(), math.prod(shape)
    if lent is None or size < _FEWEST:
        return np.empty(shape)
    buffers, taken = lent
    taken.append(buffers.take(size))
    return taken[-1].reshape(shape)


def zeros(*shape: int) -> Floats:
    """Return an array of zeros, as `numpy.zeros` does."""
    if _lent.get() is None:
        return np.zeros(shape)
    array = empty(*shape)
    array.fill(0.0)
    return array


def _popped(arrays: list[Floats]) -> tuple[Floats, int]:
    """Return the last array, out of the list, and how many references Python counts."""
    array = arrays.pop()
    return array, sys.getrefcount(array)


_ALONE = _popped([np.empty(1)])[1]  # which differs between versions of Python


def _unused(kept: list[Floats], size: int) -> Floats | None:
    """Return the last array that is kept, out of the list; None where somebody uses it, or its size is another."""
    try:
        array, references = _popped(kept)
    except IndexError:  # another thread was faster
        return None
    return array if references == _ALONE and array.size == size else None
