"""Judges of claims about rounds: falls, rises and shapes of curves; see `claims`."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core.best_round import above
from boostplug.replication.judging.study_results import StudyResults
from boostplug.replication.judging.verdicts import (
    LEVEL,
    Difference,
    Holds,
    Verdict,
    interval,
    most,
    positive,
    worst,
)
from boostplug.replication.training.task import marks

Floats = NDArray[np.float64]
Shown = NDArray[np.bool_]

_SAMPLES = 1000


def ends_in_order(results: StudyResults, *, measure: str, order: Sequence[str]) -> Verdict:
    """Judge whether test values after the last round are better in this order, each neighbouring pair's by interval."""
    ends = [results.unit_curves(name, "test", measure)[:, -1] for name in order]
    gaps = [interval(results.sign(measure) * (a - b)).verdict() for a, b in pairwise(ends)]
    ours = ", ".join(f"{name} {np.nanmean(end):.4f}" for name, end in zip(order, ends, strict=True))
    joint = worst(gaps, ", ")
    return Verdict(f"{ours} ({joint.ours})", joint.holds)


def converges_alike(
    results: StudyResults, *, measure: str, learner: str, others: Sequence[str], factor: float = 2.0
) -> Verdict:
    """Judge whether a learner's mean test curve comes as far in about as many rounds as each other's.

    Where it has made nine tenths of its way from the first round to its best, in rounds between `marks` by their
    logarithms; the ratio of rounds is within a factor, by its 95 % interval (1,000 samples of units with replacement).
    It does not hold where the interval lies outside.
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

    It holds where the interval of the worsening holds 0 and lies below a tenth of what was won since the first round,
    does not where it lies above 0; where it holds 0 and is wider, it is level.
    """
    falls, at, won = _falls(results, learner, measure)
    gap = interval(falls)
    text = f"worse by {gap} since round {at}, of {won:.4f} won"
    if gap.holds == "holds":  # it worsens
        return Verdict(text, "does not hold")
    return Verdict(text, "holds" if gap.high <= 0.1 * won else "level")


def overfits_early(results: StudyResults, *, measure: str, learners: Sequence[str], by: int) -> Verdict:
    """Judge whether each learner's mean test value is best at round `by` or before, and worse at the last by interval.

    It does not hold where one is best later.
    """
    verdicts = []
    for learner in learners:
        falls, at, _ = _falls(results, learner, measure)
        gap = interval(falls)
        text = f"{learner} best after round {at}, then worse by {gap}"
        verdicts.append(Verdict(text, "does not hold" if at > by else gap.holds))
    return worst(verdicts)


def overfits_less(results: StudyResults, *, measure: str, learner: str, others: Sequence[str]) -> Verdict:
    """Judge whether, from the best round of its mean curve to the last, test values worsen less than each other's."""
    own, own_at, _ = _falls(results, learner, measure)
    verdicts = []
    for other in others:
        falls, at, _ = _falls(results, other, measure)
        verdicts.append(interval(falls - own).verdict(f"{other} {falls.mean():.4f} from round {at}"))
    joint = worst(verdicts, ", ")
    return Verdict(f"{learner} {own.mean():.4f} from round {own_at}, {joint.ours}", joint.holds)


def halts_above(results: StudyResults, *, curve: str, learner: str, other: str) -> Verdict:
    """Judge whether there are trainings in which a learner halts, some of which end with its trace above another's.

    The learner's trace "halted" ends above 0 where it halts. It is level where it halts and none ends above, does not
    hold where it never halts.
    """
    halted = results.split_curves(learner, "trace", "halted")[:, -1] > 0.0
    own, theirs = (results.split_curves(name, "trace", curve)[:, -1] for name in (learner, other))
    text = f"halts in {halted.sum()} of {len(halted)} trainings"
    if not halted.any():
        return Verdict(text, "does not hold")
    ends_above = int((halted & above(own, theirs)).sum())
    return Verdict(f"{text}, ends above in {ends_above} of these", "holds" if ends_above else "level")


def worsens(results: StudyResults, *, measure: str, learner: str, since: int) -> Verdict:
    """Judge whether after the last round a learner's test value is worse than after round `since`."""
    gap, at = _gain_since(results, learner, measure, since)
    return Verdict(f"{gap}, best after round {at}", Difference(-gap.mean, -gap.high, -gap.low).holds)


def lasts(results: StudyResults, *, measure: str, learner: str, since: int, tolerance: float) -> Verdict:
    """Judge whether a learner's last test value is not worse than after round `since`, but for less than `tolerance`.

    It does not hold where the interval of the change lies on the worse side; else it holds where the interval excludes
    that it worsens by `tolerance`.
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
    """Judge the shape of curves over rounds, counted over units: "in most of them".

    It holds where Wilson's 95 % interval of the share of units that show it lies above one half, does not where it lies
    below; else it is level.

    Parameters
    ----------
    results : StudyResults
    shape : callable
        Takes curves of shape (n_units, n_marks), with metrics of which lower is better turned around, then those
        `beside`, and at last the rounds of the marks; returns which units show it.
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
    """Return which curves end below all others."""
    lowest: Shown = np.all([above(other[:, -1], curves[:, -1]) for other in beside[:-1]], axis=0)
    return lowest


def ends_highest(curves: Floats, *beside: Floats) -> Shown:
    """Return which curves end above all others."""
    return ends_lowest(-curves, *(-other for other in beside))


def rises(curves: Floats, _rounds: Floats) -> Shown:
    """Return which curves end above where they began."""
    return above(curves[:, -1], curves[:, 0])


def turns(curves: Floats, _rounds: Floats) -> Shown:
    """Return which curves fall, then rise: they begin and end above their lowest point."""
    lowest = curves.min(axis=1)
    return above(curves[:, 0], lowest) & above(curves[:, -1], lowest)


def drops_early(curves: Floats, rounds: Floats, *, start: float, within: float = 0.1) -> Shown:
    """Return which curves, at `start` before the first round, make half of their way down within a share of rounds."""
    early = curves[:, rounds <= max(1.0, within * rounds[-1])][:, -1]
    falls = above(np.full(len(curves), start), curves[:, -1])
    half: Shown = start - early >= 0.5 * (start - curves[:, -1])
    return falls & half


def closes(curves: Floats, to: Floats, _rounds: Floats) -> Shown:
    """Return which curves end nearer to another than a tenth of their distance after the first round."""
    distances = np.abs(curves - to)
    closed: Shown = distances[:, -1] < 0.1 * distances[:, 0]
    return closed


def climbs_to_peak(curves: Floats, _rounds: Floats) -> Shown:
    """Return which trainings never fell before their highest point, which is not their first.

    The curve is the trace `STEADY` of what climbs, which knows every round.
    """
    climbs: Shown = curves[:, -1] == 1.0
    return climbs


def exponential(curves: Floats, rounds: Floats) -> Shown:
    """Return which curves fall exponentially: per round, their logarithm falls at least half as fast late as early.

    Early is up to the last recorded round within the first half of the rounds, late is from there on. A curve that
    falls to a limit slows down, and does not show it.
    """
    half = int(np.flatnonzero(2 * rounds <= rounds[-1])[-1])
    logarithms = np.log(curves)
    early = (logarithms[:, 0] - logarithms[:, half]) / (rounds[half] - rounds[0])
    late = (logarithms[:, half] - logarithms[:, -1]) / (rounds[-1] - rounds[half])
    shown: Shown = above(early, np.zeros(len(early))) & ~above(0.5 * early, late)
    return shown


def converges(curves: Floats, rounds: Floats) -> Shown:
    """Return which curves rise up to half of the rounds, and then stay: "a clear trend".

    From the first mark at half of the rounds on, they are never further from where they are there than a tenth of what
    they had gained.
    """
    half = int(np.searchsorted(rounds, 0.5 * rounds[-1]))
    middle = curves[:, half]
    gained = middle - curves[:, 0]
    moved = np.abs(curves[:, half:] - middle[:, None]).max(axis=1)
    return above(gained, np.zeros(len(gained))) & ~above(moved, 0.1 * gained)


def _gain_since(results: StudyResults, learner: str, measure: str, since: int) -> tuple[Difference, int]:
    """Return the gain of the last test value over that after another round, and the best round of the mean."""
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

    The gain is that from the first round to the best.
    """
    curves = results.sign(measure) * results.unit_curves(learner, "test", measure)
    means = np.nanmean(curves, axis=0)
    at = int(np.argmax(means))
    return curves[:, at] - curves[:, -1], marks(results.study.rounds)[at], float(means[at] - means[0])


def _arrival(curve: Floats, rounds: Floats) -> float:
    """Return where a rising curve has made nine tenths of its way from the first round to its best."""
    won = curve - curve[0]
    wanted = 0.9 * won.max()
    k = int(np.argmax(won >= wanted))
    return float(np.interp(wanted, won[k - 1 : k + 1], rounds[k - 1 : k + 1])) if k else float(rounds[0])
