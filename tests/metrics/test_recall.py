"""Recall and R-precision: numbers worked by hand, and long lists."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.data.queries import Queries


def recall_by_loop(relevant, k):
    return sum(relevant[:k]) / sum(relevant)


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


@pytest.mark.parametrize("k", [1, 20, 64, 100, 5000])
def test_long_lists(k):
    rng = np.random.default_rng(9)
    queries = Queries(rng.random(3000) < 0.1, group=[3000])
    scores = np.round(rng.normal(size=3000), 1)
    ranked = queries.labels[np.argsort(-scores, kind="stable")]
    assert bp.Recall(k, ties="order")(scores, queries) == recall_by_loop(ranked, k)
    assert bp.RPrecision(ties="order")(scores, queries) == recall_by_loop(ranked, int(ranked.sum()))
