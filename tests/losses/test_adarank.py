"""AdaRank on trees: each query's factor is e^(-metric) over its mean, times the base loss."""

import math

import numpy as np
import pytest

import boostplug as bp

METRICS = [bp.NDCG(5), bp.MAP(), bp.MRR(), bp.Precision(3), bp.WTA(), bp.ERR(), bp.SpearmanRho()]
METRICS += [bp.RBP(), bp.Recall(3), bp.RPrecision(), bp.Bpref()]
BASES = [bp.NDCGBoost(), bp.MPBoost(), bp.QBRank(), bp.RankNet(), 0.7 * bp.NDCGBoost() + 0.3 * bp.SquaredError()]


@pytest.mark.parametrize(
    ("metric", "base"), [(metric, BASES[i % len(BASES)]) for i, metric in enumerate(METRICS)], ids=lambda one: one.name
)
def test_factors_multiply_the_base(base, metric):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 20)
    labels[-4:] = 0  # a query without a relevant document: most metrics are undefined on it
    scores, queries = rng.normal(size=20), bp.Queries(labels, group=[6, 1, 0, 9, 4])
    loss = bp.AdaRank(metric=metric, base=base)
    weights = [math.exp(-value) for value in metric.per_query(scores, queries)]
    mean = np.nanmean(weights)
    expected = np.array([1.0 if math.isnan(weight) else weight / mean for weight in weights])
    np.testing.assert_allclose(loss.factors(scores, queries), expected, rtol=1e-12)
    of_base = np.array(base.gradient_hessian(scores, queries))
    found = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(found, expected[queries.query_of_row] * of_base, rtol=1e-12)
    np.testing.assert_allclose(loss.value(scores, queries), expected * base.value(scores, queries), rtol=1e-12)
    assert loss.scale(queries) == base.scale(queries)


def test_rows_of_weight_0_are_not_there_for_the_metric_either():
    both = bp.Queries([0, 2, 1, 2, 0], group=[3, 2], weight=[0.0, 1.0, 1.0, 1.0, 1.0])
    rest = bp.Queries([2, 1, 2, 0], group=[2, 2])
    scores = np.array([9.0, 1.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(bp.AdaRank().factors(scores, both), bp.AdaRank().factors(scores[1:], rest))


def test_metrics_beyond_300_count_as_300():
    queries = bp.Queries([0, 4, 0, 4, 0, 1], group=[2, 2, 2])
    loss = bp.AdaRank(metric=bp.DCG(1, gain=lambda grade: 1e3 * 4.0**grade))
    scores = [0.0, 1.0, 0.0, 2.0, 1.0, 0.0]  # DCG of 256,000 twice, and of 1,000
    np.testing.assert_allclose(loss.factors(scores, queries), np.ones(3))
    gradient, hessian = loss.gradient_hessian(scores, queries)
    assert np.isfinite(gradient).all()
    assert (hessian[gradient != 0] > 0).all()


def test_a_metric_that_is_infinite_is_refused():
    class Infinite(bp.Metric):
        def compute_per_query(self, scores, queries):
            return np.array([0.0, np.inf])

    with pytest.raises(ValueError, match="is inf for query 1; use a metric that is finite, or NaN"):
        bp.AdaRank(metric=Infinite()).factors(np.zeros(4), bp.Queries([1, 0, 1, 0], group=[2, 2]))


def test_labels_are_those_that_the_base_takes():
    assert bp.AdaRank(base=bp.LogisticError(max_grade=4.0)).traits.labels == bp.LabelRange(0.0, 4.0)
    assert bp.AdaRank().traits.labels == bp.LabelRange(0.0)
