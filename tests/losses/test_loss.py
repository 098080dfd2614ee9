"""What the base of all losses does: traits, the scale, checks of what users' losses return, the way of a call."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest

import boostplug as bp

QUERIES = bp.Queries([2, 1, 0, 1, 0], group=[3, 2])
SCORES = np.array([0.3, -1.0, 0.5, 0.0, 2.0])


class Squares(bp.Loss):
    traits = bp.Traits(hessian="exact", shift_invariant=False)

    def compute_value(self, scores, queries):
        return np.bincount(queries.query_of_row, 0.5 * (scores - queries.labels) ** 2, queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        return scale * (scores - queries.labels), np.full(queries.n_rows, scale)


# Traits

FORMER = {
    "hessian_kind": "bound", "label_range": bp.LabelRange(0.0, 4.0), "shift_invariant": False,
    "compares_documents": True, "has_gradient_of_value": False, "ties_in_row_order": True, "takes_pairs": True,
    "needs_position": True, "couples_queries": True,
}  # fmt: skip
MEANT = bp.Traits(
    hessian="bound", labels=bp.LabelRange(0.0, 4.0), shift_invariant=False, compares_documents=True,
    gradient_of_value=False, ties_in_row_order=True, pairs=True, positions=True, couples_queries=True,
)  # fmt: skip


def test_attributes_from_before_traits_mean_the_same():
    """Plain, as properties, below a loss whose traits are a property, and in a class of a class."""
    properties = {name: property(lambda self, value=value: value) for name, value in FORMER.items()}
    for attributes in (FORMER, properties):
        plain, below = (type("Own", (kind,), attributes) for kind in (Squares, bp.QBRank))
        assert plain().traits == below().traits == MEANT
        assert plain().hessian_kind == "bound"
        assert plain().couples_queries
        assert type("Again", (below,), {"takes_pairs": False})().traits == replace(MEANT, pairs=False)
    for options in ({}, {"preference_weight": 1.0}):
        with_kind = type("WithKind", (bp.QBRank,), {"hessian_kind": property(lambda self: "model")})
        assert with_kind(**options).traits == replace(bp.QBRank(**options).traits, hessian="model")
    first = type("First", (bp.Loss,), {"shift_invariant": False, "compute_value": Squares.compute_value})
    assert first().traits == bp.Traits(hessian="model", shift_invariant=False, compares_documents=False)


@dataclass(frozen=True)
class Stated(bp.Loss):
    """A loss of any traits."""

    given: bp.Traits
    traits = property(lambda self: self.given)
    compute_value = Squares.compute_value


def traits_of_sum(*parts):
    return sum(0.5 * Stated(part) for part in parts).traits


def test_traits_of_a_sum_are_those_of_its_parts_together():
    one = bp.Traits(hessian="exact", labels=bp.LabelRange(0.0, 4.0), pairs=True)
    other = replace(MEANT, hessian="exact", labels=bp.LabelRange(-1.0, 1.0, True), pairs=False, n_totals=5)
    both = replace(other, labels=bp.LabelRange(0.0, 1.0, True), n_totals=7)
    assert traits_of_sum(one, other) == traits_of_sum(other, one) == both
    assert traits_of_sum(one, replace(other, pairs=True)) == replace(both, pairs=True)
    assert traits_of_sum(one) == one
    by_label = bp.Traits(hessian="exact", shift_invariant=False)
    assert traits_of_sum(one, by_label).compares_documents
    assert not traits_of_sum(by_label).compares_documents


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        *((f"{kind} {kind}", kind) for kind in ("exact", "bound", "global", "model")),
        ("global bound", "bound"),
        *((parts, "model") for parts in ("exact bound", "exact global", "model global", "exact bound global")),
    ],
)
def test_the_hessian_of_a_sum_is_of_the_weakest_kind_that_holds(parts, kind):
    traits = [bp.Traits(hessian=part) for part in parts.split()]
    assert traits_of_sum(*traits).hessian == traits_of_sum(*traits[::-1]).hessian == kind


# Scale, and what users' losses return


def test_scale_is_the_ratio_of_its_terms():
    def with_terms(*terms):
        return type("Terms", (Squares,), {"scale_terms": lambda self, queries: terms})()

    g, h = Squares().gradient_hessian(SCORES, QUERIES)
    for denominator, scale in ((4.0, 0.75), (0.0, 1.0)):
        loss = with_terms(np.array([3.0]), np.array([denominator]))
        assert loss.scale(QUERIES) == scale
        np.testing.assert_array_equal(loss.gradient_hessian(SCORES, QUERIES), (scale * g, scale * h))
    with pytest.raises(ValueError, match="scale_terms must return two arrays of one number each"):
        with_terms(np.array([3.0, 1.0]), np.array([4.0, 2.0])).scale(QUERIES)


@dataclass(frozen=True, eq=False)
class Returns(bp.Loss):
    """A user's loss that returns what it is made of."""

    value_: object
    outputs: object
    traits = bp.Traits(hessian="model")

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


FROZEN = np.ones(5)
FROZEN.setflags(write=False)


@pytest.mark.parametrize("outputs", [(FROZEN, FROZEN), tuple(np.ones((5, 2)).T)], ids=["one, frozen", "views"])
def test_losses_of_a_users_loss_multiply_nothing_in_place(outputs):
    loss = Returns(np.zeros(2), outputs)
    adarank = bp.AdaRank(base=loss)
    by_row = adarank.factors(SCORES, QUERIES)[QUERIES.query_of_row]
    np.testing.assert_allclose(adarank.gradient_hessian(SCORES, QUERIES), (by_row, by_row), rtol=1e-12)
    np.testing.assert_allclose((loss + 2 * loss).gradient_hessian(SCORES, QUERIES), 3.0)
    assert (np.array(outputs) == 1.0).all()


@pytest.mark.parametrize("loss", [bp.RankNet, bp.NDCGBoost])
def test_a_sigmoid_stands_where_its_square_is_finite(loss):
    for sigmoid in (5e-324, 9e-101, 2e100, 1e308):
        with pytest.raises(ValueError, match=r"sigmoid must be .* number of at least 1e-100 and of at most 1e.100"):
            loss(sigmoid=sigmoid)
    queries = bp.Queries([1, 0, 2], group=[3])
    for sigmoid in (1e-100, 1e-10, 1e10, 1e100):
        for scores in ([0.0, 0.0, 0.0], [1e100, 0.0, -1e100], [700.0 / sigmoid if sigmoid > 1e-90 else 1e90, 0.0, 1.0]):
            value = loss(sigmoid=sigmoid).value(scores, queries)
            g, h = loss(sigmoid=sigmoid).gradient_hessian(scores, queries)
            assert np.isfinite([value[0], *g, *h]).all()
            assert (h[g != 0] > 0).all()


@pytest.mark.parametrize("loss", [bp.RankNet(), bp.QBRank()])
def test_a_round_meets_at_most_15_functions_from_the_call_to_the_gradient(loss):
    rng = np.random.default_rng(0)
    data = lgb.Dataset(rng.normal(size=(60, 2)), np.arange(60) % 4, group=[20] * 3, params={"verbose": -1}).construct()
    package, met = str(Path(bp.__file__).parent), set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(package):
            met.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    for n_rounds in (1, 2, 3):
        scores = rng.normal(size=60)
        if n_rounds == 3:
            sys.setprofile(note)
        try:
            loss(scores, data)
        finally:
            sys.setprofile(None)
    assert 5 <= len(met) <= 15, sorted(name for _, name in met)
