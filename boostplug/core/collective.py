"""Interface to collective operations of several machines, and its implementation for a single machine."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Collective(Protocol):
    """Collective operations over the machines of a job.

    Every machine must call them in the same order: `gather` once, then `largest` at most once.
    """

    def gather(self, values: Floats) -> Floats:
        """Return the values of all machines, of shape (n_machines, n_values)."""

    def largest(self, value: float) -> float:
        """Return the largest value of all machines."""


class _SingleMachine:
    def gather(self, values: Floats) -> Floats:
        return values[np.newaxis]

    def largest(self, value: float) -> float:
        return value


LOCAL: Collective = _SingleMachine()
