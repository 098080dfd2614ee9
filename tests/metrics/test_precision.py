"""Precision and WTA: numbers worked by hand, and long lists."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.data.queries import Queries


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


@pytest.mark.parametrize("k", [1, 20, 64, 100, 5000])
def test_long_lists(k):
    rng = np.random.default_rng(9)
    queries = Queries(rng.random(3000) < 0.1, group=[3000])
    scores = np.round(rng.normal(size=3000), 1)
    order = np.argsort(-scores, kind="stable")
    expected = queries.labels[order][:k].sum() / k
    assert bp.Precision(k, ties="order")(scores, queries) == pytest.approx(expected, rel=1e-15)
