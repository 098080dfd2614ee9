"""What a computation asks of all machines of a job, and the answers of one machine alone."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALONE", "Totals"]


class Totals(Protocol):
    """Combines what each machine of a job knows; every machine asks the same questions in the same order."""

    def sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of each entry over all machines."""

    def largest(self, value: float) -> float:
        """Return the largest value of all machines."""


class _Alone:
    def sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values

    def largest(self, value: float) -> float:
        return value


ALONE: Totals = _Alone()
