"""Every judge on given figures: where a claim holds, is level, or does not hold."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from boostplug.metrics import NDCG, PairError
from studies.replication.judging import claims, curve_claims, groups
from studies.replication.judging.study_results import StudyResults
from studies.replication.training.study import Measure, Study
from studies.sources import Loaded

YES, LEVEL, NO = "holds", "level", "does not hold"
METRICS = {"m": NDCG(1), "n": NDCG(5), "o": NDCG(10), "m, late": NDCG(1)}
METRICS |= {"error": PairError(), "pooled": PairError(pooled=True)}


def results(values=None, *, curves=None, published=None, per_query=None):
    """Return the results of one task with as many folds as there are values, or of a task for each curve.

    `values`: by learner, measure (or ("train", measure)) and fold; `per_query`: by learner and measure, values of the
    queries of each fold; `curves`: by learner, part and name, a curve for each task, of 4 rounds.
    """
    values, curves, per_query = values or {}, curves or {}, per_query or {}
    learners = list(values or per_query or curves)
    rows = next(iter(curves.values())) if curves else {}
    n_tasks = len(next(iter(rows.values()))) if rows else 1
    some = next(iter(next(iter((values or per_query).values())).values())) if values or per_query else [0]
    splits = [SimpleNamespace(task=f"t{t}", fold=f + 1) for t in range(n_tasks) for f in range(len(some))]
    found = {}
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
            found[split.task, split.fold, name] = {"value": own}
    study = Study(
        name="s",
        source=SimpleNamespace(),
        rounds=4,
        learners=tuple(SimpleNamespace(name=name) for name in learners),
        measures=tuple(Measure(key, metric) for key, metric in METRICS.items()),
        published=published or {},
    )
    return StudyResults(study, Loaded(splits, as_published=True), found)


def noisy(mean, spread=0.01, n=6):
    """Return values of so many folds around a mean."""
    return [mean + spread * (-1) ** i for i in range(n)]


def of(measure="m", **means):
    """Return results of learners with means that hardly scatter, and not alike."""
    return results({name: {measure: noisy(mean, 0.001 * (1 + i))} for i, (name, mean) in enumerate(means.items())})


def joint(*gaps, spread=0.001):
    """Return results of "a" that is ahead of "b" by so much at "m", "n" and "o"."""
    a = {measure: noisy(0.5 + gap, spread) for measure, gap in zip("mno", gaps, strict=True)}
    return results({"a": a, "b": {measure: noisy(0.5, 0.0) for measure in a}})


def ranks(*errors):
    """Return results of learners a, b, c with given errors, task by task."""
    return results({name: {"error": [task[i] for task in errors]} for i, name in enumerate("abc"[: len(errors[0])])})


def traces(own, /, part="trace", name="c", **others):
    """Return results with a curve of "a" for each task, and of others."""
    return results(curves={who: {(part, name): list(of_tasks)} for who, of_tasks in {"a": own, **others}.items()})


def on_test(own, /, measure="m", **others):
    """Return results with a test curve for each task."""
    return traces(own, "test", measure, **others)


def two_traces(c, d):
    return results(curves={"a": {("trace", "c"): c, ("trace", "d"): d}})


def changes(*of_tasks, measure="m"):
    """Return results of a learner whose test values change so much from round 2 of 4 to the last, task by task."""
    return on_test([[0.1, 0.5, 0.9, 0.5 + change] for change in of_tasks], measure)


def chose(*alphas):
    return SimpleNamespace(chosen=lambda *_: [{"of": SimpleNamespace(alpha=alpha)} for alpha in alphas])


def grouped(few, many):
    """Return results of "a" ahead of "b" by so much, query by query: "m" has the first, "n" the second queries."""
    leads = np.r_[few, many]
    of_few = np.arange(len(leads)) < len(few)
    by_measure = {"m": np.where(of_few, leads, np.nan), "n": np.where(of_few, np.nan, leads)}
    a = {measure: [[None if np.isnan(v) else 0.5 + v for v in own]] for measure, own in by_measure.items()}
    b = {measure: [[None if v is None else 0.5 for v in own[0]]] for measure, own in a.items()}
    return results(per_query={"a": a, "b": b})


def halting(*ends):
    """Return results of tasks with (halts, end of a, end of b)."""
    halts, a, b = ([[3.0, 2.0, 2.0, end] for end in of_tasks] for of_tasks in zip(*ends, strict=True))
    return results(curves={"a": {("trace", "c"): a, ("trace", "halted"): halts}, "b": {("trace", "c"): b}})


def some(shown, not_shown, count):
    """Return ten curves, so many of which are the first."""
    return [shown] * count + [not_shown] * (10 - count)


def turned(curves):
    return [[1.0 - value for value in curve] for curve in curves]


IN_TURN = results(  # "a" is behind "b" at "m" and behind "c" at "o"
    {
        name: {measure: noisy(mean, 0.001 * i) for measure, mean in zip("mno", means, strict=True)}
        for i, (name, means) in enumerate({"a": (0.6, 0.6, 0.6), "b": (0.7, 0.2, 0.2), "c": (0.2, 0.2, 0.7)}.items())
    }
)
FALLS, RISES, TURNS = [4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 2.0, 3.0]
SETTLES, WANDERS = [1.0, 2.0, 2.1, 1.9], [1.0, 2.0, 2.2, 2.0]
HALVES, LIMIT = [16.0, 8.0, 4.0, 2.0], [16.0, 4.0, 3.9, 3.8]
DROPS = [4.0, 2.0, 1.5, 1.0]
AT_ONCE, AT_LAST = [0.1, 0.5, 0.5, 0.5], [0.1, 0.1, 0.1, 0.5]
UP_AND_DOWN = [[0.1, 0.5, 0.4 + 0.01 * i, 0.3] for i in range(5)]
STAYS = [[0.1, 0.5 + 0.01 * i, 0.5, 0.5 + 0.01 * i - 0.01 * (-1) ** i] for i in range(6)]
WAVERS = [[0.1, 0.5, 0.4, 0.3 + 0.4 * (i % 2) - 0.001 * i] for i in range(6)]
MOST = 9  # of 10 tasks: Wilson's interval of .9 lies above one half; that of 6 of 10 does not

ASCENDING = ranks(*[(0.1, 0.2, 0.3)] * 5)
MIXED = ranks((0.1, 0.2, 0.3), (0.2, 0.1, 0.3), (0.1, 0.2, 0.3), (0.2, 0.1, 0.3))
# Nemenyi: three learners, 20 tasks: the critical difference is .74; the mean ranks of MANY are 1, 2, 3
MANY = ranks(*[(0.1, 0.2, 0.3)] * 20)
CLOSE = ranks(*[(0.1, 0.2, 0.3)] * 12, *[(0.2, 0.1, 0.3)] * 8)  # mean ranks 1.4, 1.6, 3
NEAR_A, NEAR_C = ranks(*[(0.1, 0.2, 0.3)] * 4, *[(0.2, 0.1, 0.3)] * 4), ranks(*[(0.1, 0.3, 0.2)] * 5)
OVER = {
    # falls from the best of the mean test curve to its end: .2 and hardly any, one task apart from the other
    "steep": [[0.1, 0.5 + 0.01 * i, 0.4, 0.3] for i in range(5)],
    "flat": [[0.1, 0.5 + 0.01 * i, 0.5, 0.48 + 0.008 * i] for i in range(5)],
    "wild": [[0.1, 0.5, 0.5 - 0.1 * (i == 4), end] for i, end in enumerate((0.3, 0.7, 0.2, 0.6, 0.2))],
}
FALLING = results(curves={name: {("test", "m"): own} for name, own in OVER.items()})
ERRORS_RISE = results(curves={name: {("test", "error"): turned(own)} for name, own in OVER.items()})
TABLE = {"x": {"m": 0.49, "n": 0.39}, "y": {"m": 0.60, "n": 0.1}, "z": {"m": 0.501, "n": 0.401}}
BESIDE = results({"a": {"m": noisy(0.5), "n": noisy(0.4)}}, published=TABLE)
OF_ERRORS = results({"a": {"error": noisy(0.1)}}, published={"x": {"error": 0.2}, "y": {"error": 0.05}})
SMALL, LARGE = noisy(0.05, 0.001), noisy(0.01, 0.001, 60)
ABOVE_B, BELOW_B, GOES_ON = (1.0, 0.9, 0.5), (1.0, 0.4, 0.5), (0.0, 0.4, 0.5)
E, ABOVE, BELOW = [0.5, 0.4, 0.3, 0.2], [0.9, 0.4, 0.35, 0.3], [0.9, 0.4, 0.35, 0.1]

AHEAD = partial(claims.ahead, learners="a", others="b", measures="m")
JOINTLY = partial(AHEAD, measures="mno")
AS_GOOD = partial(claims.ahead, learners="a", others="b", measures="mno", equal=True)
BEST = partial(claims.best, learners="a", others="bc", measures="mno")
PUBLISHED = partial(claims.ahead_of_published, learners="a", rows="x", measures="m")
NEAR = partial(claims.near_published, learners="a", measure="m", row="z")
RANKED = partial(claims.ranked, measure="error", order="abc")
APART = partial(claims.apart, measure="error", learner="a", others="bc")
NEARER = partial(claims.nearer, measures=["error"], learner="b", near="a", far="c")
CHOSEN = partial(claims.chosen_near, measure="m", learner="a", parameter="of.alpha", value=0.1)
IN_ORDER = partial(curve_claims.ends_in_order, measure="m", order="ab")
ALIKE = partial(curve_claims.converges_alike, measure="m", learner="a", others="b")
SETTLED = partial(curve_claims.settles, measure="m", learner="a")
EARLY = partial(curve_claims.overfits_early, measure="m", learners="a", by=2)
LESS = partial(curve_claims.overfits_less, measure="m", learner="flat", others=["steep"])
HALTS = partial(curve_claims.halts_above, curve="c", learner="a", other="b")
WORSENS = partial(curve_claims.worsens, measure="m", learner="a", since=2)
LASTS = partial(curve_claims.lasts, measure="m", learner="a", since=2, tolerance=0.01)
OVER_GROUPS = partial(groups.ahead_over_groups, learner="a", other="b", measures="mn", lead=0.02)
GAINS = partial(groups.gains_more, learner="a", other="b", measure="m", than="n")
BOUNDED = partial(claims.bounded, learner="a", curve="c", bound="d")
FALLING_TRACE = partial(claims.never_rises, learner="a", curve="c")
CLOSELY = partial(claims.close, learner="a", measure="m", row="y", tolerance=0.06)
AT_055 = results({"a": {"m": noisy(0.55)}}, published=TABLE)


def shape(of_curves, **more):
    return partial(curve_claims.in_most, shape=of_curves, learner="a", curve="c", **more)


DROPPING = shape(partial(curve_claims.drops_early, start=5.0, within=0.5))
LOWEST = shape(curve_claims.ends_lowest, beside=[("b", "c")])
CONVERGES = partial(curve_claims.in_most, shape=curve_claims.converges, learner="a", curve="m", part="test")
CLOSING = shape(curve_claims.closes, beside=[("a", "d")])
ONES = [[1.0] * 4] * 10

CASES = [
    (AHEAD, of(a=0.5, b=0.4), YES),
    (AHEAD, of(a=0.4, b=0.5), NO),
    (AHEAD, of(a=0.4, b=0.4), LEVEL),
    (JOINTLY, joint(0.1, 0.2, -0.0001), LEVEL),  # not at each, but behind at none
    (JOINTLY, joint(0.1, 0.2, -0.1), NO),  # behind at one, beyond noise
    (JOINTLY, joint(0.1, 0.1, 0.1, spread=0.9), LEVEL),  # ahead at each, within noise
    (partial(JOINTLY, share=0.6), joint(0.1, 0.2, -0.1), YES),
    (partial(JOINTLY, share=0.6), joint(0.1, 0.1, -0.9), NO),  # the average is behind
    (partial(JOINTLY, share=0.0), joint(0.5, -0.1, -0.1), YES),  # the average alone
    (AS_GOOD, joint(-0.1, 0.2, 0.1), NO),  # behind at one, beyond noise
    (partial(BEST, share=0.6), IN_TURN, LEVEL),  # ahead of both at once at one of three
    (partial(BEST, share=1.0), IN_TURN, NO),  # behind beyond noise, whatever it is the best at
    (partial(claims.ahead_by, learner="a", other="b", measure="m", least=0.01), of(a=0.5, b=0.4), YES),
    (partial(claims.ahead_by, learner="a", other="b", measure="m", least=0.5), of(a=0.5, b=0.4), LEVEL),  # by a quarter
    (PUBLISHED, BESIDE, LEVEL),
    (partial(PUBLISHED, rows="y"), BESIDE, NO),
    (partial(NEAR, tolerance=0.001), BESIDE, YES),  # at the edge
    (partial(NEAR, tolerance=0.05, row="y"), BESIDE, NO),
    (RANKED, ASCENDING, YES),
    (partial(RANKED, order="acb"), ASCENDING, NO),
    (RANKED, MIXED, LEVEL),
    (APART, MANY, YES),
    (partial(APART, learner="b", others="a"), MANY, NO),
    (APART, CLOSE, LEVEL),
    (NEARER, NEAR_A, YES),
    (NEARER, NEAR_C, NO),
    (NEARER, ASCENDING, LEVEL),
    (partial(CHOSEN, tolerance=0.05), chose(0.1, 0.1, 0.2, 0.1), YES),
    (partial(CHOSEN, tolerance=0.01), chose(0.1, 0.1, 0.2, 0.1), LEVEL),
    (partial(CHOSEN, tolerance=0.05), chose(0.4, 0.4, 0.8, 0.4), NO),
    (IN_ORDER, on_test([[0.1, 0.2, 0.3, 0.5 + 0.01 * i] for i in range(5)], b=[TURNS] * 5), NO),
    (IN_ORDER, on_test([TURNS] * 5, b=[[0.1, 0.2, 0.3, 0.5 + 0.01 * i] for i in range(5)]), YES),
    (IN_ORDER, on_test([TURNS] * 4, b=[[9.0, 9.0, 9.0, v] for v in (2.9, 3.2, 2.9, 3.1)]), LEVEL),
    (ALIKE, on_test([AT_ONCE] * 6, b=[AT_ONCE] * 6), YES),
    (ALIKE, on_test([AT_ONCE] * 6, b=[AT_LAST] * 6), NO),
    (SETTLED, on_test(STAYS), YES),
    (SETTLED, on_test(UP_AND_DOWN), NO),
    (SETTLED, on_test(WAVERS), LEVEL),
    (EARLY, on_test(UP_AND_DOWN), YES),
    (partial(EARLY, by=1), on_test(UP_AND_DOWN), NO),
    (EARLY, on_test(WAVERS), LEVEL),
    (LESS, FALLING, YES),
    (partial(LESS, learner="steep", others=["flat"]), FALLING, NO),
    (partial(LESS, others=["steep", "wild"]), FALLING, LEVEL),
    (HALTS, halting(ABOVE_B, *[BELOW_B] * 9, GOES_ON), YES),  # one is enough
    (HALTS, halting(BELOW_B, (0.0, 0.9, 0.5)), LEVEL),  # what ends above does not halt
    (WORSENS, changes(-0.1, -0.11, -0.12), YES),
    (WORSENS, changes(-0.1, 0.0, 0.1), LEVEL),
    (WORSENS, changes(0.1, 0.11, 0.12), NO),
    (LASTS, changes(0.1, 0.11, 0.12), YES),
    (LASTS, changes(-0.001, 0.001, 0.0), YES),  # worse by .0025 at most
    (partial(LASTS, tolerance=0.001), changes(-0.001, 0.001, 0.0), LEVEL),
    (LASTS, changes(-0.004, -0.005, -0.006), NO),  # little, but surely
    (shape(curve_claims.rises), traces(some(RISES, FALLS, MOST)), YES),
    (shape(curve_claims.rises), traces(some(RISES, FALLS, 6)), LEVEL),
    (shape(curve_claims.rises), traces(some(RISES, FALLS, 1)), NO),
    (shape(curve_claims.turns), traces(some(TURNS, FALLS, MOST)), YES),
    (shape(curve_claims.turns), traces([RISES, FALLS] * 5), NO),
    (DROPPING, traces(some(DROPS, FALLS, MOST)), YES),
    (DROPPING, traces([[4.5, 4.0, 3.0, 1.0]] * 10), NO),  # late
    (CLOSING, two_traces(ONES, some([2.0, 1.5, 1.2, 0.95], [2.0, 1.5, 1.2, 1.2], MOST)), YES),
    (CLOSING, two_traces(ONES, [[2.0, 1.0, 1.0, 2.0]] * 10), NO),  # apart again
    (shape(curve_claims.climbs_to_peak), traces(some([0.0, 1.0, 1.0, 1.0], [0.0] * 4, MOST)), YES),
    (shape(curve_claims.climbs_to_peak), traces([[0.0, 1.0, 1.0, 0.0]] * 10), NO),  # a later, higher peak after a fall
    (shape(curve_claims.exponential), traces(some(HALVES, LIMIT, MOST)), YES),
    (
        shape(curve_claims.exponential),
        traces([[16.0, 4.0, 2.0, 1.01]] * 10),
        NO,
    ),  # per round, late just below half as fast
    (shape(curve_claims.exponential), traces([[16.0, 4.0, 2.0, 0.99]] * 10), YES),  # just above
    (CONVERGES, on_test(some(SETTLES, RISES, MOST)), YES),
    (CONVERGES, on_test([FALLS, WANDERS] * 5), NO),
    (LOWEST, traces([FALLS] * 10, b=[RISES] * 10), YES),
    (LOWEST, traces([RISES] * 10, b=[RISES] * 10), NO),  # equal is not first
    (shape(curve_claims.ends_highest, beside=[("b", "c")]), traces([RISES] * 10, b=[TURNS] * 10), YES),
    (partial(OVER_GROUPS, tolerance=0.011), grouped(SMALL, LARGE), YES),  # .03, whatever the sizes of the groups
    (partial(OVER_GROUPS, tolerance=0.009), grouped(SMALL, LARGE), NO),
    (GAINS, grouped(SMALL, LARGE), YES),
    (GAINS, grouped(LARGE, SMALL), NO),  # ahead, but by less
    (GAINS, grouped(noisy(0.05, 0.09), LARGE), LEVEL),
    (BOUNDED, two_traces([E], [ABOVE]), YES),  # where they meet it passes
    (BOUNDED, two_traces([E, E], [ABOVE, BELOW]), NO),  # in one split
    (FALLING_TRACE, traces([[4.0, 3.0, 3.0, 1.0]]), YES),
    (FALLING_TRACE, traces([FALLS, [1e50, 3.0, 3.5, 1.0]]), NO),
    (CLOSELY, AT_055, YES),
    (partial(CLOSELY, tolerance=0.04), AT_055, NO),
    (partial(AHEAD, measures=["error"]), of("error", a=0.1, b=0.2), YES),
    (partial(AHEAD, measures=["error"]), of("error", a=0.3, b=0.2), NO),
    (partial(AHEAD, equal=True), of(a=0.4, b=0.4), YES),
    (partial(PUBLISHED, measures=["error"]), OF_ERRORS, YES),
    (partial(LESS, measure="error"), ERRORS_RISE, YES),
]


def judge_of(claim):
    """Return the function, and the shape that it counts."""
    found = claim.keywords.get("shape", claim.func)
    return found.func if isinstance(found, partial) else found


@pytest.mark.parametrize(("claim", "got", "holds"), CASES, ids=[f"{judge_of(c[0]).__name__}-{c[2]}" for c in CASES])
def test_a_claim_holds_or_is_level_or_does_not(claim, got, holds):
    assert claim(got).holds == holds


def test_an_interval_over_queries_is_that_of_folds_that_weigh_the_same():
    """Two folds of unlike size: the difference is the mean of the folds' means, its variance the sum of theirs / 4."""
    a, b = [[0.9, 0.5, 0.7, 0.2], [0.3, 0.8]], [[0.1, 0.4, 0.8, 0.2], [0.2, 0.4]]
    gaps = [np.subtract(x, y) for x, y in zip(a, b, strict=True)]
    mean = np.mean([gap.mean() for gap in gaps])
    half = stats.t.ppf(0.975, 4) * np.sqrt(sum(gap.var(ddof=1) / len(gap) for gap in gaps) / 4)
    said = AHEAD(results(per_query={"a": {"m": a}, "b": {"m": b}})).ours
    assert f"{mean:+.4f} [{mean - half:+.4f}, {mean + half:+.4f}]" in said


def test_beside_a_measure_of_pooled_queries_all_are_compared_by_block():
    """25 queries of a fold are 20 blocks, the first five of two queries each: their sums, over 25 / 20."""
    rng = np.random.default_rng(3)
    gains, errors = rng.normal(0.1, 0.2, (2, 25)), rng.normal(0.1, 0.2, (2, 20))
    none = {"m": np.zeros((2, 25)).tolist(), "pooled": np.zeros((2, 20)).tolist()}
    got = results(per_query={"a": {"m": gains.tolist(), "pooled": (-errors).tolist()}, "b": none})
    sums = gains[:, :20].copy()
    sums[:, :5] += gains[:, 20:]
    both = (errors + sums * 20 / 25) / 2
    half = stats.t.ppf(0.975, 38) * np.sqrt(sum(own.var(ddof=1) / 20 for own in both) / 4)
    said = partial(AHEAD, measures=["m", "pooled"])(got).ours
    assert f"on average {both.mean():+.4f} [{both.mean() - half:+.4f}, {both.mean() + half:+.4f}]" in said
    assert both.mean() == pytest.approx((gains.mean() + errors.mean()) / 2)


def test_undefined_queries_count_for_neither():
    whole = results(per_query={"a": {"m": [[0.9, 0.5, 0.7]]}, "b": {"m": [[0.1, 0.4, 0.8]]}})
    holed = results(per_query={"a": {"m": [[0.9, None, 0.5, 0.7]]}, "b": {"m": [[0.1, None, 0.4, 0.8]]}})
    assert AHEAD(holed) == AHEAD(whole)


def test_learners_are_averaged_and_seeds_of_a_method_share_its_name():
    got = results({"a": {"m": noisy(0.8)}, "b": {"m": noisy(0.2)}, "c": {"m": noisy(0.4, 0.0)}})
    assert partial(AHEAD, learners="ab", others="c")(got).ours == (
        "a and b 0.5000, c 0.4000: +0.1000 [+0.0885, +0.1115]"
    )
    seeds = ("a, seed 0", "a, seed 1")
    got = results({seeds[0]: {"m": noisy(0.8)}, seeds[1]: {"m": noisy(0.2)}, "b": {"m": noisy(0.4, 0.0)}})
    assert partial(AHEAD, learners=seeds)(got).ours == ("a (mean of 2) 0.5000, b 0.4000: +0.1000 [+0.0885, +0.1115]")
