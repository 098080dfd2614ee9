"""Categories go by content: of one column in training, validation, predictions and a training that goes on."""

import numpy as np
import pandas as pd
import pytest

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(30), 10)
KINDS = ("red", "green", "blue", "grey")
MAKE = {
    "LGBMRanker": lambda **more: bp.LGBMRanker(
        objective=bp.MPBoost(), n_estimators=5, verbose=-1, n_jobs=1, min_data_per_group=1, cat_smooth=1.0, **more
    ),
    "XGBRanker": lambda **more: bp.XGBRanker(
        objective=bp.MPBoost(), n_estimators=5, n_jobs=1, max_depth=3, enable_categorical=True, **more
    ),
}
MODEL = {"LGBMRanker": "init_model", "XGBRanker": "xgb_model"}
QUIET = {"LGBMRanker": {}, "XGBRanker": {"verbose": False}}
both_rankers = pytest.mark.parametrize("name", MAKE)


def frame(values, categories):
    kind = pd.Categorical(values, categories=list(categories))
    return pd.DataFrame({"kind": kind, "size": SIZE}, index=np.arange(len(values))[::-1])


SIZE = RNG.normal(size=len(QID))
VALUES = RNG.choice(KINDS[:3], len(QID))
Y = np.clip(np.round((VALUES == "green") * 2 + SIZE), 0, 4)
X = frame(VALUES, KINDS[:3])
REORDERED = frame(VALUES, ("blue", "red", "green"))
WITHOUT_GREEN = frame(np.where(VALUES == "green", "red", VALUES), ("blue", "red"))
WITH_GREY = frame(np.where(VALUES == "green", "grey", VALUES), ("grey", "blue", "red"))


def fit(name, x=X, **more):
    more = {MODEL[name] if argument == "model" else argument: value for argument, value in more.items()}
    return MAKE[name]().fit(x, Y, qid=QID, **QUIET[name], **more)


@both_rankers
def test_the_same_categories_in_another_order_or_some_of_them_predict_the_same(name):
    ranker = fit(name)
    expected = ranker.predict(X)
    np.testing.assert_array_equal(ranker.predict(REORDERED), expected)
    assert ranker.score(REORDERED, Y, qid=QID) == ranker.score(X, Y, qid=QID)
    some = np.flatnonzero(VALUES != "green")
    np.testing.assert_array_equal(ranker.predict(WITHOUT_GREEN.iloc[some]), expected[some])
    assert list(REORDERED["kind"].cat.categories) == ["blue", "red", "green"]  # the user's frame stays


@both_rankers
def test_new_categories_become_missing_values_with_a_warning(name):
    ranker = fit(name)
    missing = X.copy()
    missing.loc[VALUES == "green", "kind"] = None
    with pytest.warns(UserWarning, match=r"^in X, column 'kind' holds .*\['grey'\]; .* missing"):
        scores = ranker.predict(WITH_GREY)
    np.testing.assert_array_equal(scores, ranker.predict(missing))
    with pytest.warns(UserWarning, match=r"^in eval_set\[0\]'s X, column 'kind'"):
        fit(name, eval_set=[(WITH_GREY, Y)], eval_qid=[QID])


@both_rankers
def test_validation_sets_get_the_categories_of_the_training_set(name):
    values = [
        next(iter(fit(name, eval_set=[(valid, Y)], eval_qid=[QID]).evals_result_.values())) for valid in (X, REORDERED)
    ]
    assert values[0] == values[1]


def first_rounds(name, ranker, x):
    rounds = {"num_iteration": 5} if name == "LGBMRanker" else {"iteration_range": (0, 5)}
    return ranker.predict(x, **rounds)


def plain(name):
    """Return a booster that the framework has trained alone."""
    if name == "LGBMRanker":
        data = lgb.Dataset(X, Y, group=[10] * 30)
        return lgb.train({"objective": "lambdarank", "verbose": -1, "min_data_per_group": 1, "num_threads": 1}, data, 5)
    data = xgb.DMatrix(X, Y, qid=QID, enable_categorical=True)
    return xgb.train({"objective": "rank:pairwise", "nthread": 1}, data, 5)


@both_rankers
@pytest.mark.parametrize("source", ["ranker", "booster"])
def test_a_training_goes_on_with_the_models_categories(name, source):
    model = fit(name) if source == "ranker" else plain(name)
    if name == "XGBRanker" and source == "booster":
        if not hasattr(model, "get_categories"):
            pytest.skip("boosters know their categories since XGBoost 3.1")
        pytest.importorskip("pyarrow")
    same, other = fit(name, model=model), fit(name, REORDERED, model=model)
    np.testing.assert_array_equal(other.predict(X), same.predict(X))
    np.testing.assert_array_equal(other.predict(REORDERED), same.predict(X))
    validated = fit(name, REORDERED, model=model, eval_set=[(X, Y)], eval_qid=[QID])
    np.testing.assert_array_equal(validated.predict(X), same.predict(X))
    if source == "ranker":
        np.testing.assert_allclose(first_rounds(name, other, REORDERED), model.predict(X), rtol=1e-6)


def test_a_loaded_model_of_xgboost_knows_its_categories(tmp_path):
    ranker = fit("XGBRanker")
    if not hasattr(ranker.get_booster(), "get_categories"):
        pytest.skip("boosters know their categories since XGBoost 3.1")
    pytest.importorskip("pyarrow")
    ranker.save_model(tmp_path / "model.ubj")
    loaded = MAKE["XGBRanker"]()
    loaded.load_model(tmp_path / "model.ubj")
    np.testing.assert_array_equal(loaded.predict(REORDERED), ranker.predict(X))
    with pytest.warns(UserWarning, match="'grey'"):
        loaded.predict(WITH_GREY)


@pytest.mark.parametrize("source", ["ranker", "booster"])
def test_a_training_that_goes_on_learns_new_categories_of_lightgbm(source):
    model = fit("LGBMRanker") if source == "ranker" else plain("LGBMRanker")
    longer = fit("LGBMRanker", WITH_GREY, model=model)
    missing = WITH_GREY.assign(kind=WITH_GREY["kind"].cat.remove_categories("grey"))
    np.testing.assert_allclose(
        first_rounds("LGBMRanker", longer, WITH_GREY), first_rounds("LGBMRanker", longer, missing), rtol=1e-6
    )
    assert not np.allclose(longer.predict(WITH_GREY), longer.predict(missing))


def test_new_categories_beside_a_model_of_xgboost_are_refused():
    with pytest.raises(
        ValueError, match=r"in X beside xgb_model, column 'kind' holds categories .*\['grey'\]; train on"
    ):
        fit("XGBRanker", WITH_GREY, model=fit("XGBRanker"))
