"""What both frameworks do with gradients and Hessians of an odd size: their thresholds are absolute and silent."""

import numpy as np
import pytest
from versions import version_of

N_ROWS = 100


def features():
    return np.random.default_rng(0).normal(size=(N_ROWS, 1)).astype(np.float32)


def labels():
    return (features()[:, 0] > 0).astype(np.float32)


def lightgbm_fit(objective, **params):
    """Give the number of leaves of each tree, and the predictions."""
    lgb = pytest.importorskip("lightgbm")
    params = {"verbosity": -1, "num_threads": 1, "num_leaves": 4, "learning_rate": 1.0, **params}
    booster = lgb.train({**params, "objective": objective}, lgb.Dataset(features(), labels()), 2)
    leaves = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]
    return leaves, booster.predict(features())


def xgboost_fit(objective, **params):
    """Give the number of leaves of each tree, and the predictions."""
    xgb = pytest.importorskip("xgboost")
    params = {"nthread": 1, "max_depth": 2, "learning_rate": 1.0, **params}
    data = xgb.DMatrix(features(), labels())
    booster = xgb.train({**params, "objective": "rank:pairwise", "base_score": 0}, data, 2, obj=objective)
    return [tree.count("leaf=") for tree in booster.get_dump()], booster.predict(data)


FITS = {"lightgbm": lightgbm_fit, "xgboost": xgboost_fit}
NO_FLOOR = {"lightgbm": {"min_sum_hessian_in_leaf": 0}, "xgboost": {"min_child_weight": 0, "reg_lambda": 0}}
both = pytest.mark.parametrize("framework", FITS)


def scaled(gradient=1.0, hessian=1.0):
    """Give least squares with both outputs rescaled."""

    def objective(scores, data):
        return gradient * (scores - data.get_label()), np.full(N_ROWS, hessian)

    return objective


def spoilt(part, value, rows=3):
    """Give least squares with one entry, or some, of the gradient (part 0) or the Hessian (part 1) replaced."""

    def objective(scores, data):
        outputs = [scores - data.get_label(), np.ones(N_ROWS)]
        outputs[part][rows] = value
        return tuple(outputs)

    return objective


def test_xgboost_makes_no_split_below_min_child_weight():
    """h = 1e-3 a row on 100 rows sums to 0.1 < min_child_weight = 1: XGBoost silently makes no split."""
    leaves, predicted = xgboost_fit(scaled(1e-3, 1e-3))
    assert leaves == [1, 1]
    assert np.ptp(predicted) == 0


def test_lightgbm_still_splits_at_1e_minus_3():
    """h = 1e-3 a row is enough for LightGBM, whose min_sum_hessian_in_leaf is 1e-3."""
    leaves, predicted = lightgbm_fit(scaled(1e-3, 1e-3))
    assert max(leaves) > 1
    np.testing.assert_allclose(predicted, labels(), atol=1e-6)


@both
def test_a_tiny_scale_is_dead_in_both(framework):
    """h = 1e-9 a row: a silent constant model in both."""
    leaves, predicted = FITS[framework](scaled(1e-9, 1e-9))
    assert set(leaves) == {1}
    assert np.ptp(predicted) == 0


def test_xgboosts_lambda_is_absolute():
    """Without min_child_weight, lambda = 1 still shrinks the leaves of h = 1e-3 a row to a tenth and less."""
    _, predicted = xgboost_fit(scaled(1e-3, 1e-3), min_child_weight=0)
    assert 0 < predicted.max() < 0.2
    _, unshrunk = xgboost_fit(scaled(1e-3, 1e-3), **NO_FLOOR["xgboost"])
    np.testing.assert_allclose(unshrunk, labels(), atol=1e-3)


@both
@pytest.mark.parametrize("floor", ["default", "none"])
def test_zero_hessians_give_a_silent_constant_model(framework, floor):
    """h = 0 everywhere: a silent constant 0, whatever the thresholds."""
    _, predicted = FITS[framework](scaled(1.0, 0.0), **(NO_FLOOR[framework] if floor == "none" else {}))
    assert not predicted.any()


@both
def test_negative_hessians_give_a_silent_constant_model(framework):
    """h < 0 everywhere: a silent constant 0."""
    assert not FITS[framework](scaled(1.0, -1.0))[1].any()


@both
def test_nan_in_g_is_silent(framework):
    """One NaN in g: no error; a constant 0 in LightGBM and XGBoost >= 3.4, a model of the other rows in XGBoost 3.2."""
    predicted = FITS[framework](spoilt(0, np.nan))[1]
    assert np.isfinite(predicted).all()
    if framework == "xgboost":
        pytest.importorskip("xgboost")
        if version_of("xgboost") == (3, 3):
            pytest.skip("3.3 was not looked at")
        assert (np.ptp(predicted) == 0) == (version_of("xgboost") >= (3, 4))
    else:
        assert not predicted.any()


def test_nan_in_h():
    """One NaN in h: NaN predictions for all rows in XGBoost, no error."""
    assert np.isnan(xgboost_fit(spoilt(1, np.nan))[1]).all()


def test_nan_in_h_of_lightgbm():
    """One NaN in h: a silent constant 0 in LightGBM."""
    assert not lightgbm_fit(spoilt(1, np.nan))[1].any()


def test_infinite_g():
    """One inf in g: -inf predictions in XGBoost, no error."""
    assert np.isneginf(xgboost_fit(spoilt(0, np.inf))[1]).all()


def test_infinite_g_of_lightgbm():
    """One inf in g: a silent constant 0 in LightGBM."""
    assert not lightgbm_fit(spoilt(0, np.inf))[1].any()
