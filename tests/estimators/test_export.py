"""Exported rankers: plain ones that need no boostplug."""

import pickle

import numpy as np
import pandas as pd
import pytest
from adapters.harness import QID, VQID, VX, VY, X, Y
from sklearn.base import clone

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

RANKERS = {
    "lightgbm": (bp.LGBMRanker, lgb.LGBMRanker, {"verbose": -1, "num_leaves": 4, "min_child_samples": 1}),
    "xgboost": (bp.XGBRanker, xgb.XGBRanker, {"max_depth": 2}),
}
BUILT_IN = {"lightgbm": "lambdarank", "xgboost": "rank:pairwise"}  # instead of a loss
each = pytest.mark.parametrize("framework", RANKERS)


def ranker(framework, **params):
    ours, _, small = RANKERS[framework]
    return ours(**{"objective": bp.MPBoost(), "n_estimators": 8, "n_jobs": 1, **small, **params})


def fit(framework, rows=X, labels=Y, fitting=None, **params):
    quiet = {"verbose": False} if framework == "xgboost" else {}
    return ranker(framework, **params).fit(rows, labels, **{"qid": QID, **quiet, **(fitting or {})})


def stopped(framework):
    """Return a ranker that has stopped early, and how many trees it has."""
    fitting = {"eval_set": [(VX, VY)], "eval_qid": [VQID]}
    if framework == "lightgbm":
        fitting |= {"eval_metric": bp.NDCG(3), "callbacks": [lgb.early_stopping(2, verbose=False)]}
        return fit(framework, fitting=fitting, n_estimators=40)
    return fit(framework, fitting=fitting, n_estimators=40, eval_metric=["ndcg@3", bp.NDCG(3)], early_stopping_rounds=2)


def check(fitted, rows=X):
    """Return the export, which predicts the same, pickles without a trace of us, and is of the plain class."""
    framework = "lightgbm" if isinstance(fitted, lgb.LGBMRanker) else "xgboost"
    plain, expected = fitted.export(), fitted.predict(rows)
    assert type(plain) is RANKERS[framework][1]
    assert b"boostplug" not in pickle.dumps(plain)
    for same in (plain, pickle.loads(pickle.dumps(plain))):
        np.testing.assert_array_equal(same.predict(rows), expected)
    return plain


@each
@pytest.mark.parametrize("to", ["solr", "elasticsearch-ltr", "opensearch-ltr", "xgboost"])
def test_engines_get_the_names_of_the_table(framework, to):
    frame = pd.DataFrame(np.float32(X)).set_axis(
        ["unit price", "a_b", *(f"f {k}" for k in range(2, X.shape[1]))], axis=1
    )
    fitted = fit(framework, frame)
    exported = bp.export(fitted, to=to, X=frame)
    if to == "xgboost":
        assert exported.get_booster().feature_names == [*frame]
    else:
        assert '"unit price"' in exported
        assert "unit_price" not in exported
    names = [f"g{k}" for k in range(X.shape[1])]
    assert '"g0"' in bp.export(fitted, to="vespa", feature_names=names, X=frame)
    if framework == "lightgbm" and to == "solr":
        assert '"unit_price"' in bp.export(fitted.booster_, to=to)  # a booster has its own names only


def test_categories_are_refused_by_the_names_of_the_table():
    frame = pd.DataFrame({"x": X[:, 0], "my shop": pd.Categorical(np.where(Y > 1, "a", "b"))})
    fitted = fit("lightgbm", frame, min_data_per_group=1, cat_smooth=0.0, min_child_weight=0.0)
    with pytest.raises(ValueError, match=r"codes of the categories of \['my shop'\]"):
        bp.export(fitted, to="solr")


def test_names_that_lightgbm_makes_equal_are_refused():
    frame = pd.DataFrame(X[:, :2], columns=["a b", "a_b"])
    with pytest.raises(ValueError, match=r"LightGBM writes a blank as _, holds 'a_b' 2 times; rename or remove one"):
        fit("lightgbm", frame)
    fit("lightgbm", frame, fitting={"feature_name": ["a", "b"]})
    fit("xgboost", frame)


def test_rounds_that_an_export_leaves_out_are_named():
    """`xgb.train` keeps the best iteration of the model that it continues; XGBRanker does not."""
    fitted = stopped("xgboost")
    booster = fitted.get_booster()
    kept, all_rounds = fitted.best_iteration + 1, booster.num_boosted_rounds()
    assert fitted.export().get_booster().num_boosted_rounds() == kept < all_rounds  # no warning: it is the ranker's
    bp.export(fitted, to="xgboost")
    matrix = xgb.DMatrix(X, Y, qid=QID, nthread=1)
    longer = xgb.train({"objective": "rank:pairwise", "nthread": 1}, matrix, 3, obj=bp.MPBoost(), xgb_model=booster)
    plain = xgb.XGBRanker()
    plain.load_model(longer.save_raw("ubj"))
    for model, to in ((longer, None), (longer, "solr"), (plain, "xgboost")):
        with pytest.warns(UserWarning, match=rf"has {kept} of {all_rounds + 3} rounds, .*best_iteration=None"):
            bp.export(model, to=to)
    longer.set_attr(best_iteration=None)
    assert bp.export(longer).num_boosted_rounds() == all_rounds + 3


@each
def test_parameters_and_attributes_are_the_rankers(framework):
    fitted = fit(framework, learning_rate=0.2, random_state=np.random.RandomState(0))
    plain = check(fitted)
    params = plain.get_params()
    assert params["objective"] == BUILT_IN[framework]
    for name in ("learning_rate", "n_estimators", "n_jobs"):
        assert params[name] == fitted.get_params()[name]
    assert set(clone(plain).get_params()) == set(params) == set(RANKERS[framework][1](**params).get_params())
    assert plain.n_features_in_ == X.shape[1]
    assert hasattr(plain, "feature_names_in_") == hasattr(fitted, "feature_names_in_")
    np.testing.assert_array_equal(plain.feature_importances_, fitted.feature_importances_)
    assert plain.__sklearn_tags__() == fitted.__sklearn_tags__()
    assert fitted.objective == bp.MPBoost()  # it is a copy


@each
def test_early_stopping_is_respected(framework):
    fitted = stopped(framework)
    plain = check(fitted)
    best = {"lightgbm": "best_iteration_", "xgboost": "best_iteration"}[framework]
    assert getattr(plain, best) == getattr(fitted, best) < 39
    assert plain.evals_result_ == fitted.evals_result_
    assert plain.evals_result_ is not fitted.evals_result_
    if framework == "xgboost":
        assert plain.get_booster().num_boosted_rounds() == plain.best_iteration + 1 < 40
        assert plain.best_score == fitted.best_score
        assert plain.eval_metric == ["ndcg@3"]
    else:
        assert plain.n_estimators_ == plain.best_iteration_
        assert plain.best_score_ == fitted.best_score_


@each
def test_categories(framework):
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["b"] = pd.Categorical(np.where(np.arange(len(X)) % 5 == 0, None, np.round(X[:, 1]).astype(int).astype(str)))
    params = {
        "lightgbm": {"min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 0.1},
        "xgboost": {"enable_categorical": True, "tree_method": "hist"},
    }[framework]
    fitted = fit(framework, frame, **params)
    assert fitted.feature_importances_[1] > 0
    check(fitted, frame)
    check(fitted, frame.iloc[5:9])
