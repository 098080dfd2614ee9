"""Exported rankers: plain ones that need no boostplug."""

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from adapters.harness import FRAMEWORKS, LOSS, VALID, X, Y, every_framework
from sklearn.base import clone

import boostplug as bp

LIGHTGBM, XGBOOST = FRAMEWORKS.values()


def stopped(F):
    """Return a ranker that has stopped early."""
    metric = {"lightgbm": bp.NDCG(3), "xgboost": ["ndcg@3", bp.NDCG(3)]}[F.name]
    return F.fit(n_estimators=40, valid=VALID, metric=metric, patience=2)


def check(F, fitted, rows=X):
    """Return the export, which predicts the same, pickles without a trace of us, and is of the plain class."""
    plain, expected = fitted.export(), fitted.predict(rows)
    assert type(plain) is F.Plain
    assert b"boostplug" not in pickle.dumps(plain)
    for same in (plain, pickle.loads(pickle.dumps(plain))):
        np.testing.assert_array_equal(same.predict(rows), expected)
    return plain


@every_framework
@pytest.mark.parametrize("to", ["solr", "elasticsearch-ltr", "opensearch-ltr", "xgboost"])
def test_engines_get_the_names_of_the_table(F, to):
    frame = pd.DataFrame(np.float32(X), columns=["unit price", "a_b", "f 2", "f 3"])
    fitted = F.fit(x=frame)
    exported = bp.export(fitted, to=to, X=frame)
    if to == "xgboost":
        assert exported.get_booster().feature_names == [*frame]
    else:
        assert '"unit price"' in exported
        assert "unit_price" not in exported
    assert '"g0"' in bp.export(fitted, to="vespa", feature_names=["g0", "g1", "g2", "g3"], X=frame)
    if F is LIGHTGBM and to == "solr":
        assert '"unit_price"' in bp.export(fitted.booster_, to=to)  # a booster has its own names only


def test_categories_are_refused_by_the_names_of_the_table():
    frame = pd.DataFrame({"x": X[:, 0], "my shop": pd.Categorical(np.where(Y > 1, "a", "b"))})
    fitted = LIGHTGBM.fit(x=frame, min_data_per_group=1, cat_smooth=0.0, min_child_weight=0.0)
    with pytest.raises(ValueError, match=r"codes of the categories of \['my shop'\]"):
        bp.export(fitted, to="solr")


def test_names_that_lightgbm_makes_equal_are_refused():
    frame = pd.DataFrame(X[:, :2], columns=["a b", "a_b"])
    with pytest.raises(ValueError, match=r"LightGBM writes a blank as _, holds 'a_b' 2 times; rename or remove one"):
        LIGHTGBM.fit(x=frame)
    LIGHTGBM.fit(x=frame, feature_name=["a", "b"])
    XGBOOST.fit(x=frame)


def test_rounds_that_an_export_leaves_out_are_named():
    """`xgb.train` keeps the best iteration of the model that it continues; XGBRanker does not."""
    fitted = stopped(XGBOOST)
    booster = fitted.get_booster()
    kept, all_rounds = fitted.best_iteration + 1, booster.num_boosted_rounds()
    assert fitted.export().get_booster().num_boosted_rounds() == kept < all_rounds  # no warning: it is the ranker's
    bp.export(fitted, to="xgboost")
    longer = XGBOOST.train(LOSS, XGBOOST.data(xgb.DMatrix), 3, init_model=booster)[0]
    plain = xgb.XGBRanker()
    plain.load_model(longer.save_raw("ubj"))
    for model, to in ((longer, None), (longer, "solr"), (plain, "xgboost")):
        with pytest.warns(UserWarning, match=rf"has {kept} of {all_rounds + 3} rounds, .*best_iteration=None"):
            bp.export(model, to=to)
    longer.set_attr(best_iteration=None)
    assert bp.export(longer).num_boosted_rounds() == all_rounds + 3


@every_framework
def test_parameters_and_attributes_are_the_rankers(F):
    fitted = F.fit(learning_rate=0.2, random_state=np.random.RandomState(0))
    plain = check(F, fitted)
    params = plain.get_params()
    assert params["objective"] == {"lightgbm": "lambdarank", "xgboost": "rank:pairwise"}[F.name]
    for name in ("learning_rate", "n_estimators", "n_jobs"):
        assert params[name] == fitted.get_params()[name]
    assert set(clone(plain).get_params()) == set(params) == set(F.Plain(**params).get_params())
    assert plain.n_features_in_ == X.shape[1]
    assert hasattr(plain, "feature_names_in_") == hasattr(fitted, "feature_names_in_")
    np.testing.assert_array_equal(plain.feature_importances_, fitted.feature_importances_)
    assert plain.__sklearn_tags__() == fitted.__sklearn_tags__()
    assert fitted.objective == LOSS  # it is a copy


@every_framework
def test_early_stopping_is_respected(F):
    fitted = stopped(F)
    plain = check(F, fitted)
    assert F.rounds_of_best(plain) == F.rounds_of_best(fitted) < 40
    assert plain.evals_result_ == fitted.evals_result_
    assert plain.evals_result_ is not fitted.evals_result_
    if F is XGBOOST:
        assert XGBOOST.n_rounds(plain) == plain.best_iteration + 1
        assert plain.best_score == fitted.best_score
        assert plain.eval_metric == ["ndcg@3"]
    else:
        assert plain.n_estimators_ == plain.best_iteration_
        assert plain.best_score_ == fitted.best_score_


@every_framework
def test_categories(F):
    texts = np.round(X[:, 1]).astype(int).astype(str)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["b"] = pd.Categorical(np.where(np.arange(len(X)) % 5 == 0, None, texts))
    fitted = F.fit(x=frame, **F.categories)
    assert fitted.feature_importances_[1] > 0
    check(F, fitted, frame)
    check(F, fitted, frame.iloc[5:9])
