"""The randomisation test against enumeration and SciPy; Holm against numbers worked by hand."""

import inspect
from itertools import product

import numpy as np
import pytest
from scipy import stats

from boostplug.experiments.significance import holm, randomisation_test


def by_enumeration(d):
    sums = np.array([abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=len(d))])
    return (sums >= abs(d.sum()) - 1e-12).mean()


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_exact_equals_enumeration(n):
    a, b = np.random.default_rng(n).random((2, n))
    assert randomisation_test(a, b) == by_enumeration(a - b)


def test_exact_equals_scipy():
    a, b = np.random.default_rng(3).random((2, 11))
    theirs = stats.permutation_test(
        (a, b), lambda x, y, axis: (x - y).mean(axis), permutation_type="samples", vectorized=True
    )
    assert randomisation_test(a, b) == pytest.approx(theirs.pvalue)


def test_random_flips_agree_with_scipy():
    rng = np.random.default_rng(5)
    b = rng.random(80)
    a = b + rng.normal(0.04, 0.2, 80)
    seed = "rng" if "rng" in inspect.signature(stats.permutation_test).parameters else "random_state"
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).mean(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        **{seed: np.random.default_rng(0)},
    )
    # Two Monte-Carlo estimates of 20,000 flips: standard error of the difference below .005.
    assert randomisation_test(a, b) == pytest.approx(theirs.pvalue, abs=0.015)
    assert 0.02 < theirs.pvalue < 0.98


def test_random_flips_approach_the_exact_value():
    a, b = np.random.default_rng(8).random((2, 13))
    assert randomisation_test(a, b, flips=2**13) == by_enumeration(a - b)
    assert randomisation_test(a, b, flips=8_000) == pytest.approx(by_enumeration(a - b), abs=0.025)


def test_hand_worked():
    assert randomisation_test([1, 1, 1], [0, 0, 0]) == 2 / 8
    # differences 3, 1, 1: |sums| over signs are 5, 3, 3, 1 twice each; 5 is reached by 2 of 8.
    assert randomisation_test([3, 1, 1], [0, 0, 0]) == 2 / 8
    # differences 1, -1, 2: |sums| are 2, 4, 0, 2 twice each; 2 is reached by 6 of 8.
    assert randomisation_test([1, 0, 2], [0, 1, 0]) == 6 / 8


def test_equal_rankers_have_p_1_and_p_is_never_0():
    values = np.linspace(0, 1, 50)
    assert randomisation_test(values, values) == 1.0
    assert randomisation_test(values + 1, values, flips=999) == 1 / 1000


def test_symmetric_repeatable_and_scale_free():
    a, b = np.random.default_rng(1).random((2, 40))
    p = randomisation_test(a, b)
    assert randomisation_test(b, a) == p
    assert randomisation_test(a, b) == p
    assert randomisation_test(1e-6 * a, 1e-6 * b) == p
    assert randomisation_test(a, b, random_state=1) != p


def test_weights_multiply_the_differences():
    a, b, v = np.random.default_rng(2).random((3, 9))
    assert randomisation_test(a, b, weight=v) == by_enumeration(v * (a - b))


def test_undefined_queries_are_left_out():
    a, b = np.random.default_rng(4).random((2, 9))
    p = randomisation_test(a, b)
    assert randomisation_test(np.r_[a, np.nan], np.r_[b, np.nan]) == p
    assert np.isnan(randomisation_test([np.nan], [np.nan]))
    with pytest.raises(ValueError, match="query 9 is undefined for one of the two alone"):
        randomisation_test(np.r_[a, np.nan], np.r_[b, 0.5])


def test_shapes_and_flips_are_checked():
    with pytest.raises(ValueError, match="one value per query"):
        randomisation_test([1, 2], [1])
    with pytest.raises(ValueError, match="flips"):
        randomisation_test([1], [2], flips=0)


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
