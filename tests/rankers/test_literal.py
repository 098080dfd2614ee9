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
from sklearn.ensemble import GradientBoostingRegressor
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


def differences(function, x, step=1e-5):
    """Return the gradient by central differences."""
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


# Stumps


def test_stumps_lie_between_neighbours_and_part_the_missing():
    X = np.array([[3.0, np.nan, 5.0], [1.0, 2.0, 5.0], [3.0, np.nan, 5.0], [2.0, -1.0, 5.0]])
    expected = [Stump(0, 1.5), Stump(0, 2.5), Stump(1, -np.inf), Stump(1, 0.5)]
    assert stumps(X) == expected
    above = [[1, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 0]]
    np.testing.assert_array_equal([s.above(X) for s in expected], np.array(above, bool))


# MPBoost


def taylor_of_z(pairs, w, f):
    """Return the second-order expansion of Z_t, which step="newton" minimises."""
    move = f[pairs.i] - f[pairs.j]
    return math.fsum(w * (1.0 - pairs.d * move + pairs.d**2 * move**2 / 2))


def squared_error(pairs, w, f):
    """Return J_wse, Eq. 12, which step="paper" minimises."""
    return math.fsum(w * (pairs.d - (f[pairs.i] - f[pairs.j])) ** 2)


def test_mpboost_two_documents_by_hand():
    # One pair of distance ln 7 (LOGDD, gap 2): I = {(0, 1), (1, 0)}, w = 1/2 each, A1 = {(0, 1)}, a = d or 1/d
    X, d = np.array([[1.0], [0.0]]), math.log(7.0)
    pairs = mp.ordered_pairs([2.0, 0.0], (0, 2), mp.logarithmic)
    assert list(zip(pairs.i, pairs.j, pairs.w, strict=True)) == [(0, 1, 0.5), (1, 0, 0.5)]
    for step, a, decrease in (("paper", d, 2 * (d / 2) ** 2 / 0.5), ("newton", 1 / d, (d / 2) ** 2 / (d * d / 2))):
        (first,), scores = mp.mpboost(X, pairs, 1, step)
        assert first.stump == Stump(0, 0.5)
        assert (first.a, first.decrease) == pytest.approx((a, decrease))
        assert first.z == pytest.approx(math.exp(-d * a))
        assert first.misordering == 0.0
        np.testing.assert_allclose(scores, [a, 0.0])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("step", "objective"), [("paper", squared_error), ("newton", taylor_of_z)])
def test_mpboost_minimises_its_objective_over_all_stumps_and_steps(distance, step, objective):
    X, grades, boundaries = ranking(1, (6, 5))
    pairs = mp.ordered_pairs(grades, boundaries, distance)
    rounds, _ = mp.mpboost(X, pairs, 3, step)
    w = pairs.w
    for done in rounds:
        start, best = objective(pairs, w, np.zeros(len(X))), []
        for stump, decrease in zip(stumps(X), done.decreases, strict=True):
            found = minimize_scalar(lambda a, w=w, s=stump: objective(pairs, w, a * s.above(X)))
            best.append(start - found.fun)
            assert max(decrease, 0.0) == pytest.approx(best[-1], abs=1e-9)
            if stump == done.stump:
                assert done.a == pytest.approx(found.x, abs=1e-6)
        assert done.decrease == pytest.approx(max(best), abs=1e-9)
        w = w * np.exp(-pairs.d * done.a * (done.stump.above(X)[pairs.i] * 1.0 - done.stump.above(X)[pairs.j])) / done.z


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("step", ["paper", "newton"])
@pytest.mark.parametrize("weighted", [False, True])
def test_mpboost_bound_is_the_loss_and_holds(distance, step, weighted):
    X, grades, boundaries = ranking(2)
    weight = np.random.default_rng(3).choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    pairs = mp.ordered_pairs(grades, boundaries, distance, weight)
    for n_rounds in (1, 2, 12):
        rounds, F = mp.mpboost(X, pairs, n_rounds, step)
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
    assert nb.up_and_down(np.zeros(3), f, data, equal_grades=False) == pytest.approx((share / 4, 0.0))
    np.testing.assert_allclose(nb.document_weights(np.zeros(3), data), np.array([1, 1, -2]) * share / 4)


@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_ndcg_boost_weights_are_the_derivative_of_minus_m(spread, weighted):
    _, grades, boundaries = ranking(8)
    data = nb.collection(grades, boundaries, [1.0, 2.0, 0.5, 3.0] if weighted else None)
    F = spread * np.random.default_rng(9).normal(size=len(grades))
    w = nb.document_weights(F, data)
    np.testing.assert_allclose(w, -data.n * differences(lambda x: nb.objective_m(x, data), F), atol=1e-8)
    for first, last in pairwise(boundaries):
        assert math.fsum(w[first:last]) == pytest.approx(0.0, abs=1e-15)


def bound_of_m(alpha, F, f, data, equal_grades):
    """Return the right side of Eq. 13 put into Eq. 11, an upper bound of nM(F + αf); pair by pair."""
    total = data.n * nb.objective_m(F, data)
    for share, rows in nb.queries_of(data):
        for i in rows:
            for j in rows:
                if i != j and (equal_grades or data.gain[i] != data.gain[j]):
                    total += share * data.gain[i] * nb.gamma(F[i] - F[j]) * (math.exp(alpha * (f[j] - f[i])) - 1)
    return total


@pytest.mark.parametrize("equal_grades", [True, False])
def test_ndcg_boost_alpha_minimises_the_bound_of_m(equal_grades):
    X, grades, boundaries = ranking(10)
    data, F = nb.collection(grades, boundaries), np.zeros(len(X))
    rounds, final = nb.ndcg_boost(X, data, 8, equal_grades)
    assert len(rounds) == 8
    for done in rounds:
        f = done.stump.above(X).astype(float)
        assert done.numerator - done.denominator == pytest.approx(done.wf, abs=1e-14)
        best = minimize_scalar(lambda a, F=F, f=f: bound_of_m(a, F, f, data, equal_grades), (-1, 1))
        assert done.alpha == pytest.approx(best.x, abs=1e-6)
        before = data.n * nb.objective_m(F, data)
        drop = (math.sqrt(done.numerator) - math.sqrt(done.denominator)) ** 2
        assert best.fun == pytest.approx(before - drop)
        for alpha in (-3.0, -0.3, 0.3, 3.0, done.alpha):
            moved = data.n * nb.objective_m(F + alpha * f, data)
            assert moved <= bound_of_m(alpha, F, f, data, equal_grades) + 1e-12
        F = F + done.alpha * f
        assert done.m == nb.objective_m(F, data)
        assert done.h == nb.objective_h(F, data)
        assert data.n * done.m < before - drop + 1e-12
    np.testing.assert_array_equal(F, final)


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


def qbrank_risk(seed, margin="grade", w=0.5, weighted=False):
    X, grades, boundaries = ranking(seed)
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    labelled = rng.random(len(X)) < 0.8 if weighted else None
    pairs = qb.preferences(grades, boundaries, margin, weight=weight, labelled=labelled)
    return X, qb.QBRankRisk(len(X), tuple(pairs), tuple(qb.labels(grades, weight, labelled)), w)


RISKS = [("grade", 0.5, False), ("grade", 1.0, False), (1.0, 0.3, False), ("grade", 0.7, True), (0.5, 1.0, True)]


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


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_gradient_and_hessian_are_derivatives(margin, w, weighted):
    X, risk = qbrank_risk(20, margin, w, weighted)
    h = np.random.default_rng(21).normal(size=len(X))
    np.testing.assert_allclose(risk.gradient(h), differences(risk.value, h), atol=1e-7)
    columns = [(risk.gradient(h + 1e-6 * e) - risk.gradient(h - 1e-6 * e)) / 2e-6 for e in np.eye(len(X))]
    np.testing.assert_allclose(risk.hessian(h), columns, atol=1e-7)


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_bounds_dominate(margin, w, weighted):
    X, risk = qbrank_risk(22, margin, w, weighted)
    rng = np.random.default_rng(23)
    for spread in (0.1, 1.0, 5.0):
        h = spread * rng.normal(size=len(X))
        for kind in ("bound", "global"):
            gap = np.diag(risk.curvature(h, kind)) - risk.hessian(h)
            assert np.linalg.eigvalsh(gap).min() > -1e-12
        for _ in range(20):
            e = rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=len(X))
            quadratic = risk.value(h) + risk.gradient(h) @ e + e @ (risk.curvature(h, "global") * e) / 2
            assert risk.value(h + e) <= quadratic * (1 + 1e-12)


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_line_search_is_exact(margin, w, weighted):
    X, risk = qbrank_risk(24, margin, w, weighted)
    rng, moved = np.random.default_rng(25), 0
    for _ in range(30):
        h, g = rng.normal(size=(2, len(X)))
        g = g - risk.gradient(h) * rng.choice([0.0, 1.0])
        s = risk.line_search(h, g)
        slope = risk.gradient(h + s * g) @ g
        scale = abs(risk.gradient(h)) @ abs(g)
        if s == 0.0:
            assert slope >= 0
            continue
        moved += 1
        assert slope == pytest.approx(0.0, abs=1e-12 * scale)
        assert risk.gradient(h + 0.999 * s * g) @ g < 0  # the smallest of the minimisers
        found = minimize_scalar(lambda t, h=h, g=g: risk.value(h + t * g), bounds=(0, 2 * s + 1), method="bounded")
        assert risk.value(h + s * g) <= found.fun + 1e-12 * scale
    assert moved > 5


@pytest.mark.parametrize(("margin", "w", "weighted"), RISKS)
def test_qbrank_average_targets_fit_as_the_whole_training_set(margin, w, weighted):
    X, risk = qbrank_risk(29, margin, w, weighted)
    h = np.random.default_rng(30).normal(size=len(X))
    weights, targets = risk.working_set(h, "average")
    rows, each, weight = (np.array(column) for column in zip(*risk.training_set(h), strict=True))
    for row in range(len(X)):
        mine = (rows == row) & (weight > 0)
        if mine.any():
            assert targets[row] == pytest.approx(np.average(each[mine], weights=weight[mine]))
            assert weights[row] == pytest.approx(weight[mine].sum())
        else:
            assert (weights[row], targets[row]) == (0.0, 0.0)
    whole = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0).fit(X[rows], each, weight).predict(X)
    np.testing.assert_allclose(tree()(weights, X, targets), whole, atol=1e-12)


def test_qbrank_without_preferences_is_gradient_boosting():
    X, grades, _ = ranking(31)
    X = np.nan_to_num(X)
    risk = qb.QBRankRisk(len(X), (), tuple(qb.labels(grades)), 0.0)
    rounds, h = qb.qbrank(X, risk, tree(), 6, 0.3)
    assert [r.step for r in rounds] == pytest.approx([1.0] * 6)  # the fit is by least squares already
    boosting = GradientBoostingRegressor(
        init="zero", n_estimators=6, learning_rate=0.3, max_leaf_nodes=4, max_depth=None, random_state=0
    )
    np.testing.assert_allclose(h, boosting.fit(X, grades).predict(X), atol=1e-10)
