"""`TreeLearner` is LightGBM with its trees as rounds."""

import lightgbm as lgb
import numpy as np
import pytest

from boostplug.data.pairs import Pairs
from boostplug.datasets import make_ranking
from boostplug.losses import MPBoost
from boostplug.studies.replication.trees import TreeLearner

DATA = make_ranking(20, n_features=5, mean_list_size=15, random_state=0)
OTHER = make_ranking(10, n_features=5, mean_list_size=15, random_state=1)


def fitted(**params):
    return TreeLearner(n_estimators=6, random_state=0, **params).fit(DATA.X, DATA.y, group=DATA.group)


@pytest.mark.parametrize("objective", ["lambdarank", MPBoost()], ids=str)
def test_it_is_what_lightgbm_trains(objective):
    ranker = fitted(objective=objective, learning_rate=0.1, num_leaves=7)
    params = {
        "learning_rate": 0.1,
        "num_leaves": 7,
        "num_threads": 1,
        "deterministic": True,
        "force_col_wise": True,
        "verbosity": -1,
    }
    booster = lgb.train({"objective": objective, **params}, lgb.Dataset(DATA.X, DATA.y, group=DATA.group), 6)
    stages = list(ranker.staged_predict(OTHER.X))
    assert len(stages) == len(ranker.model_.rounds) == 6
    for n, stage in enumerate(stages, 1):
        np.testing.assert_allclose(stage, booster.predict(OTHER.X, raw_score=True, num_iteration=n), atol=1e-12)
    np.testing.assert_allclose(ranker.predict(OTHER.X), stages[-1], atol=1e-12)
    assert np.ptp(stages[-1]) > 0
    assert ranker.stop_reason_ == "n_estimators"


def test_it_ends_where_no_tree_can_be_split():
    few = make_ranking(3, n_features=5, mean_list_size=3, random_state=0)
    ranker = TreeLearner(n_estimators=5).fit(few.X, few.y, group=few.group)
    assert ranker.stop_reason_ == "no tree can be split"
    assert not len(ranker.model_.rounds)


def test_refusals():
    with pytest.raises(ValueError, match="TreeLearner takes grades as y"):
        TreeLearner().fit(DATA.X, DATA.y, group=DATA.group, pairs=Pairs([0], [1]))
    with pytest.raises(ValueError, match="TreeLearner takes grades as y"):
        TreeLearner().fit(DATA.X, DATA.y, group=DATA.group, labelled=DATA.y > 0)
    with pytest.raises(ValueError, match="learning_rate"):
        fitted(learning_rate=0.0)
