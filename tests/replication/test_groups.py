"""Pairs of two grades, and queries by their number of pairs."""

from types import SimpleNamespace

import numpy as np
import pytest

from boostplug import Queries
from boostplug.datasets import make_ranking
from boostplug.metrics import PairError
from boostplug.replication.judging.groups import KindError, mean_rows, queries_by_pairs

QUERIES = Queries([2, 1, 0, 0, 2, 1, 1, 0], group=[4, 3, 1])
SCORES = [3.0, 4.0, 3.0, 1.0, 0.0, 0.0, 5.0, 9.0]


@pytest.mark.parametrize(
    ("high", "low", "shares", "together"),
    [
        (2, 0, [0.25, np.nan, np.nan], 0.25),  # one of two pairs is tied
        (2, 1, [1.0, 0.75, np.nan], 2.5 / 3),
        (1, 0, [0.0, np.nan, np.nan], 0.0),
    ],
)
def test_errors_on_pairs_of_two_grades(high, low, shares, together):
    one = KindError(ties="half", high=high, low=low)
    np.testing.assert_allclose(one.per_query(SCORES, QUERIES), shares)
    assert one(SCORES, QUERIES) == pytest.approx(np.nanmean(shares))
    assert KindError(ties="half", pooled=True, high=high, low=low)(SCORES, QUERIES) == pytest.approx(together)


def test_kinds_of_pairs_make_up_all_pairs():
    data = make_ranking(6, n_features=2, mean_list_size=20, missing=0.0, random_state=0)
    scores, grades = np.round(data.X[:, 0], 1), np.unique(data.y)
    kinds = [KindError(pooled=True, high=a, low=b) for a in grades for b in grades if a > b]
    sums = np.sum([kind.sum_and_count(scores, data.queries) for kind in kinds], axis=0)
    np.testing.assert_allclose(sums, PairError(pooled=True).sum_and_count(scores, data.queries))


def test_queries_are_counted_by_their_pairs():
    """Queries of the first split's training part: of 40 x 30, 40 x 20, 10 x 10 and no pairs."""
    sizes = [(40, 30), (40, 20), (10, 10), (5, 0)]
    y = np.concatenate([[1] * a + [0] * b for a, b in sizes])
    train = SimpleNamespace(queries=Queries(y, group=[a + b for a, b in sizes]))
    loaded = SimpleNamespace(splits=[SimpleNamespace(train=train), SimpleNamespace(train=None)])
    counted = queries_by_pairs(SimpleNamespace(loaded=loaded), last=1)
    assert counted == (["0-1k", "1k+"], {"queries": [3.0, 1.0]})


def test_rows_are_test_means_of_each_learner_or_averaged():
    means = {("x", "m"): 1.0, ("y", "m"): 3.0, ("x", "n"): 5.0, ("y", "n"): 7.0}
    results = SimpleNamespace(learners=["x", "y"], mean=lambda learner, key: means[learner, key])
    measures = {"1": "m", "2": "n"}
    assert mean_rows(results, measures=measures) == (["1", "2"], {"x": [1.0, 5.0], "y": [3.0, 7.0]})
    averaged = {"a": (("x", "y"), ("m", "n")), "z": (("y",), ("n", "m"))}
    assert mean_rows(results, measures=measures, averaged=averaged) == (["1", "2"], {"a": [2.0, 6.0], "z": [7.0, 3.0]})
