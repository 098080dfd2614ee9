"""Precision and WTA against ir-measures, all orders of the ties, and numbers worked by hand."""

from itertools import permutations, product

import ir_measures
import numpy as np
import pytest
from ir_measures import P, Qrel, ScoredDoc

import boostplug as bp
from boostplug.data.queries import Queries


@pytest.mark.parametrize("k", [1, 5, 100])
@pytest.mark.parametrize("relevant", [1, 2])
def test_against_ir_measures(k, relevant):
    """Distinct scores, documents without judgement, lists shorter than k."""
    rng = np.random.default_rng(7)
    group = rng.integers(1, 60, 30)
    n = group.sum()
    labelled = rng.random(n) < 0.7
    queries = Queries(rng.integers(0, 4, n), group=group, labelled=labelled)
    scores = rng.permutation(n)
    docs = [(f"q{q}", f"d{i}", i) for i, q in enumerate(queries.query_of_row)]
    qrels = [Qrel(q, d, int(queries.labels[i])) for q, d, i in docs if labelled[i]]
    run = [ScoredDoc(q, d, float(scores[i])) for q, d, i in docs]
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([P(rel=relevant) @ k], qrels, run)}
    values = bp.Precision(k, relevant, empty=0).per_query(scores, queries)
    for q, value in enumerate(values):
        assert value == pytest.approx(expected.get(f"q{q}", 0.0), rel=1e-12)
    if k == 1:
        np.testing.assert_array_equal(bp.WTA(relevant, empty=0).per_query(scores, queries), values)


def test_by_hand():
    queries = Queries([1, 0, 2, 0, 1], group=[5])
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    assert bp.Precision(3)(scores, queries) == 2 / 3
    assert bp.Precision(3, relevant=2)(scores, queries) == 1 / 3
    assert bp.Precision()(scores, queries) == 3 / 10  # filled up to 10 documents
    assert bp.WTA()(scores, queries) == 1.0
    assert bp.WTA(relevant=2)(scores, queries) == 0.0
    assert bp.WTA()(np.zeros(5), queries) == 3 / 5
    assert bp.WTA(ties="order")(np.zeros(5), queries) == 1.0
    assert bp.WTA(ties="order")([0, 1, 1, 0, 0], queries) == 0.0
    assert bp.Precision(2, ties="order")(np.zeros(5), queries) == 1 / 2


def test_queries_without_relevant_documents():
    queries = Queries([1, 0, 0, 0, 2], group=[1, 2, 0, 2])
    nan = np.nan
    np.testing.assert_array_equal(bp.Precision(2).per_query(np.zeros(5), queries), [0.5, nan, nan, 0.5])
    np.testing.assert_array_equal(bp.Precision(2, empty=0).per_query(np.zeros(5), queries), [0.5, 0, nan, 0.5])
    np.testing.assert_array_equal(bp.WTA().per_query(np.zeros(5), queries), [1, nan, nan, 0.5])
    np.testing.assert_array_equal(bp.WTA(empty=1).per_query(np.zeros(5), queries), [1, 1, nan, 0.5])


@pytest.mark.parametrize("relevant", [(1, 0, 0, 0, 0), (0, 1, 1, 0, 1), (1, 1, 0, 1, 1), (1, 1, 1, 1, 1)])
def test_ties_average_over_all_orders(relevant):
    queries = Queries(relevant, group=[5])
    for k, scores in product([1, 2, 3, 4, 5, 7], [(0, 0, 0, 0, 0), (1, 0, 0, 0, 1), (0, 1, 1, 1, 0), (2, 2, 0, 1, 1)]):
        orders = [o for o in permutations(range(5)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(4))]
        expected = np.mean([sum(relevant[i] for i in o[:k]) / k for o in orders])
        assert bp.Precision(k)(scores, queries) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("k", [1, 20, 64, 100, 5000])
def test_long_lists(k):
    rng = np.random.default_rng(9)
    queries = Queries(rng.random(3000) < 0.1, group=[3000])
    scores = np.round(rng.normal(size=3000), 1)
    order = np.argsort(-scores, kind="stable")
    expected = queries.labels[order][:k].sum() / k
    assert bp.Precision(k, ties="order")(scores, queries) == pytest.approx(expected, rel=1e-15)
