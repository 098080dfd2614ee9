"""Sums over boxes of grades against all pairs at once, and against what they promise of every pair."""

import math

import numpy as np
import pytest

import boostplug as bp
from boostplug.kernels.base.arithmetic import log1p
from boostplug.kernels.base.compiling import compiled

DISTANCES = [bp.LinearDistance(alpha=1.0), bp.LogDistance(), bp.LogisticDistance(beta=1.0)]
N = 1200
LABELS = {
    "normal": lambda rng: rng.normal(size=N),
    "uniform, some equal": lambda rng: 4.0 * rng.integers(0, 700, N) / 700,
    "some hundred grades": lambda rng: np.sort(rng.normal(size=100))[rng.integers(0, 100, N)],
    "heavy tails": lambda rng: np.exp(3.0 * rng.normal(size=N)),
    "two clusters": lambda rng: rng.integers(0, 2, N) + 1e-6 * rng.random(N),
    "one far away": lambda rng: np.r_[1e6, rng.random(N - 1)],
    "small unit": lambda rng: 1e-5 * rng.normal(size=N),
    "large unit": lambda rng: 1e5 * rng.normal(size=N),
}
SCORES = {
    "equal": lambda rng, _: np.zeros(len(_)),
    "near": lambda rng, _: rng.normal(size=len(_)),
    "far": lambda rng, _: 20.0 * rng.normal(size=len(_)),
    "trained": lambda rng, labels: 3.0 * labels / np.std(labels) + rng.normal(size=len(labels)),
    "one far away": lambda rng, _: np.r_[rng.normal(size=len(_) - 1), 30.0],
}


def all_pairs(loss, scores, queries):
    """Return gradient and Hessian of one query, over its factor and e^shift, and the shift: the largest exponent."""
    labels, f = queries.labels, scores
    s = np.ones(len(f)) if queries.row_weight is None else np.sqrt(queries.row_weight)
    gap = labels[:, None] - labels
    higher = gap > 0
    d = np.where(higher, loss.distance(np.where(higher, gap, 1.0)), 0.0)
    exponent = np.where(higher, -d * (f[:, None] - f), -np.inf)
    shift = exponent.max()
    w = np.exp(exponent - shift) * s[:, None] * s
    curved = {"newton": d * d, "gentle": 1.0, "bound": 2.0 * d * d}[loss.hessian] * w
    return (d * w).sum(0) - (d * w).sum(1), curved.sum(0) + curved.sum(1), shift


def assert_equals_all_pairs(loss, scores, queries):
    """Of the largest output, 1e-10; of every Hessian that is not 300 orders of magnitude smaller, 1e-8."""
    g, h, _ = all_pairs(loss, scores, queries)
    gradient, hessian = loss.gradient_hessian(scores, queries)
    factor = h.max() / hessian.max()
    np.testing.assert_allclose(factor * gradient, g, rtol=0, atol=1e-10 * np.abs(g).max())
    np.testing.assert_allclose(factor * hessian, h, rtol=1e-8, atol=1e-200 * h.max())
    assert (hessian[gradient != 0.0] > 0.0).all()
    assert abs(gradient.sum()) <= 1e-12 * np.abs(gradient).sum()


def in_unit_of(distance, labels, scores):
    """Return the scores in the unit of the distance: exponents are then the same, whatever that of the grades."""
    return scores / np.std(labels) if isinstance(distance, bp.LinearDistance) else scores


# Each kind of labels meets each kind of scores, and each distance both.
@pytest.mark.parametrize(
    ("distance", "labels", "scores"),
    [(DISTANCES[(i + j) % 3], labels, scores) for i, labels in enumerate(LABELS) for j, scores in enumerate(SCORES)],
)
def test_equals_all_pairs(distance, labels, scores):
    rng = np.random.default_rng(1)
    grades = LABELS[labels](rng)
    f = in_unit_of(distance, grades, SCORES[scores](rng, grades))
    assert_equals_all_pairs(bp.MPBoost(distance=distance), f, bp.Queries(grades, group=[N]))


@pytest.mark.parametrize("hessian", ["newton", "gentle", "bound"])
@pytest.mark.parametrize("distance", DISTANCES)
def test_equals_all_pairs_with_weights(distance, hessian):
    """Weights that differ by thirty orders of magnitude: each pair is right on its own."""
    rng = np.random.default_rng(2)
    weight = np.exp(10.0 * rng.normal(size=N))
    for labels in ("normal", "two clusters", "some hundred grades"):
        grades = LABELS[labels](rng)
        queries = bp.Queries(grades, group=[N], weight=weight)
        assert_equals_all_pairs(bp.MPBoost(distance=distance, hessian=hessian), rng.normal(size=N), queries)


@pytest.mark.parametrize("distance", DISTANCES)
def test_two_boxes_may_be_far_apart_in_the_wrong_order(distance):
    """The largest exponent is then one between boxes, and their references are their own."""
    rng = np.random.default_rng(8)
    upper = np.repeat([False, True], N // 2)
    labels = upper + 1e-4 * rng.random(N)
    assert_equals_all_pairs(
        bp.MPBoost(distance=distance),
        np.where(upper, -1000.0, 1000.0) + rng.normal(size=N),
        bp.Queries(labels, group=[N]),
    )


@pytest.mark.parametrize("distance", DISTANCES[:2])
def test_the_smallest_of_gaps_count_beside_the_largest(distance):
    """Hessians of documents whose far neighbours weigh nothing are sums of squares of 1e-9."""
    rng = np.random.default_rng(9)
    far = np.repeat([False, True], [2 * N // 3, N // 3])
    labels = np.where(far, 4.0 + rng.random(N), 1e-7 * rng.random(N))
    scores = np.where(far, 60.0, 0.0) + 0.1 * rng.normal(size=N)
    assert_equals_all_pairs(bp.MPBoost(distance=distance), scores, bp.Queries(labels, group=[N]))


@pytest.mark.parametrize("distance", DISTANCES)
def test_gaps_near_the_last_digits_of_grades_are_right(distance):
    """Two clusters in the right order: all that counts are gaps within them, small beside the grades."""
    rng = np.random.default_rng(10)
    upper = np.repeat([False, True], N // 2)
    labels = 100.0 + upper + 1e-11 * rng.random(N)
    scores = 100.0 * upper + rng.normal(size=N)
    assert_equals_all_pairs(bp.MPBoost(distance=distance), scores, bp.Queries(labels, group=[N]))


@pytest.mark.parametrize("n", [60, N])
def test_terms_below_the_range_of_floats_are_nothing(n):
    """Every pair in the right order and e^-1000 at most: no step, rather than one of the smallest floats."""
    labels = 1e4 * np.arange(n)
    queries = bp.Queries(labels, group=[n])
    loss = bp.MPBoost(distance=bp.LinearDistance(alpha=1.0))
    for scores in (0.1 * np.arange(n), labels):
        outputs = loss.compute_gradient_hessian(scores, queries, 1.0)
        for derivative in (outputs.gradient, outputs.hessian):
            np.testing.assert_array_equal(derivative, 0.0)


@pytest.mark.parametrize("distance", DISTANCES)
def test_value_and_scale_are_those_of_all_pairs(distance):
    rng = np.random.default_rng(4)
    grades = LABELS["normal"](rng)
    queries = bp.Queries(grades, group=[N], weight=rng.random(N))
    loss = bp.MPBoost(distance=distance, normalization="rows")
    _, h, shift = all_pairs(loss.with_params(hessian="gentle"), f := rng.normal(size=N), queries)
    pairs = N * (N - 1) / 2
    np.testing.assert_allclose(loss.value(f, queries), 0.5 * h.sum() * math.exp(shift) * N / pairs, rtol=1e-11)
    _, h, _ = all_pairs(loss, np.zeros(N), queries)
    np.testing.assert_allclose(loss.scale(queries), N / (0.5 * h.sum() * N / pairs), rtol=1e-11)


def test_a_query_of_many_grades_gets_what_it_gets_alone():
    rng = np.random.default_rng(7)
    sizes = [300, 40, 2, 700]
    labels = np.concatenate([rng.normal(size=300), rng.integers(0, 3, 40), [1.0, 0.0], rng.normal(size=700)])
    scores = rng.normal(size=sum(sizes))
    loss = bp.MPBoost()
    together = loss.compute_gradient_hessian(scores, bp.Queries(labels, group=sizes), 1.0)
    edges = np.r_[0, np.cumsum(sizes)]
    for q, size in enumerate(sizes):
        rows = slice(edges[q], edges[q + 1])
        alone = loss.compute_gradient_hessian(scores[rows], bp.Queries(labels[rows], group=[size]), 1.0)
        np.testing.assert_array_equal(together.gradient[rows], alone.gradient)
        np.testing.assert_array_equal(together.hessian[rows], alone.hessian)


@compiled()
def logarithms(x, out):
    for i in range(len(x)):
        out[i] = log1p(x[i])


def test_log1p_is_right_to_the_last_bits():
    x = np.r_[0.0, 10.0 ** np.linspace(-300, 300, 5000), np.linspace(0.0, 3.0, 2000), math.sqrt(2.0) - 1.0]
    out = np.empty_like(x)
    logarithms(x, out)
    np.testing.assert_allclose(out, np.log1p(x), rtol=1e-15)
