"""MAP against ir-measures, all orders of the ties, and numbers worked by hand."""

from itertools import permutations, product

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, Qrel, ScoredDoc
from sklearn.metrics import average_precision_score

import boostplug as bp
from boostplug.data.queries import Queries


@pytest.mark.parametrize("k", [None, 1, 5, 100])
@pytest.mark.parametrize("relevant", [1, 2])
def test_against_ir_measures(k, relevant):
    """Distinct scores, documents without judgement; the cut-off divides by all relevant documents."""
    rng = np.random.default_rng(7)
    group = rng.integers(1, 60, 30)
    n = group.sum()
    labelled = rng.random(n) < 0.7
    queries = Queries(rng.integers(0, 4, n), group=group, labelled=labelled)
    scores = rng.permutation(n)
    docs = [(f"q{q}", f"d{i}", i) for i, q in enumerate(queries.query_of_row)]
    qrels = [Qrel(q, d, int(queries.labels[i])) for q, d, i in docs if labelled[i]]
    run = [ScoredDoc(q, d, float(scores[i])) for q, d, i in docs]
    measure = AP(rel=relevant) if k is None else AP(rel=relevant) @ k
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
    values = bp.MAP(k, relevant, empty=0).per_query(scores, queries)
    for q, value in enumerate(values):
        assert value == pytest.approx(expected.get(f"q{q}", 0.0), rel=1e-12)


def test_against_scikit_learn():
    rng = np.random.default_rng(8)
    labels, scores = rng.integers(0, 2, 500), rng.permutation(500)
    expected = average_precision_score(labels, scores)
    assert bp.MAP()(scores, Queries(labels, group=[500])) == pytest.approx(expected, rel=1e-12)


def test_by_hand():
    queries = Queries([1, 0, 2, 0, 1], group=[5])
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    assert bp.MAP()(scores, queries) == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3, rel=1e-15)
    assert bp.MAP(3)(scores, queries) == pytest.approx((1 / 1 + 2 / 3) / 3, rel=1e-15)
    assert bp.MAP(relevant=2)(scores, queries) == pytest.approx(1 / 3, rel=1e-15)
    assert bp.MAP(relevant=1.5)(scores, queries) == pytest.approx(1 / 3, rel=1e-15)
    assert bp.MAP(relevant=0)(scores, queries) == 1.0
    assert np.isnan(bp.MAP(relevant=3)(scores, queries))
    assert bp.MAP(relevant=3, empty=0)(scores, queries) == 0.0
    assert bp.MAP(relevant=3, empty=1)(scores, queries) == 1.0
    tied = bp.MAP()([1.0, 1.0], Queries([1, 0], group=[2]))
    assert tied == pytest.approx((1 / 1 + 1 / 2) / 2, rel=1e-15)
    assert bp.MAP(ties="order")([1.0, 1.0], Queries([1, 0], group=[2])) == 1.0
    assert bp.MAP(ties="order")([1.0, 1.0], Queries([0, 1], group=[2])) == 0.5


def test_queries_without_relevant_documents():
    queries = Queries([1, 0, 0, 0, 2], group=[1, 2, 0, 2])
    nan = np.nan
    np.testing.assert_array_equal(bp.MAP().per_query(np.zeros(5), queries), [1, nan, nan, 0.75])
    np.testing.assert_array_equal(bp.MAP(empty="skip").per_query(np.zeros(5), queries), [1, nan, nan, 0.75])
    np.testing.assert_array_equal(bp.MAP(empty=0).per_query(np.zeros(5), queries), [1, 0, nan, 0.75])
    np.testing.assert_array_equal(bp.MAP(empty=1).per_query(np.zeros(5), queries), [1, 1, nan, 0.75])
    assert bp.MAP()(np.zeros(5), queries) == 1.75 / 2


def ap_by_loop(relevant, k):
    total = 0.0
    for rank in range(1, min(k, len(relevant)) + 1):
        if relevant[rank - 1]:
            total += sum(relevant[:rank]) / rank
    return total / sum(relevant)


@pytest.mark.parametrize("relevant", [(1, 0, 0, 0, 0), (0, 1, 1, 0, 1), (1, 1, 0, 1, 1), (1, 1, 1, 1, 1)])
def test_ties_average_over_all_orders(relevant):
    queries = Queries(relevant, group=[5])
    for k, scores in product([1, 2, 3, 4, 5], [(0, 0, 0, 0, 0), (1, 0, 0, 0, 1), (0, 1, 1, 1, 0), (2, 2, 0, 1, 1)]):
        orders = [o for o in permutations(range(5)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(4))]
        expected = np.mean([ap_by_loop([relevant[i] for i in o], k) for o in orders])
        assert bp.MAP(k)(scores, queries) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("k", [1, 20, 64, 100, None])
def test_long_lists(k):
    rng = np.random.default_rng(9)
    queries = Queries(rng.random(3000) < 0.1, group=[3000])
    scores = np.round(rng.normal(size=3000), 1)
    order = np.argsort(-scores, kind="stable")
    expected = ap_by_loop(queries.labels[order].astype(int), k or 3000)
    assert bp.MAP(k, ties="order")(scores, queries) == pytest.approx(expected, rel=1e-12)
