"""The protocol of NDCG_Boost on small data."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from boostplug.datasets import make_ranking
from boostplug.replicate import replicate
from boostplug.replicate.ndcg_boost import NDCG_BOOST
from boostplug.replicate.study import Loaded, Split

ROUNDS = 4


@dataclass(frozen=True)
class Toy:
    """Two folds of a small set."""

    wanted = ""

    def load(self, _):
        parts = [make_ranking(8, n_features=4, mean_list_size=12, random_state=seed) for seed in range(4)]
        return Loaded([Split("", 1, *parts[:3]), Split("", 2, *parts[1:])], as_published=True)


@pytest.fixture(scope="module")
def result():
    names = ("OHSUMED", "OHSUMED, other classifiers", "OHSUMED, trees")
    studies = [replace(study, source=Toy(), rounds=ROUNDS) for study in NDCG_BOOST.studies if study.name in names]
    claims = [claim for claim in NDCG_BOOST.claims if claim.study in names]
    return replicate(replace(NDCG_BOOST, studies=tuple(studies), claims=tuple(claims)), num_processes=1)


def test_every_claim_is_judged(result):
    assert not result.failed
    claims = result.document["claims"]
    assert len(claims) >= 6
    assert {claim["holds"] for claim in claims} <= {True, False}
    json.dumps(result.document, allow_nan=False)


def test_m_falls_whatever_the_data(result):
    held = [claim["holds"] for claim in result.document["claims"] if "bring M" in claim["claim"]]
    assert held == [True, True]


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
