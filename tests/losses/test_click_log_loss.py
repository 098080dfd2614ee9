"""ClickLogLoss: against plain loops, LogisticError and exact arithmetic; in sums, both frameworks and comparisons."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

import boostplug as bp
from boostplug.clicks import Propensity, propensity, simulate

THETA = (1.0, 0.7, 0.3, 0.05)
LOSS = bp.ClickLogLoss(propensity=THETA)


def pages(rng, group=(4, 1, 0, 3, 4), **options):
    n = sum(group)
    position = np.concatenate([rng.permutation(4)[:size] + 1 for size in group])
    return bp.Queries(rng.integers(0, 2, n), group=group, position=position, **options)


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
    gradient, hessian = LOSS.gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, scale * g, rtol=1e-12)
    np.testing.assert_allclose(hessian, scale * h, rtol=1e-12)


def test_where_all_is_seen_it_is_logistic_error():
    rng = np.random.default_rng(1)
    queries = pages(rng, weight=rng.random(12))
    seen = bp.ClickLogLoss(propensity=np.ones(4))
    for size in (0.0, 1.0, 30.0, 1e3, 1e100):
        scores = size * rng.choice([-1.0, -0.3, 0.2, 1.0], 12)
        np.testing.assert_allclose(
            seen.value(scores, queries), bp.LogisticError().value(scores, queries), rtol=1e-12, atol=1e-300
        )
        pairs = zip(seen.gradient_hessian(scores, queries), bp.LogisticError().gradient_hessian(scores, queries),
                    strict=True)  # fmt: skip
        for found, expected in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("theta", [1.0, 1.0 - 2.0**-40, 0.5, 1e-6])
@pytest.mark.parametrize("score", [-1e3, -40.0, -1.0, 0.0, 1.0, 20.0, 40.0, 1e3])
@pytest.mark.parametrize("clicked", [0, 1])
def test_extremes_keep_their_digits(theta, score, clicked):
    loss, queries = bp.ClickLogLoss(propensity=[theta]), bp.Queries([clicked], group=[1], position=[1])
    with localcontext() as context:
        context.prec = 1000
        sigma = 1 / (1 + Decimal(-score).exp())
        click = Decimal(theta) * sigma
        value = -(click if clicked else 1 - click).ln()
        odds = click / (1 - click)
        expected = [float(x) for x in (value, (1 - sigma) * (-1 if clicked else odds), odds * (1 - sigma) ** 2)]
    expected[2] = max(expected[2], 1e-16 * abs(expected[1]))
    found = [loss.value([score], queries)[0], *(x[0] for x in loss.gradient_hessian([score], queries))]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


def test_propensities_above_1_are_taken_for_1():
    found = propensity(
        bp.clicks.ClickLog([1, 1, 0, 1], group=[2, 2], position=[1, 2, 1, 2]), method="randomised", n_bootstrap=2
    )
    assert isinstance(found, Propensity)
    assert found.propensity[1] == 2.0
    assert bp.ClickLogLoss(propensity=found).propensity == (1.0, 1.0)
    with pytest.raises(ValueError, match=r"propensity\[0\] = 100 is above 1; pass propensities relative to position 1"):
        bp.ClickLogLoss(propensity=[100.0, 50.0])


def test_an_unlabelled_row_may_hold_a_grade():
    queries = bp.Queries([1, 3, 0], group=[3], position=[1, 2, 3], labelled=[True, False, True])
    gradient, hessian = LOSS.gradient_hessian(np.zeros(3), queries)
    assert gradient[1] == hessian[1] == 0.0


@pytest.fixture(scope="module")
def log():
    """Return a log of three kinds of documents, the best on top more often than not, and the θ of its positions."""
    data = bp.RankingData(np.tile(np.eye(3), (200, 1)), np.tile([0.0, 1.0, 2.0], 200), group=[3] * 200)
    shown = np.random.default_rng(3).normal(size=600) + data.y
    found = simulate(data, noise=0.1, ranker=shown, sessions=20_000, random_state=0)
    pages = bp.RankingData.from_clicks(data.X[found.document], found)
    attraction = 0.1 + 0.9 * (2.0 ** np.arange(3) - 1.0) / 3.0
    return pages, 1.0 / np.arange(1.0, 4.0), attraction


@pytest.mark.parametrize("kind", [bp.LGBMRanker, bp.XGBRanker])
def test_scores_are_logits_of_the_attractiveness(kind, log):
    pytest.importorskip("xgboost" if kind is bp.XGBRanker else "lightgbm")
    data, theta, attraction = log
    found = []
    for loss in (bp.ClickLogLoss(propensity=theta), bp.ClickLogLoss(propensity=np.ones(3))):
        ranker = kind(objective=loss, n_estimators=40, learning_rate=0.5, max_depth=2, n_jobs=1)
        ranker.fit(data.X, data.y, group=data.group, position=data.position)
        np.testing.assert_allclose(ranker.position_bias_["propensity"], loss.propensity)
        found.append(1.0 / (1.0 + np.exp(-ranker.predict(np.eye(3)))))
    np.testing.assert_allclose(found[0], attraction, atol=0.02)
    assert (found[1] < 0.9 * attraction).all()


def test_in_a_comparison(log):
    pytest.importorskip("lightgbm")
    pd = pytest.importorskip("pandas")
    data, theta, _ = log
    frame = pd.DataFrame(data.X, columns=list("abc")).assign(
        clicked=data.y, place=data.position, qid=np.repeat(np.arange(len(data.group)), data.group)
    )
    few = frame[frame["qid"] < 900]
    losses = {"clicks": bp.LogisticError(), "model": bp.ClickLogLoss(propensity=theta)}
    result = bp.compare(few, label="clicked", position="place", propensity=theta, losses=losses, baselines=[],
                        frameworks="lightgbm", rounds=3, seeds=1, progress=False)  # fmt: skip
    assert sorted(result.to_frame()["method"]) == ["clicks", "model"]
    with pytest.raises(ValueError, match="model learns from clicks at positions, and train has none"):
        bp.compare(few.drop(columns="place"), label="clicked", losses=losses, frameworks="lightgbm", progress=False)


def test_a_sum_is_checked_at_positions_that_have_propensities():
    bp.testing.check_loss(bp.ClickLogLoss(propensity=[1.0, 0.5]) + bp.SquaredError())
