"""The papers' protocols: what they name exists, and each runs from its data to its verdicts."""

import json

import numpy as np
import pytest
from replication.toy import Toy, small

from boostplug import Queries
from boostplug.datasets import make_ranking
from boostplug.metrics import NDCG
from boostplug.rankers import RankBoostRanker
from studies.replication import PAPERS, replicate
from studies.replication.judging.claims import ahead, best
from studies.replication.papers.mpboost import FormulaNDCG
from studies.replication.papers.rankboost_plus import HaltingRankBoost
from studies.replication.training.preferences import SharedGrades
from studies.sources import BundledQueries

STUDIES = {name: {study.name: study for study in paper.studies} for name, paper in PAPERS.items()}


def named(keywords, *fields):
    """Return all names that some arguments give, each alone or in a sequence."""
    found = [keywords.get(field, ()) for field in fields]
    return {name for one in found for name in ((one,) if isinstance(one, str) else one)}


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_judged_is_in_the_study(name):
    paper = PAPERS[name]
    for part in (*paper.claims, *paper.theorems, *paper.baselines):
        study, keywords = STUDIES[name][part.study], part.judge.keywords
        beside = keywords.get("beside", ())
        learners = named(keywords, "learners", "others", "learner", "other", "order", "near", "far")
        assert learners | {of for of, _ in beside} <= {learner.name for learner in study.learners}
        keys = {measure.key for measure in study.measures}
        against = named(keywords, "against") if part.judge.func in {ahead, best} else set()
        assert named(keywords, "measures", "measure", "than") | against <= keys
        curves = named(keywords, "curve", "bound") | {curve for _, curve in beside}
        assert curves <= (keys if keywords.get("part") == "test" else {*study.traces})
        measures = keywords.get("against") or named(keywords, "measures", "measure")
        for row in named(keywords, "rows", "row"):
            assert {*measures} <= study.published[row].keys()


# --- RankBoost+ ------------------------------------------------------------------------------------------------------


def document_of(paper):
    """Run a protocol, and return its document: every claim is judged, and every theorem passes."""
    result = replicate(paper, num_processes=1)
    assert not result.failed
    document = result.document
    assert len(document["claims"]) == len(paper.claims)
    assert {claim["holds"] for claim in document["claims"]} <= {"holds", "level", "does not hold"}
    assert [check["check"] for check in document["theorems"] if not check["passes"]] == []
    assert len(document["theorems"]) == len(paper.theorems)
    json.dumps(document, allow_nan=False)
    return document


def test_rankboost_plus_runs():
    of_queries = [name for name in STUDIES["rankboost-plus"] if name.startswith("bundled set, queries")]
    document = document_of(small("rankboost-plus", of_queries, 12, BundledQueries(most=3)))
    assert (len(document["claims"]), len(document["theorems"])) == (29, 10)


def test_rb_d_halts_before_the_round_in_which_its_weight_is_undefined():
    data = make_ranking(1, n_features=3, mean_list_size=30, n_grades=3, random_state=5)
    params = {"variant": "discrete", "n_estimators": 100, "random_state": 0}
    halting, whole = (
        kind(**params).fit(data.X, data.y, group=data.group) for kind in (HaltingRankBoost, RankBoostRanker)
    )
    at = int(np.argmax(whole.history_["undefined"] > 0))
    assert at > 1
    assert halting.stop_reason_ == "(14) is undefined"
    assert halting.history_["halted"].tolist() == [0.0] * at + [1.0]
    assert halting.history_["e1"][:at].tolist() == whole.history_["e1"][:at].tolist()
    assert halting.history_["e1"][at] == halting.history_["e1"][at - 1] > whole.history_["e1"][at]
    np.testing.assert_allclose(halting.predict(data.X), list(whole.staged_predict(data.X))[at - 1], rtol=1e-12)


# --- AdaRank ---------------------------------------------------------------------------------------------------------


def test_adarank_runs():
    toy = Toy(n_queries=12, n_features=45, n_grades=3)
    document = document_of(small("adarank", ("OHSUMED", "OHSUMED, LETOR's measures", "MQ2008"), 5, toy))
    assert (len(document["claims"]), len(document["baselines"])) == (26, 8)


# --- QBRank ----------------------------------------------------------------------------------------------------------


def test_qbrank_runs_without_data_and_with():
    tiny = SharedGrades(n_tasks=2, n_queries=(6, 6, 3, 4), size=20, small=True)
    without = [name for name in STUDIES["qbrank"] if name.startswith("small synthetic")]
    document = document_of(small("qbrank", without, 2, tiny))
    by_name = {(s["name"], learner["name"]): learner["test"] for s in document["studies"] for learner in s["learners"]}
    mixed = ("", "QBRank P2+L1"), (", by η", "η = 0.05")
    assert len({by_name[f"small synthetic{study}", learner]["DCG-5"] for study, learner in mixed}) == 1
    real = ("Yandex", "MQ2008, by η", "MQ2008, Theorem 1", "OHSUMED, Theorem 1")
    document = document_of(small("qbrank", real, 4, tiny))
    assert (len(document["claims"]), len(document["theorems"])) == (7 + 1, 2 * 4 + 5)


# --- MPBoost ---------------------------------------------------------------------------------------------------------


def test_mpboost_runs_in_one_fold_too():
    document = document_of(small("mpboost", ("OHSUMED", "MSLR", "Yandex, five grades"), 101, Toy()))
    assert (len(document["claims"]), len(document["theorems"])) == (56, 12)
    document_of(small("mpboost", ("MSLR",), 4, Toy(n_folds=1)))


def by_the_formula(y, scores, k):
    """Section 5.2, literally, for scores without ties."""

    def total(order):
        return sum((2.0 ** y[i] - 1.0) / (1.0 if j == 1 else np.log2(j)) for j, i in enumerate(order[:k], 1))

    return total(np.argsort(-scores)) / total(np.argsort(-y))


def test_ndcg_by_the_formula_of_section_5_2():
    random = np.random.default_rng(0)
    group = [1, 2, 3, 7, 30]
    queries = Queries(random.uniform(0.0, 4.0, sum(group)), group=group)
    scores = random.normal(size=sum(group))
    for k in (1, 2, 5, 10):
        parts = zip(*(np.split(values, np.cumsum(group)[:-1]) for values in (queries.labels, scores)), strict=True)
        expected = [by_the_formula(y, s, k) for y, s in parts]
        np.testing.assert_allclose(FormulaNDCG(k).per_query(scores, queries), expected)
        letor = NDCG(k, convention="letor").per_query(scores, queries)  # on the same queries: nothing is shared
        np.testing.assert_allclose(letor, np.where(np.array(group) < k, 0.0, expected))
    queries = Queries([0, 0, 1, 0], group=[2, 2])  # without relevant documents: left out
    assert np.isnan(FormulaNDCG(5).per_query([1.0, 2.0, 3.0, 4.0], queries)[0])
    assert FormulaNDCG(5)([1.0, 2.0, 4.0, 3.0], queries) == 1.0


# --- NDCG_Boost ------------------------------------------------------------------------------------------------------


def test_ndcg_boost_runs_and_takes_its_last_round_without_validation():
    document = document_of(small("ndcg-boost", ("OHSUMED", "TD2003"), 4, Toy()))
    assert len(document["claims"]) == 11
    learners = document["studies"][0]["learners"]
    for learner in learners:
        if learner["name"].startswith("NDCG_Boost"):
            assert learner["round"]["NDCG@3, after the last round"] == 4
    assert min(learner["round"]["NDCG@3"] for learner in learners) < 4  # by validation, on the other hand
    ends = [learner["curves"]["trace"]["m"][-1] for learner in learners if "seed" in learner["name"]]
    assert len({*ends}) == len(ends) == 5  # seeds draw other documents
