"""The plug itself: what is cached, what is handed over, and what happens where a framework is missing."""

from dataclasses import dataclass

import numpy as np
import pytest

import boostplug as bp
from boostplug.adapters import reading as plug

Y = np.array([0.0, 2, 1, 0, 1, 1, 3])
GROUP = np.array([4, 3])
LOSS = bp.MPBoost()
SCORES = np.linspace(-1, 1, len(Y))
xgb = pytest.importorskip("xgboost")


@dataclass(frozen=True)
class Returns(bp.Loss):
    """Returns what it is told."""

    g: float
    h: float
    traits = bp.Traits(hessian="model")

    def compute_value(self, scores, queries):
        return np.zeros(queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        return np.full(queries.n_rows, self.g), np.full(queries.n_rows, self.h)


def call(loss, y=Y, weight=None, group=GROUP):
    return loss(y, SCORES, weight, group)


def test_arrays_give_what_queries_give_also_once_they_have_changed():
    """The same array objects with other values: nothing is remembered by identity."""
    y, weight, group, found = Y.copy(), np.ones(len(Y)), GROUP.copy(), set()
    for array, values in ((y, Y), (y, 4 - Y), (weight, 1 + Y), (group, [3, 4])):
        array[:] = values
        queries = bp.Queries(y, group=group, weight=weight)
        expected = np.float32(LOSS.gradient_hessian(SCORES, queries))
        np.testing.assert_array_equal(call(LOSS, y, weight, group), expected)
        found.add(expected.tobytes())
    assert len(found) == 4


@pytest.mark.parametrize(("g", "h"), [(np.nan, 1.0), (1.0, np.inf), (1e39, 1.0), (1.0, -1.0)])
def test_what_the_frameworks_would_take_silently_is_an_error(g, h):
    with pytest.raises(ValueError, match=r"returned gradient .* in row 0; .*: check weights and scores"):
        call(Returns(g, h))


def test_a_hessian_below_float32_takes_its_gradient_along():
    with pytest.warns(UserWarning, match="vanished"):
        g, h = call(Returns(1.0, 1e-40))
    assert not g.any()
    assert not h.any()


def test_each_loss_warns_once_that_data_teach_it_nothing():
    y = np.full(7, 4.0)
    for loss in (LOSS, bp.RankNet()):
        text = f"^{type(loss).__name__}.* has nothing to learn from: none of the 2 queries holds two documents of diff"
        with pytest.warns(UserWarning, match=text) as caught:
            [call(loss, y) for _ in range(2)]
        assert len(caught) == 1
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
