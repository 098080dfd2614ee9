"""The tables and tails of the smooth-pairs kernel, function by function; every way of summing against all pairs."""

import dataclasses

import numpy as np
import pytest

import boostplug as bp
from boostplug.checks import frozen
from boostplug.kernels import smooth_pairs as kernels
from boostplug.kernels.smooth_pairs import Kernel, Tail
from boostplug.losses import ndcg_boost, ranknet
from boostplug.losses.pairwise import PairWeights, SmoothSums


def gamma(d):
    t = np.exp(-np.abs(d))
    return t / (1 + t) ** 2


def wrong(d):
    t = np.exp(-np.abs(d))
    return np.where(d < 0, 1.0, t) / (1 + t)


def by_tables(queries, n_pairs=1e30):
    """Make the kernel believe that pairs are many, so that it takes boxes; or few, so that it does not."""
    runs = queries.grade_runs
    queries.__dict__["grade_runs"] = dataclasses.replace(runs, n_pairs=frozen(np.full(len(runs.n_pairs), n_pairs)))
    return queries


def all_pairs(function, scores, labels, gains=None, sign=-1.0):
    """Return Σ_{lower} c κ(F_i - F_j) + sign Σ_{higher} c κ(F_j - F_i) of each document, by the full matrix."""
    d = scores[:, None] - scores[None, :]
    c = np.ones(d.shape) if gains is None else np.abs(gains[:, None] - gains[None, :])
    below, above = labels[:, None] > labels[None, :], labels[:, None] < labels[None, :]
    k = function(np.where(below, d, -d))
    return (c * k * (below + sign * above)).sum(axis=1)


@pytest.mark.parametrize(("n_lower", "accuracy"), [(1, 1e-12), (39, 2e-7)], ids=["pieces", "boxes"])
@pytest.mark.parametrize("function", [gamma, wrong])
def test_every_pair_is_right(function, n_lower, accuracy):
    """Each single pair, at every distance: a sum whose pairs are all far is as good as one of near pairs."""
    right = Tail(c=1.0)
    left = Tail(c=1.0) if function is gamma else Tail(q0=1.0, c=-1.0)
    sums = SmoothSums(
        kernels.tables((Kernel(function, left, right),), 2.5, 7),
        kernels.GENERAL, frozen(np.ones((1, 1))), frozen(np.zeros((1, 1))),
    )  # fmt: skip
    distance = np.r_[np.linspace(-60.0, 60.0, 2401), -500.0, 500.0, 1e6, -1e6]
    n = len(distance)
    scores = np.ravel(np.column_stack([np.zeros((n, n_lower)), distance]))
    queries = by_tables(bp.Queries(np.tile(np.arange(n_lower + 1) == n_lower, n), group=np.full(n, n_lower + 1)))
    found = sums(scores, queries, np.ones(n))[0, n_lower :: n_lower + 1]
    expected = n_lower * function(distance)
    within = np.abs(distance) < 17.5
    np.testing.assert_allclose(found[within], expected[within], rtol=accuracy)
    np.testing.assert_allclose(found, expected, rtol=2e-7, atol=1e-300)


@pytest.mark.parametrize(
    ("function", "left", "right"),
    [
        (lambda d: 0.5 * d * d + 3.0, Tail(q0=3.0, q2=0.5), Tail(q0=3.0, q2=0.5)),
        (lambda d: 2.0 * d - 1.0, Tail(q0=-1.0, q1=-2.0), Tail(q0=-1.0, q1=2.0)),
        (lambda d: np.maximum(0, -d) + np.log1p(np.exp(-np.abs(d))), Tail(q1=1.0, c=1.0), Tail(c=1.0)),
    ],
    ids=["quadratic", "linear", "softplus"],
)
def test_tails_of_every_form(function, left, right):
    rng = np.random.default_rng(0)
    lower, higher = frozen(np.ones((1, 1))), frozen(-np.ones((1, 1)))
    sums = SmoothSums(kernels.tables((Kernel(function, left, right),), 2.5, 7), kernels.GENERAL, lower, higher)
    for spread in (1.0, 30.0, 1000.0, 1e6):
        scores, labels = spread * rng.normal(size=200), rng.integers(0, 4, 200)
        exact = all_pairs(function, scores, labels)
        for n_pairs in (1.0, 1e30):
            queries = by_tables(bp.Queries(labels, group=[200]), n_pairs)
            found = sums(scores, queries, np.ones(1))[0]
            np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())


@pytest.mark.parametrize("n_grades", [2, 5, 31, 200, 2000])
@pytest.mark.parametrize("spread", [0.01, 1.0, 50.0, 3000.0])
@pytest.mark.parametrize("kind", ["pairs", "tables"])
def test_every_way_of_summing(kind, spread, n_grades):
    """Pairs, cells of few grades, halves of many: NDCGBoost's and RankNet's sums."""
    rng = np.random.default_rng(1)
    n = 700
    labels = rng.integers(0, n_grades, n) / n_grades
    scores = spread * rng.normal(size=n)
    queries = bp.Queries(labels, group=[n])
    levels = frozen(np.exp(3.0 * queries.grade_runs.run_grade))
    if kind == "tables":
        by_tables(queries)
    gains = PairWeights(kernels.GAINS, level=levels)
    # Beside each other: gains, and gains of which only the gaps are left.
    for weights, gain in ((None, None), (gains, np.exp(3.0 * labels)),
                          (gains._replace(level=frozen(levels + 1e4)), np.exp(3.0 * labels))):  # fmt: skip
        g, h = ndcg_boost.DERIVATIVE_SUMS(scores, queries, np.ones(1), weights=weights)
        for found, sign in ((-g, -1.0), (h, 1.0)):
            exact = all_pairs(gamma, scores, labels, gain, sign)
            np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())
        g, h = ranknet._DERIVATIVES(scores, queries, np.ones(1), weights=weights)
        for found, function, sign in ((-g, wrong, -1.0), (h, gamma, 1.0)):
            exact = all_pairs(function, scores, labels, gain, sign)
            np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())
        value = ndcg_boost.VALUE_SUMS(scores, queries, np.ones(1), weights=weights)[0]
        exact = all_pairs(wrong, scores, labels, gain, 0.0)
        np.testing.assert_allclose(value, exact, rtol=0, atol=2e-7 * np.abs(exact).max())


@pytest.mark.parametrize("n_grades", [3, 500])
def test_row_weights(n_grades):
    rng = np.random.default_rng(2)
    n = 500
    labels, scores, weight = rng.integers(0, n_grades, n), 3.0 * rng.normal(size=n), rng.random(n) + 1e-3
    s = np.sqrt(weight)
    d = scores[:, None] - scores[None, :]
    exact = (s[:, None] * s[None, :] * gamma(d) * (labels[:, None] != labels[None, :])).sum(axis=1)
    for way in (lambda q: q, by_tables):
        queries = way(bp.Queries(labels, group=[n], weight=weight))
        _, h = ranknet._DERIVATIVES(scores, queries, np.ones(1))
        np.testing.assert_allclose(h, exact, rtol=0, atol=2e-7 * exact.max())


def test_clusters_far_apart_with_boxes_between_them_empty():
    rng = np.random.default_rng(3)
    n = 400
    labels = rng.integers(0, 4, n)
    for places in ([0.0, 1e3], [-1e9, 0.0, 1e9], [0.0, 15.0, 17.5, 20.0, 22.5], [0.0, 1e17], [0.0, 1e300]):
        scores = rng.choice(places, n) + 0.3 * rng.normal(size=n)
        queries = by_tables(bp.Queries(labels, group=[n]))
        g, h = ranknet._DERIVATIVES(scores, queries, np.ones(1))
        for found, function, sign in ((-g, wrong, -1.0), (h, gamma, 1.0)):
            exact = all_pairs(function, scores, labels, None, sign)
            np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())


def test_gap_sums():
    level = np.array([0.0, 1.0, 3.0, 2.0, 5.0])
    mass = np.array([2.0, 1.0, 4.0, 3.0, 0.5])
    out = np.empty(5)
    kernels.gap_sums(np.array([0, 3, 5]), level, mass, out)
    assert out.tolist() == [1 * 1 + 4 * 3, 2 * 1 + 4 * 2, 2 * 3 + 1 * 2, 0.5 * 3, 3 * 3]
