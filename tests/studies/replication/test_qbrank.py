"""QBRank's protocol: preferences beside labels, the linear baseline, the protocol."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import LinearSVC

from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData
from boostplug.losses import QBRank
from boostplug.metrics import DCG
from boostplug.rankers import QBRankRanker, QuadraticBoundRanker
from boostplug.rankers.base import Training
from boostplug.studies.replication import replicate
from boostplug.studies.replication.curve_claims import Settles
from boostplug.studies.replication.feature_steps import BestFeature, GivenSteps, SearchedSteps, _Theorem
from boostplug.studies.replication.preferences import First, SharedGrades, Use
from boostplug.studies.replication.qbrank import QBRANK
from boostplug.studies.replication.ranksvm import RankSVM
from boostplug.studies.replication.study import Learner, Measure, Study
from boostplug.studies.replication.task import Job, run

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


def test_the_first_queries_of_l2():
    given = First(1, Use("L2"))(toy())
    assert list(given["y"]) == [2.0, 0.0, 1.0]
    assert list(given["group"]) == [3]
    given = First(2, Use("L2"))(toy())
    np.testing.assert_array_equal(given["X"], toy().X[[0, 1, 2, 5, 6]])
    assert list(First(9, Use("L2"))(toy())["group"]) == [3, 2]


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


# --- Theorem 1 -------------------------------------------------------------------------------------------------------

LINEAR = QBRank(preference_weight=0.5, hessian="global", normalization="none")
RULES = (
    SearchedSteps(loss=LINEAR, regressor=BestFeature(), learning_rate=1.0, n_estimators=40),
    GivenSteps(loss=LINEAR, exponent=0.75, first=1.0, n_estimators=40),
    GivenSteps(loss=LINEAR, exponent=0.0, first=0.03, n_estimators=40),
)


def mixed(seed=0):
    """Return a training part of pairs and of queries of one grade, and the arguments of `fit` for it."""
    part = replace(SOURCE, seed=seed).load(None).splits[0].train
    return part, Use("L1", preferences=True)(part)


def theorem(given, loss=LINEAR):
    queries = Queries(given["y"], group=given["group"], pairs=given["pairs"], labelled=given["labelled"])
    training = Training(given["X"], queries, np.random.RandomState(0), [])
    return _Theorem(training, loss)


def test_the_best_feature_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 5)), rng.normal(size=30), rng.uniform(0.1, 2.0, size=30)
    errors = []
    for column in X.T:
        factor = np.linalg.lstsq(np.sqrt(weight)[:, None] * column[:, None], np.sqrt(weight) * y, rcond=None)[0][0]
        errors.append(weight @ (factor * column - y) ** 2)
    fitted = BestFeature().fit(X, y, sample_weight=weight)
    assert fitted.feature_ == np.argmin(errors)
    assert weight @ (fitted.predict(X) - y) ** 2 == pytest.approx(min(errors))
    assert not BestFeature().fit(np.zeros((3, 2)), np.ones(3)).predict(np.zeros((3, 2))).any()


def test_the_risk_lies_below_m_times_the_square_of_a_norm():
    """Definition 4, with the M and the norm of which the theorem speaks: in random directions, at random scores."""
    _, given = mixed()
    of, rng = theorem(given), np.random.default_rng(1)
    nearest = np.inf
    for _ in range(200):
        h, g = rng.normal(scale=3.0, size=(2, len(given["y"])))
        beta = rng.normal()
        bound = of.risk(h) + beta * of.gradient(h) @ g + 0.5 * beta**2 * of.M * of.length(g) ** 2
        nearest = min(nearest, (bound - of.risk(h + beta * g)) / bound)
    assert nearest >= 0.0
    np.testing.assert_allclose([of.length(column) for column in of.Z.T], 1.0)
    pairs = np.bincount([*given["pairs"].winner, *given["pairs"].loser], minlength=len(given["y"]))
    weights = 0.5 * (2.0 * pairs + given["labelled"])
    assert of.length(given["X"][:, 3]) ** 2 == pytest.approx(np.mean(weights * given["X"][:, 3].astype(float) ** 2))


def test_a_global_hessian_is_wanted():
    _, given = mixed()
    with pytest.raises(ValueError, match="loss must be a QBRank with hessian='global'"):
        GivenSteps(loss=QBRank(), n_estimators=1).fit(**given)


def test_targets_have_the_least_risk_plus_penalty():
    """Proximal gradient steps, another way to that minimum, come no lower and nearly as low."""
    _, given = mixed()
    of = theorem(given)
    d = of.Z.shape[1]
    steepest = np.abs(of.Z.T @ of.gradient(np.zeros(len(given["y"])))).max()
    for share in (0.5, 0.2):
        risk, norm = of._minimum(share * steepest)
        weights, step = np.zeros(d), 1.0 / np.linalg.norm(of.Z.T * of._weights @ of.Z, 2)
        for _ in range(500):
            moved = weights - step * of.Z.T @ of.gradient(of.Z @ weights)
            weights = np.sign(moved) * np.maximum(np.abs(moved) - step * share * steepest, 0.0)
        reached = of.risk(of.Z @ weights) + share * steepest * np.abs(weights).sum()
        assert risk + share * steepest * norm <= reached * (1.0 + 1e-9)
        assert risk + share * steepest * norm >= reached * 0.999
    assert of._minimum(2.0 * steepest) == (pytest.approx(of._start), pytest.approx(0.0))


@pytest.mark.parametrize("rule", RULES, ids=["searched", "shrinking", "small"])
def test_the_bound_is_the_theorems_and_is_kept_in_every_round(rule):
    part, given = mixed()
    ranker = clone(rule).fit(**given)
    history, of = ranker.history_, theorem(given)
    unit = of._start - of._least
    steps, M = history["length"], of.M

    def b(j):
        return sum(0.5 * M * step**2 for step in steps[j:])

    def side(risk, norm, k):
        a = np.cumsum(steps)
        costs = [(b(0) - b(j + 1)) * (norm + a[j]) / (norm + a[k]) + b(j + 1) - b(k + 1) for j in range(k + 1)]
        return risk + norm / (norm + a[k]) * max(0.0, of._start - risk) + min(costs)

    for k in (0, 1, 7, 39):
        literal = min(side(risk, norm, k) for risk, norm in of._targets)
        assert history["bound"][k] == pytest.approx((literal - of._least) / unit)
    scores = list(ranker.staged_predict(part.X))
    risks = [of.risk(given_scores) for given_scores in scores]
    np.testing.assert_allclose(history["gap"], (np.array(risks) - of._least) / unit, rtol=1e-5, atol=1e-7)
    first = of.length(scores[0])
    second = of.length(scores[1] - scores[0])
    assert [first, second] == pytest.approx(list(steps[:2]), rel=1e-5)
    assert (history["gap"] < history["bound"]).all()
    assert (history["gap"] <= history["tightest"]).all()
    assert (history["gap"] > -1e-9).all()


def test_a_broken_bound_is_told_for_good():
    _, given = mixed()
    of = theorem(given)
    assert of.record(0.0, of._start)["tightest"] >= 1.0  # no step, the risk at the start
    broken = of.record(1e-9, 3.0 * of._start)
    assert broken["tightest"] < broken["gap"]
    later = of.record(0.0, of._least)
    assert later["gap"] < later["bound"]
    assert later["tightest"] < later["gap"]


def test_steps_by_line_search_are_those_of_the_ranker():
    _, given = mixed()
    searched = clone(RULES[0]).fit(**given)
    plain = QuadraticBoundRanker(loss=LINEAR, regressor=BestFeature(), n_estimators=40, learning_rate=1.0)
    plain.fit(**given)
    of = theorem(given)
    unit = of._start - of._least
    np.testing.assert_allclose(searched.history_["gap"] * unit + of._least, plain.history_["risk"], rtol=1e-10)
    assert (np.diff(plain.history_["risk"]) < 0.0).all()


def test_steps_whose_sum_diverges_lead_to_the_infimum():
    _, given = mixed()
    ranker = GivenSteps(loss=LINEAR, exponent=0.75, first=2.0, n_estimators=1500).fit(**given)
    gap, steps = ranker.history_["gap"], ranker.history_["length"]
    np.testing.assert_allclose(steps, steps[0] * np.arange(1, 1501) ** -0.75)
    assert gap[-1] < 0.01
    assert gap[-1] < 0.2 * gap[100]


def test_nothing_to_learn():
    X = np.array([[1.0, 0.0], [1.0, 0.0]])
    pairs_alone = replace(LINEAR, preference_weight=1.0)
    ranker = GivenSteps(loss=pairs_alone, n_estimators=3).fit(X, [1, 0], group=[2])  # equal rows: no pair is ordered
    assert ranker.stop_reason_ == "the risk is minimal"
    assert not ranker.model_.rounds


# --- The protocol ----------------------------------------------------------------------------------------------------

STUDIES = {study.name: study for study in QBRANK.studies}
REAL = {name for name, study in STUDIES.items() if study.source.real}


def names_of(thing):
    """Return the learners, measures and curves that a claim or check names, but the part of a curve."""
    learners = {
        *getattr(thing, "learners", ()),
        *getattr(thing, "others", ()),
        *([thing.learner] if hasattr(thing, "learner") else ()),
    }
    measures = {*getattr(thing, "measures", ()), *([thing.measure] if hasattr(thing, "measure") else ())}
    curves = {getattr(thing, name) for name in ("curve", "bound") if hasattr(thing, name)}
    return learners, measures, curves


@pytest.mark.parametrize("thing", [*QBRANK.claims, *QBRANK.theorems], ids=lambda thing: f"{thing.study}: {thing.text}")
def test_what_is_judged_is_there(thing):
    study = STUDIES[thing.study]
    learners, measures, curves = names_of(thing)
    keys = {measure.key for measure in study.measures}
    assert learners <= {learner.name for learner in study.learners}
    assert learners
    assert measures <= keys
    assert curves <= (keys if getattr(thing, "part", "trace") == "test" else set(study.traces))
    assert measures or curves


def test_claims_follow_the_papers_words():
    for claim in QBRANK.claims:
        assert claim.source.where
        assert len(claim.source.words.split()) > 8
        assert not claim.own_data  # the paper's data are private
    table_1 = [claim for claim in QBRANK.claims if "precision at K% metric" in claim.source.words]
    assert {claim.study for claim in table_1} == {
        "Yandex",
        "NFCorpus",
        "MQ2008",
        "OHSUMED",
        "synthetic",
        "small synthetic",
    }
    for claim in table_1:  # "outperforms both", at each of ten, without a word of significance
        assert claim.others in {("GBT L2",), ("RankSVM P2",)}
        assert len(claim.measures) == 10
        assert claim.share == 1.0
        assert claim.least == 0.0
        assert claim.published.count(" .") == 3 * 10
    significant = [claim for claim in QBRANK.claims if "1% dcg gain" in claim.source.words]
    assert {claim.least for claim in significant} == {0.01}
    assert 2 * len(significant) == len(table_1)
    small = [claim for claim in QBRANK.claims if "prevents the procedure from overfitting" in claim.source.words]
    assert len(small) == 4
    for claim in small:  # of small steps alone: the paper compares them with no others
        assert isinstance(claim, Settles)
        assert claim.learner == "η = 0.05"
    friedman = [claim for claim in QBRANK.claims if "Friedman" in claim.source.words]
    assert friedman
    assert not any(claim.study in REAL for claim in friedman)  # not this paper's claim: never in the headline
    quoted = [citation.words for citation, _ in QBRANK.not_tested]
    assert any("6.181" in words for words in quoted)
    assert all(reason for _, reason in QBRANK.not_tested)


def test_choices_after_a_result_are_told():
    told = [text for text in QBRANK.deviations if text.startswith("choice made after a result:")]
    assert any("share of misordered pairs" in text for text in told)
    assert any("η is .05" in text for text in told)
    assert any("η = .05 loses less than η = 1" in text for text in told)
    assert any("a tenth of the rise" in text and "Table 1" in text for text in told)


def test_single_grades_are_used_where_there_are_some():
    """OHSUMED has one query of a single grade: nothing there is trained on L1."""
    for name in ("Yandex", "NFCorpus", "MQ2008"):
        assert {"GBT L1+L2", "QBRank P2+L1"} <= {learner.name for learner in STUDIES[name].learners}
    uses = {
        learner.use.labels
        for name, study in STUDIES.items()
        if name.startswith("OHSUMED")
        for learner in study.learners
    }
    assert uses == {"L2"}


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
    assert all(claim["holds"] in {"holds", "level", "does not hold"} for claim in document["claims"])
    assert len(document["claims"]) == sum(claim.study.startswith("small") for claim in QBRANK.claims)
    assert not any(study["published_applies"] for study in document["studies"])
    assert "published figures do not apply" in str(result)
    by_name = {
        (study["name"], learner["name"]): learner["test"]
        for study in document["studies"]
        for learner in study["learners"]
    }
    mixed_by = (
        ("small synthetic", "QBRank P2+L1"),
        ("small synthetic, by w", "w = 0.5"),
        ("small synthetic, by η", "η = 0.05"),
    )
    assert by_name[mixed_by[0]]["DCG-5"] == by_name[mixed_by[1]]["DCG-5"] == by_name[mixed_by[2]]["DCG-5"]


def test_real_studies_run_on_made_data(tmp_path):
    """Each kind of them in one fold, four rounds, with its claims and theorems."""
    part = SOURCE.load(None).splits[0]
    names = ("Yandex", "Yandex, in LightGBM", "MQ2008, by η", "MQ2008, Theorem 1", "OHSUMED, Theorem 1")
    studies = tuple(replace(STUDIES[name], rounds=4, source=SOURCE) for name in names)
    checks = [thing for thing in (*QBRANK.claims, *QBRANK.theorems) if thing.study in names]
    paper = replace(
        QBRANK,
        studies=studies,
        claims=tuple(thing for thing in checks if thing in QBRANK.claims),
        theorems=tuple(thing for thing in checks if thing in QBRANK.theorems),
    )
    result = replicate(paper, num_processes=1)
    assert not result.failed
    document = result.document
    assert part.train.n_rows
    assert len(document["claims"]) == 7 + 1
    assert all(check["passes"] for check in document["theorems"])
    assert len(document["theorems"]) == 2 * 4 + 5
