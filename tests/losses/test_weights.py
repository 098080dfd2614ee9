"""Weights of rows are relative; pairs that weigh `winner[i] * loser[j]` count as pairs taken one at a time."""

import numpy as np
import pytest
from losses.functions import FUNCTIONS
from pair_weights import with_pair_weights

import boostplug as bp
from boostplug.losses.base.logistic import curvature, slope, softplus
from boostplug.losses.base.pair_loss import pairs_to_learn


def gap(higher, lower):
    return higher - lower


def rounded(gaps):
    return 1.0 + np.sqrt(gaps)


def times(queries, c, of_pairs=1.0):
    """Return the queries with all row weights times c, and those of explicit pairs times another number."""
    weight = np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight
    pairs = queries.pairs
    if pairs is not None and of_pairs != 1.0:
        own = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
        pairs = bp.Pairs(pairs.winner, pairs.loser, weight=of_pairs * own, margin=pairs.margin)
    return bp.Queries(
        queries.labels, group=np.diff(queries.boundaries), weight=c * weight, pairs=pairs, labelled=queries.labelled,
        position=queries.position,
    )  # fmt: skip


ON_PAIRS_ALONE = [
    bp.MPBoost(), bp.MPBoost(hessian="gentle"), bp.RankNet(normalization="rows"), bp.QBRank(preference_weight=1.0),
    bp.QBRank(preference_weight=1.0, normalization="documents"), bp.PairwiseLoss(softplus, slope, curvature),
]  # fmt: skip


@pytest.mark.parametrize("loss", ON_PAIRS_ALONE)
def test_weights_of_explicit_pairs_are_relative_too(loss):
    rng = np.random.default_rng(5)
    n = 12
    pairs = bp.Pairs(*rng.permuted(np.tile(np.arange(n), (20, 1)), axis=1)[:, :2].T, weight=rng.random(20))
    queries = bp.Queries(None, group=[5, 7], pairs=pairs, weight=rng.random(n))
    scores = rng.normal(size=n)
    g, h = loss.gradient_hessian(scores, queries)
    for c in (2.0**-40, 2.0, 2.0**30):
        np.testing.assert_array_equal(loss.gradient_hessian(scores, times(queries, 1.0, c)), (g, h))
        np.testing.assert_array_equal(loss.gradient_hessian(scores, times(queries, c, c)), (g, h))
    for c in (1e-6, 1e30):
        np.testing.assert_allclose(loss.gradient_hessian(scores, times(queries, c, 1 / c)), (g, h), rtol=1e-9)


# What a document's Hessian is on average at equal scores, over the documents that stand in pairs.
HESSIANS = [
    (bp.MPBoost(distance=rounded), 2.0),
    (bp.MPBoost(hessian="gentle", normalization="query"), 2.0),
    (bp.MPBoost(hessian="bound", normalization="rows"), 4.0),
    (bp.RankNet(normalization="rows"), 0.5),
    (bp.NDCGBoost(gain="linear", normalization="query"), 0.5),
    (bp.NDCGBoost(hessian="global"), 2.0 / (3.0 * np.sqrt(3.0))),
    (bp.PairwiseLoss(softplus, slope, curvature, weight=gap, normalization="query"), 0.5),
    (bp.QBRank(preference_weight=1.0, hessian="global", normalization="rows"), 4.0),
]


@pytest.mark.parametrize(("loss", "average"), HESSIANS)
@pytest.mark.parametrize("labels", ["grades", "many"])
@pytest.mark.parametrize("paired", [False, True])
def test_a_document_stands_for_one_whatever_the_weights(loss, average, labels, paired):
    rng = np.random.default_rng(6)
    group = [40, 7, 1, 12, 30]
    n = sum(group)
    weight = 10.0 ** rng.uniform(-3, 3, n) * (rng.random(n) < 0.9)
    y = rng.integers(0, 4, n) if labels == "grades" else rng.random(n)
    pairs = None
    if paired:
        if not loss.traits.pairs:
            return
        ends = np.sort(rng.permuted(np.tile(np.arange(n), (80, 1)), axis=1)[:, :2], axis=1)
        pairs = bp.Pairs(*ends.T, weight=rng.random(80), margin=rng.random(80) + 0.1)
    queries = bp.Queries(y, group=group, weight=weight, pairs=pairs)
    _, h = loss.gradient_hessian(np.zeros(n), queries)
    documents = (queries.grade_groups if pairs is None else queries.listed_pairs).n_judged.sum()
    np.testing.assert_allclose(h.sum(), average * documents, rtol=1e-5)  # tables


def test_the_terms_of_the_scale_are_in_the_users_unit():
    """So that those of machines whose weights have units of their own add up."""
    weight = np.array([1e-4, 3e-4, 2e-4])
    queries = bp.Queries([2, 1, 0], group=[3], weight=weight)
    roots = np.sqrt(np.outer(weight, weight))[np.triu_indices(3, 1)]
    numerator, denominator = bp.RankNet().scale_terms(queries)
    assert numerator == [3.0]
    assert denominator == pytest.approx([roots.sum()])
    for loss, expected in (
        (bp.MPBoost(distance=bp.LinearDistance(alpha=1.0)), roots @ [1.0, 4.0, 1.0]),
        (bp.PairwiseLoss(softplus, slope, curvature, weight=gap), roots @ [1.0, 2.0, 1.0]),
        (bp.PairwiseLoss(softplus, slope, curvature, normalization="query"), roots.sum() / 3),
        (bp.QBRank(preference_weight=0.25), 0.25 * roots.sum() + 0.75 * 6e-4),
        (bp.QBRank(preference_weight=0.25, normalization="rows"), 0.25 * roots.sum() + 0.75 * 6e-4),
        (bp.QBRank(preference_weight=0.0), 6e-4),
        (bp.QBRank(normalization="documents"), 6e-4),
    ):
        numerator, denominator = loss.scale_terms(queries)
        assert numerator == pytest.approx([3.0])
        assert denominator == pytest.approx([expected])


def test_light_pairs_beside_a_heavy_document_keep_their_weight():
    """Sums of weights of pairs are sums: no difference of squares, in which the light pairs would be rounding."""
    weight = np.array([1e30, 1e-30, 1e-30])
    groups = bp.Queries([0, 1, 2], group=[3], weight=weight).grade_groups
    assert groups.unit * groups.pair_weight_of_queries == pytest.approx([2.0 + 1e-30])
    groups = bp.Queries([0, 0, 1, 2], group=[1, 3], weight=np.r_[1e90, weight]).grade_groups  # a query without pairs
    assert groups.unit * groups.pair_weight_of_queries == pytest.approx([2.0 + 1e-30])
    groups = bp.Queries([0, 1, 0, 1], group=[2, 2], weight=[1e30, 1e30, 1e-30, 3e-30]).grade_groups
    assert groups.unit * groups.pair_weight_of_queries == pytest.approx([1e30, np.sqrt(3.0) * 1e-30])


WITH_PAIR_WEIGHTS = [
    bp.RankNet(sigmoid=1.5),
    bp.NDCGBoost(),
    bp.QBRank(preference_weight=1.0),
    bp.QBRank(preference_weight=1.0, margin=0.7, hessian="global"),
    bp.MPBoost(),
    bp.MPBoost(distance=bp.BinaryDistance()),
    bp.LambdaRank(),
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
                loss, scores, with_pair_weights(queries, one, other), scale
            )
    return total


@pytest.mark.parametrize("loss", WITH_PAIR_WEIGHTS)
def test_derivatives_are_the_sum_over_weighted_pairs(loss):
    rng = np.random.default_rng(0)
    queries = bp.Queries([0, 2, 1, 1, 0, 3, 2], group=[7], weight=[0.5, 2.0, 1.0, 3.0, 0.7, 1.0, 1.5])
    scores = rng.normal(size=7)
    winner, loser = rng.uniform(0.2, 3.0, (2, 7))
    weighted = derivatives(loss, scores, with_pair_weights(queries, winner, loser), loss.scale(queries))
    np.testing.assert_allclose(weighted, pair_by_pair(loss, scores, queries, winner, loser), rtol=1e-6, atol=1e-9)


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
        derivatives(loss, scores, with_pair_weights(queries, winner, loser), 1.0) for queries in (grades, listed)
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
    expected = derivatives(loss, scores, bp.Queries(y, group=[n], weight=weight), 1.0)
    found = derivatives(loss, scores, with_pair_weights(bp.Queries(y, group=[n]), winner, loser), 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
