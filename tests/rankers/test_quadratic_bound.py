"""QBRank and the general method, round by round against the literal ones; other losses; their limits."""

import math
from itertools import pairwise

import numpy as np
import pytest
from losses.functions import softplus, softplus_curvature, softplus_slope
from rankers import literal_quadratic_bound as literal
from rankers.problems import problem
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor
from weak_rankers import literal_tree

from boostplug import Loss, MPBoost, PairwiseLoss, QBRank, Queries, RankNet
from boostplug.rankers import quadratic_bound
from boostplug.rankers.quadratic_bound import QBRankRanker, QuadraticBoundRanker

ROUNDS = 5
SEEDS = range(24)


class RoundedTree(DecisionTreeRegressor):
    """A tree that sees nine digits, so that splits of equal gain do not hang on the order of summation."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, np.round(y, 9), np.round(sample_weight / sample_weight.max(), 9))


def tree(leaves=4, **parameters):
    return RoundedTree(max_leaf_nodes=leaves, **parameters)


def learner(seed, leaves=4):
    """Return the literal algorithm's weak learner: a tree, seeded in each round as the rankers do."""
    random = np.random.RandomState(seed)

    def fit(weights, X, targets):
        seeded = tree(leaves, random_state=random.randint(np.iinfo(np.int32).max))
        return seeded.fit(X, targets, weights).predict(X)

    return fit


def own(leaves=4):
    """Return the literal algorithm's weak learner where the ranker grows its own trees."""
    return lambda weights, X, targets: literal_tree.predict(literal_tree.grow(X, targets, weights, leaves), X)


def case(seed):
    """Return X, Queries and the settings of a random problem: every combination comes in some seed."""
    X, queries = problem(seed, grades=("real", "integer")[seed % 2], weighted=seed % 3 == 0, explicit=seed % 4 == 0)
    if seed % 5 < 2:
        labelled = np.random.default_rng(seed).random(queries.n_rows) < 0.7
        queries = replaced(queries, labelled=labelled)
    margin, w = ("grade", 1.0, 0.5)[seed % 3], (0.5, 1.0, 0.2, 0.5, 0.8, 1.0, 0.0)[seed % 7]
    normalization = "none" if queries.pairs is not None else ("none", "rows", "query")[seed // 2 % 3]
    return X, queries, {"margin": margin, "preference_weight": w, "normalization": normalization}


def replaced(queries, **changes):
    kept = {"group": np.diff(queries.boundaries), "weight": queries.row_weight, "pairs": queries.pairs}
    return Queries(queries.labels, **{**kept, "labelled": queries.labelled, **changes})


def risk_of(queries, margin="grade", preference_weight=0.5, normalization="none"):
    """Return the literal algorithm's risk."""
    weight = np.ones(queries.n_rows) if queries.row_weight is None else queries.row_weight
    if queries.pairs is None:
        labelled = queries.labelled
        pairs = literal.preferences(queries.labels, queries.boundaries, margin, normalization, weight, labelled)
    else:
        given = queries.pairs
        tau = np.ones(len(given)) if given.margin is None else given.margin
        of_pair = np.ones(len(given)) if given.weight is None else given.weight
        pairs = [
            literal.Preference(x, y, t if margin == "grade" else margin, u * math.sqrt(weight[x] * weight[y]))
            for x, y, t, u in zip(given.winner, given.loser, tau, of_pair, strict=True)
        ]
    labels = literal.labels(queries.labels, weight, queries.labelled)
    return literal.QBRankRisk(queries.n_rows, tuple(pairs), tuple(labels), preference_weight)


def fit(ranker, X, queries):
    return ranker.fit(
        X,
        queries.labels,
        group=np.diff(queries.boundaries),
        pairs=queries.pairs,
        labelled=queries.labelled,
        sample_weight=queries.row_weight,
    )


def assert_same_rounds(ranker, X, rounds, h):
    n = len(ranker.model_)
    for key, wanted in [("step", [r.step for r in rounds]), ("risk", [r.risk for r in rounds])]:
        found = ranker.history_[key] if n else np.zeros(0)
        np.testing.assert_allclose(found, wanted[:n], rtol=1e-8, atol=1e-12)
    assert all(r.step == 0.0 for r in rounds[n:])  # the literal algorithm goes on where nothing falls
    for ((weak, _),), r in zip(ranker.model_.rounds, rounds[:n], strict=True):
        np.testing.assert_allclose(weak.predict(X), r.g, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(ranker.predict(X), h, rtol=1e-7, atol=1e-7)


def assert_never_rises(ranker, start):
    path = [start, *ranker.history_["risk"]]
    assert all(after <= before * (1.0 + 1e-12) + 1e-25 for before, after in pairwise(path))
    assert path[-1] < path[0]


# The literal algorithm


@pytest.mark.parametrize("seed", SEEDS)
def test_qbrank_is_the_literal_one(seed):
    X, queries, settings = case(seed)
    hessian = ("average", "bound", "global")[seed // 4 % 3]
    # whole steps leave pairs exactly at their margins, where the last bit decides what "bound" counts
    rate = 0.3 if hessian == "bound" else (0.3, 1.0)[seed % 2]
    ranker = QBRankRanker(
        n_estimators=ROUNDS, learning_rate=rate, hessian=hessian, max_leaf_nodes=4, random_state=seed, **settings
    )
    risk = risk_of(queries, **settings)
    assert_same_rounds(fit(ranker, X, queries), X, *literal.qbrank(X, risk, own(), ROUNDS, rate, hessian))


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
    pairs = [(p.winner, p.loser) for p in literal.preferences(queries.labels, queries.boundaries)]
    loss = LogisticPairs(pairs)
    options = {"n_estimators": 8, "learning_rate": 1.0, "line_search": False, "random_state": 0}
    kept = QuadraticBoundRanker(loss=loss, regressor=tree(), **options)
    fit(kept, X, queries)

    def working_set(h):
        gradient, hessian = loss.gradient_hessian(h, queries)
        return hessian, literal.residuals(gradient, hessian)

    wanted = literal.quadratic_bound(X, lambda h: math.fsum(loss.value(h, queries)), working_set, learner(0), 8, 1.0)
    assert_same_rounds(kept, X, *wanted)
    assert_never_rises(kept, len(pairs) * np.log(2.0))
    searched = fit(clone(kept).set_params(line_search=True), X, queries)
    assert_never_rises(searched, len(pairs) * np.log(2.0))
    assert searched.history_["risk"][0] < kept.history_["risk"][0]


# The line search


def test_line_search_is_the_exact_one():
    for seed in range(30):
        _, queries, settings = case(seed)
        risk, rng = risk_of(queries, **settings), np.random.default_rng(seed)
        h = rng.normal(size=queries.n_rows).round(1)
        g = rng.choice([0.0, 1.0, -0.4], queries.n_rows) - risk.gradient(h) * rng.choice([0.0, 1.0])
        found = quadratic_bound.line_search(QBRank(**settings), queries, h, g)
        assert (found or 0.0) == pytest.approx(risk.line_search(h, g), rel=1e-9, abs=1e-12), seed


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
    ranker = QuadraticBoundRanker(loss=loss, regressor=tree(), n_estimators=15, learning_rate=rate, random_state=0)
    fit(ranker, X, queries)
    assert_never_rises(ranker, loss.value(np.zeros(len(X)), queries).sum())
    np.testing.assert_allclose(ranker.history_["alpha"], rate * ranker.history_["step"])
    final = loss.value(ranker.predict(X), queries).sum()
    assert final == pytest.approx(ranker.history_["risk"][-1], rel=1e-9, abs=1e-12)


def test_the_default_loss_is_the_papers_sum():
    X, queries = problem(8)
    assert len(set(np.diff(queries.boundaries))) > 1  # or the normalisations would be one
    by_default = fit(QuadraticBoundRanker(n_estimators=2), X, queries).history_["risk"]
    paper = QBRank(margin="grade", preference_weight=0.5, hessian="bound", normalization="none")
    np.testing.assert_array_equal(
        by_default, fit(QuadraticBoundRanker(loss=paper, n_estimators=2), X, queries).history_["risk"]
    )


# What it becomes in special cases


@pytest.mark.parametrize("hessian", ["average", "bound", "global"])
def test_without_preferences_it_is_scikit_learns_boosting(hessian):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = np.round(X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=300))
    older = GradientBoostingRegressor().criterion != "deprecated"  # scikit-learn below 1.9 has another default
    boosting = GradientBoostingRegressor(
        init="zero",
        loss="squared_error",
        **({"criterion": "squared_error"} if older else {}),
        n_estimators=30,
        learning_rate=0.05,
        max_leaf_nodes=20,
        max_depth=None,
        random_state=0,
    )
    wanted = boosting.fit(X, y).predict(X)
    settings = {"preference_weight": 0.0, "n_estimators": 30, "hessian": hessian, "random_state": 1}
    group = np.full(30, 10)
    whole = QBRankRanker(**settings, line_search=False).fit(X, y, group=group)
    np.testing.assert_allclose(whole.predict(X), wanted, rtol=0.0, atol=1e-9)
    searched = QBRankRanker(**settings).fit(X, y, group=group)  # least squares: the step is 1 already
    np.testing.assert_allclose(searched.predict(X), wanted, rtol=0.0, atol=1e-9)


def test_rows_without_a_bound_weigh_nothing():
    seen = []

    class Spy(DecisionTreeRegressor):
        def fit(self, X, y, sample_weight):
            seen.append((y, sample_weight))
            return super().fit(X, y, sample_weight)

    X = np.arange(4.0)[:, None]
    ranker = QuadraticBoundRanker(loss=QBRank(preference_weight=1.0), regressor=Spy(), n_estimators=1)
    ranker.fit(X, [1.0, 0.0, 2.0, 2.0], group=[2, 2])  # no pair in the second query
    np.testing.assert_array_equal(seen[0][0], [0.5, -0.5, 0.0, 0.0])
    assert (seen[0][1] > 0.0).tolist() == [True, True, False, False]


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
