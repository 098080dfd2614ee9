"""Claims about several measures, published rows, and curves, on given figures."""

from types import SimpleNamespace

import numpy as np
import pytest

from boostplug.metrics import NDCG, PairError
from boostplug.replicate.claims import (
    Ahead,
    AheadOfPublished,
    Bounded,
    Close,
    FallsMost,
    Monotone,
    OnAverage,
)

SAID = {"study": "s", "text": ""}
METRICS = {"m": NDCG(1), "n": NDCG(5), "m, late": NDCG(1), "error": PairError()}


def outcome(means=None, *, curves=None, published=None):
    """Return what claims ask of an outcome: means by learner and measure, curves by learner and name."""
    return SimpleNamespace(
        study=SimpleNamespace(published=published or {}, rounds=4),
        metric=METRICS.__getitem__,
        mean=lambda name, measure: means[name][measure],
        curve=lambda name, part, measure: np.array(curves[name][part, measure]),
    )


def test_ahead_is_at_each_measure():
    got = outcome({"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.4, "n": 0.3}, "c": {"m": 0.4, "n": 0.45}})
    said = {**SAID, "learners": ("a",), "measures": ("m", "n")}
    verdict = Ahead(others=("b", "c"), **said).judge(got)
    assert not verdict.holds
    assert verdict.ours == "b: at 2 of 2, least +0.1000 at m; c: at 1 of 2, least -0.0500 at n"
    assert Ahead(others=("b",), **said).judge(got).holds
    assert not Ahead(others=("a",), **said).judge(got).holds  # equal is not ahead


def test_ahead_follows_the_direction():
    got = outcome({"a": {"error": 0.1}, "b": {"error": 0.2}})
    assert Ahead(learners=("a",), others=("b",), measures=("error",), **SAID).judge(got).holds
    assert not Ahead(learners=("b",), others=("a",), measures=("error",), **SAID).judge(got).holds
    assert OnAverage(learners=("a",), other="b", measures=("error",), **SAID).judge(got).holds


def test_learners_are_averaged_and_others_may_have_measures_of_their_own():
    means = {"a": {"m": 0.5, "m, late": 0.0}, "b": {"m": 0.3, "m, late": 0.0}, "c": {"m": 0.9, "m, late": 0.39}}
    said = {**SAID, "measures": ("m",)}
    for kind, other in ((Ahead, {"others": ("c",)}), (OnAverage, {"other": "c"})):
        assert kind(learners=("a", "b"), against=("m, late",), **other, **said).judge(outcome(means)).holds
        assert not kind(learners=("b",), against=("m, late",), **other, **said).judge(outcome(means)).holds
        assert not kind(learners=("a", "b"), **other, **said).judge(outcome(means)).holds


def test_ahead_of_published():
    got = outcome({"a": {"m": 0.5, "n": 0.4}}, published={"x": {"m": 0.49, "n": 0.39}, "y": {"m": 0.51, "n": 0.1}})
    said = {**SAID, "learners": ("a",), "measures": ("m", "n")}
    assert AheadOfPublished.figure
    assert AheadOfPublished(rows=("x",), **said).judge(got).holds
    assert not AheadOfPublished(rows=("x", "y"), **said).judge(got).holds


def test_on_average():
    got = outcome({"a": {"m": 0.5, "n": 0.4}, "b": {"m": 0.55, "n": 0.33}})
    verdict = OnAverage(learners=("a",), other="b", measures=("m", "n"), **SAID).judge(got)
    assert verdict.holds
    assert verdict.ours == "0.4500, b 0.4400 (+0.0100)"
    assert not OnAverage(learners=("b",), other="a", measures=("m", "n"), **SAID).judge(got).holds


@pytest.mark.parametrize(("offset", "holds"), [(-0.05, True), (0.0, False), (-0.1, False)])
def test_close_to_a_distance_from_another_row(offset, holds):
    got = outcome({"a": {"m": 0.5}, "b": {"m": 0.4}}, published={"x": {"m": 0.5}})
    claim = Close(measure="m", learner="a", also=("b",), row="x", offset=offset, tolerance=0.01, **SAID)
    assert claim.judge(got).holds is holds
    assert claim.judge(got).ours == "0.4500 (-0.0500)"


def test_falls_most():
    rising, falling = [0.1, 0.2, 0.3, 0.3], [0.1, 0.35, 0.3, 0.2]
    got = outcome(curves={"a": {("test", "m"): falling}, "b": {("test", "m"): rising}})
    verdict = FallsMost(measure="m", learner="a", others=("b",), **SAID).judge(got)
    assert verdict.holds
    assert verdict.ours == "a 0.1500 from round 2, b 0.0000 from round 3"
    assert not FallsMost(measure="m", learner="b", others=("a",), **SAID).judge(got).holds


def test_bounded():
    got = outcome(curves={"a": {("trace", "e"): [0.5, 0.4, 0.3, 0.2], ("trace", "u"): [0.9, 0.4, 0.35, 0.1]}})
    verdict = Bounded(curve="e", bound="u", learner="a", **SAID).judge(got)
    assert not verdict.holds
    assert verdict.ours == "nearest: 0.2000 to 0.1000 after round 4"
    below = outcome(curves={"a": {("trace", "e"): [0.5, 0.4, 0.3, 0.2], ("trace", "u"): [0.9, 0.4, 0.35, 0.3]}})
    assert Bounded(curve="e", bound="u", learner="a", **SAID).judge(below).holds


@pytest.mark.parametrize(
    ("curve", "rising", "holds"),
    [
        ([4.0, 3.0, 3.0, 1.0], False, True),
        ([4.0, 3.0, 3.0, 1.0], True, False),
        ([4.0, 3.0, 3.5, 1.0], False, False),
        ([1.0, 2.0, 2.0, 4.0], True, True),
        ([1.0, 1.0, 1.0, 1.0], True, False),
    ],
)
def test_monotone(curve, rising, holds):
    got = outcome(curves={"a": {("trace", "e"): curve}})
    assert Monotone(curve="e", learner="a", rising=rising, **SAID).judge(got).holds is holds


def test_monotone_says_where_it_turns():
    got = outcome(curves={"a": {("trace", "e"): [4.0, 3.0, 3.5, 1.0]}})
    verdict = Monotone(curve="e", learner="a", **SAID).judge(got)
    assert verdict.ours == "from 4.0000 to 1.0000; turns back between rounds 2 and 3"
