"""LambdaRank against plain double loops, LightGBM's own lambdas, and the metrics before and after swaps."""

import math

import loops
import numpy as np
import pytest

import boostplug as bp
from boostplug import testing
from boostplug.losses.lambda_rank import LambdaRank

LABELS = {
    "grades": lambda rng, n: rng.integers(0, 5, n),
    "real": lambda rng, n: 4.0 * rng.random(n),
    "few relevant": lambda rng, n: rng.choice(5, n, p=[0.8, 0.15, 0.03, 0.01, 0.01]),
}


def some(rng, group, labels="grades"):
    n = sum(group)
    weight, labelled = rng.integers(0, 4, n) / 2.0, rng.random(n) < 0.8
    return [
        bp.Queries(LABELS[labels](rng, n), group=group, **more)
        for more in ({}, {"weight": weight, "labelled": labelled})
    ]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("metric", [bp.NDCG(10), bp.MAP(100)])
def test_long_lists_equal_double_loops(metric, labels):
    rng = np.random.default_rng(2)
    for spread in (1e-3, 1.0, 1000.0):
        queries = some(rng, [260], labels)[spread == 1.0]
        loops.assert_equal(LambdaRank(metric=metric), spread * rng.normal(size=260), queries, accuracy=1e-8)


@pytest.mark.parametrize("metric", [bp.NDCG(10), bp.MAP()])
def test_long_lists_with_ties_across_halves_equal_double_loops(metric):
    rng = np.random.default_rng(3)
    scores = rng.permutation(np.r_[np.zeros(30), rng.normal(size=250)])
    loops.assert_equal(LambdaRank(metric=metric), scores, some(rng, [280])[0], accuracy=1e-8)


@pytest.mark.parametrize("in_order", [True, False])
def test_sums_of_long_lists_are_right_where_all_are_tiny_or_all_large(in_order):
    """Far apart, and all in the right order or the wrong one: e^-300 beside nothing, and no e^-x at all."""
    rng = np.random.default_rng(4)
    grades = np.sort(rng.integers(0, 5, 400))
    scores = (1.0 if in_order else -1.0) * 100.0 * grades + rng.random(400)
    loops.assert_equal(LambdaRank(), scores, bp.Queries(grades, group=[400]), accuracy=1e-8)


@pytest.mark.parametrize("n", [20, 400])
@pytest.mark.parametrize("truncation", [None, 3])
def test_nothing_is_lost_where_all_are_far_apart_in_the_right_order(truncation, n):
    """e^-1000 is 0, and no least power of e stands for it."""
    queries = bp.Queries(np.arange(n) % 4, group=[n])
    scores = 1000.0 * queries.labels
    loss = LambdaRank(truncation=truncation)
    assert loss.value(scores, queries) == [0.0]
    assert not any(output.any() for output in loss.gradient_hessian(scores, queries))


@pytest.mark.parametrize(
    "metric", [bp.NDCG(None), bp.NDCG(None, convention="letor", gain="linear"), bp.MAP(), bp.MAP(3), bp.MAP(5, 2)]
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
    "loss", [LambdaRank(metric=bp.NDCG(30), truncation=t, norm=n) for t in (3, 30) for n in (False, True)]
)
def test_properties_hold_with_a_truncation(loss):
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


@pytest.mark.parametrize("metric", [bp.NDCG(10), bp.MAP()])
def test_scale_is_that_of_the_weights_in_a_random_order(metric):
    """All scores equal and each pair weighs log 2: W = value / log 2, summed over the queries."""
    rng = np.random.default_rng(10)
    queries = some(rng, [7, 20])[1]
    loss = LambdaRank(metric=metric)
    numerator, denominator = loss.scale_terms(queries)
    assert denominator == pytest.approx([loss.value(np.zeros(27), queries).sum() / math.log(2.0)])
    assert numerator == [queries.grade_groups.n_judged.sum()]


def test_trains_on_a_list_longer_than_lightgbm_takes():
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(12)
    X = rng.normal(size=(20_000, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=20_000), [0.0, 1.0, 2.0])
    own = {"num_leaves": 7, "num_threads": 1, "verbose": -1, "learning_rate": 0.5}
    with pytest.raises(lgb.basic.LightGBMError, match="20000"):
        lgb.train({**own, "objective": "lambdarank"}, lgb.Dataset(X, y, group=[20_000]), 1)
    model = lgb.train({**own, "objective": LambdaRank()}, lgb.Dataset(X, y, group=[20_000]), 5)
    queries = bp.Queries(y, group=[20_000])
    assert bp.PairError()(model.predict(X), queries) < bp.PairError()(np.zeros(20_000), queries) - 0.1
