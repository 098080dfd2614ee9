"""A smooth pairwise loss with lists in linear time takes one file of at most 40 code lines."""

import numpy as np
import pytest
from losses.log_cosh import LogCosh, first, second, value

import boostplug as bp
from boostplug.testing import check_loss


@pytest.mark.parametrize("loss", [LogCosh(), LogCosh(sigmoid=2.0, normalization="rows")], ids=repr)
def test_log_cosh_has_all_properties(loss):
    check_loss(loss)


@pytest.mark.parametrize("n", [7, 3000])
def test_it_is_the_double_loop(n):
    rng = np.random.default_rng(n)
    labels, scores = rng.integers(0, 5, n).astype(float), 2.0 * rng.normal(size=n)
    queries = bp.Queries(labels, group=[n])
    d = scores[:, None] - scores
    above = labels[:, None] > labels
    pulls = np.where(above, first(d), 0.0)
    curvatures = np.where(above, second(d), 0.0)
    gradient, hessian = LogCosh().gradient_hessian(scores, queries)
    scale = LogCosh().scale(queries)
    expected = scale * (pulls.sum(1) - pulls.sum(0))
    np.testing.assert_allclose(gradient, expected, atol=5e-7 * np.abs(expected).max())
    np.testing.assert_allclose(hessian, scale * (curvatures.sum(1) + curvatures.sum(0)), rtol=5e-7)
    np.testing.assert_allclose(LogCosh().value(scores, queries), [np.where(above, value(d), 0.0).sum()], rtol=5e-7)


def test_a_wrong_choice_names_the_argument():
    with pytest.raises(ValueError, match="LogCosh: normalization must be one of 'none', 'rows', 'query'"):
        LogCosh(normalization="row")
