"""Pairs of two grades, and queries by their number of pairs."""

import numpy as np
import pytest

from boostplug import Queries
from boostplug.datasets import make_ranking
from boostplug.metrics import PairError
from boostplug.replication.judging.groups import KindError

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
