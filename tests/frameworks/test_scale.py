"""What both frameworks do with gradients and Hessians of an odd size: their thresholds are absolute and silent."""

import numpy as np
import pytest

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
both = pytest.mark.parametrize("framework", FITS)


def scaled(by):
    """Give least squares with both outputs rescaled."""

    def objective(scores, data):
        return by * (scores - data.get_label()), np.full(N_ROWS, by)

    return objective


def test_xgboost_makes_no_split_below_min_child_weight():
    """h = 1e-3 a row on 100 rows sums to 0.1 < min_child_weight = 1: XGBoost silently makes no split."""
    leaves, predicted = xgboost_fit(scaled(1e-3))
    assert leaves == [1, 1]
    assert np.ptp(predicted) == 0


@both
def test_a_tiny_scale_is_dead_in_both(framework):
    """h = 1e-9 a row: a silent constant model in both."""
    leaves, predicted = FITS[framework](scaled(1e-9))
    assert set(leaves) == {1}
    assert np.ptp(predicted) == 0


@both
def test_nan_in_g_is_silent(framework):
    """One NaN in g: no error, and finite predictions; the losses have to refuse it."""

    def objective(scores, data):
        gradient = scores - data.get_label()
        gradient[3] = np.nan
        return gradient, np.ones(N_ROWS)

    assert np.isfinite(FITS[framework](objective)[1]).all()
