"""The statistics of `compare` in a quick form of `studies.calibration`: a few hundred trials of each."""

import numpy as np
import pytest
from scipy import stats

from studies.calibration import Design, coverage, estimate, exchanged, null, pool

TRIALS = 200
SOME = Design(60, n_folds=3, n_seeds=2, weighted=True, n_shared=20)
OTHERS = Design(100, n_folds=2, n_seeds=2, weighted=True)


@pytest.fixture(scope="module")
def values():
    return pool(4_000, n_folds=3, n_seeds=2, rounds=5)


def is_likely(share, expected, trials):
    """Return whether a share of so many trials is within the limits that 99.9 % of experiments keep."""
    low, high = stats.binom.ppf([0.0005, 0.9995], trials, expected)
    return low <= round(share * trials) <= high


def test_p_under_exchange_is_calibrated(values):
    """With weights, several seeds, undefined queries, and queries that stand in several folds."""
    (found,) = null(values, [SOME], TRIALS)
    assert is_likely(found["p"], 0.05, TRIALS)
    assert is_likely(found["interval"], 0.05, TRIALS)
    rng = np.random.default_rng(0)
    folds = values.sample(SOME, rng)
    assert np.isnan(folds[0].ours).any()
    assert set(folds[0].ids) & set(folds[1].ids)
    assert estimate(exchanged(folds, rng)).difference != estimate(folds).difference


def test_intervals_hold_the_true_difference(values):
    """That of the same models on all queries."""
    true = values.difference(OTHERS)
    assert abs(true) > 0.005  # a real difference
    (found,) = coverage(values, [OTHERS], TRIALS)
    assert found["true_difference"] == true
    assert is_likely(found["coverage"], 0.95, TRIALS)
