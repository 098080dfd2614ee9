"""Our rankers behave as their parents where users and scikit-learn rely on it: shapes of y, score, errors, checks."""

import warnings

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from adapters.harness import GROUP, QID, VGROUP, VQID, VX, VY, X, Y
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import check_estimator

import boostplug as bp

PARENTS = {"lightgbm": lgb.LGBMRanker, "xgboost": xgb.XGBRanker}
OURS = {"lightgbm": bp.LGBMRanker, "xgboost": bp.XGBRanker}
SMALL = {
    "lightgbm": {"n_estimators": 3, "n_jobs": 1, "verbose": -1, "min_child_samples": 1},
    "xgboost": {"n_estimators": 3, "n_jobs": 1},
}

both_frameworks = pytest.mark.parametrize("framework", [*PARENTS])


def ours(framework, objective=None, **params):
    chosen = {} if objective is None else {"objective": objective}
    return OURS[framework](**chosen, **SMALL[framework], **params)


def quietly(call, *args, **keywords):
    """Return what a call returns; the parents warn of columns differently, and of arguments that are deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **keywords)


# --- y as a column ------------------------------------------------------------------------------------------------


@both_frameworks
def test_a_column_of_labels_trains_as_the_parent_does(framework):
    for column in (Y.reshape(-1, 1), pd.DataFrame({"grade": Y})):
        parent = quietly(PARENTS[framework](**SMALL[framework]).fit, X, column, group=GROUP)
        with pytest.warns(DataConversionWarning, match=r"column-vector y was passed when a 1d array was expected"):
            ranker = ours(framework).fit(X, column, group=GROUP)
        np.testing.assert_array_equal(ranker.predict(X), parent.predict(X))


# --- score --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eval_metric", ["rmse", ["ndcg@3", "ndcg@1"], bp.PairError(), [bp.MRR(), bp.LogLoss()]])
def test_score_is_ndcg_whatever_a_training_evaluates(eval_metric):
    """So higher is better, which grid searches go by."""
    ranker = ours("xgboost", eval_metric=eval_metric).fit(X, Y, qid=QID)
    expected = bp.NDCG(10).score(VY, ranker.predict(VX), qid=VQID)
    assert ranker.score(VX, VY, qid=VQID) == ranker.score(VX, VY, group=VGROUP) == expected
    assert ranker.score(VX, VY, qid=VQID, metric="PairError") == bp.PairError().score(VY, ranker.predict(VX), qid=VQID)


# --- scikit-learn's checks ----------------------------------------------------------------------------------------


def one_query(kind, name):
    """Return a class of rankers that take all rows as one query, since scikit-learn's checks pass no queries."""

    class OneQuery(kind):
        def fit(self, X, y=None, sample_weight=None):
            if y is None:
                raise ValueError("requires y to be passed, but the target y is None")
            n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
            return super().fit(X, y, group=[n_rows], sample_weight=sample_weight)

        def score(self, X, y):
            return float(np.sum(self.predict(X)))

    OneQuery.__name__ = OneQuery.__qualname__ = name
    return OneQuery


OneQueryLightGBM = one_query(lgb.LGBMRanker, "OneQueryLightGBM")  # by these names they are pickled
OneQueryXGBoost = one_query(xgb.XGBRanker, "OneQueryXGBoost")
OneQueryLGBMRanker = one_query(bp.LGBMRanker, "OneQueryLGBMRanker")
OneQueryXGBRanker = one_query(bp.XGBRanker, "OneQueryXGBRanker")
ONE_QUERY = {
    "lightgbm": (OneQueryLightGBM, OneQueryLGBMRanker),
    "xgboost": (OneQueryXGBoost, OneQueryXGBRanker),
}


@pytest.mark.ci
@both_frameworks
def test_scikit_learns_checks_that_the_parent_passes(framework):
    params = {name: value for name, value in SMALL[framework].items() if name != "verbose"}  # no parameter by signature
    failed_by_parent, failed_by_ours = (
        {
            check["check_name"]: repr(check["exception"])
            for check in quietly(check_estimator, kind(**params), on_fail=None, on_skip=None)
            if check["status"] == "failed"
        }
        for kind in ONE_QUERY[framework]
    )
    assert {name: said for name, said in failed_by_ours.items() if name not in failed_by_parent} == {}
