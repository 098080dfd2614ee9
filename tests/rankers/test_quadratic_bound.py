"""QBRank and the general method, round by round against the papers' algorithm; other losses; their limits."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from losses.functions import softplus, softplus_curvature, softplus_slope
from rankers.problems import fit, problem
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from weak_rankers import literal_tree

from boostplug import Loss, MPBoost, PairwiseLoss, QBRank, Queries, RankNet
from boostplug.rankers import quadratic_bound
from boostplug.rankers.quadratic_bound import QBRankRanker, QuadraticBoundRanker

ROUNDS = 5
FOUR_LEAVES = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0)


def case(seed):
    """Return X, Queries and the settings of a random problem: every combination comes in some seed."""
    X, queries = problem(seed, grades=("real", "integer")[seed % 2], weighted=seed % 3 == 0, explicit=seed % 4 == 0)
    if seed % 5 < 2:
        labelled = np.random.default_rng(seed).random(queries.n_rows) < 0.7
        kept = {"group": np.diff(queries.boundaries), "weight": queries.row_weight, "pairs": queries.pairs}
        queries = Queries(queries.labels, **kept, labelled=labelled)
    margin, w = ("grade", 1.0, 0.5)[seed % 3], (0.5, 1.0, 0.2, 0.5, 0.8, 1.0, 0.0)[seed % 7]
    normalization = "none" if queries.pairs is not None else ("none", "rows", "query")[seed // 2 % 3]
    return X, queries, {"margin": margin, "preference_weight": w, "normalization": normalization}


def working_set(h, queries, settings, hessian):
    """Return -∇R and the weights of the rows, by the settings of `QBRank`: both are sums over pairs and labels."""
    w = settings["preference_weight"]
    gradient, weights = 0.0, 0.0
    for kind, share in ((1.0, w), (0.0, 1.0 - w)):
        loss = QBRank(**{**settings, "preference_weight": kind}, hessian="bound" if hessian == "bound" else "global")
        of_kind = loss.compute_gradient_hessian(h, queries, 1.0)
        half = hessian == "average" and kind == 1.0  # Algorithm 2 counts a pair once for a row, a bound twice
        gradient, weights = gradient - share * of_kind[0], weights + share * of_kind[1] * (0.5 if half else 1.0)
    return gradient, weights


def assert_never_rises(ranker, start):
    path = [start, *ranker.history_["risk"]]
    assert all(after <= before * (1.0 + 1e-12) + 1e-25 for before, after in pairwise(path))
    assert path[-1] < path[0]


# The papers' algorithm


@pytest.mark.parametrize("seed", range(24))
def test_each_round_fits_the_targets_and_weights_of_the_paper(seed):
    X, queries, settings = case(seed)
    hessian = ("average", "bound", "global")[seed // 4 % 3]
    # whole steps leave pairs exactly at their margins, where the last bit decides what "bound" counts
    rate = 0.3 if hessian == "bound" else (0.3, 1.0)[seed % 2]
    ranker = QBRankRanker(n_estimators=ROUNDS, learning_rate=rate, hessian=hessian, max_leaf_nodes=4, **settings)
    fit(ranker, X, queries)
    loss, h = QBRank(**settings), np.zeros(len(X))
    for t, ((weak, alpha),) in enumerate(ranker.model_.rounds):
        targets, weights = working_set(h, queries, settings, hessian)
        targets = np.divide(targets, weights, out=np.zeros(len(X)), where=weights > 0.0)
        g = literal_tree.predict(literal_tree.grow(X, targets, weights, 4), X)
        np.testing.assert_allclose(weak.predict(X), g, rtol=1e-7, atol=1e-7)
        step = quadratic_bound.line_search(loss, queries, h, g)
        assert alpha == ranker.history_["alpha"][t] == pytest.approx(rate * step, rel=1e-7)
        assert ranker.history_["step"][t] == pytest.approx(step, rel=1e-7)
        h = h + rate * step * g
        assert ranker.history_["risk"][t] == pytest.approx(loss.value(h, queries).sum(), rel=1e-7, abs=1e-12)
    np.testing.assert_allclose(ranker.predict(X), h, rtol=1e-7, atol=1e-7)
    assert len(ranker.model_) == ROUNDS or ranker.stop_reason_ != "n_estimators"


class LogisticPairs(Loss):
    """Its derivatives are in other units than its value: the factor must not matter."""

    hessian_kind = "global"

    def __init__(self, pairs):
        self.pairs = pairs

    def scale_terms(self, queries):
        return np.array([7.0]), np.array([1.0])

    def compute_value(self, scores, queries):
        query = queries.query_of_row[[x for x, _ in self.pairs]]
        losses = [np.logaddexp(0.0, scores[y] - scores[x]) for x, y in self.pairs]
        return np.bincount(query, losses, queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        gradient, hessian = np.zeros((2, queries.n_rows))
        for x, y in self.pairs:
            p = 1.0 / (1.0 + np.exp(scores[x] - scores[y]))
            gradient[x] -= scale * p
            gradient[y] += scale * p
            hessian[[x, y]] += scale / 2.0
        return gradient, hessian


def test_general_method_on_a_users_own_loss():
    X, queries = problem(3)
    query = queries.query_of_row
    pairs = np.argwhere((query[:, None] == query) & (queries.labels[:, None] > queries.labels))
    loss = LogisticPairs(pairs.tolist())
    options = {"n_estimators": 8, "learning_rate": 1.0, "line_search": False, "random_state": 0}
    kept = fit(QuadraticBoundRanker(loss=loss, regressor=FOUR_LEAVES, **options), X, queries)
    assert_never_rises(kept, len(pairs) * np.log(2.0))
    searched = fit(clone(kept).set_params(line_search=True), X, queries)
    assert_never_rises(searched, len(pairs) * np.log(2.0))
    assert searched.history_["risk"][0] < kept.history_["risk"][0]
    ((first, _),) = kept.model_.rounds[0]
    gradient, hessian = loss.gradient_hessian(np.zeros(len(X)), queries)
    targets = np.divide(-gradient, hessian, out=np.zeros(len(X)), where=hessian > 0.0)
    np.testing.assert_allclose(first.predict(X), FOUR_LEAVES.fit(X, targets, hessian).predict(X))


# The line search


def test_line_search_finds_the_smallest_step_without_slope():
    n_found = 0
    for seed in range(30):
        _, queries, settings = case(seed)
        loss, rng = QBRank(**settings), np.random.default_rng(seed)
        h = rng.normal(size=queries.n_rows).round(1)

        def gradient(scores, loss=loss, queries=queries):
            return loss.gradient_hessian(scores, queries)[0]

        g = rng.choice([0.0, 1.0, -0.4], queries.n_rows) - gradient(h) * rng.choice([0.0, 1.0])
        step = quadratic_bound.line_search(loss, queries, h, g)
        size = np.abs(gradient(h)) @ np.abs(g)
        if step is None:
            assert gradient(h) @ g >= -1e-12 * size, seed
            continue
        n_found += 1
        assert gradient(h + step * g) @ g == pytest.approx(0.0, abs=1e-11 * size), seed
        assert gradient(h + (1.0 - 1e-6) * step * g) @ g < -1e-12 * size, seed
    assert n_found > 10


def test_line_search_where_a_loss_falls_for_ever():
    class Logistic:
        def gradient_hessian(self, scores, queries):
            return -1.0 / (1.0 + np.exp(scores)), np.ones(1)

    class Falls:
        def gradient_hessian(self, scores, queries):
            return -np.ones(1), np.ones(1)

    queries = Queries([0.0], group=[1])
    step = quadratic_bound.line_search(Logistic(), queries, np.zeros(1), np.ones(1))
    assert 1.0 / (1.0 + np.exp(step)) == pytest.approx(1e-14 * 0.5, rel=1e-3)
    with pytest.raises(ValueError, match="lower bound"):
        quadratic_bound.line_search(Falls(), queries, np.zeros(1), np.ones(1))


# The risk


LOSSES = [
    QBRank(),
    QBRank(hessian="global", preference_weight=1.0, margin=0.5),
    MPBoost(),
    MPBoost(hessian="bound", normalization="query"),
    MPBoost(hessian="gentle"),
    RankNet(),
    PairwiseLoss(softplus, softplus_slope, softplus_curvature, hessian="bound"),
]


@pytest.mark.parametrize(("rate", "seed"), [(1.0, 3), (0.3, 8)])
@pytest.mark.parametrize("loss", LOSSES)
def test_risk_never_rises(loss, rate, seed):
    X, queries = problem(seed, weighted=seed % 3 == 0)
    given = {"regressor": FOUR_LEAVES, "n_estimators": 15, "learning_rate": rate, "random_state": 0}
    ranker = fit(QuadraticBoundRanker(loss=loss, **given), X, queries)
    assert_never_rises(ranker, loss.value(np.zeros(len(X)), queries).sum())
    np.testing.assert_allclose(ranker.history_["alpha"], rate * ranker.history_["step"])
    final = loss.value(ranker.predict(X), queries).sum()
    assert final == pytest.approx(ranker.history_["risk"][-1], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("loss", "warned"), [(RankNet(), True), (QBRank(hessian="global"), False)])
def test_a_step_without_a_bound_is_warned_of(loss, warned):
    ranker = QuadraticBoundRanker(loss=loss, line_search=False, n_estimators=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        ranker.fit([[0.0], [1.0], [2.0]], [0, 1, 2], group=[3])
    assert any("no bound: the risk may rise; use line_search=True" in str(one.message) for one in caught) is warned


def test_the_default_loss_is_the_papers_sum():
    X, queries = problem(8)
    assert len(set(np.diff(queries.boundaries))) > 1  # or the normalisations would be one
    paper = QBRank(margin="grade", preference_weight=0.5, hessian="bound", normalization="none")
    rankers = QuadraticBoundRanker(n_estimators=2), QuadraticBoundRanker(loss=paper, n_estimators=2)
    np.testing.assert_array_equal(*(fit(ranker, X, queries).history_["risk"] for ranker in rankers))


# What it becomes in special cases


@pytest.mark.parametrize("hessian", ["average", "bound", "global"])
def test_without_preferences_it_is_scikit_learns_boosting(hessian):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = np.round(X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=300))
    older = GradientBoostingRegressor().criterion != "deprecated"  # scikit-learn below 1.9 has another default
    given = {"init": "zero", "n_estimators": 30, "learning_rate": 0.05, "max_leaf_nodes": 20, "max_depth": None}
    given |= {"criterion": "squared_error"} if older else {}
    boosting = GradientBoostingRegressor(loss="squared_error", random_state=0, **given)
    wanted = boosting.fit(X, y).predict(X)
    settings = {"preference_weight": 0.0, "n_estimators": 30, "hessian": hessian, "random_state": 1}
    group = np.full(30, 10)
    for line_search in (False, True):  # least squares: the step is 1 already
        found = QBRankRanker(**settings, line_search=line_search).fit(X, y, group=group).predict(X)
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9)


# Ends


def test_ends_where_the_risk_is_minimal():
    X, y = np.arange(4.0)[:, None], [0.0, 2.0, 1.0, 3.0]
    ranker = QBRankRanker(preference_weight=0.0, n_estimators=50, learning_rate=1.0).fit(X, y, group=[4])
    assert ranker.stop_reason_ == "the risk is minimal"
    assert len(ranker.model_) == 1
    np.testing.assert_allclose(ranker.predict(X), y, atol=1e-12)
    with pytest.warns(UserWarning, match="QBRankRanker has nothing to learn from: none of the 1 queries"):
        nothing = QBRankRanker(preference_weight=1.0).fit(X, np.ones(4), group=[4])
    assert (nothing.stop_reason_, len(nothing.model_)) == ("the risk is minimal", 0)
    np.testing.assert_array_equal(nothing.predict(X), np.zeros(4))


@pytest.mark.parametrize("line_search", [True, False])
def test_ends_where_the_regressor_finds_no_descent(line_search):
    rng = np.random.default_rng(0)
    X, y, weight = np.zeros((9, 1)), rng.integers(0, 3, 9), rng.random(9)  # gradients sum to 0 but for rounding
    ranker = QBRankRanker(preference_weight=1.0, line_search=line_search)
    ranker.fit(X, y, group=[9], sample_weight=weight)
    assert ranker.stop_reason_ == "the regressor finds no direction in which the risk falls"
    assert len(ranker.model_) == 0
