"""Weights of rows are relative; pairs that weigh `winner[i] * loser[j]` count as pairs taken one at a time."""

import numpy as np
import pytest
from losses.functions import FUNCTIONS, root_distance
from pair_weights import with_pair_weights

import boostplug as bp
from boostplug.losses.base.pair_loss import pairs_to_learn

LOGISTIC = bp.PairwiseLoss(*FUNCTIONS["logistic"])


@pytest.mark.parametrize(
    "loss",
    [
        bp.MPBoost(), bp.MPBoost(hessian="gentle"), bp.RankNet(normalization="rows"), bp.QBRank(preference_weight=1.0),
        bp.QBRank(preference_weight=1.0, normalization="documents"), LOGISTIC,
    ],
)  # fmt: skip
def test_weights_of_explicit_pairs_are_relative_too(loss):
    rng = np.random.default_rng(5)
    winner, loser = rng.permuted(np.tile(np.arange(12), (20, 1)), axis=1)[:, :2].T
    weight, scores, rows = rng.random(20), rng.normal(size=12), rng.random(12)

    def derivatives(of_rows, of_pairs):
        pairs = bp.Pairs(winner, loser, weight=of_pairs * weight)
        return loss.gradient_hessian(scores, bp.Queries(None, group=[5, 7], pairs=pairs, weight=of_rows * rows))

    expected = derivatives(1.0, 1.0)
    for c in (2.0**-40, 2.0, 2.0**30):
        np.testing.assert_array_equal(derivatives(1.0, c), expected)
        np.testing.assert_array_equal(derivatives(c, c), expected)
    for c in (1e-6, 1e30):
        np.testing.assert_allclose(derivatives(c, 1 / c), expected, rtol=1e-9)


# What a document's Hessian is on average at equal scores, over the documents that stand in pairs.
HESSIANS = [
    (bp.MPBoost(distance=root_distance), 2.0),
    (bp.MPBoost(hessian="gentle", normalization="query"), 2.0),
    (bp.MPBoost(hessian="bound", normalization="rows"), 4.0),
    (bp.RankNet(normalization="rows"), 0.5),
    (bp.NDCGBoost(gain="linear", normalization="query"), 0.5),
    (bp.NDCGBoost(hessian="global"), 2.0 / (3.0 * np.sqrt(3.0))),
    (LOGISTIC.with_params(weight=np.subtract, normalization="query"), 0.5),
    (bp.QBRank(preference_weight=1.0, hessian="global", normalization="rows"), 4.0),
]


@pytest.mark.parametrize(
    ("loss", "average", "paired"),
    [
        (loss, average, paired)
        for loss, average in HESSIANS
        for paired in (False, True)
        if loss.traits.pairs or not paired
    ],
)
@pytest.mark.parametrize("labels", ["grades", "many"])
def test_a_document_stands_for_one_whatever_the_weights(loss, average, labels, paired):
    rng = np.random.default_rng(6)
    weight = 10.0 ** rng.uniform(-3, 3, 90) * (rng.random(90) < 0.9)
    y = rng.integers(0, 4, 90) if labels == "grades" else rng.random(90)
    pairs = None
    if paired:
        ends = np.sort(rng.permuted(np.tile(np.arange(90), (80, 1)), axis=1)[:, :2], axis=1)
        pairs = bp.Pairs(*ends.T, weight=rng.random(80), margin=rng.random(80) + 0.1)
    queries = bp.Queries(y, group=[40, 7, 1, 12, 30], weight=weight, pairs=pairs)
    _, h = loss.gradient_hessian(np.zeros(90), queries)
    np.testing.assert_allclose(h.sum(), average * pairs_to_learn(queries).n_judged.sum(), rtol=1e-5)  # tables


def test_the_terms_of_the_scale_are_in_the_users_unit():
    """So that those of machines whose weights have units of their own add up."""
    weight = np.array([1e-4, 3e-4, 2e-4])
    queries = bp.Queries([2, 1, 0], group=[3], weight=weight)
    roots = np.sqrt(np.outer(weight, weight))[np.triu_indices(3, 1)]
    for loss, expected in (
        (bp.RankNet(), roots.sum()),
        (bp.MPBoost(distance=bp.LinearDistance(alpha=1.0)), roots @ [1.0, 4.0, 1.0]),
        (LOGISTIC.with_params(weight=np.subtract), roots @ [1.0, 2.0, 1.0]),
        (LOGISTIC.with_params(normalization="query"), roots.sum() / 3),
        (bp.QBRank(preference_weight=0.25), 0.25 * roots.sum() + 0.75 * 6e-4),
        (bp.QBRank(preference_weight=0.25, normalization="rows"), 0.25 * roots.sum() + 0.75 * 6e-4),
        (bp.QBRank(preference_weight=0.0), 6e-4),
        (bp.QBRank(normalization="documents"), 6e-4),
    ):
        assert np.ravel(loss.scale_terms(queries)) == pytest.approx([3.0, expected])


def test_light_pairs_beside_a_heavy_document_keep_their_weight():
    """Sums of weights of pairs are sums: no difference of squares, in which the light pairs would be rounding."""
    light = [1e30, 1e-30, 1e-30]
    for labels, group, weight, expected in (
        ([0, 1, 2], [3], light, [2.0 + 1e-30]),
        ([0, 0, 1, 2], [1, 3], [1e90, *light], [0.0, 2.0 + 1e-30]),  # a query without pairs
        ([0, 1, 0, 1], [2, 2], [1e30, 1e30, 1e-30, 3e-30], [1e30, np.sqrt(3.0) * 1e-30]),
    ):
        value = bp.RankNet().value(np.zeros(len(labels)), bp.Queries(labels, group=group, weight=weight))
        np.testing.assert_allclose(value / np.log(2.0), expected, rtol=1e-9)


WITH_PAIR_WEIGHTS = [
    bp.RankNet(sigmoid=1.5),
    bp.NDCGBoost(),
    bp.QBRank(preference_weight=1.0),
    bp.QBRank(preference_weight=1.0, margin=0.7, hessian="global"),
    bp.MPBoost(),
    bp.MPBoost(distance=bp.BinaryDistance()),
    bp.LambdaRank(),
    bp.LambdaRank(metric=bp.MAP(), truncation=3),
    LOGISTIC,
]


def derivatives(loss, scores, queries):
    """Return gradient, Hessian and value, not scaled."""
    return np.r_[*loss.compute_gradient_hessian(scores, queries, 1.0), loss.compute_value(scores, queries)]


@pytest.mark.parametrize("loss", WITH_PAIR_WEIGHTS)
def test_derivatives_are_the_sum_over_weighted_pairs(loss):
    """Each pair gives what it gives where all other weights are next to nothing."""
    rng = np.random.default_rng(0)
    queries = bp.Queries([0, 2, 1, 1, 0, 3, 2], group=[7], weight=[0.5, 2.0, 1.0, 3.0, 0.7, 1.0, 1.5])
    scores, only = rng.normal(size=7), np.maximum(np.eye(7), 1e-30)
    winner, loser = rng.uniform(0.2, 3.0, (2, 7))
    found = derivatives(loss, scores, with_pair_weights(queries, winner, loser))
    expected = sum(
        winner[i] * loser[j] * derivatives(loss, scores, with_pair_weights(queries, only[i], only[j]))
        for i in range(7)
        for j in range(7)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", [loss for loss in WITH_PAIR_WEIGHTS if loss.traits.pairs])
@pytest.mark.parametrize(("group", "digits"), [([25, 15], 2), ([600], 0)], ids=["short, real", "long, grades"])
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
        derivatives(loss, scores, with_pair_weights(queries, winner, loser)) for queries in (grades, listed)
    )
    np.testing.assert_allclose(by_list, by_grade, rtol=1e-6, atol=1e-7 * np.abs(by_list).max())


@pytest.mark.parametrize(
    ("loss", "labels"),
    [
        (loss, labels)
        for i, loss in enumerate(WITH_PAIR_WEIGHTS)
        for labels in ("two grades", ("grades", "real")[i % 2])
    ],
)
def test_long_lists_weigh_as_by_row_weights(loss, labels):
    """Of two grades a document wins all its pairs or loses all; of more, both weights are the root of a row weight."""
    rng = np.random.default_rng(2)
    n = 1500
    most, digits = {"two grades": (1.0, 0), "grades": (4.0, 0), "real": (4.0, 2)}[labels]
    y, scores, weight = np.round(rng.uniform(0.0, most, n), digits), rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    winner = loser = np.sqrt(weight)
    if labels == "two grades":
        winner, loser = np.where(y == 1.0, winner, 7.0), np.where(y == 0.0, loser, 7.0)
    expected = derivatives(loss, scores, bp.Queries(y, group=[n], weight=weight))
    found = derivatives(loss, scores, with_pair_weights(bp.Queries(y, group=[n]), winner, loser))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


# (loss, power of c with which scores go where labels are times c)
UNITS = [
    (bp.RankNet(), 0), (bp.MPBoost(distance=bp.BinaryDistance()), 0), (bp.NDCGBoost(gain="linear"), 0), (LOGISTIC, 0),
    (bp.QBRank(), 1), (bp.QBRank(preference_weight=0.0, margin=1.0), 1), (bp.QBRank(normalization="documents"), 1),
    (bp.MPBoost(distance=bp.LinearDistance()), -1), (bp.MPBoost(distance=bp.LinearDistance(), hessian="bound"), -1),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "degree"), UNITS)
@pytest.mark.parametrize("c", [2.0**9, 0.01, 1e-6, 1e6])
def test_the_unit_of_labels_means_nothing_to_trees(loss, degree, c):
    """Scores in the other unit have the same Hessians, and gradients in that unit: the same trees are grown."""
    rng = np.random.default_rng(5)
    labels, scores = rng.integers(0, 5, 60).astype(float), rng.normal(size=60)
    g, h = loss.gradient_hessian(scores, bp.Queries(labels, group=[40, 20]))
    found, hessian = loss.gradient_hessian(scores * c**degree, bp.Queries(c * labels, group=[40, 20]))
    np.testing.assert_allclose(hessian, h, rtol=1e-9)
    np.testing.assert_allclose(found / c**degree, g, rtol=1e-9, atol=1e-12)
