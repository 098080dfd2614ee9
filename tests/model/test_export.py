"""Exported boosters: the same predictions, where training stopped, under an objective that converters know."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from adapters.harness import GROUP, LOSS, VGROUP, VX, VY, X, Y
from serving import by_onnx, by_treelite

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

LIGHTGBM = {"verbosity": -1, "num_threads": 1, "num_leaves": 6, "min_data_in_leaf": 2, "objective": LOSS}
XGBOOST = {"nthread": 1, "max_depth": 3, "objective": "rank:pairwise", "disable_default_eval_metric": True}


def holes(rows, seed=0):
    """Return the rows with a fifth missing, and infinities and zeros among the rest."""
    rng = np.random.default_rng(seed)
    rows = rows.astype(np.float32)
    for value, share in ((np.nan, 0.2), (0.0, 0.05), (np.inf, 0.02), (-np.inf, 0.02), (1e38, 0.02)):
        rows[rng.random(rows.shape) < share] = value
    return rows


def trained_by_lightgbm(rows=X, rounds=20, params=None, **keywords):
    data = lgb.Dataset(rows, Y, group=GROUP, **keywords.pop("data", {}))
    return lgb.train({**LIGHTGBM, **(params or {})}, data, rounds, **keywords)


def trained_by_xgboost(rows=X, rounds=20, params=None, **keywords):
    data = xgb.DMatrix(rows, Y, group=GROUP, nthread=1, **keywords.pop("data", {}))
    return xgb.train(
        {**XGBOOST, **(params or {})}, data, rounds, obj=keywords.pop("obj", LOSS), verbose_eval=False, **keywords
    )


def scores_of(booster, rows):
    if isinstance(booster, lgb.Booster):
        return booster.predict(rows)
    rounds = int(booster.attr("best_iteration") or -1) + 1
    return booster.predict(xgb.DMatrix(rows, nthread=1), iteration_range=(0, rounds))


def check(booster, rows=X, converted=True):
    """Check that the export predicts the same, through files and pickles too, and that converters read it."""
    exported, expected = bp.export(booster), scores_of(booster, rows)
    np.testing.assert_array_equal(scores_of(exported, rows), expected)
    for same in (pickle.loads(pickle.dumps(exported)), copy.deepcopy(exported), bp.export(exported)):
        np.testing.assert_array_equal(scores_of(same, rows), expected)
    if converted:
        close = {"rtol": 0, "atol": 1e-5 * max(1.0, np.abs(expected).max())}
        np.testing.assert_allclose(by_onnx(exported, rows), expected, **close)
        np.testing.assert_allclose(by_treelite(exported, rows), expected, **close)
    return exported


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"boosting": "dart"},
        {"use_missing": False},
        {"num_leaves": 2},
    ],
    ids=str,
)
def test_lightgbm(params):
    booster = trained_by_lightgbm(holes(X), params=params)
    exported = check(booster, holes(X, 1))
    assert "\nobjective=lambdarank\n" in exported.model_to_string()
    assert exported.params["objective"] == "lambdarank"
    assert booster.params["objective"] == "none"  # it is a copy
    check(lgb.Booster(model_str=booster.model_to_string()), holes(X, 2))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"num_parallel_tree": 3, "subsample": 0.5},
        {"base_score": 2.5},
    ],
    ids=str,
)
def test_xgboost(params):
    rows = np.where(np.isinf(holes(X)), np.nan, holes(X))  # XGBoost refuses infinities
    booster = trained_by_xgboost(rows, params=params)
    exported = check(booster, np.where(np.isinf(holes(X, 1)), np.nan, holes(X, 1)))
    assert json.loads(exported.save_config())["learner"]["objective"]["name"] == "reg:squarederror"
    assert json.loads(booster.save_config())["learner"]["objective"]["name"] == "rank:pairwise"


def test_a_training_that_stopped_is_exported_up_to_its_best_round():
    stop = lgb.early_stopping(2, verbose=False)
    valid = lgb.Dataset(VX, VY, group=VGROUP)
    keep = {"callbacks": [stop], "keep_training_booster": True}  # else lgb.train cuts it itself
    booster = trained_by_lightgbm(rounds=40, valid_sets=[valid], feval=bp.NDCG(3), **keep)
    exported = check(booster)
    assert booster.num_trees() > exported.num_trees() == exported.best_iteration == booster.best_iteration
    assert exported.best_score == booster.best_score

    evals = [(xgb.DMatrix(VX, VY, group=VGROUP), "valid")]
    booster = trained_by_xgboost(rounds=40, evals=evals, custom_metric=bp.NDCG(3), early_stopping_rounds=2)
    with pytest.warns(UserWarning, match="rounds, up to the best iteration of early stopping"):
        exported = check(booster)
    assert booster.num_boosted_rounds() > exported.num_boosted_rounds() == booster.best_iteration + 1
    assert exported.attributes() == booster.attributes()
    assert exported.best_iteration == booster.best_iteration


def test_categories_of_lightgbm_are_converted():
    rng = np.random.default_rng(0)
    rows = X.copy()
    rows[:, 1] = rng.integers(0, 12, len(X))
    params = {"min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 0.1, "max_cat_to_onehot": 1}
    booster = trained_by_lightgbm(rows, params=params, data={"categorical_feature": [1]})
    assert "num_cat=1" in booster.model_to_string()
    rows[::5, 1], rows[1::5, 1], rows[2::5, 1] = np.nan, 99, -1  # missing, never seen, below all
    check(booster, rows)


@pytest.mark.parametrize("one_by_one", [1, 100])
def test_categories_of_xgboost_are_converted(one_by_one):
    types = {"feature_types": ["q", "c", "q", "q"]}
    rows = X.astype(np.float32)
    rows[:, 1] = np.random.default_rng(0).integers(0, 12, len(X))
    booster = trained_by_xgboost(rows, params={"max_cat_to_onehot": one_by_one}, data=types)
    rows[::5, 1] = np.nan
    exported, expected = bp.export(booster), booster.predict(xgb.DMatrix(rows, **types))
    assert exported.feature_types == booster.feature_types
    np.testing.assert_array_equal(exported.predict(xgb.DMatrix(rows, **types)), expected)
    for scores in (by_onnx(exported, rows), by_treelite(exported, rows)):
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5)


def test_what_converters_would_misread_keeps_the_name_that_they_refuse():
    linear = trained_by_lightgbm(np.nan_to_num(X), params={"linear_tree": True})
    zeros = trained_by_lightgbm(holes(X), params={"zero_as_missing": True})
    for booster in (linear, zeros):
        exported = check(booster, converted=False)
        with pytest.raises(NotImplementedError, match="Unsupported LightGbm objective: 'custom'"):
            by_onnx(exported, X)


@pytest.mark.filterwarnings(r"ignore:[\s\S]*booster=dart")  # XGBoost 3.4 has it as a part of gbtree
def test_dart_of_xgboost_has_its_weights_in_the_leaves():
    """Which converters read: onnxmltools refuses XGBoost 3.2's dart, and takes 3.4's without its weights."""
    booster = trained_by_xgboost(params={"booster": "dart", "rate_drop": 0.5, "seed": 1, "base_score": 0.25})
    exported, expected = bp.export(booster), scores_of(booster, X)
    assert b"weight_drop" not in exported.save_raw()
    for scores in (scores_of(exported, X), by_onnx(exported, X), by_treelite(exported, X)):
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5)
    named = trained_by_xgboost(pd.DataFrame(X, columns=["weight_drop", "b", "c", "d"]))
    np.testing.assert_array_equal(bp.export(named).get_dump(), named.get_dump())
