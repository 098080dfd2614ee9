"""The tables and tails of the smooth-pairs kernel, function by function; every way of summing against all pairs."""

from functools import partial

import numpy as np
import pytest

import boostplug as bp
from boostplug.core.checks import frozen
from boostplug.kernels.pairs import smooth
from boostplug.kernels.pairs.masses import gap_sums
from boostplug.kernels.pairs.tables import tables_of
from boostplug.losses.base.logistic import LOGISTIC, SIGMOID, curvature, softplus
from boostplug.losses.base.smooth_pair_loss import PairFunction, sum_over_grades


def gamma(d):
    t = np.exp(-np.abs(d))
    return t / (1 + t) ** 2


def wrong(d):
    t = np.exp(-np.abs(d))
    return np.where(d < 0, 1.0, t) / (1 + t)


@pytest.fixture
def most_blocks(monkeypatch):
    """The largest number of blocks of each call for long lists; 1: its pairs were summed one by one."""
    found, kernel = [], smooth.sum_boxes

    def recording(begin, end, task, parts, functions, block_end):
        kernel(begin, end, task, parts, functions, block_end)
        found.append(max(np.count_nonzero(block_end[a:b]) for a, b in zip(parts.first, parts.last, strict=True)))

    monkeypatch.setattr(smooth, "sum_boxes", recording)
    return found


def sampled(*functions):
    return PairFunction(*functions, 1.0, tables_of(functions))


def all_pairs(function, scores, labels, gains=None, sign=-1.0):
    """Return Σ_{lower} c κ(F_i - F_j) + sign Σ_{higher} c κ(F_j - F_i) of each document, by the full matrix."""
    d = scores[:, None] - scores[None, :]
    c = np.ones(d.shape) if gains is None else np.abs(gains[:, None] - gains[None, :])
    below, above = labels[:, None] > labels[None, :], labels[:, None] < labels[None, :]
    k = function(np.where(below, d, -d))
    return (c * k * (below + sign * above)).sum(axis=1)


@pytest.mark.parametrize("n_lower", [1, 2000], ids=["pieces", "boxes"])
@pytest.mark.parametrize("function", [gamma, wrong])
def test_every_pair_is_right(function, n_lower, most_blocks):
    """Each single pair, at every distance: a sum whose pairs are all far is as good as one of near pairs."""
    sums = partial(sum_over_grades, sampled(function, function, function).for_value)
    distance = np.r_[np.linspace(-60.0, 60.0, 2401), -500.0, 500.0, 1e6, -1e6, 1e20, -1e20]
    n = len(distance)
    if n_lower == 1:
        scores = np.ravel(np.column_stack([np.zeros(n), distance]))
        queries = bp.Queries(np.tile([0, 1], n), group=np.full(n, 2))
        found = sums(scores, queries, np.ones(n))[0, 1::2]
    else:
        scores, labels = np.r_[np.zeros(n_lower), distance], np.r_[np.zeros(n_lower), np.ones(n)]
        found = sums(scores, bp.Queries(labels, group=[n + n_lower]), np.ones(1))[0, n_lower:]
    assert most_blocks == ([] if n_lower == 1 else [2])
    expected = n_lower * function(distance)
    near = np.abs(distance) < 37.5
    np.testing.assert_allclose(found[near], expected[near], rtol=1e-11 if n_lower == 1 else 2e-7)
    np.testing.assert_allclose(found, expected, rtol=2e-7, atol=n_lower * 1e-16)


@pytest.mark.parametrize(
    "function",
    [
        lambda d: 0.5 * d * d + 3.0,
        lambda d: 2.0 * d - 1.0,
        softplus,
    ],
    ids=["quadratic", "linear", "softplus"],
)
@pytest.mark.parametrize("n", [40, 400], ids=["pairs", "boxes"])
def test_tails_of_every_form(function, n, most_blocks):
    rng = np.random.default_rng(0)
    sums = partial(sum_over_grades, sampled(function, function, function).for_derivatives)
    for spread in (1.0, 30.0, 1000.0, 1e6):
        scores, labels = spread * rng.normal(size=n), rng.integers(0, 4, n)
        exact = all_pairs(function, scores, labels)
        found = sums(scores, bp.Queries(labels, group=[n]), np.ones(1))[0]
        np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())
    assert (4 in most_blocks) == (n == 400)


@pytest.mark.parametrize(
    ("spread", "n_grades"),
    [(spread, n_grades) for n_grades in (2, 5, 31, 2000) for spread in (0.01, 1.0, 50.0, 3000.0)],
)
def test_every_way_of_summing(spread, n_grades, most_blocks):
    """Pairs and boxes, of few and many grades: NDCGBoost's and RankNet's sums."""
    rng = np.random.default_rng(1)
    n = 1200
    labels = rng.integers(0, n_grades, n) / n_grades
    scores = spread * rng.normal(size=n)
    queries = bp.Queries(labels, group=[n])
    levels = frozen(np.exp(3.0 * queries.grade_groups.group_grade))
    # Beside each other: gains, and gains of which only the gaps are left.
    for level, gain in ((frozen(np.zeros(0)), None), (levels, np.exp(3.0 * labels)),
                          (frozen(levels + 1e4), np.exp(3.0 * labels))):  # fmt: skip
        g, h = sum_over_grades(SIGMOID.for_derivatives, scores, queries, np.ones(1), gain=level)
        for found, sign in ((-g, -1.0), (h, 1.0)):
            exact = all_pairs(gamma, scores, labels, gain, sign)
            np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())
        g, h = sum_over_grades(LOGISTIC.for_derivatives, scores, queries, np.ones(1), gain=level)
        for found, function, sign in ((-g, wrong, -1.0), (h, gamma, 1.0)):
            exact = all_pairs(function, scores, labels, gain, sign)
            np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())
        value = sum_over_grades(SIGMOID.for_value, scores, queries, np.ones(1), gain=level)[0]
        exact = all_pairs(wrong, scores, labels, gain, 0.0)
        np.testing.assert_allclose(value, exact, rtol=0, atol=2e-7 * np.abs(exact).max())
    if spread <= 1.0:
        assert min(most_blocks) > 1
        assert n_grades < 31 or min(most_blocks) < n_grades  # blocks of several grades


@pytest.mark.parametrize("n_grades", [3, 500])
def test_row_weights(n_grades, most_blocks):
    rng = np.random.default_rng(2)
    for n in (300, 800):
        labels, scores, weight = rng.integers(0, n_grades, n), 3.0 * rng.normal(size=n), rng.random(n) + 1e-3
        s = np.sqrt(weight)
        d = scores[:, None] - scores[None, :]
        exact = (s[:, None] * s[None, :] * gamma(d) * (labels[:, None] != labels[None, :])).sum(axis=1)
        queries = bp.Queries(labels, group=[n], weight=weight)
        _, h = sum_over_grades(LOGISTIC.for_derivatives, scores, queries, np.array([queries.grade_groups.unit]))
        np.testing.assert_allclose(h, exact, rtol=0, atol=2e-7 * exact.max())
    assert max(most_blocks) > 1


def test_clusters_far_apart_with_boxes_between_them_empty(most_blocks):
    rng = np.random.default_rng(3)
    n = 1000
    labels = rng.integers(0, 4, n)
    for places in ([0.0, 1e3], [-1e9, 0.0, 1e9], [0.0, 35.0, 37.5, 40.0, 42.5], [0.0, 1e17], [0.0, 1e300]):
        scores = rng.choice(places, n) + 0.3 * rng.normal(size=n)
        g, h = sum_over_grades(LOGISTIC.for_derivatives, scores, bp.Queries(labels, group=[n]), np.ones(1))
        for found, function, sign in ((-g, wrong, -1.0), (h, gamma, 1.0)):
            exact = all_pairs(function, scores, labels, None, sign)
            np.testing.assert_allclose(found, exact, rtol=0, atol=2e-7 * np.abs(exact).max())
    assert most_blocks == [4] * 5


def test_gap_sums():
    level = np.array([0.0, 1.0, 3.0, 2.0, 5.0])
    mass = np.array([2.0, 1.0, 4.0, 3.0, 0.5])
    out = np.empty(5)
    gap_sums(np.array([0, 3, 5]), level, mass, out)
    assert out.tolist() == [1 * 1 + 4 * 3, 2 * 1 + 4 * 2, 2 * 3 + 1 * 2, 0.5 * 3, 3 * 3]


def by_double_loop(functions, lower, higher, scores, weight_of_pair):
    """Return Σ_f, f's share times κ_f, of each document over its pairs, straight from the definition."""
    n, n_outputs = len(scores), len(lower[0])
    out = np.zeros((n_outputs, n))
    for i in range(n):
        for j in range(n):
            w = weight_of_pair(i, j)  # 0 unless i is the higher one
            if w:
                for function, to_higher, to_lower in zip(functions, lower, higher, strict=True):
                    k = w * float(function(scores[i] - scores[j]))
                    for o in range(n_outputs):
                        out[o, i] += to_higher[o] * k
                        out[o, j] += to_lower[o] * k
    return out


SUMS = {
    "NDCGBoost": (SIGMOID.for_derivatives, [lambda d: -gamma(d), gamma]),
    "NDCGBoost's value": (SIGMOID.for_value, [wrong]),
    "RankNet": (LOGISTIC.for_derivatives, [lambda d: -wrong(d), gamma]),
    "RankNet's value": (LOGISTIC.for_value, [softplus]),
    "by tables": (sampled(softplus, wrong, curvature).for_derivatives, [wrong, gamma]),
}


@pytest.mark.parametrize(
    ("what", "n", "n_grades"), [("ones", 140, 3), ("gains", 140, 3), ("ones", 700, 3), ("gains", 700, 600)]
)
@pytest.mark.parametrize("name", SUMS)
def test_winners_and_losers_weigh_apart(name, what, n, n_grades):
    """The pair (i, j), i higher, weighs a_i b_j, whichever way it is summed."""
    f, functions = SUMS[name]
    rng = np.random.default_rng(5)
    group = np.array([12, n])
    labels, n = np.r_[rng.integers(0, 3, 12), rng.integers(0, n_grades, n)], n + 12
    scores = 2.0 * rng.normal(size=n)
    a, b = 0.2 + rng.random(n), 0.2 + rng.random(n)
    queries = bp.Queries(labels, group=group).with_pair_weights(a, b)
    groups = queries.grade_groups
    assert len(groups.rows) == n
    level = np.zeros(n)
    level[groups.rows] = np.repeat(np.exp(groups.group_grade / n_grades), np.diff(groups.group_start))
    gain = frozen(np.exp(groups.group_grade / n_grades) if what == "gains" else np.zeros(0))
    query = queries.query_of_row

    def weight_of_pair(i, j):
        if query[i] != query[j] or labels[i] <= labels[j]:
            return 0.0
        of_grades = level[i] - level[j] if what == "gains" else 1.0
        return of_grades * a[i] * b[j]

    factor = np.array([1.0, 0.5])
    exact = by_double_loop(functions, f.lower, f.higher, scores, weight_of_pair) * factor[query]
    found = sum_over_grades(f, scores, queries, factor, gain=gain)
    for of_output, of_loop in zip(found, exact, strict=True):
        np.testing.assert_allclose(of_output, of_loop, rtol=0, atol=2e-7 * np.abs(of_loop).max())
