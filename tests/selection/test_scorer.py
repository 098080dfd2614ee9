"""`make_scorer` in scikit-learn: routing of qid, a qid column, signs, errors."""

import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost as xgb
from adapters.harness import FRAMEWORKS, GROUP, QID, Misses, X, Y
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 (it makes the next import possible)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boostplug as bp

NDCG = bp.NDCG(5)
LIGHTGBM = FRAMEWORKS["lightgbm"]


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


N_QUERIES = len(GROUP)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(qid=QID)
FOLDS = bp.group_folds(QID, 3)
SCORER = bp.make_scorer(NDCG)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def expected_scores(estimator, *, fit_qid=False):
    scores = []
    for train, test in FOLDS:
        model = clone(estimator).fit(X[train], Y[train], **({"qid": QID[train]} if fit_qid else {}))
        scores.append(NDCG.score(Y[test], model.predict(X[test]), qid=QID[test]))
    return scores


def test_a_direct_call():
    model = LinearRegression().fit(X, Y)
    expected = NDCG.score(Y, model.predict(X), qid=QID)
    assert SCORER(model, X, Y, qid=QID) == SCORER(model, X, Y, group=GROUP) == expected
    assert bp.make_scorer(Misses())(model, X, Y, qid=QID) == pytest.approx(expected - 1, rel=1e-12)
    weight = np.arange(float(N_QUERIES))
    weighted = NDCG.score(Y, model.predict(X), weight=weight, qid=QID)
    assert SCORER(model, X, Y, qid=QID, sample_weight=weight) == weighted != expected
    assert SCORER(model, X, Y, qid=QID, sample_weight=np.repeat(weight, GROUP)) == pytest.approx(weighted, rel=1e-12)


@pytest.mark.usefixtures("routing")
def test_qid_is_routed_without_further_ado():
    routed = {"params": {"qid": QID}, "error_score": "raise"}
    result = cross_validate(LinearRegression(), X, Y, cv=FOLDS, scoring=SCORER, **routed)
    assert list(result["test_score"]) == expected_scores(LinearRegression())


@pytest.mark.usefixtures("routing")
def test_qid_reaches_the_estimator_too():
    options = {"cv": FOLDS, "scoring": SCORER, "refit": False, "error_score": "raise"}
    search = GridSearchCV(QueryRidge().set_fit_request(qid=True), {"alpha": [0.1, 1000.0]}, **options)
    search.fit(X, Y, qid=QID)
    for i, alpha in enumerate([0.1, 1000.0]):
        expected = expected_scores(QueryRidge(alpha), fit_qid=True)
        assert [search.cv_results_[f"split{f}_test_score"][i] for f in range(3)] == expected


@pytest.mark.usefixtures("routing")
def test_several_metrics_and_signs():
    scoring = {"good": SCORER, "bad": bp.make_scorer(Misses()), "r2": "r2"}
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    result = cross_validate(pipeline, X, Y, cv=FOLDS, scoring=scoring, params={"qid": QID}, error_score="raise")
    np.testing.assert_allclose(result["test_bad"], result["test_good"] - 1, rtol=1e-12)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e9]}, cv=FOLDS, scoring=scoring["bad"]).fit(X, Y, qid=QID)
    assert (search.cv_results_["mean_test_score"] <= 0).all()
    assert search.score(X, Y, qid=QID) <= 0


@pytest.mark.parametrize("enabled", [False, True])
def test_a_qid_column_needs_no_routing(enabled):
    ranker = xgb.XGBRanker(n_estimators=3, max_depth=2, n_jobs=1)
    scoring = {"ndcg": SCORER, "map": bp.make_scorer(bp.MAP(relevant=2))}
    with sklearn.config_context(enable_metadata_routing=enabled):
        result = cross_validate(ranker, FRAME, Y, cv=FOLDS, scoring=scoring, error_score="raise")
    assert list(result["test_ndcg"]) == pytest.approx(expected_scores(ranker, fit_qid=True), rel=1e-12)


@pytest.mark.parametrize("arguments", [{}, {"scoring": bp.make_scorer(NDCG), "max_samples": 0.5}])
def test_rows_that_permutation_importance_takes_apart_are_refused(arguments):
    """`score` does not know ids that are shuffled, and nobody knows queries of which rows are drawn."""
    ranker = LIGHTGBM.ranker(n_estimators=2).fit(FRAME, Y)
    with pytest.raises(ValueError, match="qid must be contiguous"):
        permutation_importance(ranker, FRAME, Y, n_repeats=1, random_state=0, **arguments)


def test_halving_by_rows_fails_in_every_fit():
    """The default resource of HalvingGridSearchCV is rows, drawn one by one."""
    ranker = LIGHTGBM.ranker(n_estimators=2)
    options = {"scoring": SCORER, "cv": bp.group_folds(QID, 2), "min_resources": 40, "random_state": 0}
    with pytest.raises(ValueError, match=r"(?s)All the 4 fits failed.*qid must be contiguous"):
        HalvingGridSearchCV(ranker, {"num_leaves": [4, 6]}, **options).fit(FRAME, Y)


def test_weights_without_routing():
    """GridSearchCV hands weights to scorers that take them; the scorer says that it does."""
    weight = np.repeat(np.arange(float(N_QUERIES)), GROUP)
    scoring = {"ndcg": SCORER, "r2": "r2"}
    search = GridSearchCV(Ridge(), {"alpha": [0.1]}, cv=FOLDS, scoring=scoring, refit=False)
    search.fit(FRAME, Y, sample_weight=weight)
    assert np.isfinite(search.cv_results_["mean_test_ndcg"]).all()


def test_unknown_queries_are_an_error():
    model = LinearRegression().fit(X, Y)
    with pytest.raises(ValueError, match=r"NDCG@5 needs the query of each row.*enable_metadata_routing=True"):
        SCORER(model, X, Y)
    with pytest.raises(ValueError, match=r"exactly one of group .* got both"):
        SCORER(model, X, Y, qid=QID, group=GROUP)
    with pytest.raises(ValueError, match="given twice: by X's column 'qid' and by qid"):
        SCORER(model, FRAME, Y, qid=QID)
