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

from boostplug.comparison.significance import Interval
from boostplug.studies.replication.outcome import Outcome
from boostplug.studies.replication.verdicts import (
    LEVEL,
    Verdict,
    direction,
    interval,
    near,
    positive,
    shown,
    sign,
    worst,
    worst_of,
)

__all__ = [
    "ABOUT",
    "About",
    "Ahead",
    "AheadOfPublished",
    "Apart",
    "ChosenNear",
    "Citation",
    "Claim",
    "Near",
    "Nearer",
    "Ranked",
]

Floats = NDArray[np.float64]
About = Literal["other methods", "own variants", "rounds", "figures", "preferences"]
ABOUT: tuple[About, ...] = get_args(About)
"""What claims are about: the columns of the matrix."""

_SLACK = 1e-9  # of a share, whose product with a number of measures is whole but for rounding


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
                differences.append(sign(outcome, own) * (values - of_other))
            a, b = (
                float(np.mean([outcome.mean(name, measure, self.part) for name in names for measure in measures]))
                for names, measures in ((self.learners, self.measures), ((other,), against))
            )
            gap = _joint(self.measures, differences, folds, 0.0 if self.average else self.share, equal=self.equal)
            if self.least and gap.holds == "holds" and abs(a - b) < self.least * abs(b):
                gap = Verdict(f"{gap.ours}, below {self.least:.0%}", "level")
            means = f"{_named(self.learners)} {a:.4f}, {other} {b:.4f}"
            if len({sign(outcome, measure) for measure in self.measures}) > 1:  # errors and gains have no mean
                means = f"{_named(self.learners)} to {other}"
            verdicts.append(Verdict(f"{means}: {gap.ours}", gap.holds))
            first &= [positive(interval(of_one, folds).mean) for of_one in differences]
        if self.best:
            enough = first.sum() >= self.share * len(first) - _SLACK
            verdicts.append(Verdict(f"the best at {first.sum()} of {len(first)}", "holds" if enough else "level"))
        return worst(verdicts)


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
                differences.append(sign(outcome, own) * (values - table[row][theirs]))
            gap = _joint(self.measures, differences, folds, 0.0 if self.average else self.share)
            verdicts.append(Verdict(f"{row}, published: {gap.ours}", gap.holds))
        return worst(verdicts)


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
        found = interval(*_averaged(outcome, self.learners, self.measure, "test"))
        ours = float(np.mean([outcome.mean(name, self.measure) for name in self.learners]))
        said = f"{ours:.4f} [{found.low:.4f}, {found.high:.4f}], {ours - figure:+.4f} from {figure:.4f}"
        return Verdict(said, near(found._replace(mean=ours), figure, self.tolerance))


@dataclass(frozen=True, kw_only=True)
class Ranked(Claim):
    """Mean ranks over units ascend in this order of learners, each neighbouring pair's by its interval."""

    measure: str
    order: tuple[str, ...]

    def judge(self, outcome: Outcome) -> Verdict:
        """Compare the mean ranks."""
        ranks, columns = outcome.ranks(self.measure), [outcome.learners.index(name) for name in self.order]
        means = outcome.mean_ranks(self.measure)
        gaps = [interval(ranks[:, after] - ranks[:, before]) for before, after in pairwise(columns)]
        ours = ", ".join(f"{name} {means[name]:.2f}" for name in self.order)
        said = ", ".join(f"{gap.mean:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]" for gap in gaps)
        return Verdict(f"{ours} ({said})", worst_of([direction(gap) for gap in gaps]))


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
        each = [direction(Interval(gap, gap - critical, gap + critical)) for gap in gaps]
        return Verdict(f"{ours} (critical {critical:.2f})", worst_of(each))


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
        found = interval(np.array(values, float))
        said = f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}], of {', '.join(f'{value:g}' for value in values)}"
        return Verdict(said, near(found, self.value, self.tolerance))


def _joint(
    measures: Sequence[str], differences: Sequence[Floats], folds: Floats, share: float, *, equal: bool = False
) -> Verdict:
    """Return the verdict on differences at several measures, and on their average; share 0: on the average alone."""
    average = interval(np.mean(differences, axis=0), folds)
    holds = direction(average)
    if equal and holds == "level" and not positive(-average.mean):
        holds = "holds"
    if len(measures) == 1:
        return Verdict(shown(average), holds)
    each = [interval(of_one, folds) for of_one in differences]
    ahead = sum(not positive(-gap.mean) if equal else positive(gap.mean) for gap in each)
    said = f"{'no worse' if equal else 'ahead'} at {ahead} of {len(each)}, on average {shown(average)}"
    if not share:
        return Verdict(said, holds)
    strict = [interval(of_one, folds, 1.0 - (1.0 - LEVEL) / len(each)) for of_one in differences]
    behind = [name.partition(",")[0] for name, gap in zip(measures, strict, strict=True) if positive(-gap.high)]
    if behind:
        said += f", behind at {', '.join(behind)}"
    if holds == "does not hold" or len(behind) > (1.0 - share) * len(each) + _SLACK:
        return Verdict(said, "does not hold")
    enough = ahead >= share * len(each) - _SLACK
    return Verdict(said, "holds" if enough and holds == "holds" else "level")


def _averaged(
    outcome: Outcome, learners: Sequence[str], measure: str, part: Literal["train", "test"], *, blocks: bool = False
) -> tuple[Floats, Floats]:
    """Return the values of each unit, averaged over learners, and the fold of each."""
    found = [outcome.unit_values(name, measure, part, blocks=blocks) for name in learners]
    values: Floats = np.mean([values for values, _ in found], axis=0)
    return values, found[0][1]


def _named(learners: Sequence[str]) -> str:
    """Return a learner's name, or what several have in common."""
    common = {learner.partition(",")[0] for learner in learners}
    return f"{common.pop()} (mean of {len(learners)})" if len(common) < len(learners) else " and ".join(learners)
