"""What a computation asks of all machines of a job, and the answers of one machine alone."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOCAL", "Collective"]

Floats = NDArray[np.float64]


class Collective(Protocol):
    """Combines what each machine of a job knows.

    Every machine asks the same questions in the same order: `gather` once, then `largest` at most once.
    """

    def gather(self, values: Floats) -> Floats:
        """Return the values of all machines, of shape (n_machines, n_values)."""

    def largest(self, value: float) -> float:
        """Return the largest value of all machines."""


class _Alone:
    def gather(self, values: Floats) -> Floats:
        return values[np.newaxis]

    def largest(self, value: float) -> float:
        return value


LOCAL: Collective = _Alone()
