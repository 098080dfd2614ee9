"""MAP against scikit-learn, numbers worked by hand, and long lists."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import boostplug as bp
from boostplug.data.queries import Queries


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


def ap_by_loop(relevant, k):
    total = 0.0
    for rank in range(1, min(k, len(relevant)) + 1):
        if relevant[rank - 1]:
            total += sum(relevant[:rank]) / rank
    return total / sum(relevant)


@pytest.mark.parametrize("k", [1, 20, 64, 100, None])
def test_long_lists(k):
    rng = np.random.default_rng(9)
    queries = Queries(rng.random(3000) < 0.1, group=[3000])
    scores = np.round(rng.normal(size=3000), 1)
    order = np.argsort(-scores, kind="stable")
    expected = ap_by_loop(queries.labels[order].astype(int), k or 3000)
    assert bp.MAP(k, ties="order")(scores, queries) == pytest.approx(expected, rel=1e-12)
