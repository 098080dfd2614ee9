"""What the base of all losses does: the scale from its terms, checks of what users' losses return."""

from dataclasses import dataclass

import numpy as np
import pytest

import boostplug as bp

QUERIES = bp.Queries([2, 1, 0, 1, 0], group=[3, 2])
SCORES = np.array([0.3, -1.0, 0.5, 0.0, 2.0])


class Squares(bp.Loss):
    hessian_kind = "exact"
    shift_invariant = False

    def compute_value(self, scores, queries):
        return np.bincount(queries.query_of_row, 0.5 * (scores - queries.labels) ** 2, queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        return scale * (scores - queries.labels), np.full(queries.n_rows, scale)


def test_scale_is_the_ratio_of_its_terms():
    def with_terms(*terms):
        return type("Terms", (Squares,), {"scale_terms": lambda self, queries: terms})()

    g, h = Squares().gradient_hessian(SCORES, QUERIES)
    for loss, scale in (
        (with_terms(np.array([3.0]), np.array([4.0])), 0.75),
        (with_terms(np.array([3.0]), np.array([0.0])), 1.0),
    ):
        assert loss.scale(QUERIES) == scale
        np.testing.assert_array_equal(loss.gradient_hessian(SCORES, QUERIES), (scale * g, scale * h))
    with pytest.raises(ValueError, match="scale_terms must return two arrays of one number each"):
        with_terms(np.array([3.0, 1.0]), np.array([4.0, 2.0])).scale(QUERIES)


@dataclass(frozen=True, eq=False)
class Returns(bp.Loss):
    """A user's loss that returns what it is made of."""

    value_: object
    outputs: object

    hessian_kind = "exact"

    def compute_value(self, scores, queries):
        return self.value_

    def compute_gradient_hessian(self, scores, queries, scale):
        return self.outputs


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (None, "must return two arrays, gradient and Hessian; got None"),
        (
            (np.zeros(1), np.zeros(2)),
            r"must return one real number per row, an array of shape \(2,\); it returned one of shape \(1,\)",
        ),
    ],
)
def test_what_a_users_loss_returns_is_refused_in_words(outputs, message):
    queries = bp.Queries([1, 0], group=[2])
    with pytest.raises(ValueError, match=rf"Returns\.compute_gradient_hessian .*{message}"):
        Returns(None, outputs).gradient_hessian(np.zeros(2), queries)
    with pytest.raises(ValueError, match=r"Returns\.compute_value must return one real number per query"):
        Returns(outputs, None).value(np.zeros(2), queries)


@pytest.mark.parametrize("loss", [bp.RankNet, bp.NDCGBoost])
def test_a_sigmoid_stands_where_its_square_is_finite(loss):
    for sigmoid in (5e-324, 9e-101, 2e100, 1e308):
        with pytest.raises(
            ValueError, match=r"sigmoid must be a finite number of at least 1e-100 and of at most 1e.100"
        ):
            loss(sigmoid=sigmoid)
    queries = bp.Queries([1, 0, 2], group=[3])
    for sigmoid in (1e-100, 1e-10, 1e10, 1e100):
        for scores in ([0.0, 0.0, 0.0], [1e100, 0.0, -1e100], [700.0 / sigmoid if sigmoid > 1e-90 else 1e90, 0.0, 1.0]):
            value = loss(sigmoid=sigmoid).value(scores, queries)
            g, h = loss(sigmoid=sigmoid).gradient_hessian(scores, queries)
            assert np.isfinite([value[0], *g, *h]).all()
            assert (h[g != 0] > 0).all()


def test_each_loss_warns_once_that_data_teach_it_nothing():
    labels, group = np.ones(4), np.array([4.0])
    for loss in (bp.MPBoost(), bp.RankNet()):
        with pytest.warns(UserWarning, match=f"^{type(loss).__name__}.* has nothing to learn from") as caught:
            [loss(labels, np.zeros(4), None, group) for _ in range(2)]
        assert len(caught) == 1
