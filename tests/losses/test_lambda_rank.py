"""LambdaRank against the metrics before and after swaps, and its truncation; `test_double_loops` has its loop."""

import math

import numpy as np
import pytest

import boostplug as bp
from boostplug import testing
from boostplug.losses.lambda_rank import LambdaRank


@pytest.mark.parametrize("truncation", [None, 3])
def test_nothing_is_lost_where_all_are_far_apart_in_the_right_order(truncation):
    """e^-1000 is 0, and no least power of e stands for it."""
    queries = bp.Queries(np.arange(20) % 4, group=[20])
    scores = 1000.0 * queries.labels
    loss = LambdaRank(truncation=truncation)
    assert loss.value(scores, queries) == [0.0]
    assert not any(output.any() for output in loss.gradient_hessian(scores, queries))


@pytest.mark.parametrize(
    "metric",
    [
        bp.NDCG(None),
        bp.NDCG(None, convention="letor", gain="linear"),
        *(bp.MAP(), bp.MAP(3), bp.MAP(5, 2)),
        *(bp.MRR(), bp.MRR(3), bp.MRR(relevant=3)),
    ],
)
def test_weights_are_what_the_metric_loses_by_a_swap(metric):
    """With two documents of different grades at a time weighing anything, the value is |Δ| log(1 + e^-d)."""
    rng = np.random.default_rng(7)
    labels, scores = rng.integers(0, 4, 9), rng.permutation(9) / 2.0
    queries = bp.Queries(labels, group=[9])
    here = metric.per_query(scores, queries)[0]
    total = 0.0
    for i in range(9):
        for j in range(9):
            if labels[i] > labels[j]:
                swapped = scores.copy()
                swapped[[i, j]] = scores[[j, i]]
                lost = abs(here - metric.per_query(swapped, queries)[0])
                total += lost * math.log1p(math.exp(scores[j] - scores[i]))
    assert LambdaRank(metric=metric).value(scores, queries) == pytest.approx([total])


@pytest.mark.parametrize(
    "loss",
    [
        *(LambdaRank(metric=bp.NDCG(30), truncation=t, norm=n) for t in (3, None) for n in (False, True)),
        *(LambdaRank(metric=bp.MRR(5), truncation=t) for t in (3, None)),
    ],
)
def test_properties_hold_with_a_truncation_a_norm_and_mrr(loss):
    testing.check_loss(loss)


def test_a_truncation_ranks_ties_in_row_order_and_losses_of_losses_say_so():
    cut, zeros = LambdaRank(truncation=1), np.zeros(3)
    first, last = (cut.gradient_hessian(zeros, bp.Queries(labels, group=[3]))[0] for labels in ([1, 0, 0], [0, 0, 1]))
    assert not np.array_equal(first, last[::-1])
    assert not LambdaRank().ties_in_row_order
    for loss in (cut, cut.on("sale"), 2 * cut + bp.RankNet(), bp.Unbiased(base=cut), bp.AdaRank(base=cut)):
        assert loss.ties_in_row_order, loss
    in_order = bp.NDCG(5, ties="order")
    for metric in (in_order, in_order.on("sale")):
        assert bp.AdaRank(metric=metric).ties_in_row_order


@pytest.mark.parametrize(
    "loss", [bp.Unbiased(base=LambdaRank(truncation=5)), bp.AdaRank(metric=bp.NDCG(5, ties="order"))]
)
def test_losses_of_losses_keep_the_properties_with_ties_in_row_order(loss):
    testing.check_loss(loss)


def test_ties_and_the_scale_of_mrr_are_those_of_a_random_order_with_one_relevant_document():
    queries = bp.Queries([0, 1, 0, 0], group=[4])
    pairs = [[abs(1 / a - 1 / b) for b in range(1, 5) if b != a] for a in range(1, 5)]
    loss, expected = LambdaRank(metric=bp.MRR()), np.mean(pairs)  # of a pair
    np.testing.assert_allclose(loss.value(np.zeros(4), queries), 3 * expected * math.log(2.0))
    np.testing.assert_allclose(loss.scale_terms(queries), [[4.0], [3 * expected]])


@pytest.mark.parametrize("metric", [bp.NDCG(10), bp.MAP()])
def test_scale_is_that_of_the_weights_in_a_random_order(metric):
    """All scores equal and each pair weighs log 2: W = value / log 2, summed over the queries."""
    rng = np.random.default_rng(10)
    weight, labelled = rng.integers(0, 4, 27) / 2.0, rng.random(27) < 0.8
    queries = bp.Queries(rng.integers(0, 5, 27), group=[7, 20], weight=weight, labelled=labelled)
    loss = LambdaRank(metric=metric)
    numerator, denominator = loss.scale_terms(queries)
    assert denominator == pytest.approx([loss.value(np.zeros(27), queries).sum() / math.log(2.0)])
    assert numerator == [queries.grade_groups.n_judged.sum()]


def test_trains_on_a_list_longer_than_lightgbm_takes():
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(12)
    X = rng.normal(size=(10_001, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=10_001), [0.0, 1.0, 2.0])
    own = {"num_leaves": 7, "num_threads": 1, "verbose": -1, "learning_rate": 0.5}
    with pytest.raises(lgb.basic.LightGBMError, match="10001"):
        lgb.train({**own, "objective": "lambdarank"}, lgb.Dataset(X, y, group=[10_001]), 1)
    model = lgb.train({**own, "objective": LambdaRank(truncation=100)}, lgb.Dataset(X, y, group=[10_001]), 5)
    queries = bp.Queries(y, group=[10_001])
    assert bp.PairError()(model.predict(X), queries) < bp.PairError()(np.zeros(10_001), queries) - 0.1
