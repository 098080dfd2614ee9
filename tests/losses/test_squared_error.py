"""SquaredError against its arithmetic, QBRank's label term and the frameworks' regression."""

import numpy as np
import pytest

from boostplug import QBRank, Queries, SquaredError


def data(rng, group=(9, 1, 0, 4, 30), labels=None):
    n = sum(group)
    labels = rng.normal(size=n) if labels is None else labels
    return Queries(
        labels, group=group, weight=rng.integers(0, 4, n) / 2.0, labelled=rng.random(n) < 0.8
    ), 2.0 * rng.normal(size=n)


def test_queryrmse_by_hand():
    """Labels 3, 1, 0 at scores 0, 0, 2 of weights 1, 2, 1: errors 3, 1, -2, of mean 3/4."""
    queries = Queries([3, 1, 0], group=[3], weight=[1.0, 2.0, 1.0])
    loss = SquaredError(centred=True)
    assert loss.value([0, 0, 2], queries) == pytest.approx([0.5 * (2.25**2 + 2 * 0.25**2 + 2.75**2)])
    gradient, hessian = loss.gradient_hessian([0, 0, 2], queries)
    np.testing.assert_allclose(gradient, 0.75 * np.array([-2.25, -0.5, 2.75]))
    np.testing.assert_allclose(hessian, 0.75 * np.array([1.0, 2.0, 1.0]))


@pytest.mark.parametrize("weighted", [False, True])
def test_not_centred_it_is_qbranks_label_term_to_the_bit(weighted):
    rng = np.random.default_rng(0)
    queries, scores = data(rng)
    if not weighted:
        queries = Queries(queries.labels, group=np.diff(queries.boundaries), labelled=queries.labelled)
    one, other = SquaredError(), QBRank(preference_weight=0.0)
    np.testing.assert_array_equal(one.value(scores, queries), other.value(scores, queries))
    for x, y in zip(one.gradient_hessian(scores, queries), other.gradient_hessian(scores, queries), strict=True):
        np.testing.assert_array_equal(x, y)


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


def test_what_a_light_document_weighs_against_a_heavy_one():
    """The mean is that of the heavy document but for 1e-60 of a gap of 3, which is its gradient."""
    queries = Queries([3.0, 0.0], group=[2], weight=[1e-60, 1.0])
    loss = SquaredError(centred=True)
    gradient, _ = loss.gradient_hessian(np.zeros(2), queries)
    np.testing.assert_allclose(gradient, loss.scale(queries) * np.array([-3e-60, 3e-60]), rtol=1e-12)


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
