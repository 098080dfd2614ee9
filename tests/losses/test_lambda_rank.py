"""LambdaRank against the metrics before and after swaps, and its truncation; `test_double_loops` has its loop."""

import math

import numpy as np
import pytest

import boostplug as bp
from boostplug import LambdaRank


@pytest.mark.parametrize(
    "metric",
    [bp.NDCG(None), bp.NDCG(None, convention="letor", gain="linear"), bp.MAP(), bp.MAP(3), bp.MAP(5, 2),
     bp.MAP(2, divisor="reachable"), bp.MRR(), bp.MRR(3), bp.MRR(relevant=3)],
)  # fmt: skip
def test_weights_are_what_the_metric_loses_by_a_swap(metric):
    """With two documents of different grades at a time weighing anything, the value is |Δ| log(1 + e^-d)."""
    rng = np.random.default_rng(7)
    labels, scores = rng.integers(0, 4, 9), rng.permutation(9) / 2.0
    queries = bp.Queries(labels, group=[9])
    here = metric.per_query(scores, queries)[0]
    total = 0.0
    for i, j in np.argwhere(labels[:, None] > labels):
        swapped = scores.copy()
        swapped[[i, j]] = scores[[j, i]]
        lost = abs(here - metric.per_query(swapped, queries)[0])
        total += lost * math.log1p(math.exp(scores[j] - scores[i]))
    assert LambdaRank(metric=metric).value(scores, queries) == pytest.approx([total])


def test_a_truncation_ranks_ties_in_row_order_and_losses_of_losses_say_so():
    cut, zeros = LambdaRank(truncation=1), np.zeros(3)
    first, last = (cut.gradient_hessian(zeros, bp.Queries(labels, group=[3]))[0] for labels in ([1, 0, 0], [0, 0, 1]))
    assert not np.array_equal(first, last[::-1])
    assert not LambdaRank().traits.ties_in_row_order
    for loss in (cut, cut.on("sale"), 2 * cut + bp.RankNet(), bp.Unbiased(base=cut), bp.AdaRank(base=cut)):
        assert loss.traits.ties_in_row_order, loss
    in_order = bp.NDCG(5, ties="order")
    for metric in (in_order, in_order.on("sale")):
        assert bp.AdaRank(metric=metric).traits.ties_in_row_order


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
