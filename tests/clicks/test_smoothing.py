"""Smoothing takes noise away from a power law, and leaves certain propensities as they are."""

import numpy as np
import pytest

from boostplug.clicks.smoothing import shrunk_to_power_law

P = np.arange(1.0, 11.0)
STEPS = np.array([1, 0.9, 0.5, 0.45, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05])


def test_a_power_law_stays():
    assert np.allclose(shrunk_to_power_law(P**-0.7, np.full(10, 0.1)), P**-0.7)


def test_the_rule_in_plain_sums():
    """As the notes have it, with different variances, and deviations larger than chance."""
    s2 = np.linspace(0.01, 0.1, 9)
    x, y = [-float(np.log(p)) for p in range(2, 11)], [float(np.log(theta)) for theta in STEPS[1:]]
    w = [1 / v for v in s2]
    xxw = sum(a * a * b for a, b in zip(x, w, strict=True))
    eta = sum(a * b * c for a, b, c in zip(x, y, w, strict=True)) / xxw
    q = sum((b - eta * a) ** 2 * c for a, b, c in zip(x, y, w, strict=True))
    tau2 = (q - 8) / (sum(w) - sum(a * a * b * b for a, b in zip(x, w, strict=True)) / xxw)
    assert tau2 > 0
    w = [1 / (v + tau2) for v in s2]
    eta = sum(a * b * c for a, b, c in zip(x, y, w, strict=True)) / sum(a * a * b for a, b in zip(x, w, strict=True))
    expected = [np.exp(eta * a + (b - eta * a) * tau2 / (tau2 + v)) for a, b, v in zip(x, y, s2, strict=True)]
    assert np.allclose(shrunk_to_power_law(STEPS, np.append(0.0, s2)), [1.0, *expected])


def test_unknown_positions_take_the_curve():
    theta, variance = 1.0 / P, np.full(10, 0.1)
    theta[4], theta[5], theta[6], variance[6] = 0.0, np.nan, 9.0, np.nan
    assert np.allclose(shrunk_to_power_law(theta, variance), 1.0 / P)
    nothing = np.append(1.0, np.zeros(9))
    assert np.array_equal(shrunk_to_power_law(nothing, variance), nothing)


@pytest.mark.parametrize("n", [2, 3])
def test_two_positions_stay(n):
    """One deviation tells nothing of the variance around a curve through it."""
    assert shrunk_to_power_law(1.0 / P[:n], np.full(n, 0.1)) == pytest.approx(1.0 / P[:n])
    assert shrunk_to_power_law(np.array([1.0, 0.3]), np.full(2, 0.1)) == pytest.approx([1.0, 0.3])
