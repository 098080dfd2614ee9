"""The protocol of MPBoost: what its claims name, small runs, its measure, its sources."""

import gzip
import json
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest

from boostplug import Queries
from boostplug.datasets import make_ranking
from boostplug.metrics import NDCG
from boostplug.studies.replication import replicate
from boostplug.studies.replication.claims import Ahead, AheadOfPublished, ChosenNear, Near
from boostplug.studies.replication.curve_claims import Lasts, OverfitsEarly, Settles, Worsens
from boostplug.studies.replication.mpboost import MPBOOST, FormulaNDCG
from boostplug.studies.replication.sources import Fifths, OwnSplit, QueryFolds
from boostplug.studies.replication.study import Loaded, Split
from boostplug.studies.replication.task import marks

STUDIES = {study.name: study for study in MPBOOST.studies}


@dataclass(frozen=True)
class Toy:
    """Two folds of a small set."""

    as_published: bool = True
    wanted = ""
    real = True

    def load(self, _):
        parts = [make_ranking(8, n_features=4, mean_list_size=12, random_state=seed) for seed in range(4)]
        return Loaded([Split("", 1, *parts[:3]), Split("", 2, *parts[1:])], as_published=self.as_published)


def small(protocol, *names, source=None, rounds=101):
    """Return some studies of a protocol on a toy set, with all that is claimed of them."""
    studies = [replace(STUDIES[name], source=source or Toy(), rounds=rounds) for name in names]
    claims = [claim for claim in protocol.claims if claim.study in names]
    theorems = [check for check in protocol.theorems if check.study in names]
    return replace(protocol, studies=tuple(studies), claims=tuple(claims), theorems=tuple(theorems))


# --- The protocol, read --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", MPBOOST.claims, ids=lambda claim: f"{claim.study}: {claim.text[:40]}")
def test_a_claim_names_what_its_study_has(claim):
    study = STUDIES[claim.study]
    learners = {learner.name: learner for learner in study.learners}
    keys = {measure.key for measure in study.measures}
    named = {*getattr(claim, "learners", ()), *getattr(claim, "others", ()), getattr(claim, "learner", "BINARY")}
    assert named <= learners.keys()
    assert {*getattr(claim, "measures", ()), getattr(claim, "measure", "NDCG@5")} <= keys
    assert len(set(getattr(claim, "measures", ()))) == len(getattr(claim, "measures", ()))
    if isinstance(claim, AheadOfPublished):
        assert all(measure in study.published[row] for row in claim.rows for measure in claim.measures)
    if isinstance(claim, Near):
        figure = f"{study.published[claim.row][claim.measure]:.4f}"
        assert claim.published == f"about {claim.offset:.3f} (LETOR: {figure})".replace("0.", ".", 1)
        assert claim.tolerance < abs(claim.offset)  # who is ahead does not lag
    if isinstance(claim, Worsens | Lasts):
        assert claim.since in marks(study.rounds)[:-1]
    if isinstance(claim, OverfitsEarly):
        assert claim.by == marks(study.rounds)[-2]
    if isinstance(claim, Ahead | AheadOfPublished) and len(claim.measures) > 1:
        assert "average" in claim.text  # it decides beside the cut-offs
    if isinstance(claim, ChosenNear):
        name, attribute = claim.parameter.split(".")
        own = sorted(getattr(params[name], attribute) for params in learners[claim.learner].grid)
        assert f"{claim.value + claim.tolerance:g}" == f"{own[1]:g}"  # as its text says


def test_every_claim_is_quoted_and_stands_once():
    assert len({(claim.study, type(claim), claim.text, claim.source) for claim in MPBOOST.claims}) == len(
        MPBOOST.claims
    )
    sources = [claim.source for claim in MPBOOST.claims] + [source for source, _ in MPBOOST.not_tested]
    assert all(source.where.startswith(("Abstract", "Section ")) and len(source.words) > 20 for source in sources)
    assert len({source.words for source in sources}) == len(set(sources))  # no words are cited from two places
    assert not {claim.source for claim in MPBOOST.claims} & {source for source, _ in MPBOOST.not_tested}


def test_only_the_papers_own_sets_are_its_own():
    assert {claim.study for claim in MPBOOST.claims if claim.own_data} == {"OHSUMED", "IMAT2009"}
    assert all(claim.own_data for claim in MPBOOST.claims if claim.study in {"OHSUMED", "IMAT2009"})
    assert {name for name, study in STUDIES.items() if not study.source.real} == {"bundled set", "bundled set, trees"}


def test_what_the_paper_says_of_web_1_and_web_2_is_judged_where_each_stands_in():
    of = {name: {claim.source for claim in MPBOOST.claims if claim.study == name} for name in STUDIES}
    assert of["Yandex"] == of["IMAT2009"]
    assert of["MSLR"] < of["Yandex, five grades"]
    assert of["MQ2008"] < of["OHSUMED"]


def test_the_directions_of_web_1():
    """LDD behind, the others ahead of BINARY; and what Section 5.4 says of all three, against that."""
    pairs = [
        (claim.learners[0], claim.others[0])
        for claim in MPBOOST.claims
        if claim.study == "Yandex" and "BINARY" in claim.text and claim.about == "own variants"
    ]
    assert pairs == [("LOGDD", "BINARY"), ("LOGITDD", "BINARY"), ("BINARY", "LDD"), ("LDD", "BINARY")]


def test_what_is_said_of_all_experiments_is_judged_from_each_curves_own_best_round():
    """Round 100 stands for the 90th of Figure 6, on what stands in for Web-2 alone."""
    of = {
        kind: {(claim.study, claim.source.where) for claim in MPBOOST.claims if isinstance(claim, kind)}
        for kind in (OverfitsEarly, Settles, Worsens)
    }
    experiments = {(study, "Section 5.5") for study in ("OHSUMED", "MQ2008", "IMAT2009", "Yandex")}
    assert of[OverfitsEarly] == experiments
    assert of[Settles] == experiments | {("bundled set", "Section 5.5")}
    assert of[Worsens] == {("Yandex, five grades", "Section 5.5, Figure 6")}


def test_binary_is_a_baseline_and_is_ahead_of_rankboost():
    """Section 5.3 has it among the baselines, Section 5.4 among those that outperform RankBoost."""
    for study in ("OHSUMED", "MQ2008", "bundled set"):
        claims = [claim for claim in MPBOOST.claims if claim.study == study and isinstance(claim, Ahead)]
        nearly = [claim.others for claim in claims if "nearly all" in claim.source.words]
        assert nearly == [("RankBoost", "AdaRank-NDCG", "BINARY")] * 3
        ahead = [claim.learners for claim in claims if "consistently outperform RankBoost" in claim.source.words]
        assert ahead == [("BINARY",), ("LDD",), ("LOGDD",), ("LOGITDD",)]


def test_theorems_name_traces():
    for check in MPBOOST.theorems:
        study = STUDIES[check.study]
        assert {check.curve, check.bound} <= set(study.traces)
        assert check.learner in {learner.name for learner in study.learners}
    assert len(MPBOOST.theorems) == 4 * len({check.study for check in MPBOOST.theorems})


def test_the_grids_hold_the_parameters_of_figure_2_first():
    first = {learner.name: learner.grid[0].get("distance") for learner in STUDIES["OHSUMED"].learners}
    assert repr(first["LDD"]) == "LinearDistance(alpha=0.2)"
    assert repr(first["LOGDD"]) == "LogDistance(lam=3.0)"
    assert repr(first["LOGITDD"]) == "LogisticDistance(beta=0.5)"
    sizes = {learner.name: len(learner.grid) for learner in STUDIES["Yandex"].learners}
    assert sizes == {"BINARY": 1, "LDD": 5, "LOGDD": 5, "LOGITDD": 5, "RankBoost": 1, "AdaRank-NDCG": 1}


# --- Small runs ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def document():
    result = replicate(small(MPBOOST, "OHSUMED", "MSLR", "Yandex, five grades"), num_processes=1)
    assert not result.failed
    json.dumps(result.document, allow_nan=False)
    return result.document


def test_every_claim_is_judged(document):
    assert len(document["claims"]) >= 50
    assert {claim["holds"] for claim in document["claims"]} <= {"holds", "level", "does not hold"}


def test_theorem_1_holds_whatever_the_data(document):
    assert [check["passes"] for check in document["theorems"]] == [True] * 12


def test_one_fold_is_enough():
    parts = [make_ranking(8, n_features=4, mean_list_size=12, random_state=seed) for seed in range(3)]

    class OneFold(Toy):
        def load(self, _):
            return Loaded([Split("", 1, *parts)])

    result = replicate(small(MPBOOST, "MSLR", "MSLR, trees", source=OneFold(), rounds=4), num_processes=1)
    assert not result.failed
    assert all(claim["holds"] is not None for claim in result.document["claims"])
    assert "FAILED" not in str(result)


def test_published_figures_need_the_published_data():
    document = replicate(small(MPBOOST, "OHSUMED", source=Toy(as_published=False)), num_processes=1).document
    open_ones = [claim["claim"] for claim in document["claims"] if claim["holds"] is None]
    assert len(open_ones) == 13
    assert all("LETOR's" in text for text in open_ones)


# --- The measure ---------------------------------------------------------------------------------------------------


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


def test_a_query_without_relevant_documents_is_left_out():
    queries = Queries([0, 0, 1, 0], group=[2, 2])
    assert np.isnan(FormulaNDCG(5).per_query([1.0, 2.0, 3.0, 4.0], queries)[0])
    assert FormulaNDCG(5)([1.0, 2.0, 4.0, 3.0], queries) == 1.0


# --- Sources -------------------------------------------------------------------------------------------------------


def assert_folds(loaded):
    """All queries are tested once, and no query is in two parts."""
    assert [split.fold for split in loaded.splits] == [1, 2, 3, 4, 5]
    tested = np.concatenate([np.unique(split.test.qid) for split in loaded.splits])
    assert len(tested) == len(np.unique(tested))
    for split in loaded.splits:
        parts = [set(part.qid.tolist()) for part in (split.train, split.vali, split.test)]
        assert all(a.isdisjoint(b) for a, b in combinations(parts, 2))
        assert set.union(*parts) == set(tested.tolist())


def write_fifths(folder, suffix=".txt"):
    """Write five files of two queries, of judgements .0, .1, .2, …; the third and the fourth use a feature more."""
    folder.mkdir()
    for k in range(1, 6):
        lines = [f"{0.1 * i} qid:{10 * k + i // 2} 1:{k}" + " 3:1" * (k in {3, 4}) for i in range(4)]
        text = "\n".join(lines) + "\n"
        if suffix == ".txt":
            (folder / f"S{k}.txt").write_text(text)
        else:
            (folder / f"S{k}.txt.gz").write_bytes(gzip.compress(text.encode()))


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_a_set_in_fifths(tmp_path, suffix):
    write_fifths(tmp_path / "Yandex", suffix)
    (tmp_path / "Yandex" / "S6.txt").write_text("0 qid:1 1:1\n")
    source = Fifths("yandex", scale=10.0)
    loaded = source.load(tmp_path)
    assert_folds(loaded)
    assert [split.test.X[0, 0] for split in loaded.splits] == [5, 1, 2, 3, 4]
    assert [split.vali.X[0, 0] for split in loaded.splits] == [4, 5, 1, 2, 3]
    assert np.unique(loaded.splits[0].train.X[:, 0]).tolist() == [1, 2, 3]
    assert loaded.splits[0].test.X.shape == (4, 3)
    np.testing.assert_allclose(loaded.splits[0].test.y, [0.0, 1.0, 2.0, 3.0])
    assert loaded.notes == ("10 queries, 20 documents, 4 different grades from 0 to 3.",)
    assert not loaded.as_published
    five = Fifths("yandex", edges=(0.05, 0.2)).load(tmp_path)
    assert five.splits[0].test.y.tolist() == [0.0, 1.0, 2.0, 2.0]
    assert source.load(None) is None
    assert Fifths("other").load(tmp_path) is None
    (tmp_path / "Yandex" / f"S3{suffix}").unlink()
    assert source.load(tmp_path) is None


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
