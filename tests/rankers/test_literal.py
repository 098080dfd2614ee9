"""The literal algorithms that the library is compared with: cases worked by hand, and minima found by SciPy.

No code of the library runs here.
"""

import math

import numpy as np
import pytest
from rankers import literal_adarank as ada
from rankers import literal_mpboost as mp
from rankers import literal_ndcg_boost as nb
from rankers import literal_quadratic_bound as qb
from rankers.problems import Stump, stumps
from scipy.optimize import minimize_scalar

DISTANCES = (mp.binary, mp.linear, mp.logarithmic, mp.logistic)


def ranking(seed, sizes=(7, 1, 9, 4), n_features=3):
    """Return features (one with ties, one with missing values), grades 0..3 and query boundaries."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.normal(size=(n, n_features))
    X[:, 0] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.2, 1] = np.nan
    return X, rng.integers(0, 4, n).astype(float), tuple(int(b) for b in np.cumsum([0, *sizes]))


# MPBoost


def squared_error(pairs, w, f):
    """Return J_wse, Eq. 12, which a round minimises."""
    return math.fsum(w * (pairs.d - (f[pairs.i] - f[pairs.j])) ** 2)


def test_mpboost_two_documents_by_hand():
    # One pair of distance ln 7 (LOGDD, gap 2): I = {(0, 1), (1, 0)}, w = 1/2 each, A1 = {(0, 1)}, a = d
    X, d = np.array([[1.0], [0.0]]), math.log(7.0)
    pairs = mp.ordered_pairs([2.0, 0.0], (0, 2), mp.logarithmic)
    assert list(zip(pairs.i, pairs.j, pairs.w, strict=True)) == [(0, 1, 0.5), (1, 0, 0.5)]
    (first,), scores = mp.mpboost(X, pairs, 1)
    assert first.stump == Stump(0, 0.5)
    assert (first.a, first.decrease) == pytest.approx((d, 2 * (d / 2) ** 2 / 0.5))
    assert first.z == pytest.approx(math.exp(-d * d))
    assert first.misordering == 0.0
    np.testing.assert_allclose(scores, [d, 0.0])


@pytest.mark.parametrize("distance", DISTANCES)
def test_mpboost_minimises_its_objective_over_all_stumps_and_steps(distance):
    X, grades, boundaries = ranking(1, (6, 5))
    pairs = mp.ordered_pairs(grades, boundaries, distance)
    rounds, _ = mp.mpboost(X, pairs, 3)
    w = pairs.w
    for done in rounds:
        start, best = squared_error(pairs, w, np.zeros(len(X))), []
        for stump, decrease in zip(stumps(X), done.decreases, strict=True):
            found = minimize_scalar(lambda a, w=w, s=stump: squared_error(pairs, w, a * s.above(X)))
            best.append(start - found.fun)
            assert max(decrease, 0.0) == pytest.approx(best[-1], abs=1e-9)
            if stump == done.stump:
                assert done.a == pytest.approx(found.x, abs=1e-6)
        assert done.decrease == pytest.approx(max(best), abs=1e-9)
        w = w * np.exp(-pairs.d * done.a * (done.stump.above(X)[pairs.i] * 1.0 - done.stump.above(X)[pairs.j])) / done.z


# NDCG_Boost


def test_ndcg_boost_two_documents_by_hand():
    # G = (3, 0), Z = 3 / log2(2) = 3: share G = 1, γ(0) = 1/4, w = ±1/4, M = σ(0) = 1/2, H = 1 / log2(2.5)
    data = nb.collection([2.0, 0.0], (0, 2))
    flat = np.zeros(2)
    np.testing.assert_allclose(nb.document_weights(flat, data), [0.25, -0.25])
    assert nb.objective_m(flat, data) == pytest.approx(0.5)
    assert nb.objective_h(flat, data) == pytest.approx(1 / math.log2(2.5))
    for X, sign in ((np.array([[1.0], [0.0]]), 1), (np.array([[0.0], [1.0]]), -1)):
        (first,), F = nb.ndcg_boost(X, data, 1, max_alpha=4.0)
        assert (first.alpha, first.wf) == pytest.approx((sign * 4.0, sign * 0.25))
        assert {first.numerator, first.denominator} == {0.25, 0.0}
        assert F[0] - F[1] == pytest.approx(4.0)
        assert first.m == pytest.approx(nb.sigmoid(-4.0))


def test_ndcg_boost_alpha_by_hand():
    # G = (3, 1, 0), f = 1 on the last two: up (1, 0) gives G_1, (2, 0) gives G_2; down (0, 1) and (0, 2) give 2 G_0
    data, f = nb.collection([2.0, 1.0, 0.0], (0, 3)), np.array([0.0, 1.0, 1.0])
    share = 1 / (3 / math.log2(2) + 1 / math.log2(3))
    assert nb.up_and_down(np.zeros(3), f, data) == pytest.approx((1 * share / 4, 6 * share / 4))
    assert nb.combination_weight(1.0, 6.0, 10.0) == pytest.approx(-0.5 * math.log(6.0))
    # equal grades stand in both sums of Eq. 15, and nowhere in Eq. 16
    data, f = nb.collection([1.0, 1.0, 0.0], (0, 3)), np.array([1.0, 0.0, 0.0])
    share = 1 / (1 + 1 / math.log2(3))
    assert nb.up_and_down(np.zeros(3), f, data) == pytest.approx((2 * share / 4, share / 4))
    np.testing.assert_allclose(nb.document_weights(np.zeros(3), data), np.array([1, 1, -2]) * share / 4)


# The general method and QBRank


def test_qbrank_two_documents_by_hand():
    # x ≻ y, τ = 2, h = (1, 0): shortfall 1; labels 2 and 0: errors 1 and 0; w = 1/4
    risk = qb.QBRankRisk(2, tuple(qb.preferences([2.0, 0.0], (0, 2))), tuple(qb.labels([2.0, 0.0])), 0.25)
    h = np.array([1.0, 0.0])
    assert risk.value(h) == pytest.approx(0.25 / 2 * 1 + 0.75 / 2 * 1)
    np.testing.assert_allclose(risk.gradient(h), [-0.25 - 0.75, 0.25])
    np.testing.assert_allclose(risk.curvature(h, "bound"), [1.25, 1.25])
    np.testing.assert_allclose(risk.curvature(h + np.array([1.0, 0.0]), "bound"), [0.75, 0.75])
    np.testing.assert_allclose(risk.curvature(h + np.array([1.0, 0.0]), "global"), [1.25, 1.25])
    np.testing.assert_allclose(risk.working_set(h, "global")[1], [1 / 1.25, -0.25 / 1.25])
    np.testing.assert_allclose(risk.working_set(h, "average")[1], [1.0, -0.25])
    # along (1, 0) both terms are (1 - s)²: s = 1; along (1, 1) only the labels move, (1 - s)² + s²: s = 1/2
    assert risk.line_search(h, np.array([1.0, 0.0])) == pytest.approx(1.0)
    assert risk.line_search(h, np.array([1.0, 1.0])) == pytest.approx(0.5)
    assert risk.line_search(h, np.array([-1.0, 0.0])) == 0.0


# AdaRank


def half_log(x):
    return 0.5 * math.log(x)


def test_adarank_by_hand():
    """Two queries of three documents, the first of each relevant; AP is 1 over its place."""
    X = np.array([[3, 1], [2, 2], [1, 3], [2, 3], [3, 2], [1, 1]], float)  # AP 1, 1/2 and 1/3, 1
    boundaries = [0, 3, 6]
    measure = ada.in_file_order(ada.average_precision, [1, 0, 0, 1, 0, 0], boundaries)
    first, second = ada.adarank(X, boundaries, measure, 2, cap=20.0).rounds
    alpha, phi = half_log(1.75 / 0.25), (1 + 1 / 2) / 2
    assert (first.feature, first.alpha, first.phi) == (0, pytest.approx(alpha, rel=1e-12), phi)
    assert first.performance.tolist() == [1, 0.5]
    assert first.delta_min == pytest.approx((1 - alpha) / 2, rel=1e-12)
    assert first.bound == pytest.approx(1 - math.exp(-(1 - alpha) / 2) * math.sqrt(1 - phi**2), rel=1e-12)
    P = np.exp([-1, -1 / 2]) / (math.exp(-1) + math.exp(-1 / 2))
    np.testing.assert_allclose(second.distribution, P, rtol=1e-12)
    assert second.feature == 1
    assert second.phi == pytest.approx(P[0] / 3 + P[1], rel=1e-12)
    assert second.alpha == pytest.approx(half_log((1 + second.phi) / (1 - second.phi)), rel=1e-12)
