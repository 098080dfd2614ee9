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

from boostplug.best_round import above, rounding
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
    "Closes",
    "Converges",
    "ConvergesAlike",
    "DropsEarly",
    "EndsFirst",
    "EndsInOrder",
    "Exponential",
    "HaltsAbove",
    "Holds",
    "Lasts",
    "Moves",
    "Near",
    "Nearer",
    "OverfitsEarly",
    "OverfitsLess",
    "Ranked",
    "Settles",
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
_SAMPLES = 1000
_SLACK = 1e-9  # of a share, whose product with a number of measures is whole but for rounding
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
    verdict counts. In a study of one task, measures that are means over queries are compared by blocks of queries where
    others pool them.

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
    equal : bool, default False
        For "as good as or better": where intervals hold 0, means that are no worse do.
    best : bool, default False
        For "the best": at that share of the measures it must be ahead of all others at once, else it is level.
    part : {"test", "train"}
    """

    learners: tuple[str, ...]
    others: tuple[str, ...]
    measures: tuple[str, ...]
    against: tuple[str, ...] = ()
    share: float = 1.0
    average: bool = False
    least: float = 0.0
    equal: bool = False
    best: bool = False
    part: Literal["train", "test"] = "test"

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare unit by unit."""
        against = self.against or self.measures
        blocks = any(map(outcome.in_blocks, (*self.measures, *against)))
        verdicts = []
        first = np.ones(len(self.measures), bool)
        for other in self.others:
            differences, folds = [], np.zeros(0)
            for own, theirs in zip(self.measures, against, strict=True):
                values, folds = _averaged(outcome, self.learners, own, self.part, blocks=blocks)
                of_other = outcome.unit_values(other, theirs, self.part, blocks=blocks)[0]
                differences.append(_sign(outcome, own) * (values - of_other))
            a, b = (
                float(np.mean([outcome.mean(name, measure, self.part) for name in names for measure in measures]))
                for names, measures in ((self.learners, self.measures), ((other,), against))
            )
            gap = _joint(self.measures, differences, folds, 0.0 if self.average else self.share, equal=self.equal)
            if self.least and gap.holds == "holds" and abs(a - b) < self.least * abs(b):
                gap = Verdict(f"{gap.ours}, below {self.least:.0%}", "level")
            means = f"{_named(self.learners)} {a:.4f}, {other} {b:.4f}"
            if len({_sign(outcome, measure) for measure in self.measures}) > 1:  # errors and gains have no mean
                means = f"{_named(self.learners)} to {other}"
            verdicts.append(Verdict(f"{means}: {gap.ours}", gap.holds))
            first &= [_positive(_interval(of_one, folds).mean) for of_one in differences]
        if self.best:
            enough = first.sum() >= self.share * len(first) - _SLACK
            verdicts.append(Verdict(f"the best at {first.sum()} of {len(first)}", "holds" if enough else "level"))
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
class Nearer(Claim):
    """In mean ranks over units, a learner between a better and a worse one is nearer to the better.

    What is compared is the distance to the worse, which is `far`, less that to the better, each with its sign; of
    several measures as in `Ahead`.
    """

    measures: tuple[str, ...]
    learner: str
    near: str
    far: str
    share: float = 1.0

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the two distances."""
        names = (self.far, self.near, self.learner)
        far, near, own = (outcome.learners.index(name) for name in names)
        ranks = [outcome.ranks(measure) for measure in self.measures]
        if len({len(of_measure) for of_measure in ranks}) > 1:
            raise ValueError(f"some of {', '.join(self.measures)} is undefined on a task of {outcome.study.name}")
        differences = [(r[:, far] - r[:, own]) - (r[:, own] - r[:, near]) for r in ranks]
        gap = _joint(self.measures, differences, np.zeros(len(differences[0])), self.share)
        means = np.mean([r.mean(axis=0) for r in ranks], axis=0)
        order = sorted(names, key=lambda name: float(means[outcome.learners.index(name)]))
        ours = ", ".join(f"{name} {means[outcome.learners.index(name)]:.2f}" for name in order)
        return Verdict(f"{ours}: {gap.ours}", gap.holds)


@dataclass(frozen=True, kw_only=True)
class EndsInOrder(Claim):
    """After the last round, mean test values are better in this order, each neighbouring pair's by its interval."""

    measure: str
    order: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the ends of the curves, unit by unit."""
        ends = [outcome.unit_curves(name, "test", self.measure)[:, -1] for name in self.order]
        gaps = [_interval(_sign(outcome, self.measure) * (first - second)) for first, second in pairwise(ends)]
        ours = ", ".join(f"{name} {np.nanmean(end):.4f}" for name, end in zip(self.order, ends, strict=True))
        return Verdict(f"{ours} ({', '.join(map(_shown, gaps))})", _worst_of([_direction(gap) for gap in gaps]))


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
        curves = _sign(outcome, self.measure) * curves[:, ~np.isnan(curves).any(axis=(0, 2))]
        n, rounds = curves.shape[1], np.log(marks(outcome.study.rounds))
        draws = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_SAMPLES) / n
        parts: list[str] = []
        verdicts: list[Holds] = []
        own, *found = (
            [_arrival(curve, rounds) for curve in (of_one.mean(axis=0), *draws @ of_one)] for of_one in curves
        )
        for other, theirs in zip(self.others, found, strict=True):
            ratio = np.subtract(own, theirs)
            low, high = np.quantile(ratio[1:], [0.5 - _LEVEL / 2, 0.5 + _LEVEL / 2])
            parts.append(
                f"{other} {np.exp(theirs[0]):.0f} (×{np.exp(ratio[0]):.2f} [{np.exp(low):.2f}, {np.exp(high):.2f}])"
            )
            inside, outside = max(-low, high) <= np.log(self.factor), max(low, -high) > np.log(self.factor)
            verdicts.append("holds" if inside else "does not hold" if outside else "level")
        return Verdict(f"{self.learner} after {np.exp(own[0]):.0f} rounds, {', '.join(parts)}", _worst_of(verdicts))


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
        gap = _interval(falls)
        said = f"worse by {_shown(gap)} since round {at}, of {won:.4f} won"
        if _direction(gap) == "holds":  # it worsens
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
            gap = _interval(falls)
            parts.append(f"{learner} best after round {at}, then worse by {_shown(gap)}")
            verdicts.append("does not hold" if at > self.by else _direction(gap))
        return Verdict("; ".join(parts), _worst_of(verdicts))


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
            gap = _interval(falls - own)
            parts.append(f"{other} {falls.mean():.4f} from round {at} ({_shown(gap)})")
            verdicts.append(_direction(gap))
        return Verdict(", ".join(parts), _worst_of(verdicts))


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
        return _counted(shown)

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
        gained = _sign(outcome, self.curve) * (middle - curves[:, 0])
        moved = np.abs(curves[:, half:] - middle[:, None]).max(axis=1)
        return above(gained, np.zeros(len(gained))) & ~above(moved, 0.1 * gained)


def _joint(
    measures: Sequence[str], differences: Sequence[Floats], folds: Floats, share: float, *, equal: bool = False
) -> Verdict:
    """Return the verdict on differences at several measures, and on their average; share 0: on the average alone."""
    average = _interval(np.mean(differences, axis=0), folds)
    direction = _direction(average)
    if equal and direction == "level" and not _positive(-average.mean):
        direction = "holds"
    if len(measures) == 1:
        return Verdict(_shown(average), direction)
    each = [_interval(of_one, folds) for of_one in differences]
    ahead = sum(not _positive(-gap.mean) if equal else _positive(gap.mean) for gap in each)
    said = f"{'no worse' if equal else 'ahead'} at {ahead} of {len(each)}, on average {_shown(average)}"
    if not share:
        return Verdict(said, direction)
    strict = [_interval(of_one, folds, 1.0 - (1.0 - _LEVEL) / len(each)) for of_one in differences]
    behind = [name.partition(",")[0] for name, gap in zip(measures, strict, strict=True) if _positive(-gap.high)]
    if behind:
        said += f", behind at {', '.join(behind)}"
    if direction == "does not hold" or len(behind) > (1.0 - share) * len(each) + _SLACK:
        return Verdict(said, "does not hold")
    enough = ahead >= share * len(each) - _SLACK
    return Verdict(said, "holds" if enough and direction == "holds" else "level")


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
    outcome: Outcome, learners: Sequence[str], measure: str, part: Literal["train", "test"], *, blocks: bool = False
) -> tuple[Floats, Floats]:
    """Return the values of each unit, averaged over learners, and the fold of each."""
    found = [outcome.unit_values(name, measure, part, blocks=blocks) for name in learners]
    values: Floats = np.mean([values for values, _ in found], axis=0)
    return values, found[0][1]


def _falls(outcome: Outcome, learner: str, measure: str) -> tuple[Floats, int, float]:
    """Return how much each unit worsens after the best round of the mean test curve, that round, and the mean's gain.

    The gain is that from the first round to the best.
    """
    curves = _sign(outcome, measure) * outcome.unit_curves(learner, "test", measure)
    means = np.nanmean(curves, axis=0)
    best = int(np.argmax(means))
    return curves[:, best] - curves[:, -1], marks(outcome.study.rounds)[best], float(means[best] - means[0])


def _arrival(curve: Floats, rounds: Floats) -> float:
    """Return where a rising curve has made nine tenths of its way from the first round to its best."""
    won = curve - curve[0]
    wanted = 0.9 * won.max()
    k = int(np.argmax(won >= wanted))
    return float(np.interp(wanted, won[k - 1 : k + 1], rounds[k - 1 : k + 1])) if k else float(rounds[0])


def _counted(shown: NDArray[np.bool_]) -> Verdict:
    """Return whether most units show it, by Wilson's interval of their share."""
    count, share = int(shown.sum()), float(shown.mean())
    low, high = stats.binomtest(count, len(shown)).proportion_ci(_LEVEL, method="wilson")
    gap = Interval(share - 0.5, low - 0.5, high - 0.5)
    return Verdict(f"in {count} of {len(shown)} ({share:.0%} [{low:.0%}, {high:.0%}])", _direction(gap))


def _named(learners: Sequence[str]) -> str:
    """Return a learner's name, or what several have in common."""
    common = {learner.partition(",")[0] for learner in learners}
    return f"{common.pop()} (mean of {len(learners)})" if len(common) < len(learners) else " and ".join(learners)


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


def _shown(gap: Interval) -> str:
    return f"{gap.mean:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]"


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    return Verdict("; ".join(verdict.ours for verdict in verdicts), _worst_of([verdict.holds for verdict in verdicts]))


def _worst_of(holds: Sequence[Holds]) -> Holds:
    return min(holds, key=_WORST.index)


def _sign(outcome: Outcome, measure: str) -> float:
    """Return 1 where greater values are better, else -1."""
    return 1.0 if outcome.metric(measure).greater_is_better else -1.0
