"""Judges of claims about rounds: falls, rises and shapes of curves; see `claims`."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from studies.replication.judging.rounding import above
from studies.replication.judging.study_results import StudyResults
from studies.replication.judging.verdicts import (
    LEVEL,
    Difference,
    Holds,
    Verdict,
    interval,
    most,
    positive,
    worst,
)
from studies.replication.training.task import marks

Shown = NDArray[np.bool_]

_SAMPLES = 1000


def ends_in_order(results: StudyResults, *, measure: str, order: Sequence[str]) -> Verdict:
    """Judge whether test values after the last round are better in this order, by the intervals of neighbours."""
    ends = [results.unit_curves(name, "test", measure)[:, -1] for name in order]
    gaps = [interval(results.sign(measure) * (a - b)).verdict() for a, b in pairwise(ends)]
    ours = ", ".join(f"{name} {np.nanmean(end):.4f}" for name, end in zip(order, ends, strict=True))
    joint = worst(gaps, ", ")
    return Verdict(f"{ours} ({joint.ours})", joint.holds)


def converges_alike(
    results: StudyResults, *, measure: str, learner: str, others: Sequence[str], factor: float = 2.0
) -> Verdict:
    """Judge whether a learner's mean test curve converges in about as many rounds as each other's.

    A curve has converged after nine tenths of its gain from the first round to its best; rounds between `marks` are
    interpolated by their logarithms. The claim holds if the ratio of rounds is within a factor, by its 95 % interval
    (1,000 samples of units with replacement). It does not hold if the interval lies outside.
    """
    curves = np.array([results.unit_curves(name, "test", measure) for name in (learner, *others)])
    curves = results.sign(measure) * curves[:, ~np.isnan(curves).any(axis=(0, 2))]
    n, rounds = curves.shape[1], np.log(marks(results.study.rounds))
    draws = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_SAMPLES) / n
    own, *found = ([_arrival(curve, rounds) for curve in (of_one.mean(axis=0), *draws @ of_one)] for of_one in curves)
    verdicts = []
    for other, theirs in zip(others, found, strict=True):
        ratio = np.subtract(own, theirs)
        low, high = np.quantile(ratio[1:], [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
        inside, outside = max(-low, high) <= np.log(factor), max(low, -high) > np.log(factor)
        holds: Holds = "holds" if inside else "does not hold" if outside else "level"
        times = f"×{np.exp(ratio[0]):.2f} [{np.exp(low):.2f}, {np.exp(high):.2f}]"
        verdicts.append(Verdict(f"{other} {np.exp(theirs[0]):.0f} ({times})", holds))
    joint = worst(verdicts, ", ")
    return Verdict(f"{learner} after {np.exp(own[0]):.0f} rounds, {joint.ours}", joint.holds)


def settles(results: StudyResults, *, measure: str, learner: str) -> Verdict:
    """Judge whether a learner's mean test value does not significantly worsen from its best round to the last.

    The claim holds if the interval of the worsening contains 0 and lies below a tenth of the gain since the first
    round. It does not hold if the interval lies above 0. A wider interval around 0 is level.
    """
    falls, at, won = _falls(results, learner, measure)
    gap = interval(falls)
    text = f"worse by {gap} since round {at}, of {won:.4f} won"
    if gap.holds == "holds":  # it worsens
        return Verdict(text, "does not hold")
    return Verdict(text, "holds" if gap.high <= 0.1 * won else "level")


def overfits_early(results: StudyResults, *, measure: str, learners: Sequence[str], by: int) -> Verdict:
    """Judge whether each learner's mean test value is best at round `by` or before, and worse at the last, by interval.

    The claim does not hold if one is best later.
    """
    verdicts = []
    for learner in learners:
        falls, at, _ = _falls(results, learner, measure)
        gap = interval(falls)
        text = f"{learner} best after round {at}, then worse by {gap}"
        verdicts.append(Verdict(text, "does not hold" if at > by else gap.holds))
    return worst(verdicts)


def overfits_less(results: StudyResults, *, measure: str, learner: str, others: Sequence[str]) -> Verdict:
    """Judge whether a learner's test values worsen less than each other's from the best round of the mean curve on."""
    own, own_at, _ = _falls(results, learner, measure)
    verdicts = []
    for other in others:
        falls, at, _ = _falls(results, other, measure)
        verdicts.append(interval(falls - own).verdict(f"{other} {falls.mean():.4f} from round {at}"))
    joint = worst(verdicts, ", ")
    return Verdict(f"{learner} {own.mean():.4f} from round {own_at}, {joint.ours}", joint.holds)


def halts_above(results: StudyResults, *, curve: str, learner: str, other: str) -> Verdict:
    """Judge whether some trainings in which a learner halts end with its trace above another's.

    The learner halts in a training if its trace "halted" ends above 0. It is level if it halts and never ends above.
    The claim does not hold if it never halts.
    """
    halted = results.split_curves(learner, "trace", "halted")[:, -1] > 0.0
    own, theirs = (results.split_curves(name, "trace", curve)[:, -1] for name in (learner, other))
    text = f"halts in {halted.sum()} of {len(halted)} trainings"
    if not halted.any():
        return Verdict(text, "does not hold")
    ends_above = int((halted & above(own, theirs)).sum())
    return Verdict(f"{text}, ends above in {ends_above} of these", "holds" if ends_above else "level")


def worsens(results: StudyResults, *, measure: str, learner: str, since: int) -> Verdict:
    """Judge whether a learner's test value is worse after the last round than after round `since`."""
    gap, at = _gain_since(results, learner, measure, since)
    return Verdict(f"{gap}, best after round {at}", Difference(-gap.mean, -gap.high, -gap.low).holds)


def lasts(results: StudyResults, *, measure: str, learner: str, since: int, tolerance: float) -> Verdict:
    """Judge whether a learner's last test value is at most `tolerance` worse than after round `since`.

    The claim does not hold if the interval of the change lies on the worse side. Otherwise it holds if the interval
    excludes a worsening by `tolerance`.
    """
    gap, at = _gain_since(results, learner, measure, since)
    text = f"{gap}, best after round {at}"
    if gap.holds == "does not hold":
        return Verdict(text, "does not hold")
    return Verdict(text, "holds" if positive(gap.low + tolerance) else "level")


def in_most(
    results: StudyResults,
    *,
    shape: Callable[..., Shown],
    learner: str,
    curve: str,
    part: Literal["test", "trace"] = "trace",
    beside: Sequence[tuple[str, str]] = (),
) -> Verdict:
    """Judge whether most units have curves of some shape.

    The claim holds if Wilson's 95 % interval of the share of units with the shape lies above one half, and does not
    hold if it lies below. Otherwise it is level.

    Parameters
    ----------
    results : StudyResults
    shape : callable
        Takes curves of shape (n_units, n_marks), metrics of which lower is better with their signs reversed; then the
        curves `beside`, and the rounds of the marks. Returns a mask of units.
    learner, curve : str
    part : {"test", "trace"}
    beside : sequence of (str, str)
        Other curves, each by learner and name.
    """
    turned = 1.0 if part == "trace" else results.sign(curve)
    own, *others = (turned * results.unit_curves(name, part, of_name) for name, of_name in ((learner, curve), *beside))
    whole = ~np.isnan(own).any(axis=1)
    if not whole.any():
        raise ValueError(f"{learner} has no curve {curve!r} of {part} in {results.study.name}")
    return most(shape(own, *others, np.array(marks(results.study.rounds)))[whole])


def ends_lowest(curves: Floats, *beside: Floats) -> Shown:
    """Return a mask of curves that end below all others."""
    lowest: Shown = np.all([above(other[:, -1], curves[:, -1]) for other in beside[:-1]], axis=0)
    return lowest


def ends_highest(curves: Floats, *beside: Floats) -> Shown:
    """Return a mask of curves that end above all others."""
    return ends_lowest(-curves, *(-other for other in beside))


def rises(curves: Floats, _rounds: Floats) -> Shown:
    """Return a mask of curves that end above their start."""
    return above(curves[:, -1], curves[:, 0])


def turns(curves: Floats, _rounds: Floats) -> Shown:
    """Return a mask of curves that fall, then rise: their start and end are above their lowest point."""
    lowest = curves.min(axis=1)
    return above(curves[:, 0], lowest) & above(curves[:, -1], lowest)


def drops_early(curves: Floats, rounds: Floats, *, start: float, within: float = 0.1) -> Shown:
    """Return a mask of curves that make half of their fall, from `start`, within a share of the rounds."""
    early = curves[:, rounds <= max(1.0, within * rounds[-1])][:, -1]
    falls = above(np.full(len(curves), start), curves[:, -1])
    half: Shown = start - early >= 0.5 * (start - curves[:, -1])
    return falls & half


def closes(curves: Floats, to: Floats, _rounds: Floats) -> Shown:
    """Return a mask of curves whose final distance to another is below a tenth of that after the first round."""
    distances = np.abs(curves - to)
    closed: Shown = distances[:, -1] < 0.1 * distances[:, 0]
    return closed


def climbs_to_peak(curves: Floats, _rounds: Floats) -> Shown:
    """Return a mask of trainings whose values never fell before their highest point, which is not the first.

    The curve is the trace `STEADY` of the values, which is computed from every round.
    """
    climbs: Shown = curves[:, -1] == 1.0
    return climbs


def exponential(curves: Floats, rounds: Floats) -> Shown:
    """Return a mask of exponential falls: per round, the logarithm falls at least half as fast late as early.

    Early ends at the last recorded round within the first half of the rounds; late begins there. A curve that falls to
    a limit slows down, and is not in the mask.
    """
    half = int(np.flatnonzero(2 * rounds <= rounds[-1])[-1])
    logarithms = np.log(curves)
    early = (logarithms[:, 0] - logarithms[:, half]) / (rounds[half] - rounds[0])
    late = (logarithms[:, half] - logarithms[:, -1]) / (rounds[-1] - rounds[half])
    shown: Shown = above(early, np.zeros(len(early))) & ~above(0.5 * early, late)
    return shown


def converges(curves: Floats, rounds: Floats) -> Shown:
    """Return a mask of curves that rise up to half of the rounds and then stay: "a clear trend".

    After the first mark at half of the rounds, they stay within a tenth of their gain up to there.
    """
    half = int(np.searchsorted(rounds, 0.5 * rounds[-1]))
    middle = curves[:, half]
    gained = middle - curves[:, 0]
    moved = np.abs(curves[:, half:] - middle[:, None]).max(axis=1)
    return above(gained, np.zeros(len(gained))) & ~above(moved, 0.1 * gained)


def _gain_since(results: StudyResults, learner: str, measure: str, since: int) -> tuple[Difference, int]:
    """Return the gain of the last test value over the value after another round, and the best round of the mean."""
    rounds = marks(results.study.rounds)
    if since not in rounds:
        raise ValueError(
            f"round {since} is not on record in {results.study.name}, which has {rounds}; take one of these"
        )
    curves = results.sign(measure) * results.unit_curves(learner, "test", measure)
    at = rounds[int(np.argmax(np.nanmean(curves, axis=0)))]
    return interval(curves[:, -1] - curves[:, rounds.index(since)]), at


def _falls(results: StudyResults, learner: str, measure: str) -> tuple[Floats, int, float]:
    """Return the fall of each unit after the best round of the mean test curve, that round, and the mean's gain.

    The gain is measured from the first round to the best.
    """
    curves = results.sign(measure) * results.unit_curves(learner, "test", measure)
    means = np.nanmean(curves, axis=0)
    at = int(np.argmax(means))
    return curves[:, at] - curves[:, -1], marks(results.study.rounds)[at], float(means[at] - means[0])


def _arrival(curve: Floats, rounds: Floats) -> float:
    """Return the round at which a rising curve has made nine tenths of its gain from the first round to its best."""
    won = curve - curve[0]
    wanted = 0.9 * won.max()
    k = int(np.argmax(won >= wanted))
    return float(np.interp(wanted, won[k - 1 : k + 1], rounds[k - 1 : k + 1])) if k else float(rounds[0])
