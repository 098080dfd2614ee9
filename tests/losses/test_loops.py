"""The referees themselves: the double loops of `loops` against differences of their own values, and each other."""

import loops
import numpy as np
import pytest

import boostplug as bp

BOUNDARIES = [0, 5, 6, 6, 14]
LABELS = np.array([2, 0, 1, 1, 0, 3, 0, 1, 2, 3, 3, 0, 1, 4.0])
REFEREES = {
    **{
        f"mpboost, {distance}, {normalization}": (loops.mpboost, {"distance": distance, "normalization": normalization})
        for distance in (bp.BinaryDistance(), bp.LogDistance(), bp.LogisticDistance())
        for normalization in ("none", "rows", "query")
    },
    "ranknet": (loops.ranknet, {"sigmoid": 0.7, "normalization": "rows"}),
    "ndcg_boost": (loops.ndcg_boost, {"sigmoid": 1.5, "normalization": "query"}),
    "lambda_rank": (loops.lambda_rank, {"sigmoid": 0.7, "k": 4}),
    "lambda_rank, map": (loops.lambda_rank, {"metric": "map", "truncation": 3}),
    "list_net": (loops.list_net, {"target": "softmax"}),
    "squared_error": (loops.squared_error, {}),
    "squared_error, centred": (loops.squared_error, {"centred": True}),
}


def values_around(referee, scores, options, step):
    """Return the referee's sum of values with each score lowered and raised, in turn."""
    moved = scores + step * np.r_[-np.eye(len(scores)), np.eye(len(scores))]
    sums = np.array([referee(f, LABELS, BOUNDARIES, **options)[0].sum() for f in moved])
    return sums.reshape(2, -1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REFEREES)
def test_referees_derivatives_are_those_of_its_value(name, weighted):
    referee, options = REFEREES[name]
    rng = np.random.default_rng(1)
    scores = rng.normal(size=len(LABELS))
    if weighted:
        options = options | {"weight": rng.integers(0, 3, len(LABELS)) / 2.0, "labelled": rng.random(14) < 0.9}
    value, g, h = referee(scores, LABELS, BOUNDARIES, **options)
    below, above = values_around(referee, scores, options, 1e-4)
    np.testing.assert_allclose(g, (above - below) / 2e-4, rtol=1e-6, atol=1e-6)
    assert np.abs(g).max() > 1e-2
    if name in {"ndcg_boost", "squared_error, centred"}:  # a model of its own, and a bound
        return
    np.testing.assert_allclose(h, (above - 2 * value.sum() + below) / 1e-8, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("margin", ["grade", 0.3])
@pytest.mark.parametrize("normalization", ["none", "rows", "query"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_referee_of_qbranks_gradient_is_that_of_its_value(margin, normalization, weighted):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=len(LABELS))
    options = {"margin": margin, "normalization": normalization, "preference_weight": 0.4}
    if weighted:
        options |= {"weight": rng.integers(0, 3, len(LABELS)) / 2.0, "labelled": rng.random(14) < 0.9}
    _, g, h = loops.qbrank(scores, LABELS, BOUNDARIES, **options)
    below, above = values_around(loops.qbrank, scores, options, 1e-6)
    np.testing.assert_allclose(g, (above - below) / 2e-6, rtol=1e-6, atol=1e-6)
    _, _, everywhere = loops.qbrank(scores, LABELS, BOUNDARIES, hessian="global", **options)
    assert (everywhere >= h).all()
    assert (everywhere > h).any()
