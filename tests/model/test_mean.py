"""`mean_model`: one booster that scores as the mean of several."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, VALID, VX, X, Y, every_framework, lgb, xgb

import boostplug as bp
from boostplug.model.mean import plus_trees

LIGHTGBM, XGBOOST = FRAMEWORKS.values()


def fitted(F, seed=0, x=X, **params):
    params = {"n_estimators": 8 + seed, "subsample": 0.7, "random_state": seed, **params}
    return F.fit(bp.QBRank(), x, **params)


def several(F, n=2, **params):
    return [fitted(F, seed, **params) for seed in range(n)]


def scores(model, table):
    if isinstance(model, xgb.Booster):
        return model.predict(xgb.DMatrix(table, enable_categorical=True), output_margin=True)
    return model.predict(table, raw_score=True)


def assert_mean(F, mean, rankers, table=VX):
    expected = np.mean([ranker.predict(table) for ranker in rankers], axis=0)
    np.testing.assert_allclose(scores(mean, table), expected, rtol=0, atol=F.digits * np.abs(expected).max())


@every_framework
def test_scores_are_the_mean_of_models_of_other_lengths(F):
    rankers = several(F, 3)
    mean = bp.mean_model(rankers)
    again = bp.mean_model([bp.export(mean), *(bp.export(F.booster(ranker)) for ranker in rankers)])
    missing = VX.copy()
    missing[::3, :2] = np.nan
    for model, table in ((mean, VX), (again, VX), (mean, missing)):
        assert_mean(F, model, rankers, table)


@every_framework
def test_it_is_saved_exported_and_gone_on_from_as_any_model(F, tmp_path):
    mean = bp.mean_model(several(F))
    path = tmp_path / f"model.{F.suffixes[0]}"
    mean.save_model(path)
    np.testing.assert_array_equal(scores(type(mean)(model_file=path), VX), scores(mean, VX))
    bp.export(mean, to="vespa", feature_names=["f0", "f1", "f2", "f3"], X=VX.astype(np.float32))
    assert F.n_rounds(F.fit(bp.QBRank(), n_estimators=2, **{F.continues: mean})) == 8 + 9 + 2


@every_framework
def test_each_model_counts_as_far_as_its_best_iteration(F):
    stop = {"valid": VALID, "metric": bp.NDCG(10), "patience": 2}
    rankers = several(F, n_estimators=60, learning_rate=0.5, **stop)
    mean = bp.mean_model(rankers)
    n_rounds = mean.num_trees() if F is LIGHTGBM else mean.num_boosted_rounds()
    assert n_rounds == sum(F.rounds_of_best(ranker) for ranker in rankers) < 120
    assert_mean(F, mean, rankers)


KIND = pd.Categorical.from_codes(np.arange(len(X)) % 3, list("abc"))
CATEGORIES = pd.DataFrame(X).rename(columns=str).assign(kind=KIND)
DART = {"booster": "dart", "rate_drop": 0.5, "verbosity": 0}


@pytest.mark.filterwarnings(r"ignore:[\s\S]*deprecated")  # XGBoost 3.4 has dart as a part of gbtree
@pytest.mark.parametrize(
    ("F", "params", "table"),
    [
        (LIGHTGBM, LIGHTGBM.categories, CATEGORIES),
        (XGBOOST, XGBOOST.categories, CATEGORIES),
        (LIGHTGBM, {"boosting_type": "dart"}, X),
        (XGBOOST, DART, X),
        (LIGHTGBM, {"linear_tree": True}, X),
    ],
)
def test_kinds_of_trees(F, params, table):
    rankers = several(F, x=table, **params)
    assert_mean(F, bp.mean_model(rankers), rankers, table)


def test_base_scores():
    rankers = [fitted(XGBOOST, seed, base_score=2.0 * seed) for seed in range(2)]
    assert_mean(XGBOOST, bp.mean_model(rankers), rankers)


def test_a_booster_with_trees_beside_it_counts_by_its_weight():
    """Its base score, too."""
    for F in (LIGHTGBM, XGBOOST):
        one = fitted(F, **({"base_score": 2.0} if F is XGBOOST else {}))
        of_two_thirds = plus_trees(bp.mean_model([one]), 2.0 / 3.0, [], X)
        expected = one.predict(VX) * 2.0 / 3.0
        np.testing.assert_allclose(scores(of_two_thirds, VX), expected, atol=F.digits * np.abs(expected).max())


def categorical(values):
    kind = pd.Categorical(np.where(np.median(Y) < Y, values[0], values[1]), [*values])
    return fitted(LIGHTGBM, x=pd.DataFrame({"kind": kind, "x": X[:, 0]}))


@pytest.mark.filterwarnings(r"ignore:[\s\S]*deprecated")  # XGBoost 3.4: gblinear
def test_what_has_no_mean_is_refused():
    ours, theirs = fitted(LIGHTGBM), fitted(XGBOOST)
    forest = LIGHTGBM.fit(LIGHTGBM.objective, boosting_type="rf", subsample=0.5, subsample_freq=1)
    poisson = lgb.train({"objective": "poisson", **LIGHTGBM.params()}, lgb.Dataset(X, np.abs(Y)), 2)
    for models, message in (
        ([], "models holds no model"),
        ("model.txt", "models must be a list"),
        ([ours, 3], r"models\[1\] must be a fitted LGBMRanker or XGBRanker, or a booster; got 3"),
        ([ours, theirs], "models are of lightgbm and xgboost"),
        ([ours, fitted(LIGHTGBM, x=pd.DataFrame(X).add_prefix("f"))], "models differ in their feature names"),
        ([theirs, fitted(XGBOOST, x=X[:, 1:])], "models differ in their number of features"),
        ([theirs, fitted(XGBOOST, booster="gblinear", subsample=None, verbosity=0)], "gblinear"),
        ([forest], "random forest"),
        ([ours, poisson], "models differ in their objective"),
        ([categorical("ab"), categorical("ac")], "models differ in their categories"),
    ):
        with pytest.raises(ValueError, match=message):
            bp.mean_model(models)
