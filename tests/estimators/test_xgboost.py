"""What XGBoost alone does; what every framework does stands in tests/adapters/test_conformance.py."""

import json
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, GROUP, LOSS, QID, VALID, VQID, VX, VY, Misses, X, Y, best_round, xgb
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import boostplug as bp

XGBOOST = FRAMEWORKS["xgboost"]
fit = XGBOOST.fit


@pytest.mark.parametrize(("tree_method", "kind"), [("hist", xgb.QuantileDMatrix), ("exact", xgb.DMatrix)])
def test_tree_methods_in_the_ranker(tree_method, kind):
    expected = XGBOOST.train(LOSS, XGBOOST.data(kind), tree_method=tree_method)[0]
    np.testing.assert_array_equal(fit(tree_method=tree_method).predict(X), XGBOOST.predict(expected))


def test_base_margin_of_validation_sets():
    margin = np.linspace(-3, 3, len(VY)).astype(np.float32)
    start = {"base_margin": np.zeros(len(Y)), "base_margin_eval_set": [margin]}
    ranker = fit(valid=VALID, metric=bp.NDCG(5), **start)
    scores = ranker.predict(VX, output_margin=True) + margin
    assert XGBOOST.history(ranker)["pre_NDCG@5"][-1] == pytest.approx(bp.NDCG(5).score(VY, scores, qid=VQID), abs=1e-6)


def test_several_metrics_are_all_reported_and_the_last_one_stops():
    metrics = [Misses(2), bp.NDCG(5)]
    ranker = fit(n_estimators=30, valid=VALID, metric=metrics)
    history = XGBOOST.history(ranker)
    assert list(history) == ["Misses@2", "pre_NDCG@5"]
    for metric, values in zip(metrics, history.values(), strict=True):
        assert values[-1] == pytest.approx(metric.score(VY, ranker.predict(VX), qid=VQID), abs=1e-6)
    best = best_round(history["pre_NDCG@5"], 4, greater=True)
    stopped = fit(n_estimators=30, valid=VALID, metric=metrics, patience=4)
    assert stopped.best_iteration == best - 1
    assert stopped.best_score == history["pre_NDCG@5"][best - 1]


@dataclass(frozen=True)
class preMisses(Misses):  # noqa: N801
    """An error whose name begins as one that XGBoost maximises: auc, pre, map or ndcg."""


NAMES = {
    preMisses(): "error_preMisses@5",
    Misses(): "Misses@5",
    bp.NDCG(5): "pre_NDCG@5",
    bp.NDCG(3, convention="letor", ties="order", gain="linear"): "pre_NDCG@3(letor,linear,order)",
    bp.MAP(relevant=0.5): "pre_MAP(relevant=0.5)",
}


@pytest.mark.parametrize("metric", NAMES)
def test_errors_are_never_maximised(metric):
    name, _ = metric(np.zeros(len(Y)), XGBOOST.data())
    assert name == NAMES[metric]


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
    expected, found = fit().predict(X), fit(qid=ids, valid=(X, Y, ids))
    np.testing.assert_array_equal(found.predict(X), expected)
    value = bp.NDCG(10).score(Y, expected, group=GROUP)
    assert XGBOOST.history(found)["pre_NDCG@10"][-1] == pytest.approx(value, abs=1e-6)


def test_saved_models_name_a_ranking_objective():
    learner = json.loads(fit().get_booster().save_config())["learner"]
    assert learner["objective"]["name"] == "rank:pairwise"
    assert float(learner["learner_model_param"]["base_score"].strip("[]")) == 0


@pytest.mark.parametrize(
    "options", [{"booster": "dart", "rate_drop": 0.2}, {"booster": "gblinear"}, {"num_parallel_tree": 2}], ids=str
)
def test_a_model_is_saved_as_far_as_the_best_iteration_with_its_attributes(options, tmp_path):
    ranker, path = fit(n_estimators=8, verbosity=0, **options), tmp_path / "model.ubj"
    booster, data = ranker.get_booster(), xgb.DMatrix(X)
    booster.set_attr(best_iteration="3", best_score="0.5", note="ours")
    n_rounds, expected = booster.num_boosted_rounds(), ranker.predict(X)
    ranker.save_model(path)
    np.testing.assert_array_equal(xgb.Booster(model_file=path).predict(data), expected)
    for model in (xgb.XGBRanker(), bp.XGBRanker(objective=LOSS), bp.XGBRanker()):
        model.load_model(path)
        np.testing.assert_array_equal(model.predict(X), expected)
        assert model.get_booster().attributes() == booster.attributes()
    cut = options.get("booster") != "gblinear"  # which adds to one set of coefficients
    assert np.array_equal(booster.predict(data), expected) == (not cut)
    assert booster.num_boosted_rounds() == n_rounds  # as pickle keeps them
    with pytest.raises(NotFittedError):
        XGBOOST.ranker().save_model(path)


@pytest.mark.parametrize("trained_by", [LOSS, "rank:ndcg"])
def test_a_loaded_model_leaves_the_loss_as_it_is(trained_by, tmp_path):
    """XGBoost takes the file's objective, and a later fit would train that."""
    path, model = tmp_path / "model.ubj", fit(trained_by)
    model.save_model(path)
    for loss, base_score in ((LOSS, None), (bp.QBRank(preference_weight=0.3), 0.25)):
        ranker = XGBOOST.ranker(loss, base_score=base_score)
        ranker.load_model(path)
        np.testing.assert_array_equal(ranker.predict(X), model.predict(X))
        for same in (ranker, clone(ranker), pickle.loads(pickle.dumps(ranker))):
            assert same.objective == same.get_params()["objective"] == loss
            assert same.base_score == base_score
        expected = fit(loss, base_score=base_score).predict(X)
        assert not np.array_equal(expected, model.predict(X)) or loss == trained_by
        np.testing.assert_array_equal(ranker.fit(X, Y, qid=QID, verbose=False).predict(X), expected)
