"""Losses on labels: arithmetic, the frameworks' own regression and cross entropy, scipy's correlation."""

import math

import numpy as np
import pytest
from scipy import stats

import boostplug as bp
from boostplug import Queries, SquaredError


def data(rng, group=(9, 1, 0, 4, 30), labels=None):
    n = sum(group)
    labels = rng.normal(size=n) if labels is None else labels
    return Queries(
        labels, group=group, weight=rng.integers(0, 4, n) / 2.0, labelled=rng.random(n) < 0.8
    ), 2.0 * rng.normal(size=n)


def test_centred_does_not_see_where_a_querys_labels_and_scores_stand():
    rng = np.random.default_rng(1)
    queries, scores = data(rng, labels=rng.integers(0, 5, 44).astype(float))
    level = rng.integers(-(2**40), 2**40, queries.n_queries)[queries.query_of_row] * 1.0
    moved = Queries(
        queries.labels + level,
        group=np.diff(queries.boundaries),
        weight=queries.row_weight,
        labelled=queries.labelled,
    )
    loss = SquaredError(centred=True)
    scores = np.round(scores * 16) / 16  # so that their sums with the levels are exact
    for x, y in zip(loss.gradient_hessian(scores, queries), loss.gradient_hessian(scores - level, moved), strict=True):
        np.testing.assert_array_equal(x, y)


def test_where_a_query_is_right_up_to_a_constant_no_document_takes_a_step():
    """0.1 three times has a mean that is not 0.1."""
    queries = Queries([0.1, 0.1, 0.1, 0.7], group=[3, 1], weight=[0.3, 0.7, 0.9, 2.0])
    gradient, hessian = SquaredError(centred=True).gradient_hessian(np.zeros(4), queries)
    assert not gradient.any()
    assert hessian[:3].all()
    assert hessian[3] == 0


@pytest.mark.parametrize("centred", [False, True])
def test_errors_of_any_size_are_finite(centred):
    loss = SquaredError(centred=centred)
    queries = Queries([1.0, -1.7e308, 1.7e308], group=[3])
    value = loss.value([-1e100, 1e100, 0.0], queries)
    gradient, hessian = loss.gradient_hessian([-1e100, 1e100, 0.0], queries)
    assert value == 1e299
    assert np.isfinite(gradient).all()
    assert gradient[2] < 0 < gradient[1]
    assert (hessian == 1).all()


@pytest.fixture(scope="module")
def ranking():
    rng = np.random.default_rng(2)
    group = rng.integers(2, 30, 40)
    X = rng.normal(size=(group.sum(), 6))
    y = np.clip(np.round(2.0 + X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=len(X))), 0, 4)
    return X, y, group


def test_lightgbms_regression_tree_for_tree(ranking):
    lgb = pytest.importorskip("lightgbm")
    X, y, group = ranking
    params = {"num_leaves": 7, "verbose": -1, "num_threads": 1, "boost_from_average": False, "seed": 0}
    trees = []
    for objective in ("regression", SquaredError()):
        booster = lgb.train(params | {"objective": objective}, lgb.Dataset(X, y, group=group), 10)
        trees.append(booster.model_to_string().partition("Tree=0")[2].partition("feature_importances")[0])
    assert len(trees[0]) > 1000
    assert trees[0] == trees[1]


def test_xgboosts_regression_tree_for_tree(ranking):
    xgb = pytest.importorskip("xgboost")
    X, y, group = ranking
    dtrain = xgb.DMatrix(X, y, group=group)
    params = {"max_depth": 3, "nthread": 1, "base_score": 0.0}
    one = xgb.train(params | {"objective": "reg:squarederror"}, dtrain, 10)
    other = xgb.train(params, dtrain, 10, obj=SquaredError())
    assert len(one.get_dump()) == 10
    assert one.get_dump() == other.get_dump()


LOG_2 = math.log(2.0)


def test_calibrated_softmax_by_hand():
    """Labels 1, 0 at σ = ½, ¼: shares ⅔ and ⅓."""
    queries = bp.Queries([1, 0], group=[2])
    scores = np.array([0.0, -math.log(3.0)])
    assert bp.CalibratedSoftmax(list_weight=1.0).value(scores, queries) == pytest.approx([-math.log(2.0 / 3.0)])
    logistic = LOG_2 - math.log(0.75)
    assert bp.CalibratedSoftmax(list_weight=0.25).value(scores, queries) == pytest.approx(
        [0.75 * logistic - 0.25 * math.log(2.0 / 3.0)]
    )
    gradient, _ = bp.CalibratedSoftmax(list_weight=1.0).gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, [0.5 * (2.0 / 3.0 - 1.0), 0.75 * (1.0 / 3.0)])


@pytest.mark.parametrize("loss", [bp.LogisticError(max_grade=2.0), bp.CalibratedSoftmax(max_grade=2.0)])
def test_an_unlabelled_row_may_have_a_label_beyond_the_scale(loss):
    unlabelled = bp.Queries([0, 3.0, 1, -1.0], group=[4], labelled=[True, False, True, False])
    assert np.isfinite(loss.value(np.zeros(4), unlabelled)).all()


def test_for_binary_labels_it_is_the_frameworks_cross_entropy():
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    features = rng.normal(size=(720, 4))
    labels = (rng.random(720) < 1.0 / (1.0 + np.exp(1.5 - 1.5 * features[:, 0]))).astype(float)
    trees = {"learning_rate": 0.3, "verbose": -1, "num_leaves": 7, "boost_from_average": False, "num_threads": 1}
    given = lgb.Dataset(features, labels, group=[12] * 60, free_raw_data=False)
    ours, theirs = (
        lgb.train(trees | {"objective": objective}, given, 20).predict(features, raw_score=True)
        for objective in (bp.LogisticError(), "cross_entropy")
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_it_is_one_minus_pearson_where_scores_are_wide():
    rng = np.random.default_rng(0)
    labels, scores = rng.normal(size=40), 1e4 * rng.normal(size=40)
    value = bp.Correlation().value(scores, bp.Queries(labels, group=[25, 15]))
    expected = [n * (1.0 - stats.pearsonr(scores[a], labels[a])[0]) for n, a in ((25, slice(25)), (15, slice(25, 40)))]
    np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_a_query_of_equal_labels_takes_no_part():
    queries, scores = bp.Queries([2, 2, 0.1, 0.1, 0.1, 1, 0], group=[2, 3, 2]), np.arange(7.0)
    gradient, hessian = bp.Correlation().gradient_hessian(scores, queries)
    assert not gradient[:5].any()
    assert not hessian[:5].any()
    assert gradient[5:].all()
    np.testing.assert_array_equal(bp.Correlation().value(scores, queries)[:2], 0.0)
