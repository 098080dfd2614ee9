"""Our rankers behave as their parents where users and scikit-learn rely on it: shapes of y, score, errors, checks."""

import warnings

import numpy as np
import pandas as pd
import pytest
from adapters.harness import FRAMEWORKS, GROUP, LOSS, VGROUP, VQID, VX, VY, X, Y, every_framework
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import check_estimator

import boostplug as bp


def quietly(call, *args, **keywords):
    """Return what a call returns; the parents warn of columns differently, and of arguments that are deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **keywords)


@every_framework
@pytest.mark.parametrize("column", [Y.reshape(-1, 1), pd.DataFrame({"grade": Y})], ids=["array", "table"])
def test_a_column_of_labels_trains_as_the_parent_does(F, column):
    parent = quietly(F.Plain(objective=F.objective, **F.estimator).fit, X, column, group=GROUP)
    with pytest.warns(DataConversionWarning, match=r"column-vector y was passed when a 1d array was expected"):
        ranker = F.fit(F.objective, y=column)
    np.testing.assert_array_equal(ranker.predict(X), parent.predict(X))


@pytest.mark.parametrize("eval_metric", ["rmse", ["ndcg@3", "ndcg@1"], bp.PairError(), [bp.MRR(), bp.LogLoss()]])
def test_score_is_ndcg_whatever_a_training_evaluates(eval_metric):
    """So higher is better, which grid searches go by."""
    ranker = FRAMEWORKS["xgboost"].fit(LOSS, metric=eval_metric)
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


ONE_QUERY = {
    name: (one_query(F.Plain, f"OneQueryOf{name}"), one_query(F.Ranker, f"OneQueryBeside{name}"))
    for name, F in FRAMEWORKS.items()
}
globals().update({kind.__name__: kind for kinds in ONE_QUERY.values() for kind in kinds})  # where pickle looks for them


@pytest.mark.ci
@every_framework
def test_scikit_learns_checks_that_the_parent_passes(F):
    params = {name: F.estimator[name] for name in ("n_jobs", "n_estimators")}
    if F.name == "lightgbm":
        params["min_child_samples"] = 1
    failed_by_parent, failed_by_ours = (
        {
            check["check_name"]: repr(check["exception"])
            for check in quietly(check_estimator, kind(**params), on_fail=None, on_skip=None)
            if check["status"] == "failed"
        }
        for kind in ONE_QUERY[F.name]
    )
    assert {name: said for name, said in failed_by_ours.items() if name not in failed_by_parent} == {}
