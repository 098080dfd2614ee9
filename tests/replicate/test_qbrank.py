"""QBRank's protocol: preferences beside labels, the linear baseline, the protocol."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from boostplug.datasets import RankingData
from boostplug.metrics import DCG
from boostplug.pairs import Pairs
from boostplug.rankers import QBRankRanker
from boostplug.replicate import replicate
from boostplug.replicate.preferences import SharedGrades, Use
from boostplug.replicate.qbrank import QBRANK
from boostplug.replicate.ranksvm import RankSVM
from boostplug.replicate.study import Learner, Measure, Study
from boostplug.replicate.task import Job, run

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


def test_grades_mean_the_same_in_all_queries():
    """So query means of grades follow those of the features."""
    part = SharedGrades(n_tasks=1, n_queries=(1, 200, 1, 1), small=True).load(None).splits[0].train
    rows = [rows for rows in queries_of(part) if len(rows) == 30]
    grades = [part.y[own].mean() for own in rows]
    assert np.corrcoef(grades, [part.X[own, 6].mean() for own in rows])[0, 1] > 0.3


def test_the_small_set_is_for_no_folder_alone():
    assert SOURCE.load(Path()) is None
    assert replace(SOURCE, small=False).load(None) is None
    assert replace(SOURCE, small=False).load(Path()) is not None


@pytest.mark.parametrize(
    ("labels", "rows", "group"),
    [("L1", [3, 4, 7], [2, 1]), ("L2", [0, 1, 2, 5, 6], [3, 2]), ("all", range(8), [3, 2, 2, 1])],
)
def test_labels_in_use(labels, rows, group):
    given = Use(labels)(toy())
    assert set(given) == {"X", "y", "group"}
    np.testing.assert_array_equal(given["X"], toy().X[list(rows)])
    np.testing.assert_array_equal(given["y"], toy().y[list(rows)])
    assert list(given["group"]) == group


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
    l2 = {"X": train.X[n1:], "y": train.y[n1:], "group": train.group[12:]}
    assert curve(Use("L1"), 0.0)[:3] == pytest.approx(
        own(0.0, X=train.X[:n1], y=train.y[:n1], group=train.group[:12])[:3], abs=1e-6
    )
    assert curve(Use("L2"), 1.0)[:3] == pytest.approx(own(1.0, **l2)[:3], abs=1e-6)
    within = [(i, j) for rows in queries_of(train)[12:] for i in rows for j in rows if train.y[i] > train.y[j]]
    winner, loser = np.array(within).T
    pairs = Pairs(winner, loser, margin=train.y[winner] - train.y[loser])
    labelled = np.arange(train.n_rows) < n1
    anything = np.where(labelled, train.y, 7.0)  # no label of L2 is read
    mixed = own(0.5, X=train.X, y=anything, group=train.group, pairs=pairs, labelled=labelled)
    assert curve(Use("L1", preferences=True), 0.5)[:3] == pytest.approx(mixed[:3], abs=1e-6)
    assert curve(None, 0.5) != curve(Use("L1", preferences=True), 0.5)


# --- RankSVM ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [1e-3, 0.1])
def test_ranksvm_is_liblinear_on_differences(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3)).astype(np.float32) * [1.0, 10.0, 0.1]
    y = np.round(X @ [1.0, 0.05, -5.0] + rng.normal(size=24))
    ranker = RankSVM(C=C).fit(X, y, group=[12, 12])
    Z = X / X.astype(np.float32).astype(np.float64).std(axis=0)
    pairs = [(i, j) for i in range(24) for j in range(24) if i // 12 == j // 12 and y[i] > y[j]]
    sign = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    differences = np.array([Z[i] - Z[j] for i, j in pairs]) * sign[:, None]
    svm = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-10).fit(differences, sign)
    expected = Z @ svm.coef_[0]
    np.testing.assert_allclose(ranker.predict(X), expected, atol=1e-4 * np.abs(expected).max())
    assert ranker.stop_reason_ == "the problem is solved" or len(ranker.model_) == 1


def test_ranksvm_and_data_that_lack_something():
    X = np.array([[1.0, 5.0, np.nan], [0.0, 5.0, 2.0], [0.5, 5.0, np.nan]])
    ranker = RankSVM(n_estimators=3).fit(X, [2, 0, 1], group=[3])
    assert ranker.stop_reason_ == "the problem is solved"
    assert [weak.feature for weak, _ in ranker.model_.terms] == [0, 2]
    assert ranker.predict(X)[0] > ranker.predict(X)[2] > ranker.predict(X)[1]
    assert RankSVM().fit(np.nan_to_num(X), [2, 0, 1], group=[3]).predict(X)[0] == ranker.predict(X)[0]
    with pytest.raises(ValueError, match="y holds no pair to learn from"):
        RankSVM().fit(X, [1, 1, 1], group=[3])
    for C in (0.0, -1.0, np.inf, True, "1"):
        with pytest.raises(ValueError, match="C must be a finite number above 0"):
            RankSVM(C=C).fit(X, [2, 0, 1], group=[3])


# --- The protocol ----------------------------------------------------------------------------------------------------


def test_every_kind_of_study_runs():
    """Without data: the small sets alone, no published figure, every claim of them judged."""
    tiny = replace(SOURCE, n_queries=(6, 6, 3, 4))
    studies = tuple(
        replace(study, rounds=2, source=tiny)
        if isinstance(study.source, SharedGrades) and study.source.small
        else study
        for study in QBRANK.studies
    )
    result = replicate(replace(QBRANK, studies=studies), num_processes=1)
    document = result.document
    assert not result.failed
    assert {study["name"].partition(",")[0] for study in document["studies"]} == {"small synthetic"}
    assert set(document["not_run"]) == {study.name for study in QBRANK.studies if study.source.wanted}
    assert all(claim["holds"] is not None for claim in document["claims"])
    assert len(document["claims"]) == sum(claim.study.startswith("small") for claim in QBRANK.claims)
    assert not any(study["published_applies"] for study in document["studies"])
    assert "published figures do not apply" in str(result)
    by_name = {
        (study["name"], learner["name"]): learner["test"]
        for study in document["studies"]
        for learner in study["learners"]
    }
    mixed = (
        ("small synthetic", "QBRank P2+L1"),
        ("small synthetic, by w", "w = 0.5"),
        ("small synthetic, by η", "η = 0.05"),
    )
    assert by_name[mixed[0]]["DCG-5"] == by_name[mixed[1]]["DCG-5"] == by_name[mixed[2]]["DCG-5"]
