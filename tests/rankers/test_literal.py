"""The literal algorithms that the library is compared with: cases worked by hand, derivatives and theorems.

No code of the library runs here.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from rankers import literal_mpboost as mp
from rankers import literal_ndcg_boost as nb
from rankers import literal_quadratic_bound as qb
from rankers.stumps import Stump, stumps
from scipy.optimize import minimize_scalar
from sklearn.tree import DecisionTreeRegressor

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


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("weighted", [False, True])
def test_mpboost_bound_is_the_loss_and_holds(distance, weighted):
    X, grades, boundaries = ranking(2)
    weight = np.random.default_rng(3).choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    pairs = mp.ordered_pairs(grades, boundaries, distance, weight)
    for n_rounds in (1, 2, 12):
        rounds, F = mp.mpboost(X, pairs, n_rounds)
        loss = total = 0.0  # J/|I| pair by pair, apart from the weights that the rounds carry along
        for first, last in pairwise(boundaries):
            for i in range(first, last):
                for j in range(first, last):
                    if grades[i] != grades[j]:
                        v = 1.0 if weight is None else math.sqrt(weight[i] * weight[j])
                        loss += v * math.exp(-distance(grades[i] - grades[j]) * (F[i] - F[j]))
                        total += v
        assert rounds[-1].bound == pytest.approx(loss / total, rel=1e-12)
        assert rounds[-1].bound == pytest.approx(math.prod(r.z for r in rounds))
        assert all(r.misordering <= r.bound for r in rounds)


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


def test_ndcg_boost_theorem_2_holds_with_a_minus():
    X, grades, boundaries = ranking(14)
    data = nb.collection(grades, boundaries)
    rng = np.random.default_rng(15)
    for _ in range(20):
        F, f, alpha = rng.normal(size=len(X)), rng.integers(0, 2, len(X)), rng.normal()
        mass = math.fsum(
            share * data.gain[i] * nb.gamma(F[i] - F[j])
            for share, rows in nb.queries_of(data)
            for i in rows
            for j in rows
            if i != j
        )
        free = data.n * nb.objective_m(F, data) + (math.exp(3 * alpha) + math.exp(-3 * alpha) - 2) / 3 * mass
        last = (math.exp(3 * alpha) - 1) / 3 * (nb.document_weights(F, data) @ f)
        moved = data.n * nb.objective_m(F + alpha * f, data)
        assert moved <= free - last + 1e-12
    # with the printed plus it fails to first order: f = 1 on the better of two documents, α < 0
    data, alpha = nb.collection([1.0, 0.0], (0, 2)), -0.01
    F, f = np.zeros(2), np.array([1.0, 0.0])
    free = nb.objective_m(F, data) + (math.exp(3 * alpha) + math.exp(-3 * alpha) - 2) / 3 * 0.25
    last = (math.exp(3 * alpha) - 1) / 3 * 0.25
    moved = nb.objective_m(F + alpha * f, data)
    assert free + last < moved <= free - last


# The general method and QBRank


def tree(leaves=4):
    """Return a weak learner A(W, X, r): a regression tree fitted by weighted least squares."""

    def fit(weights, X, targets):
        return DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, targets, weights).predict(X)

    return fit


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
