"""Every kind of claim on given figures: where it holds, where it does not, and what it says of ours."""

from types import SimpleNamespace

import numpy as np
import pytest

from boostplug.metrics import NDCG, PairError
from boostplug.replicate import claims
from boostplug.replicate.claims import (
    Ahead,
    AheadOfPublished,
    Apart,
    Best,
    Better,
    Bounded,
    Claim,
    Close,
    Extreme,
    FallsMost,
    Monotone,
    OnAverage,
    Ranked,
    Rise,
    Throughout,
)

SAID = {"study": "s", "text": ""}
METRICS = {"m": NDCG(1), "n": NDCG(5), "m, late": NDCG(1), "error": PairError()}


def outcome(means=None, *, curves=None, published=None, ranks=None, p=None):
    """Return what claims ask of an outcome.

    Means by learner and measure, those in training under ("train", measure); curves by learner, part and name; mean
    ranks by learner, 1.0 being the critical difference; p-values by measure.
    """
    return SimpleNamespace(
        study=SimpleNamespace(published=published or {}, rounds=4),
        learners=list(means or curves or ranks),
        metric=METRICS.__getitem__,
        mean=lambda name, measure, part="test": means[name][measure if part == "test" else (part, measure)],
        mean_ranks=lambda _: ranks,
        critical_difference=lambda _: 1.0,
        p_value=lambda a, b, measure: p[measure],
        curve=lambda name, part, measure: np.array(curves[name][part, measure]),
    )


def of_two(a, b, *, measure="m"):
    """Return the outcome of a learner "a" and a learner "b" with one mean each."""
    return outcome({"a": {measure: a}, "b": {measure: b}})


def ending(part="test", *, measure="m", **curves):
    """Return the outcome of learners with a curve each."""
    return outcome(curves={name: {(part, measure): curve} for name, curve in curves.items()})


def traces(e, u):
    return outcome(curves={"a": {("trace", "e"): e, ("trace", "u"): u}})


def ranked(*order):
    return Ranked(measure="m", order=order, **SAID)


def apart(learner, *others):
    return Apart(measure="m", learner=learner, others=others, **SAID)


def better(learner, other, measure="m", **more):
    return Better(measure=measure, learner=learner, other=other, **more, **SAID)


def throughout(*measures, level=None):
    return Throughout(measures=measures, learner="a", other="b", level=level, **SAID)


def best(*learners, measure="m"):
    return Best(measure=measure, learners=learners, **SAID)


def ahead(*others, measures=("m", "n"), learners=("a",), **more):
    return Ahead(learners=learners, others=others, measures=measures, **more, **SAID)


def on_average(learner, other, *measures):
    return OnAverage(learners=(learner,), other=other, measures=measures, **SAID)


def published(*rows, measures=("m", "n")):
    return AheadOfPublished(learners=("a",), rows=rows, measures=measures, **SAID)


def close(tolerance, offset=0.0, **more):
    return Close(measure="m", learner="a", tolerance=tolerance, offset=offset, **more, **SAID)


def extreme(learner, *, lowest=True, **more):
    return Extreme(curve="m", learner=learner, lowest=lowest, **more, **SAID)


def rise(learner, measure="m"):
    return Rise(measure=measure, learner=learner, **SAID)


def falls_most(learner, *others, measure="m"):
    return FallsMost(measure=measure, learner=learner, others=others, **SAID)


BOUNDED = Bounded(curve="e", bound="u", learner="a", **SAID)
FALLING, RISING = (Monotone(curve="m", learner="a", rising=rising, **SAID) for rising in (False, True))

RANKS = outcome(ranks={"a": 1.0, "b": 1.5, "c": 2.5})
EQUAL_RANKS = outcome(ranks={"a": 1.5, "b": 1.5})
TRAINED = outcome({"a": {"m": 0.1, ("train", "m"): 0.9}, "b": {"m": 0.2, ("train", "m"): 0.8}})
THREE = outcome({"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.4, "n": 0.3}, "c": {"m": 0.4, "n": 0.45}})
ERRORS = outcome({"a": {"error": 0.1}, "b": {"error": 0.2}, "c": {"error": 0.3}})
LOW_HIGH = outcome({"low": {"m": 0.1}, "mid": {"m": 0.3}, "high": {"m": 0.5}})
TABLE = outcome(
    {"a": {"m": 0.5, "n": 0.4}}, published={"x": {"m": 0.49, "n": 0.39}, "y": {"m": 0.51, "n": 0.1}, "z": {"m": 0.5}}
)
OF_ERRORS = outcome({"a": {"error": 0.1}}, published={"x": {"error": 0.2}, "y": {"error": 0.05}})
NEAR = outcome({"a": {"m": 0.45}}, published={"a": {"m": 0.5}, "x": {"m": 0.4}})
# Of three learners, the first ends lowest and loses most, the last ends highest and loses least.
ENDS = {"a": [0.1, 0.35, 0.3, 0.15], "b": [0.1, 0.3, 0.3, 0.2], "c": [0.1, 0.2, 0.31, 0.3]}
# Errors: turned round, so that the last still loses least.
MIRRORED = {name: [1.0 - value for value in curve] for name, curve in ENDS.items()}

CASES = [
    (ranked("a", "b", "c"), RANKS, True),
    (ranked("a", "c", "b"), RANKS, False),
    (ranked("c", "b", "a"), RANKS, False),
    (ranked("a", "b"), EQUAL_RANKS, False),
    (apart("a", "c"), RANKS, True),
    (apart("a", "c", "b"), RANKS, False),  # one is too near
    (apart("c", "a"), RANKS, False),
    (apart("b", "c"), RANKS, False),  # as far as the critical difference is not beyond it
    (better("a", "b"), of_two(0.5, 0.4), True),
    (better("b", "a"), of_two(0.5, 0.4), False),
    (better("a", "b"), of_two(0.5, 0.5), False),
    (better("a", "b", "error"), of_two(0.4, 0.5, measure="error"), True),
    (better("b", "a", "error"), of_two(0.4, 0.5, measure="error"), False),
    (better("a", "b", part="train"), TRAINED, True),
    (better("a", "b"), TRAINED, False),
    (better("a", "b", level=0.05), outcome({"a": {"m": 0.5}, "b": {"m": 0.4}}, p={"m": 0.04}), True),
    (better("a", "b", level=0.05), outcome({"a": {"m": 0.5}, "b": {"m": 0.4}}, p={"m": 0.05}), False),
    (better("b", "a", level=0.05), outcome({"a": {"m": 0.5}, "b": {"m": 0.4}}, p={"m": 0.01}), False),
    (throughout("m", "n"), THREE, True),
    (throughout("m", "n"), outcome({"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.4, "n": 0.5}}), False),
    (throughout("n", "m"), outcome({"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.4, "n": 0.5}}), False),
    (throughout("error"), ERRORS, True),
    (best("high"), LOW_HIGH, True),
    (best("mid", "high"), LOW_HIGH, True),
    (best("mid"), LOW_HIGH, False),
    (best("low"), LOW_HIGH, False),
    (best("a", measure="error"), ERRORS, True),
    (best("c", measure="error"), ERRORS, False),
    (ahead("b"), THREE, True),
    (ahead("b", "c"), THREE, False),  # not at n
    (ahead("c", "b"), THREE, False),
    (ahead("a"), THREE, False),  # equal is not ahead
    (ahead("b", measures=("error",)), ERRORS, True),
    (ahead("a", measures=("error",), learners=("b",)), ERRORS, False),
    (on_average("a", "b", "m", "n"), outcome({"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.55, "n": 0.33}}), True),
    (on_average("b", "a", "m", "n"), outcome({"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.55, "n": 0.33}}), False),
    (on_average("a", "b", "m"), of_two(0.5, 0.5), False),
    (on_average("a", "b", "error"), ERRORS, True),
    (on_average("b", "a", "error"), ERRORS, False),
    (published("x"), TABLE, True),
    (published("x", "y"), TABLE, False),
    (published("z", measures=("m",)), TABLE, False),  # equal is not ahead
    (published("x", measures=("error",)), OF_ERRORS, True),
    (published("y", measures=("error",)), OF_ERRORS, False),
    (close(0.06), NEAR, True),  # below the figure
    (close(0.04), NEAR, False),
    (close(0.06, row="x"), NEAR, True),  # above it
    (close(0.04, row="x"), NEAR, False),
    (close(0.01, offset=-0.05), NEAR, True),
    (close(0.01, offset=0.05), NEAR, False),
    (close(0.25), outcome({"a": {"m": 0.5}}, published={"a": {"m": 0.25}}), True),  # at the edge
    (extreme("a"), ending("trace", **ENDS), True),
    (extreme("b"), ending("trace", **ENDS), False),
    (extreme("c"), ending("trace", **ENDS), False),
    (extreme("c", lowest=False), ending("trace", **ENDS), True),
    (extreme("b", lowest=False), ending("trace", **ENDS), False),
    (extreme("a", lowest=False), ending("trace", **ENDS), False),
    (extreme("a", part="test"), ending("test", **ENDS), True),
    (rise("c"), ending(**ENDS), True),
    (rise("b"), ending(**ENDS), False),
    (rise("a"), ending(**ENDS), False),
    (rise("c", "error"), ending(measure="error", **MIRRORED), True),
    (rise("a", "error"), ending(measure="error", **MIRRORED), False),
    (falls_most("a", "b", "c"), ending(**ENDS), True),
    (falls_most("b", "c", "a"), ending(**ENDS), False),
    (falls_most("b", "a", "c"), ending(**ENDS), False),
    (falls_most("c", "b"), ending(**ENDS), False),
    (falls_most("a", "a"), ending(**ENDS), False),  # as much is not more
    (falls_most("a", "b", measure="error"), ending(measure="error", **MIRRORED), True),
    (falls_most("c", "b", measure="error"), ending(measure="error", **MIRRORED), False),
    (BOUNDED, traces([0.5, 0.4, 0.3, 0.2], [0.9, 0.4, 0.35, 0.3]), True),  # where they meet it holds
    (BOUNDED, traces([0.5, 0.4, 0.3, 0.2], [0.9, 0.4, 0.35, 0.1]), False),
    (BOUNDED, traces([0.9, 0.9, 0.9, 0.9], [0.5, 0.4, 0.3, 0.2]), False),
    (FALLING, ending("trace", a=[4.0, 3.0, 3.0, 1.0]), True),
    (FALLING, ending("trace", a=[4.0, 3.0, 3.5, 1.0]), False),
    (FALLING, ending("trace", a=[1.0, 1.0, 1.0, 1.0]), False),
    (FALLING, ending("trace", a=[1.0, 2.0, 2.0, 4.0]), False),
    (RISING, ending("trace", a=[1.0, 2.0, 2.0, 4.0]), True),
    (RISING, ending("trace", a=[1.0, 2.0, 1.5, 4.0]), False),
    (RISING, ending("trace", a=[1.0, 1.0, 1.0, 1.0]), False),
    (RISING, ending("trace", a=[4.0, 3.0, 3.0, 1.0]), False),
]


@pytest.mark.parametrize(("claim", "got", "holds"), CASES, ids=[type(claim).__name__ for claim, _, _ in CASES])
def test_a_claim_holds_or_does_not(claim, got, holds):
    assert claim.judge(got).holds is holds


def test_every_kind_holds_in_one_case_and_fails_in_another():
    kinds = {kind for name in claims.__all__ if issubclass(kind := getattr(claims, name), Claim)} - {Claim}
    assert {(type(claim), holds) for claim, _, holds in CASES} == {(kind, holds) for kind in kinds for holds in (0, 1)}


@pytest.mark.parametrize(
    ("claim", "got", "ours"),
    [
        (ranked("a", "c"), RANKS, "a 1.00, c 2.50"),
        (apart("b", "c", "a"), RANKS, "+1.00 to c, -0.50 to a (critical 1.00)"),
        (better("a", "b"), of_two(0.5, 0.4), "a 0.5000, b 0.4000"),
        (throughout("m", "n"), THREE, "m +0.1000, n +0.1000"),
        (best("mid"), LOW_HIGH, "high 0.5000, mid 0.3000, low 0.1000"),
        (best("a", measure="error"), ERRORS, "a 0.1000, b 0.2000, c 0.3000"),
        (ahead("b", "c"), THREE, "b: at 2 of 2, least +0.1000 at m; c: at 1 of 2, least -0.0500 at n"),
        (published("y"), TABLE, "y: at 1 of 2, least -0.0100 at m"),
        (on_average("a", "b", "m"), of_two(0.45, 0.44), "0.4500, b 0.4400 (+0.0100)"),
        (close(0.1), NEAR, "0.4500 (-0.0500)"),
        (extreme("a"), ending("trace", **ENDS), "a 0.15, b 0.2, c 0.3"),
        (extreme("a", lowest=False), ending("trace", **ENDS), "c 0.3, b 0.2, a 0.15"),
        (rise("a"), ending(**ENDS), "c 0.0100, b 0.1000, a 0.2000"),
        (falls_most("a", "c"), ending(**ENDS), "a 0.2000 from round 2, c 0.0100 from round 3"),
        (BOUNDED, traces([0.5, 0.4, 0.3, 0.2], [0.9, 0.4, 0.35, 0.1]), "nearest: 0.2000 to 0.1000 after round 4"),
        (BOUNDED, traces([0.5, 0.4, 0.3, 0.2], [0.9, 0.4, 0.35, 0.3]), "nearest: 0.4000 to 0.4000 after round 2"),
        (FALLING, ending("trace", a=[4.0, 3.0, 3.0, 1.0]), "from 4.0000 to 1.0000"),
        (
            FALLING,
            ending("trace", a=[4.0, 3.0, 3.0, 3.5]),
            "from 4.0000 to 3.5000; turns back between rounds 3 and 4",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Claim) else "",
)
def test_what_is_said_of_ours(claim, got, ours):
    assert claim.judge(got).ours == ours


def test_a_level_is_for_each_measure_and_stands_in_the_words():
    means = {"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.3, "n": 0.3}}
    verdict = throughout("m", "n", level=0.05).judge(outcome(means, p={"m": 0.01, "n": 0.049}))
    assert verdict.holds
    assert verdict.ours == "m +0.2000 (p = 0.01), n +0.1000 (p = 0.049)"
    assert not throughout("m", "n", level=0.05).judge(outcome(means, p={"m": 0.01, "n": 0.05})).holds
    assert better("a", "b", level=0.05).judge(outcome(means, p={"m": 0.01})).ours.endswith(", p = 0.01")


def test_learners_are_averaged_and_others_may_have_measures_of_their_own():
    means = {"a": {"m": 0.5, "m, late": 0.0}, "b": {"m": 0.3, "m, late": 0.0}, "c": {"m": 0.9, "m, late": 0.39}}
    said = {**SAID, "measures": ("m",)}
    for kind, other in ((Ahead, {"others": ("c",)}), (OnAverage, {"other": "c"})):
        assert kind(learners=("a", "b"), against=("m, late",), **other, **said).judge(outcome(means)).holds
        assert not kind(learners=("b",), against=("m, late",), **other, **said).judge(outcome(means)).holds
        assert not kind(learners=("a", "b"), **other, **said).judge(outcome(means)).holds
    table = {"x": {"m": 0.9, "m, late": 0.39}}
    said |= {"learners": ("a", "b"), "rows": ("x",)}
    assert AheadOfPublished(against=("m, late",), **said).judge(outcome(means, published=table)).holds
    assert not AheadOfPublished(**said).judge(outcome(means, published=table)).holds


@pytest.mark.parametrize(("offset", "holds"), [(-0.05, True), (0.0, False), (-0.1, False)])
def test_close_to_a_distance_from_another_row(offset, holds):
    got = outcome({"a": {"m": 0.5}, "b": {"m": 0.4}}, published={"x": {"m": 0.5}})
    verdict = close(0.01, offset, also=("b",), row="x").judge(got)
    assert verdict.holds is holds
    assert verdict.ours == "0.4500 (-0.0500)"


def test_kinds_that_compare_with_a_published_figure_say_so():
    kinds = {type(claim) for claim, _, _ in CASES}
    assert {kind.__name__ for kind in kinds if kind.figure} == {"AheadOfPublished", "Close"}
