"""`BestRound`: the best round of a training, and early stopping."""

import math

ROUNDING = 1e-12  # relative difference that the order of summation or another processor's logarithm may cause


def rounding(*values: float) -> float:
    """Return the largest difference between numbers of this size that rounding may cause."""
    return ROUNDING * max((abs(value) for value in values if math.isfinite(value)), default=0.0)


class BestRound:
    """Best round of a training by one metric. The first of equal rounds is the best, NaN never is.

    Parameters
    ----------
    greater_is_better : bool
    patience : int or None
        `stops` becomes True after this many rounds without an improvement; None: never.
    tolerance : float, default 0
        Differences up to it, and rounding errors, are not improvements.

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
        """Add the value after one more round."""
        self.n_rounds += 1
        if math.isnan(value):
            return
        if not self.number or self._sign * value > self._sign * self.value + self._slack(value):
            self.value, self.number = value, self.n_rounds

    def _slack(self, value: float) -> float:
        return max(self.tolerance, rounding(value, self.value))

    @property
    def stops(self) -> bool:
        """True if the last `patience` rounds have brought no improvement."""
        return self.patience is not None and self.n_rounds - self.number >= self.patience
