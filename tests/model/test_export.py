"""Exported boosters: the same predictions, where training stopped, under an objective that converters know."""

import copy
import json
import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from adapters.harness import FRAMEWORKS, LOSS, X, every_framework
from serving import by_onnx, by_treelite

import boostplug as bp

LIGHTGBM, XGBOOST = FRAMEWORKS.values()


def holes(F, seed=0):
    """Return rows with a fifth missing, and zeros and large numbers among the rest; XGBoost refuses infinities."""
    rng, rows = np.random.default_rng(seed), X.astype(np.float32)
    far = np.inf if F is LIGHTGBM else np.nan
    for value, share in ((np.nan, 0.2), (0.0, 0.05), (far, 0.02), (-far, 0.02), (1e38, 0.02)):
        rows[rng.random(rows.shape) < share] = value
    return rows


def trained(F, rows=X, rounds=20, data=None, **params):
    data = F.data(F.kinds[0], data=rows, **(data or {}))
    size = {"num_leaves": 6} if F is LIGHTGBM else {"max_depth": 3, "base_score": None}
    return F.train(LOSS, data, rounds, **{**size, **params})[0]


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


@pytest.mark.parametrize("params", [{}, {"boosting": "dart"}, {"use_missing": False}, {"num_leaves": 2}], ids=str)
def test_lightgbm(params):
    booster = trained(LIGHTGBM, holes(LIGHTGBM), **params)
    exported = check(booster, holes(LIGHTGBM, 1))
    assert "\nobjective=lambdarank\n" in exported.model_to_string()
    assert exported.params["objective"] == "lambdarank"
    assert booster.params["objective"] == "none"  # it is a copy
    check(lgb.Booster(model_str=booster.model_to_string()), holes(LIGHTGBM, 2))


@pytest.mark.parametrize("params", [{}, {"num_parallel_tree": 3, "subsample": 0.5}, {"base_score": 2.5}], ids=str)
def test_xgboost(params):
    booster = trained(XGBOOST, holes(XGBOOST), **params)
    exported = check(booster, holes(XGBOOST, 1))
    assert json.loads(exported.save_config())["learner"]["objective"]["name"] == "reg:squarederror"
    assert json.loads(booster.save_config())["learner"]["objective"]["name"] == "rank:pairwise"


@every_framework
@pytest.mark.filterwarnings("ignore:.* rounds, up to the best iteration of early stopping")
def test_a_training_that_stopped_is_exported_up_to_its_best_round(F):
    keep = {"keep_training_booster": True} if F is LIGHTGBM else {}  # else lgb.train cuts it itself
    booster = trained(F, rounds=40, valid=True, metric=bp.NDCG(3), patience=2, **keep)
    exported = check(booster)
    if F is LIGHTGBM:
        assert booster.num_trees() > exported.num_trees() == exported.best_iteration == booster.best_iteration
        assert exported.best_score == booster.best_score
    else:
        assert booster.num_boosted_rounds() > exported.num_boosted_rounds() == booster.best_iteration + 1
        assert exported.attributes() == booster.attributes()
        assert exported.best_iteration == booster.best_iteration


def test_categories_of_lightgbm_are_converted():
    rng = np.random.default_rng(0)
    rows = X.copy()
    rows[:, 1] = rng.integers(0, 12, len(X))
    params = {"min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 0.1, "max_cat_to_onehot": 1}
    booster = trained(LIGHTGBM, rows, data={"categorical_feature": [1]}, **params)
    assert "num_cat=1" in booster.model_to_string()
    rows[::5, 1], rows[1::5, 1], rows[2::5, 1] = np.nan, 99, -1  # missing, never seen, below all
    check(booster, rows)


@pytest.mark.parametrize("one_by_one", [1, 100])
def test_categories_of_xgboost_are_converted(one_by_one):
    types = {"feature_types": ["q", "c", "q", "q"]}
    rows = X.astype(np.float32)
    rows[:, 1] = np.random.default_rng(0).integers(0, 12, len(X))
    booster = trained(XGBOOST, rows, data=types, max_cat_to_onehot=one_by_one)
    rows[::5, 1] = np.nan
    exported, expected = bp.export(booster), booster.predict(xgb.DMatrix(rows, **types))
    assert exported.feature_types == booster.feature_types
    np.testing.assert_array_equal(exported.predict(xgb.DMatrix(rows, **types)), expected)
    for scores in (by_onnx(exported, rows), by_treelite(exported, rows)):
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5)


def test_what_converters_would_misread_keeps_the_name_that_they_refuse():
    linear = trained(LIGHTGBM, linear_tree=True)
    zeros = trained(LIGHTGBM, holes(LIGHTGBM), zero_as_missing=True)
    for booster in (linear, zeros):
        exported = check(booster, converted=False)
        with pytest.raises(NotImplementedError, match="Unsupported LightGbm objective: 'custom'"):
            by_onnx(exported, X)


@pytest.mark.filterwarnings(r"ignore:[\s\S]*booster=dart")  # XGBoost 3.4 has it as a part of gbtree
def test_dart_of_xgboost_has_its_weights_in_the_leaves():
    """Which converters read: onnxmltools refuses XGBoost 3.2's dart, and takes 3.4's without its weights."""
    booster = trained(XGBOOST, booster="dart", rate_drop=0.5, seed=1, base_score=0.25)
    exported, expected = bp.export(booster), scores_of(booster, X)
    assert b"weight_drop" not in exported.save_raw()
    for scores in (scores_of(exported, X), by_onnx(exported, X), by_treelite(exported, X)):
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5)
    named = trained(XGBOOST, pd.DataFrame(X, columns=["weight_drop", "b", "c", "d"]))
    np.testing.assert_array_equal(bp.export(named).get_dump(), named.get_dump())
