"""ClickLogLoss: against plain loops, LogisticError and exact arithmetic, and in both frameworks."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

import boostplug as bp
from boostplug.clicks import Propensity, propensity, simulate

THETA = (1.0, 0.7, 0.3, 0.05)
LOSS = bp.ClickLogLoss(propensity=THETA)


def pages(rng, **options):
    position = np.concatenate([rng.permutation(4)[:size] + 1 for size in (4, 1, 0, 3, 4)])
    return bp.Queries(rng.integers(0, 2, 12), group=[4, 1, 0, 3, 4], position=position, **options)


def test_equals_the_plain_loop():
    rng = np.random.default_rng(0)
    queries = pages(rng, weight=rng.integers(0, 4, 12) / 2.0, labelled=rng.random(12) < 0.8)
    scores = 3.0 * rng.normal(size=12)
    value, g, h = np.zeros(5), np.zeros(12), np.zeros(12)
    for i in np.flatnonzero(queries.labelled):
        c, v, theta = queries.labels[i], queries.row_weight[i], THETA[queries.position[i] - 1]
        sigma = 1.0 / (1.0 + math.exp(-scores[i]))
        click = theta * sigma
        value[queries.query_of_row[i]] -= v * (c * math.log(click) + (1 - c) * math.log(1 - click))
        g[i] = v * (1 - sigma) * (-c + (1 - c) * click / (1 - click))
        h[i] = v * click * (1 - sigma) ** 2 / (1 - click)
    np.testing.assert_allclose(LOSS.value(scores, queries), value, rtol=1e-12)
    scale = np.count_nonzero(queries.judged) / queries.row_weight[queries.labelled].sum()
    np.testing.assert_allclose(LOSS.gradient_hessian(scores, queries), (scale * g, scale * h), rtol=1e-12)


def test_where_all_is_seen_it_is_logistic_error():
    rng = np.random.default_rng(1)
    queries = pages(rng, weight=rng.random(12))
    seen, logistic = bp.ClickLogLoss(propensity=np.ones(4)), bp.LogisticError()
    for size in (0.0, 1.0, 30.0, 1e3, 1e100):
        scores = size * rng.choice([-1.0, -0.3, 0.2, 1.0], 12)
        for method in ("value", "gradient_hessian"):
            found, expected = (getattr(loss, method)(scores, queries) for loss in (seen, logistic))
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("theta", [1.0, 1.0 - 2.0**-40, 0.5, 1e-6])
@pytest.mark.parametrize("score", [-1e3, -40.0, -1.0, 0.0, 1.0, 20.0, 40.0, 1e3])
@pytest.mark.parametrize("clicked", [0, 1])
def test_extremes_keep_their_digits(theta, score, clicked):
    loss, queries = bp.ClickLogLoss(propensity=[theta]), bp.Queries([clicked], group=[1], position=[1])
    with localcontext(prec=1000):
        sigma = 1 / (1 + Decimal(-score).exp())
        click = Decimal(theta) * sigma
        value = -(click if clicked else 1 - click).ln()
        odds = click / (1 - click)
        expected = [float(x) for x in (value, (1 - sigma) * (-1 if clicked else odds), odds * (1 - sigma) ** 2)]
    expected[2] = max(expected[2], 1e-16 * abs(expected[1]))
    found = [loss.value([score], queries)[0], *(x[0] for x in loss.gradient_hessian([score], queries))]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


def test_estimated_propensities_above_1_are_taken_for_1():
    log = bp.clicks.ClickLog([1, 1, 0, 1], group=[2, 2], position=[1, 2, 1, 2])
    found = propensity(log, method="randomised", n_bootstrap=2)
    assert isinstance(found, Propensity)
    assert found.propensity[1] == 2.0
    assert bp.ClickLogLoss(propensity=found).propensity == (1.0, 1.0)


@pytest.mark.parametrize("kind", [bp.LGBMRanker, bp.XGBRanker])
def test_scores_are_logits_of_the_attractiveness(kind):
    """In a log of three kinds of documents, the best on top more often than not."""
    pytest.importorskip("xgboost" if kind is bp.XGBRanker else "lightgbm")
    data = bp.RankingData(np.tile(np.eye(3), (200, 1)), np.tile([0.0, 1.0, 2.0], 200), group=[3] * 200)
    shown = np.random.default_rng(3).normal(size=600) + data.y
    log = simulate(data, noise=0.1, ranker=shown, sessions=20_000, random_state=0)
    clicks = bp.RankingData.from_clicks(data.X[log.document], log)
    attraction, found = 0.1 + 0.9 * (2.0 ** np.arange(3) - 1.0) / 3.0, []
    for loss in (bp.ClickLogLoss(propensity=1.0 / np.arange(1.0, 4.0)), bp.ClickLogLoss(propensity=np.ones(3))):
        ranker = kind(objective=loss, n_estimators=40, learning_rate=0.5, max_depth=2, n_jobs=1)
        ranker.fit(clicks.X, clicks.y, group=clicks.group, position=clicks.position)
        np.testing.assert_allclose(ranker.position_bias_["propensity"], loss.propensity)
        found.append(1.0 / (1.0 + np.exp(-ranker.predict(np.eye(3)))))
    np.testing.assert_allclose(found[0], attraction, atol=0.02)
    assert (found[1] < 0.9 * attraction).all()
