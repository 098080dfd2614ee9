"""Kinds of claims, each judged on the outcome of one study; thresholds are part of the claim."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from boostplug.best_round import rounding
from boostplug.replicate.outcome import Outcome
from boostplug.replicate.task import marks

__all__ = [
    "Ahead",
    "AheadOfPublished",
    "Apart",
    "Best",
    "Better",
    "Bounded",
    "Claim",
    "Close",
    "Extreme",
    "FallsMost",
    "Monotone",
    "OnAverage",
    "Ranked",
    "Rise",
    "Throughout",
    "Verdict",
]


@dataclass(frozen=True)
class Verdict:
    """What came of a claim: our figures in words, and whether it holds."""

    ours: str
    holds: bool


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """What a paper says of a study.

    Attributes
    ----------
    study : str
    text : str
        The claim, with its threshold.
    published : str
        The paper's figure, where it can be read.
    """

    figure: ClassVar[bool] = False
    """Whether it compares with a published figure, and so needs the data of that figure."""

    study: str
    text: str
    published: str = ""

    @abstractmethod
    def judge(self, outcome: Outcome) -> Verdict:
        """Return the verdict on a finished study."""


@dataclass(frozen=True, kw_only=True)
class Ranked(Claim):
    """Mean ranks ascend strictly in this order of learners."""

    measure: str
    order: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the mean ranks."""
        ranks = outcome.mean_ranks(self.measure)
        own = [ranks[name] for name in self.order]
        ours = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(self.order, own, strict=True))
        return Verdict(ours, all(a < b for a, b in pairwise(own)))


@dataclass(frozen=True, kw_only=True)
class Apart(Claim):
    """The mean rank of a learner is better than each other's by more than Nemenyi's critical difference (.05)."""

    measure: str
    learner: str
    others: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the differences of mean ranks with the critical one."""
        ranks, critical = outcome.mean_ranks(self.measure), outcome.critical_difference(self.measure)
        apart = [ranks[other] - ranks[self.learner] for other in self.others]
        ours = ", ".join(f"{gap:+.2f} to {other}" for other, gap in zip(self.others, apart, strict=True))
        return Verdict(f"{ours} (critical {critical:.2f})", all(gap > critical for gap in apart))


@dataclass(frozen=True, kw_only=True)
class Better(Claim):
    """The mean of a learner is better than another's; with `level`, significantly so (see `Outcome.p_value`)."""

    measure: str
    learner: str
    other: str
    level: float | None = None
    part: Literal["train", "test"] = "test"

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the means."""
        a, b = (outcome.mean(name, self.measure, self.part) for name in (self.learner, self.other))
        ours = f"{self.learner} {a:.4f}, {self.other} {b:.4f}"
        sign = _sign(outcome, self.measure)
        holds = sign * (a - b) > rounding(a, b)
        if self.level is not None:
            p = outcome.p_value(self.learner, self.other, self.measure)
            ours += f", p = {p:.2g}"
            holds = holds and p < self.level
        return Verdict(ours, holds)


@dataclass(frozen=True, kw_only=True)
class Throughout(Claim):
    """What `Better` says holds for each of several measures."""

    measures: tuple[str, ...]
    learner: str
    other: str
    level: float | None = None

    def judge(self, outcome: Outcome) -> Verdict:
        """Judge each."""
        ours, holds = [], True
        for measure in self.measures:
            difference = outcome.mean(self.learner, measure) - outcome.mean(self.other, measure)
            p = "" if self.level is None else f" (p = {outcome.p_value(self.learner, self.other, measure):.2g})"
            ours.append(f"{measure} {difference:+.4f}{p}")
            single = Better(
                study=self.study,
                text=self.text,
                measure=measure,
                learner=self.learner,
                other=self.other,
                level=self.level,
            )
            holds = holds and single.judge(outcome).holds
        return Verdict(", ".join(ours), holds)


@dataclass(frozen=True, kw_only=True)
class Best(Claim):
    """The best mean of all learners of the study is one of `learners`'."""

    measure: str
    learners: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the means."""
        means = {name: outcome.mean(name, self.measure) for name in outcome.learners}
        first, ours = _in_order(means, ".4f", descending=outcome.metric(self.measure).greater_is_better)
        return Verdict(ours, first in self.learners)


@dataclass(frozen=True, kw_only=True)
class Ahead(Claim):
    """At each of some measures, the mean of a learner is better than each other's.

    Attributes
    ----------
    learners : tuple of str
        One; or several whose means are averaged, such as one method with several seeds.
    others : tuple of str
    measures : tuple of str
    against : tuple of str
        The measures of the others, where they are not the same: such as those with a round chosen otherwise.
    """

    learners: tuple[str, ...]
    others: tuple[str, ...]
    measures: tuple[str, ...]
    against: tuple[str, ...] = ()

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the means, one by one."""
        against = self.against or self.measures
        means = {other: [outcome.mean(other, measure) for measure in against] for other in self.others}
        return _ahead(outcome, self.learners, self.measures, means)


@dataclass(frozen=True, kw_only=True)
class AheadOfPublished(Claim):
    """`Ahead`, of rows of the study's published table in place of learners."""

    figure: ClassVar[bool] = True

    learners: tuple[str, ...]
    rows: tuple[str, ...]
    measures: tuple[str, ...]
    against: tuple[str, ...] = ()

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare with the figures, one by one."""
        table, against = outcome.study.published, self.against or self.measures
        figures = {row: [table[row][measure] for measure in against] for row in self.rows}
        return _ahead(outcome, self.learners, self.measures, figures)


@dataclass(frozen=True, kw_only=True)
class OnAverage(Claim):
    """Averaged over some measures, the mean of a learner is better than another's; attributes as in `Ahead`."""

    learners: tuple[str, ...]
    other: str
    measures: tuple[str, ...]
    against: tuple[str, ...] = ()

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the averages."""
        a = float(np.mean([_mean(outcome, self.learners, measure) for measure in self.measures]))
        b = float(np.mean([outcome.mean(self.other, measure) for measure in self.against or self.measures]))
        sign = _sign(outcome, self.measures[0])
        return Verdict(f"{a:.4f}, {self.other} {b:.4f} ({a - b:+.4f})", sign * (a - b) > rounding(a, b))


@dataclass(frozen=True, kw_only=True)
class Close(Claim):
    """The mean of a learner is within `tolerance` of the published one.

    Attributes
    ----------
    measure, learner : str
    tolerance : float
    row : str
        Whose figure it is in the study's published table; default: the learner's.
    offset : float
        How far from that figure it is claimed to be.
    also : tuple of str
        Learners whose means are averaged with that of `learner`, such as one method with other seeds.
    """

    figure: ClassVar[bool] = True

    measure: str
    learner: str
    tolerance: float
    row: str = ""
    offset: float = 0.0
    also: tuple[str, ...] = ()

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare with the figure in the study's published table."""
        ours = _mean(outcome, (self.learner, *self.also), self.measure)
        difference = ours - outcome.study.published[self.row or self.learner][self.measure]
        return Verdict(f"{ours:.4f} ({difference:+.4f})", abs(difference - self.offset) <= self.tolerance)


@dataclass(frozen=True, kw_only=True)
class Extreme(Claim):
    """After the last round, a learner's curve is the lowest (or highest) of all."""

    curve: str
    learner: str
    part: Literal["train", "test", "trace"] = "trace"
    lowest: bool = True

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the ends of the curves."""
        ends = {name: outcome.curve(name, self.part, self.curve)[-1] for name in outcome.learners}
        first, ours = _in_order(ends, ".4g", descending=not self.lowest)
        return Verdict(ours, first == self.learner)


@dataclass(frozen=True, kw_only=True)
class Rise(Claim):
    """From its best point to the last round, a learner's mean test curve worsens least of all: it overfits least."""

    measure: str
    learner: str

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare how far the curves end from their best points."""
        falls = _falls(outcome, self.measure, outcome.learners)
        first, ours = _in_order({name: fall for name, (fall, _) in falls.items()}, ".4f")
        return Verdict(ours, first == self.learner)


@dataclass(frozen=True, kw_only=True)
class FallsMost(Claim):
    """From its best point to the last round, a learner's mean test curve worsens more than each other's."""

    measure: str
    learner: str
    others: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare how far the curves end from their best points."""
        falls = _falls(outcome, self.measure, (self.learner, *self.others))
        ours = ", ".join(f"{name} {fall:.4f} from round {best}" for name, (fall, best) in falls.items())
        own = falls[self.learner][0]
        return Verdict(ours, all(own - falls[name][0] > rounding(1.0) for name in self.others))


@dataclass(frozen=True, kw_only=True)
class Bounded(Claim):
    """A trace of a learner is nowhere above another of its traces."""

    curve: str
    bound: str
    learner: str

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the curves at each round that is recorded."""
        curve, bound = (outcome.curve(self.learner, "trace", name) for name in (self.curve, self.bound))
        at = int(np.argmin(bound - curve))
        ours = f"nearest: {curve[at]:.4f} to {bound[at]:.4f} after round {marks(outcome.study.rounds)[at]}"
        slack = rounding(*curve, *bound)
        return Verdict(ours, bool((curve <= bound + slack).all()))


@dataclass(frozen=True, kw_only=True)
class Monotone(Claim):
    """A trace of a learner falls (or rises) from each recorded round to the next, or stays, and moves in all."""

    curve: str
    learner: str
    rising: bool = False

    def judge(self, outcome: Outcome) -> Verdict:
        """Look at the steps of the curve."""
        curve = outcome.curve(self.learner, "trace", self.curve)
        steps = np.diff(curve) if self.rising else -np.diff(curve)
        steps[np.abs(steps) <= rounding(*curve)] = 0.0
        ours = f"from {curve[0]:.4f} to {curve[-1]:.4f}"
        if (steps < 0).any():
            at = marks(outcome.study.rounds)
            first = int(np.argmax(steps < 0))
            ours += f"; turns back between rounds {at[first]} and {at[first + 1]}"
        return Verdict(ours, bool((steps >= 0).all() and steps.sum() > 0))


def _ahead(
    outcome: Outcome, learners: tuple[str, ...], measures: tuple[str, ...], others: Mapping[str, Sequence[float]]
) -> Verdict:
    """Return whether the learners are better at each measure than all others, given by their values."""
    signs = np.array([_sign(outcome, measure) for measure in measures])
    own = np.array([_mean(outcome, learners, measure) for measure in measures])
    parts, holds = [], True
    for name, values in others.items():
        gaps = signs * (own - np.asarray(values))
        least, ahead = int(np.argmin(gaps)), int((gaps > rounding(*own, *values)).sum())
        parts.append(f"{name}: at {ahead} of {len(gaps)}, least {gaps[least]:+.4f} at {measures[least].split(',')[0]}")
        holds = holds and ahead == len(gaps)
    return Verdict("; ".join(parts), holds)


def _in_order(values: Mapping[str, float], form: str, *, descending: bool = False) -> tuple[str, str]:
    """Return the name of the lowest value (or the highest, if `descending`), and all of them in order, in words."""
    order = sorted(values, key=values.__getitem__, reverse=descending)
    return order[0], ", ".join(f"{name} {values[name]:{form}}" for name in order)


def _falls(outcome: Outcome, measure: str, learners: Sequence[str]) -> dict[str, tuple[float, int]]:
    """Return how much worse each mean test curve ends than it is at its best, and the round of that."""
    sign, rounds = _sign(outcome, measure), marks(outcome.study.rounds)
    falls = {}
    for name in learners:
        curve = sign * outcome.curve(name, "test", measure)
        best = int(np.argmax(curve))
        falls[name] = float(curve[best] - curve[-1]), rounds[best]
    return falls


def _sign(outcome: Outcome, measure: str) -> float:
    """Return 1 where greater values are better, else -1."""
    return 1.0 if outcome.metric(measure).greater_is_better else -1.0


def _mean(outcome: Outcome, learners: tuple[str, ...], measure: str) -> float:
    """Return the average of the learners' means."""
    return float(np.mean([outcome.mean(name, measure) for name in learners]))
