"""Categories go by content: of one column in training, validation, predictions and a training that goes on."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, every_framework, lgb, xgb

import boostplug as bp

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(30), 10)
KINDS = ("red", "green", "blue", "grey")
SIZE = RNG.normal(size=len(QID))
VALUES = RNG.choice(KINDS[:3], len(QID))
Y = np.clip(np.round((VALUES == "green") * 2 + SIZE), 0, 4)
LIGHTGBM, XGBOOST = FRAMEWORKS.values()


def frame(values, categories):
    kind = pd.Categorical(values, categories=list(categories))
    return pd.DataFrame({"kind": kind, "size": SIZE}, index=np.arange(len(values))[::-1])


X = frame(VALUES, KINDS[:3])
REORDERED = frame(VALUES, ("blue", "red", "green"))
WITHOUT_GREEN = frame(np.where(VALUES == "green", "red", VALUES), ("blue", "red"))
WITH_GREY = frame(np.where(VALUES == "green", "grey", VALUES), ("grey", "blue", "red"))


def fit(F, x=X, model=None, **more):
    continued = {} if model is None else {F.continues: model}
    return F.fit(x=x, y=Y, qid=QID, **F.categories, **continued, **more)


@every_framework
def test_the_same_categories_in_another_order_or_some_of_them_predict_the_same(F):
    ranker = fit(F)
    expected = ranker.predict(X)
    np.testing.assert_array_equal(ranker.predict(REORDERED), expected)
    assert ranker.score(REORDERED, Y, qid=QID) == ranker.score(X, Y, qid=QID)
    some = np.flatnonzero(VALUES != "green")
    np.testing.assert_array_equal(ranker.predict(WITHOUT_GREEN.iloc[some]), expected[some])
    assert list(REORDERED["kind"].cat.categories) == ["blue", "red", "green"]  # the user's frame stays
    assert F.history(fit(F, valid=(REORDERED, Y, QID))) == F.history(fit(F, valid=(X, Y, QID)))


@every_framework
def test_new_categories_become_missing_values_with_a_warning(F):
    ranker = fit(F)
    missing = X.copy()
    missing.loc[VALUES == "green", "kind"] = None
    with pytest.warns(UserWarning, match=r"^in X, column 'kind' holds .*\['grey'\]; .* missing"):
        scores = ranker.predict(WITH_GREY)
    np.testing.assert_array_equal(scores, ranker.predict(missing))
    with pytest.warns(UserWarning, match=r"^in eval_set\[0\]'s X, column 'kind'"):
        fit(F, valid=(WITH_GREY, Y, QID))


def known_by_boosters():
    """Skip the test where boosters of XGBoost do not know their categories."""
    if not hasattr(xgb.Booster, "get_categories"):
        pytest.skip("boosters know their categories since XGBoost 3.1")
    pytest.importorskip("pyarrow")


def plain(F):
    """Return a booster that the framework has trained alone."""
    if F is LIGHTGBM:
        data = lgb.Dataset(X, Y, group=[10] * 30)
        return lgb.train({"objective": "lambdarank", "verbose": -1, "min_data_per_group": 1, "num_threads": 1}, data, 5)
    known_by_boosters()
    data = xgb.DMatrix(X, Y, qid=QID, enable_categorical=True)
    return xgb.train({"objective": "rank:pairwise", "nthread": 1}, data, 5)


@every_framework
@pytest.mark.parametrize("source", [fit, plain], ids=["ranker", "booster"])
def test_a_training_goes_on_with_the_models_categories(F, source):
    model = source(F)
    same, other = fit(F, model=model), fit(F, REORDERED, model)
    np.testing.assert_array_equal(other.predict(X), same.predict(X))
    np.testing.assert_array_equal(other.predict(REORDERED), same.predict(X))
    validated = fit(F, REORDERED, model, valid=(X, Y, QID))
    np.testing.assert_array_equal(validated.predict(X), same.predict(X))
    if source is fit:
        np.testing.assert_allclose(other.predict(REORDERED, **F.first(5)), model.predict(X), rtol=1e-6)


def test_a_loaded_model_of_xgboost_knows_its_categories(tmp_path):
    known_by_boosters()
    ranker = fit(XGBOOST)
    ranker.save_model(tmp_path / "model.ubj")
    loaded = XGBOOST.ranker(**XGBOOST.categories)
    loaded.load_model(tmp_path / "model.ubj")
    np.testing.assert_array_equal(loaded.predict(REORDERED), ranker.predict(X))
    with pytest.warns(UserWarning, match="'grey'"):
        loaded.predict(WITH_GREY)


@every_framework
def test_a_model_cut_at_its_best_iteration_knows_its_categories(F, tmp_path):
    """Slices of XGBoost's boosters forget them (dmlc/xgboost#12462), and would read other codes."""
    if F is XGBOOST:
        known_by_boosters()
    ranker = fit(F, valid=(X, 4 - Y, QID), metric=[bp.NDCG(3)], patience=3, n_estimators=20)
    expected, path = ranker.predict(X), tmp_path / f"model.{F.suffixes[0]}"
    assert F.rounds_of_best(ranker) < 17
    np.testing.assert_array_equal(ranker.export().predict(REORDERED), expected)
    getattr(ranker, "save_model", F.booster(ranker).save_model)(path)
    table = REORDERED if F is LIGHTGBM else xgb.DMatrix(REORDERED, enable_categorical=True)
    np.testing.assert_array_equal(type(F.booster(ranker))(model_file=path).predict(table), expected)
    np.testing.assert_allclose(bp.mean_model([ranker, ranker]).predict(table), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("source", [fit, plain], ids=["ranker", "booster"])
def test_a_training_that_goes_on_learns_new_categories_of_lightgbm(source):
    longer = fit(LIGHTGBM, WITH_GREY, source(LIGHTGBM))
    missing = WITH_GREY.assign(kind=WITH_GREY["kind"].cat.remove_categories("grey"))
    early = [longer.predict(rows, num_iteration=5) for rows in (WITH_GREY, missing)]
    np.testing.assert_allclose(*early, rtol=1e-6)
    assert not np.allclose(longer.predict(WITH_GREY), longer.predict(missing))


def test_new_categories_beside_a_model_of_xgboost_are_refused():
    with pytest.raises(ValueError, match=r"in X beside xgb_model, column 'kind' holds .*\['grey'\]; train on"):
        fit(XGBOOST, WITH_GREY, fit(XGBOOST))
