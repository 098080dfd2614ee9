"""The NumPy version in the docstring of a kernel module computes what the kernel does; `loops` has those of lists."""

import numpy as np
import pytest
from loops import numpy_version

import boostplug as bp
from boostplug.core.checks import frozen
from boostplug.kernels.lists import lambdas
from boostplug.kernels.pairs import exponential, grid, hinge, pair_by_pair
from boostplug.losses.base.logistic import LOGISTIC, curvature, slope, softplus
from boostplug.losses.base.smooth_pair_loss import sum_over_pairs


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
    found = sum_over_pairs(LOGISTIC, frozen(scores), queries, unit)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_grid():
    """Both interpolate: they agree better with each other than with the function."""
    scores, labels, s, queries, unit = one_list(np.random.default_rng(0), 900, 2)
    expected = numpy_version(grid)(scores, labels == 1.0, s, softplus, LOGISTIC.grids[0].spacing)
    found = sum_over_pairs(LOGISTIC, frozen(scores), queries, unit, value=True)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected.max())


@pytest.mark.parametrize(("n", "n_grades"), [(40, 5), (1500, 5)])
@pytest.mark.parametrize("margin", ["grade", 0.5])
def test_hinge(n, n_grades, margin):
    scores, labels, s, queries, _ = one_list(np.random.default_rng(n), n, n_grades)
    loss = bp.QBRank(preference_weight=1.0, margin=margin, normalization="none", hessian="bound")
    g, h, squares = numpy_version(hinge)(scores, labels, s, s, margin)
    found = np.array(loss.gradient_hessian(scores, queries)) / loss.scale(queries)
    for one, expected in zip(found, (g, 2.0 * h), strict=True):
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(loss.value(scores, queries), [0.5 * squares], rtol=1e-11)


def test_lambda_rank():
    rng = np.random.default_rng(0)
    _, labels, s, queries, _ = one_list(rng, 90, 5)
    scores = rng.normal(size=90)
    loss = bp.LambdaRank(metric=bp.NDCG(None))
    expected = loss.scale(queries) * np.array(numpy_version(lambdas)(scores, 2.0**labels - 1.0, s))
    found = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("n", "n_grades"), [(40, 5), (200, 9)])
def test_exponential_loss(n, n_grades):
    rng = np.random.default_rng(n)
    labels, scores = rng.integers(0, n_grades, n).astype(float), np.round(2.0 * rng.normal(size=n), 1)
    loss = bp.MPBoost(normalization="none")
    expected = numpy_version(exponential)(labels, scores, loss.distance)
    found = loss.compute_gradient_hessian(scores, bp.Queries(labels, group=[n]), 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
