"""The far ends of what is accepted: scores, weights, labels, distances and gains of any size, mixed in one data set."""

import warnings

import loops
import numpy as np
import pytest

import boostplug as bp
from boostplug.kernels.base.single_precision import positive_beside


def tiny(gap):
    return 1e-150 * gap


def falling(grade):
    return 10.0 - grade


def steep_gain(grade):
    return 1e3 * 4.0**grade


# Each size of the scores meets each distance; grades and real labels take turns.
@pytest.mark.parametrize(
    ("distance", "size", "labels"),
    [
        (distance, size, ("grades", "real")[(i + j) % 2])
        for i, distance in enumerate((bp.BinaryDistance(), bp.LinearDistance(alpha=50.0), bp.LogDistance(), np.sqrt))
        for j, size in enumerate((30.0, 1e13, 1e100))
    ],
)
def test_mpboost_at_wide_scores_equals_the_double_loop(distance, size, labels):
    rng = np.random.default_rng(0)
    group = [12, 40, 350] if labels == "grades" else [12, 40]
    n = sum(group)
    y = rng.integers(0, 4, n).astype(float) if labels == "grades" else rng.normal(size=n)
    scores = size * rng.choice([-1.0, 0.0, 0.7, 1.0], n) + (size < 1e50) * rng.normal(size=n)
    queries = bp.Queries(y, group=group, weight=rng.random(n) + 0.1)
    gradient, hessian = bp.MPBoost(distance=distance).gradient_hessian(scores, queries)
    assert (hessian[gradient != 0] > 0).all()
    assert np.isfinite(hessian.astype(np.float32)).all()
    loops.assert_equal(bp.MPBoost(distance=distance), scores, queries)


def test_mpboost_takes_weights_and_distances_of_any_unit():
    """Powers of two change nothing but the unit of the sums: bit-equal derivatives."""
    rng = np.random.default_rng(1)
    labels, scores, weight = rng.integers(0, 4, 30).astype(float), rng.normal(size=30), rng.random(30) + 0.1
    for distance in (bp.BinaryDistance(), bp.LogDistance(), np.sqrt):
        loss = bp.MPBoost(distance=distance)
        expected = loss.compute_gradient_hessian(scores, bp.Queries(labels, group=[20, 10], weight=weight), 1.0)
        for power in (-300, -40, 40):
            scaled = bp.Queries(labels, group=[20, 10], weight=np.ldexp(weight, power))
            found = loss.compute_gradient_hessian(scores, scaled, 2.0**-power)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)


def test_adarank_counts_metrics_beyond_300_as_300():
    queries = bp.Queries([0, 4, 0, 4, 0, 1], group=[2, 2, 2])
    loss = bp.AdaRank(metric=bp.DCG(1, gain=steep_gain))
    scores = [0.0, 1.0, 0.0, 2.0, 1.0, 0.0]  # DCG of 256,000 twice, and of 1,000
    np.testing.assert_allclose(loss.factors(scores, queries), np.ones(3))
    gradient, hessian = loss.gradient_hessian(scores, queries)
    assert np.isfinite(gradient).all()
    assert (hessian[gradient != 0] > 0).all()


def test_adarank_refuses_a_metric_that_is_infinite():
    class Infinite(bp.Metric):
        def compute_per_query(self, scores, queries):
            return np.array([0.0, np.inf])

    with pytest.raises(ValueError, match="is inf for query 1; use a metric that is finite, or NaN"):
        bp.AdaRank(metric=Infinite()).factors(np.zeros(4), bp.Queries([1, 0, 1, 0], group=[2, 2]))


@pytest.mark.parametrize("metric", [bp.NDCG(None, gain="linear"), bp.MeanNDCG(gain="linear")])
def test_the_unit_of_linear_gains_does_not_matter(metric):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 5, 40).astype(float), rng.normal(size=40)
    expected = metric.per_query(scores, bp.Queries(labels, group=[25, 15]))
    for unit in (2.0**-1074, 2.0**-1000, 2.0**600):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = metric.per_query(scores, bp.Queries(labels * unit, group=[25, 15]))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("loss", [bp.QBRank(), bp.CRR(), bp.MPBoost(), bp.RankNet(), bp.SquaredError()])
def test_labels_below_0_are_labels_like_others(loss):
    gradient, _ = loss.gradient_hessian(np.zeros(4), bp.Queries([-2, -1, -1, 0], group=[4]))
    assert gradient[0] > 0.0
    assert gradient[0] > gradient[1] > gradient[3]


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (bp.NDCGBoost(), "is negative, and so is its gain"),
        (bp.LambdaRank(), "is negative, and so is its gain"),
        (bp.ListNet(target="labels"), r"is below 0; ListNet\(target='labels'\) takes shares"),
        (bp.NDCGBoost(gain=np.negative), "gain must return values from 0 to"),
        (bp.NDCGBoost(gain=falling), "gain must not fall as the grade rises: it is 10.0 for grade 0.0 and 9.0 for"),
    ],
)
def test_labels_and_gains_that_a_loss_refuses(loss, message):
    labels = [0, 1, 1, 2] if "gain=" in message or "must" in message else [-2, -1, -1, 0]
    with pytest.raises(ValueError, match=message):
        loss.gradient_hessian(np.zeros(4), bp.Queries(labels, group=[4]))


@pytest.mark.parametrize(
    "ranker", [bp.QBRankRanker(n_estimators=2), bp.QBRankRanker(n_estimators=2, line_search=False)]
)
def test_labels_that_no_score_reaches_are_named(ranker):
    with pytest.raises(ValueError, match=r"its minimum lies beyond scores of 1e99; .* rescale the labels"):
        ranker.fit([[0.0], [1.0], [2.0]], [0.0, 1e308, 1.0], group=[3])


def test_a_hessian_is_never_0_beside_a_gradient():
    gradient, hessian = np.array([1e-310, 0.0, 1.0, -1e20]), np.array([0.0, 0.0, 1e-3, 0.0])
    positive_beside(gradient, hessian)
    np.testing.assert_array_equal(hessian, [np.finfo(float).tiny, 0.0, 1e-3, 1e4])
