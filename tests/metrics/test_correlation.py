"""SpearmanRho and KendallTau against SciPy, and numbers worked by hand."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

import boostplug as bp
from boostplug.data.queries import Queries


def reference(function, x, y):
    """Return SciPy's value, 0 where the scores alone are constant (SciPy: NaN)."""
    if np.ptp(y) == 0:
        return np.nan
    return 0.0 if np.ptp(x) == 0 else function(x, y).statistic


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize("grades", [2, 5, 1000])
def test_against_scipy(digits, grades):
    rng = np.random.default_rng(1)
    group = np.r_[2, 3, 700, rng.integers(2, 150, 25)]
    labels = rng.integers(0, grades, group.sum()) - 1.5
    scores = np.round(labels / grades + rng.normal(size=group.sum()), digits)
    queries = Queries(labels, group=group)
    rho, tau = (metric.per_query(scores, queries) for metric in (bp.SpearmanRho(), bp.KendallTau()))
    for q, (a, b) in enumerate(zip(queries.boundaries, queries.boundaries[1:], strict=False)):
        x, y = scores[a:b], labels[a:b]
        assert rho[q] == pytest.approx(reference(spearmanr, x, y), rel=1e-10, abs=1e-13, nan_ok=True)
        assert tau[q] == pytest.approx(reference(kendalltau, x, y), rel=1e-12, abs=1e-13, nan_ok=True)


def test_by_hand():
    queries = Queries([3, 2, 1, 0], group=[4])
    assert bp.KendallTau()([4, 3, 2, 1], queries) == bp.SpearmanRho()([4, 3, 2, 1], queries) == 1.0
    assert bp.KendallTau()([1, 2, 3, 4], queries) == bp.SpearmanRho()([1, 2, 3, 4], queries) == -1.0
    assert bp.KendallTau()([3, 4, 2, 1], queries) == pytest.approx(4 / 6, rel=1e-15)
    assert bp.SpearmanRho()([3, 4, 2, 1], queries) == pytest.approx(1 - 6 * 2 / (4 * 15), rel=1e-15)
    assert bp.KendallTau()([3, 3, 2, 1], queries) == pytest.approx(5 / np.sqrt(5 * 6), rel=1e-15)
    assert bp.KendallTau(ties="average")([3, 3, 2, 1], queries) == pytest.approx(5 / 6, rel=1e-15)
    assert bp.KendallTau(ties="order")([3, 3, 2, 1], queries) == 1.0
    infinite = [np.inf, np.inf, 0.0, -np.inf]
    assert bp.KendallTau()(infinite, queries) == bp.KendallTau()([3, 3, 2, 1], queries)


def test_a_long_list_takes_no_quadratic_time():
    rng = np.random.default_rng(4)
    labels, scores = rng.normal(size=200_000), rng.normal(size=200_000)
    queries = Queries(labels, group=[200_000])
    assert bp.KendallTau()(scores, queries) == pytest.approx(kendalltau(scores, labels).statistic, rel=1e-10)
    assert bp.SpearmanRho()(scores, queries) == pytest.approx(spearmanr(scores, labels).statistic, rel=1e-8)
