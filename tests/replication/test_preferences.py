"""Preferences beside labels: what a learner is given of both, and the synthetic set."""

from dataclasses import replace

import numpy as np
import pytest

from boostplug.data.pairs import Pairs
from boostplug.datasets import RankingData
from boostplug.metrics import DCG
from boostplug.rankers import QBRankRanker
from boostplug.replication.training.preferences import SharedGrades, Use
from boostplug.replication.training.study import Learner, Measure, Study
from boostplug.replication.training.task import Job, run

SOURCE = SharedGrades(n_tasks=2, n_queries=(12, 8, 5, 6), size=20, small=True)


def queries_of(part):
    return np.split(np.arange(part.n_rows), part.queries.boundaries[1:-1])


def toy():
    """Queries of grades (2, 0, 1), (1, 1), (0, 1), (0)."""
    y = np.array([2.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    X = np.arange(16, dtype=np.float32).reshape(8, 2)
    return RankingData(X=X, y=y, qid=np.repeat([1, 2, 3, 4], [3, 2, 2, 1]), group=np.array([3, 2, 2, 1]))


# --- Data ------------------------------------------------------------------------------------------------------------


def test_queries_of_l1_have_one_grade_and_all_others_several():
    loaded = SOURCE.load(None)
    assert [split.task for split in loaded.splits] == ["seed 0", "seed 1"]
    for split in loaded.splits:
        grades = [np.unique(split.train.y[rows]) for rows in queries_of(split.train)]
        assert all(len(own) == 1 for own in grades[:12])
        assert min(grades[:12])[0] == 0.0  # bad ones
        assert max(grades[:12])[0] >= 3.0  # ideal ones
        assert max(split.train.group[:12]) <= 10
        for part in (grades[12:], *([np.unique(p.y[r]) for r in queries_of(p)] for p in (split.vali, split.test))):
            assert part
            assert all(len(own) > 1 for own in part)
        ids = [set(part.qid) for part in (split.train, split.vali, split.test)]
        assert len(set.union(*ids)) == sum(map(len, ids))
    assert not np.array_equal(*(split.test.X[:5] for split in loaded.splits))
    assert loaded.digest == SOURCE.load(None).digest != replace(SOURCE, seed=1).load(None).digest
    assert "2 seeds; on average L1 of 12 queries" in loaded.notes[0]


def test_preferences_in_use():
    given = Use("L1", preferences=True)(toy())
    assert len(given["y"]) == 8
    assert list(given["labelled"]) == [False, False, False, True, True, False, False, True]
    pairs = given["pairs"]
    assert list(zip(pairs.winner, pairs.loser, pairs.margin, strict=True)) == [
        (0, 1, 2.0),
        (0, 2, 1.0),
        (2, 1, 1.0),
        (6, 5, 1.0),
    ]
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
