"""Tasks, processes, the store: a run is the same however it is cut up."""

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from studies.replication.toy import Toy

from boostplug.comparison.training.store import Store, head_of
from boostplug.comparison.training.workers import in_processes
from boostplug.metrics import NDCG, PairError
from boostplug.rankers import AdaRankRanker, RankBoostRanker
from boostplug.rankers.base import ReferenceRanker, Round
from boostplug.studies.replication import replicate
from boostplug.studies.replication import run as machine
from boostplug.studies.replication.judging.claims import close, near_published, never_rises, ranked
from boostplug.studies.replication.protocol import Check, Citation, Claim, NotTested, Protocol
from boostplug.studies.replication.training.study import Learner, Measure, Study
from boostplug.studies.replication.training.task import STEADY, Job, marks, run, steady
from boostplug.studies.sources import Loaded, SingleQueries
from boostplug.weak_rankers import Feature


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
PLUS = Learner(name="Rb+", ranker=RankBoostRanker)


def said(judge, published=""):
    return Claim(Citation("Table 1", "in this order"), "own variants", "order", judge, published, "toy")


MEASURES = (Measure("R2", PairError("half")), Measure("NDCG@3", NDCG(3), Against(3)))


def protocol(*learners, source=None, **more):
    study = Study(
        name="toy",
        source=source or Toy(),
        rounds=6,
        learners=learners or (CONTINUOUS, DISCRETE),
        measures=MEASURES,
        traces=("e1",),
        **more,
    )
    claims = (said(partial(ranked, measure="R2", order=("Rb-c", "Rb-d"))),)
    return Protocol(name="toy", paper="A toy.", studies=(study,), claims=claims, deviations=("it is a toy",))


def compared(result_or_path):
    return result_or_path.document if hasattr(result_or_path, "document") else json.loads(result_or_path.read_text())


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
    ranker = RankBoostRanker(variant="continuous", n_estimators=6, random_state=0).fit(
        split.train.X,
        split.train.y,
        group=split.train.group,
        eval_set=[(part.X, part.y) for part in parts],
        eval_group=[part.group for part in parts],
        eval_metric=[PairError("half"), NDCG(3)],
    )
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


def test_rounds_that_a_model_does_not_have_repeat_its_last():
    learner = Learner(name="short", ranker=AdaRankRanker, params={"n_estimators": 2, "patience": 5})
    value = run(job_of(learner))["value"]
    assert value["rounds"] <= 2
    assert len(value["curves"]["test"]["R2"]) == len(marks(6))
    assert len(set(value["curves"]["test"]["R2"][1:])) == 1


def test_marks():
    assert marks(1) == [1]
    assert marks(12) == [1, 2, 3, 5, 7, 10, 12]
    assert marks(200) == [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200]


# --- Processes and resumption ----------------------------------------------------------------------------------------


def test_two_processes_give_what_one_gives(tmp_path):
    one = replicate(protocol(), json=tmp_path / "one.json", num_processes=1)
    two = replicate(protocol(), json=tmp_path / "two.json", num_processes=2)
    assert compared(one) == compared(two) == compared(tmp_path / "one.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["one.json", "one.json.times", "two.json", "two.json.times"]
    assert all(second > 0 for second in json.loads((tmp_path / "one.json.times").read_text()).values())


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
    with Store(parts, head_of(parts)) as store:
        assert len(store.done) == 2

    again = []
    monkeypatch.setattr(machine, "run", lambda job: again.append(job.key) or run(job))
    result = replicate(protocol(), json=path, num_processes=1)
    assert len(again) == 2
    assert not set(again) & set(worked)
    assert compared(result) == compared(whole) == compared(path)
    assert not parts.exists()


def test_parts_of_another_run_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    monkeypatch.setattr(machine, "run", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        replicate(protocol(), json=path, num_processes=1)
    with pytest.raises(ValueError, match=r"another run .*seed"):
        replicate(replace(protocol(), seed=1), json=path, num_processes=1)


def test_what_is_kept_is_used_where_nothing_has_changed_alone(tmp_path, monkeypatch):
    path, trained = tmp_path / "out.json", []
    monkeypatch.setattr(machine, "run", lambda job: trained.append(job.learner.name) or run(job))

    def again(paper):
        trained.clear()
        result = replicate(paper, json=path, num_processes=1, keep=True)
        assert compared(result) == compared(replace_run(paper))
        return list(trained)

    def replace_run(paper):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(machine, "run", run)
            return replicate(paper, num_processes=1)

    base = protocol()
    study = base.studies[0]
    assert again(base) == ["Rb-c", "Rb-d"] * 2
    judged = said(partial(ranked, measure="NDCG@3", order=("Rb-d", "Rb-c")))
    assert again(replace(base, claims=(judged,), deviations=())) == []
    assert again(replace(base, studies=(replace(study, published={"x": {"R2": 0.5}}),))) == []
    other = replace(DISCRETE, params={"variant": "discrete", "max_thresholds": 9})
    assert again(replace(base, studies=(replace(study, learners=(CONTINUOUS, other)),))) == ["Rb-d"] * 2
    assert again(replace(base, studies=(replace(study, rounds=5),))) == ["Rb-c", "Rb-d"] * 2
    assert again(replace(base, studies=(replace(study, measures=MEASURES[:1]),))) == ["Rb-c", "Rb-d"] * 2
    assert again(replace(base, studies=(replace(study, source=SomeQueries()),))) == ["Rb-c", "Rb-d"] * 10
    assert again(base) == []


def test_a_failed_task_is_reported_and_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    broken = Learner(name="Rb-d", ranker=RankBoostRanker, params={"variant": "none such"})
    result = replicate(protocol(CONTINUOUS, broken), json=path, num_processes=1)
    assert result.failed
    errors = result.document["studies"][0]["errors"]
    assert list(errors) == ["fold 1 Rb-d", "fold 2 Rb-d"]
    assert "variant must be one of" in errors["fold 1 Rb-d"]
    assert "FAILED fold 1 Rb-d: ValueError: variant" in str(result)
    assert result.document["claims"][0]["ours"] == "not judged: tasks failed"
    again = []
    monkeypatch.setattr(machine, "run", lambda job: again.append(job.learner.name) or run(job))
    replicate(protocol(CONTINUOUS, broken), json=path, num_processes=1)
    assert again == ["Rb-d", "Rb-d"]


def test_no_more_processes_than_tasks(monkeypatch):
    asked = []
    monkeypatch.setattr(machine, "in_processes", lambda *given: asked.append(given[2]) or in_processes(*given[:2], 1))
    replicate(protocol(), num_processes=500)
    assert asked == [4]


# --- What comes out --------------------------------------------------------------------------------------------------


def test_published_figures_stand_beside_ours_where_they_apply():
    published = {"Rb-c": {"R2": 0.1234}, "other": {"NDCG@3": 0.4321}}
    near = said(partial(near_published, measure="R2", learners=("Rb-c",), row="Rb-c", tolerance=0.01), ".1234")
    check = partial(close, measure="R2", learner="Rb-c", row="Rb-c", tolerance=0.01)
    of_table = Check("Table 1", "near", check, study="toy")

    def outcome(source):
        paper = protocol(source=source, published=published)
        result = replicate(replace(paper, claims=(near,), baselines=(of_table,)), num_processes=1)
        return str(result), result.document["claims"][0], result.document["baselines"][0]

    text, claim, baseline = outcome(Toy())
    assert "0.1234" in text
    assert "other, published" in text
    assert claim["holds"] == "does not hold"
    assert claim["published"] == ".1234"
    assert baseline["passes"] is False
    text, claim, baseline = outcome(Toy(as_published=False))
    assert "0.1234" not in text
    assert "other, published" not in text
    assert claim["holds"] is baseline["passes"] is None
    assert claim["ours"].startswith("not judged: other data")
    assert baseline["ours"].startswith("not checked: other data")


def test_claims_theorems_and_what_is_not_tested_stand_apart():
    check = Check("Theorem 2", "E1 falls", partial(never_rises, curve="e1", learner="Rb-d"), study="toy")
    private = NotTested("Section 5", "on our own logs", "the logs are private")
    paper = replace(protocol(), theorems=(check,), not_tested=(private,))
    document = replicate(paper, num_processes=1).document
    assert [check["passes"] for check in document["theorems"]] == [True]
    assert document["theorems"][0]["where"] == "Theorem 2"
    assert document["baselines"] == []
    assert document["not_tested"] == [
        {"where": "Section 5", "words": "on our own logs", "reason": "the logs are private"}
    ]
    claim = document["claims"][0]
    assert (claim["where"], claim["words"], claim["about"]) == ("Table 1", "in this order", "own variants")
    assert claim["real"] is True
    assert claim["own_data"] is False
    assert claim["holds"] in {"holds", "level", "does not hold"}


def test_a_pooled_metric_is_jackknifed_over_blocks_of_queries():
    """Of a mean of queries as many as blocks the pseudo-values would be its values; of shares of pairs see by hand."""
    pooled = Measure("pairs", PairError("half", pooled=True))
    study = replace(protocol(CONTINUOUS).studies[0], measures=(pooled,))
    split = Toy().load(None).splits[0]
    value = run(Job(study, split, CONTINUOUS, 0))["value"]
    units = value["per_query"]["pairs"]
    scores = list(
        RankBoostRanker(variant="continuous", n_estimators=6, random_state=0)
        .fit(split.train.X, split.train.y, group=split.train.group)
        .staged_predict(split.test.X)
    )[value["round"]["pairs"] - 1]
    shares = PairError("half").per_query(scores, split.test.queries)
    pairs, runs = np.zeros(len(shares)), split.test.queries.grade_runs
    pairs[runs.query] = runs.n_pairs
    without = [np.nansum(np.delete(shares * pairs, q)) / np.delete(pairs, q).sum() for q in range(len(pairs))]
    whole = np.nansum(shares * pairs) / pairs.sum()
    expected = whole - (len(pairs) - 1) * (np.array(without) - np.mean(without))
    np.testing.assert_allclose(units, expected, atol=1e-12)
    assert np.mean(units) == pytest.approx(value["test"]["pairs"], abs=1e-12)


def test_the_report_says_what_it_is_about():
    result = replicate(protocol(), num_processes=1)
    text = str(result)
    for line in ("A toy.", "published figures do not apply", "a note", "it is a toy", "Claims", "critical difference"):
        assert line in text
    assert repr(result).startswith("ReplicationResult(toy: ")
    json.dumps(result.document, allow_nan=False)


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match=r"no replication of 'x'; there are: .*rankboost-plus, adarank"):
        replicate("x")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        replicate("adarank", tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"holds none of the data sets of adarank: ohsumed"):
        replicate("adarank", tmp_path)
    with pytest.raises(ValueError, match="num_processes must be an integer of at least 1; got 0"):
        replicate("adarank", num_processes=0)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ([1.0, 2.0, 3.0, 2.5], [0, 1, 1, 1]),  # a fall after the highest
        ([1.0, 2.0, 1.9, 1.8, 2.1, 3.0], [0, 1, 1, 1, 0, 0]),  # before it, since there is a higher one
        ([3.0, 2.0, 2.5], [0, 0, 0]),  # the highest is the first
        ([3.0, 2.0, 4.0], [0, 0, 0]),
        ([1.0, 1.0, 2.0, 2.0 - 1e-16, 2.0], [0, 0, 1, 1, 1]),  # neither what stays nor rounding is a fall
        ([1.0], [0]),
    ],
)
def test_a_climb_is_steady_until_it_has_fallen_below_a_later_peak(curve, expected):
    np.testing.assert_array_equal(steady(np.array(curve)), expected)


def test_a_steady_climb_knows_the_rounds_between_marks():
    class Saw(ReferenceRanker):
        """Its curve falls once, from round 8 to 9 of 12, between the marks 7 and 10."""

        def __init__(self, *, n_estimators=12, random_state=None):
            self.n_estimators = n_estimators
            self.random_state = random_state

        def _rounds(self, _):
            for r in range(12):
                yield Round(((Feature(0), 1.0),), {"level": r - 1.5 * (r == 8)})
            return "done"

    study = protocol().studies[0]
    study = replace(study, rounds=12, traces=("level", f"{STEADY}level"))
    value = run(Job(study, job_of(CONTINUOUS).split, Learner(name="saw", ranker=Saw), 0))["value"]
    trace = value["curves"]["trace"]
    assert trace["level"] == sorted(trace["level"])
    assert trace[f"{STEADY}level"] == [0, 1, 1, 1, 1, 0, 0]  # after 1, 2, 3, 5, 7, 10, 12 rounds
