"""The rankers of reference: one feature, linear regression, RankSVM; Theorem 1 of QBRank beside what it bounds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

from boostplug.data.queries import Queries
from boostplug.datasets import make_ranking
from boostplug.losses import QBRank
from boostplug.rankers.base import Training
from studies.replication.training.baselines import RankSVM, Regression
from studies.replication.training.feature_steps import GivenSteps, SearchedSteps, _Theorem, best_feature
from studies.replication.training.preferences import SharedGrades, Use

DATA = make_ranking(10, n_features=5, mean_list_size=15, missing=0.0, random_state=0)


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_is_that_of_scikit_learn(weighted):
    weight = np.random.default_rng(0).uniform(0.1, 2.0, DATA.n_rows) if weighted else None
    own = Regression().fit(DATA.X, DATA.y, group=DATA.group, sample_weight=weight).predict(DATA.X)
    theirs = LinearRegression().fit(DATA.X, DATA.y, sample_weight=weight).predict(DATA.X)
    np.testing.assert_allclose(own - own.mean(), theirs - theirs.mean(), atol=1e-4)


@pytest.mark.parametrize("C", [1e-3, 0.1])
def test_ranksvm_is_liblinear_on_differences(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3)).astype(np.float32) * [1.0, 10.0, 0.1]
    y = np.round(X @ [1.0, 0.05, -5.0] + rng.normal(size=24))
    ranker = RankSVM(C=C).fit(X, y, group=[12, 12])
    Z = X / X.astype(np.float32).astype(np.float64).std(axis=0)
    pairs = [(i, j) for i in range(24) for j in range(24) if i // 12 == j // 12 and y[i] > y[j]]
    sign = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    differences = np.array([Z[i] - Z[j] for i, j in pairs]) * sign[:, None]
    svm = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-10).fit(differences, sign)
    expected = Z @ svm.coef_[0]
    np.testing.assert_allclose(ranker.predict(X), expected, atol=1e-4 * np.abs(expected).max())
    assert ranker.stop_reason_ == "the problem is solved" or len(ranker.model_) == 1


SOURCE = SharedGrades(n_tasks=2, n_queries=(12, 8, 5, 6), size=20, small=True)
LINEAR = QBRank(preference_weight=0.5, hessian="global", normalization="none")
RULES = {"searched": SearchedSteps(loss=LINEAR, n_estimators=40)}
RULES["shrinking"] = GivenSteps(loss=LINEAR, exponent=0.75, first=1.0, n_estimators=40)


def mixed():
    """Return a training part of pairs and of queries of one grade, and the arguments of `fit` for it."""
    part = SOURCE.load(None).splits[0].train
    return part, Use("L1", preferences=True)(part)


def theorem(given, loss=LINEAR):
    queries = Queries(given["y"], group=given["group"], pairs=given["pairs"], labelled=given["labelled"])
    training = Training(given["X"], queries, np.random.RandomState(0), [])
    return _Theorem(training, loss)


def test_the_best_feature_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 5)), rng.normal(size=30), rng.uniform(0.1, 2.0, size=30)
    errors = []
    for column in X.T:
        factor = np.linalg.lstsq(np.sqrt(weight)[:, None] * column[:, None], np.sqrt(weight) * y, rcond=None)[0][0]
        errors.append(weight @ (factor * column - y) ** 2)
    best, factor = best_feature(X, y, weight)
    assert best == np.argmin(errors)
    assert weight @ (factor * X[:, best] - y) ** 2 == pytest.approx(min(errors))
    assert best_feature(np.zeros((3, 2)), np.ones(3), np.ones(3)) == (0, 0.0)


def test_the_risk_lies_below_m_times_the_square_of_a_norm():
    """Definition 4, with the M and the norm of which the theorem speaks: in random directions, at random scores."""
    _, given = mixed()
    of, rng = theorem(given), np.random.default_rng(1)
    nearest = np.inf
    for _ in range(200):
        h, g = rng.normal(scale=3.0, size=(2, len(given["y"])))
        beta = rng.normal()
        bound = of.risk(h) + beta * of.gradient(h) @ g + 0.5 * beta**2 * of.M * of.length(g) ** 2
        nearest = min(nearest, (bound - of.risk(h + beta * g)) / bound)
    assert nearest >= 0.0
    np.testing.assert_allclose([of.length(column) for column in of.Z.T], 1.0)
    pairs = np.bincount([*given["pairs"].winner, *given["pairs"].loser], minlength=len(given["y"]))
    weights = 0.5 * (2.0 * pairs + given["labelled"])
    assert of.length(given["X"][:, 3]) ** 2 == pytest.approx(np.mean(weights * given["X"][:, 3].astype(float) ** 2))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_bound_is_the_theorems_and_is_kept_in_every_round(rule):
    part, given = mixed()
    ranker = clone(rule).fit(**given)
    history, of = ranker.history_, theorem(given)
    unit = of._start - of._least
    steps, M = history["length"], of.M

    def b(j):
        return sum(0.5 * M * step**2 for step in steps[j:])

    def side(risk, norm, k):
        a = np.cumsum(steps)
        costs = [(b(0) - b(j + 1)) * (norm + a[j]) / (norm + a[k]) + b(j + 1) - b(k + 1) for j in range(k + 1)]
        return risk + norm / (norm + a[k]) * max(0.0, of._start - risk) + min(costs)

    for k in (0, 1, 7, 39):
        literal = min(side(risk, norm, k) for risk, norm in of._targets)
        assert history["bound"][k] == pytest.approx((literal - of._least) / unit)
    scores = list(ranker.staged_predict(part.X))
    risks = [of.risk(given_scores) for given_scores in scores]
    np.testing.assert_allclose(history["gap"], (np.array(risks) - of._least) / unit, rtol=1e-5, atol=1e-7)
    first = of.length(scores[0])
    second = of.length(scores[1] - scores[0])
    assert [first, second] == pytest.approx(list(steps[:2]), rel=1e-5)
    assert (history["gap"] < history["bound"]).all()
    assert (history["gap"] <= history["tightest"]).all()
    assert (history["gap"] > -1e-9).all()
