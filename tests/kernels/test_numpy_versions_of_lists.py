"""The NumPy version in the docstring of a kernel on lists computes what the kernel does."""

import re
import textwrap

import numpy as np
import pytest

import boostplug as bp
from boostplug.kernels.lists import calibrated, lambda_halves, pearson, softmax

RNG = np.random.default_rng(0)
N = 40
LABELS, SCORES, WEIGHT = RNG.integers(0, 5, N).astype(float), RNG.normal(size=N), RNG.random(N) + 0.1


def numpy_version(module):
    """Return the function that a docstring defines in its block of code, of at most 20 lines."""
    block = re.search(r"::(?: python)?\n\n((?: {4}.*\n|\n)+)", module.__doc__ + "\n").group(1)
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
    names = {"np": np}
    exec(textwrap.dedent(block), names)  # noqa: S102 (our own text)
    return names[re.search(r"def (\w+)\(", block).group(1)]


def assert_same(loss, value, gradient, hessian, *, labels=LABELS):
    queries = bp.Queries(labels, group=[N], weight=WEIGHT)
    scale = loss.scale(queries)
    np.testing.assert_allclose(loss.value(SCORES, queries), [value], rtol=1e-12)
    for found, expected in zip(loss.gradient_hessian(SCORES, queries), (gradient, hessian), strict=True):
        np.testing.assert_allclose(found, scale * expected, rtol=0, atol=1e-12 * np.abs(scale * expected).max())


def test_softmax():
    assert_same(bp.ListNet(), *numpy_version(softmax)(SCORES, LABELS, WEIGHT))


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_pearson(epsilon):
    assert_same(bp.Correlation(epsilon=epsilon), *numpy_version(pearson)(SCORES, LABELS, WEIGHT, epsilon))


@pytest.mark.parametrize("list_weight", [0.3, 1.0])
def test_calibrated(list_weight):
    expected = numpy_version(calibrated)(SCORES, LABELS / 4.0, WEIGHT, 1.0 - list_weight, list_weight)
    assert_same(bp.CalibratedSoftmax(list_weight=list_weight, max_grade=4.0), *expected)


def test_lambda_rank():
    n = 400
    labels, scores, weight = RNG.integers(0, 5, n).astype(float), RNG.normal(size=n), RNG.random(n) + 0.1
    queries, loss = bp.Queries(labels, group=[n], weight=weight), bp.LambdaRank(metric=bp.NDCG(None))
    unscaled = numpy_version(lambda_halves)(scores, 2.0**labels - 1.0, np.sqrt(weight))
    for found, x in zip(loss.gradient_hessian(scores, queries), unscaled, strict=True):
        expected = loss.scale(queries) * x
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
