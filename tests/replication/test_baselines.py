"""The rankers of reference: one feature, linear regression, RankSVM."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

from boostplug.datasets import make_ranking
from boostplug.replication.training.baselines import OneFeature, RankSVM, Regression

DATA = make_ranking(10, n_features=5, mean_list_size=15, missing=0.0, random_state=0)


def test_one_feature_is_the_score():
    ranker = OneFeature(feature=3).fit(DATA.X, DATA.y, group=DATA.group)
    np.testing.assert_array_equal(ranker.predict(DATA.X), DATA.X[:, 3].astype(np.float64))


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_is_that_of_scikit_learn(weighted):
    weight = np.random.default_rng(0).uniform(0.1, 2.0, DATA.n_rows) if weighted else None
    own = Regression().fit(DATA.X, DATA.y, group=DATA.group, sample_weight=weight).predict(DATA.X)
    theirs = LinearRegression().fit(DATA.X, DATA.y, sample_weight=weight).predict(DATA.X)
    np.testing.assert_allclose(own - own.mean(), theirs - theirs.mean(), atol=1e-4)


def test_regression_takes_dependent_constant_and_missing_features():
    X = np.c_[DATA.X[:, 0], 2.0 * DATA.X[:, 0], np.ones(DATA.n_rows), DATA.X[:, 1]]
    X[::7, 3] = np.nan
    own = Regression().fit(X, DATA.y, group=DATA.group)
    filled = np.nan_to_num(X)
    theirs = LinearRegression().fit(filled, DATA.y).predict(filled)
    predicted = own.predict(X)
    np.testing.assert_allclose(predicted - predicted.mean(), theirs - theirs.mean(), atol=1e-4)
    assert own.history_["squared_error"][0] == pytest.approx(np.mean((theirs - DATA.y) ** 2), rel=1e-4)


def test_regression_has_nothing_to_go_by():
    assert Regression().fit(np.ones((4, 2)), [1, 0, 1, 0], group=[4]).stop_reason_ == "no feature takes two values"


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


def test_ranksvm_and_data_that_lack_something():
    X = np.array([[1.0, 5.0, np.nan], [0.0, 5.0, 2.0], [0.5, 5.0, np.nan]])
    ranker = RankSVM(n_estimators=3).fit(X, [2, 0, 1], group=[3])
    assert ranker.stop_reason_ == "the problem is solved"
    assert [weak.feature for weak, _ in ranker.model_.terms] == [0, 2]
    assert ranker.predict(X)[0] > ranker.predict(X)[2] > ranker.predict(X)[1]
    assert RankSVM().fit(np.nan_to_num(X), [2, 0, 1], group=[3]).predict(X)[0] == ranker.predict(X)[0]
    with pytest.raises(ValueError, match="y holds no pair to learn from"):
        RankSVM().fit(X, [1, 1, 1], group=[3])
