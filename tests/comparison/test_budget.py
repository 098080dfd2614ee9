"""Which trainings begin within a budget, and what a partial result says."""

import pytest
from reports import without_times

import boostplug as bp
from boostplug.comparison.training import schedule
from boostplug.comparison.training.frameworks import FRAMEWORKS, Watch

SOME = {"losses": ["ranknet"], "baselines": ["lambdarank"], "frameworks": "lightgbm", "rounds": 2, "num_threads": 1}
SOME |= {"metrics": "NDCG@5", "progress": False}
SECONDS = {"lambdarank": 10.0, "regression": 10.0}  # of a training; 20 of others


@pytest.fixture
def clock(monkeypatch):
    """Trainings in their order; they move the clock on which budgets are counted."""
    now, run, order = [0.0], FRAMEWORKS["lightgbm"].run, []

    def timed(self, objective, seed, *given):
        now[0] += SECONDS.get(objective, 20.0)
        order.append((objective if isinstance(objective, str) else "RankNet", seed))
        return run(self, objective, seed, *given)

    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", timed)
    monkeypatch.setattr(schedule, "time", lambda: now[0])
    return order


def finished(result):
    return {method["method"]: [(r["fold"], r["seed"]) for r in method["runs"]] for method in result.document["methods"]}


def test_methods_have_the_same_seeds(tiny, clock):
    result = bp.compare(*tiny, **SOME, seeds=3, minutes=1)
    assert finished(result) == {"lambdarank": [(0, 0), (0, 1)], "RankNet": [(0, 0), (0, 1)]}
    assert result.out_of_time
    assert not result.interrupted
    assert [(run["method"], run["fold"], run["seed"]) for run in result.not_run] == [
        ("lambdarank", 0, 2), ("RankNet", 0, 2)
    ]  # fmt: skip
    text = " ".join(str(result).split())
    said = "PARTIAL: 4 of 6 runs in 1 minute. All methods have 2 of their 3 runs."
    assert said in text
    assert "The time was up before all was run: this is of what is finished." in text
    assert "[2 of 3]" in text
    assert "± standard deviation over the runs (2 seeds); " in text
    assert clock == [("lambdarank", 0), ("RankNet", 0), ("lambdarank", 1), ("RankNet", 1)]


def test_every_fold_before_the_second_seed(tiny, clock):
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    result = bp.compare(folds, **SOME, seeds=2, minutes=1.5)
    assert finished(result) == {name: [(0, 0), (0, 1), (1, 0)] for name in ("lambdarank", "RankNet")}
    assert [seed for _, seed in clock] == [0, 0, 0, 0, 1, 1]
    assert "Student's t over the test queries of the runs that both have, " in " ".join(str(result).split())
    text = " ".join(str(result).split())
    assert "PARTIAL: 6 of 8 runs in 1.5 minutes. All methods have 3 of their 4 runs." in text
    assert "± standard deviation over the runs (3 at most); " in text


def test_methods_with_fewer_runs_are_judged_on_those_that_both_have(tiny, clock):
    """The time is up in the middle of the second seed."""
    result = bp.compare(*tiny, **SOME, seeds=2, minutes=35 / 60)
    assert clock == [("lambdarank", 0), ("RankNet", 0), ("lambdarank", 1)]
    one_seed = bp.compare(*tiny, **SOME, seeds=1)
    ours, alone = (found.document["methods"][1] for found in (result, one_seed))
    assert (ours["difference"], ours["p"]) == (alone["difference"], alone["p"])
    assert result.document["recommendation"]["runs"] == 1
    assert "PARTIAL: 3 of 4 runs in 0.583333 minutes." in " ".join(str(result).split())


def test_resume_goes_on_from_there(tiny, clock, tmp_path):
    some = {**SOME, "seeds": 2}
    part = bp.compare(*tiny, **some, minutes=0.5, store=tmp_path)
    assert len(clock) == 2
    assert len(part.not_run) == 2
    whole = bp.compare(*tiny, **some, minutes=0.5, store=tmp_path, resume=True)
    assert len(clock) == 4
    assert not whole.out_of_time
    assert whole.not_run == []
    assert "PARTIAL" not in str(whole)
    assert without_times(whole) == without_times(bp.compare(*tiny, **some))


def test_enough_time_changes_nothing(tiny, clock):
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    limited, unlimited = (bp.compare(folds, **SOME, seeds=2, minutes=minutes) for minutes in (60, None))
    assert clock[:8] != clock[8:]
    assert without_times(limited) == without_times(unlimited)
    assert limited.per_query.equals(unlimited.per_query)


def test_tuning_ends_when_time_is_up(tiny, monkeypatch, tmp_path):
    """Each round takes a second, and the time is up while the third setting of the first method trains."""
    pytest.importorskip("optuna")
    now, measure, rounds = [0.0], Watch.measure, []

    def timed(self, scores):
        now[0] += 1.0
        rounds.append(now[0])
        return measure(self, scores)

    monkeypatch.setattr(Watch, "measure", timed)
    monkeypatch.setattr(schedule, "time", lambda: now[0])
    some = {**SOME, "rounds": 10, "early_stopping_rounds": None, "seeds": 2, "tune": 3}
    whole = bp.compare(*tiny, **some)
    assert len(rounds) == 2 * 10 * (3 + 2)
    now[0] = 0.0
    rounds.clear()
    part = bp.compare(*tiny, **some, minutes=25 / 60, store=tmp_path)
    assert len(rounds) == 30
    assert finished(part) == {"lambdarank": [], "RankNet": []}
    assert "Nothing to recommend: no run is finished." in str(part)
    assert part.out_of_time
    assert not part.failed
    rounds.clear()
    again = bp.compare(*tiny, **some, store=tmp_path, resume=True)
    assert len(rounds) == 100 - 30  # all but three settings
    assert without_times(again) == without_times(whole)
