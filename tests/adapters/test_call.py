"""The plug itself: what is cached, what is handed over, and what happens where a framework is missing."""

from dataclasses import dataclass

import numpy as np
import pytest

import boostplug as bp
from boostplug.adapters import reading as plug

Y = np.array([0.0, 2, 1, 0, 1, 1, 3])
GROUP = np.array([4, 3])
LOSS = bp.MPBoost()
xgb = pytest.importorskip("xgboost")


@dataclass(frozen=True)
class Returns(bp.Loss):
    """Returns what it is told."""

    g: float
    h: float

    @property
    def hessian_kind(self):
        return "model"

    def compute_value(self, scores, queries):
        return np.zeros(queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        return np.full(queries.n_rows, self.g), np.full(queries.n_rows, self.h)


def call(loss, y=Y, scores=None, weight=None, group=GROUP):
    return loss(y, np.zeros(len(y)) if scores is None else scores, weight, group)


def test_arrays_give_what_queries_give():
    scores = np.linspace(-1, 1, len(Y))
    g, h = call(LOSS, scores=scores)
    expected = LOSS.gradient_hessian(scores, bp.Queries(Y, group=GROUP))
    for ours, exact in zip((g, h), expected, strict=True):
        np.testing.assert_array_equal(ours, exact.astype(np.float32))


def test_changed_arrays_are_seen():
    """The same array objects with other values: nothing is remembered by identity."""
    y, weight, group = Y.copy(), np.ones(len(Y)), GROUP.copy()
    before = call(LOSS, y, None, weight, group)[0]
    y[0] = 5.0
    np.testing.assert_array_equal(call(LOSS, y, None, weight, group)[0], call(LOSS, y.copy(), group=GROUP)[0])
    weight[0] = 3.0
    after = call(LOSS, y, None, weight, group)[0]
    assert not np.array_equal(after, call(LOSS, y, group=GROUP)[0])
    group[:] = 3, 4
    assert not np.array_equal(call(LOSS, y, None, weight, group)[0], after)
    assert not np.array_equal(after, before)


@pytest.mark.parametrize(("g", "h"), [(np.nan, 1.0), (1.0, np.inf), (1e39, 1.0), (1.0, -1.0)])
def test_what_the_frameworks_would_take_silently_is_an_error(g, h):
    with pytest.raises(ValueError, match=r"returned gradient .* in row 0; .*: check weights and scores"):
        call(Returns(g, h))


def test_a_hessian_below_float32_takes_its_gradient_along():
    with pytest.warns(UserWarning, match="vanished"):
        g, h = call(Returns(1.0, 1e-40))
    assert not g.any()
    assert not h.any()


def test_a_zero_gradient_warns_once_per_queries():
    y = np.full(7, 4.0)
    with pytest.warns(UserWarning, match="none of the 2 queries holds two documents of different grades"):
        call(LOSS, y)
    call(LOSS, y)
    with pytest.warns(UserWarning, match="nothing to learn"):
        call(LOSS, y + 1)


ONES, TWO = np.ones(len(Y)), bp.Pairs([0, 4], [1, 5])
CAUSES = {
    "all row weights": ({"weight": 0 * ONES}, "all row weights are 0"),
    "all row weights beside pairs": ({"weight": 0 * ONES, "pairs": TWO}, "all row weights are 0"),
    "no pairs": ({"pairs": bp.Pairs([], [])}, "pairs= is empty"),
    "weights of pairs": ({"pairs": bp.Pairs([0, 4], [1, 5], weight=[0.0, 0.0])}, "all 2 pairs have weight 0"),
    "weights of their rows": (
        {"pairs": TWO, "weight": np.r_[0.0, 1, 1, 1, 0, 1, 1]},
        "each of the 2 pairs has a row of weight 0",
    ),
    "unlabelled": ({"labelled": ONES < 1}, "no row is labelled"),
    "labelled without weight": ({"labelled": Y > 2, "weight": 1.0 * (Y < 2)}, "every labelled row has weight 0"),
    "single documents": ({"group": np.ones(7, int)}, "none of the 7 queries holds two judged documents"),
    "one judged document": ({"labelled": Y > 1}, "none of the 2 queries holds two judged documents"),
    "equal grades": ({"labels": ONES}, "none of the 2 queries holds two documents of different grades"),
    "equal grades that weigh": ({"weight": 1.0 * (Y == 1)}, r".*different grades \(with positive weight\)"),
}


@pytest.mark.parametrize("case", CAUSES)
def test_what_leaves_nothing_to_learn_is_named(case):
    given, cause = CAUSES[case]
    table = xgb.DMatrix(np.eye(len(Y)), Y, group=GROUP)
    plug.assign(table, bp.Queries(**{"labels": Y, "group": GROUP, **given}))
    with pytest.warns(UserWarning, match=f"nothing to learn from: {cause}.*; the model stays constant"):
        LOSS(np.zeros(len(Y)), table)


@pytest.mark.parametrize("pairs", [None, TWO])
def test_a_gradient_that_vanishes_is_no_matter_of_the_data(pairs):
    table = xgb.DMatrix(np.eye(len(Y)), Y, group=GROUP)
    plug.assign(table, bp.Queries(Y if pairs is None else None, group=GROUP, pairs=pairs))
    with pytest.warns(UserWarning, match="nothing to learn from: its gradient has vanished at these scores"):
        LOSS(1e4 * (Y if pairs is None else np.isin(np.arange(7), TWO.winner)), table)


@pytest.mark.parametrize("loss", [bp.MPBoost(), bp.NDCGBoost()], ids=repr)
def test_gradients_of_one_round_survive_the_next(loss):
    """Also where memory is used again: on a dataset of 20,000 rows."""
    labels, group = np.tile([0.0, 1, 2, 0], 5_000), np.full(2_000, 10)
    table = xgb.QuantileDMatrix(labels[:, None], labels, group=group)
    scores = [np.random.default_rng(seed).normal(size=len(labels)) for seed in range(4)]
    results = [loss(s, table) for s in scores]
    for s, ours in zip(scores, results, strict=True):
        for out, new in zip(ours, loss.gradient_hessian(s, bp.Queries(labels, group=group)), strict=True):
            np.testing.assert_array_equal(out, new.astype(np.float32))
