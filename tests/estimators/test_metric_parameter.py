"""Our metrics as a parameter of a ranker: `metric` of LightGBM, `eval_metric` of XGBoost."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import boostplug as bp

DATA = bp.datasets.make_ranking(n_queries=50, random_state=6)
CHOSEN = np.zeros(len(DATA.y))  # the first document of the highest grade of each query
CHOSEN[[first + DATA.y[first:last].argmax() for first, last in pairwise(DATA.queries.boundaries)]] = 1.0
TRAIN, VALID = bp.group_folds(bp.Queries(CHOSEN, qid=DATA.qid), 2)[0]
SETS = {"eval_set": [(DATA.X[VALID], CHOSEN[VALID])], "eval_qid": [DATA.qid[VALID]]}
RANDOM = {  # some of the rows or columns for a tree
    "lightgbm": {"extra_trees": True, "subsample": 0.8, "subsample_freq": 1},
    "xgboost": {"colsample_bynode": 0.6},
}
LIGHTGBM = FRAMEWORKS["lightgbm"]


def train(one, **more):
    return one.fit(DATA.X[TRAIN], CHOSEN[TRAIN], qid=DATA.qid[TRAIN], **more)


def fit(F, metric, loss=bp.ListNet(target="labels"), params=None, **more):  # noqa: B008 (a value)
    """Fit a ranker with a metric as a parameter."""
    params = {"random_state": 0, **RANDOM[F.name], F.metric_parameter: metric, **(params or {})}
    return train(F.ranker(loss, **params), **F.quiet, **more)


def names(one):
    (values,) = one.evals_result_.values()
    return [*values]


@every_framework
def test_it_judges_validation_and_stops_training(F):
    metric = bp.ChoiceLogLoss()
    stop = {"lightgbm": "early_stopping_round", "xgboost": "early_stopping_rounds"}[F.name]
    one = fit(F, metric, params={"n_estimators": 40, stop: 3}, **SETS)
    (values,) = next(iter(one.evals_result_.values())).values()
    assert names(one) == ["ChoiceLogLoss"]
    assert len(values) == int(np.argmin(values)) + 4 < 40
    loss = metric.score(CHOSEN[VALID], one.predict(DATA.X[VALID]), qid=DATA.qid[VALID])
    assert loss == pytest.approx(min(values), rel=1e-5)
    for again in (clone(one), pickle.loads(pickle.dumps(clone(one)))):
        assert again.get_params()[F.metric_parameter] == metric
        np.testing.assert_array_equal(train(again, **F.quiet, **SETS).predict(DATA.X), one.predict(DATA.X))
    expected = one.predict(DATA.X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(DATA.X), expected)
    np.testing.assert_array_equal(one.export().predict(DATA.X), expected)


@every_framework
@pytest.mark.parametrize("built_in", [False, True])
def test_several_are_evaluated_in_their_order_and_no_default_beside_them(F, built_in):
    metrics = [bp.ChoiceLogLoss(), bp.NDCG(3)]
    one = fit(F, metrics, F.objective if built_in else bp.RankNet(), **SETS)
    assert [name.removeprefix("pre_") for name in names(one)] == ["ChoiceLogLoss", "NDCG@3"]


@every_framework
def test_without_a_validation_set_it_does_nothing(F):
    np.testing.assert_array_equal(fit(F, [bp.ChoiceLogLoss()]).predict(DATA.X), fit(F, None).predict(DATA.X))


@every_framework
def test_its_parameters_are_set_and_searched_by_name(F):
    name = F.metric_parameter
    one = clone(F.ranker(n_estimators=2, **{name: bp.NDCG(5)}).set_params(**{f"{name}__k": 2}))
    assert one.get_params()[name] == bp.NDCG(2)
    frame = pd.DataFrame(DATA.X).rename(columns=str).assign(qid=DATA.qid)
    cv = bp.group_folds(DATA.queries, 2)
    search = GridSearchCV(one, {f"{name}__k": [1], "n_estimators": [2, 4]}, cv=cv, error_score="raise")
    assert search.fit(frame, CHOSEN).best_estimator_.get_params()[name] == bp.NDCG(1)


@every_framework
def test_folds_are_stopped_on_it(F):
    one = F.ranker(bp.ListNet(target="labels"), **{F.metric_parameter: bp.ChoiceLogLoss()})
    mean = bp.fit_folds(one, DATA.X, CHOSEN, qid=DATA.qid, n_splits=2, **F.quiet)
    assert [names(each) for each in mean.fold_rankers_] == [["ChoiceLogLoss"]] * 2
    assert mean.get_params()[F.metric_parameter] == bp.ChoiceLogLoss()


@pytest.mark.parametrize(
    ("metric", "eval_metric", "expected"),
    [
        (bp.ChoiceLogLoss(), bp.MRR(), ["MRR"]),
        (bp.MRR(), bp.MRR(), ["MRR"]),
        (["auc", bp.MRR()], bp.NDCG(3), ["auc", "NDCG@3"]),
        (["auc", bp.MRR()], None, ["auc", "MRR"]),
        (bp.MRR(), "auc", ["auc"]),
    ],
)
def test_eval_metric_of_fit_takes_the_place_of_our_metrics_and_not_of_names(metric, eval_metric, expected):
    assert names(fit(LIGHTGBM, metric, eval_metric=eval_metric, **SETS)) == expected


def test_any_alias_holds_our_metrics():
    one = fit(LIGHTGBM, None, params={"metrics": bp.MRR()}, **SETS)
    assert names(one) == ["MRR"]
    np.testing.assert_array_equal(one.export().predict(DATA.X), one.predict(DATA.X))
