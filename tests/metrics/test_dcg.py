"""NDCG, DCG and MeanNDCG against scikit-learn, and numbers worked by hand."""

from math import log2

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

import boostplug as bp
from boostplug.data.queries import Queries


def halved(r):
    return r / 2


def random_data(seed, *, ties, n_queries=40, longest=150):
    rng = np.random.default_rng(seed)
    group = rng.integers(1, longest, n_queries)
    labels = rng.integers(0, 5, group.sum()) * (rng.random(group.sum()) < 0.3)
    scores = rng.integers(0, 8, len(labels)) if ties else rng.permutation(len(labels))
    return scores.astype(float), Queries(labels, group=group)


@pytest.mark.parametrize("k", [1, 3, 10, 70, 1000, None])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("gain", ["exp2", "linear", halved])
def test_against_scikit_learn(k, ties, gain):
    scores, queries = random_data(1, ties=ties)
    gains = {"exp2": lambda r: 2.0**r - 1, "linear": lambda r: r}.get(gain, gain)
    values = bp.NDCG(k, gain=gain, empty=0).per_query(scores, queries)
    for q, (a, b) in enumerate(zip(queries.boundaries, queries.boundaries[1:], strict=False)):
        if b - a > 1:  # scikit-learn refuses single documents
            expected = ndcg_score([gains(queries.labels[a:b])], [scores[a:b]], k=k)
            assert values[q] == pytest.approx(expected, rel=1e-12)


def test_the_conventions_by_hand():
    queries = Queries([0, 1, 2, 0, 1], group=[5])
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    dcg = 1 / log2(3) + 3 / log2(4) + 1 / log2(6)
    ideal = 3 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert bp.NDCG()(scores, queries) == pytest.approx(dcg / ideal, rel=1e-15)
    letor = (1 + 3 / log2(3) + 1 / log2(5)) / (3 + 1 + 1 / log2(3))  # ranks 1 and 2 are not discounted
    assert bp.NDCG(5, convention="letor")(scores, queries) == pytest.approx(letor, rel=1e-15)
    assert bp.NDCG(None, convention="letor")(scores, queries) == pytest.approx(letor, rel=1e-15)
    assert bp.NDCG(2, convention="letor")(scores, queries) == pytest.approx(1 / 4, rel=1e-15)
    assert bp.NDCG(2, convention="letor", gain="linear")(scores, queries) == pytest.approx(1 / 3, rel=1e-15)
    assert bp.NDCG(6, convention="letor")(scores, queries) == 0.0  # fewer than k rows
    assert bp.NDCG(6)(scores, queries) == pytest.approx(dcg / ideal, rel=1e-15)


def test_grades_that_overflow_are_refused():
    queries = Queries([0, 2000], group=[2])
    with pytest.raises(ValueError, match=r'labels\[1\] = 2000\.0 is too large.*gain="linear"'):
        bp.NDCG()([1, 2], queries)
    assert bp.NDCG(gain="linear")([1, 2], queries) == 1.0
    with pytest.raises(ValueError, match=r"labels\[0\] = 1e\+305 is too large.*scale the grades"):
        bp.NDCG(gain="linear")([1, 2], Queries([1e305, 0], group=[2]))
    largest = Queries([657] * 1000, group=[1000])
    assert bp.NDCG(None)(np.zeros(1000), largest) == pytest.approx(1.0, rel=1e-14)


def test_dcg_by_hand():
    queries = Queries([0, 1, 2, 0, 1, 0], group=[5, 1])
    scores = [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]
    standard, letor = 1 / log2(3) + 3 / log2(4) + 1 / log2(6), 1 + 3 / log2(3) + 1 / log2(5)
    np.testing.assert_allclose(bp.DCG().per_query(scores, queries), [standard, 0], rtol=1e-15)
    np.testing.assert_allclose(bp.DCG(convention="letor").per_query(scores, queries), [letor, 0], rtol=1e-15)
    assert bp.DCG(2)(scores, queries) == pytest.approx(1 / log2(3) / 2, rel=1e-15)
    tied = bp.DCG(1)(np.zeros(6), queries)
    assert tied == pytest.approx(5 / 5 / 2, rel=1e-15)


def test_mean_ndcg_by_hand():
    """LETOR 4.0's rules: NDCG at 1, 2, 3 of the grades 0, 1, 2 in this order; an empty query counts 0."""
    queries = Queries([0, 1, 2, 0, 0], group=[3, 2])
    scores = [3.0, 2.0, 1.0, 2.0, 1.0]
    expected = (0 / 3 + 1 / (3 + 1) + (1 + 3 / log2(3)) / (3 + 1)) / 3
    np.testing.assert_allclose(bp.MeanNDCG().per_query(scores, queries), [expected, 0], rtol=1e-15)
    assert bp.MeanNDCG()(scores, queries) == pytest.approx(expected / 2, rel=1e-15)
    assert bp.MeanNDCG(empty="skip")(scores, queries) == pytest.approx(expected, rel=1e-15)
    assert bp.MeanNDCG(empty=1)(scores, queries) == pytest.approx((1 + expected) / 2, rel=1e-15)
    assert np.isnan(bp.MeanNDCG(convention="standard").per_query(scores, queries)[1])
