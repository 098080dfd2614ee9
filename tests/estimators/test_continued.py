"""A training that continues another one loses none of its trees and moves none of its scores."""

import json

import numpy as np
import pytest
from adapters.harness import FRAMEWORKS, LOSS, QID, VALID, VGROUP, VQID, VX, VY, X, Y, every_framework, xgb

import boostplug as bp

NEW = 12  # rounds of the second training
LIGHTGBM, XGBOOST = FRAMEWORKS.values()
STOP = {"metric": bp.NDCG(3), "patience": 4}


def stopped_booster(F, **more):
    """Return a booster that early stopping has left with more rounds than its best."""
    return F.train(LOSS, rounds=60, valid=True, learning_rate=0.8, **STOP, **more)[0]


def test_new_trees_of_xgboost_are_exported():
    stopped = stopped_booster(XGBOOST)
    n, best = stopped.num_boosted_rounds(), stopped.best_iteration
    assert best + 1 < n
    booster = XGBOOST.fit(n_estimators=NEW, xgb_model=stopped).get_booster()
    exported = bp.export(booster)
    assert booster.num_boosted_rounds() == exported.num_boosted_rounds() == n + NEW
    np.testing.assert_array_equal(exported.predict(xgb.DMatrix(VX)), booster.predict(xgb.DMatrix(VX)))
    assert stopped.best_iteration == best  # the user's booster stays


@pytest.mark.parametrize("kind", ["ranker", "path"])
def test_new_trees_of_xgboosts_ranker_are_in_its_predictions(kind, tmp_path):
    stopped = XGBOOST.fit(n_estimators=60, learning_rate=0.8, valid=VALID, **STOP)
    stopped.save_model(tmp_path / "model.ubj")
    before, best = stopped.predict(VX), stopped.best_iteration
    assert best + 1 < XGBOOST.n_rounds(stopped)
    ranker = XGBOOST.fit(n_estimators=NEW, xgb_model=stopped if kind == "ranker" else tmp_path / "model.ubj")
    n = XGBOOST.n_rounds(ranker)
    assert n == NEW + (XGBOOST.n_rounds(stopped) if kind == "ranker" else best + 1)  # as far as the file goes
    np.testing.assert_array_equal(ranker.predict(VX), ranker.predict(VX, iteration_range=(0, n)))
    np.testing.assert_array_equal(ranker.export().predict(VX), ranker.predict(VX))
    with pytest.raises(AttributeError, match="early stopping"):
        _ = ranker.best_iteration
    assert stopped.best_iteration == best
    np.testing.assert_array_equal(stopped.predict(VX), before)


@pytest.mark.parametrize("kept", [False, True])
def test_new_trees_of_lightgbm_are_exported(kept):
    stopped = stopped_booster(LIGHTGBM, keep_training_booster=kept)
    n, best = stopped.num_trees(), stopped.best_iteration
    ranker = LIGHTGBM.fit(n_estimators=NEW, init_model=stopped)
    booster = ranker.booster_
    np.testing.assert_array_equal(ranker.export().predict(VX), ranker.predict(VX))
    np.testing.assert_array_equal(ranker.predict(VX), booster.predict(VX, num_iteration=-1))
    assert booster.num_trees() == n + NEW == bp.export(booster).num_trees()
    assert stopped.best_iteration == best


def base_score(booster):
    text = json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"]
    return np.ravel(json.loads(text)).tolist()


@pytest.mark.parametrize("objective", [LOSS, "rank:ndcg"])
@pytest.mark.parametrize("given", [{}, {"base_score": 2.0}])
def test_scores_start_from_those_of_the_model(objective, given):
    data = XGBOOST.data(xgb.DMatrix)
    model = XGBOOST.train(None, data, base_score=2.0)[0]
    ranker = XGBOOST.fit(objective, n_estimators=4, tree_method="exact", xgb_model=model, **given)
    np.testing.assert_array_equal(ranker.predict(VX, iteration_range=(0, 5)), model.predict(xgb.DMatrix(VX)))
    assert base_score(ranker.get_booster()) == [2.0]
    loss, named = (LOSS, {}) if objective is LOSS else (None, {"objective": objective})
    params = {**XGBOOST.params(), "tree_method": "exact", **named}
    del params["base_score"]
    booster = xgb.train(params, data, 4, xgb_model=model, obj=loss)
    np.testing.assert_array_equal(ranker.predict(VX), booster.predict(xgb.DMatrix(VX)))


@every_framework
def test_a_validation_set_without_scores_to_start_from_is_warned_of(F):
    start, both = 0.5 * X[:, 0], ([X, VX], [Y, VY], [QID, VQID])
    text = f"^{F.start} is given, and {F.start_of_sets} is not: .* judge eval_set.1. by the trees only"
    with pytest.warns(UserWarning, match=text):
        F.fit(valid=both, **{F.start: start})
    ranker = F.fit(valid=both, **{F.start: start, F.start_of_sets: [None, 0.5 * VX[:, 0]]})  # training keeps its own
    (of_train,) = F.history(ranker).values()
    assert of_train[-1] == pytest.approx(bp.NDCG(10).score(Y, ranker.predict(X) + start, qid=QID))


def test_old_trees_of_xgboost_read_the_new_data_itself():
    """Not the quantiles of the new data, between which the old trees split."""
    matrix = xgb.DMatrix
    model = XGBOOST.train(LOSS, XGBOOST.data(matrix))[0]
    x, other = VX.round(1) + 0.07, X + 0.03
    more = {"max_bin": 4, "init_model": model, "metric": bp.NDCG(3)}
    expected, history = XGBOOST.train(
        LOSS, matrix(x, VY, group=VGROUP), 3, valid=XGBOOST.data(matrix, data=other), **more
    )
    more["xgb_model"] = more.pop("init_model")
    ranker = XGBOOST.fit(LOSS, x, VY, qid=VQID, valid=(other, Y, QID), n_estimators=3, **more)
    np.testing.assert_array_equal(ranker.predict(VX), expected.predict(matrix(VX)))
    assert XGBOOST.history(ranker) == history
