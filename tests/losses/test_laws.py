"""Every law over every registered loss, on awkward fixed data and on data that hypothesis makes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boostplug as bp
from boostplug import threads
from boostplug.losses import LOSSES, MPBoost
from boostplug.losses.relative import into_range
from boostplug.testing import LAWS, check_loss, example_data, suited
from boostplug.totals import ALONE

EVERY_LOSS = [loss for variants in LOSSES.values() for loss in variants]
OPTIONS = [
    MPBoost(hessian=hessian, normalization=normalization)
    for hessian in ("newton", "gentle", "bound")
    for normalization in ("none", "rows", "query")
]


@pytest.mark.parametrize("loss", [*EVERY_LOSS, *OPTIONS])
def test_laws_hold_on_awkward_data(loss):
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
    "law", [law for law in LAWS if law.__name__ != "threads_do_not_matter"], ids=lambda f: f.__name__
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(problem=ranking_problems(), loss=st.sampled_from([*EVERY_LOSS, *OPTIONS]), seed=st.integers(0, 99))
def test_law_holds_on_random_data(law, problem, loss, seed):
    scores, queries = problem
    law(loss, scores, suited(loss, queries), np.random.default_rng(seed))


def test_every_law_is_exercised_on_every_kind_of_data():
    kinds = [what for what, _, _ in example_data(np.random.default_rng(0))]
    assert len(kinds) == len(set(kinds)) == 13


def _original(self, scores, queries, scale):
    return into_range(MPBoost.compute_gradient_hessian(self, scores, queries, scale), queries, ALONE)


def _coupled(self, scores, queries, scale):
    g, h = _original(self, scores, queries, scale)
    factor = 1.0 + 0.1 * np.tanh(scores[:1].sum())
    return g * factor, h * factor


def _order_dependent(self, scores, queries, scale):
    g, h = _original(self, scores, queries, scale)
    place = np.arange(queries.n_rows) - queries.boundaries[queries.query_of_row]
    return g, h * (1.0 + 0.01 * place)


def _keeps_weightless(self, scores, queries, scale):
    g, h = _original(self, scores, queries, scale)
    return g, h + (0.0 if queries.row_weight is None else 1.0 * (queries.row_weight == 0))


def _reads_every_label(self, scores, queries, scale):
    g, h = _original(self, scores, queries, scale)
    extra = 0.0 if queries.labelled is None else 0.01 * np.tanh(queries.labels[~queries.labelled].sum())
    return g * (1.0 + extra), h


def _in_threads(self, scores, queries, scale):
    g, h = _original(self, scores, queries, scale)
    return g * (1.0 + 1e-12 * threads.get_num_threads()), h


def _in_place(self, scores, queries):
    if scores.flags.writeable and len(scores):
        scores[0] += 1e-6
    return MPBoost.gradient_hessian(self, scores, queries)


def _unlike_its_copies(self, other):
    return self is other


# Law -> a loss that breaks it and nothing that an earlier law would notice first.
BREAKAGES = {
    "shapes_and_types": {"compute_value": lambda self, s, q: np.append(MPBoost.compute_value(self, s, q), 0.0)},
    "hessian_is_positive": {
        "compute_gradient_hessian": lambda self, s, q, c: (_original(self, s, q, c)[0], np.zeros(q.n_rows))
    },
    "gradient_is_the_values": {"compute_value": lambda self, s, q: 1.0001 * MPBoost.compute_value(self, s, q)},
    "hessian_is_its_kind": {
        "compute_gradient_hessian": lambda self, s, q, c: (
            _original(self, s, q, c)[0],
            1.0001 * _original(self, s, q, c)[1],
        )
    },
    "gradients_sum_to_zero": {
        "compute_gradient_hessian": lambda self, s, q, c: (
            (1.0 + 1e-8) ** (s > 0) * _original(self, s, q, c)[0],
            _original(self, s, q, c)[1],
        )
    },
    "shifts_change_nothing": {
        "hessian_kind": "model",
        "compute_gradient_hessian": lambda self, s, q, c: (
            _original(self, s, q, c)[0],
            _original(self, s, q, c)[1] * (1.0 + 0.1 * np.tanh(s)),
        ),
    },
    "permuting_permutes": {"hessian_kind": "model", "compute_gradient_hessian": _order_dependent},
    "queries_are_independent": {
        "hessian_kind": "model",
        "shift_invariant": False,
        "compute_gradient_hessian": _coupled,
    },
    "weight_zero_removes": {"hessian_kind": "model", "compute_gradient_hessian": _keeps_weightless},
    "equal_weights_scale": {
        "hessian_kind": "model",
        "compute_gradient_hessian": lambda self, s, q, c: (
            _original(self, s, q, c)[0],
            _original(self, s, q, c)[1]
            * (
                1.0
                + (
                    0.01 * q.row_weight.max()
                    if q.row_weight is not None and len(q.labels) and q.row_weight.min() > 0
                    else 0.0
                )
            ),
        ),
    },
    "unlabelled_rows_are_apart": {"hessian_kind": "model", "compute_gradient_hessian": _reads_every_label},
    "inputs_stay": {"hessian_kind": "model", "gradient_hessian": _in_place},
    "threads_do_not_matter": {"hessian_kind": "model", "compute_gradient_hessian": _in_threads},
    "is_a_value": {"__eq__": _unlike_its_copies, "__hash__": MPBoost.__hash__},
}


def test_every_law_has_a_breakage():
    assert list(BREAKAGES) == [law.__name__ for law in LAWS]


@pytest.mark.parametrize("law", LAWS, ids=lambda f: f.__name__)
def test_a_broken_loss_breaks_its_law(law, monkeypatch):
    broken = type("Broken", (MPBoost,), {**BREAKAGES[law.__name__], "__module__": __name__})
    monkeypatch.setitem(globals(), "Broken", broken)  # where pickle looks for it
    rng = np.random.default_rng(0)
    with pytest.raises(AssertionError):  # noqa: PT012 (which data shows it depends on the law)
        for _, scores, queries in example_data(rng):
            law(MPBoost(), scores, queries, rng)
            law(broken(), scores, queries, rng)


def test_check_loss_names_the_law_and_the_data():
    broken = type("Broken", (MPBoost,), BREAKAGES["gradient_is_the_values"])
    with pytest.raises(AssertionError, match=r"Broken\(.*breaks the law 'gradient_is_the_values' on grades 0..4: row"):
        check_loss(broken())


@pytest.mark.parametrize("part", [1.9, 0.9])
def test_a_bound_that_does_not_dominate_is_caught(part):
    def too_small(self, scores, queries, scale):
        g, h = _original(self, scores, queries, scale)
        return g, h * part / 2.0

    broken = type("Broken", (MPBoost,), {"compute_gradient_hessian": too_small})
    with pytest.raises(AssertionError, match="smallest eigenvalue"):
        check_loss(broken(hessian="bound"))
