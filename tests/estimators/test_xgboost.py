"""What XGBoost alone does; what every framework does stands in tests/adapters/test_conformance.py."""

import json
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from adapters.harness import GROUP, LOSS, QID, VGROUP, VQID, VX, VY, Misses, X, Y, best_round
from sklearn.base import clone

import boostplug as bp
from boostplug.adapters.xgboost import XGBoost

xgb = pytest.importorskip("xgboost")

PARAMS = {"nthread": 1, "max_depth": 2, "min_child_weight": 0.1, "objective": "rank:pairwise", "base_score": 0.0}
RANKER = {"n_jobs": 1, "max_depth": 2, "min_child_weight": 0.1, "n_estimators": 5}


def matrix(kind=xgb.QuantileDMatrix, **changes):
    return kind(**{"data": X, "label": Y, "group": GROUP, "nthread": 1, **changes})


def train(loss=LOSS, rounds=5, data=None, params=None, **keywords):
    return xgb.train(
        {**PARAMS, **(params or {})}, data or matrix(), rounds, obj=loss, **{"verbose_eval": False, **keywords}
    )


def predict(booster, rows=X):
    return booster.predict(xgb.DMatrix(rows, nthread=1))


def fit(loss=LOSS, ranker=None, **keywords):
    ranker = bp.XGBRanker(objective=loss, **{**RANKER, **(ranker or {})})
    return ranker.fit(X, Y, **{"qid": QID, "verbose": False, **keywords})


# --- one objective, every route -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tree_method", ["hist", "exact"])
def test_tree_methods_in_the_ranker(tree_method):
    kind = xgb.QuantileDMatrix if tree_method == "hist" else xgb.DMatrix
    expected = predict(train(data=matrix(kind), params={"tree_method": tree_method}))
    np.testing.assert_array_equal(fit(ranker={"tree_method": tree_method}).predict(X), expected)


# --- the starting scores ------------------------------------------------------------------------------------------


def test_base_margin_of_validation_sets():
    margin = np.linspace(-3, 3, len(VY)).astype(np.float32)
    ranker = fit(
        eval_set=[(VX, VY)], eval_qid=[VQID], base_margin=np.zeros(len(Y)), base_margin_eval_set=[margin],
        ranker={"eval_metric": bp.NDCG(5)},
    )  # fmt: skip
    scores = ranker.predict(VX, output_margin=True) + margin
    value = ranker.evals_result()["validation_0"]["pre_NDCG@5"][-1]
    assert value == pytest.approx(bp.NDCG(5)(scores, bp.Queries(VY, group=VGROUP)), abs=1e-6)


# --- metrics and early stopping -----------------------------------------------------------------------------------


def test_several_metrics_are_all_reported_and_the_last_one_stops():
    metrics = [Misses(2), bp.NDCG(5)]
    ranker = fit(ranker={"n_estimators": 30, "eval_metric": metrics}, eval_set=[(VX, VY)], eval_qid=[VQID])
    history = ranker.evals_result()["validation_0"]
    assert list(history) == ["Misses@2", "pre_NDCG@5"]
    for metric, values in zip(metrics, history.values(), strict=True):
        expected = metric(ranker.predict(VX), bp.Queries(VY, group=VGROUP))
        assert values[-1] == pytest.approx(expected, abs=1e-6)
    best = best_round(history["pre_NDCG@5"], 4, greater=True)
    stopped = fit(
        ranker={"n_estimators": 30, "eval_metric": metrics, "early_stopping_rounds": 4},
        eval_set=[(VX, VY)],
        eval_qid=[VQID],
    )
    assert stopped.best_iteration == best - 1
    assert stopped.best_score == history["pre_NDCG@5"][best - 1]


def test_errors_are_never_maximised():
    """Whatever their name: XGBoost maximises what starts with auc, pre, map or ndcg."""

    def result(metric):
        return XGBoost().metric_result(metric.name, 0.5, metric.greater_is_better)

    @dataclass(frozen=True)
    class preMisses(Misses):  # noqa: N801
        pass

    for metric, name in ((preMisses(), "error_preMisses@5"), (Misses(), "Misses@5"), (bp.NDCG(5), "pre_NDCG@5")):
        assert result(metric) == (name, 0.5)
    for metric in (bp.NDCG(3, convention="letor", ties="order", gain="linear"), bp.MAP(relevant=0.5)):
        assert not {":", " ", "\t"} & set(result(metric)[0])


# --- inputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids",
    [
        QID[-1] - QID,
        QID.astype(np.int64) * 2**32,
        np.array([int(i) * 2**70 for i in QID], dtype=object),
        np.char.add("q", QID.astype(str)),
        pd.Series(QID).astype("category"),
    ],
    ids=["falling", "2^32", "2^70", "words", "categories"],
)
def test_query_ids_of_any_kind(ids):
    """XGBoost wants ids that rise, and takes them modulo 2^32; our ranker wants the rows of a query together."""
    np.testing.assert_array_equal(fit(qid=ids).predict(X), fit().predict(X))
    valid = {"eval_set": [(X, Y)], "eval_qid": [ids]}
    assert fit(**valid).evals_result()["validation_0"]["pre_NDCG@10"][-1] == pytest.approx(
        bp.NDCG(10)(fit().predict(X), bp.Queries(Y, group=GROUP)), abs=1e-6
    )


# --- saved models -------------------------------------------------------------------------------------------------


def test_saved_models_name_a_ranking_objective():
    learner = json.loads(fit().get_booster().save_config())["learner"]
    assert learner["objective"]["name"] == "rank:pairwise"
    assert float(learner["learner_model_param"]["base_score"].strip("[]")) == 0


@pytest.mark.parametrize("trained_by", [LOSS, "rank:ndcg"])
def test_a_loaded_model_leaves_the_loss_as_it_is(trained_by, tmp_path):
    """XGBoost takes the file's objective, and a later fit would train that."""
    path, model = tmp_path / "model.ubj", fit(trained_by)
    model.save_model(path)
    for loss, base_score in ((LOSS, None), (bp.QBRank(preference_weight=0.3), 0.25)):
        ranker = bp.XGBRanker(objective=loss, base_score=base_score, **RANKER)
        ranker.load_model(path)
        np.testing.assert_array_equal(ranker.predict(X), model.predict(X))
        for same in (ranker, clone(ranker), pickle.loads(pickle.dumps(ranker))):
            assert same.objective == same.get_params()["objective"] == loss
            assert same.base_score == base_score
        expected = fit(loss, ranker={"base_score": base_score}).predict(X)
        assert not np.array_equal(expected, model.predict(X)) or loss == trained_by
        np.testing.assert_array_equal(ranker.fit(X, Y, qid=QID, verbose=False).predict(X), expected)
