"""The protocol of NDCG_Boost on small data."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from boostplug.datasets import make_ranking
from boostplug.studies.replication import replicate
from boostplug.studies.replication.claims import Ahead
from boostplug.studies.replication.letor import GOV
from boostplug.studies.replication.ndcg_boost import NDCG_BOOST
from boostplug.studies.replication.study import Loaded, Split

ROUNDS = 4


@dataclass(frozen=True)
class Toy:
    """Two folds of a small set."""

    wanted = ""
    real = True

    def load(self, _):
        parts = [make_ranking(8, n_features=4, mean_list_size=12, random_state=seed) for seed in range(4)]
        return Loaded([Split("", 1, *parts[:3]), Split("", 2, *parts[1:])], as_published=True)


STUDIES = {study.name: study for study in NDCG_BOOST.studies}
PARTS = ("OHSUMED", "OHSUMED, other classifiers", "OHSUMED, trees", "TD2003")


PARTS_OF_FIGURE_1 = {"OHSUMED", "MQ2008", "bundled set", *GOV}


@pytest.fixture(scope="module")
def result():
    studies = tuple(replace(STUDIES[name], source=Toy(), rounds=ROUNDS) for name in PARTS)
    kept = {
        field: tuple(one for one in getattr(NDCG_BOOST, field) if one.study in PARTS)
        for field in ("claims", "theorems")
    }
    return replicate(replace(NDCG_BOOST, studies=studies, **kept), num_processes=1)


def test_every_claim_is_judged(result):
    assert not result.failed
    claims = result.document["claims"]
    assert len(claims) == sum(claim.study in PARTS for claim in NDCG_BOOST.claims) == 11
    assert {claim["holds"] for claim in claims} <= {"holds", "level", "does not hold"}
    json.dumps(result.document, allow_nan=False)


def test_claims_name_what_their_studies_have():
    for claim in NDCG_BOOST.claims:
        study = STUDIES[claim.study]
        named = [getattr(claim, field, ()) for field in ("learners", "others", "learner")]
        learners = {name for one in named for name in ((one,) if isinstance(one, str) else one)}
        assert learners <= {learner.name for learner in study.learners}
        keys = {measure.key for measure in study.measures} | set(study.traces)
        measures = [getattr(claim, field, ()) for field in ("measures", "measure", "curve")]
        assert {key for one in measures for key in ((one,) if isinstance(one, str) else one)} <= keys
        for row in getattr(claim, "rows", ()):
            assert set(claim.against) <= set(study.published[row])
        assert claim.source.words
        assert claim.own_data == (not claim.study.startswith(("MQ2008", "bundled set")))


def test_m_falls_whatever_the_data(result):
    assert [check["passes"] for check in result.document["theorems"]] == [True, True]


def test_ndcg_boost_is_judged_after_its_last_round_and_baselines_by_validation():
    for claim in NDCG_BOOST.claims:
        if isinstance(claim, Ahead) and "Regression" not in claim.learners:
            assert all(measure.endswith(", after the last round") for measure in claim.measures)
            assert [measure.partition(",")[0] for measure in claim.measures] == list(claim.against)


def test_the_best_at_almost_all_cut_offs_is_ahead_of_all_baselines_at_once():
    almost = [claim for claim in NDCG_BOOST.claims if isinstance(claim, Ahead) and claim.share == 0.9]
    assert len(almost) == len(PARTS_OF_FIGURE_1)
    assert {claim.study for claim in almost} == PARTS_OF_FIGURE_1
    assert all(claim.best for claim in almost)


def test_sets_of_gov_are_known_by_their_queries(tmp_path):
    """The paper's numbers of documents are not asked for."""
    assert {name: source.n_queries for name, source in GOV.items()} == {
        "TD2003": 50,
        "TD2004": 75,
        "HP2003": 75,
        "HP2004": 75,
        "NP2003": 150,
    }
    assert {STUDIES[name].source for name in GOV} == set(GOV.values())
    for n_queries, folder in ((10, "TD2003"), (9, "HP2003")):
        for fold in range(1, 6):
            into = tmp_path / folder / f"Fold{fold}"
            into.mkdir(parents=True)
            lines = "".join(f"{q % 2} qid:{fold * 100 + q} 1:0.5\n" for q in range(n_queries))
            for part in ("train", "vali", "test"):
                (into / f"{part}.txt").write_text(lines)
    assert GOV["TD2003"].load(tmp_path).as_published
    assert not GOV["HP2003"].load(tmp_path).as_published
    assert GOV["NP2003"].load(tmp_path) is None


def test_the_last_round_is_taken_without_validation(result):
    study = result.document["studies"][0]
    for learner in study["learners"]:
        last = learner["round"]["NDCG@3, after the last round"]
        if learner["name"].startswith("NDCG_Boost"):
            assert last == ROUNDS
            test = learner["test"]["NDCG@3, after the last round"]
            assert test == pytest.approx(learner["curves"]["test"]["NDCG@3"][-1], abs=1e-6)
    chosen = [learner["round"]["NDCG@3"] for learner in study["learners"]]
    assert min(chosen) < ROUNDS  # by validation, on the other hand


def test_seeds_draw_other_documents(result):
    ends = [
        learner["curves"]["trace"]["m"][-1]
        for learner in result.document["studies"][0]["learners"]
        if "seed" in learner["name"]
    ]
    assert len(np.unique(ends)) == len(ends) == 5
