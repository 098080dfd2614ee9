"""Preferences beside labels: what a learner is given of both, and the synthetic set."""

import numpy as np
import pytest

from boostplug.data.pairs import Pairs
from boostplug.datasets import RankingData
from boostplug.metrics import DCG
from boostplug.rankers import QBRankRanker
from studies.replication.training.preferences import SharedGrades, Use
from studies.replication.training.study import Learner, Measure, Study
from studies.replication.training.task import Job, run

SOURCE = SharedGrades(n_tasks=2, n_queries=(12, 8, 5, 6), size=20, small=True)


def queries_of(part):
    return np.split(np.arange(part.n_rows), part.queries.boundaries[1:-1])


def toy():
    """Queries of grades (2, 0, 1), (1, 1), (0, 1), (0)."""
    y = np.array([2.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    X = np.arange(16, dtype=np.float32).reshape(8, 2)
    return RankingData(X=X, y=y, qid=np.repeat([1, 2, 3, 4], [3, 2, 2, 1]), group=np.array([3, 2, 2, 1]))


# --- Data ------------------------------------------------------------------------------------------------------------


def test_preferences_in_use():
    given = Use("L1", preferences=True)(toy())
    assert len(given["y"]) == 8
    assert list(given["labelled"]) == [False, False, False, True, True, False, False, True]
    pairs = given["pairs"]
    expected = [(0, 1, 2.0), (0, 2, 1.0), (2, 1, 1.0), (6, 5, 1.0)]
    assert list(zip(pairs.winner, pairs.loser, pairs.margin, strict=True)) == expected
    given = Use("L2", preferences=True)(toy())
    assert list(given["group"]) == [3, 2]
    assert given["labelled"].all()
    assert list(given["pairs"].winner) == [0, 0, 2, 4]


def test_a_learner_sees_what_is_in_use():
    split = SOURCE.load(None).splits[0]
    study = Study(name="s", source=SOURCE, rounds=4, learners=(), measures=(Measure("DCG-5", DCG(5)),))

    def curve(use, weight):
        learner = Learner(name="x", ranker=QBRankRanker, params={"preference_weight": weight}, use=use)
        return run(Job(study, split, learner, 0))["value"]["curves"]["test"]["DCG-5"]

    def own(weight, **given):
        ranker = QBRankRanker(n_estimators=4, preference_weight=weight, random_state=0).fit(**given)
        return [DCG(5)(scores, split.test.queries) for scores in ranker.staged_predict(split.test.X)]

    train, n1 = split.train, int(split.train.group[:12].sum())
    within = [(i, j) for rows in queries_of(train)[12:] for i in rows for j in rows if train.y[i] > train.y[j]]
    winner, loser = np.array(within).T
    pairs = Pairs(winner, loser, margin=train.y[winner] - train.y[loser])
    labelled = np.arange(train.n_rows) < n1
    anything = np.where(labelled, train.y, 7.0)  # no label of L2 is read
    mixed = own(0.5, X=train.X, y=anything, group=train.group, pairs=pairs, labelled=labelled)
    assert curve(Use("L1", preferences=True), 0.5)[:3] == pytest.approx(mixed[:3], abs=1e-6)
    assert curve(None, 0.5) != curve(Use("L1", preferences=True), 0.5)
