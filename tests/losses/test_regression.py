"""Losses on labels: arithmetic, the frameworks' own regression and cross entropy, scipy's correlation."""

import math

import numpy as np
import pytest
from scipy import stats

import boostplug as bp
from boostplug import Queries, SquaredError


def test_centred_does_not_see_where_a_querys_labels_and_scores_stand():
    rng = np.random.default_rng(1)
    queries = Queries(rng.integers(0, 5, 44), group=[9, 1, 0, 4, 30], weight=rng.integers(0, 4, 44) / 2.0,
                      labelled=rng.random(44) < 0.8)  # fmt: skip
    level = rng.integers(-(2**40), 2**40, queries.n_queries)[queries.query_of_row] * 1.0
    scores = np.round(32.0 * rng.normal(size=44)) / 16.0  # so that their sums with the levels are exact
    loss, moved = SquaredError(centred=True), queries.replaced(labels=queries.labels + level)
    np.testing.assert_array_equal(loss.gradient_hessian(scores, queries), loss.gradient_hessian(scores - level, moved))


def test_where_a_query_is_right_up_to_a_constant_no_document_takes_a_step():
    """0.1 three times has a mean that is not 0.1."""
    queries = Queries([0.1, 0.1, 0.1, 0.7], group=[3, 1], weight=[0.3, 0.7, 0.9, 2.0])
    gradient, hessian = SquaredError(centred=True).gradient_hessian(np.zeros(4), queries)
    assert not gradient.any()
    assert hessian.astype(bool).tolist() == [True, True, True, False]


@pytest.fixture(scope="module")
def ranking():
    rng = np.random.default_rng(2)
    group = rng.integers(2, 30, 40)
    X = rng.normal(size=(group.sum(), 6))
    y = np.clip(np.round(2.0 + X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=len(X))), 0, 4)
    return X, y, group


LIGHTGBM = {"num_leaves": 7, "verbose": -1, "num_threads": 1, "boost_from_average": False, "seed": 0}


def test_lightgbms_regression_tree_for_tree(ranking):
    lgb = pytest.importorskip("lightgbm")
    X, y, group = ranking
    ours, theirs = (
        lgb.train(LIGHTGBM | {"objective": objective}, lgb.Dataset(X, y, group=group), 10).model_to_string()
        for objective in (SquaredError(), "regression")
    )
    trees = theirs.partition("Tree=0")[2].partition("feature_importances")[0]
    assert len(trees) > 1000
    assert trees in ours


def test_xgboosts_regression_tree_for_tree(ranking):
    xgb = pytest.importorskip("xgboost")
    X, y, group = ranking
    dtrain = xgb.DMatrix(X, y, group=group)
    params = {"max_depth": 3, "nthread": 1, "base_score": 0.0}
    theirs = xgb.train(params | {"objective": "reg:squarederror"}, dtrain, 10).get_dump()
    assert len(theirs) == 10
    assert xgb.train(params, dtrain, 10, obj=SquaredError()).get_dump() == theirs


def test_for_binary_labels_it_is_the_frameworks_cross_entropy(ranking):
    lgb = pytest.importorskip("lightgbm")
    X, y, group = ranking
    given = lgb.Dataset(X, 1.0 * (y > 2), group=group, free_raw_data=False)
    ours, theirs = (
        lgb.train(LIGHTGBM | {"objective": objective}, given, 20).predict(X, raw_score=True)
        for objective in (bp.LogisticError(), "cross_entropy")
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_calibrated_softmax_by_hand():
    """Labels 1, 0 at σ = ½, ¼: shares ⅔ and ⅓."""
    queries = Queries([1, 0], group=[2])
    scores, logistic = np.array([0.0, -math.log(3.0)]), math.log(2.0) - math.log(0.75)
    assert bp.CalibratedSoftmax(list_weight=1.0).value(scores, queries) == pytest.approx([-math.log(2.0 / 3.0)])
    assert bp.CalibratedSoftmax(list_weight=0.25).value(scores, queries) == pytest.approx(
        [0.75 * logistic - 0.25 * math.log(2.0 / 3.0)]
    )
    gradient, _ = bp.CalibratedSoftmax(list_weight=1.0).gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, [0.5 * (2.0 / 3.0 - 1.0), 0.75 * (1.0 / 3.0)])


@pytest.mark.parametrize(
    "loss",
    [bp.LogisticError(max_grade=2.0), bp.CalibratedSoftmax(max_grade=2.0), bp.ClickLogLoss(propensity=[1.0, 0.7, 0.3])],
)
def test_an_unlabelled_row_may_have_a_label_beyond_the_scale(loss):
    queries = Queries([0, 3.0, 1, -1.0], group=[2, 2], labelled=[True, False, True, False], position=[1, 2, 3, 1])
    gradient, hessian = loss.gradient_hessian(np.zeros(4), queries)
    assert np.isfinite(loss.value(np.zeros(4), queries)).all()
    assert hessian.astype(bool).tolist() == [True, False, True, False]
    assert not gradient[[1, 3]].any()


def test_it_is_one_minus_pearson_where_scores_are_wide():
    rng = np.random.default_rng(0)
    labels, scores = rng.normal(size=40), 1e4 * rng.normal(size=40)
    value = bp.Correlation().value(scores, Queries(labels, group=[25, 15]))
    expected = [n * (1.0 - stats.pearsonr(scores[a], labels[a])[0]) for n, a in ((25, slice(25)), (15, slice(25, 40)))]
    np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_a_query_of_equal_labels_takes_no_part():
    queries, scores = Queries([2, 2, 0.1, 0.1, 0.1, 1, 0], group=[2, 3, 2]), np.arange(7.0)
    gradient, hessian = bp.Correlation().gradient_hessian(scores, queries)
    assert not gradient[:5].any()
    assert not hessian[:5].any()
    assert gradient[5:].all()
    np.testing.assert_array_equal(bp.Correlation().value(scores, queries)[:2], 0.0)
