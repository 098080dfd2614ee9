"""What the base of all losses does: the scale from its terms, and names of boostplug 0.1 that users override."""

import warnings
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


def old_class(**methods):
    """Return a subclass that overrides 0.1's names, made from Squares' arithmetic."""

    def _value(self, scores, queries):
        return Squares().value(scores, queries)

    def _gradient_hessian(self, scores, queries):  # multiplied the scale itself
        g, h = Squares().gradient_hessian(scores, queries)
        return g * self.scale(queries), h * self.scale(queries)

    body = {"hessian_kind": "exact", "_value": _value, "_gradient_hessian": _gradient_hessian, **methods}
    return type("Old", (bp.Loss,), body)


def test_names_of_0_1_keep_working_with_one_warning():
    with pytest.warns(DeprecationWarning, match="Old writes .* _value is compute_value, _gradient_hessian is") as seen:
        old = old_class()()
    assert len(seen) == 1
    assert seen[0].filename == __file__
    np.testing.assert_array_equal(old.value(SCORES, QUERIES), Squares().value(SCORES, QUERIES))
    np.testing.assert_array_equal(old.gradient_hessian(SCORES, QUERIES), Squares().gradient_hessian(SCORES, QUERIES))
    heavy = bp.Queries(QUERIES.labels, group=[3, 2], weight=[3.0, 4.0])
    assert old.scale(QUERIES) == old.scale(heavy) == 1.0  # as it was: the old method multiplies by nothing else
    assert Squares().scale(heavy) == pytest.approx(5.0 / 17.0)


def test_a_scale_of_0_1_counts_once():
    with pytest.warns(DeprecationWarning, match="scale is scale_terms") as seen:
        old = old_class(scale=lambda self, queries: 0.25 * queries.n_rows)()
    assert len(seen) == 1
    assert old.scale(QUERIES) == 1.25
    g, h = Squares().gradient_hessian(SCORES, QUERIES)
    np.testing.assert_array_equal(old.gradient_hessian(SCORES, QUERIES), (1.25 * g, 1.25 * h))

    with pytest.warns(DeprecationWarning, match="Scaled writes .* scale is scale_terms"):
        scaled = type("Scaled", (Squares,), {"scale": lambda self, queries: 3.0})()
    np.testing.assert_array_equal(scaled.gradient_hessian(SCORES, QUERIES), (3.0 * g, 3.0 * h))


@pytest.mark.filterwarnings("ignore:.* writes methods by names:DeprecationWarning")
def test_methods_of_0_1_may_call_those_of_their_base():
    class Twice(bp.MPBoost):
        def scale(self, queries):
            return 2.0 * super().scale(queries)

    class FourTimes(Twice):
        def scale(self, queries):
            return 2.0 * super().scale(queries)

    class Halved(bp.MPBoost):
        def _gradient_hessian(self, scores, queries):
            g, h = super()._gradient_hessian(scores, queries)
            return 0.5 * g, h

    g, h = bp.MPBoost().gradient_hessian(SCORES, QUERIES)
    for loss, expected in ((Twice(), (2 * g, 2 * h)), (FourTimes(), (4 * g, 4 * h)), (Halved(), (0.5 * g, h))):
        np.testing.assert_allclose(loss.gradient_hessian(SCORES, QUERIES), expected, rtol=1e-14)
    assert FourTimes().scale(QUERIES) == 4.0 * bp.MPBoost().scale(QUERIES)


def test_a_loss_that_cannot_be_hashed_works():
    class Unhashable(Squares):
        __hash__ = None

    expected = Squares().gradient_hessian(SCORES, QUERIES)
    np.testing.assert_array_equal(Unhashable().gradient_hessian(SCORES, QUERIES), expected)


def test_a_class_that_has_both_names_is_left_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = type("Both", (Squares,), {"_value": lambda self, s, q: 1 / 0, "compute_value": Squares.compute_value})()
    assert both.value(SCORES, QUERIES).shape == (2,)


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
    assert with_terms(np.array([3.0, 1.0]), np.array([4.0, 2.0])).scale(QUERIES) == 1.0  # each part has its own


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (np.inf, r"scores\[1\] = inf is not finite"),
        (-np.inf, r"scores\[1\] = -inf is not finite"),
        (1e101, r"scores\[1\] = 1e\+101 is beyond ±1e\+100"),
        (-1e101, r"scores\[1\] = -1e\+101 is beyond ±1e\+100"),
        (np.nan, r"scores\[1\] is NaN .*1 of 3 scores"),
    ],
)
def test_scores_out_of_range_are_refused(score, message):
    with pytest.raises(ValueError, match=message):
        bp.MPBoost().gradient_hessian([0.0, score, 1.0], bp.Queries([1, 0, 2], group=[3]))


@dataclass(frozen=True)
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
        (np.zeros(2), r"must return two arrays, gradient and Hessian; got array\(\[0., 0.\]\)"),
        ((np.zeros(2),) * 3, "must return two arrays, gradient and Hessian"),
        (
            (np.zeros(1), np.zeros(2)),
            r"must return one real number per row, an array of shape \(2,\); it returned one of shape \(1,\)",
        ),
        ((np.zeros(2), np.zeros((2, 1))), r"must return one real number per row, .* it returned one of shape \(2, 1\)"),
        ((np.array(["1", "2"]), np.zeros(2)), "dtype <U1"),
        ((np.zeros(2), np.zeros(2, complex)), "dtype complex128"),
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
