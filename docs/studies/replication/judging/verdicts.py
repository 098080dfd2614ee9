"""`Verdict`: whether a claim or a check holds, by the interval of a `Difference`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from boostplug.comparison.significance import Interval, t_interval
from boostplug.core.arrays import Floats
from boostplug.core.best_round import rounding
from studies.replication.judging.study_results import fold_weights

Holds = Literal["holds", "level", "does not hold"]

LEVEL = 0.95
"""Of all intervals."""

_WORST: tuple[Holds, ...] = ("does not hold", "level", "holds")


@dataclass(frozen=True)
class Verdict:
    """Our figures in words, and whether the claim holds or the check passes."""

    ours: str
    holds: Holds


class Difference(Interval):
    """The mean of a difference in the claim's favour, with its interval; its text is in words."""

    __slots__ = ()

    @property
    def holds(self) -> Holds:
        """Verdict by the interval: above 0, around it, or below."""
        if positive(self.low):
            return "holds"
        return "does not hold" if positive(-self.high) else "level"

    def near(self, figure: float, tolerance: float) -> Holds:
        """Return whether the mean is within `tolerance` of a published figure; level if its interval contains that."""
        if abs(self.mean - figure) <= tolerance + rounding(self.mean, figure):
            return "holds"
        return "level" if self.low <= figure <= self.high else "does not hold"

    def verdict(self, name: str = "") -> Verdict:
        """Return the verdict by the interval, with its figures; after a name they are in parentheses."""
        return Verdict(f"{name} ({self})" if name else str(self), self.holds)

    def __str__(self) -> str:
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"


def most(shown: NDArray[np.bool_]) -> Verdict:
    """Return the verdict on "most units show it", by Wilson's interval of their share."""
    count, share = int(shown.sum()), float(shown.mean())
    low, high = stats.binomtest(count, len(shown)).proportion_ci(LEVEL, method="wilson")
    above_half = Difference(share - 0.5, low - 0.5, high - 0.5)
    return Verdict(f"in {count} of {len(shown)} ({share:.0%} [{low:.0%}, {high:.0%}])", above_half.holds)


def interval(differences: Floats, folds: Floats | None = None, level: float = LEVEL) -> Difference:
    """Return the mean over units, with equal weights of folds, and its interval."""
    folds = np.zeros(len(differences)) if folds is None else folds
    defined = ~np.isnan(differences)
    weight = fold_weights(folds[defined])
    return Difference(*t_interval(differences[defined], weight=weight, strata=folds[defined], level=level))


def positive(value: float) -> bool:
    """Return whether a value exceeds 0 by more than rounding of numbers about 1."""
    return bool(value > rounding(1.0))


def worst(verdicts: Sequence[Verdict], joint: str = "; ") -> Verdict:
    """Return the worst of the verdicts, with the figures of each."""
    holds = min((verdict.holds for verdict in verdicts), key=_WORST.index)
    return Verdict(joint.join(verdict.ours for verdict in verdicts), holds)
