"""MAP, Precision, Recall, R-precision, Bpref and RBP: numbers worked by hand, the paper's, and scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import boostplug as bp
from boostplug.data.queries import Queries

QUERIES, SCORES = Queries([1, 0, 2, 0, 1], group=[5]), [5.0, 4.0, 3.0, 2.0, 1.0]


def test_map_is_scikit_learns():
    rng = np.random.default_rng(8)
    labels, scores = rng.integers(0, 2, 500), rng.permutation(500)
    expected = average_precision_score(labels, scores)
    assert bp.MAP()(scores, Queries(labels, group=[500])) == pytest.approx(expected, rel=1e-12)


def test_map_by_hand():
    assert bp.MAP()(SCORES, QUERIES) == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3, rel=1e-15)
    assert bp.MAP(3)(SCORES, QUERIES) == pytest.approx((1 / 1 + 2 / 3) / 3, rel=1e-15)
    assert bp.MAP(relevant=2)(SCORES, QUERIES) == pytest.approx(1 / 3, rel=1e-15)
    assert bp.MAP(relevant=1.5)(SCORES, QUERIES) == pytest.approx(1 / 3, rel=1e-15)
    assert bp.MAP(relevant=0)(SCORES, QUERIES) == 1.0
    assert np.isnan(bp.MAP(relevant=3)(SCORES, QUERIES))
    assert bp.MAP(relevant=3, empty=0)(SCORES, QUERIES) == 0.0
    assert bp.MAP(relevant=3, empty=1)(SCORES, QUERIES) == 1.0
    tied = bp.MAP()([1.0, 1.0], Queries([1, 0], group=[2]))
    assert tied == pytest.approx((1 / 1 + 1 / 2) / 2, rel=1e-15)
    assert bp.MAP(ties="order")([1.0, 1.0], Queries([1, 0], group=[2])) == 1.0
    assert bp.MAP(ties="order")([1.0, 1.0], Queries([0, 1], group=[2])) == 0.5


def test_precision_by_hand():
    assert bp.Precision(3)(SCORES, QUERIES) == 2 / 3
    assert bp.Precision(3, relevant=2)(SCORES, QUERIES) == 1 / 3
    assert bp.Precision()(SCORES, QUERIES) == 3 / 10  # filled up to 10 documents
    assert bp.WTA()(SCORES, QUERIES) == 1.0
    assert bp.WTA(relevant=2)(SCORES, QUERIES) == 0.0
    assert bp.WTA()(np.zeros(5), QUERIES) == 3 / 5
    assert bp.WTA(ties="order")(np.zeros(5), QUERIES) == 1.0
    assert bp.WTA(ties="order")([0, 1, 1, 0, 0], QUERIES) == 0.0
    assert bp.Precision(2, ties="order")(np.zeros(5), QUERIES) == 1 / 2


def test_recall_by_hand():
    assert bp.Recall(3)(SCORES, QUERIES) == 2 / 3
    assert bp.Recall()(SCORES, QUERIES) == 1.0
    assert bp.Recall(3, relevant=2)(SCORES, QUERIES) == 1.0
    assert bp.Recall(2, relevant=2)(SCORES, QUERIES) == 0.0
    assert bp.RPrecision()(SCORES, QUERIES) == 2 / 3
    assert bp.RPrecision(2)(SCORES, QUERIES) == 0.0
    assert bp.RPrecision(2)(np.zeros(5), QUERIES) == 1 / 5
    assert bp.RPrecision(ties="order")(np.zeros(5), QUERIES) == 2 / 3
    assert bp.Recall(1, ties="order")(np.zeros(5), QUERIES) == 1 / 3


def test_bpref_by_hand():
    queries = Queries([0, 1, 0, 2, 1], group=[5])
    assert bp.Bpref()(SCORES, queries) == pytest.approx((1 / 2 + 0 + 0) / 3, rel=1e-15)
    assert bp.Bpref(2)(SCORES, queries) == 0.0
    judged = Queries([0, 1, 0, 2, 1], group=[5], labelled=[False, True, True, True, True])
    assert bp.Bpref()(SCORES, judged) == pytest.approx((1 + 0 + 0) / 3, rel=1e-15)
    assert bp.MAP()(SCORES, judged) < 1 / 3 + 2 / 4  # which counts the first document as non-relevant
    none_wrong = Queries([0, 1, 0, 2, 1], group=[5], labelled=[False, True, False, True, True])
    assert bp.Bpref()(SCORES, none_wrong) == 1.0
    assert bp.Bpref()([5.0, -np.inf, 3.0, 2.0, -np.inf], none_wrong) == pytest.approx(1 / 3, rel=1e-15)  # not retrieved
    assert bp.Bpref()([-np.inf, 2.0, 1.0], Queries([0, 1, 1], group=[3])) == 1.0
    assert bp.Bpref()([-np.inf, 2.0, -np.inf], Queries([0, 1, 1], group=[3])) == 0.5
    assert bp.Bpref()([1.0, 1.0], Queries([1, 0], group=[2])) == 0.5
    assert bp.Bpref(ties="order")([1.0, 1.0], Queries([1, 0], group=[2])) == 1.0
    assert bp.Bpref(ties="order")([1.0, 1.0], Queries([0, 1], group=[2])) == 0.0


def test_rbp_by_hand():
    assert bp.RBP(0.5)(SCORES, QUERIES) == 0.5 * (1 + 1 / 4 + 1 / 16)
    assert bp.RBP(0.5, relevant=2)(SCORES, QUERIES) == 0.5 / 4
    assert bp.RBP(0.5, max_grade=2)(SCORES, QUERIES) == 0.5 * (1 / 2 + 1 / 4 + 1 / 32)
    assert bp.RBP(0.5, max_grade=4)(SCORES, QUERIES) == 0.5 * (1 / 4 + 1 / 8 + 1 / 64)
    assert bp.RBP(0.5)([1.0, 1.0], Queries([1, 0], group=[2])) == 0.5 * (1 + 1 / 2) / 2
    assert bp.RBP(0.5, ties="order")([1.0, 1.0], Queries([0, 1], group=[2])) == 0.5 / 2


def test_rbp_of_the_paper():
    """Moffat & Zobel 2008: relevance 1 at all ranks adds up to 1, and at the first d to 1 - p^d."""
    for p in (0.5, 0.8, 0.95):
        value = bp.RBP(p)(-np.arange(20.0), Queries([1] * 8 + [0] * 12, group=[20]))
        assert value == pytest.approx(1 - p**8, rel=1e-14)
        assert bp.RBP(p)(np.zeros(2000), Queries(np.ones(2000), group=[2000])) == pytest.approx(1.0, rel=1e-12)


def test_rbp_of_grades_beyond_the_scale():
    with pytest.raises(ValueError, match=r"labels\[1\] = 3.0 is above max_grade=2; .*RBP\(max_grade=3\)"):
        bp.RBP(max_grade=2)([1.0, 2.0], Queries([1, 3], group=[2]))
    with pytest.raises(ValueError, match=r"labels\[0\] = -1.0 is negative"):
        bp.RBP(max_grade=2)([1.0, 2.0], Queries([-1, 2], group=[2]))
    unjudged = Queries([-1, 9, 1], group=[3], labelled=[False, False, True])
    assert bp.RBP(0.5, max_grade=2)([3.0, 2.0, 1.0], unjudged) == 0.5 * 0.5 / 4
