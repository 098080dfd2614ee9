"""A training that continues another one loses none of its trees and moves none of its scores."""

import json

import numpy as np
import pytest
from adapters.harness import GROUP, QID, VGROUP, VQID, VX, VY, X, Y

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

LOSS = bp.MPBoost()
NEW = 12  # rounds of the second training
PLAIN = {"objective": "rank:pairwise", "disable_default_eval_metric": 1, "base_score": 0.0, "eta": 0.8, "nthread": 1}


def matrix(x=X, y=Y, group=GROUP):
    return xgb.DMatrix(x, y, group=group)


def stopped_booster():
    """Return a booster of XGBoost's that early stopping has left with more rounds than its best."""
    booster = xgb.train(
        PLAIN, matrix(), 60, obj=LOSS, evals=[(matrix(VX, VY, VGROUP), "valid")], custom_metric=bp.NDCG(3),
        early_stopping_rounds=4, verbose_eval=False,
    )  # fmt: skip
    assert booster.best_iteration + 1 < booster.num_boosted_rounds()
    return booster


def ranker_of_xgboost(objective=LOSS, **more):
    return bp.XGBRanker(objective=objective, n_jobs=1, learning_rate=0.8, **more)


def stopped_ranker():
    ranker = ranker_of_xgboost(n_estimators=60, eval_metric=bp.NDCG(3), early_stopping_rounds=4)
    ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], verbose=False)
    assert ranker.best_iteration + 1 < ranker.get_booster().num_boosted_rounds()
    return ranker


def test_new_trees_of_xgboost_are_exported():
    stopped = stopped_booster()
    n, best = stopped.num_boosted_rounds(), stopped.best_iteration
    ranker = ranker_of_xgboost(n_estimators=NEW)
    booster = ranker.fit(X, Y, qid=QID, xgb_model=stopped, verbose=False).get_booster()
    assert booster.num_boosted_rounds() == n + NEW
    exported = bp.export(booster)
    assert exported.num_boosted_rounds() == n + NEW
    np.testing.assert_array_equal(exported.predict(xgb.DMatrix(VX)), booster.predict(xgb.DMatrix(VX)))
    assert stopped.best_iteration == best  # the user's booster stays


@pytest.mark.parametrize("kind", ["ranker", "path"])
def test_new_trees_of_xgboosts_ranker_are_in_its_predictions(kind, tmp_path):
    stopped = stopped_ranker()
    stopped.save_model(tmp_path / "model.ubj")
    model = {"ranker": stopped, "path": tmp_path / "model.ubj"}[kind]
    before, best = stopped.predict(VX), stopped.best_iteration
    ranker = ranker_of_xgboost(n_estimators=NEW).fit(X, Y, qid=QID, xgb_model=model, verbose=False)
    n = ranker.get_booster().num_boosted_rounds()
    assert n == stopped.get_booster().num_boosted_rounds() + NEW
    np.testing.assert_array_equal(ranker.predict(VX), ranker.predict(VX, iteration_range=(0, n)))
    np.testing.assert_array_equal(ranker.export().predict(VX), ranker.predict(VX))
    with pytest.raises(AttributeError, match="early stopping"):
        _ = ranker.best_iteration
    assert stopped.best_iteration == best
    np.testing.assert_array_equal(stopped.predict(VX), before)


@pytest.mark.parametrize("kept", [False, True])
def test_new_trees_of_lightgbm_are_exported(kept):
    params = {"objective": LOSS, "metric": "None", "verbose": -1, "num_threads": 1, "learning_rate": 0.8}
    params |= {"min_data_in_leaf": 3, "num_leaves": 4}
    train = lgb.Dataset(X, Y, group=GROUP, free_raw_data=False)
    valid = lgb.Dataset(VX, VY, group=VGROUP, reference=train)
    stopped = lgb.train(
        params, train, 60, valid_sets=[valid], feval=bp.NDCG(3), callbacks=[lgb.early_stopping(4, verbose=False)],
        keep_training_booster=kept,
    )  # fmt: skip
    n, best = stopped.num_trees(), stopped.best_iteration
    ranker = bp.LGBMRanker(objective=LOSS, n_estimators=NEW, verbose=-1, n_jobs=1, min_child_samples=3)
    booster = ranker.fit(X, Y, qid=QID, init_model=stopped).booster_
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
    model = xgb.train({**PLAIN, "base_score": 2.0}, matrix(), 5)
    ranker = ranker_of_xgboost(objective, n_estimators=4, tree_method="exact", **given)
    ranker.fit(X, Y, qid=QID, xgb_model=model, verbose=False)
    np.testing.assert_array_equal(ranker.predict(VX, iteration_range=(0, 5)), model.predict(xgb.DMatrix(VX)))
    assert base_score(ranker.get_booster()) == [2.0]
    names = {"objective": "rank:pairwise"} if objective is LOSS else {"objective": objective}
    params = {**names, "disable_default_eval_metric": 1, "eta": 0.8, "nthread": 1, "tree_method": "exact"}
    booster = xgb.train(params, matrix(), 4, xgb_model=model, obj=LOSS if objective is LOSS else None)
    np.testing.assert_array_equal(ranker.predict(VX), booster.predict(xgb.DMatrix(VX)))


# --- scores to start from -----------------------------------------------------------------------------------------

STARTS = {
    bp.LGBMRanker: ("init_score", "eval_init_score", {"verbose": -1, "min_child_samples": 1}, {}),
    bp.XGBRanker: ("base_margin", "base_margin_eval_set", {}, {"verbose": False}),
}


@pytest.mark.parametrize("kind", STARTS)
def test_a_validation_set_without_scores_to_start_from_is_warned_of(kind):
    name, of_sets, params, quiet = STARTS[kind]
    start, sets = 0.5 * X[:, 0], {"eval_set": [(X, Y), (VX, VY)], "eval_qid": [QID, VQID]}

    def fitted(**more):
        return kind(objective=LOSS, n_estimators=2, n_jobs=1, **params).fit(X, Y, qid=QID, **sets, **quiet, **more)

    text = f"^{name} is given, and {of_sets} is not: .* judge eval_set.1. by the trees only; pass {of_sets}="
    with pytest.warns(UserWarning, match=text):
        fitted(**{name: start})
    both = fitted(**{name: start, of_sets: [None, 0.5 * VX[:, 0]]})  # the training set keeps its own
    (of_train,) = next(iter(both.evals_result_.values())).values()
    assert of_train[-1] == pytest.approx(bp.NDCG(10).score(Y, both.predict(X) + start, qid=QID))


def test_old_trees_of_xgboost_read_the_new_data_itself():
    """Not the quantiles of the new data, between which the old trees split."""
    model = xgb.train(PLAIN, matrix(), 5, obj=LOSS)
    x, valid = VX.round(1) + 0.07, X + 0.03
    ranker = ranker_of_xgboost(n_estimators=3, max_bin=4, eval_metric=bp.NDCG(3))
    ranker.fit(x, VY, qid=VQID, xgb_model=model, eval_set=[(valid, Y)], eval_qid=[QID], verbose=False)
    history = {}
    expected = xgb.train(
        {**PLAIN, "max_bin": 4}, matrix(x, VY, VGROUP), 3, obj=LOSS, xgb_model=model, custom_metric=bp.NDCG(3),
        evals=[(matrix(valid), "validation_0")], evals_result=history, verbose_eval=False,
    )  # fmt: skip
    np.testing.assert_array_equal(ranker.predict(VX), expected.predict(xgb.DMatrix(VX)))
    assert ranker.evals_result_ == history
