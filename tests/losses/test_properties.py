"""Every property over every registered loss, on awkward fixed data and on data that hypothesis makes."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from losses.functions import FUNCTIONS
from losses.log_cosh import LogCosh

import boostplug as bp
from boostplug.core import threads
from boostplug.losses import LOSSES, MPBoost
from boostplug.testing import PROPERTIES, check_loss, example_data, suited, suited_data

EVERY_LOSS = [loss for variants in LOSSES.values() for loss in variants]
OPTIONS = [
    MPBoost(hessian="newton", normalization="query"),
    MPBoost(hessian="gentle", normalization="rows"),
    MPBoost(hessian="bound", normalization="query"),
    bp.QBRank(margin=0.7, preference_weight=1.0, hessian="global"),
    bp.QBRank(hessian="global", normalization="query"),
    bp.QBRank(margin=0.7),
    bp.QBRank(preference_weight=1.0, normalization="documents"),
    bp.NDCGBoost(gain="linear", normalization="query", hessian="bound", sigmoid=0.5),
    bp.NDCGBoost(gain=np.exp2, hessian="global", sigmoid=3.0),
    bp.LambdaRank(metric=bp.NDCG(30), truncation=3, norm=True),
    bp.LambdaRank(metric=bp.MRR(5)),
    bp.PairwiseLoss(*FUNCTIONS["squared softplus"], hessian="global", weight=np.subtract, normalization="rows"),
    LogCosh(),
    LogCosh(sigmoid=2.0, normalization="rows"),
    3 * bp.QBRank() + 1e-3 * bp.RankNet(normalization="query") + 0.5 * MPBoost(),
    0.5 * bp.ListNet() + bp.SquaredError(centred=True),
    bp.ClickLogLoss(propensity=[1.0, 0.5]) + bp.SquaredError(),  # at positions that have propensities
]


@pytest.mark.parametrize("loss", [*EVERY_LOSS, *OPTIONS])
def test_properties_hold_on_awkward_data(loss):
    check_loss(loss)


@st.composite
def ranking_problems(draw):
    group = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
    n = sum(group)
    grade = draw(st.sampled_from([st.integers(0, 4), st.integers(-3, 3), st.floats(-5, 5, width=32)]))
    labels = draw(st.lists(grade, min_size=n, max_size=n))
    # Multiples of 1/16 make ties and near-ties common.
    scores = [x / 16 for x in draw(st.lists(st.integers(-64, 64), min_size=n, max_size=n))]
    weight = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    labelled = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n).map(lambda x: np.array(x, bool)))
    return np.array(scores, float), bp.Queries(labels, group=group, weight=weight, labelled=labelled)


@pytest.mark.parametrize(
    "prop", [prop for prop in PROPERTIES if prop.__name__ != "threads_do_not_matter"], ids=lambda f: f.__name__
)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(problem=ranking_problems(), loss=st.sampled_from([*EVERY_LOSS, *OPTIONS[:3]]), seed=st.integers(0, 99))
def test_property_holds_on_random_data(prop, problem, loss, seed):
    scores, queries = problem
    prop(loss, scores, suited(loss, queries), np.random.default_rng(seed))


def test_example_data_have_every_kind_of_pairs():
    data = list(example_data(np.random.default_rng(0)))
    assert len(data) == len({what for what, _, _ in data}) == 16
    with_pairs = [queries for _, _, queries in data if queries.pairs is not None]
    assert {queries.listed_pairs.crosses for queries in with_pairs} == {False, True}
    assert {queries.pairs.weight is None for queries in with_pairs} == {False, True}


def _original(self, scores, queries, scale):
    return MPBoost.compute_gradient_hessian(self, scores, queries, scale)


def _times(gradient=lambda s, q: 1.0, hessian=lambda s, q: 1.0):
    """Return a method that multiplies MPBoost's outputs by functions of scores and queries."""

    def compute_gradient_hessian(self, scores, queries, scale):
        g, h = _original(self, scores, queries, scale)
        return g * gradient(scores, queries), h * hessian(scores, queries)

    return {"compute_gradient_hessian": compute_gradient_hessian}


def _value_times(factor):
    return {"compute_value": lambda self, s, q: MPBoost.compute_value(self, s, q) * factor(s, q)}


def _place(queries):
    return np.arange(queries.n_rows) - queries.boundaries[queries.query_of_row]


def _heaviest(queries):
    return queries.row_weight.max() if queries.row_weight is not None and queries.n_rows else 0.0


def _keeps_weightless(self, scores, queries, scale):
    g, h = _original(self, scores, queries, scale)
    return g, h + (0.0 if queries.row_weight is None else 1.0 * (queries.row_weight == 0))


def _sum_of_unlabelled(queries):
    return 0.0 if queries.labelled is None else np.tanh(queries.labels[~queries.labelled].sum())


def _in_place(self, scores, queries):
    if scores.flags.writeable and len(scores):
        scores[0] += 1e-6
    return MPBoost.gradient_hessian(self, scores, queries)


def _scale_alone(self, queries):
    numerator, denominator = MPBoost.scale_terms(self, queries)
    return numerator / np.maximum(denominator, 1.0), np.ones(1)


def _model(**traits):  # so that the Hessian's own property says nothing
    return {"traits": bp.Traits(hessian="model", pairs=True, **traits)}


# (property, a loss that breaks it and nothing that an earlier property would notice first)
BREAKAGES = [
    ("shapes_and_types", {"compute_value": lambda self, s, q: np.append(MPBoost.compute_value(self, s, q), 0.0)}),
    ("hessian_is_positive", _times(hessian=lambda s, q: 0.0)),
    ("gradient_is_the_values", _value_times(lambda s, q: 1.0001)),
    ("better_documents_rise", _model(shift_invariant=False) | _times(gradient=lambda s, q: -1.0)),
    ("hessian_is_its_kind", _times(hessian=lambda s, q: 1.0001)),
    ("gradients_sum_to_zero", _times(gradient=lambda s, q: (1.0 + 1e-8) ** (s > 0))),
    ("shifts_change_nothing", _model() | _times(hessian=lambda s, q: 1.0 + 0.1 * np.tanh(s))),
    ("permuting_permutes", _model() | _times(hessian=lambda s, q: 1.0 + 0.01 * _place(q))),
    ("permuting_permutes", _model(ties_in_row_order=True) | _times(hessian=lambda s, q: 1.0 + 0.01 * _place(q))),
    (
        "queries_are_independent",
        _model(shift_invariant=False) | _times(*2 * [lambda s, q: 1.0 + 0.1 * np.tanh(s.sum())]),
    ),
    ("parts_are_as_the_whole", {"scale_terms": _scale_alone}),
    ("weight_zero_removes", _model() | {"compute_gradient_hessian": _keeps_weightless}),
    ("weights_are_relative", _model() | _times(hessian=lambda s, q: 1.0 + 0.01 * _heaviest(q))),
    ("weights_are_relative", {"scale_terms": lambda self, q: (np.array([1.0 * q.n_rows]), np.array([1.0 * q.n_rows]))}),
    ("weights_are_relative", _value_times(lambda s, q: 1.0 + 1e-8 * _heaviest(q))),
    ("unlabelled_rows_are_apart", _model() | _times(gradient=lambda s, q: 1.0 + 0.01 * _sum_of_unlabelled(q))),
    ("inputs_stay", _model() | {"gradient_hessian": _in_place}),
    ("threads_do_not_matter", _model() | _times(lambda s, q: 1.0 + 1e-12 * threads.get_num_threads())),
    ("is_a_value", {"__eq__": lambda self, other: self is other, "__hash__": MPBoost.__hash__}),
]


def test_every_property_has_a_loss_that_breaks_it():
    assert list(dict.fromkeys(name for name, _ in BREAKAGES)) == [prop.__name__ for prop in PROPERTIES]


@pytest.mark.parametrize(("name", "body"), BREAKAGES, ids=[f"{i}-{name}" for i, (name, _) in enumerate(BREAKAGES)])
def test_a_broken_loss_breaks_its_law(name, body, monkeypatch):
    (prop,) = (prop for prop in PROPERTIES if prop.__name__ == name)
    broken = type("Broken", (MPBoost,), {**body, "__module__": __name__})
    monkeypatch.setitem(globals(), "Broken", broken)  # where pickle looks for it
    rng = np.random.default_rng(0)
    shows = False
    for _, scores, queries in suited_data(MPBoost(), rng):
        prop(MPBoost(), scores, queries, rng)
        try:
            prop(broken(), scores, queries, rng)
        except (AssertionError, ValueError):  # what methods of users return is checked where it is returned
            shows = True
    assert shows


@pytest.mark.parametrize(
    ("kind", "body", "options", "found"),
    [
        (
            MPBoost,
            _value_times(lambda s, q: 1.0001),
            {},
            r"^Broken\(.*breaks the property 'gradient_is_the_values' on grades 0..4: row",
        ),
        (MPBoost, _times(hessian=lambda s, q: 0.95), {"hessian": "bound"}, "smallest eigenvalue"),
        (MPBoost, _times(hessian=lambda s, q: 0.45), {"hessian": "bound"}, "smallest eigenvalue"),
        (
            bp.LambdaRank,
            {"traits": bp.Traits(hessian="model")},
            {},
            "'gradient_is_the_values' .*: along a step, the integral of the gradient is",
        ),
        (
            MPBoost,
            _times(hessian=lambda s, q: 1e-15),
            {},
            "'hessian_is_positive' .*: at equal scores the largest Hessian is",
        ),
        (
            MPBoost,
            {"compute_value": lambda self, s, q: warnings.warn("odd", stacklevel=1)},
            {},
            "'shapes_and_types' .*: odd",
        ),
    ],
)
def test_check_loss_names_the_property_and_what_it_found(kind, body, options, found):
    broken = type("Broken", (kind,), body)
    with pytest.raises(AssertionError, match=found):
        check_loss(broken(**options))


@pytest.mark.parametrize("wrong", [True, int, None, MPBoost, "mpboost"])
def test_check_loss_refuses_what_is_no_loss(wrong):
    with pytest.raises(ValueError, match=r"^loss (must be a Loss|is the class MPBoost)"):
        check_loss(wrong)
