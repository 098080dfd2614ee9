"""The protocol of MPBoost on small data, and its sources."""

import json
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest

from boostplug.datasets import make_ranking
from boostplug.replicate import replicate
from boostplug.replicate.mpboost import MPBOOST
from boostplug.replicate.sources import OwnSplit, QueryFolds, RealGrades
from boostplug.replicate.study import Loaded, Split


@dataclass(frozen=True)
class Toy:
    """Two folds of a small set."""

    as_published: bool = True
    wanted = ""

    def load(self, _):
        parts = [make_ranking(8, n_features=4, mean_list_size=12, random_state=seed) for seed in range(4)]
        return Loaded([Split("", 1, *parts[:3]), Split("", 2, *parts[1:])], as_published=self.as_published)


def small(protocol, *names, source=None):
    """Return some studies of a protocol on a toy set, for 4 rounds, with all that is claimed of them."""
    studies = [replace(study, source=source or Toy(), rounds=4) for study in protocol.studies if study.name in names]
    claims = [claim for claim in protocol.claims if claim.study in names]
    return replace(protocol, studies=tuple(studies), claims=tuple(claims))


@pytest.fixture(scope="module")
def document():
    result = replicate(small(MPBOOST, "OHSUMED", "OHSUMED, trees", "MSLR"), num_processes=1)
    assert not result.failed
    json.dumps(result.document, allow_nan=False)
    return result.document


def test_every_claim_is_judged(document):
    assert len(document["claims"]) >= 6
    assert {claim["holds"] for claim in document["claims"]} <= {True, False}


def test_theorem_1_holds_whatever_the_data(document):
    held = [claim["holds"] for claim in document["claims"] if claim["claim"].startswith("Theorem 1")]
    assert held == [True] * 8


def test_the_grids_hold_the_parameters_of_figure_2_first(document):
    study = document["studies"][0]
    first = {learner["name"]: learner["grid"][0].get("distance") for learner in study["learners"]}
    assert first["LDD"] == "LinearDistance(alpha=0.2)"
    assert first["LOGDD"] == "LogDistance(lam=3.0)"
    assert first["LOGITDD"] == "LogisticDistance(beta=0.5)"
    sizes = {learner["name"]: len(learner["grid"]) for learner in study["learners"]}
    assert sizes == {"BINARY": 1, "LDD": 5, "LOGDD": 5, "LOGITDD": 5, "RankBoost": 1, "AdaRank-NDCG": 1}


def test_one_fold_is_enough():
    parts = [make_ranking(8, n_features=4, mean_list_size=12, random_state=seed) for seed in range(3)]

    class OneFold(Toy):
        def load(self, _):
            return Loaded([Split("", 1, *parts)])

    result = replicate(small(MPBOOST, "MSLR", source=OneFold()), num_processes=1)
    assert not result.failed
    assert all(claim["holds"] is not None for claim in result.document["claims"])
    assert "FAILED" not in str(result)


def test_published_figures_need_the_published_data():
    document = replicate(small(MPBOOST, "OHSUMED", source=Toy(as_published=False)), num_processes=1).document
    open_ones = [claim["claim"] for claim in document["claims"] if claim["holds"] is None]
    assert open_ones
    assert all(text.startswith("Figure 3") for text in open_ones)


# --- Sources -------------------------------------------------------------------------------------------------------


def test_real_grades():
    source = RealGrades(beside=("ohsumed",), n_queries=120)
    loaded = source.load(None)
    y = np.concatenate([split.test.y for split in loaded.splits])
    group = np.concatenate([split.test.group for split in loaded.splits])
    assert len(group) == 120
    assert 8 < group.mean() < 13
    assert len(y) >= 1000
    assert y.min() == 0.0
    assert 2.0 < y.max() <= 4.0
    assert len(np.unique(y)) > 20
    assert "120 queries" in loaded.notes[0]
    assert loaded.digest == source.load(None).digest != RealGrades(beside=(), n_queries=120, seed=1).load(None).digest
    assert_folds(loaded)


def assert_folds(loaded):
    """All queries are tested once, and no query is in two parts."""
    assert [split.fold for split in loaded.splits] == [1, 2, 3, 4, 5]
    tested = np.concatenate([np.unique(split.test.qid) for split in loaded.splits])
    assert len(tested) == len(np.unique(tested))
    for split in loaded.splits:
        parts = [set(part.qid.tolist()) for part in (split.train, split.vali, split.test)]
        assert all(a.isdisjoint(b) for a, b in combinations(parts, 2))
        assert set.union(*parts) == set(tested.tolist())


def test_real_grades_accompany_a_set_that_is_there(tmp_path):
    source = RealGrades(beside=("ohsumed",), n_queries=20)
    assert source.load(tmp_path) is None
    for f in (1, 2):
        (tmp_path / "ohsumed" / f"Fold{f}").mkdir(parents=True)
    assert source.load(tmp_path) is not None


def test_sets_without_folds(tmp_path):
    lines = "".join(f"{0.25 * (q % 4)} qid:{q} 1:0.5\n0 qid:{q} 1:0.{q}\n" for q in range(1, 21))
    (tmp_path / "IMAT-2009").mkdir()
    (tmp_path / "IMAT-2009" / "learning.txt").write_text(lines)
    source = QueryFolds(("imat2009",), n_queries=20)
    loaded = source.load(tmp_path)
    assert loaded.as_published
    assert_folds(loaded)
    assert not QueryFolds(("imat2009",), n_queries=9124).load(tmp_path).as_published
    assert loaded.digest != QueryFolds(("imat2009",), n_queries=20, seed=1).load(tmp_path).digest
    assert source.load(None) is None
    assert QueryFolds(("other",), n_queries=20).load(tmp_path) is None


def test_a_split_of_its_own(tmp_path):
    (tmp_path / "mslr").mkdir()
    for q, part in enumerate(("train", "vali", "test")):
        (tmp_path / "mslr" / f"{part}.txt").write_text(f"1 qid:{q} 1:0.5\n0 qid:{q} 1:1\n")
    (split,) = OwnSplit(("mslr",)).load(tmp_path).splits
    assert [int(part.qid[0]) for part in (split.train, split.vali, split.test)] == [0, 1, 2]
    assert OwnSplit(("mslr",)).load(None) is None
    assert OwnSplit(("other",)).load(tmp_path) is None
