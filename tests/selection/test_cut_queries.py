"""The warning that a ranker is scored on queries which a fold has cut."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from adapters.harness import FRAMEWORKS
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import boostplug as bp

RANKERS = {F.Ranker.__name__: F.ranker(n_estimators=2) for F in FRAMEWORKS.values()}
RANKERS["RankBoostRanker"] = bp.RankBoostRanker(n_estimators=2)
RNG = np.random.default_rng(0)
GROUP = RNG.integers(3, 9, 30)
QID = np.repeat(np.arange(30), GROUP)
X = RNG.normal(size=(len(QID), 3))
Y = RNG.integers(0, 3, len(QID))
TABLE = pd.DataFrame(X, columns=list("abc")).assign(qid=[f"query {i}" for i in QID])
CUT = KFold(3, shuffle=True, random_state=0)
WARNING = r"fit has had other rows of \d+ of the \d+ scored queries, such as .* pass cv=boostplug.group_folds"
SCORER = bp.make_scorer(bp.NDCG(5))
every_ranker = pytest.mark.parametrize("name", RANKERS)


@every_ranker
@pytest.mark.parametrize("scoring", [SCORER, None])
def test_a_fold_that_cuts_queries_is_seen(name, scoring):
    with pytest.warns(UserWarning, match=WARNING):
        cross_validate(RANKERS[name], TABLE, Y, cv=CUT, scoring=scoring)
    complete = bp.group_folds(TABLE["qid"], 3)
    cross_validate(RANKERS[name], TABLE, Y, cv=complete, scoring=scoring, return_train_score=True)


def test_searches_pipelines_and_arrays_are_seen():
    ranker, more = RANKERS["LGBMRanker"], {"scoring": SCORER, "error_score": "raise"}
    pipeline = make_pipeline(FunctionTransformer(), ranker)
    with pytest.warns(UserWarning, match=WARNING):
        GridSearchCV(pipeline, {"lgbmranker__num_leaves": [3]}, cv=CUT, **more).fit(TABLE, Y)
    with sklearn.config_context(enable_metadata_routing=True), pytest.warns(UserWarning, match=WARNING):
        cross_validate(clone(ranker).set_fit_request(qid=True), X, Y, cv=CUT, params={"qid": QID}, **more)


def test_selections_of_features_are_seen():
    more = {"scoring": SCORER, "error_score": "raise", "params": {"qid": QID}}
    with sklearn.config_context(enable_metadata_routing=True):
        selection = RFE(clone(RANKERS["LGBMRanker"]).set_fit_request(qid=True), n_features_to_select=2)
        with pytest.warns(UserWarning, match=WARNING):
            cross_validate(make_pipeline(StandardScaler(), selection), X, Y, cv=CUT, **more)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cross_validate(selection, X, Y, cv=bp.group_folds(QID, 3), **more)


@pytest.mark.parametrize("index", [np.zeros(len(QID)), QID, np.arange(len(QID)) % 100], ids=["one", "ids", "parts"])
def test_labels_that_several_rows_share_do_not_make_two_tables(index):
    with pytest.warns(UserWarning, match=WARNING):
        cross_validate(RANKERS["LGBMRanker"], TABLE.set_axis(index), Y, cv=CUT, scoring=SCORER)


def test_ids_that_a_transformer_has_changed_are_seen():
    table = TABLE.assign(qid=QID)
    names = [*"abc"]
    scaled = make_pipeline(StandardScaler().set_output(transform="pandas"), RANKERS["LGBMRanker"])
    with pytest.warns(UserWarning, match=r"ids such as -1\.\d+, .* ones are such as \d+: .* cut queries cannot"):
        cross_validate(scaled, table, Y, cv=CUT, scoring=SCORER)
    with pytest.warns(UserWarning, match=WARNING):
        cross_validate(scaled, table, Y, cv=CUT)  # the ranker's own score gets the scaled ids too
    kept = ColumnTransformer([("", StandardScaler(), names)], remainder="passthrough", verbose_feature_names_out=False)
    kept = make_pipeline(kept.set_output(transform="pandas"), RANKERS["LGBMRanker"])
    with pytest.warns(UserWarning, match=WARNING):
        cross_validate(kept, table, Y, cv=CUT, scoring=SCORER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate(kept, table, Y, cv=bp.group_folds(QID, 3), scoring=SCORER)


@pytest.mark.parametrize("n_splits", [3, 5])
def test_a_fold_of_arrays_that_leaves_rows_of_all_queries_is_seen(n_splits):
    qid, rng = np.repeat(np.arange(1, 31), 50), np.random.default_rng(0)
    X, y = rng.normal(size=(len(qid), 2)), rng.integers(0, 3, len(qid))
    folds = [*KFold(n_splits, shuffle=True, random_state=0).split(X)]
    assert all(len(np.unique(qid[rows])) == 30 for fold in folds for rows in fold)
    for train, test in folds:
        ranker = clone(RANKERS["LGBMRanker"]).fit(X[train], y[train], qid=qid[train])
        with pytest.warns(UserWarning, match=WARNING):
            ranker.score(X[test], y[test], qid=qid[test])
    for other in (np.repeat(np.arange(1, 31), 50), np.repeat(np.arange(1, 21), 10)):  # tables that number their own
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ranker.score(X[: len(other)], y[: len(other)], qid=other[: len(X)])


@every_ranker
def test_scores_of_complete_queries_and_of_other_tables_are_not_warned_of(name):
    ranker = clone(RANKERS[name]).fit(TABLE, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (slice(None), (QID > 3) & (QID < 20)):
            ranker.score(TABLE[rows], Y[rows])
            SCORER(ranker, TABLE[rows], Y[rows])
        ranker.score(TABLE.drop(columns="qid"), Y, group=GROUP)
        other = np.argsort(-QID, kind="stable")[::2]  # as of the next week: new documents of the same queries
        ranker.score(TABLE.iloc[other].reset_index(drop=True), Y[other])
        by_number = clone(RANKERS[name]).fit(X, Y, qid=QID)  # each table numbers its queries
        by_number.score(X[GROUP[0] :], Y[GROUP[0] :], qid=QID[GROUP[0] :] - 1)


@every_ranker
def test_it_outlives_pickle(name):
    even = np.arange(len(Y)) % 2 == 0
    ranker = clone(RANKERS[name]).fit(TABLE[even], Y[even])
    for fitted in (ranker, pickle.loads(pickle.dumps(ranker))):
        with pytest.warns(UserWarning, match=WARNING):
            fitted.score(TABLE[~even], Y[~even])
