"""Our metrics as a parameter of a ranker: `metric` of LightGBM, `eval_metric` of XGBoost."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")
pd = pytest.importorskip("pandas")

DATA = bp.datasets.make_ranking(n_queries=50, random_state=6)
CHOSEN = np.zeros(len(DATA.y))
for _query in np.unique(DATA.qid):
    _rows = np.flatnonzero(DATA.qid == _query)
    CHOSEN[_rows[DATA.y[_rows].argmax()]] = 1.0
TRAIN, VALID = bp.group_folds(bp.Queries(CHOSEN, qid=DATA.qid), 2)[0]
SETS = {"eval_set": [(DATA.X[VALID], CHOSEN[VALID])], "eval_qid": [DATA.qid[VALID]]}
OF_CHOICES = {"objective": bp.ListNet(target="labels"), "n_estimators": 40, "n_jobs": 1, "random_state": 0}
SMALL_TREES = {
    "lightgbm": {"num_leaves": 4, "extra_trees": True, "subsample": 0.8, "subsample_freq": 1, "verbose": -1},
    "xgboost": {"max_leaves": 4, "max_depth": 0, "grow_policy": "lossguide", "colsample_bynode": 0.6},
}
NAME = {"lightgbm": "metric", "xgboost": "eval_metric"}
RANKER = {"lightgbm": bp.LGBMRanker, "xgboost": bp.XGBRanker}
STOP = {"lightgbm": "early_stopping_round", "xgboost": "early_stopping_rounds"}
both = pytest.mark.parametrize("framework", NAME)


def ranker(framework, metric, **params):
    return RANKER[framework](**{**OF_CHOICES, **SMALL_TREES[framework], NAME[framework]: metric, **params})


def fitted(one, **more):
    quiet = {"verbose": False} if isinstance(one, xgb.XGBModel) else {}
    return one.fit(DATA.X[TRAIN], CHOSEN[TRAIN], qid=DATA.qid[TRAIN], **quiet, **more)


def names(one):
    (values,) = one.evals_result_.values()
    return [*values]


@both
def test_it_judges_validation_and_stops_training(framework):
    metric, parameter = bp.ChoiceLogLoss(), NAME[framework]
    one = fitted(ranker(framework, metric, **{STOP[framework]: 3}), **SETS)
    (values,) = next(iter(one.evals_result_.values())).values()
    assert names(one) == ["ChoiceLogLoss"]
    assert len(values) == int(np.argmin(values)) + 4 < 40
    loss = metric.score(CHOSEN[VALID], one.predict(DATA.X[VALID]), qid=DATA.qid[VALID])
    assert loss == pytest.approx(min(values), rel=1e-5)
    for again in (clone(one), pickle.loads(pickle.dumps(ranker(framework, metric, **{STOP[framework]: 3})))):
        assert again.get_params()[parameter] == metric
        np.testing.assert_array_equal(fitted(again, **SETS).predict(DATA.X), one.predict(DATA.X))
    expected = one.predict(DATA.X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(DATA.X), expected)
    np.testing.assert_array_equal(one.export().predict(DATA.X), expected)


@both
@pytest.mark.parametrize("objective", ["lambdarank", bp.RankNet()])
def test_several_are_evaluated_in_their_order_and_no_default_beside_them(framework, objective):
    if framework == "xgboost" and objective == "lambdarank":
        objective = "rank:ndcg"
    metrics = [bp.ChoiceLogLoss(), bp.NDCG(3)]
    one = fitted(ranker(framework, metrics, objective=objective, n_estimators=2), **SETS)
    assert [name.removeprefix("pre_") for name in names(one)] == ["ChoiceLogLoss", "NDCG@3"]


@both
def test_without_a_validation_set_it_does_nothing(framework):
    one = fitted(ranker(framework, [bp.ChoiceLogLoss()]))
    np.testing.assert_array_equal(one.predict(DATA.X), fitted(ranker(framework, None)).predict(DATA.X))


@both
def test_its_parameters_are_set_and_searched_by_name(framework):
    name = NAME[framework]
    one = clone(ranker(framework, bp.NDCG(5), n_estimators=2).set_params(**{f"{name}__k": 2}))
    assert names(fitted(one, **SETS)) == [bp.NDCG(2).name if framework == "lightgbm" else "pre_NDCG@2"]
    frame = pd.DataFrame(DATA.X).rename(columns=str).assign(qid=DATA.qid)
    cv = bp.group_folds(bp.Queries(CHOSEN, qid=DATA.qid), 2)
    search = GridSearchCV(one, {f"{name}__k": [1], "n_estimators": [2, 4]}, cv=cv, error_score="raise")
    best = search.fit(frame, CHOSEN).best_estimator_
    assert best.get_params()[name] == bp.NDCG(1)


@both
def test_folds_are_stopped_on_it(framework):
    quiet = {"verbose": False} if framework == "xgboost" else {}
    mean = bp.fit_folds(ranker(framework, bp.ChoiceLogLoss()), DATA.X, CHOSEN, qid=DATA.qid, n_splits=2, **quiet)
    assert [names(one) for one in mean.fold_rankers_] == [["ChoiceLogLoss"]] * 2
    assert mean.get_params()[NAME[framework]] == bp.ChoiceLogLoss()


def test_eval_metric_of_fit_takes_the_place_of_our_metrics_and_not_of_names():
    def evaluated(metric, eval_metric):
        return names(fitted(ranker("lightgbm", metric, n_estimators=2), eval_metric=eval_metric, **SETS))

    assert evaluated(bp.ChoiceLogLoss(), bp.MRR()) == ["MRR"]
    assert evaluated(bp.MRR(), bp.MRR()) == ["MRR"]
    assert evaluated(["auc", bp.MRR()], bp.NDCG(3)) == ["auc", "NDCG@3"]
    assert evaluated(["auc", bp.MRR()], None) == ["auc", "MRR"]
    assert evaluated(bp.MRR(), "auc") == ["auc"]


def test_any_alias_holds_our_metrics():
    one = bp.LGBMRanker(**OF_CHOICES, verbose=-1, metrics=bp.MRR()).set_params(n_estimators=2)
    assert names(fitted(one, **SETS)) == ["MRR"]
    np.testing.assert_array_equal(one.export().predict(DATA.X), one.predict(DATA.X))
