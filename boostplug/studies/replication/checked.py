"""Checks, which are no claims of a paper's experiments: theorems, and published rows of methods that are trained here.

They pass or fail: no figure that they compare is an estimate of which a paper makes a statement.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostplug.core.best_round import above
from boostplug.studies.replication.outcome import Outcome
from boostplug.studies.replication.task import marks

__all__ = ["Bounded", "Check", "Checked", "Close", "Monotone"]


@dataclass(frozen=True)
class Checked:
    """What came of a check: our figures in words, and whether it passes."""

    ours: str
    passes: bool


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """What must come out of a study if all is right.

    Attributes
    ----------
    study : str
    text : str
        What is checked, with its threshold.
    where : str
        The theorem, section or table.
    published : str
        The figure, where one is printed.
    """

    figure: ClassVar[bool] = False
    """Whether it compares with a published figure, and so needs the data of that figure."""

    study: str
    text: str
    where: str
    published: str = ""

    @abstractmethod
    def check(self, outcome: Outcome) -> Checked:
        """Return what came of it on a finished study."""


@dataclass(frozen=True, kw_only=True)
class Bounded(Check):
    """A trace of a learner is nowhere above another of its traces, in no split."""

    curve: str
    bound: str
    learner: str

    def check(self, outcome: Outcome) -> Checked:
        """Compare the curves at each round that is recorded."""
        curves, bounds = (outcome.split_curves(self.learner, "trace", name) for name in (self.curve, self.bound))
        split, at = np.unravel_index(np.argmin(bounds - curves), curves.shape)
        nearest = f"{curves[split, at]:.4f} to {bounds[split, at]:.4f}"
        passes = not above(curves, bounds).any()
        return Checked(f"nearest: {nearest} after round {marks(outcome.study.rounds)[at]}", passes)


@dataclass(frozen=True, kw_only=True)
class Monotone(Check):
    """A trace of a learner falls (or rises) from each recorded round to the next, or stays, in every split."""

    curve: str
    learner: str
    rising: bool = False

    def check(self, outcome: Outcome) -> Checked:
        """Look at the steps of the curves."""
        curves = outcome.split_curves(self.learner, "trace", self.curve)
        before, after = curves[:, :-1], curves[:, 1:]
        back = above(before, after) if self.rising else above(after, before)
        ours = f"from {np.median(curves[:, 0]):.4f} to {np.median(curves[:, -1]):.4f}"
        if back.any():
            at, split = marks(outcome.study.rounds), int(np.argmax(back.any(axis=1)))
            first = int(np.argmax(back[split]))
            times = f"{int(back.any(axis=1).sum())} of {len(curves)} trainings"
            ours += f"; turns back in {times}, first between rounds {at[first]} and {at[first + 1]}"
        return Checked(ours, not back.any())


@dataclass(frozen=True, kw_only=True)
class Close(Check):
    """The mean of a learner is within `tolerance` of the published one.

    Attributes
    ----------
    measure, learner : str
    tolerance : float
    row : str
        Whose figure it is in the study's published table; default: the learner's.
    also : tuple of str
        Learners whose means are averaged with that of `learner`, such as one method with other seeds.
    """

    figure: ClassVar[bool] = True

    measure: str
    learner: str
    tolerance: float
    row: str = ""
    also: tuple[str, ...] = ()

    def check(self, outcome: Outcome) -> Checked:
        """Compare with the figure in the study's published table."""
        ours = float(np.mean([outcome.mean(name, self.measure) for name in (self.learner, *self.also)]))
        difference = ours - outcome.study.published[self.row or self.learner][self.measure]
        return Checked(f"{ours:.4f} ({difference:+.4f})", abs(difference) <= self.tolerance)
