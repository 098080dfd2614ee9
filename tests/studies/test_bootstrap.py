"""BCa intervals of the studies against SciPy and plain loops."""

import inspect

import numpy as np
import pytest
from scipy import stats

from studies.bootstrap import bootstrap_interval


def skewed(n, seed):
    return np.random.default_rng(seed).exponential(size=n) ** 1.5 - 0.7


@pytest.mark.parametrize("n", [8, 35, 300])
def test_interval_is_scipys(n):
    d = skewed(n, n)
    seed = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"
    given = {"method": "BCa", "n_resamples": 20_000, seed: np.random.default_rng(0)}
    theirs = stats.bootstrap((d,), np.mean, **given).confidence_interval
    ours = bootstrap_interval(d, n_resamples=20_000, random_state=1)
    # Ends of two Monte-Carlo estimates: each within some hundredths of the mean's standard error.
    np.testing.assert_allclose(ours, theirs, atol=0.12 * d.std() / np.sqrt(n))
    low, high = ours
    assert high - d.mean() > 1.05 * (d.mean() - low)  # BCa's, where a normal interval is symmetric


def by_loops(d, weight, strata, resamples, seed):
    """Return the resampled means, and BCa's two constants, by plain loops."""
    rng = np.random.default_rng(seed)
    names = sorted(set(strata))
    groups = {name: [i for i in range(len(d)) if strata[i] == name] for name in names}
    total = sum(weight)
    means = [0.0] * resamples
    for name in names:
        group = groups[name]
        share = sum(weight[i] for i in group) / total
        drawn = rng.integers(0, len(group), size=(resamples, len(group)))
        for r in range(resamples):
            chosen = [group[j] for j in drawn[r]]
            means[r] += share * sum(weight[i] * d[i] for i in chosen) / sum(weight[i] for i in chosen)
    mean = sum(w * x for w, x in zip(weight, d, strict=True)) / total
    influences = []
    for group in groups.values():
        of_group = sum(weight[i] * d[i] for i in group) / sum(weight[i] for i in group)
        influences += [weight[i] * (d[i] - of_group) for i in group]
    bias = stats.norm.ppf(sum(m < mean for m in means) / resamples)
    acceleration = sum(u**3 for u in influences) / 6 / sum(u**2 for u in influences) ** 1.5
    return means, bias, acceleration


@pytest.mark.parametrize("weighted", [False, True])
def test_stratified_interval_is_that_of_plain_loops(weighted):
    rng = np.random.default_rng(2)
    d, strata = skewed(30, 3), np.repeat(["b", "a", "c"], [15, 10, 5])
    weight = rng.uniform(0.5, 2.0, 30) if weighted else np.ones(30)
    means, bias, acceleration = by_loops(d.tolist(), weight.tolist(), strata.tolist(), 500, 7)
    ends = []
    for tail in (0.05, 0.95):
        z = bias + stats.norm.ppf(tail)
        ends.append(np.quantile(means, stats.norm.cdf(bias + z / (1 - acceleration * z))))
    ours = bootstrap_interval(d, weight=weight, strata=strata, level=0.9, n_resamples=500, random_state=7)
    np.testing.assert_allclose(ours, ends, rtol=1e-9)


def test_intervals_of_nothing_that_varies():
    assert bootstrap_interval(np.zeros(9)) == (0.0, 0.0)
    np.testing.assert_allclose(bootstrap_interval([0.1] * 7), (0.1, 0.1), rtol=1e-12)
    for too_few in ([0.3], [np.nan, 0.3], []):
        assert np.isnan(bootstrap_interval(too_few)).all()
    assert np.isnan(bootstrap_interval([0.3, 0.5], strata=["a", "b"])).all()  # one of each: nor do they
    assert np.isfinite(bootstrap_interval([0.3, 0.5, 0.6], strata=["a", "b", "b"])).all()
    assert all(type(end) is float for end in bootstrap_interval(np.zeros(9)))
