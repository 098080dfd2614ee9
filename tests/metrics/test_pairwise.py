"""PairError and PrecisionAtPercent against double loops, scikit-learn, and the papers' numbers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.plain import precision_by_loop
from sklearn.metrics import roc_auc_score

import boostplug as bp
from boostplug.data.queries import Queries


def preferences(scores, queries):
    """Yield (query, F_i - F_j) for every pair in which i has the higher grade."""
    for q, (a, b) in enumerate(zip(queries.boundaries, queries.boundaries[1:], strict=False)):
        for i, j in combinations(range(a, b), 2):
            if queries.labels[i] > queries.labels[j]:
                yield q, scores[i] - scores[j]
            elif queries.labels[i] < queries.labels[j]:
                yield q, scores[j] - scores[i]


DATA = st.tuples(
    st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(0, 10_000), st.sampled_from([2, 5, 100])
)


def drawn(sizes, seed, levels):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    weight = rng.integers(0, 3, len(sizes)).astype(float)
    scores = rng.integers(0, levels, n) / 4
    return scores, Queries(rng.integers(0, 4, n), group=sizes), weight


def test_pooled_pairs_have_their_querys_weight():
    queries = Queries([1, 0, 2, 1, 0, 5], group=[2, 3, 1], weight=[2.0, 5.0, 1.0])
    scores = [0.0, 1.0, 1.0, 2.0, 0.0, 0.0]  # 1 of 1, 1 of 3 misordered
    assert bp.PairError(pooled=True)(scores, queries) == pytest.approx((2 + 5) / (2 + 15), rel=1e-15)
    assert bp.PairError()(scores, queries) == pytest.approx((2 * 1 + 5 / 3) / 7, rel=1e-15)


@pytest.mark.parametrize("n", [3, 4, 10])
def test_the_numbers_of_lemmas_1_and_2(n):
    """RankBoost+ paper: h1 of Lemma 1 has (n², 1, 2n) right, wrong and tied pairs; of Lemma 2 (20, 0, 5)n²."""
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


PERCENT = st.sampled_from([0.5, 5, 10, 25, 33.3, 50, 75, 99.9, 100])


@settings(max_examples=150, deadline=None)
@given(DATA, PERCENT)
def test_precision_at_percent_against_a_sorted_list(data, p):
    scores, queries, weight = drawn(*data)
    pairs = list(preferences(scores, queries))
    values = bp.PrecisionAtPercent(p).per_query(scores, queries)
    for q, value in enumerate(values):
        gaps = [gap for at, gap in pairs if at == q]
        assert value == pytest.approx(precision_by_loop(gaps, np.ones(len(gaps)), p), rel=1e-12, nan_ok=True)
    weighted = Queries(queries.labels, group=data[0], weight=np.repeat(weight, data[0]))
    for held, factors in ((queries, np.ones(len(weight))), (weighted, weight)):
        expected = precision_by_loop([gap for _, gap in pairs], [factors[q] for q, _ in pairs], p)
        assert bp.PrecisionAtPercent(p)(scores, held) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_precision_at_percent_by_hand():
    queries = Queries([2, 1, 0, 1, 0], group=[3, 2])
    scores = [3.0, 0.5, 1.0, 0.0, 9.0]  # gaps 9 wrong, 2.5 right, 2 right, .5 wrong
    metric = bp.PrecisionAtPercent
    assert [metric(p)(scores, queries) for p in (25, 50, 75, 100)] == pytest.approx([0, 1 / 2, 2 / 3, 1 / 2])
    assert metric(60)(scores, queries) == pytest.approx((1 + 0.4) / 2.4, rel=1e-15)  # 2.4 pairs
    np.testing.assert_allclose(metric(100).per_query(scores, queries), [2 / 3, 0], rtol=1e-15)
    assert metric(1)([0.0] * 5, queries) == metric()([0.0] * 5, queries) == 1.0  # a tie contradicts nothing
    equal = [1.0, 0.0, 1.0, 0.0, 0.0]  # one gap of 1 right, one wrong, two ties
    assert metric(25)(equal, queries) == 1 / 2
    assert metric(75)(equal, queries) == pytest.approx((1 + 1) / 3, rel=1e-15)


def test_no_pairs():
    queries = Queries([1, 1, 0], group=[2, 1])
    for metric in (bp.PairError(), bp.PairError(pooled=True), bp.PrecisionAtPercent(10), bp.PrecisionAtPercent()):
        assert np.isnan(metric.per_query([1, 2, 3], queries)).all()
        assert np.isnan(metric([1, 2, 3], queries))
