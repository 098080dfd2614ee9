"""`mean_model`: one booster that scores as the mean of several."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import QID, VQID, VX, VY, X, Y

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

KINDS = {"lightgbm": bp.LGBMRanker, "xgboost": bp.XGBRanker}
QUIET = {"lightgbm": {"verbose": -1, "min_child_samples": 2, "linear_tree": False}, "xgboost": {}}
TOLERANCE = {"lightgbm": 1e-12, "xgboost": 1e-6}
both = pytest.mark.parametrize("framework", KINDS)


def fitted(framework, seed=0, table=X, **params):
    rounds = {"n_estimators": 8 + seed, "n_jobs": 1, "subsample": 0.7, "random_state": seed, **QUIET[framework]}
    return KINDS[framework](objective=bp.QBRank(), **rounds | params).fit(table, Y, qid=QID)


def scores(model, table):
    if hasattr(model, "save_config"):
        return model.predict(xgb.DMatrix(table, enable_categorical=True), output_margin=True)
    return model.predict(table, raw_score=True)


def assert_mean(framework, mean, rankers, table):
    expected = np.mean([ranker.predict(table) for ranker in rankers], axis=0)
    np.testing.assert_allclose(
        scores(mean, table), expected, rtol=0, atol=TOLERANCE[framework] * np.abs(expected).max()
    )


@both
def test_scores_are_the_mean_of_models_of_other_lengths(framework):
    rankers = [fitted(framework, seed) for seed in range(3)]
    mean = bp.mean_model(rankers)
    assert_mean(framework, mean, rankers, VX)
    again = bp.mean_model(
        [bp.export(mean), *(bp.export(getattr(r, "booster_", None) or r.get_booster()) for r in rankers)]
    )
    assert_mean(framework, again, rankers, VX)
    missing = VX.copy()
    missing[::3, :2] = np.nan
    assert_mean(framework, mean, rankers, missing)


@both
def test_it_is_saved_exported_and_gone_on_from_as_any_model(framework, tmp_path):
    rankers = [fitted(framework, seed) for seed in range(2)]
    mean = bp.mean_model(rankers)
    path = tmp_path / ("model.txt" if framework == "lightgbm" else "model.json")
    mean.save_model(path)
    loaded = lgb.Booster(model_file=path) if framework == "lightgbm" else xgb.Booster(model_file=path)
    np.testing.assert_array_equal(scores(loaded, VX), scores(mean, VX))
    names = [f"f{i}" for i in range(X.shape[1])]
    bp.export(mean, to="vespa", feature_names=names, X=VX.astype(np.float32))
    start = {"init_model": mean} if framework == "lightgbm" else {"xgb_model": mean}
    longer = KINDS[framework](objective=bp.QBRank(), n_estimators=2, n_jobs=1, **QUIET[framework])
    longer.fit(X, Y, qid=QID, **start)
    n_trees = longer.booster_.num_trees() if framework == "lightgbm" else longer.get_booster().num_boosted_rounds()
    assert n_trees == 8 + 9 + 2


@both
def test_each_model_counts_as_far_as_its_best_iteration(framework):
    stop = {"early_stopping_rounds": 2} if framework == "xgboost" else {}
    callbacks = {"callbacks": [lgb.early_stopping(2, verbose=False)]} if framework == "lightgbm" else {"verbose": False}
    rankers = []
    for seed in range(2):
        ranker = KINDS[framework](
            objective=bp.QBRank(), n_estimators=60, learning_rate=0.5, subsample=0.6, random_state=seed, n_jobs=1,
            **QUIET[framework], **stop,
        )  # fmt: skip
        rankers.append(ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], **callbacks))
    mean = bp.mean_model(rankers)
    best = [r.best_iteration_ if framework == "lightgbm" else r.best_iteration + 1 for r in rankers]
    assert sum(best) < 120
    assert (mean.num_trees() if framework == "lightgbm" else mean.num_boosted_rounds()) == sum(best)
    assert_mean(framework, mean, rankers, VX)


@pytest.mark.filterwarnings(r"ignore:[\s\S]*deprecated")  # XGBoost 3.4 has dart as a part of gbtree
@both
def test_categories_dropout_and_a_start(framework):
    frame = (
        pd.DataFrame(X).rename(columns=str).assign(kind=pd.Categorical.from_codes(np.arange(len(X)) % 3, list("abc")))
    )
    of_kind = {"enable_categorical": True} if framework == "xgboost" else {}
    rankers = [fitted(framework, seed, frame, **of_kind) for seed in range(2)]
    assert_mean(framework, bp.mean_model(rankers), rankers, frame)
    dart = (
        {"boosting_type": "dart"} if framework == "lightgbm" else {"booster": "dart", "rate_drop": 0.5, "verbosity": 0}
    )
    rankers = [fitted(framework, seed, **dart) for seed in range(2)]
    assert_mean(framework, bp.mean_model(rankers), rankers, VX)


def test_linear_trees_and_base_scores():
    rankers = [fitted("lightgbm", seed, linear_tree=True) for seed in range(2)]
    assert_mean("lightgbm", bp.mean_model(rankers), rankers, VX)
    rankers = [fitted("xgboost", seed, base_score=2.0 * seed) for seed in range(2)]
    assert_mean("xgboost", bp.mean_model(rankers), rankers, VX)


@pytest.mark.filterwarnings(r"ignore:[\s\S]*deprecated")
def plain(objective):
    return lgb.train({"objective": objective, **QUIET["lightgbm"]}, lgb.Dataset(X, np.abs(Y)), 2)


def categorical(values):
    kind = pd.Categorical(np.where(np.median(Y) < Y, values[0], values[1]), [*values])
    return fitted("lightgbm", table=pd.DataFrame({"kind": kind, "x": X[:, 0]}))


def test_what_has_no_mean_is_refused():
    ours, theirs = fitted("lightgbm"), fitted("xgboost")
    forest = bp.LGBMRanker(boosting_type="rf", subsample=0.5, subsample_freq=1, n_estimators=2, verbose=-1)
    forest.fit(X, Y, qid=QID)
    for models, message in (
        ([], "models holds no model"),
        ("model.txt", "models must be a list"),
        ([ours, 3], r"models\[1\] must be a fitted LGBMRanker or XGBRanker, or a booster; got 3"),
        ([ours, theirs], "models are of lightgbm and xgboost"),
        ([ours, fitted("lightgbm", table=pd.DataFrame(X).add_prefix("f"))], "models differ in their feature names"),
        ([theirs, fitted("xgboost", table=X[:, 1:])], "models differ in their number of features"),
        ([theirs, fitted("xgboost", booster="gblinear", subsample=None, verbosity=0)], "gblinear"),
        ([forest], "random forest"),
        ([ours, plain("poisson")], "models differ in their objective"),
        ([categorical("ab"), categorical("ac")], "models differ in their categories"),
    ):
        with pytest.raises(ValueError, match=message):
            bp.mean_model(models)
