"""QBRank's measure of Table 1: numbers by hand, and against a walk down the sorted pairs."""

import numpy as np
import pytest

from boostplug import Queries
from studies.replication.training.precision_at_percent import PrecisionAtPercent


def precision_by_loop(gaps, weights, p):
    """Walk down the sorted pairs until p% of the weight is used up; equal gaps count in equal parts."""
    gaps, weights = np.array(gaps, float), np.array(weights, float)
    if not weights.sum() > 0:
        return np.nan
    weights = weights / weights.max()
    wanted = left = p / 100 * weights.sum()
    good = 0.0
    for size in sorted(set(np.abs(gaps)), reverse=True):
        here = np.abs(gaps) == size
        total, right = weights[here].sum(), weights[here & (gaps >= 0)].sum()
        part = min(1.0, left / total) if total > 0 else 0.0
        good += part * right
        left -= part * total
        if left <= 1e-9 * wanted:
            break
    return good / wanted


@pytest.mark.parametrize("p", [10, 33.3, 100])
def test_it_is_the_walk_down_the_sorted_pairs(p):
    rng = np.random.default_rng(0)
    for _ in range(20):
        group = rng.integers(1, 9, 4)
        y, scores, weight = rng.integers(0, 3, group.sum()), rng.integers(0, 4, group.sum()), rng.random(4)
        queries = Queries(y, group=group, weight=weight)
        lists = np.split(np.arange(len(y)), queries.boundaries[1:-1])
        gaps = [[scores[i] - scores[j] for i in rows for j in rows if y[i] > y[j]] for rows in lists]
        metric = PrecisionAtPercent(p)
        alone = [precision_by_loop(of_query, np.ones(len(of_query)), p) for of_query in gaps]
        np.testing.assert_allclose(metric.per_query(scores, queries), alone, rtol=1e-12)
        together = precision_by_loop(np.concatenate(gaps), np.repeat(weight, [len(of_query) for of_query in gaps]), p)
        assert metric(scores, queries) == pytest.approx(together, rel=1e-12, nan_ok=True)
    assert np.isnan(metric([1.0, 2.0], Queries([1, 1], group=[2])))
