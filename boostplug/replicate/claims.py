"""Kinds of claims, each judged on the outcome of one study; thresholds are part of the claim.

A verdict is one of three. Of a claim "A is ahead of B": per unit of the study (a task; where there is one task, a test
query; in training and over rounds, a fold) the difference in the paper's favour, its mean and 95 % interval. It holds
where the interval lies above 0, does not where it lies below, and is level where the interval holds 0: then these data
cannot tell.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from boostplug.best_round import rounding
from boostplug.experiments.significance import Interval, t_interval
from boostplug.replicate.outcome import Outcome
from boostplug.replicate.task import marks

__all__ = [
    "ABOUT",
    "About",
    "Ahead",
    "AheadOfPublished",
    "Apart",
    "ChosenNear",
    "Citation",
    "Claim",
    "ClimbsToPeak",
    "EndsFirst",
    "Exponential",
    "Holds",
    "Lasts",
    "Moves",
    "Near",
    "OverfitsLess",
    "Ranked",
    "Shape",
    "Turns",
    "Verdict",
    "Worsens",
]

Floats = NDArray[np.float64]
Holds = Literal["holds", "level", "does not hold"]
About = Literal["other methods", "own variants", "rounds", "figures", "preferences"]
ABOUT: tuple[About, ...] = get_args(About)
"""What claims are about: the columns of the matrix."""

_LEVEL = 0.95
_WORST: tuple[Holds, ...] = ("does not hold", "level", "holds")


@dataclass(frozen=True)
class Citation:
    """Where a paper says something, in its own words.

    Attributes
    ----------
    where : str
        Section, table or figure.
    words : str
        A literal quotation; … for what is left out.
    page : int, optional
        Where the text at hand makes it certain.
    """

    where: str
    words: str
    page: int | None = None


@dataclass(frozen=True)
class Verdict:
    """What came of a claim: our figures in words, and whether it holds."""

    ours: str
    holds: Holds


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """What a paper says of a study.

    Attributes
    ----------
    study : str
    text : str
        What is judged, with its threshold.
    source : Citation
        Whose words it follows.
    about : str
        One of `ABOUT`.
    own_data : bool, default False
        Whether the words are about this data set, and not one for which it stands in.
    published : str
        The paper's figure, where it prints one.
    """

    figure: ClassVar[bool] = False
    """Whether it compares with a published figure, and so needs the data of that figure."""

    study: str
    text: str
    source: Citation
    about: About
    own_data: bool = False
    published: str = ""

    @abstractmethod
    def judge(self, outcome: Outcome) -> Verdict:
        """Return the verdict on a finished study."""


@dataclass(frozen=True, kw_only=True)
class Ahead(Claim):
    """The mean of a learner is better than each other's; of several measures, at `share` of them.

    Of several measures it holds where the learner is ahead at that share of them and on their average, by its interval.
    It does not hold where the interval of the average lies below 0, or at more than 1 - `share` of the measures the
    learner is behind by an interval of their number (95 % for all together, by Bonferroni). Of several others the worst
    verdict counts.

    Attributes
    ----------
    learners : tuple of str
        One; or several whose values are averaged, such as one method with several seeds.
    others : tuple of str
    measures : tuple of str
    against : tuple of str
        The measures of the others, where they are not the same: such as those with a round chosen otherwise.
    share : float, default 1.0
        Of the measures: 1 for "each", .9 for "almost always".
    average : bool, default False
        The average over the measures decides alone.
    least : float, default 0.0
        Relative gain below which it is level: what the paper takes as significant.
    part : {"test", "train"}
    """

    learners: tuple[str, ...]
    others: tuple[str, ...]
    measures: tuple[str, ...]
    against: tuple[str, ...] = ()
    share: float = 1.0
    average: bool = False
    least: float = 0.0
    part: Literal["train", "test"] = "test"

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare unit by unit."""
        against = self.against or self.measures
        verdicts = []
        for other in self.others:
            differences, folds = [], np.zeros(0)
            for own, theirs in zip(self.measures, against, strict=True):
                values, folds = _averaged(outcome, self.learners, own, self.part)
                differences.append(_sign(outcome, own) * (values - outcome.unit_values(other, theirs, self.part)[0]))
            a, b = (
                float(np.mean([outcome.mean(name, measure, self.part) for name in names for measure in measures]))
                for names, measures in ((self.learners, self.measures), ((other,), against))
            )
            gap = _joint(self.measures, differences, folds, 0.0 if self.average else self.share)
            if self.least and gap.holds == "holds" and abs(a - b) < self.least * abs(b):
                gap = Verdict(f"{gap.ours}, below {self.least:.0%}", "level")
            verdicts.append(Verdict(f"{' and '.join(self.learners)} {a:.4f}, {other} {b:.4f}: {gap.ours}", gap.holds))
        return _worst(verdicts)


@dataclass(frozen=True, kw_only=True)
class AheadOfPublished(Claim):
    """`Ahead`, of rows of the study's published table in place of learners: the interval is that of ours alone."""

    figure: ClassVar[bool] = True

    learners: tuple[str, ...]
    rows: tuple[str, ...]
    measures: tuple[str, ...]
    against: tuple[str, ...] = ()
    share: float = 1.0
    average: bool = False

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare with the figures."""
        table, against = outcome.study.published, self.against or self.measures
        verdicts = []
        for row in self.rows:
            differences, folds = [], np.zeros(0)
            for own, theirs in zip(self.measures, against, strict=True):
                values, folds = _averaged(outcome, self.learners, own, "test")
                differences.append(_sign(outcome, own) * (values - table[row][theirs]))
            gap = _joint(self.measures, differences, folds, 0.0 if self.average else self.share)
            verdicts.append(Verdict(f"{row}, published: {gap.ours}", gap.holds))
        return _worst(verdicts)


@dataclass(frozen=True, kw_only=True)
class Near(Claim):
    """The mean of a learner is within `tolerance` of a published figure; level where its interval holds that figure.

    Attributes
    ----------
    measure : str
    learners : tuple of str
        One; or several whose values are averaged.
    tolerance : float
    row : str
        Whose figure it is in the study's published table; default: the first learner's.
    offset : float, default 0.0
        How far from that figure it is claimed to be.
    """

    figure: ClassVar[bool] = True

    measure: str
    learners: tuple[str, ...]
    tolerance: float
    row: str = ""
    offset: float = 0.0

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare with the figure in the study's published table."""
        figure = outcome.study.published[self.row or self.learners[0]][self.measure] + self.offset
        found = _interval(*_averaged(outcome, self.learners, self.measure, "test"))
        ours = float(np.mean([outcome.mean(name, self.measure) for name in self.learners]))
        said = f"{ours:.4f} [{found.low:.4f}, {found.high:.4f}], {ours - figure:+.4f} from {figure:.4f}"
        if abs(ours - figure) <= self.tolerance + rounding(ours, figure):
            return Verdict(said, "holds")
        return Verdict(said, "level" if found.low <= figure <= found.high else "does not hold")


@dataclass(frozen=True, kw_only=True)
class Ranked(Claim):
    """Mean ranks over units ascend in this order of learners, each neighbouring pair's by its interval."""

    measure: str
    order: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the mean ranks."""
        ranks, columns = outcome.ranks(self.measure), [outcome.learners.index(name) for name in self.order]
        means = outcome.mean_ranks(self.measure)
        gaps = [_interval(ranks[:, after] - ranks[:, before]) for before, after in pairwise(columns)]
        ours = ", ".join(f"{name} {means[name]:.2f}" for name in self.order)
        said = ", ".join(f"{gap.mean:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]" for gap in gaps)
        return Verdict(f"{ours} ({said})", _worst_of([_direction(gap) for gap in gaps]))


@dataclass(frozen=True, kw_only=True)
class Apart(Claim):
    """The mean rank of a learner is better than each other's by more than Nemenyi's critical difference (.05).

    It does not hold where it is worse than one of them by more than that; else it is level.
    """

    measure: str
    learner: str
    others: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the differences of mean ranks with the critical one."""
        ranks, critical = outcome.mean_ranks(self.measure), outcome.critical_difference(self.measure)
        gaps = [ranks[other] - ranks[self.learner] for other in self.others]
        ours = ", ".join(f"{gap:+.2f} to {other}" for other, gap in zip(self.others, gaps, strict=True))
        each = [_direction(Interval(gap, gap - critical, gap + critical)) for gap in gaps]
        return Verdict(f"{ours} (critical {critical:.2f})", _worst_of(each))


@dataclass(frozen=True, kw_only=True)
class OverfitsLess(Claim):
    """From the best round of its mean test curve to the last, a learner's test value worsens less than each other's."""

    measure: str
    learner: str
    others: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare unit by unit how far the curves end from where their means are best."""
        own, at = self._falls(outcome, self.learner)
        parts, verdicts = [f"{self.learner} {own.mean():.4f} from round {at}"], []
        for other in self.others:
            falls, at = self._falls(outcome, other)
            gap = _interval(falls - own)
            parts.append(f"{other} {falls.mean():.4f} from round {at} ({_shown(gap)})")
            verdicts.append(_direction(gap))
        return Verdict(", ".join(parts), _worst_of(verdicts))

    def _falls(self, outcome: Outcome, learner: str) -> tuple[Floats, int]:
        """Return how much each unit worsens after the best round of the mean, and that round."""
        curves = _sign(outcome, self.measure) * outcome.unit_curves(learner, "test", self.measure)
        best = int(np.argmax(np.nanmean(curves, axis=0)))
        return curves[:, best] - curves[:, -1], marks(outcome.study.rounds)[best]


@dataclass(frozen=True, kw_only=True)
class Worsens(Claim):
    """After the last round a learner's test value is worse than after round `since`."""

    measure: str
    learner: str
    since: int

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare unit by unit."""
        gap, best = _gain_since(outcome, self.learner, self.measure, self.since)
        return Verdict(f"{_shown(gap)}, best after round {best}", _direction(Interval(-gap.mean, -gap.high, -gap.low)))


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
        said = f"{_shown(gap)}, best after round {best}"
        if _direction(gap) == "does not hold":
            return Verdict(said, "does not hold")
        return Verdict(said, "holds" if _positive(gap.low + self.tolerance) else "level")


@dataclass(frozen=True, kw_only=True)
class ChosenNear(Claim):
    """A parameter of the candidate that validation chose, its mean over splits, is within `tolerance` of a figure.

    It is level where the interval of the mean holds the figure.

    Attributes
    ----------
    measure, learner : str
    parameter : str
        Of the grid, "." before an attribute of its value: "distance.alpha".
    value : float
        The published figure.
    tolerance : float
    """

    measure: str
    learner: str
    parameter: str
    value: float
    tolerance: float

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare with the figure."""
        name, *attributes = self.parameter.split(".")
        values = [reduce(getattr, attributes, params[name]) for params in outcome.chosen(self.learner, self.measure)]
        found = _interval(np.array(values, float))
        said = f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}], of {', '.join(f'{value:g}' for value in values)}"
        if abs(found.mean - self.value) <= self.tolerance + rounding(found.mean, self.value):
            return Verdict(said, "holds")
        return Verdict(said, "level" if found.low <= self.value <= found.high else "does not hold")


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
        count = int(shown.sum())
        low, high = stats.binomtest(count, len(shown)).proportion_ci(_LEVEL, method="wilson")
        share = count / len(shown)
        gap = Interval(share - 0.5, low - 0.5, high - 0.5)
        return Verdict(f"in {count} of {len(shown)} ({share:.0%} [{low:.0%}, {high:.0%}])", _direction(gap))

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
        first: NDArray[np.bool_] = np.all([_above(sign * curves[:, -1], sign * end) for end in ends], axis=0)
        return first


@dataclass(frozen=True, kw_only=True)
class Moves(Shape):
    """A learner's curve ends above (or below) where it began."""

    rising: bool = True

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Compare the ends of each curve."""
        first, last = curves[:, 0], curves[:, -1]
        return _above(last, first) if self.rising else _above(first, last)


@dataclass(frozen=True, kw_only=True)
class Turns(Shape):
    """A learner's curve falls, then rises: it begins and ends above its lowest point."""

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Compare both ends of each curve with its lowest point."""
        lowest = curves.min(axis=1)
        return _above(curves[:, 0], lowest) & _above(curves[:, -1], lowest)


@dataclass(frozen=True, kw_only=True)
class ClimbsToPeak(Shape):
    """A learner's curve never falls before its highest point, and that is not its first."""

    def shown(self, outcome: Outcome, curves: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Look at the steps before the highest point."""
        before = np.arange(curves.shape[1] - 1) < np.argmax(curves, axis=1)[:, None]
        falls = _above(curves[:, :-1].ravel(), curves[:, 1:].ravel()).reshape(before.shape)
        climbs: NDArray[np.bool_] = before[:, 0] & ~(falls & before).any(axis=1)
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
        shown: NDArray[np.bool_] = _above(early, np.zeros(len(early))) & ~_above(0.5 * early, late)
        return shown


def _joint(measures: Sequence[str], differences: Sequence[Floats], folds: Floats, share: float) -> Verdict:
    """Return the verdict on differences at several measures, and on their average; share 0: on the average alone."""
    average = _interval(np.mean(differences, axis=0), folds)
    if len(measures) == 1:
        return Verdict(_shown(average), _direction(average))
    each = [_interval(of_one, folds) for of_one in differences]
    ahead = sum(_positive(gap.mean) for gap in each)
    said = f"ahead at {ahead} of {len(each)}, on average {_shown(average)}"
    if not share:
        return Verdict(said, _direction(average))
    strict = [_interval(of_one, folds, 1.0 - (1.0 - _LEVEL) / len(each)) for of_one in differences]
    behind = [name.partition(",")[0] for name, gap in zip(measures, strict, strict=True) if _positive(-gap.high)]
    if behind:
        said += f", behind at {', '.join(behind)}"
    slack = 1e-9  # of a share, whose product with a number of measures is whole but for rounding
    if _direction(average) == "does not hold" or len(behind) > (1.0 - share) * len(each) + slack:
        return Verdict(said, "does not hold")
    enough = ahead >= share * len(each) - slack
    return Verdict(said, "holds" if enough and _direction(average) == "holds" else "level")


def _gain_since(outcome: Outcome, learner: str, measure: str, since: int) -> tuple[Interval, int]:
    """Return how much better the last test value is than that after another round, and the best round of the mean."""
    rounds = marks(outcome.study.rounds)
    if since not in rounds:
        raise ValueError(
            f"round {since} is not on record in {outcome.study.name}, which has {rounds}; take one of these"
        )
    curves = _sign(outcome, measure) * outcome.unit_curves(learner, "test", measure)
    best = rounds[int(np.argmax(np.nanmean(curves, axis=0)))]
    return _interval(curves[:, -1] - curves[:, rounds.index(since)]), best


def _averaged(
    outcome: Outcome, learners: Sequence[str], measure: str, part: Literal["train", "test"]
) -> tuple[Floats, Floats]:
    """Return the values of each unit, averaged over learners, and the fold of each."""
    found = [outcome.unit_values(name, measure, part) for name in learners]
    values: Floats = np.mean([values for values, _ in found], axis=0)
    return values, found[0][1]


def _interval(differences: Floats, folds: Floats | None = None, level: float = _LEVEL) -> Interval:
    """Return the mean over units, folds weighing the same, and its interval."""
    folds = np.zeros(len(differences)) if folds is None else folds
    defined = ~np.isnan(differences)
    _, of_fold, counts = np.unique(folds[defined], return_inverse=True, return_counts=True)
    return t_interval(differences[defined], weight=1.0 / counts[of_fold], strata=folds[defined], level=level)


def _direction(gap: Interval) -> Holds:
    """Return what an interval of a difference in the claim's favour says."""
    if _positive(gap.low):
        return "holds"
    return "does not hold" if _positive(-gap.high) else "level"


def _positive(value: float) -> bool:
    return bool(value > rounding(1.0))


def _above(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Return where a is above b by more than rounding."""
    slack = np.array([rounding(x, y) for x, y in zip(a, b, strict=True)])
    above: NDArray[np.bool_] = a - b > slack
    return above


def _shown(gap: Interval) -> str:
    return f"{gap.mean:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    return Verdict("; ".join(verdict.ours for verdict in verdicts), _worst_of([verdict.holds for verdict in verdicts]))


def _worst_of(holds: Sequence[Holds]) -> Holds:
    return min(holds, key=_WORST.index)


def _sign(outcome: Outcome, measure: str) -> float:
    """Return 1 where greater values are better, else -1."""
    return 1.0 if outcome.metric(measure).greater_is_better else -1.0
