"""Input that would change scores without a word."""

import warnings

import numpy as np
import pytest
from adapters.harness import QID, VQID, VX, VY, X, Y
from scipy.sparse import csr_matrix

import boostplug as bp

xgb = pytest.importorskip("xgboost")
lgb = pytest.importorskip("lightgbm")

RANKER = {"n_jobs": 1, "n_estimators": 2, "max_depth": 2}
SPARSE = r"X is sparse and the training set is dense: .*; pass tables of one kind, or train the ranker with missing=0"


def fitted(X=X, **params):
    return bp.XGBRanker(objective=bp.QBRank(), **RANKER, **params).fit(X, Y, qid=QID)


def test_xgboost_refuses_sparse_tables_beside_dense_ones():
    """To XGBoost absent entries are missing, and zeros are not."""
    with pytest.raises(ValueError, match=SPARSE):
        fitted().predict(csr_matrix(X))
    with pytest.raises(ValueError, match=r"X is dense and the training set is sparse"):
        fitted(csr_matrix(X)).predict(X)
    with pytest.raises(ValueError, match=r"eval_set\[0\]'s " + SPARSE):
        bp.XGBRanker(**RANKER).fit(X, Y, qid=QID, eval_set=[(csr_matrix(VX), VY)], eval_qid=[VQID])
    with pytest.raises(ValueError, match="X beside xgb_model " + SPARSE.removeprefix("X ")):
        bp.XGBRanker(**RANKER).fit(csr_matrix(X), Y, qid=QID, xgb_model=fitted())
    same = fitted(missing=0)
    np.testing.assert_array_equal(same.predict(csr_matrix(X)), same.predict(X))
    assert fitted().predict(csr_matrix(X), validate_features=False).shape == (len(X),)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_compare_refuses_sparse_parts_beside_dense_ones_for_xgboost(place):
    parts = [bp.RankingData(csr_matrix(X) if i == place else X, Y, qid=QID) for i in range(3)]
    with pytest.raises(ValueError, match=r"(valid|test): X is (sparse|dense) and the training set is (sparse|dense)"):
        bp.compare(*parts, frameworks="xgboost", losses=[], seeds=1)


def test_another_base_score_than_that_of_the_model_to_go_on_from_is_refused():
    start = fitted(base_score=0.25)
    with pytest.raises(ValueError, match=r"base_score=0.5 differs from that of xgb_model, 0.25; leave out base_score"):
        bp.XGBRanker(objective=bp.QBRank(), base_score=0.5, **RANKER).fit(X, Y, qid=QID, xgb_model=start)
    for params in ({}, {"base_score": 0.25}):
        longer = bp.XGBRanker(objective=bp.QBRank(), **params, **RANKER).fit(X, Y, qid=QID, xgb_model=start)
        assert longer.get_booster().num_boosted_rounds() == 4


@pytest.mark.parametrize("kind", [bp.LGBMRanker, bp.XGBRanker])
def test_a_warning_says_that_single_precision_makes_labels_equal(kind):
    ranker = kind(objective=bp.RankNet(), n_jobs=1, n_estimators=1)
    with pytest.warns(UserWarning, match="labels such as .* are equal in single precision, .*; subtract an offset"):
        ranker.fit(X, np.where(Y.max() == Y, 2e9, Y + 1e9), qid=QID)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(X, Y + 0.1, qid=QID)  # rounded, and still different


def test_compare_warns_of_labels_that_single_precision_makes_equal():
    parts = [bp.RankingData(X, np.where(Y.max() == Y, 2e9, Y + 1e9), qid=QID) for _ in range(3)]
    asked = {"losses": bp.RankNet(), "baselines": [], "frameworks": "lightgbm", "rounds": 1, "seeds": 1}
    result = bp.compare(*parts, metric="SpearmanRho", metrics="SpearmanRho", **asked)
    assert any("equal in single precision" in text for text in result.document["warnings"])
