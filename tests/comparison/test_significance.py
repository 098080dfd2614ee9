"""Tests and intervals against enumeration, plain loops and SciPy; Holm against numbers worked by hand."""

import inspect
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boostplug.comparison.significance import holm, pooled_test, randomisation_test, standard_error, t_interval


def by_enumeration(d):
    sums = np.array([abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=len(d))])
    return (sums >= abs(d.sum()) - 1e-12).mean()


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_exact_equals_enumeration(n):
    a, b = np.random.default_rng(n).random((2, n))
    assert randomisation_test(a, b) == by_enumeration(a - b)


def test_random_flips_agree_with_scipy():
    rng = np.random.default_rng(5)
    b = rng.random(80)
    a = b + rng.normal(0.04, 0.2, 80)
    seed = "rng" if "rng" in inspect.signature(stats.permutation_test).parameters else "random_state"
    given = {"permutation_type": "samples", "vectorized": True, "n_resamples": 20_000, seed: np.random.default_rng(0)}
    theirs = stats.permutation_test((a, b), lambda x, y, axis: (x - y).mean(axis), **given)
    # Two Monte-Carlo estimates of 20,000 flips: standard error of the difference below .005.
    assert randomisation_test(a, b) == pytest.approx(theirs.pvalue, abs=0.015)
    assert 0.02 < theirs.pvalue < 0.98


def test_equal_rankers_have_p_1_and_p_is_never_0():
    values = np.linspace(0, 1, 50)
    assert randomisation_test(values, values) == 1.0
    assert randomisation_test(values + 1, values, flips=999) == 1 / 1000


def test_symmetric_repeatable_and_scale_free():
    a, b = np.random.default_rng(1).random((2, 40))
    p = randomisation_test(a, b)
    assert randomisation_test(b, a) == randomisation_test(a, b) == randomisation_test(1e-6 * a, 1e-6 * b) == p
    assert randomisation_test(a, b, random_state=1) != p


def test_weights_multiply_the_differences_and_undefined_queries_are_left_out():
    a, b, v = np.random.default_rng(2).random((3, 9))
    assert randomisation_test(a, b, weight=v) == by_enumeration(v * (a - b))
    assert randomisation_test(np.r_[a, np.nan], np.r_[b, np.nan]) == randomisation_test(a, b)
    assert np.isnan(randomisation_test([np.nan], [np.nan]))
    with pytest.raises(ValueError, match="query 9 is undefined for only one of the two"):
        randomisation_test(np.r_[a, np.nan], np.r_[b, 0.5])
    nan = [0.1, np.nan, 0.3]  # whose weight does not matter
    assert t_interval(nan, weight=[1, np.nan, 1]) == t_interval([0.1, 0.3])
    assert randomisation_test(nan, nan, weight=[1, np.inf, 1]) == 1.0


TESTS = [  # each with its value and weight of query 1
    lambda x, w: randomisation_test([0.1, x, 0.3], [0.2, 0.1, 0.1], weight=[1, w, 1]),
    lambda x, w: randomisation_test([0.2, 0.1, 0.1], [0.1, x, 0.3], weight=[1, w, 1]),
    lambda x, w: pooled_test([[0.1, x, 0.3]], [[0.2, 0.1, 0.1]], weight=[[1, w, 1]]),
    lambda x, w: standard_error([0.1, x, 0.3], weight=[1, w, 1]),
    lambda x, w: t_interval([0.1, x, 0.3], weight=[1, w, 1]),
]


@pytest.mark.parametrize(
    "test", TESTS, ids=["randomisation_test", "of b", "pooled_test", "standard_error", "t_interval"]
)
@pytest.mark.parametrize(
    ("value", "weight", "message"),
    [
        *((x, 1.0, rf"(a|b|differences)\[1\] = {x} is infinite; NaN stands for undefined") for x in (np.inf, -np.inf)),
        *((0.5, w, r"weight\[1\] = .* is not a number from 0 to 1e\+100") for w in (np.nan, np.inf, -1.0, 1e101)),
    ],
)
def test_infinite_values_and_invalid_weights_are_refused(test, value, weight, message):
    with pytest.raises(ValueError, match=message):
        test(value, weight)


@pytest.mark.parametrize(
    "call",
    [
        randomisation_test,
        lambda a, b: pooled_test([a], [b]),
        lambda a, b: randomisation_test(a, a.to_numpy()[::-1], weight=b),
        lambda a, b: standard_error(a, weight=b),
        lambda a, b: t_interval(a, strata=b),
    ],
)
def test_series_by_query_in_different_orders_are_refused(call):
    a = pd.Series([0.1, 0.4, 0.3], index=["q1", "q2", "q3"])
    with pytest.raises(ValueError, match="the same index in different orders"):
        call(a, a[::-1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: t_interval([0.1, 0.2], level=95), "level must be a finite number above 0 and below 1; got 95"),
        (lambda: pooled_test([[0.1, 0.2]], [[0.2, 0.4]], level=1), "level must be .* below 1; got 1"),
        (lambda: standard_error([0.1, 0.2], strata=[0.0, np.nan]), r"strata\[1\] = nan is missing"),
        (lambda: holm([0.1, np.inf]), r"p\[1\] = inf is not between 0 and 1"),
        (lambda: holm([0.1, -0.1]), r"p\[1\] = -0.1 is not between 0 and 1"),
        (lambda: randomisation_test(np.ma.array([0.1, 0.2], mask=[0, 1]), [0.1, 0.1]), "a has 1 masked values"),
    ],
)
def test_other_arguments_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [3 * 0.01, 2 * 0.03, 2 * 0.03, 4 * 0.005]),
        ([0.02, 0.02, 0.02], [3 * 0.02] * 3),
        ([0.5, 0.9], [2 * 0.5, 2 * 0.5]),
        ([0.03, np.nan, 0.01], [0.03, np.nan, 2 * 0.01]),
        ([], []),
    ],
)
def test_holm(p, adjusted):
    np.testing.assert_allclose(holm(p), adjusted, rtol=1e-15)


# --- Several sets ----------------------------------------------------------------------------------------------------


SETS = [np.random.default_rng(11 + n).random((2, n)) for n in (3, 6, 2)]
A, B = ([pair[k] for pair in SETS] for k in (0, 1))
D = np.concatenate([a - b for a, b in SETS])


def test_pooled_over_queries_is_one_set():
    found = pooled_test(A, B)
    assert found.difference == pytest.approx(D.mean(), rel=1e-12)
    assert found.z == pytest.approx(D.sum() / np.sqrt((D**2).sum()), rel=1e-12)
    assert found.p == randomisation_test(np.concatenate(A), np.concatenate(B)) == by_enumeration(D)
    np.testing.assert_allclose(found.interval, t_interval(D, strata=np.repeat([0, 1, 2], [3, 6, 2]))[1:], rtol=1e-9)
    assert found.n_queries == 11


def test_pooled_over_sets_weighs_each_the_same():
    found = pooled_test(A, B, counts="sets")
    assert found.difference == pytest.approx(np.mean([np.mean(a - b) for a, b in SETS]), rel=1e-12)
    d = np.concatenate([(a - b) / len(a) for a, b in SETS])
    assert found.p == by_enumeration(d) != pooled_test(A, B).p
    # The standard deviation of the sum over all patterns of signs, which is what z counts in.
    sums = [np.dot(signs, d) for signs in product((-1, 1), repeat=len(d))]
    assert found.z == pytest.approx(d.sum() / np.std(sums), rel=1e-9)
    low, high = found.interval
    assert low < found.difference < high


def test_pooled_leaves_out_undefined_queries_and_empty_sets():
    nan = np.array([np.nan])
    for counts in ("queries", "sets"):
        more = ([np.r_[first, nan], *others, nan] for first, *others in (A, B))
        assert pooled_test(*more, counts=counts) == pooled_test(A, B, counts=counts)
    nothing = pooled_test([nan], [nan])
    assert np.isnan([nothing.difference, nothing.z, nothing.p, *nothing.interval]).all()
    assert nothing.n_queries == 0


def test_pooled_weights_are_of_queries_within_their_set():
    weight = [np.linspace(1, 2, len(a)) for a in A]
    means = [np.average(a - b, weights=w) for (a, b), w in zip(SETS, weight, strict=True)]
    assert pooled_test(A, B, weight=weight, counts="sets").difference == pytest.approx(np.mean(means), rel=1e-12)
    expected = np.average(D, weights=np.concatenate(weight))
    assert pooled_test(A, B, weight=weight).difference == pytest.approx(expected, rel=1e-12)


def test_rounding_decides_nothing():
    found = pooled_test(A, [a * (1 + 1e-15) for a in A])
    assert (found.difference, found.z, found.p, found.interval) == (0.0, 0.0, 1.0, (0.0, 0.0))


def test_the_t_interval_is_scipys_of_one_stratum():
    d = np.random.default_rng(0).normal(0.2, 1.0, 30)
    mean, low, high = t_interval(np.r_[d, np.nan], level=0.9)
    expected = stats.ttest_1samp(d, 0.0).confidence_interval(0.9)
    np.testing.assert_allclose((mean, low, high), (d.mean(), expected.low, expected.high), rtol=1e-12)


def test_the_t_interval_has_a_variance_for_each_stratum():
    """Two folds that weigh the same: their variances over four, and degrees of freedom but one each."""
    folds = [np.array([0.1, 0.5, 0.9, 0.3]), np.array([-0.2, 0.8])]
    sizes = np.array([4, 4, 4, 4, 2, 2])
    mean, low, high = t_interval(np.concatenate(folds), weight=1.0 / sizes, strata=sizes)
    half = stats.t.ppf(0.975, 4) * np.sqrt(sum(fold.var(ddof=1) / len(fold) for fold in folds) / 4)
    middle = np.mean([fold.mean() for fold in folds])
    np.testing.assert_allclose((mean, low, high), (middle, middle - half, middle + half), rtol=1e-12)


def test_the_t_interval_of_weighted_queries():
    """Each residual over 1 minus its share, as regression's HC2; a query of weight 0 counts for nothing."""
    d, weight = np.array([0.1, 0.5, 0.9, 0.3, 7.0]), np.array([1.0, 2.0, 2.0, 1.0, 0.0])
    share = weight[:4] / 6
    mean = share @ d[:4]
    error = np.sqrt(sum(p**2 * (x - mean) ** 2 / (1 - p) for p, x in zip(share, d[:4], strict=True)))
    half = stats.t.ppf(0.975, (share @ share) ** 2 / (share**4).sum() - 1) * error
    np.testing.assert_allclose(t_interval(d, weight=weight), (mean, mean - half, mean + half), rtol=1e-12)
    np.testing.assert_allclose(t_interval(d, weight=1e-90 * weight), (mean, mean - half, mean + half), rtol=1e-12)


def test_the_t_interval_of_too_little():
    assert t_interval([0.3]) == (0.3, -np.inf, np.inf)
    assert all(np.isnan(t_interval([np.nan])))
    assert np.isnan(pooled_test([[0.3], [0.1, 0.2]], [[0.2], [0.3, 0.1]]).interval).all()
    assert t_interval([0.2, 0.2, 0.2]) == pytest.approx((0.2, 0.2, 0.2), abs=1e-15)
