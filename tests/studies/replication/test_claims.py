"""Every kind of claim on given figures: where it holds, is level, does not hold, and what it says of ours."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from boostplug.metrics import NDCG, PairError
from boostplug.studies.replication import checked, claims, curve_claims, groups
from boostplug.studies.replication.checked import Bounded, Check, Close, Monotone
from boostplug.studies.replication.claims import (
    Ahead,
    AheadOfPublished,
    Apart,
    ChosenNear,
    Citation,
    Claim,
    Near,
    Nearer,
    Ranked,
)
from boostplug.studies.replication.curve_claims import (
    ClimbsToPeak,
    Closes,
    Converges,
    ConvergesAlike,
    DropsEarly,
    EndsFirst,
    EndsInOrder,
    Exponential,
    HaltsAbove,
    Lasts,
    Moves,
    OverfitsEarly,
    OverfitsLess,
    Settles,
    Shape,
    Turns,
    Worsens,
)
from boostplug.studies.replication.groups import AheadOverGroups, GainsMore
from boostplug.studies.replication.outcome import Outcome
from boostplug.studies.replication.study import Loaded, Measure, Study
from boostplug.studies.replication.task import by_block

SAID = {"study": "s", "text": "", "source": Citation("Table 1", "so it is"), "about": "rounds"}
CHECKED = {"study": "s", "text": "", "where": "Theorem 1"}
YES, LEVEL, NO = "holds", "level", "does not hold"
MEASURES = {
    "m": NDCG(1),
    "n": NDCG(5),
    "o": NDCG(10),
    "m, late": NDCG(1),
    "error": PairError(),
    "pooled": PairError(pooled=True),
}
MARKS = 4  # of 4 rounds: 1, 2, 3, 4


def outcome(values=None, *, curves=None, published=None, per_query=None):
    """Return an outcome, of one task and as many folds as there are values, or of a task for each curve.

    `values`: by learner, measure (or ("train", measure)) and fold; `per_query`: by learner and measure, values of the
    queries of each fold; `curves`: by learner, part and name, a curve for each task.
    """
    values, curves, per_query = values or {}, curves or {}, per_query or {}
    learners = list(values or per_query or curves)
    rows = next(iter(curves.values())) if curves else {}
    n_tasks = len(next(iter(rows.values()))) if rows else 1
    some = next(iter(next(iter((values or per_query).values())).values())) if values or per_query else [0]
    splits = [SimpleNamespace(task=f"t{t}", fold=f + 1) for t in range(n_tasks) for f in range(len(some))]
    results = {}
    for split in splits:
        t, f = int(split.task[1:]), split.fold - 1
        for name in learners:
            own = {"test": {}, "train": {}, "curves": {}, "per_query": {}}
            for key, of_folds in values.get(name, {}).items():
                part, measure = key if isinstance(key, tuple) else ("test", key)
                own[part][measure] = of_folds[f]
            for measure, of_folds in per_query.get(name, {}).items():
                own["per_query"][measure] = of_folds[f]
                own["test"][measure] = float(np.nanmean(np.array(of_folds[f], float)))
            for (part, curve), of_tasks in curves.get(name, {}).items():
                own["curves"].setdefault(part, {})[curve] = of_tasks[t]
            results[split.task, split.fold, name] = {"value": own}
    study = Study(
        name="s",
        source=SimpleNamespace(),
        rounds=4,
        learners=tuple(SimpleNamespace(name=name) for name in learners),
        measures=tuple(Measure(key, metric) for key, metric in MEASURES.items()),
        published=published or {},
    )
    return Outcome(study, Loaded(splits, as_published=True), results)


def noisy(mean, spread=0.01, n=6):
    """Return values of so many folds around a mean."""
    return [mean + spread * (-1) ** i for i in range(n)]


def of(**means):
    """Return the outcome of learners with means at "m" that hardly scatter, and not alike."""
    folds = {name: {"m": noisy(mean, 0.001 * (1 + i))} for i, (name, mean) in enumerate(means.items())}
    return outcome(folds)


def joint(*gaps, spread=0.001, measures=("m", "n", "o")):
    """Return the outcome of a learner "a" that is ahead of "b" by so much at each of some measures."""
    a = {measure: noisy(0.5 + gap, spread) for measure, gap in zip(measures, gaps, strict=False)}
    return outcome({"a": a, "b": {measure: noisy(0.5, 0.0) for measure in a}})


IN_TURN = outcome(  # "a" is behind "b" at "m" and behind "c" at "o"
    {
        name: {measure: noisy(mean, 0.001 * i) for measure, mean in zip("mno", means, strict=True)}
        for i, (name, means) in enumerate({"a": (0.6, 0.6, 0.6), "b": (0.7, 0.2, 0.2), "c": (0.2, 0.2, 0.7)}.items())
    }
)


def ahead(*others, measures=("m",), learners=("a",), **more):
    return Ahead(learners=learners, others=others or ("b",), measures=measures, **more, **SAID)


def published(*rows, measures=("m",), **more):
    return AheadOfPublished(learners=("a",), rows=rows, measures=measures, **more, **SAID)


def near(tolerance, **more):
    return Near(measure="m", learners=("a",), tolerance=tolerance, **more, **SAID)


def ranked(*order):
    return Ranked(measure="error", order=order, **SAID)


def apart(learner, *others):
    return Apart(measure="error", learner=learner, others=others, **SAID)


def shape(kind, learner="a", **more):
    return kind(curve="c", learner=learner, **more, **SAID)


def tasks(*curves_of_a, part="trace", others=None):
    """Return an outcome with a curve of "a" for each task, and of others."""
    curves = {"a": {(part, "c"): list(curves_of_a)}}
    curves |= {name: {(part, "c"): list(own)} for name, own in (others or {}).items()}
    return outcome(curves=curves)


def converges(measure):
    return Converges(curve=measure, learner="a", part="test", **SAID)


def over_rounds(measure, *curves_of_a):
    """Return an outcome with a test curve of "a" for each task."""
    return outcome(curves={"a": {("test", measure): list(curves_of_a)}})


def ranks(*errors):
    """Return an outcome of three learners a, b, c with given errors, task by task."""
    folds = {name: {"error": [task[i] for task in errors]} for i, name in enumerate("abc"[: len(errors[0])])}
    return outcome(folds)


THREE = ("m", "n", "o")
FALLS, RISES, TURNS = [4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 2.0, 3.0]
SETTLES, WANDERS = [1.0, 2.0, 2.1, 1.9], [1.0, 2.0, 2.2, 2.0]
MOST = 9  # of 10 tasks: Wilson's interval of .9 lies above one half; that of 6 of 10 does not


def some(shown, not_shown, count):
    """Return ten curves, so many of which are the first."""
    return [shown] * count + [not_shown] * (10 - count)


ASCENDING = ranks(*[(0.1, 0.2, 0.3)] * 5)
MIXED = ranks((0.1, 0.2, 0.3), (0.2, 0.1, 0.3), (0.1, 0.2, 0.3), (0.2, 0.1, 0.3))
# Nemenyi: three learners, 20 tasks: the critical difference is .74; the mean ranks of MANY are 1, 2, 3
MANY = ranks(*[(0.1, 0.2, 0.3)] * 20)
# mean ranks 1.4, 1.6, 3
CLOSE = ranks(*[(0.1, 0.2, 0.3)] * 12, *[(0.2, 0.1, 0.3)] * 8)
OVER = {
    # falls from the best of the mean test curve to its end: .2 and hardly any, one task apart from the other
    "steep": [[0.1, 0.5 + 0.01 * i, 0.4, 0.3] for i in range(5)],
    "flat": [[0.1, 0.5 + 0.01 * i, 0.5, 0.48 + 0.008 * i] for i in range(5)],
    "wild": [
        [0.1, 0.5, 0.5, 0.3],
        [0.1, 0.5, 0.5, 0.7],
        [0.1, 0.5, 0.5, 0.2],
        [0.1, 0.5, 0.5, 0.6],
        [0.1, 0.5, 0.4, 0.2],
    ],
}
FALLING = outcome(curves={name: {("test", "m"): own} for name, own in OVER.items()})
ERRORS_RISE = outcome(
    curves={name: {("test", "error"): [[1.0 - v for v in curve] for curve in own]} for name, own in OVER.items()}
)
TABLE = {"x": {"m": 0.49, "n": 0.39}, "y": {"m": 0.60, "n": 0.1}, "z": {"m": 0.501, "n": 0.401}}
BESIDE = outcome({"a": {"m": noisy(0.5), "n": noisy(0.4)}}, published=TABLE)
OF_ERRORS = outcome({"a": {"error": noisy(0.1)}}, published={"x": {"error": 0.2}, "y": {"error": 0.05}})


def overfits(learner, *others, measure="m"):
    return OverfitsLess(measure=measure, learner=learner, others=others, **SAID)


def worsens(measure="m"):
    return Worsens(measure=measure, learner="a", since=2, **SAID)


def lasts(tolerance, measure="m"):
    return Lasts(measure=measure, learner="a", since=2, tolerance=tolerance, **SAID)


def on_test(*changes, measure="m"):
    """Return the outcome of a learner whose test values change so much from round 2 of 4 to the last, task by task."""
    return outcome(curves={"a": {("test", measure): [[0.1, 0.5, 0.9, 0.5 + change] for change in changes]}})


def chosen_near(tolerance):
    return ChosenNear(measure="m", learner="a", parameter="of.alpha", value=0.1, tolerance=tolerance, **SAID)


def chose(*alphas):
    """Return what an outcome says where these values were chosen, fold by fold."""
    return SimpleNamespace(chosen=lambda *_: [{"of": SimpleNamespace(alpha=alpha)} for alpha in alphas])


def over_groups(tolerance=0.0, lead=0.02):
    return AheadOverGroups(learner="a", other="b", measures=("m", "n"), lead=lead, tolerance=tolerance, **SAID)


def gains(**more):
    return GainsMore(learner="a", other="b", **({"measure": "m", "than": "n"} | more), **SAID)


def grouped(few, many):
    """Return the outcome of "a" ahead of "b" by so much, query by query: "m" has the first, "n" the second queries."""
    leads = np.r_[few, many]
    of_few = np.arange(len(leads)) < len(few)
    by_measure = {"m": np.where(of_few, leads, np.nan), "n": np.where(of_few, np.nan, leads)}
    a = {measure: [[None if np.isnan(v) else 0.5 + v for v in own]] for measure, own in by_measure.items()}
    b = {measure: [[None if v is None else 0.5 for v in own[0]]] for measure, own in a.items()}
    return outcome(per_query={"a": a, "b": b})


SMALL, LARGE = noisy(0.05, 0.001), noisy(0.01, 0.001, 60)
HALVES, LIMIT = [16.0, 8.0, 4.0, 2.0], [16.0, 4.0, 3.9, 3.8]


def nearer(*measures, learner="b", near="a", far="c", **more):
    return Nearer(measures=measures or ("error",), learner=learner, near=near, far=far, **more, **SAID)


def alike(*others, **more):
    return ConvergesAlike(measure="m", learner="a", others=others or ("b",), **more, **SAID)


def of_test(measure="m", **curves):
    """Return an outcome of learners with a test curve for each task."""
    return outcome(curves={name: {("test", measure): list(own)} for name, own in curves.items()})


def in_order(*order, measure="m"):
    return EndsInOrder(measure=measure, order=order, **SAID)


def settles(learner="a", measure="m"):
    return Settles(measure=measure, learner=learner, **SAID)


def early(*learners, by=2, measure="m"):
    return OverfitsEarly(measure=measure, learners=learners or ("a",), by=by, **SAID)


def two_curves(gap):
    """Return a task with two curves, so far from each other by round."""
    return [1.0] * MARKS, [1.0 + g for g in gap]


def closing(*gaps):
    own, other = zip(*map(two_curves, gaps), strict=True)
    return outcome(curves={"a": {("trace", "c"): list(own), ("trace", "d"): list(other)}})


def halting(*ends):
    """Return an outcome of tasks with (halts, end of a, end of b)."""
    halts, a, b = ([[3.0, 2.0, 2.0, end] for end in of_tasks] for of_tasks in zip(*ends, strict=True))
    halts = [[0.0, 0.0, *curve[2:3], curve[3]] for curve in halts]
    return outcome(curves={"a": {("trace", "c"): a, ("trace", "halted"): halts}, "b": {("trace", "c"): b}})


def of_two_measures():
    """Return an outcome in which b is nearer to a than to c by one measure and on average, and not by the other."""
    errors = [(0.1, 0.2, 0.3)] * 4 + [(0.2, 0.1, 0.3)] * 4
    gains = [(0.3, 0.2, 0.1)] * 5 + [(0.3, 0.1, 0.2)] * 3
    return outcome(
        {name: {"error": [e[i] for e in errors], "m": [g[i] for g in gains]} for i, name in enumerate("abc")}
    )


HALTS = HaltsAbove(curve="c", learner="a", other="b", **SAID)
ABOVE_B, BELOW_B, GOES_ON = (1.0, 0.9, 0.5), (1.0, 0.4, 0.5), (0.0, 0.4, 0.5)
NEAR_A, NEAR_C = ranks(*[(0.1, 0.2, 0.3)] * 4, *[(0.2, 0.1, 0.3)] * 4), ranks(*[(0.1, 0.3, 0.2)] * 5)
AT_ONCE, AT_LAST, SLIGHTLY = [0.1, 0.5, 0.5, 0.5], [0.1, 0.1, 0.1, 0.5], [0.1, 0.1, 0.1, 0.2]
UP_AND_DOWN = [[0.1, 0.5, 0.4 + 0.01 * i, 0.3] for i in range(5)]
STAYS = [[0.1, 0.5 + 0.01 * i, 0.5, 0.5 + 0.01 * i - 0.01 * (-1) ** i] for i in range(6)]
WAVERS = [[0.1, 0.5, 0.4, 0.3 + 0.4 * (i % 2) - 0.001 * i] for i in range(6)]


CASES = [
    (ahead(equal=True), of(a=0.5, b=0.4), YES),
    (ahead(equal=True), of(a=0.4, b=0.5), NO),
    (ahead(equal=True), of(a=0.4, b=0.4), YES),
    (ahead(equal=True), outcome({"a": {"m": noisy(0.50, 0.2)}, "b": {"m": noisy(0.49, 0.0)}}), YES),
    (ahead(equal=True), outcome({"a": {"m": noisy(0.48, 0.2)}, "b": {"m": noisy(0.49, 0.0)}}), LEVEL),
    (ahead(measures=THREE, equal=True), joint(0.0, 0.2, 0.1, spread=0.9), YES),
    (ahead(measures=THREE, equal=True), joint(-0.1, 0.2, 0.1, spread=0.9), LEVEL),
    (ahead(measures=THREE, equal=True), joint(-0.1, 0.2, 0.1), NO),  # behind at one, beyond noise
    (ahead(measures=THREE, equal=True, share=0.6), joint(-0.1, 0.2, 0.1), YES),
    (nearer(), NEAR_A, YES),
    (nearer(), NEAR_C, NO),
    (nearer(), ASCENDING, LEVEL),
    (nearer("error", "m"), of_two_measures(), LEVEL),  # at one of the two
    (in_order("a", "b"), of_test(a=[[0.1, 0.2, 0.3, 0.5 + 0.01 * i] for i in range(5)], b=[TURNS] * 5), NO),
    (in_order("b", "a"), of_test(a=[[0.1, 0.2, 0.3, 0.5 + 0.01 * i] for i in range(5)], b=[TURNS] * 5), YES),
    (in_order("b", "a"), of_test(a=[[9.0, 9.0, 9.0, v] for v in (2.9, 3.2, 2.9, 3.1)], b=[TURNS] * 4), LEVEL),
    (in_order("a", "b", measure="error"), of_test("error", a=[[1.0, 1.0, 1.0, 0.1]] * 3, b=[TURNS] * 3), YES),
    (in_order("a", "b", "c"), of_test(a=[RISES] * 3, b=[TURNS] * 3, c=[TURNS] * 3), LEVEL),
    (alike(), of_test(a=[AT_ONCE] * 6, b=[AT_ONCE] * 6), YES),
    (alike(), of_test(a=[AT_ONCE] * 6, b=[AT_LAST] * 6), NO),
    (alike(), of_test(a=[AT_LAST] * 6, b=[AT_ONCE] * 6), NO),
    (alike(factor=3.0), of_test(a=[AT_ONCE] * 6, b=[AT_LAST] * 6), YES),
    (alike(factor=1.5), of_test(a=[AT_ONCE] * 6, b=[AT_ONCE, SLIGHTLY] * 3), LEVEL),
    (alike("b", "c", factor=1.5), of_test(a=[AT_ONCE] * 6, b=[AT_ONCE] * 6, c=[AT_LAST] * 6), NO),
    (settles(), of_test(a=STAYS), YES),
    (settles(), of_test(a=[RISES] * 4), YES),  # best at the last round
    (settles(), of_test(a=UP_AND_DOWN), NO),
    (settles(), of_test(a=WAVERS), LEVEL),
    (settles(measure="error"), of_test("error", a=[[1.0 - v for v in curve] for curve in UP_AND_DOWN]), NO),
    (early(), of_test(a=UP_AND_DOWN), YES),
    (early(by=1), of_test(a=UP_AND_DOWN), NO),
    (early(), of_test(a=WAVERS), LEVEL),
    (early("a", "b"), of_test(a=UP_AND_DOWN, b=[RISES] * 5), NO),
    (HALTS, halting(ABOVE_B, *[BELOW_B] * 9, GOES_ON), YES),  # one is enough
    (HALTS, halting(*[BELOW_B] * 9, GOES_ON), LEVEL),
    (HALTS, halting(BELOW_B, (0.0, 0.9, 0.5)), LEVEL),  # what ends above does not halt
    (HALTS, halting(*[(0.0, 0.9, 0.5)] * 9), NO),  # none halts
    (shape(DropsEarly, start=5.0, within=0.5), tasks(*some([4.0, 2.0, 1.5, 1.0], FALLS, MOST)), YES),
    (shape(DropsEarly, start=5.0, within=0.5), tasks(*some([4.0, 2.0, 1.5, 1.0], [4.5, 4.0, 3.0, 1.0], 5)), LEVEL),
    (shape(DropsEarly, start=5.0, within=0.25), tasks(*some([4.0, 2.0, 1.5, 1.0], FALLS, MOST)), NO),
    (shape(DropsEarly, start=0.5), tasks(*[[1.0] * MARKS] * 10), NO),  # it never falls
    (shape(DropsEarly, start=0.5, within=0.5), tasks(*[[0.6, 0.6, 1.0, 2.0]] * 10), NO),  # it rises
    (shape(Closes, to="d"), closing(*some((1.0, 0.5, 0.2, -0.05), (1.0, 0.5, 0.2, 0.2), MOST)), YES),
    (shape(Closes, to="d"), closing(*some((-1.0, 0.5, 0.2, 0.05), (1.0, 0.5, 0.2, 0.2), 5)), LEVEL),
    (shape(Closes, to="d"), closing(*some((1.0, 0.0, 0.0, 1.0), (1.0, 0.5, 0.2, 0.2), 5)), NO),
    (ahead(), of(a=0.5, b=0.4), YES),
    (ahead(), of(a=0.4, b=0.5), NO),
    (ahead(), of(a=0.4, b=0.4), LEVEL),
    (ahead(), outcome({"a": {"m": noisy(0.50, 0.2)}, "b": {"m": noisy(0.49, 0.0)}}), LEVEL),
    (ahead("b", "c"), of(a=0.5, b=0.4, c=0.3), YES),
    (ahead("b", "c"), of(a=0.5, b=0.4, c=0.5), LEVEL),  # the worst counts
    (ahead("b", "c"), of(a=0.5, b=0.6, c=0.5), NO),
    (ahead(measures=("error",)), outcome({"a": {"error": noisy(0.1, 0.001)}, "b": {"error": noisy(0.2, 0.0)}}), YES),
    (ahead(measures=("error",)), outcome({"a": {"error": noisy(0.3, 0.001)}, "b": {"error": noisy(0.2, 0.0)}}), NO),
    (ahead(measures=THREE), joint(0.1, 0.2, 0.1), YES),
    (ahead(measures=THREE), joint(0.1, 0.2, -0.0001), LEVEL),  # not at each, but behind at none
    (ahead(measures=THREE), joint(0.1, 0.2, -0.1), NO),  # behind at one, beyond noise
    (ahead(measures=THREE, share=0.6), joint(0.1, 0.2, -0.1), YES),
    (ahead(measures=THREE, share=0.6), joint(0.1, -0.0001, -0.0001), LEVEL),
    (ahead(measures=THREE, share=0.6), joint(0.3, -0.1, -0.1), NO),  # at two, and one would be forgiven
    (ahead(measures=THREE, share=0.6), joint(0.1, 0.1, -0.9), NO),  # the average is behind
    (ahead("b", "c", measures=THREE, share=0.6), IN_TURN, YES),
    (ahead("b", "c", measures=THREE, share=0.6, best=True), IN_TURN, LEVEL),  # of both at once at one of three
    (ahead("b", "c", measures=THREE, share=0.3, best=True), IN_TURN, YES),
    (ahead("b", "c", measures=THREE, best=True), IN_TURN, NO),  # behind beyond noise, whatever it is the best at
    (ahead(measures=THREE, average=True), joint(0.5, -0.1, -0.1), YES),
    (ahead(measures=THREE, average=True), joint(-0.5, 0.1, 0.1), NO),
    (ahead(measures=THREE), joint(0.1, 0.1, 0.1, spread=0.9), LEVEL),  # ahead at each, within noise
    (ahead(least=0.01), of(a=0.5, b=0.4), YES),
    (ahead(least=0.5), of(a=0.5, b=0.4), LEVEL),  # ahead by a quarter of it alone
    (ahead(least=0.5), of(a=0.4, b=0.5), NO),
    (ahead(part="train"), outcome({"a": {("train", "m"): noisy(0.9)}, "b": {("train", "m"): noisy(0.8, 0.0)}}), YES),
    (
        ahead(
            learners=("a", "b"),
        ),
        outcome({"a": {"m": noisy(0.8)}, "b": {"m": noisy(0.2)}}),
        YES,
    ),
    (published("x"), BESIDE, LEVEL),
    (published("y"), BESIDE, NO),
    (published("x", measures=("m", "n")), outcome({"a": {"m": noisy(0.6), "n": noisy(0.5)}}, published=TABLE), YES),
    (published("x", "y"), outcome({"a": {"m": noisy(0.6)}}, published=TABLE), LEVEL),
    (published("x", measures=("error",)), OF_ERRORS, YES),
    (published("y", measures=("error",)), OF_ERRORS, NO),
    (published("y", measures=("m", "n"), average=True), BESIDE, YES),
    (near(0.002, row="z"), BESIDE, YES),
    (near(0.001, row="z"), BESIDE, YES),  # at the edge
    (near(0.0001, row="z"), BESIDE, LEVEL),
    (near(0.05, row="y"), BESIDE, NO),
    (near(0.05, row="y", offset=-0.1), BESIDE, YES),
    (ranked("a", "b", "c"), ASCENDING, YES),
    (ranked("a", "c", "b"), ASCENDING, NO),
    (ranked("a", "b", "c"), MIXED, LEVEL),
    (ranked("a", "c"), MIXED, YES),
    (apart("a", "b", "c"), MANY, YES),
    (apart("b", "a"), MANY, NO),
    (apart("a", "b", "c"), CLOSE, LEVEL),
    (overfits("flat", "steep"), FALLING, YES),
    (overfits("steep", "flat"), FALLING, NO),
    (overfits("flat", "steep", "wild"), FALLING, LEVEL),
    (overfits("flat", "steep", measure="error"), ERRORS_RISE, YES),
    (overfits("steep", "flat", measure="error"), ERRORS_RISE, NO),
    (worsens(), on_test(-0.1, -0.11, -0.12), YES),
    (worsens(), on_test(-0.1, 0.0, 0.1), LEVEL),
    (worsens(), on_test(0.1, 0.11, 0.12), NO),
    (worsens("error"), on_test(0.1, 0.11, 0.12, measure="error"), YES),
    (lasts(0.01), on_test(0.1, 0.11, 0.12), YES),
    (lasts(0.01), on_test(-0.001, 0.001, 0.0), YES),  # worse by .0025 at most
    (lasts(0.001), on_test(-0.001, 0.001, 0.0), LEVEL),
    (lasts(0.01), on_test(-0.004, -0.005, -0.006), NO),  # little, but surely
    (lasts(0.01, "error"), on_test(0.1, 0.11, 0.12, measure="error"), NO),
    (chosen_near(0.05), chose(0.1, 0.1, 0.2, 0.1), YES),
    (chosen_near(0.01), chose(0.1, 0.1, 0.2, 0.1), LEVEL),
    (chosen_near(0.05), chose(0.4, 0.4, 0.8, 0.4), NO),
    (shape(Moves), tasks(*some(RISES, FALLS, MOST)), YES),
    (shape(Moves), tasks(*some(RISES, FALLS, 6)), LEVEL),
    (shape(Moves), tasks(*some(RISES, FALLS, 1)), NO),
    (shape(Moves, rising=False), tasks(*some(FALLS, RISES, MOST)), YES),
    (shape(Moves, rising=False), tasks(*some(FALLS, [1.0] * 4, 1)), NO),  # what stays does not fall
    (shape(Turns), tasks(*some(TURNS, FALLS, MOST)), YES),
    (shape(Turns), tasks(*some(TURNS, RISES, 5)), LEVEL),
    (shape(Turns), tasks(*some(TURNS, RISES, 0)), NO),
    (shape(Turns), tasks(*some(TURNS, FALLS, 0)), NO),
    (shape(ClimbsToPeak), tasks(*some([0.0, 1.0, 1.0, 1.0], [0.0] * 4, MOST)), YES),
    (shape(ClimbsToPeak), tasks(*some([0.0, 1.0, 1.0, 1.0], [0.0] * 4, 5)), LEVEL),
    (shape(ClimbsToPeak), tasks(*[[0.0, 1.0, 1.0, 0.0]] * 10), NO),  # a later, higher peak after a fall
    (shape(Exponential), tasks(*some(HALVES, LIMIT, MOST)), YES),
    (shape(Exponential), tasks(*some(HALVES, LIMIT, 6)), LEVEL),
    (shape(Exponential), tasks(*some(HALVES, LIMIT, 1)), NO),
    (shape(Exponential), tasks(*some(RISES, [1.0] * 4, 5)), NO),  # neither falls
    (shape(Exponential), tasks(*[[16.0, 4.0, 2.0, 1.01]] * 10), NO),  # per round, late just below half as fast
    (shape(Exponential), tasks(*[[16.0, 4.0, 2.0, 0.99]] * 10), YES),  # just above
    (over_groups(0.011), grouped(SMALL, LARGE), YES),  # .03, whatever the sizes of the groups
    (over_groups(0.009), grouped(SMALL, LARGE), NO),
    (over_groups(0.009), grouped(noisy(0.05, 0.09), LARGE), LEVEL),
    (over_groups(0.009, lead=-0.03), grouped(SMALL, LARGE), NO),
    (over_groups(lead=None), grouped(SMALL, LARGE), YES),  # no figure: the direction
    (over_groups(lead=None), grouped(noisy(0.0, 0.09), LARGE), LEVEL),
    (over_groups(lead=None), grouped(noisy(-0.05, 0.001), noisy(-0.01, 0.001)), NO),
    (gains(), grouped(SMALL, LARGE), YES),
    (gains(), grouped(LARGE, SMALL), NO),  # ahead, but by less
    (gains(), grouped(noisy(-0.01, 0.001), noisy(-0.05, 0.001)), NO),  # by more, but not ahead
    (gains(), grouped(noisy(0.05, 0.09), LARGE), LEVEL),
    (gains(), grouped(SMALL, noisy(0.04, 0.09)), LEVEL),
    (gains(), grouped(SMALL, [0.01]), LEVEL),  # one query has no interval
    (converges("m"), over_rounds("m", *some(SETTLES, RISES, MOST)), YES),
    (converges("m"), over_rounds("m", *some(SETTLES, RISES, 5)), LEVEL),
    (converges("m"), over_rounds("m", *[FALLS] * 10), NO),
    (converges("m"), over_rounds("m", *[WANDERS] * 10), NO),
    (converges("m"), over_rounds("m", *[[1.0] * 4] * 10), NO),  # no gain
    (converges("error"), over_rounds("error", *[SETTLES] * 10), NO),
    (shape(EndsFirst, others=("b",)), tasks(*[FALLS] * 10, others={"b": [RISES] * 10}), YES),
    (shape(EndsFirst, others=("b",)), tasks(*some(FALLS, RISES, 5), others={"b": [TURNS] * 10}), LEVEL),
    (shape(EndsFirst, others=("b",)), tasks(*[RISES] * 10, others={"b": [RISES] * 10}), NO),  # equal is not first
    (shape(EndsFirst, others=("b",), lowest=False), tasks(*[RISES] * 10, others={"b": [TURNS] * 10}), YES),
    (shape(EndsFirst, others=("b", "c")), tasks(*[TURNS] * 10, others={"b": [RISES] * 10, "c": [FALLS] * 10}), NO),
]


@pytest.mark.parametrize(("claim", "got", "holds"), CASES, ids=[f"{type(c[0]).__name__}-{c[2]}" for c in CASES])
def test_a_claim_holds_or_is_level_or_does_not(claim, got, holds):
    assert claim.judge(got).holds == holds


def kinds_of(room, base):
    return {
        kind
        for name in room.__all__
        if isinstance(kind := getattr(room, name), type) and issubclass(kind, base) and kind not in {base, Shape}
    }


def test_every_kind_has_its_three_verdicts():
    seen = {(type(claim), holds) for claim, _, holds in CASES}
    kinds = set().union(*(kinds_of(room, Claim) for room in (claims, curve_claims, groups)))
    assert seen == {(kind, holds) for kind in kinds for holds in (YES, LEVEL, NO)}


@pytest.mark.parametrize(
    ("claim", "got", "ours"),
    [
        (ahead(), of(a=0.5, b=0.4), "a 0.5000, b 0.4000: +0.1000 [+0.0989, +0.1011]"),
        (
            ahead(measures=THREE),
            joint(0.1, 0.2, -0.1),
            "a 0.5667, b 0.5000: ahead at 2 of 3, on average +0.0667 [+0.0655, +0.0678], behind at o",
        ),
        (ahead(least=0.5), of(a=0.5, b=0.4), "a 0.5000, b 0.4000: +0.1000 [+0.0989, +0.1011], below 50%"),
        (published("y"), BESIDE, "y, published: -0.1000 [-0.1115, -0.0885]"),
        (near(0.1, row="y"), BESIDE, "0.5000 [0.4885, 0.5115], -0.1000 from 0.6000"),
        (ranked("a", "c"), ASCENDING, "a 1.00, c 3.00 (+2.00 [+2.00, +2.00])"),
        (apart("b", "c", "a"), MANY, "+1.00 to c, -1.00 to a (critical 0.74)"),
        (shape(Moves), tasks(*some(RISES, FALLS, MOST)), "in 9 of 10 (90% [60%, 98%])"),
        (worsens(), on_test(-0.1, -0.11, -0.12), "-0.1100 [-0.1348, -0.0852], best after round 3"),
        (chosen_near(0.05), chose(0.1, 0.1, 0.2, 0.1), "0.125 [0.045, 0.205], of 0.1, 0.1, 0.2, 0.1"),
        (
            over_groups(0.01),
            grouped(SMALL, LARGE),
            "+0.0300 [+0.0295, +0.0305] over 2 groups, the paper's +0.02",
        ),
        (
            gains(),
            grouped(SMALL, LARGE),
            "+0.0500 [+0.0489, +0.0511] against +0.0100 [+0.0097, +0.0103]: +0.0400 [+0.0389, +0.0411] more",
        ),
        (
            ahead(measures=THREE, equal=True),
            joint(0.1, 0.2, 0.0),
            "a 0.6000, b 0.5000: no worse at 3 of 3, on average +0.1000 [+0.0989, +0.1011]",
        ),
        (
            ahead(measures=("m", "error")),
            outcome({"a": {"m": noisy(0.6), "error": noisy(0.1)}, "b": {"m": noisy(0.5), "error": noisy(0.3)}}),
            "a to b: ahead at 2 of 2, on average +0.1500 [+0.1500, +0.1500]",
        ),
        (nearer(), NEAR_A, "a 1.50, b 1.50, c 3.00: +1.5000 [+0.1594, +2.8406]"),
        (in_order("a", "b"), of_test(a=[RISES] * 3, b=[TURNS] * 3), "a 4.0000, b 3.0000 (+1.0000 [+1.0000, +1.0000])"),
        (alike(), of_test(a=[AT_ONCE] * 6, b=[AT_LAST] * 6), "a after 2 rounds, b 4 (×0.48 [0.48, 0.48])"),
        (settles(), of_test(a=[RISES] * 4), "worse by +0.0000 [+0.0000, +0.0000] since round 4, of 3.0000 won"),
        (HALTS, halting(*[ABOVE_B] * 9, BELOW_B, GOES_ON), "halts in 10 of 11 trainings, ends above in 9 of these"),
        (HALTS, halting(GOES_ON, GOES_ON), "halts in 0 of 2 trainings"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Claim) else "",
)
def test_what_is_said_of_ours(claim, got, ours):
    assert claim.judge(got).ours == ours


def test_what_is_said_of_falls():
    said = overfits("steep", "flat").judge(FALLING).ours
    assert said.startswith("steep 0.2200 from round 2, flat 0.0240 from round 2 (-0.1960 [")


def test_an_interval_over_queries_is_that_of_folds_that_weigh_the_same():
    """Two folds of unlike size: the difference is the mean of the folds' means, its variance the sum of theirs / 4."""
    a, b = [[0.9, 0.5, 0.7, 0.2], [0.3, 0.8]], [[0.1, 0.4, 0.8, 0.2], [0.2, 0.4]]
    got = outcome(per_query={"a": {"m": a}, "b": {"m": b}})
    gaps = [np.subtract(x, y) for x, y in zip(a, b, strict=True)]
    mean = np.mean([gap.mean() for gap in gaps])
    half = stats.t.ppf(0.975, 4) * np.sqrt(sum(gap.var(ddof=1) / len(gap) for gap in gaps) / 4)
    assert f"{mean:+.4f} [{mean - half:+.4f}, {mean + half:+.4f}]" in ahead().judge(got).ours


def test_beside_a_measure_of_pooled_queries_all_are_compared_by_block():
    """25 queries of a fold are 20 blocks, the first five of two queries each: their sums, over 25 / 20."""
    rng = np.random.default_rng(3)
    gains, errors = rng.normal(0.1, 0.2, (2, 25)), rng.normal(0.1, 0.2, (2, 20))
    none = {"m": np.zeros((2, 25)).tolist(), "pooled": np.zeros((2, 20)).tolist()}
    got = outcome(per_query={"a": {"m": gains.tolist(), "pooled": (-errors).tolist()}, "b": none})
    sums = gains[:, :20].copy()
    sums[:, :5] += gains[:, 20:]
    both = (errors + sums * 20 / 25) / 2
    half = stats.t.ppf(0.975, 38) * np.sqrt(sum(own.var(ddof=1) / 20 for own in both) / 4)
    said = ahead(measures=("m", "pooled")).judge(got).ours
    assert f"on average {both.mean():+.4f} [{both.mean() - half:+.4f}, {both.mean() + half:+.4f}]" in said
    assert both.mean() == pytest.approx((gains.mean() + errors.mean()) / 2)


def test_queries_without_a_value_are_no_part_of_their_block():
    values = np.r_[np.arange(25.0), np.nan, np.nan]
    assert by_block(values).mean() == pytest.approx(12.0)
    assert np.isnan(by_block(np.full(25, np.nan))).all()


def test_undefined_queries_count_for_neither():
    whole = outcome(per_query={"a": {"m": [[0.9, 0.5, 0.7]]}, "b": {"m": [[0.1, 0.4, 0.8]]}})
    holed = outcome(per_query={"a": {"m": [[0.9, None, 0.5, 0.7]]}, "b": {"m": [[0.1, None, 0.4, 0.8]]}})
    assert ahead().judge(holed) == ahead().judge(whole)


def test_others_may_have_measures_of_their_own():
    got = outcome({"a": {"m": noisy(0.5), "m, late": noisy(0.1)}, "b": {"m": noisy(0.9), "m, late": noisy(0.3, 0.0)}})
    assert ahead(against=("m, late",)).judge(got).holds == YES
    assert ahead().judge(got).holds == NO
    table = {"x": {"m": 0.9, "m, late": 0.3}}
    beside = outcome({"a": {"m": noisy(0.5)}}, published=table)
    assert published("x", against=("m, late",)).judge(beside).holds == YES
    assert published("x").judge(beside).holds == NO


def test_learners_are_averaged():
    got = outcome({"a": {"m": noisy(0.8)}, "b": {"m": noisy(0.2)}, "c": {"m": noisy(0.4, 0.0)}})
    assert ahead("c", learners=("a", "b")).judge(got).ours == "a and b 0.5000, c 0.4000: +0.1000 [+0.0885, +0.1115]"


@pytest.mark.parametrize("claim", [Worsens(measure="m", learner="a", since=90, **SAID)])
def test_a_round_that_is_not_on_record_is_an_error(claim):
    with pytest.raises(
        ValueError, match=r"round 90 is not on record in s, which has \[1, 2, 3, 4\]; take one of these"
    ):
        claim.judge(on_test(0.1, 0.11))


def test_ranks_of_unlike_tasks_are_not_compared():
    got = ranks(*[(0.1, 0.2, 0.3)] * 3)
    with pytest.raises(ValueError, match="some of error, m is undefined on a task of s"):
        nearer("error", "m").judge(got)


def test_seeds_of_a_method_share_its_name():
    got = outcome({"a, seed 0": {"m": noisy(0.8)}, "a, seed 1": {"m": noisy(0.2)}, "b": {"m": noisy(0.4, 0.0)}})
    said = ahead("b", learners=("a, seed 0", "a, seed 1")).judge(got).ours
    assert said == "a (mean of 2) 0.5000, b 0.4000: +0.1000 [+0.0885, +0.1115]"


def test_a_curve_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="a has no curve 'x'"):
        Moves(curve="x", learner="a", **SAID).judge(tasks(FALLS, FALLS))


def traces(e, u):
    return outcome(curves={"a": {("trace", "e"): e, ("trace", "u"): u}})


def close(tolerance, **more):
    return Close(measure="m", learner="a", tolerance=tolerance, **more, **CHECKED)


FALLING_TRACE, RISING_TRACE = (Monotone(curve="c", learner="a", rising=rising, **CHECKED) for rising in (False, True))
BOUNDED = Bounded(curve="e", bound="u", learner="a", **CHECKED)
E, ABOVE, BELOW = [0.5, 0.4, 0.3, 0.2], [0.9, 0.4, 0.35, 0.3], [0.9, 0.4, 0.35, 0.1]

CHECKS = [
    (BOUNDED, traces([E], [ABOVE]), True),  # where they meet it passes
    (BOUNDED, traces([E], [BELOW]), False),
    (BOUNDED, traces([E, E], [ABOVE, BELOW]), False),  # in one split
    (BOUNDED, traces([E], [[1e50, 0.4, 0.35, 0.1]]), False),  # whatever its size elsewhere
    (FALLING_TRACE, tasks([4.0, 3.0, 3.0, 1.0]), True),
    (FALLING_TRACE, tasks([1e50, 3.0, 3.5, 1.0]), False),
    (FALLING_TRACE, tasks([4.0, 3.0, 3.5, 1.0]), False),
    (FALLING_TRACE, tasks(FALLS, [4.0, 3.0, 3.5, 1.0]), False),
    (FALLING_TRACE, tasks(RISES), False),
    (RISING_TRACE, tasks(RISES), True),
    (RISING_TRACE, tasks(TURNS), False),
    (close(0.06, row="y", also=()), outcome({"a": {"m": noisy(0.55)}}, published=TABLE), True),
    (close(0.04, row="y"), outcome({"a": {"m": noisy(0.55)}}, published=TABLE), False),
    (
        close(0.01, row="x", also=("b",)),
        outcome({"a": {"m": noisy(0.4)}, "b": {"m": noisy(0.58)}}, published=TABLE),
        True,
    ),
]


@pytest.mark.parametrize(("check", "got", "passes"), CHECKS, ids=[type(check).__name__ for check, _, _ in CHECKS])
def test_a_check_passes_or_fails(check, got, passes):
    assert check.check(got).passes is passes


def test_every_check_passes_in_one_case_and_fails_in_another():
    seen = {(type(check), passes) for check, _, passes in CHECKS}
    assert seen == {(kind, passes) for kind in kinds_of(checked, Check) for passes in (True, False)}


@pytest.mark.parametrize(
    ("check", "got", "ours"),
    [
        (BOUNDED, traces([E], [BELOW]), "nearest: 0.2000 to 0.1000 after round 4"),
        (FALLING_TRACE, tasks(FALLS), "from 4.0000 to 1.0000"),
        (
            FALLING_TRACE,
            tasks(FALLS, [4.0, 3.0, 3.0, 3.5], FALLS),
            "from 4.0000 to 1.0000; turns back in 1 of 3 trainings, first between rounds 3 and 4",
        ),
        (close(0.1, row="x"), outcome({"a": {"m": noisy(0.55)}}, published=TABLE), "0.5500 (+0.0600)"),
    ],
)
def test_what_a_check_says_of_ours(check, got, ours):
    assert check.check(got).ours == ours


def test_kinds_that_compare_with_a_published_figure_say_so():
    kinds = set().union(*(kinds_of(room, Claim) for room in (claims, curve_claims, groups))) | kinds_of(checked, Check)
    named = {kind.__name__ for kind in kinds if kind.figure}
    assert named == {"AheadOfPublished", "AheadOverGroups", "Close", "Near"}
