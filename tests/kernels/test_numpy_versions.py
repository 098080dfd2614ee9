"""The NumPy version in the docstring of a kernel module computes what the kernel does."""

import re
import textwrap

import numpy as np
import pytest

import boostplug as bp
from boostplug.core.checks import frozen
from boostplug.kernels.lists import calibrated, lambdas, pearson, softmax
from boostplug.kernels.pairs import exponential, grid, hinge, pair_by_pair
from boostplug.losses.base.logistic import LOGISTIC, curvature, slope, softplus
from boostplug.losses.base.smooth_pair_loss import sum_over_pairs


def numpy_version(module):
    """Return the function that a docstring defines in its block of code, of at most 20 lines."""
    block = re.search(r"::(?: python)?\n\n((?: {4}.*\n|\n)+)", module.__doc__ + "\n").group(1)
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
    names = {"np": np}
    exec(textwrap.dedent(block), names)  # noqa: S102 (our own text)
    return names[re.search(r"def (\w+)\(", block).group(1)]


def one_list(rng, n, n_grades):
    """Return a list with ties among its labels and scores, and weights of its documents."""
    labels, weight = rng.integers(0, n_grades, n).astype(float), rng.random(n) + 0.1
    scores = np.round(2.0 * rng.normal(size=n), 1)
    queries = bp.Queries(labels, group=[n], weight=weight)
    assert len(queries.grade_groups.rows) == n
    return scores, labels, np.sqrt(weight), queries, np.array([queries.grade_groups.unit])


@pytest.mark.parametrize(("n", "n_grades"), [(40, 5), (90, 80)])
def test_pair_by_pair(n, n_grades):
    scores, labels, s, queries, unit = one_list(np.random.default_rng(n), n, n_grades)
    expected = numpy_version(pair_by_pair)(scores, labels, s, s, slope, curvature)
    found = sum_over_pairs(LOGISTIC.for_derivatives, frozen(scores), queries, unit)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_grid():
    """Both interpolate: they agree better with each other than with the function."""
    scores, labels, s, queries, unit = one_list(np.random.default_rng(0), 900, 2)
    functions = LOGISTIC.for_value
    expected = numpy_version(grid)(scores, labels == 1.0, s, softplus, functions.sampled.spacing)
    found = sum_over_pairs(functions, frozen(scores), queries, unit)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected.max())


@pytest.mark.parametrize(("n", "n_grades"), [(40, 5), (1500, 5)])
@pytest.mark.parametrize("margin", ["grade", 0.5])
def test_hinge(n, n_grades, margin):
    scores, labels, s, queries, _ = one_list(np.random.default_rng(n), n, n_grades)
    loss = bp.QBRank(preference_weight=1.0, margin=margin, normalization="none", hessian="bound")
    g, h, squares = numpy_version(hinge)(scores, labels, s, s, margin)
    scale = loss.scale(queries)
    gradient, hessian = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, scale * g, rtol=0, atol=1e-11 * np.abs(scale * g).max())
    np.testing.assert_allclose(hessian, 2.0 * scale * h, rtol=0, atol=1e-11 * np.abs(scale * h).max())
    np.testing.assert_allclose(loss.value(scores, queries), [0.5 * squares], rtol=1e-11)


def test_lambda_rank():
    rng = np.random.default_rng(0)
    _, labels, s, queries, _ = one_list(rng, 90, 5)
    scores = rng.normal(size=90)
    loss = bp.LambdaRank(metric=bp.NDCG(None))
    for found, unscaled in zip(
        loss.gradient_hessian(scores, queries),
        numpy_version(lambdas)(scores, 2.0**labels - 1.0, s),
        strict=True,
    ):
        expected = loss.scale(queries) * unscaled
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("n", "n_grades"), [(40, 5), (200, 9)])
def test_exponential_loss(n, n_grades):
    rng = np.random.default_rng(n)
    labels, scores = rng.integers(0, n_grades, n).astype(float), np.round(2.0 * rng.normal(size=n), 1)
    loss = bp.MPBoost(normalization="none")
    expected = numpy_version(exponential)(labels, scores, loss.distance)
    found = loss.compute_gradient_hessian(scores, bp.Queries(labels, group=[n]), 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


# Losses on complete lists

RNG = np.random.default_rng(0)
N = 40
LABELS, SCORES, WEIGHT = RNG.integers(0, 5, N).astype(float), RNG.normal(size=N), RNG.random(N) + 0.1


def assert_same(loss, value, gradient, hessian):
    queries = bp.Queries(LABELS, group=[N], weight=WEIGHT)
    scale = loss.scale(queries)
    np.testing.assert_allclose(loss.value(SCORES, queries), [value], rtol=1e-12)
    for found, expected in zip(loss.gradient_hessian(SCORES, queries), (gradient, hessian), strict=True):
        np.testing.assert_allclose(found, scale * expected, rtol=0, atol=1e-12 * np.abs(scale * expected).max())


def test_softmax():
    assert_same(bp.ListNet(), *numpy_version(softmax)(SCORES, LABELS, WEIGHT))


def test_pearson():
    assert_same(bp.Correlation(epsilon=0.1), *numpy_version(pearson)(SCORES, LABELS, WEIGHT, 0.1))


def test_calibrated():
    expected = numpy_version(calibrated)(SCORES, LABELS / 4.0, WEIGHT, 0.7, 0.3)
    assert_same(bp.CalibratedSoftmax(list_weight=0.3, max_grade=4.0), *expected)
