"""Tasks, processes, the store: a run is the same however it is cut up."""

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from replication.toy import Toy
from sklearn.base import clone

from boostplug.metrics import NDCG, PairError
from boostplug.rankers import RankBoostRanker
from studies.replication import replicate
from studies.replication import run as machine
from studies.replication.judging.claims import ranked
from studies.replication.protocol import Citation, Claim, Protocol
from studies.replication.training.study import Learner, Measure, Study
from studies.replication.training.task import Job, marks, run
from studies.sources import Loaded, SingleQueries


@dataclass(frozen=True)
class Against(NDCG):
    """Chooses the round that is worst."""

    greater_is_better: ClassVar[bool] = False


@dataclass(frozen=True)
class SomeQueries(Toy):
    """The folds of the two queries with the most pairs."""

    def load(self, folder):
        split = super().load(folder).splits[0]
        parts = [split.train, split.vali, split.test]
        return Loaded(SingleQueries((), most=2).of_parts(parts).splits, as_published=self.as_published)


CONTINUOUS = Learner(name="Rb-c", ranker=RankBoostRanker, params={"variant": "continuous"})
DISCRETE = Learner(name="Rb-d", ranker=RankBoostRanker, params={"variant": "discrete"})


def said(judge, published=""):
    return Claim(Citation("Table 1", "in this order"), "own variants", "order", judge, published, "toy")


MEASURES = (Measure("R2", PairError("half")), Measure("NDCG@3", NDCG(3), Against(3)))


def protocol(*learners, source=None, **more):
    given = {"source": source or Toy(), "learners": learners or (CONTINUOUS, DISCRETE), **more}
    study = Study(name="toy", rounds=6, measures=MEASURES, traces=("e1",), **given)
    claims = (said(partial(ranked, measure="R2", order=("Rb-c", "Rb-d"))),)
    return Protocol(name="toy", paper="A toy.", studies=(study,), claims=claims, deviations=("it is a toy",))


def job_of(learner, split=0):
    paper = protocol(learner)
    return Job(paper.studies[0], paper.studies[0].source.load(None).splits[split], learner, 0)


# --- One task ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [Toy(), SomeQueries()], ids=["queries", "one query"])
def test_a_task_is_what_fit_says_with_validation_sets(source):
    """The ranker's own record of its validation sets gives rounds and values; one query goes another way in here."""
    study = protocol(CONTINUOUS, source=source).studies[0]
    split = source.load(None).splits[1]
    value = run(Job(study, split, CONTINUOUS, 0))["value"]
    parts = (split.train, split.vali, split.test)
    ranker = RankBoostRanker(variant="continuous", n_estimators=6, random_state=0)
    judged = {"eval_set": [(part.X, part.y) for part in parts], "eval_group": [part.group for part in parts]}
    judged["eval_metric"] = [PairError("half"), NDCG(3)]
    ranker.fit(split.train.X, split.train.y, group=split.train.group, **judged)
    train, vali, test = ranker.evals_result_.values()
    r2 = int(np.argmin(vali["PairError(half)"]))
    worst = int(np.argmin(vali["NDCG@3"]))
    assert value["round"] == {"R2": r2 + 1, "NDCG@3": worst + 1}
    for part, by_round in (("train", train), ("vali", vali), ("test", test)):
        assert value[part]["R2"] == pytest.approx(by_round["PairError(half)"][r2], abs=1e-12)
        assert value[part]["NDCG@3"] == pytest.approx(by_round["NDCG@3"][worst], abs=1e-12)
        expected = [by_round["NDCG@3"][r - 1] for r in marks(6)]
        assert value["curves"][part]["NDCG@3"] == pytest.approx(expected, abs=1e-6)
    assert value["curves"]["trace"]["e1"] == pytest.approx(ranker.history_["e1"][[0, 1, 2, 4, 5]], abs=1e-6)
    if split.test.n_queries > 1:
        every_round = clone(ranker).fit(split.train.X, split.train.y, group=split.train.group)  # not up to the best one
        scores = list(every_round.staged_predict(split.test.X))[r2]
        expected = PairError("half").per_query(scores, split.test.queries)
        assert value["per_query"]["R2"] == [None if np.isnan(v) else v for v in expected]


def test_the_grid_is_searched_on_validation():
    grid = ({"variant": "discrete"}, {"variant": "continuous"}, {"max_thresholds": 2})
    mixed = Learner(name="any", ranker=RankBoostRanker, grid=grid)
    job = job_of(mixed)
    value = run(job)["value"]
    single = [run(job_of(Learner(name="x", ranker=RankBoostRanker, params=params)))["value"] for params in grid]
    best = min(range(3), key=lambda i: single[i]["vali"]["R2"])
    assert value["candidate"]["R2"] == best
    for key in ("train", "vali", "test", "round", "per_query"):
        assert value[key]["R2"] == single[best][key]["R2"]


# --- Processes and resumption ----------------------------------------------------------------------------------------


def test_two_processes_give_what_one_gives(tmp_path):
    one = replicate(protocol(), json=tmp_path / "one.json", num_processes=1)
    two = replicate(protocol(), json=tmp_path / "two.json", num_processes=2)
    assert one.document == two.document == json.loads((tmp_path / "one.json").read_text())
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "two.json"]


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    whole = replicate(protocol(), num_processes=1)
    path, worked = tmp_path / "out.json", []

    def until_third(job):
        if len(worked) == 2:
            raise KeyboardInterrupt
        worked.append(job.key)
        return run(job)

    monkeypatch.setattr(machine, "run", until_third)
    with pytest.raises(KeyboardInterrupt):
        replicate(protocol(), json=path, num_processes=1)
    assert not path.exists()
    parts = tmp_path / "out.json.parts"
    assert parts.exists()

    again = []
    monkeypatch.setattr(machine, "run", lambda job: again.append(job.key) or run(job))
    result = replicate(protocol(), json=path, num_processes=1)
    assert len(again) == 2
    assert not set(again) & set(worked)
    assert result.document == whole.document == json.loads(path.read_text())
    assert not parts.exists()


def test_a_failed_task_is_reported_and_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    broken = Learner(name="Rb-d", ranker=RankBoostRanker, params={"variant": "none such"})
    result = replicate(protocol(CONTINUOUS, broken), json=path, num_processes=1)
    assert result.failed
    errors = result.document["studies"][0]["errors"]
    assert list(errors) == ["fold 1 Rb-d", "fold 2 Rb-d"]
    assert "variant must be one of" in errors["fold 1 Rb-d"]
    assert "FAILED fold 1 Rb-d: ValueError: variant" in str(result.full)
    assert "2 trainings FAILED; --full lists them." in str(result.summary)
    assert result.document["claims"][0]["ours"] == "not judged: tasks failed"
    again = []
    monkeypatch.setattr(machine, "run", lambda job: again.append(job.learner.name) or run(job))
    replicate(protocol(CONTINUOUS, broken), json=path, num_processes=1)
    assert again == ["Rb-d", "Rb-d"]


# --- What comes out --------------------------------------------------------------------------------------------------


def test_a_pooled_metric_is_jackknifed_over_blocks_of_queries():
    """Of a mean of queries as many as blocks the pseudo-values would be its values; of shares of pairs see by hand."""
    pooled = Measure("pairs", PairError("half", pooled=True))
    study = replace(protocol(CONTINUOUS).studies[0], measures=(pooled,))
    split = Toy().load(None).splits[0]
    value = run(Job(study, split, CONTINUOUS, 0))["value"]
    units = value["per_query"]["pairs"]
    ranker = RankBoostRanker(variant="continuous", n_estimators=6, random_state=0)
    ranker.fit(split.train.X, split.train.y, group=split.train.group)
    scores = list(ranker.staged_predict(split.test.X))[value["round"]["pairs"] - 1]
    shares = PairError("half").per_query(scores, split.test.queries)
    pairs, runs = np.zeros(len(shares)), split.test.queries.grade_groups
    pairs[runs.query] = runs.n_pairs
    without = [np.nansum(np.delete(shares * pairs, q)) / np.delete(pairs, q).sum() for q in range(len(pairs))]
    whole = np.nansum(shares * pairs) / pairs.sum()
    expected = whole - (len(pairs) - 1) * (np.array(without) - np.mean(without))
    np.testing.assert_allclose(units, expected, atol=1e-12)
    assert np.mean(units) == pytest.approx(value["test"]["pairs"], abs=1e-12)
