"""Judges of claims about means and ranks, and of checks: functions of one study's results and of thresholds.

There are three verdicts. Take a claim "A is ahead of B". For each unit of the study, it has the difference in the
paper's favour, and over units the mean and its 95 % interval. Units are tasks; in a study of one task they are test
queries, and for training values and curves, folds. The claim holds if the interval lies above 0, and does not hold if
it lies below. If the interval contains 0, the verdict is "level": these data cannot decide.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Literal

import numpy as np

from boostplug.core.arrays import Floats
from studies.replication.judging.rounding import above
from studies.replication.judging.study_results import StudyResults
from studies.replication.judging.verdicts import LEVEL, Difference, Verdict, interval, positive, worst
from studies.replication.training.task import marks

_SLACK = 1e-9  # rounding error of a share times a number of measures


def ahead(
    results: StudyResults,
    *,
    learners: Sequence[str],
    others: Sequence[str],
    measures: Sequence[str],
    against: Sequence[str] = (),
    share: float = 1.0,
    equal: bool = False,
    part: Literal["train", "test"] = "test",
) -> Verdict:
    """Judge whether the mean of a learner is better than each other's; of several measures, at `share` of them.

    With several measures the claim holds if the learner is ahead at that share of them and on their average, by its
    interval. It does not hold if the interval of the average lies below 0. Nor does it if the learner is behind at more
    than 1 - `share` of the measures, by intervals that hold for all measures together (95 %, by Bonferroni). With
    several others, the worst verdict counts. In a study of one task, if some measure pools queries, all measures are
    compared by blocks of queries.

    Parameters
    ----------
    results : StudyResults
    learners : sequence of str
        One learner; or several whose values are averaged, such as one method with several seeds.
    others, measures : sequence of str
    against : sequence of str
        Measures of the others, if they differ: for example with another choice of the round.
    share : float, default 1.0
        Share of the measures: 1 for "each", .9 for "almost always"; with 0 only their average decides.
    equal : bool, default False
        For "as good as or better": if an interval contains 0, a mean that is not worse is enough.
    part : {"test", "train"}
    """
    verdicts = []
    for other in others:
        differences, folds = _differences(results, learners, other, measures, against, part)
        gap = _joint(measures, differences, folds, share, equal=equal)
        if len({results.sign(measure) for measure in measures}) > 1:  # errors and gains cannot be averaged
            means = f"{_named(learners)} to {other}"
        else:
            a, b = _mean(results, learners, measures, part), _mean(results, [other], against or measures, part)
            means = f"{_named(learners)} {a:.4f}, {other} {b:.4f}"
        verdicts.append(Verdict(f"{means}: {gap.ours}", gap.holds))
    return worst(verdicts)


def ahead_by(results: StudyResults, *, learner: str, other: str, measure: str, least: float) -> Verdict:
    """Judge as `ahead`, but a relative gain below `least`, which the paper does not call significant, is level."""
    verdict = ahead(results, learners=[learner], others=[other], measures=[measure])
    a, b = results.mean(learner, measure), results.mean(other, measure)
    if verdict.holds == "holds" and abs(a - b) < least * abs(b):
        return Verdict(f"{verdict.ours}, below {least:.0%}", "level")
    return verdict


def best(
    results: StudyResults,
    *,
    learners: Sequence[str],
    others: Sequence[str],
    measures: Sequence[str],
    against: Sequence[str] = (),
    share: float,
) -> Verdict:
    """Judge as `ahead`; also level if the learner is not ahead of all others at once at that share of measures."""
    first = np.ones(len(measures), bool)
    for other in others:
        differences, folds = _differences(results, learners, other, measures, against, "test")
        first &= [positive(interval(of_one, folds).mean) for of_one in differences]
    enough = first.sum() >= share * len(first) - _SLACK
    text = Verdict(f"the best at {first.sum()} of {len(first)}", "holds" if enough else "level")
    of_each = ahead(results, learners=learners, others=others, measures=measures, against=against, share=share)
    return worst([of_each, text])


def ahead_of_published(
    results: StudyResults,
    *,
    learners: Sequence[str],
    rows: Sequence[str],
    measures: Sequence[str],
    against: Sequence[str] = (),
    share: float = 1.0,
) -> Verdict:
    """Judge as `ahead`, against rows of the study's published table; the interval is of our values."""
    verdicts = []
    for row in rows:
        differences, folds = [], np.zeros(0)
        for own, theirs in zip(measures, against or measures, strict=True):
            values, folds = _averaged(results, learners, own, "test")
            differences.append(results.sign(own) * (values - results.study.published[row][theirs]))
        gap = _joint(measures, differences, folds, share)
        verdicts.append(Verdict(f"{row}, published: {gap.ours}", gap.holds))
    return worst(verdicts)


def near_published(
    results: StudyResults, *, learners: Sequence[str], measure: str, row: str, tolerance: float, offset: float = 0.0
) -> Verdict:
    """Judge whether a mean is within `tolerance` of a published figure plus `offset`; level if only its interval is.

    Several learners are averaged; `row` is a row of the study's published table.
    """
    figure = results.study.published[row][measure] + offset
    found = interval(*_averaged(results, learners, measure, "test"))
    ours = _mean(results, learners, [measure])
    text = f"{ours:.4f} [{found.low:.4f}, {found.high:.4f}], {ours - figure:+.4f} from {figure:.4f}"
    return Verdict(text, found._replace(mean=ours).near(figure, tolerance))


def ranked(results: StudyResults, *, measure: str, order: Sequence[str]) -> Verdict:
    """Judge whether mean ranks over units ascend in this order, by the interval of each neighbouring pair."""
    ranks, columns = results.ranks(measure), [results.learners.index(name) for name in order]
    means = results.mean_ranks(measure)
    gaps = [interval(ranks[:, after] - ranks[:, before]) for before, after in pairwise(columns)]
    text = [Verdict(f"{gap.mean:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]", gap.holds) for gap in gaps]
    joint = worst(text, ", ")
    return Verdict(f"{', '.join(f'{name} {means[name]:.2f}' for name in order)} ({joint.ours})", joint.holds)


def apart(results: StudyResults, *, measure: str, learner: str, others: Sequence[str]) -> Verdict:
    """Judge whether a mean rank is better than each other's by more than Nemenyi's critical difference (.05).

    The claim does not hold if it is worse than one of them by more than that. Otherwise it is level.
    """
    ranks, critical = results.mean_ranks(measure), results.critical_difference(measure)
    gaps = {other: ranks[other] - ranks[learner] for other in others}
    each = [
        Verdict(f"{gap:+.2f} to {other}", Difference(gap, gap - critical, gap + critical).holds)
        for other, gap in gaps.items()
    ]
    joint = worst(each, ", ")
    return Verdict(f"{joint.ours} (critical {critical:.2f})", joint.holds)


def nearer(
    results: StudyResults, *, measures: Sequence[str], learner: str, near: str, far: str, share: float = 1.0
) -> Verdict:
    """Judge whether a learner's mean rank is nearer to that of a better learner, `near`, than to a worse one's, `far`.

    The judge takes the signed distance to `far` minus the signed distance to `near`. Several measures count as in
    `ahead`.
    """
    names = (far, near, learner)
    last, first, own = (results.learners.index(name) for name in names)
    ranks = [results.ranks(measure) for measure in measures]
    if len({len(of_measure) for of_measure in ranks}) > 1:
        raise ValueError(f"some of {', '.join(measures)} is undefined on a task of {results.study.name}")
    differences = [(r[:, last] - r[:, own]) - (r[:, own] - r[:, first]) for r in ranks]
    gap = _joint(measures, differences, np.zeros(len(differences[0])), share)
    means = dict(zip(results.learners, np.mean([r.mean(axis=0) for r in ranks], axis=0), strict=True))
    ours = ", ".join(f"{name} {means[name]:.2f}" for name in sorted(names, key=means.__getitem__))
    return Verdict(f"{ours}: {gap.ours}", gap.holds)


def chosen_near(
    results: StudyResults, *, measure: str, learner: str, parameter: str, value: float, tolerance: float
) -> Verdict:
    """Judge whether a parameter chosen on validation is, averaged over splits, within `tolerance` of a figure.

    It is level if the interval of the mean contains the figure. `parameter` is one of the grid, with "." before an
    attribute of its value: "distance.alpha".
    """
    name, *attributes = parameter.split(".")
    values = [reduce(getattr, attributes, params[name]) for params in results.chosen(learner, measure)]
    found = interval(np.array(values, float))
    text = f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}], of {', '.join(f'{value:g}' for value in values)}"
    return Verdict(text, found.near(value, tolerance))


def bounded(results: StudyResults, *, learner: str, curve: str, bound: str) -> Verdict:
    """Check that a trace of a learner is nowhere above another of its traces, in any split."""
    curves, bounds = (results.split_curves(learner, "trace", name) for name in (curve, bound))
    split, at = np.unravel_index(np.argmin(bounds - curves), curves.shape)
    nearest = f"{curves[split, at]:.4f} to {bounds[split, at]:.4f}"
    holds = not above(curves, bounds).any()
    return _passed(f"nearest: {nearest} after round {marks(results.study.rounds)[at]}", holds=holds)


def never_rises(results: StudyResults, *, learner: str, curve: str) -> Verdict:
    """Check that a trace of a learner does not rise from any recorded round to the next, in any split."""
    curves = results.split_curves(learner, "trace", curve)
    back = above(curves[:, 1:], curves[:, :-1])
    ours = f"from {np.median(curves[:, 0]):.4f} to {np.median(curves[:, -1]):.4f}"
    if back.any():
        at, split = marks(results.study.rounds), int(np.argmax(back.any(axis=1)))
        first = int(np.argmax(back[split]))
        times = f"{int(back.any(axis=1).sum())} of {len(curves)} trainings"
        ours += f"; turns back in {times}, first between rounds {at[first]} and {at[first + 1]}"
    return _passed(ours, holds=not back.any())


def close(results: StudyResults, *, learner: str, measure: str, row: str, tolerance: float) -> Verdict:
    """Check that the mean of a learner is within `tolerance` of a row of the study's published table."""
    ours = results.mean(learner, measure)
    difference = ours - results.study.published[row][measure]
    return _passed(f"{ours:.4f} ({difference:+.4f})", holds=abs(difference) <= tolerance)


def _passed(ours: str, *, holds: bool) -> Verdict:
    return Verdict(ours, "holds" if holds else "does not hold")


def _differences(
    results: StudyResults,
    learners: Sequence[str],
    other: str,
    measures: Sequence[str],
    against: Sequence[str],
    part: Literal["train", "test"],
) -> tuple[list[Floats], Floats]:
    """Return the lead of a learner at each measure, by unit, and the fold of each unit."""
    against = against or measures
    blocks = any(map(results.in_blocks, (*measures, *against)))
    differences, folds = [], np.zeros(0)
    for own, theirs in zip(measures, against, strict=True):
        values, folds = _averaged(results, learners, own, part, blocks=blocks)
        of_other = results.unit_values(other, theirs, part, blocks=blocks)[0]
        differences.append(results.sign(own) * (values - of_other))
    return differences, folds


def _joint(
    measures: Sequence[str], differences: Sequence[Floats], folds: Floats, share: float, *, equal: bool = False
) -> Verdict:
    """Return the verdict on differences at several measures and on their average; with share 0 only on the average."""
    average = interval(np.mean(differences, axis=0), folds)
    holds = average.holds
    if equal and holds == "level" and not positive(-average.mean):
        holds = "holds"
    if len(measures) == 1:
        return Verdict(str(average), holds)
    each = [interval(of_one, folds) for of_one in differences]
    n_ahead = sum(not positive(-gap.mean) if equal else positive(gap.mean) for gap in each)
    text = f"{'no worse' if equal else 'ahead'} at {n_ahead} of {len(each)}, on average {average}"
    if not share:
        return Verdict(text, holds)
    strict = [interval(of_one, folds, 1.0 - (1.0 - LEVEL) / len(each)) for of_one in differences]
    behind = [name.partition(",")[0] for name, gap in zip(measures, strict, strict=True) if positive(-gap.high)]
    if behind:
        text += f", behind at {', '.join(behind)}"
    if holds == "does not hold" or len(behind) > (1.0 - share) * len(each) + _SLACK:
        return Verdict(text, "does not hold")
    enough = n_ahead >= share * len(each) - _SLACK
    return Verdict(text, "holds" if enough and holds == "holds" else "level")


def _averaged(
    results: StudyResults,
    learners: Sequence[str],
    measure: str,
    part: Literal["train", "test"],
    *,
    blocks: bool = False,
) -> tuple[Floats, Floats]:
    """Return the values of each unit, averaged over learners, and the fold of each unit."""
    found = [results.unit_values(name, measure, part, blocks=blocks) for name in learners]
    values: Floats = np.mean([values for values, _ in found], axis=0)
    return values, found[0][1]


def _mean(results: StudyResults, learners: Iterable[str], measures: Sequence[str], part: str = "test") -> float:
    return float(np.mean([results.mean(name, measure, part) for name in learners for measure in measures]))


def _named(learners: Sequence[str]) -> str:
    """Return a learner's name, or the common part of several names."""
    common = {learner.partition(",")[0] for learner in learners}
    return f"{common.pop()} (mean of {len(learners)})" if len(common) < len(learners) else " and ".join(learners)
