"""Rankers within scikit-learn's pipelines, selections of features and folds, as docs/guides/scikit-learn.md says."""

import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import sklearn
from adapters.harness import FRAMEWORKS, every_framework
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import boostplug as bp

LIGHTGBM, XGBOOST = FRAMEWORKS.values()
RNG = np.random.default_rng(0)
QID = np.repeat(RNG.permutation(50)[:30], 8)
NAMES = [*"abcd"]
X = RNG.normal(size=(len(QID), 4))
KIND = RNG.choice(["long", "short"], len(QID))
Y = np.clip(np.round(X[:, 0] + (KIND == "long") + 0.5 * RNG.normal(size=len(QID))), 0, 3)
FRAME = pd.DataFrame(X, columns=NAMES)
WITH_TEXT = FRAME.assign(kind=KIND)
METRIC = bp.NDCG(3)
SCORER = bp.make_scorer(METRIC)
CUT, COMPLETE = KFold(3, shuffle=True, random_state=0), bp.group_folds(QID, 3)
SEEN = r"fit has had other rows of \d+ of the \d+ scored queries"


def prepare(*others, **more):
    """Return what scales the numbers, in a table."""
    kept = ColumnTransformer([("numbers", StandardScaler(), NAMES), *others], verbose_feature_names_out=False, **more)
    return kept.set_output(transform="pandas")


def routed(F, **more):
    return F.ranker(bp.CRR(), **more).set_fit_request(qid=True).set_score_request(qid=True)


@every_framework
def test_a_pipeline_routes_the_ids_to_fit_and_score(F):
    texts = ("texts", OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["kind"])
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(prepare(texts), routed(F)).fit(WITH_TEXT, Y, qid=QID)
        table = pipe[0].transform(WITH_TEXT)
        assert [*table] == [*NAMES, "kind_long", "kind_short"] == [*pipe[-1].feature_names_in_]
        expected = F.ranker(bp.CRR()).fit(table, Y, qid=QID)
        np.testing.assert_array_equal(pipe.predict(WITH_TEXT), expected.predict(table))
        assert pipe.score(WITH_TEXT, Y, qid=QID) == expected.score(table, Y, qid=QID) > 0.7
        grid = {f"{F.Ranker.__name__.lower()}__n_estimators": [2, 4]}
        search = GridSearchCV(pipe, grid, cv=COMPLETE, scoring=SCORER, error_score="raise").fit(WITH_TEXT, Y, qid=QID)
        assert search.score(WITH_TEXT, Y, qid=QID) == METRIC.score(Y, search.predict(WITH_TEXT), qid=QID)
    assert clone(pipe[-1]).get_params() == pipe[-1].get_params()


def test_a_pipeline_without_routing_is_scored_by_the_scorer():
    pipe = make_pipeline(prepare(), LIGHTGBM.ranker()).fit(FRAME, Y, lgbmranker__qid=QID)
    assert SCORER(pipe, FRAME, Y, qid=QID) == METRIC.score(Y, pipe.predict(FRAME), qid=QID)
    with pytest.raises(ValueError, match="qid"):
        pipe.score(FRAME, Y)


def test_a_column_of_ids_must_pass_the_transformers():
    table = FRAME.assign(qid=QID)
    pipe = make_pipeline(prepare(remainder="passthrough"), LIGHTGBM.ranker()).fit(table, Y)
    assert pipe.score(table, Y) == LIGHTGBM.ranker().fit(pipe[0].transform(table), Y).score(pipe[0].transform(table), Y)
    with pytest.raises(ValueError, match=r"columns are missing: \{'qid'\}"):
        pipe.predict(FRAME)
    renamed = ColumnTransformer([("numbers", StandardScaler(), NAMES)], remainder="passthrough")
    for other in (prepare(), clone(renamed), renamed.set_output(transform="pandas")):
        with pytest.raises(ValueError, match="qid or group is missing"):
            make_pipeline(other, LIGHTGBM.ranker()).fit(table, Y)


@every_framework
def test_categories_pass_a_transformer(F):
    table = WITH_TEXT.astype({"kind": "category"}).assign(qid=QID)
    pipe = make_pipeline(prepare(remainder="passthrough"), F.ranker(**F.categories)).fit(table, Y)
    assert pipe[-1].feature_importances_[-1] > 0
    cross_validate(pipe, table, Y, cv=COMPLETE, scoring=SCORER, error_score="raise")


def test_a_pipeline_transforms_no_validation_set():
    scaled = StandardScaler().fit(X + 9)
    given = {"qid": QID, "eval_set": [(X, Y)], "eval_qid": [QID], "eval_metric": METRIC}
    pipe = make_pipeline(scaled, LIGHTGBM.ranker()).fit(X + 9, Y, **{f"lgbmranker__{n}": v for n, v in given.items()})
    alone = LIGHTGBM.ranker().fit(pipe[0].transform(X + 9), Y, **given)
    assert LIGHTGBM.history(pipe[-1]) == LIGHTGBM.history(alone)


@every_framework
def test_selections_of_features(F):
    ranker = F.ranker(bp.CRR())
    selection = RFE(ranker, n_features_to_select=2).fit(FRAME, Y, qid=QID)
    assert "a" in selection.get_feature_names_out()
    assert selection.score(FRAME, Y, qid=QID) == selection.estimator_.score(X[:, selection.support_], Y, qid=QID)
    with pytest.raises(ValueError, match="qid or group is missing"):
        RFE(ranker, n_features_to_select=2).fit(FRAME.assign(qid=QID), Y)
    with sklearn.config_context(enable_metadata_routing=True):
        for chosen in (
            RFECV(routed(F), cv=COMPLETE, scoring=SCORER),
            SequentialFeatureSelector(routed(F), n_features_to_select=2, cv=COMPLETE, scoring=SCORER),
        ):
            assert chosen.fit(FRAME, Y, qid=QID).get_support()[0]
        by_default = RFECV(routed(F), cv=COMPLETE).fit(FRAME, Y, qid=QID).cv_results_["mean_test_score"]
        r2 = RFECV(routed(F), cv=COMPLETE, scoring="r2").fit(FRAME, Y, qid=QID).cv_results_["mean_test_score"]
        np.testing.assert_array_equal(by_default, r2)


# --- folds --------------------------------------------------------------------------------------------------------


def pipeline(ranker):
    return make_pipeline(StandardScaler(), ranker)


ROUTED = {"params": {"qid": QID}, "error_score": "raise"}
NAMED = FRAME.assign(query_id=QID)
WAYS = {
    "column qid": lambda F, cv, s: cross_validate(F.ranker(), FRAME.assign(qid=QID), Y, cv=cv, scoring=s),
    "column by name": lambda F, cv, s: GridSearchCV(F.ranker(), {}, cv=cv, scoring=s).fit(NAMED, Y, qid="query_id"),
    "routed arrays": lambda F, cv, s: cross_validate(routed(F), X, Y, cv=cv, scoring=s, **ROUTED),
    "pipeline": lambda F, cv, s: cross_validate(pipeline(routed(F)), FRAME, Y, cv=cv, scoring=s, **ROUTED),
    "pipeline in a search": lambda F, cv, s: GridSearchCV(pipeline(routed(F)), {}, cv=cv, scoring=s).fit(X, Y, qid=QID),
    "RFE": lambda F, cv, s: cross_validate(RFE(routed(F), n_features_to_select=3), X, Y, cv=cv, scoring=s, **ROUTED),
    "RFECV": lambda F, cv, s: RFECV(routed(F), cv=cv, scoring=s, min_features_to_select=3).fit(X, Y, qid=QID),
    "selector": lambda F, cv, s: SequentialFeatureSelector(routed(F), n_features_to_select=1, cv=cv, scoring=s).fit(
        X, Y, qid=QID
    ),
}
OWN_SCORE = [way for way in WAYS if way != "RFECV"]  # which takes R² without scoring


@every_framework
@pytest.mark.parametrize(("way", "scoring"), [*((way, SCORER) for way in WAYS), *((way, None) for way in OWN_SCORE)])
def test_every_way_to_score_folds_sees_those_that_cut_queries(F, way, scoring):
    with sklearn.config_context(enable_metadata_routing="column" not in way):
        with pytest.warns(UserWarning, match=SEEN):
            WAYS[way](F, CUT, scoring)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            WAYS[way](F, COMPLETE, scoring)


def test_folds_of_mixed_rows_are_refused_and_predictions_are_not_scored():
    table, more = FRAME.assign(qid=QID), {"scoring": SCORER, "error_score": "raise"}
    with pytest.raises(ValueError, match="qid must be contiguous"):
        cross_validate(LIGHTGBM.ranker(), table, Y, cv=ShuffleSplit(1, random_state=0), **more)
    cross_val_predict(LIGHTGBM.ranker(), table, Y, cv=CUT)
    numbered = np.repeat(np.arange(6), 40)
    with sklearn.config_context(enable_metadata_routing=True):  # the one way that is not seen
        halves = KFold(2, shuffle=True, random_state=0)
        cross_validate(routed(LIGHTGBM), X, Y, cv=halves, params={"qid": numbered}, **more)


def test_folds_that_cut_queries_show_too_much():
    train = bp.datasets.load_bundled().train
    table = pd.DataFrame(train.X).add_prefix("f").assign(qid=train.qid)
    ranker = bp.LGBMRanker(objective=bp.CRR(), n_estimators=20, verbose=-1, n_jobs=1)
    shown = {}
    for name, cv in {"complete": bp.group_folds(train.qid, 3), "cut": KFold(3, shuffle=True, random_state=0)}.items():
        with pytest.warns(UserWarning, match=SEEN) if name == "cut" else nullcontext():
            shown[name] = cross_validate(ranker, table, train.y, cv=cv)["test_score"].mean()
    assert shown == pytest.approx({"complete": 0.61, "cut": 0.79}, abs=0.03)
