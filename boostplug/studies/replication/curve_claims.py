"""Kinds of claims about rounds: how far a curve falls or rises, and what it looks like; see `claims`."""

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.significance import Interval
from boostplug.core.best_round import above
from boostplug.studies.replication.claims import Claim
from boostplug.studies.replication.outcome import Outcome
from boostplug.studies.replication.task import marks
from boostplug.studies.replication.verdicts import (
    LEVEL,
    Holds,
    Verdict,
    counted,
    direction,
    interval,
    positive,
    shown,
    sign,
    worst_of,
)

__all__ = [
    "ClimbsToPeak",
    "Closes",
    "Converges",
    "ConvergesAlike",
    "DropsEarly",
    "EndsFirst",
    "EndsInOrder",
    "Exponential",
    "HaltsAbove",
    "Lasts",
    "Moves",
    "OverfitsEarly",
    "OverfitsLess",
    "Settles",
    "Shape",
    "Turns",
    "Worsens",
]

Floats = NDArray[np.float64]

_SAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class EndsInOrder(Claim):
    """After the last round, mean test values are better in this order, each neighbouring pair's by its interval."""

    measure: str
    order: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the ends of the curves, unit by unit."""
        ends = [outcome.unit_curves(name, "test", self.measure)[:, -1] for name in self.order]
        gaps = [interval(sign(outcome, self.measure) * (first - second)) for first, second in pairwise(ends)]
        ours = ", ".join(f"{name} {np.nanmean(end):.4f}" for name, end in zip(self.order, ends, strict=True))
        return Verdict(f"{ours} ({', '.join(map(shown, gaps))})", worst_of([direction(gap) for gap in gaps]))


@dataclass(frozen=True, kw_only=True)
class ConvergesAlike(Claim):
    """A learner's mean test curve comes as far in about as many rounds as each other's.

    Where it has made nine tenths of its way from the first round to its best, in rounds between `marks` by their
    logarithms; the ratio of rounds is within a factor, by its 95 % interval (1,000 samples of units with replacement).
    It does not hold where the interval lies outside.
    """

    measure: str
    learner: str
    others: tuple[str, ...]
    factor: float = 2.0

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the rounds."""
        names = (self.learner, *self.others)
        curves = np.array([outcome.unit_curves(name, "test", self.measure) for name in names])
        curves = sign(outcome, self.measure) * curves[:, ~np.isnan(curves).any(axis=(0, 2))]
        n, rounds = curves.shape[1], np.log(marks(outcome.study.rounds))
        draws = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_SAMPLES) / n
        parts: list[str] = []
        verdicts: list[Holds] = []
        own, *found = (
            [_arrival(curve, rounds) for curve in (of_one.mean(axis=0), *draws @ of_one)] for of_one in curves
        )
        for other, theirs in zip(self.others, found, strict=True):
            ratio = np.subtract(own, theirs)
            low, high = np.quantile(ratio[1:], [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
            parts.append(
                f"{other} {np.exp(theirs[0]):.0f} (×{np.exp(ratio[0]):.2f} [{np.exp(low):.2f}, {np.exp(high):.2f}])"
            )
            inside, outside = max(-low, high) <= np.log(self.factor), max(low, -high) > np.log(self.factor)
            verdicts.append("holds" if inside else "does not hold" if outside else "level")
        return Verdict(f"{self.learner} after {np.exp(own[0]):.0f} rounds, {', '.join(parts)}", worst_of(verdicts))


@dataclass(frozen=True, kw_only=True)
class Settles(Claim):
    """A learner's mean test value does not significantly worsen from its best round to the last.

    It holds where the interval of the worsening holds 0 and lies below a tenth of what was won since the first round,
    does not where it lies above 0; where it holds 0 and is wider, it is level.
    """

    measure: str
    learner: str

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the end with the best round."""
        falls, at, won = _falls(outcome, self.learner, self.measure)
        gap = interval(falls)
        said = f"worse by {shown(gap)} since round {at}, of {won:.4f} won"
        if direction(gap) == "holds":  # it worsens
            return Verdict(said, "does not hold")
        return Verdict(said, "holds" if gap.high <= 0.1 * won else "level")


@dataclass(frozen=True, kw_only=True)
class OverfitsEarly(Claim):
    """Each learner's mean test value is best at round `by` or before, and worse at the last, by its interval.

    It does not hold where one is best later.
    """

    measure: str
    learners: tuple[str, ...]
    by: int

    def judge(self, outcome: Outcome) -> Verdict:
        """Look for the best round, and compare the end with it."""
        parts, verdicts = [], []
        for learner in self.learners:
            falls, at, _ = _falls(outcome, learner, self.measure)
            gap = interval(falls)
            parts.append(f"{learner} best after round {at}, then worse by {shown(gap)}")
            verdicts.append("does not hold" if at > self.by else direction(gap))
        return Verdict("; ".join(parts), worst_of(verdicts))


@dataclass(frozen=True, kw_only=True)
class HaltsAbove(Claim):
    """There are trainings in which a learner halts, and some of these end with its curve above another's.

    It is level where it halts and none ends above, does not hold where it never halts.

    Attributes
    ----------
    curve : str
        Of the trace.
    learner, other : str
    halted : str
        Of the learner's trace: ends above 0 where it halts.
    """

    curve: str
    learner: str
    other: str
    halted: str = "halted"

    def judge(self, outcome: Outcome) -> Verdict:
        """Count the trainings that halt, and those of them that end above."""
        halted = outcome.split_curves(self.learner, "trace", self.halted)[:, -1] > 0.0
        own, other = (outcome.split_curves(name, "trace", self.curve)[:, -1] for name in (self.learner, self.other))
        said = f"halts in {halted.sum()} of {len(halted)} trainings"
        if not halted.any():
            return Verdict(said, "does not hold")
        ends_above = int((halted & above(own, other)).sum())
        return Verdict(f"{said}, ends above in {ends_above} of these", "holds" if ends_above else "level")


@dataclass(frozen=True, kw_only=True)
class OverfitsLess(Claim):
    """From the best round of its mean test curve to the last, a learner's test value worsens less than each other's."""

    measure: str
    learner: str
    others: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare unit by unit how far the curves end from where their means are best."""
        own, at, _ = _falls(outcome, self.learner, self.measure)
        parts, verdicts = [f"{self.learner} {own.mean():.4f} from round {at}"], []
        for other in self.others:
            falls, at, _ = _falls(outcome, other, self.measure)
            gap = interval(falls - own)
            parts.append(f"{other} {falls.mean():.4f} from round {at} ({shown(gap)})")
            verdicts.append(direction(gap))
        return Verdict(", ".join(parts), worst_of(verdicts))


@dataclass(frozen=True, kw_only=True)
class Worsens(Claim):
    """After the last round a learner's test value is worse than after round `since`."""

    measure: str
    learner: str
    since: int

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare unit by unit."""
        gap, best = _gain_since(outcome, self.learner, self.measure, self.since)
        return Verdict(f"{shown(gap)}, best after round {best}", direction(Interval(-gap.mean, -gap.high, -gap.low)))


@dataclass(frozen=True, kw_only=True)
class Lasts(Claim):
    """After the last round a learner's test value is not worse than after round `since`, but for less than `tolerance`.

    It does not hold where the interval of the change lies on the worse side; else it holds where the interval excludes
    that it worsens by `tolerance`.
    """

    measure: str
    learner: str
    since: int
    tolerance: float

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare unit by unit."""
        gap, best = _gain_since(outcome, self.learner, self.measure, self.since)
        said = f"{shown(gap)}, best after round {best}"
        if direction(gap) == "does not hold":
            return Verdict(said, "does not hold")
        return Verdict(said, "holds" if positive(gap.low + self.tolerance) else "level")


@dataclass(frozen=True, kw_only=True)
class Shape(Claim):
    """What curves over rounds look like, counted over units: "in most of them".

    It holds where Wilson's 95 % interval of the share of units that show it lies above one half, does not where it lies
    below; else it is level.
    """

    curve: str
    learner: str
    part: Literal["train", "test", "trace"] = "trace"

    def judge(self, outcome: Outcome) -> Verdict:
        """Count the units that show it."""
        curves = outcome.unit_curves(self.learner, self.part, self.curve)
        shown = self.shown(outcome, curves)[~np.isnan(curves).any(axis=1)]
        if not len(shown):
            raise ValueError(f"{self.learner} has no curve {self.curve!r} of {self.part} in {outcome.study.name}")
        return counted(shown)

    @abstractmethod
    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:
        """Return for each unit whether its curve, a row, shows it."""


@dataclass(frozen=True, kw_only=True)
class EndsFirst(Shape):
    """After the last round, a learner's curve is the lowest (or highest) of these."""

    others: tuple[str, ...]
    lowest: bool = True

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:
        """Compare the ends of the curves."""
        sign = -1.0 if self.lowest else 1.0
        ends = [outcome.unit_curves(other, self.part, self.curve)[:, -1] for other in self.others]
        first: NDArray[np.bool_] = np.all([above(sign * curves[:, -1], sign * end) for end in ends], axis=0)
        return first


@dataclass(frozen=True, kw_only=True)
class Moves(Shape):
    """A learner's curve ends above (or below) where it began."""

    rising: bool = True

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Compare the ends of each curve."""
        first, last = curves[:, 0], curves[:, -1]
        return above(last, first) if self.rising else above(first, last)


@dataclass(frozen=True, kw_only=True)
class Turns(Shape):
    """A learner's curve falls, then rises: it begins and ends above its lowest point."""

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Compare both ends of each curve with its lowest point."""
        lowest = curves.min(axis=1)
        return above(curves[:, 0], lowest) & above(curves[:, -1], lowest)


@dataclass(frozen=True, kw_only=True)
class DropsEarly(Shape):
    """A learner's curve, which begins at `start` before the first round, makes half of its way down within a share.

    Attributes
    ----------
    start : float
    within : float, default 0.1
        Of the rounds.
    """

    start: float
    within: float = 0.1

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:
        """Compare the curve at that share of the rounds with half way."""
        rounds = np.array(marks(outcome.study.rounds))
        early = curves[:, rounds <= max(1.0, self.within * rounds[-1])][:, -1]
        falls = above(np.full(len(curves), self.start), curves[:, -1])
        half: NDArray[np.bool_] = self.start - early >= 0.5 * (self.start - curves[:, -1])
        return falls & half


@dataclass(frozen=True, kw_only=True)
class Closes(Shape):
    """A learner's curve ends nearer to another of its curves than a tenth of their distance after the first round."""

    to: str

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:
        """Compare the distances."""
        distances = np.abs(curves - outcome.unit_curves(self.learner, self.part, self.to))
        closed: NDArray[np.bool_] = distances[:, -1] < 0.1 * distances[:, 0]
        return closed


@dataclass(frozen=True, kw_only=True)
class ClimbsToPeak(Shape):
    """A learner's curve never falls before its highest point, from any round to the next, and that is not its first.

    The curve is the trace `STEADY` of what climbs, which knows every round.
    """

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Take what was recorded when training ended."""
        climbs: NDArray[np.bool_] = curves[:, -1] == 1.0
        return climbs


@dataclass(frozen=True, kw_only=True)
class Exponential(Shape):
    """A learner's curve falls exponentially: per round, its logarithm falls at least half as fast late as early.

    Early is up to the last recorded round within the first half of the rounds, late is from there on. A curve that
    falls to a limit slows down, and does not show it.
    """

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:
        """Compare the slopes of the two halves."""
        rounds = np.array(marks(outcome.study.rounds))
        half = int(np.flatnonzero(2 * rounds <= rounds[-1])[-1])
        logarithms = np.log(curves)
        early = (logarithms[:, 0] - logarithms[:, half]) / (rounds[half] - rounds[0])
        late = (logarithms[:, half] - logarithms[:, -1]) / (rounds[-1] - rounds[half])
        shown: NDArray[np.bool_] = above(early, np.zeros(len(early))) & ~above(0.5 * early, late)
        return shown


@dataclass(frozen=True, kw_only=True)
class Converges(Shape):
    """A learner's curve of a measure gets better up to half of the rounds, and then stays: "a clear trend".

    From the first mark at half of the rounds on, it is never further from where it is there than a tenth of what it had
    gained.
    """

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:
        """Compare the second half of each curve with what the first gained."""
        half = int(np.searchsorted(marks(outcome.study.rounds), 0.5 * outcome.study.rounds))
        middle = curves[:, half]
        gained = sign(outcome, self.curve) * (middle - curves[:, 0])
        moved = np.abs(curves[:, half:] - middle[:, None]).max(axis=1)
        return above(gained, np.zeros(len(gained))) & ~above(moved, 0.1 * gained)


def _gain_since(outcome: Outcome, learner: str, measure: str, since: int) -> tuple[Interval, int]:
    """Return how much better the last test value is than that after another round, and the best round of the mean."""
    rounds = marks(outcome.study.rounds)
    if since not in rounds:
        raise ValueError(
            f"round {since} is not on record in {outcome.study.name}, which has {rounds}; take one of these"
        )
    curves = sign(outcome, measure) * outcome.unit_curves(learner, "test", measure)
    best = rounds[int(np.argmax(np.nanmean(curves, axis=0)))]
    return interval(curves[:, -1] - curves[:, rounds.index(since)]), best


def _falls(outcome: Outcome, learner: str, measure: str) -> tuple[Floats, int, float]:
    """Return how much each unit worsens after the best round of the mean test curve, that round, and the mean's gain.

    The gain is that from the first round to the best.
    """
    curves = sign(outcome, measure) * outcome.unit_curves(learner, "test", measure)
    means = np.nanmean(curves, axis=0)
    best = int(np.argmax(means))
    return curves[:, best] - curves[:, -1], marks(outcome.study.rounds)[best], float(means[best] - means[0])


def _arrival(curve: Floats, rounds: Floats) -> float:
    """Return where a rising curve has made nine tenths of its way from the first round to its best."""
    won = curve - curve[0]
    wanted = 0.9 * won.max()
    k = int(np.argmax(won >= wanted))
    return float(np.interp(wanted, won[k - 1 : k + 1], rounds[k - 1 : k + 1])) if k else float(rounds[0])
