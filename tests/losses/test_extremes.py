"""The far ends of what is accepted: scores, weights, labels, distances and gains of any size, mixed in one data set."""

import warnings

import numpy as np
import pytest

import boostplug as bp
from boostplug.kernels.base.single_precision import positive_beside


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
            np.testing.assert_array_equal(found, expected)


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


def falling(grade):
    return 10.0 - grade


@pytest.mark.parametrize(
    ("loss", "labels", "message"),
    [
        (bp.NDCGBoost(), [-2, -1, 0], "is negative, and so is its gain"),
        (bp.LambdaRank(), [-2, -1, 0], "is negative, and so is its gain"),
        (bp.NDCGBoost(gain=np.negative), [0, 1, 2], "gain must return values from 0 to"),
        (bp.NDCGBoost(gain=falling), [0, 1, 2], "gain must not fall as the grade rises: it is 10.0 for grade 0.0 and "),
    ],
)
def test_labels_and_gains_that_a_loss_refuses(loss, labels, message):
    with pytest.raises(ValueError, match=message):
        loss.gradient_hessian(np.zeros(3), bp.Queries(labels, group=[3]))


@pytest.mark.parametrize("line_search", [True, False])
def test_labels_that_no_score_reaches_are_named(line_search):
    ranker = bp.QBRankRanker(n_estimators=2, line_search=line_search)
    with pytest.raises(ValueError, match=r"its minimum lies beyond scores of 1e99; .* rescale the labels"):
        ranker.fit([[0.0], [1.0], [2.0]], [0.0, 1e308, 1.0], group=[3])


@pytest.mark.parametrize("centred", [False, True])
def test_errors_of_any_size_are_finite(centred):
    loss, queries = bp.SquaredError(centred=centred), bp.Queries([1.0, -1.7e308, 1.7e308], group=[3])
    gradient, hessian = loss.gradient_hessian([-1e100, 1e100, 0.0], queries)
    assert loss.value([-1e100, 1e100, 0.0], queries) == 1e299
    assert np.isfinite(gradient).all()
    assert gradient[2] < 0 < gradient[1]
    assert (hessian == 1).all()


def test_a_hessian_is_never_0_beside_a_gradient():
    gradient, hessian = np.array([1e-310, 0.0, 1.0, -1e20]), np.array([0.0, 0.0, 1e-3, 0.0])
    positive_beside(gradient, hessian)
    np.testing.assert_array_equal(hessian, [np.finfo(float).tiny, 0.0, 1e-3, 1e4])
