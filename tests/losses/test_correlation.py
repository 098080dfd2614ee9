"""Correlation beside scipy's, its bound, and trainings from constant scores."""

import numpy as np
import pytest
from scipy import stats

import boostplug as bp


def test_it_is_one_minus_pearson_where_scores_are_wide():
    rng = np.random.default_rng(0)
    labels, scores = rng.normal(size=40), 1e4 * rng.normal(size=40)
    value = bp.Correlation().value(scores, bp.Queries(labels, group=[25, 15]))
    expected = [n * (1.0 - stats.pearsonr(scores[a], labels[a])[0]) for n, a in ((25, slice(25)), (15, slice(25, 40)))]
    np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_the_gradient_of_constant_scores_is_minus_the_standardised_labels():
    labels = np.array([3.0, 1.0, 1.0, 7.0, -2.0])
    gradient, _ = bp.Correlation(epsilon=0.5).gradient_hessian(np.full(5, 4.0), bp.Queries(labels, group=[5]))
    np.testing.assert_allclose(gradient, -stats.zscore(labels) / 0.5)


def test_a_query_of_equal_labels_takes_no_part():
    queries, scores = bp.Queries([2, 2, 0.1, 0.1, 0.1, 1, 0], group=[2, 3, 2]), np.arange(7.0)
    gradient, hessian = bp.Correlation().gradient_hessian(scores, queries)
    assert not gradient[:5].any()
    assert not hessian[:5].any()
    assert gradient[5:].all()
    np.testing.assert_array_equal(bp.Correlation().value(scores, queries)[:2], 0.0)


def test_the_bound_is_reached():
    """The largest curvature over directions of scores, by the full matrix of second differences."""
    n, epsilon, closest = 6, 0.3, 0.0
    rng = np.random.default_rng(1)
    loss = bp.Correlation(epsilon=epsilon)
    for _ in range(200):
        labels, scores = rng.normal(size=n), rng.exponential() * rng.normal(size=n)
        queries = bp.Queries(labels, group=[n])
        step = 1e-5
        ends = [
            [loss.gradient_hessian(scores + side * e, queries)[0] for e in step * np.eye(n)] for side in (1.0, -1.0)
        ]
        second = np.subtract(*ends) / (2.0 * step)
        largest = np.linalg.eigvalsh(0.5 * (second + second.T))[-1]
        bound = loss.gradient_hessian(scores, queries)[1][0]
        assert largest <= bound * (1.0 + 1e-6)
        closest = max(closest, largest / bound)
    assert closest > 0.9


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_it_learns_from_constant_scores(framework):
    pytest.importorskip(framework)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(4000, 5))
    level = np.repeat(10.0 * rng.normal(size=20), 200)  # of a day, which says nothing of the order within it
    labels = level + features[:, 0] - 0.5 * features[:, 1] + rng.normal(size=4000)
    kind = {"lightgbm": bp.LGBMRanker, "xgboost": bp.XGBRanker}[framework]
    ranker = kind(objective=bp.Correlation(), n_estimators=40, learning_rate=0.1, random_state=0)
    ranker.fit(features[:3000], labels[:3000], group=[200] * 15)
    predicted = ranker.predict(features[3000:])
    found = [stats.pearsonr(predicted[k : k + 200], labels[3000 + k : 3200 + k])[0] for k in range(0, 1000, 200)]
    assert np.mean(found) > 0.6  # the noise leaves .75 to the best
