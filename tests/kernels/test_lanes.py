"""Eight numbers at once are eight numbers, and those past the end are let alone."""

import math

import numpy as np
import pytest

from boostplug.kernels.base import simd
from boostplug.kernels.base.arithmetic import exponential, log1p
from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.base.simd import WIDTH


@compiled()
def reckon(a, b, n, out, folds):
    for k in range(0, n, WIDTH):
        x, y = simd.load(a, k), simd.load(b, k)
        simd.store(out[0], k, simd.first_lanes(n - k, (x + y) * 2.0 - 1.0 * x, -1.0))
        simd.store(out[1], k, simd.larger(x, y))
        simd.store(out[2], k, simd.smaller(x, y))
        simd.store(out[3], k, simd.absolute(x))
        simd.store(out[4], k, exponential(x))
        simd.store(out[5], k, simd.broadcast(3.0) - x)
        folds[0] += simd.sum_of(simd.first_lanes(n - k, x, 0.0))
        folds[1] = max(folds[1], simd.largest_of(simd.first_lanes(n - k, x, -np.inf)))
        folds[2] = min(folds[2], simd.least_of(simd.first_lanes(n - k, x, np.inf)))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 29])
def test_lanes_are_numbers_side_by_side(n):
    rng = np.random.default_rng(n)
    a, b = 100.0 * rng.normal(size=(2, n + WIDTH))
    out = tuple(np.full(n + 2 * WIDTH, 7.0) for _ in range(6))
    folds = np.array([0.0, -np.inf, np.inf])
    reckon(a, b, n, out, folds)
    x, y = a[:n], b[:n]
    expected = (2.0 * (x + y) - x, np.maximum(x, y), np.minimum(x, y), np.abs(x), np.exp(x), 3.0 - x)
    for found, values in zip(out, expected, strict=True):
        np.testing.assert_allclose(found[:n], values, rtol=1e-14, atol=1e-13)
        full = -(-n // WIDTH) * WIDTH
        assert (found[full:] == 7.0).all()
    assert (out[0][n:full] == -1.0).all()
    np.testing.assert_allclose(folds, [x.sum(), x.max(), x.min()], rtol=1e-13)


def test_exponentials_are_right_over_their_whole_range():
    x = np.linspace(-700.0, 700.0, 8 * 999)
    out = tuple(np.empty(len(x)) for _ in range(6))
    reckon(x, x, len(x), out, np.zeros(3))
    np.testing.assert_allclose(out[4], np.exp(x), rtol=4e-15)


@compiled()
def logarithms(x, out):
    for i in range(len(x)):
        out[i] = log1p(x[i])


def test_log1p_is_right_to_the_last_bits():
    x = np.r_[0.0, 10.0 ** np.linspace(-300, 300, 5000), np.linspace(0.0, 3.0, 2000), math.sqrt(2.0) - 1.0]
    out = np.empty_like(x)
    logarithms(x, out)
    np.testing.assert_allclose(out, np.log1p(x), rtol=1e-15)
