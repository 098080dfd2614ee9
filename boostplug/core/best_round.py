"""`BestRound`: which round of a training was the best, and when to stop looking for a better one."""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["BestRound", "above", "rounding"]

Floats = NDArray[np.float64]

_ROUNDING = 1e-12  # relative: what the order of summation, and one processor's logarithm or another's, may change


def rounding(*values: float) -> float:
    """Return how far apart numbers like these may be for no other reason than rounding."""
    return _ROUNDING * max((abs(value) for value in values if math.isfinite(value)), default=0.0)


def above(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Return where a is above b by more than rounding."""
    size = np.maximum(np.abs(a), np.abs(b))
    found: NDArray[np.bool_] = a - b > _ROUNDING * np.where(np.isfinite(size), size, 0.0)
    return found


class BestRound:
    """Follows one metric round by round; the first of equal rounds is the best, NaN is never one.

    Parameters
    ----------
    greater_is_better : bool
    patience : int or None
        `stops` says so once this many rounds have brought nothing better; None: never.
    tolerance : float, default 0
        What is better by no more is not better; nor is what is better by rounding alone.

    Attributes
    ----------
    n_rounds : int
        Values seen.
    number : int
        Number of rounds up to the best, counted from 1; 0 before the first value that is not NaN.
    value : float
        The best value, NaN before there is one.
    """

    def __init__(self, *, greater_is_better: bool, patience: int | None = None, tolerance: float = 0.0) -> None:
        self._sign = 1.0 if greater_is_better else -1.0
        self.patience, self.tolerance = patience, tolerance
        self.n_rounds = self.number = 0
        self.value = math.nan

    def add(self, value: float) -> None:
        """Take the value after one more round."""
        self.n_rounds += 1
        if math.isnan(value):
            return
        if not self.number or self._sign * value > self._sign * self.value + self._slack(value):
            self.value, self.number = value, self.n_rounds

    def _slack(self, value: float) -> float:
        return max(self.tolerance, rounding(value, self.value))

    @property
    def stops(self) -> bool:
        """Whether the last `patience` rounds have brought nothing better."""
        return self.patience is not None and self.n_rounds - self.number >= self.patience
