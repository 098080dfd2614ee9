"""`Verdict`: whether a claim or a check holds; an interval of a difference says which of three."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from boostplug.comparison.significance import Interval, t_interval
from boostplug.core.best_round import rounding
from boostplug.studies.replication.judging.study_results import StudyResults, alike

__all__ = [
    "LEVEL",
    "Holds",
    "Verdict",
    "direction",
    "interval",
    "most",
    "near",
    "of_interval",
    "positive",
    "shown",
    "sign",
    "worst",
]

Floats = NDArray[np.float64]
Holds = Literal["holds", "level", "does not hold"]

LEVEL = 0.95
"""Of all intervals."""

_WORST: tuple[Holds, ...] = ("does not hold", "level", "holds")


@dataclass(frozen=True)
class Verdict:
    """Our figures in words, and whether the claim holds; of a check, whether it passes."""

    ours: str
    holds: Holds


def most(shown: NDArray[np.bool_]) -> Verdict:
    """Return whether most units show something, by Wilson's interval of their share."""
    count, share = int(shown.sum()), float(shown.mean())
    low, high = stats.binomtest(count, len(shown)).proportion_ci(LEVEL, method="wilson")
    gap = Interval(share - 0.5, low - 0.5, high - 0.5)
    return Verdict(f"in {count} of {len(shown)} ({share:.0%} [{low:.0%}, {high:.0%}])", direction(gap))


def interval(differences: Floats, folds: Floats | None = None, level: float = LEVEL) -> Interval:
    """Return the mean over units, each fold with the same weight, and its interval."""
    folds = np.zeros(len(differences)) if folds is None else folds
    defined = ~np.isnan(differences)
    weight = alike(folds[defined])
    return t_interval(differences[defined], weight=weight, strata=folds[defined], level=level)


def near(found: Interval, figure: float, tolerance: float) -> Holds:
    """Return whether a mean is within `tolerance` of a published figure; level where its interval holds the figure."""
    if abs(found.mean - figure) <= tolerance + rounding(found.mean, figure):
        return "holds"
    return "level" if found.low <= figure <= found.high else "does not hold"


def direction(gap: Interval) -> Holds:
    """Return what an interval of a difference in the claim's favour says."""
    if positive(gap.low):
        return "holds"
    return "does not hold" if positive(-gap.high) else "level"


def positive(value: float) -> bool:
    """Return whether a value is above 0 by more than rounding of numbers about 1."""
    return bool(value > rounding(1.0))


def shown(gap: Interval) -> str:
    """Return an interval in words."""
    return f"{gap.mean:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"


def of_interval(gap: Interval, name: str = "") -> Verdict:
    """Return what an interval of a difference says, with its figures; after a name, in parentheses."""
    return Verdict(f"{name} ({shown(gap)})" if name else shown(gap), direction(gap))


def worst(verdicts: Sequence[Verdict], joint: str = "; ") -> Verdict:
    """Return the verdict on all of them: the worst, with the figures of each."""
    holds = min((verdict.holds for verdict in verdicts), key=_WORST.index)
    return Verdict(joint.join(verdict.ours for verdict in verdicts), holds)


def sign(results: StudyResults, measure: str) -> float:
    """Return 1 where greater values are better, else -1."""
    return 1.0 if results.metric(measure).greater_is_better else -1.0
