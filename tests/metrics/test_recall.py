"""Recall and R-precision against ir-measures, all orders of the ties, and numbers worked by hand."""

from itertools import permutations, product

import ir_measures
import numpy as np
import pytest
from ir_measures import Qrel, R, Rprec, ScoredDoc

import boostplug as bp
from boostplug.data.queries import Queries


def recall_by_loop(relevant, k):
    return sum(relevant[:k]) / sum(relevant)


@pytest.mark.parametrize("relevant", [1, 2])
@pytest.mark.parametrize("k", [1, 5, 100, None])
def test_against_ir_measures(k, relevant):
    """Distinct scores, documents without judgement, lists shorter than k; None is R-precision."""
    rng = np.random.default_rng(7)
    group = rng.integers(1, 60, 30)
    n = group.sum()
    labelled = rng.random(n) < 0.7
    queries = Queries(rng.integers(0, 4, n), group=group, labelled=labelled)
    scores = rng.permutation(n)
    docs = [(f"q{q}", f"d{i}", i) for i, q in enumerate(queries.query_of_row)]
    qrels = [Qrel(q, d, int(queries.labels[i])) for q, d, i in docs if labelled[i]]
    run = [ScoredDoc(q, d, float(scores[i])) for q, d, i in docs]
    measure = Rprec(rel=relevant) if k is None else R(rel=relevant) @ k
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
    metric = bp.RPrecision(relevant, empty=0) if k is None else bp.Recall(k, relevant, empty=0)
    values = metric.per_query(scores, queries)
    for q, value in enumerate(values):
        assert value == pytest.approx(expected.get(f"q{q}", 0.0), rel=1e-12)
    assert values.max() > values.min()


def test_by_hand():
    queries = Queries([1, 0, 2, 0, 1], group=[5])
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    assert bp.Recall(3)(scores, queries) == 2 / 3
    assert bp.Recall()(scores, queries) == 1.0
    assert bp.Recall(3, relevant=2)(scores, queries) == 1.0
    assert bp.Recall(2, relevant=2)(scores, queries) == 0.0
    assert bp.RPrecision()(scores, queries) == 2 / 3
    assert bp.RPrecision(2)(scores, queries) == 0.0
    assert bp.RPrecision(2)(np.zeros(5), queries) == 1 / 5
    assert bp.RPrecision(ties="order")(np.zeros(5), queries) == 2 / 3
    assert bp.Recall(1, ties="order")(np.zeros(5), queries) == 1 / 3


def test_queries_without_relevant_documents():
    queries = Queries([1, 0, 0, 0, 2], group=[1, 2, 0, 2])
    nan = np.nan
    for metric in (bp.Recall, bp.RPrecision):
        first = {"k": 1} if metric is bp.Recall else {}
        np.testing.assert_array_equal(metric(**first).per_query(np.zeros(5), queries), [1, nan, nan, 0.5])
        np.testing.assert_array_equal(metric(**first, empty=0).per_query(np.zeros(5), queries), [1, 0, nan, 0.5])
        np.testing.assert_array_equal(metric(**first, empty=1).per_query(np.zeros(5), queries), [1, 1, nan, 0.5])


@pytest.mark.parametrize("relevant", [(1, 0, 0, 0, 0), (0, 1, 1, 0, 1), (1, 1, 0, 1, 1), (1, 1, 1, 1, 1)])
def test_ties_average_over_all_orders(relevant):
    queries = Queries(relevant, group=[5])
    for k, scores in product([1, 2, 3, 4, 5, 7], [(0, 0, 0, 0, 0), (1, 0, 0, 0, 1), (0, 1, 1, 1, 0), (2, 2, 0, 1, 1)]):
        orders = [o for o in permutations(range(5)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(4))]
        ranked = [[relevant[i] for i in o] for o in orders]
        expected = np.mean([recall_by_loop(one, k) for one in ranked])
        assert bp.Recall(k)(scores, queries) == pytest.approx(expected, rel=1e-13)
        expected = np.mean([recall_by_loop(one, sum(relevant)) for one in ranked])
        assert bp.RPrecision()(scores, queries) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("k", [1, 20, 64, 100, 5000])
def test_long_lists(k):
    rng = np.random.default_rng(9)
    queries = Queries(rng.random(3000) < 0.1, group=[3000])
    scores = np.round(rng.normal(size=3000), 1)
    ranked = queries.labels[np.argsort(-scores, kind="stable")]
    assert bp.Recall(k, ties="order")(scores, queries) == recall_by_loop(ranked, k)
    assert bp.RPrecision(ties="order")(scores, queries) == recall_by_loop(ranked, int(ranked.sum()))
