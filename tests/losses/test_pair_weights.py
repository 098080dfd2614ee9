"""Pairs that weigh `winner[i] * loser[j]`: derivatives are the sums over pairs taken one at a time."""

import numpy as np
import pytest
from losses.functions import FUNCTIONS

import boostplug as bp
from boostplug.losses.base.pair_loss import pairs_to_learn

LOSSES = [
    bp.RankNet(sigmoid=1.5),
    bp.NDCGBoost(),
    bp.NDCGBoost(hessian="bound", gain="linear"),
    bp.QBRank(preference_weight=1.0),
    bp.QBRank(preference_weight=1.0, margin=0.7, hessian="global"),
    bp.MPBoost(),
    bp.MPBoost(distance=bp.BinaryDistance()),
    bp.MPBoost(distance=np.sqrt),
    bp.LambdaRank(),
    bp.LambdaRank(metric=bp.MAP()),
    bp.LambdaRank(truncation=3),
    bp.LambdaRank(metric=bp.MAP(), truncation=3),
    bp.PairwiseLoss(*FUNCTIONS["logistic"]),
]
NOTHING = 1e-30


def derivatives(loss, scores, queries, scale):
    """Return gradient, Hessian and value, multiplied out."""
    out = loss.compute_gradient_hessian(scores, queries, scale)
    gradient, hessian = out[0], out[1]
    if len(out) > 2:  # each query's are relative to e^shift
        times = np.exp(out.shift)[queries.query_of_row]
        gradient, hessian = gradient * times, hessian * times
    return np.r_[gradient, hessian, loss.compute_value(scores, queries)]


def pair_by_pair(loss, scores, queries, winner, loser):
    """Return the weighted sum of what each pair gives alone: all other weights next to nothing."""
    total = 0.0
    scale = loss.scale(queries)
    for i in range(queries.n_rows):
        for j in range(queries.n_rows):
            one, other = np.full((2, queries.n_rows), NOTHING)
            one[i], other[j] = 1.0, 1.0
            total = total + winner[i] * loser[j] * derivatives(
                loss, scores, queries.with_pair_weights(one, other), scale
            )
    return total


@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 1.0, 3.0, 0.7, 1.0, 1.5]], ids=["plain", "row weights"])
@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_are_the_sum_over_weighted_pairs(loss, weight):
    rng = np.random.default_rng(0)
    queries = bp.Queries([0, 2, 1, 1, 0, 3, 2], group=[7], weight=weight)
    scores = rng.normal(size=7)
    winner, loser = rng.uniform(0.2, 3.0, (2, 7))
    weighted = derivatives(loss, scores, queries.with_pair_weights(winner, loser), loss.scale(queries))
    np.testing.assert_allclose(weighted, pair_by_pair(loss, scores, queries, winner, loser), rtol=1e-6, atol=1e-9)
    plain = derivatives(loss, scores, queries, loss.scale(queries))
    np.testing.assert_allclose(plain, pair_by_pair(loss, scores, queries, *np.ones((2, 7))), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.takes_pairs])
@pytest.mark.parametrize("group", [[25, 15], [900]], ids=["short", "long"])
@pytest.mark.parametrize("digits", [0, 2], ids=["grades", "real"])
def test_explicit_pairs_weigh_what_the_pairs_of_grades_do(loss, group, digits):
    rng = np.random.default_rng(1)
    n = sum(group)
    labels, scores = np.round(rng.uniform(0.0, 2.5, n), digits), rng.normal(size=n)  # at most 256 grades
    winner, loser = rng.uniform(0.2, 3.0, (2, n))
    grades = bp.Queries(labels, group=group)
    i, j = np.nonzero((labels[:, None] > labels) & (grades.query_of_row[:, None] == grades.query_of_row))
    listed = bp.Queries(labels, group=group, pairs=bp.Pairs(i, j, margin=labels[i] - labels[j]))
    assert len(pairs_to_learn(listed).winner) == len(i)
    by_grade, by_list = (
        derivatives(loss, scores, queries.with_pair_weights(winner, loser), 1.0) for queries in (grades, listed)
    )
    np.testing.assert_allclose(by_list, by_grade, rtol=1e-6, atol=1e-7 * np.abs(by_list).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("labels", ["two grades", "grades", "real"])
def test_long_lists_weigh_as_by_row_weights(loss, labels):
    """Of two grades a document wins all its pairs or loses all; of more, both weights are the root of a row weight."""
    rng = np.random.default_rng(2)
    n = 1500
    most, digits = {"two grades": (1.0, 0), "grades": (4.0, 0), "real": (4.0, 2)}[labels]
    y, scores, weight = np.round(rng.uniform(0.0, most, n), digits), rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    winner = loser = np.sqrt(weight)
    if labels == "two grades":
        winner, loser = np.where(y == 1.0, winner, 7.0), np.where(y == 0.0, loser, 7.0)
    expected = derivatives(loss, scores, bp.Queries(y, group=[n], weight=weight), 1.0)
    found = derivatives(loss, scores, bp.Queries(y, group=[n]).with_pair_weights(winner, loser), 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
