"""Files and pickles that boostplug 0.1.0 wrote still load, and predict what they predicted there.

`tests/model/data` was written by 0.1.0: ``fitted-0.1.0.pickle`` holds fitted rankers and an `Ensemble` with their
predictions for `X`, ``ensemble-0.1.0.json`` the same ensemble.
"""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import boostplug as bp
from boostplug.weak_rankers import Feature, Stump, Tree

DATA = Path(__file__).parent / "data"
X = np.arange(24.0).reshape(8, 3) * [1, -1, 1] % [5, 7, 3]
X[[1, 6], [2, 0]] = np.nan
Y, QID = [2, 0, 1, 0, 1, 2, 0, 3], [1, 1, 1, 2, 2, 3, 3, 3]
RANKERS = [
    "RankBoostRanker",
    "RankBoostRanker",
    "AdaRankRanker",
    "MPBoostRanker",
    "NDCGBoostRanker",
    "QBRankRanker",
    "QuadraticBoundRanker",
]


@pytest.fixture(scope="module")
def written():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*Trying to unpickle")  # a parameter from another scikit-learn
        return pickle.loads((DATA / "fitted-0.1.0.pickle").read_bytes())


@pytest.mark.parametrize("at", range(len(RANKERS)), ids=RANKERS)
def test_fitted_rankers(written, at):
    ranker, predicted = written["rankers"][at]
    assert type(ranker) is getattr(bp, RANKERS[at])
    np.testing.assert_allclose(ranker.predict(X), predicted, rtol=1e-14)
    assert len(ranker.model_) == ranker.best_iteration_ <= len(ranker.history_["alpha"]) == 3
    again = clone(ranker).fit(X, Y, qid=QID, eval_set=[(X, Y)], eval_qid=[QID], early_stopping_rounds=3)
    np.testing.assert_allclose(again.predict(X), predicted, rtol=1e-9, atol=1e-12)
    assert again.best_iteration_ == ranker.best_iteration_
    assert list(again.history_) == list(ranker.history_)
    assert vars(again).keys() == vars(ranker).keys()


def test_ensembles(written):
    model, predicted = written["ensemble"]
    assert model == bp.load(DATA / "ensemble-0.1.0.json")
    assert model.rounds == (
        ((Stump(0, 1.5, -1.0, 0.5), 0.1),),
        ((Feature(1), -2.0), (Tree.steps(2, [0.5, 1.5], [0.1, -0.2, 0.3]), 0.7)),
        ((Stump(1, -np.inf), 0.3),),
    )
    assert model.feature_names == ("a", "b", "c")
    np.testing.assert_allclose(model.predict(X), predicted, rtol=1e-14)
