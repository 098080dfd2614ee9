"""`make_scorer` in scikit-learn: routing of qid, a qid column, signs, errors."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 (it makes the next import possible)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

NDCG = bp.NDCG(5)


@dataclass(frozen=True)
class Misses(bp.Metric):
    """1 − NDCG: an error."""

    greater_is_better = False

    def compute_per_query(self, scores, queries):
        return 1 - NDCG.compute_per_query(scores, queries)


class QueryRidge(RegressorMixin, BaseEstimator):
    """Takes qid in fit, and centres the grades by query."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, qid):
        assert len(qid) == len(y)
        _, query = np.unique(qid, return_inverse=True)
        self.ridge_ = Ridge(self.alpha).fit(X, y - (np.bincount(query, y) / np.bincount(query))[query])
        return self

    def predict(self, X):
        return self.ridge_.predict(X)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    group = rng.integers(3, 9, 24)
    qid = np.repeat(np.arange(24), group)
    X = rng.normal(size=(len(qid), 4))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=len(qid)) + 1), 0, 4)
    return X, y, qid


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def expected_scores(estimator, X, y, qid, folds, *, fit_qid=False):
    scores = []
    for train, test in folds:
        fit = {"qid": qid[train]} if fit_qid else {}
        model = clone(estimator).fit(X[train], y[train], **fit)
        scores.append(NDCG(model.predict(X[test]), bp.Queries(y[test], qid=qid[test])))
    return scores


def test_a_direct_call(data):
    X, y, qid = data
    model = LinearRegression().fit(X, y)
    group = np.bincount(qid)
    expected = NDCG(model.predict(X), bp.Queries(y, qid=qid))
    scorer = bp.make_scorer(NDCG)
    assert scorer(model, X, y, qid=qid) == scorer(model, X, y, group=group) == expected
    assert bp.make_scorer(Misses())(model, X, y, qid=qid) == pytest.approx(expected - 1, rel=1e-12)
    weight = np.arange(24.0)
    weighted = NDCG(model.predict(X), bp.Queries(y, qid=qid, weight=weight))
    assert scorer(model, X, y, qid=qid, sample_weight=weight) == weighted != expected
    assert scorer(model, X, y, qid=qid, sample_weight=weight[qid]) == pytest.approx(weighted, rel=1e-12)


@pytest.mark.usefixtures("routing")
def test_qid_is_routed_without_further_ado(data):
    X, y, qid = data
    folds = bp.group_folds(qid, 3)
    scorer = bp.make_scorer(NDCG)
    result = cross_validate(
        LinearRegression(), X, y, cv=folds, scoring=scorer, params={"qid": qid}, error_score="raise"
    )
    assert list(result["test_score"]) == expected_scores(LinearRegression(), X, y, qid, folds)


@pytest.mark.usefixtures("routing")
def test_qid_reaches_the_estimator_too(data):
    X, y, qid = data
    folds = bp.group_folds(qid, 3, shuffle=True, random_state=0)
    estimator = QueryRidge().set_fit_request(qid=True)
    search = GridSearchCV(
        estimator, {"alpha": [0.1, 1000.0]}, cv=folds, scoring=bp.make_scorer(NDCG), refit=False, error_score="raise"
    ).fit(X, y, qid=qid)
    for i, alpha in enumerate([0.1, 1000.0]):
        expected = expected_scores(QueryRidge(alpha), X, y, qid, folds, fit_qid=True)
        assert [search.cv_results_[f"split{f}_test_score"][i] for f in range(3)] == expected


@pytest.mark.usefixtures("routing")
def test_several_metrics_and_signs(data):
    X, y, qid = data
    folds = bp.group_folds(qid, 3)
    scoring = {"good": bp.make_scorer(NDCG), "bad": bp.make_scorer(Misses()), "r2": "r2"}
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    result = cross_validate(pipeline, X, y, cv=folds, scoring=scoring, params={"qid": qid}, error_score="raise")
    np.testing.assert_allclose(result["test_bad"], result["test_good"] - 1, rtol=1e-12)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e9]}, cv=folds, scoring=bp.make_scorer(Misses())).fit(X, y, qid=qid)
    assert (search.cv_results_["mean_test_score"] <= 0).all()
    assert search.score(X, y, qid=qid) <= 0


@pytest.mark.parametrize("enabled", [False, True])
def test_a_qid_column_needs_no_routing(data, enabled):
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    folds = bp.group_folds(qid, 3)
    ranker = xgb.XGBRanker(n_estimators=3, max_depth=2, n_jobs=1)
    scoring = {"ndcg": bp.make_scorer(NDCG), "map": bp.make_scorer(bp.MAP(relevant=2))}
    with sklearn.config_context(enable_metadata_routing=enabled):
        result = cross_validate(ranker, frame, y, cv=folds, scoring=scoring, error_score="raise")
    expected = [
        NDCG(clone(ranker).fit(frame.iloc[a], y[a]).predict(frame.iloc[b]), bp.Queries(y[b], qid=qid[b]))
        for a, b in folds
    ]
    assert list(result["test_ndcg"]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("arguments", [{}, {"scoring": bp.make_scorer(NDCG), "max_samples": 0.5}])
def test_rows_that_permutation_importance_takes_apart_are_refused(data, arguments):
    """`score` does not know ids that are shuffled, and nobody knows queries of which rows are drawn."""
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    ranker = bp.LGBMRanker(objective=bp.RankNet(), n_estimators=2, verbose=-1, n_jobs=1).fit(frame, y)
    with pytest.raises(ValueError, match="qid must be contiguous"):
        permutation_importance(ranker, frame, y, n_repeats=1, random_state=0, **arguments)


def test_halving_by_rows_fails_in_every_fit(data):
    """The default resource of HalvingGridSearchCV is rows, drawn one by one."""
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    ranker = bp.LGBMRanker(objective=bp.RankNet(), n_estimators=2, verbose=-1, n_jobs=1)
    options = {"scoring": bp.make_scorer(NDCG), "cv": bp.group_folds(qid, 2), "min_resources": 40, "random_state": 0}
    with pytest.raises(ValueError, match=r"(?s)All the 4 fits failed.*qid must be contiguous"):
        HalvingGridSearchCV(ranker, {"num_leaves": [4, 6]}, **options).fit(frame, y)


def test_weights_without_routing(data):
    """GridSearchCV hands weights to scorers that take them; the scorer says that it does."""
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    weight = np.arange(24.0)[qid]
    scoring = {"ndcg": bp.make_scorer(NDCG), "r2": "r2"}
    search = GridSearchCV(Ridge(), {"alpha": [0.1]}, cv=bp.group_folds(qid, 3), scoring=scoring, refit=False)
    search.fit(frame, y, sample_weight=weight)
    assert np.isfinite(search.cv_results_["mean_test_ndcg"]).all()


def test_unknown_queries_are_an_error(data):
    X, y, qid = data
    model = LinearRegression().fit(X, y)
    scorer = bp.make_scorer(NDCG)
    with pytest.raises(ValueError, match=r"NDCG@5 needs the query of each row.*enable_metadata_routing=True"):
        scorer(model, X, y)
    with pytest.raises(ValueError, match=r"exactly one of group .* got both"):
        scorer(model, X, y, qid=qid, group=np.bincount(qid))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    with pytest.raises(ValueError, match="given twice: by X's column 'qid' and by qid"):
        scorer(model, frame, y, qid=qid)
