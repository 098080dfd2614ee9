"""The grid and the tails of smooth pair functions, function by function; every way of summing against all pairs."""

import numpy as np
import pytest
from losses.functions import FUNCTIONS
from pair_weights import with_pair_weights

import boostplug as bp
from boostplug.core.checks import frozen
from boostplug.losses.base import smooth_pair_loss
from boostplug.losses.base.logistic import LOGISTIC, SIGMOID, curvature, softplus, wrong
from boostplug.losses.base.pair_loss import PairFunction
from boostplug.losses.base.smooth_pair_loss import sum_over_pairs

ACCURACY = 1e-9


@pytest.fixture
def cuts(monkeypatch):
    """The cuts of all calls: pairs that were summed on a grid."""
    found, kernel = [], smooth_pair_loss.sum_across

    def recording(begin, end, task, lists, cuts, *functions):
        kernel(begin, end, task, lists, cuts, *functions)
        found.extend(map(tuple, cuts.tolist()))

    monkeypatch.setattr(smooth_pair_loss, "sum_across", recording)
    return found


def sums_of(pair, scores, queries, factor=None, **options):
    groups = queries.grade_groups
    factor = np.full(len(groups.query), groups.unit) if factor is None else factor.copy()
    return sum_over_pairs(pair, frozen(scores.copy()), queries, factor, **options)


def assert_all_pairs(pair, scores, queries, weight=1.0, accuracy=ACCURACY, value=False, **options):
    """Check Σ_j w_ij κ(F_i - F_j) ± Σ_j w_ji κ(F_j - F_i) of each row i, beside the largest; i has the higher grade."""
    query, labels, n = queries.query_of_row, queries.labels, len(scores)
    weight = weight * ((query[:, None] == query) & (labels[:, None] > labels))
    i, j = np.nonzero(weight)
    of_lower = [(pair.value, 0.0)] if value else [(pair.first, -1.0), (pair.second, 1.0)]
    for found, (function, sign) in zip(sums_of(pair, scores, queries, value=value, **options), of_lower, strict=True):
        of_pairs = weight[i, j] * function(scores[i] - scores[j])
        expected = np.bincount(i, of_pairs, n) + sign * np.bincount(j, of_pairs, n)
        np.testing.assert_allclose(found, expected, rtol=0, atol=accuracy * np.abs(expected).max())


@pytest.mark.parametrize("function", [curvature, wrong, lambda d: softplus(d) ** 2])
def test_every_pair_is_right(function, cuts):
    """Each single pair, at every distance: a sum whose pairs are all far is as good as one of near pairs."""
    pair = PairFunction(function, function, function, 1.0)
    distance = np.r_[np.linspace(-60.0, 60.0, 2401), -500.0, 500.0, 1e6, -1e6, 1e20, -1e20]
    n_lower, n = 500, len(distance)
    scores, labels = np.r_[np.zeros(n_lower), distance], np.r_[np.zeros(n_lower), np.ones(n)]
    found = sums_of(pair, scores, bp.Queries(labels, group=[n + n_lower]), value=True)[0, n_lower:]
    assert cuts == [(0, 1, 2)]
    expected = n_lower * function(distance)
    near = np.abs(distance) < 37.5
    np.testing.assert_allclose(found[near], expected[near], rtol=2.0 * ACCURACY)
    np.testing.assert_allclose(found, expected, rtol=2.0 * ACCURACY, atol=n_lower * 1e-16)


@pytest.mark.parametrize("name", ["logistic", "squared softplus", "squares"])
def test_tails_of_every_form(name, cuts):
    rng = np.random.default_rng(0)
    pair = PairFunction(*FUNCTIONS[name], 1.0)
    for n in (30, 400):
        for spread in (1.0, 30.0, 1000.0, 1e6):
            scores, queries = spread * rng.normal(size=n), bp.Queries(rng.integers(0, 4, n), group=[n])
            for value in (True, False):
                assert_all_pairs(pair, scores, queries, value=value)
        assert bool(cuts) == (n == 400)


def test_clusters_far_apart(cuts):
    """Few blocks between them hold documents, or none; the last two have more blocks than a list may have."""
    rng = np.random.default_rng(3)
    n = 1000
    queries = bp.Queries(rng.integers(0, 4, n), group=[n])
    for places in ([0.0, 35.0, 37.5, 40.0, 42.5], [-1e6, 0.0, 1e6], [0.0, 1e3], [0.0, 1e17], [0.0, 1e300]):
        scores = rng.choice(places, n) + 0.3 * rng.normal(size=n)
        assert_all_pairs(LOGISTIC, scores, queries)
    assert len(cuts) == 5
    scores = 1e4 * rng.random(n)  # every document by itself
    scores[:500] = rng.normal(size=500)
    assert_all_pairs(LOGISTIC, scores, queries)
    assert_all_pairs(LOGISTIC, scores, queries, value=True)


FUNCTIONS_OF = {  # and whether the value is summed
    "NDCGBoost": (SIGMOID, False),
    "NDCGBoost's value": (SIGMOID, True),
    "RankNet": (LOGISTIC, False),
    "RankNet's value": (LOGISTIC, True),
    "of a user": (PairFunction(*FUNCTIONS["squared softplus"], 1.0), False),
}


@pytest.mark.parametrize(
    ("name", "n_grades", "spread"),
    [
        (name, n_grades, (0.01, 1.0, 300.0)[(i + j) % 3])
        for i, name in enumerate(FUNCTIONS_OF)
        for j, n_grades in enumerate((2, 5, 31, 2000))
    ],
)
def test_every_way_of_summing(name, n_grades, spread, cuts):
    """Pairs one by one and on grids, few and many grades, weights of winners and losers, gains and none."""
    rng = np.random.default_rng(1)
    group = np.array([12, 140, 900])
    n = int(group.sum())
    labels, scores = rng.integers(0, n_grades, n) / n_grades, spread * rng.normal(size=n)
    a, b, factor = 0.2 + rng.random(n), 0.2 + rng.random(n), np.array([1.0, 0.5, 2.0])
    queries = with_pair_weights(bp.Queries(labels, group=group), a, b)
    groups, weight = queries.grade_groups, a[:, None] * b * factor[queries.query_of_row]
    levels, level = frozen(np.exp(3.0 * groups.group_grade)), np.zeros(n)
    level[groups.rows] = np.repeat(levels, np.diff(groups.group_start))
    # Beside each other: no gains, gains, and gains of which only the gaps are left.
    for gain, gaps in ((None, 1.0), (levels, level[:, None] - level), (frozen(levels + 1e4), level[:, None] - level)):
        pair, value = FUNCTIONS_OF[name]
        given = {"factor": factor, "gain": gain, "accuracy": 2.0 * ACCURACY, "value": value}
        assert_all_pairs(pair, scores, queries, gaps * weight, **given)
    assert len(cuts) >= (3 if n_grades < 31 else 9)
