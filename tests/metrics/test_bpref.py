"""Bpref against ir-measures (trec_eval), all orders of the ties, and numbers worked by hand."""

from itertools import permutations, product

import ir_measures
import numpy as np
import pytest
from ir_measures import Bpref, Qrel, ScoredDoc

import boostplug as bp
from boostplug.data.queries import Queries


def bpref_by_loop(grades, relevant=1):
    """From the best document down; None is not judged."""
    n_relevant = sum(grade is not None and grade >= relevant for grade in grades)
    n_other = sum(grade is not None and grade < relevant for grade in grades)
    above, total = 0, 0.0
    for grade in grades:
        if grade is None:
            continue
        if grade < relevant:
            above += 1
        else:
            total += 1 - (min(above, n_relevant) / min(n_other, n_relevant) if above else 0)
    return total / n_relevant


@pytest.mark.parametrize("judged", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("relevant", [1, 2, 3])
def test_against_ir_measures(relevant, judged):
    """Distinct scores; more relevant documents than others, and fewer."""
    rng = np.random.default_rng(7)
    group = rng.integers(1, 60, 40)
    n = group.sum()
    labelled = rng.random(n) < judged
    queries = Queries(rng.integers(0, 4, n), group=group, labelled=labelled)
    scores = rng.permutation(n)
    docs = [(f"q{q}", f"d{i}", i) for i, q in enumerate(queries.query_of_row)]
    qrels = [Qrel(q, d, int(queries.labels[i])) for q, d, i in docs if labelled[i]]
    run = [ScoredDoc(q, d, float(scores[i])) for q, d, i in docs]
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([Bpref(rel=relevant)], qrels, run)}
    values = bp.Bpref(relevant, empty=0).per_query(scores, queries)
    for q, value in enumerate(values):
        assert value == pytest.approx(expected.get(f"q{q}", 0.0), rel=1e-12)
    assert len(np.unique(values)) > 5


def test_by_hand():
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    queries = Queries([0, 1, 0, 2, 1], group=[5])
    assert bp.Bpref()(scores, queries) == pytest.approx((1 / 2 + 0 + 0) / 3, rel=1e-15)
    assert bp.Bpref(2)(scores, queries) == 0.0
    judged = Queries([0, 1, 0, 2, 1], group=[5], labelled=[False, True, True, True, True])
    assert bp.Bpref()(scores, judged) == pytest.approx((1 + 0 + 0) / 3, rel=1e-15)
    assert bp.MAP()(scores, judged) < 1 / 3 + 2 / 4  # which counts the first document as non-relevant
    none_wrong = Queries([0, 1, 0, 2, 1], group=[5], labelled=[False, True, False, True, True])
    assert bp.Bpref()(scores, none_wrong) == 1.0
    assert bp.Bpref()([1.0, 1.0], Queries([1, 0], group=[2])) == 0.5
    assert bp.Bpref(ties="order")([1.0, 1.0], Queries([1, 0], group=[2])) == 1.0
    assert bp.Bpref(ties="order")([1.0, 1.0], Queries([0, 1], group=[2])) == 0.0


def test_queries_without_relevant_documents():
    queries = Queries([1, 0, 0, 0, 2], group=[1, 2, 0, 2])
    nan = np.nan
    np.testing.assert_array_equal(bp.Bpref().per_query(np.zeros(5), queries), [1, nan, nan, 0.5])
    np.testing.assert_array_equal(bp.Bpref(empty=0).per_query(np.zeros(5), queries), [1, 0, nan, 0.5])
    unjudged = Queries([1, 2], group=[2], labelled=[False, False])
    assert np.isnan(bp.Bpref()([1.0, 2.0], unjudged))


GRADES = [
    (1, 0, 0, 0, 0, None),
    (0, 1, 1, 0, 1, 0),
    (1, 1, None, 0, 1, 1),
    (0, 0, 0, None, 2, 1),
    (1, 1, 1, 1, 1, None),
]


@pytest.mark.parametrize("grades", GRADES)
def test_ties_average_over_all_orders(grades):
    labelled = [grade is not None for grade in grades]
    queries = Queries([grade or 0 for grade in grades], group=[6], labelled=labelled)
    for scores in product([0, 1, 2], repeat=6):
        if scores != tuple(sorted(scores)) and sum(scores) % 3:  # some 300 of the 729
            continue
        orders = [o for o in permutations(range(6)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(5))]
        expected = np.mean([bpref_by_loop([grades[i] for i in o]) for o in orders])
        assert bp.Bpref()(scores, queries) == pytest.approx(expected, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_long_lists(share):
    rng = np.random.default_rng(9)
    labelled = rng.random(3000) < 0.5
    queries = Queries(rng.random(3000) < share, group=[3000], labelled=labelled)
    scores = np.round(rng.normal(size=3000), 1)
    order = np.argsort(-scores, kind="stable")
    expected = bpref_by_loop([int(queries.labels[i]) if labelled[i] else None for i in order])
    assert bp.Bpref(ties="order")(scores, queries) == pytest.approx(expected, rel=1e-12)
