"""The rankers of reference: one feature, linear regression."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from boostplug import Pairs
from boostplug.datasets import make_ranking
from boostplug.studies.replication.simple import OneFeature, Regression

DATA = make_ranking(10, n_features=5, mean_list_size=15, missing=0.0, random_state=0)


def test_one_feature_is_the_score():
    ranker = OneFeature(feature=3).fit(DATA.X, DATA.y, group=DATA.group)
    np.testing.assert_array_equal(ranker.predict(DATA.X), DATA.X[:, 3].astype(np.float64))


@pytest.mark.parametrize("feature", [-1, 5])
def test_a_feature_that_is_not_there(feature):
    with pytest.raises(ValueError, match=rf"feature must .*got {feature}"):
        OneFeature(feature=feature).fit(DATA.X, DATA.y, group=DATA.group)


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
    with pytest.raises(ValueError, match="pairs cannot be used by regression"):
        Regression().fit([[0.0], [1.0]], None, group=[2], pairs=Pairs([1], [0]))
