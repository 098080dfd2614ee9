"""PairError: numbers by hand and of the papers, scikit-learn, long lists."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import boostplug as bp
from boostplug.data.queries import Queries


def test_pooled_pairs_have_their_querys_weight():
    queries = Queries([1, 0, 2, 1, 0, 5], group=[2, 3, 1], weight=[2.0, 5.0, 1.0])
    scores = [0.0, 1.0, 1.0, 2.0, 0.0, 0.0]  # 1 of 1, 1 of 3 misordered
    assert bp.PairError(pooled=True)(scores, queries) == pytest.approx((2 + 5) / (2 + 15), rel=1e-15)
    assert bp.PairError()(scores, queries) == pytest.approx((2 * 1 + 5 / 3) / 7, rel=1e-15)


def test_the_numbers_of_lemmas_1_and_2():
    """RankBoost+ paper: h1 of Lemma 1 has (n², 1, 2n) right, wrong and tied pairs; of Lemma 2 (20, 0, 5)n²."""
    n = 4
    queries = Queries(np.repeat([1, 0], n + 1), group=[2 * n + 2])
    scores = np.r_[np.ones(n), 0.0, np.zeros(n), 1.0]
    assert bp.PairError()(scores, queries) == pytest.approx((1 + 2 * n) / (n + 1) ** 2, rel=1e-15)
    assert bp.PairError("half")(scores, queries) == pytest.approx((1 + n) / (n + 1) ** 2, rel=1e-15)
    queries = Queries(np.repeat([1, 0], 5 * n), group=[10 * n])
    scores = np.r_[np.ones(4 * n), np.zeros(6 * n)]
    assert bp.PairError()(scores, queries) == pytest.approx(5 / 25, rel=1e-15)


def test_half_ties_are_auc():
    rng = np.random.default_rng(2)
    labels, scores = rng.integers(0, 2, 3000), rng.integers(0, 30, 3000)
    error = bp.PairError("half")(scores, Queries(labels, group=[3000]))
    assert error == pytest.approx(1 - roc_auc_score(labels, scores), rel=1e-12)


def test_pair_error_on_a_long_list():
    rng = np.random.default_rng(3)
    labels, scores = rng.normal(size=200_000), rng.normal(size=200_000)
    queries = Queries(labels, group=[200_000])
    assert bp.PairError()(scores, queries) == pytest.approx((1 - bp.KendallTau()(scores, queries)) / 2, rel=1e-12)
    assert bp.PairError()(labels, queries) == 0.0
    assert bp.PairError()(-labels, queries) == 1.0
