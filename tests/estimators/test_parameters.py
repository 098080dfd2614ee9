"""Parameters of losses, metrics and distances are parameters of the rankers that hold them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, LOSS, QID, VQID, VX, VY, X, Y, every_framework
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 (it makes the next import possible)
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.tree import DecisionTreeRegressor

import boostplug as bp

FRAME = pd.DataFrame(X).add_prefix("f").assign(qid=QID)
NESTED = bp.AdaRank(base=bp.RankNet())


def double(gap):
    return 2.0 * gap


def named(estimator):
    return {name: value for name, value in estimator.get_params().items() if "__" in name}


def state(estimator):
    return {name: value for name, value in vars(estimator).items() if name != "_other_params"}, repr(estimator)


@every_framework
def test_parameters_are_listed(F):
    assert named(F.ranker()) == {
        "objective__hessian": "newton",
        "objective__normalization": "rows",
        "objective__distance": bp.LogDistance(lam=3.0),
        "objective__distance__lam": 3.0,
    }
    assert named(F.ranker(NESTED))["objective__base__sigmoid"] == 1.0
    assert named(F.ranker(NESTED))["objective__metric__k"] == 5
    assert named(F.ranker(F.objective)) == {}
    assert named(F.ranker(bp.QBRank)) == {}
    assert not any("__" in name for name in F.ranker().get_params(deep=False))


def test_metrics_of_xgboost():
    F = FRAMEWORKS["xgboost"]
    ranker = F.ranker(eval_metric=bp.NDCG(5))
    assert ranker.get_params()["eval_metric__k"] == 5
    assert ranker.set_params(eval_metric__k=3, eval_metric__ties="order").eval_metric == bp.NDCG(3, ties="order")
    ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], verbose=False)
    assert list(F.history(ranker)) == ["pre_NDCG@3(order)"]
    with pytest.raises(ValueError, match=r"'eval_metric__k' for XGBRanker, whose eval_metric is \[NDCG.*set "):
        F.ranker(eval_metric=[bp.NDCG(5), bp.NDCG(3)]).set_params(eval_metric__k=1)


@every_framework
def test_parameters_are_set_in_new_values(F):
    one = F.ranker()
    assert one.set_params(objective__distance__lam=1.0, n_estimators=3) is one is one.set_params()
    assert one.objective == bp.MPBoost(distance=bp.LogDistance(lam=1.0)) == one.get_params()["objective"]
    assert bp.MPBoost() == LOSS
    assert one.n_estimators == 3
    one.set_params(objective__margin=1.0, objective=bp.QBRank())
    assert one.objective == bp.QBRank(margin=1.0)
    one.set_params(objective=NESTED).set_params(objective__base__sigmoid=2.0, objective__metric=bp.MAP())
    assert one.objective == bp.AdaRank(base=bp.RankNet(sigmoid=2.0), metric=bp.MAP())
    one.set_params(objective__base=bp.MPBoost(distance=double), objective__base__hessian="bound")
    assert one.objective.base == bp.MPBoost(distance=double, hessian="bound")


@every_framework
def test_the_constructor_takes_them_too(F):
    made = F.ranker(objective__distance__lam=1.0, objective__hessian="bound")
    assert made.objective == bp.MPBoost(distance=bp.LogDistance(lam=1.0), hessian="bound")
    again = F.Ranker(**made.get_params())
    assert again.get_params() == made.get_params() or F.name == "xgboost"  # there `missing` is NaN
    assert again.objective == made.objective
    np.testing.assert_array_equal(again.fit(X, Y, qid=QID).predict(X), made.fit(X, Y, qid=QID).predict(X))


WRONG = {
    "no parameter": ({"objective__bogus": 1}, r"'bogus' for MPBoost\(.*Valid parameters are: \['dist"),
    "illegal within": ({"objective__distance__lam": -1.0}, "lam must be a finite number above 0"),
    "no loss": ({"objective": None, "objective__hessian": "bound"}, "whose objective is None"),
}


@every_framework
@pytest.mark.parametrize(("parameters", "message"), WRONG.values(), ids=WRONG)
def test_wrong_parameters_leave_the_ranker_as_it_was(F, parameters, message):
    one = F.ranker()
    before = state(one)
    for given in (parameters, {"n_estimators": 99, **parameters, "objective__normalization": "rows"}):
        with pytest.raises(ValueError, match=message):
            one.set_params(**given)
        assert state(one) == before
    with pytest.raises(ValueError, match=message):
        F.Ranker(**{"objective": LOSS, **parameters})


@every_framework
def test_names_without_a_part_go_to_the_framework_as_they_are(F):
    assert F.ranker().set_params(of_a_newer_version=3).get_params()["of_a_newer_version"] == 3


def test_an_objective_that_is_set_as_an_attribute_is_trained():
    """LightGBM's constructor keeps the first one beside, its set_params another."""
    F = FRAMEWORKS["lightgbm"]
    expected = F.fit(bp.QBRank()).predict(X)
    one = F.Ranker(objective=LOSS, **F.estimator)
    for other in (one, one.set_params(objective=bp.RankNet())):
        other.objective = bp.QBRank()
        assert other.get_params()["objective"] == bp.QBRank()
        np.testing.assert_array_equal(other.fit(X, Y, qid=QID).predict(X), expected)


@every_framework
def test_fitted_rankers(F):
    fitted = F.ranker().fit(X, Y, qid=QID)
    predicted = fitted.predict(X)
    for again in (clone(fitted), pickle.loads(pickle.dumps(fitted))):
        assert again.objective == fitted.objective
        assert named(again) == named(fitted)
        again.set_params(objective__distance__lam=0.1)
        assert again.objective.distance.lam == 0.1
        changed = again.fit(X, Y, qid=QID).predict(X)
        assert np.abs(changed - predicted).max() > 1e-3
        np.testing.assert_array_equal(changed, F.fit(again.objective).predict(X))
    assert fitted.objective == LOSS
    np.testing.assert_array_equal(fitted.set_params(objective__hessian="bound").predict(X), predicted)
    assert type(fitted).__name__ in fitted._repr_html_()


# Searches


def searches(estimator, grid):
    more = {"scoring": bp.make_scorer(bp.NDCG(3)), "cv": bp.group_folds(QID, 2), "error_score": "raise"}
    yield GridSearchCV(estimator, grid, **more)
    rounds = {"resource": "n_estimators", "min_resources": 3, "max_resources": 6, "factor": 2}
    yield HalvingGridSearchCV(estimator, grid, **rounds, **more)


@every_framework
def test_searches_change_the_model(F):
    grid = {"objective__preference_weight": [0.0, 1.0]}
    plain = {weight: F.fit(bp.QBRank(preference_weight=weight)).predict(X) for weight in (0.0, 1.0)}
    assert np.abs(plain[0.0] - plain[1.0]).max() > 0.01
    for search in searches(F.ranker(bp.QBRank()), grid):
        search.fit(FRAME, Y)
        weight = search.best_params_["objective__preference_weight"]
        best = search.best_estimator_
        assert best.objective == bp.QBRank(preference_weight=weight)
        assert len(set(np.round(search.cv_results_["mean_test_score"][:2], 12))) == 2
        expected = F.fit(best.objective, n_estimators=best.n_estimators).predict(X)
        np.testing.assert_array_equal(best.predict(FRAME), expected)


# Reference rankers


OF_TREES = bp.QuadraticBoundRanker(regressor=DecisionTreeRegressor())
SET = [
    (bp.MPBoostRanker(), {"distance__beta": 2.0}, {"distance": bp.LogisticDistance(beta=2.0)}),
    (bp.AdaRankRanker(), {"metric__k": 3}, {"metric": bp.MAP(3)}),
    (
        OF_TREES,
        {"loss__margin": 2.0, "loss": bp.QBRank(), "regressor__max_depth": 2, "n_estimators": 7},
        {"loss": bp.QBRank(margin=2.0), "regressor": DecisionTreeRegressor(max_depth=2), "n_estimators": 7},
    ),
]


@pytest.mark.parametrize(("one", "parameters", "made_with"), SET)
def test_reference_rankers(one, parameters, made_with):
    one, expected = clone(one), type(one)(**made_with)
    assert parameters.keys() <= one.get_params().keys() | {"loss__margin"}
    assert repr(one.set_params(**parameters)) == repr(expected)
    assert one.get_params().keys() == expected.get_params().keys()


@pytest.mark.parametrize("wrong", [{"bogus": 1}, {"distance__bogus": 1}, {"distance__beta": -1.0}], ids=str)
def test_wrong_parameters_leave_a_reference_ranker_as_it_was(wrong):
    one = bp.MPBoostRanker()
    with pytest.raises(ValueError, match=r"bogus|beta must be"):
        one.set_params(n_estimators=3, **wrong)
    assert repr(one) == repr(bp.MPBoostRanker())
