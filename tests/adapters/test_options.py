"""Options of the frameworks' own objectives are refused beside our losses, by every route that shows them."""

import numpy as np
import pytest
from adapters.harness import FRAMEWORKS, GROUP, LOSS, QID, X, Y

import boostplug as bp
from boostplug.adapters import options

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

LGB = {"verbosity": -1, "num_threads": 1, "num_leaves": 4, "min_data_in_leaf": 1}
XGB = {"nthread": 1, "max_depth": 2, "min_child_weight": 0.1, "base_score": 0.0, "objective": "rank:pairwise"}
VALUES = {
    **dict.fromkeys((*options.LIGHTGBM, *options.XGBOOST), 0.3),
    **dict.fromkeys(("is_unbalance", "unbalance", "unbalanced_sets", "reg_sqrt", "lambdarank_unbiased"), True),
    **dict.fromkeys(("lambdarank_norm", "ndcg_exp_gain"), False),
    "boost_from_average": True,
    **dict.fromkeys(("lambdarank_normalization", "lambdarank_score_normalization"), False),
    "label_gain": list(range(40)),
    "objective_seed": 7,
    "lambdarank_truncation_level": 30,
    "tweedie_variance_power": 1.9,
    "lambdarank_pair_method": "mean",
    "lambdarank_num_pair_per_sample": 1,
    "aft_loss_distribution": "logistic",
}
OPTIONS = {"lightgbm": options.LIGHTGBM, "xgboost": options.XGBOOST}
every_option = pytest.mark.parametrize(("framework", "name"), [(F, name) for F in FRAMEWORKS for name in OPTIONS[F]])


def own(scores, data):
    """MPBoost as a user's own function: nothing of ours looks at the parameters."""
    return LOSS.gradient_hessian(scores, bp.Queries(Y, group=GROUP))


def lightgbm(loss=LOSS, params=None, rounds=2, **more):
    data = lgb.Dataset(X, Y, group=GROUP, free_raw_data=False)
    return lgb.train({**LGB, "objective": loss, **(params or {})}, data, rounds, **more)


def xgboost(loss=LOSS, params=None, rounds=2, **more):
    data = xgb.DMatrix(X, Y, group=GROUP, nthread=1)
    return xgb.train({**XGB, **(params or {})}, data, rounds, obj=loss, verbose_eval=False, **more)


@pytest.mark.frameworks
@pytest.mark.filterwarnings("ignore:.*WARNING:UserWarning")
@every_option
def test_frameworks_read_none_of_them_beside_a_function(framework, name):
    F = FRAMEWORKS[framework]
    more = {"bagging_freq": 1} if F.name == "lightgbm" and ("bagging" in name or "sub" in name) else {}
    more["verbosity"] = -1 if F.name == "lightgbm" else 0
    trained, without = (
        F.predict(F.train(own, F.data(), 2, **more, **given)[0]) for given in ({name: VALUES[name]}, {})
    )
    np.testing.assert_array_equal(trained, without)


@pytest.mark.filterwarnings("ignore:.*WARNING:UserWarning")
@every_option
def test_they_are_refused(framework, name):
    F = FRAMEWORKS[framework]
    message = rf"{name}=.* is an option of .*'s own objectives, without effect .*; remove it: .*"
    for train in (lambda **given: F.train(LOSS, F.data(), **given), lambda **given: F.fit(LOSS, **given)):
        with pytest.raises(ValueError, match=message):
            train(**{name: VALUES[name]})
    assert np.ptp(F.fit(LOSS, **{name: None}).predict(X)) > 0.0


def test_every_alias_is_known():
    for name in options.LIGHTGBM:
        assert lgb.basic._ConfigAliases.get(name) <= options.LIGHTGBM.keys()


@pytest.mark.parametrize("route", ["lgb.cv", "lgb.LGBMRanker", "Booster.update"])
def test_lightgbms_are_refused_by_every_route(route):
    bad, data = {"lambdarank_truncation_level": 30}, lgb.Dataset(X, Y, group=GROUP, params=LGB, free_raw_data=False)
    run = {
        "lgb.cv": lambda: lgb.cv({**LGB, **bad, "objective": LOSS}, data, 2, folds=bp.group_folds(QID, 3)),
        "lgb.LGBMRanker": lambda: lgb.LGBMRanker(objective=LOSS, verbose=-1, n_estimators=1, **bad).fit(
            X, Y, group=GROUP
        ),
        "Booster.update": lambda: lgb.Booster({**LGB, **bad}, data.construct()).update(fobj=LOSS),
    }[route]
    with pytest.raises(ValueError, match="lambdarank_truncation_level=30 is an option of LightGBM's own objectives"):
        run()


def test_xgboosts_are_refused_in_cv_and_through_a_wrapper():
    bad, data = {**XGB, "lambdarank_pair_method": "topk"}, xgb.DMatrix(X, Y, group=GROUP, nthread=1)
    with pytest.raises(ValueError, match="lambdarank_pair_method='topk' is an option of XGBoost's own objectives"):
        xgb.cv(bad, data, 2, nfold=2, obj=LOSS)
    with pytest.raises(ValueError, match="lambdarank_pair_method='topk' is an option of XGBoost's own objectives"):
        xgboost(lambda *call: LOSS(*call) or None, {"lambdarank_pair_method": "topk"})
    data = xgb.DMatrix(X, Y, group=GROUP, nthread=1)
    assert xgb.train(list(XGB.items()), data, 1, obj=LOSS).num_boosted_rounds() == 1  # pairs are fine for XGBoost


def test_parameters_of_another_training_around_ours_do_not_count():
    inner = []

    def objective(scores, data):
        booster = xgb.Booster(XGB, [ours])
        booster.update(ours, 0, fobj=LOSS)
        inner.append(booster.num_boosted_rounds())
        return own(scores, data)

    ours = xgb.DMatrix(X, Y, group=GROUP, nthread=1)
    xgboost(objective, {"lambdarank_pair_method": "mean"}, rounds=1)
    assert inner == [1]


OFF = {
    "is_unbalance": [False, "false", "-"], "scale_pos_weight": [1, 1.0, "1"], "boost_from_average": [False],
    "pos_bagging_fraction": [1.0], "neg_subsample": [1], "reg_sqrt": [False],
    "lambdarank_position_bias_regularization": [0, 0.0],
}  # fmt: skip


@pytest.mark.parametrize(("name", "values"), OFF.items())
def test_a_value_that_asks_for_nothing_passes(name, values):
    """Dictionaries of parameters that serve several trainings hold them."""
    for value in values:
        lightgbm(params={name: value}, rounds=1)
    ranker = bp.LGBMRanker(objective=LOSS, n_estimators=1, n_jobs=1, num_leaves=4, verbose=-1, **{name: values[0]})
    assert ranker.fit(X, Y, qid=QID).n_estimators_ == 1


@pytest.mark.parametrize("metric", ["ndcg", ["map", "ndcg"], "map,ndcg", "lambdarank", "xe_ndcg_mart"])
@pytest.mark.parametrize("alias", ["metric", "metrics", "metric_types"])
def test_gains_are_of_lightgbms_own_ndcg_too(metric, alias):
    history = {}
    data = lgb.Dataset(X, Y, group=GROUP)
    params = {**LGB, "objective": LOSS, alias: metric, "label_gain": [0, 1, 2, 3, 4]}
    lgb.train(params, data, 1, valid_sets=[data], callbacks=[lgb.record_evaluation(history)])
    assert "ndcg@5" in history["training"]
    with pytest.raises(ValueError, match=r"label_gain=\[0, 1, 2, 3, 4\] is an option .*NDCGBoost\(gain=…\)"):
        lightgbm(params={"metric": "map", "label_gain": [0, 1, 2, 3, 4]})


@pytest.mark.parametrize("F", FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_built_in_objectives_keep_them(F):
    given = {"lightgbm": {"lambdarank_truncation_level": 1}, "xgboost": {"lambdarank_num_pair_per_sample": 1}}[F.name]
    assert not np.array_equal(F.fit(F.objective, **given).predict(X), F.fit(F.objective).predict(X))
