"""Paired randomisation test over queries, and Holm's correction over methods."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.checks import check_integer

__all__ = ["holm", "randomisation_test"]

Floats = NDArray[np.float64]

_BLOCK = 1 << 22  # signs in memory at once
_ROUNDING = 1e-12  # relative: values, and sums of differences, that are this close are equal but for rounding


def randomisation_test(
    a: ArrayLike, b: ArrayLike, *, weight: ArrayLike | None = None, flips: int = 20_000, random_state: int = 0
) -> float:
    r"""Return the two-sided p-value of :math:`\sum_q v_q (a_q - b_q)` under exchange of a and b within queries.

    If two rankers are alike, swapping their values in any query is as likely as not. All :math:`2^n` sign patterns of
    the n differences that are not 0 are counted where they number at most `flips`; else `flips` random ones, and the
    observed one among them, :math:`(1 + \#\{|S| \ge |S_{obs}|\}) / (1 + \text{flips})`, so that p is never 0.

    Parameters
    ----------
    a, b : array-like of shape (n_queries,)
        Values of two rankers; NaN where the metric is undefined on a query, for both alike: such queries are left out.
    weight : array-like of shape (n_queries,), optional
        v, ≥ 0. Default: all 1.
    flips : int, default 20000
        Random sign patterns; at least 1.
    random_state : int, default 0
        Equal calls return equal values.

    Returns
    -------
    float
        1 where no query differs; NaN where no query is defined.

    Raises
    ------
    ValueError
        If shapes differ, or a query is undefined for one of the two alone.

    Examples
    --------
    >>> randomisation_test([0.9, 0.8, 0.7], [0.5, 0.6, 0.6])  # 2 of 8 patterns reach it: all +, all -
    0.25
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    v = np.ones_like(x) if weight is None else np.asarray(weight, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or x.shape != v.shape:
        raise ValueError(f"a, b and weight must hold one value per query, got shapes {x.shape}, {y.shape}, {v.shape}")
    flips = check_integer("flips", flips, 1)
    undefined = np.isnan(x)
    alone = undefined != np.isnan(y)
    if alone.any():
        raise ValueError(f"query {int(np.argmax(alone))} is undefined for one of the two alone; compare equal queries")
    if undefined.all():
        return float("nan")
    differences = np.where(np.abs(x - y) <= _ROUNDING * np.maximum(np.abs(x), np.abs(y)), 0.0, (x - y) * v)[~undefined]
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    observed = abs(differences.sum()) * (1.0 - _ROUNDING)
    n = len(differences)
    if n < 62 and 2**n <= flips:
        patterns = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return float((np.abs((2.0 * patterns - 1.0) @ differences) >= observed).mean())
    rng = np.random.default_rng(random_state)
    reached, done, at_once = 0, 0, max(1, _BLOCK // n)
    while done < flips:
        count = min(at_once, flips - done)
        bits = np.unpackbits(np.frombuffer(rng.bytes((count * n + 7) // 8), np.uint8), count=count * n)
        signs = 2.0 * bits.reshape(count, n) - 1.0
        reached += int((np.abs(signs @ differences) >= observed).sum())
        done += count
    return (1 + reached) / (1 + flips)


def holm(p: ArrayLike) -> Floats:
    """Return p-values adjusted for their number by Holm's step-down method; NaN stays NaN and does not count.

    Parameters
    ----------
    p : array-like of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)
        The i-th smallest of m is max over j ≤ i of (m - j + 1) p_(j), at most 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    out = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    factor = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(factor * values[order]), 1.0)
    return out
