"""A comparison over processes is that of one process; within a budget of time, what begins and what is reported."""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from reports import without_times

import boostplug as bp
from boostplug.comparison import compare as module
from boostplug.comparison.training import schedule
from boostplug.comparison.training.frameworks import FRAMEWORKS, Watch

SOME = {"losses": ["ranknet"], "rounds": 3, "seeds": 2, "num_threads": 1, "metrics": "NDCG@5", "progress": False}
SMALL = {**SOME, "baselines": ["lambdarank"], "frameworks": "lightgbm"}


@dataclass(frozen=True, kw_only=True)
class Fails(bp.RankNet):
    def gradient_hessian(self, *_args, **_options):
        raise RuntimeError("broken on purpose")


@dataclass(frozen=True, kw_only=True)
class Dies(bp.RankNet):
    def gradient_hessian(self, *_args, **_options):
        os._exit(3)


def test_the_result_is_that_of_one_process(tiny, tmp_path):
    """Of two folds, both frameworks, a loss that fails, tuning; and what one keeps the other goes on from."""
    pytest.importorskip("optuna")
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    some = {**SOME, "baselines": ["lambdarank", "rank:ndcg"], "tune": 2}
    some["losses"] = {"ours": bp.RankNet(), "broken": Fails()}
    one = bp.compare(folds, **some)
    with pytest.warns(UserWarning, match="has code of your own"):
        several = bp.compare(folds, **some, jobs=2, store=tmp_path)
    assert several.document["settings"]["jobs"] == 2
    assert without_times(several) == without_times(one)
    assert several.per_query.equals(one.per_query)
    assert several.failed
    with pytest.warns(UserWarning, match="has code of your own"):
        again = bp.compare(folds, **some, store=tmp_path, resume=True)
    seconds = [run["seconds_per_round"] for method in several.document["methods"] for run in method["runs"]]
    assert [run["seconds_per_round"] for method in again.document["methods"] for run in method["runs"]] == seconds
    assert without_times(again) == without_times(one)


def test_threads_are_shared_out(tiny, monkeypatch):
    asked = []

    def no_cells(plan, _folds, _methods, _kept, n_processes, _minutes, _begin):
        asked.append((plan.num_threads, n_processes))
        yield from ()

    monkeypatch.setattr(module, "outcomes_of", no_cells)
    for threads, jobs in ((4, 2), (3, 2), (1, 2)):
        result = bp.compare(*tiny, **{**SMALL, "num_threads": threads}, jobs=jobs)
        assert result.document["settings"]["num_threads"] == asked[-1][0]
    assert asked == [(2, 2), (1, 2), (1, 2)]
    assert "with 1 thread, 2 trainings at once" in " ".join(str(result).split())


@pytest.mark.ci
def test_ctrl_c_keeps_what_is_finished(tiny, tmp_path, monkeypatch):
    @contextmanager
    def until_two_runs(*_args, **_options):
        done = []

        def add(run):
            done.append(run)
            if len(done) >= 2:
                raise KeyboardInterrupt

        yield (lambda *_: None), add

    with monkeypatch.context() as patch:
        patch.setattr(module, "live_bars", until_two_runs)
        result = bp.compare(*tiny, **SMALL, jobs=2, store=tmp_path)
    assert result.interrupted
    assert sum(row["runs_finished"] for row in result.document["methods"]) == 2
    again = bp.compare(*tiny, **SMALL, jobs=2, store=tmp_path, resume=True)
    assert not again.interrupted
    kept = [run for row in result.document["methods"] for run in row["runs"]]
    assert all(run in [run for row in again.document["methods"] for run in row["runs"]] for run in kept)  # times too
    assert without_times(again) == without_times(bp.compare(*tiny, **SMALL))


@pytest.mark.ci
def test_the_death_of_a_process_is_an_error_and_costs_no_finished_training(tiny, tmp_path):
    some = {**SMALL, "losses": {"ours": bp.RankNet(), "deadly": Dies()}}
    with (
        pytest.raises(RuntimeError, match="a worker process has died; what was finished before is kept"),
        pytest.warns(UserWarning, match="has code of your own"),
    ):
        bp.compare(*tiny, **some, jobs=2, store=tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_size > 0]
    resumed = bp.compare(*tiny, **{**some, "losses": {"ours": bp.RankNet()}}, jobs=2, store=tmp_path, resume=True)
    assert not resumed.failed


def test_losses_of_a_script_and_lambdas_go_to_other_processes(tmp_path):
    """The script needs no ``if __name__ == "__main__":``."""
    script = tmp_path / "script.py"
    script.write_text(
        "import boostplug as bp\n"
        "class Own(bp.RankNet):\n"
        "    pass\n"
        "parts = [bp.datasets.make_ranking(40, n_features=30, random_state=s) for s in range(3)]\n"
        "some = {'losses': [Own(), bp.MPBoost(distance=lambda gap: gap)], 'baselines': (), 'frameworks': 'lightgbm'}\n"
        "one, two = (bp.compare(*parts, **some, rounds=1, jobs=jobs, num_threads=jobs) for jobs in (1, 2))\n"
        "assert not two.failed\n"
        "assert two.per_query.equals(one.per_query)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_large_data_give_the_same():
    """Arrays of more than a megabyte reach the processes as read-only files in memory."""
    parts = [bp.datasets.make_ranking(7000, n_features=3, random_state=seed) for seed in range(3)]
    assert parts[0].y.nbytes > 2**20
    one, two = (bp.compare(*parts, **SMALL, jobs=jobs) for jobs in (1, 2))
    assert two.per_query.equals(one.per_query)


class Locked:
    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, gap):
        return gap


def test_a_loss_that_cannot_be_pickled_is_refused(tiny):
    loss = bp.MPBoost(distance=Locked())
    with pytest.raises(ValueError, match="a loss, metric or ranker cannot go to another process; use one process"):
        bp.compare(*tiny, **{**SMALL, "losses": loss}, jobs=2)


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.frameworks  # joblib's processes wait for 42 s
def test_processes_end_after_a_parent_that_is_killed(tmp_path):
    """They finish the job that they are at. Standard output is closed when the last one that holds it is gone."""
    script = tmp_path / "script.py"
    script.write_text(
        "import time\n"
        "from boostplug.comparison.training.workers import in_processes\n"
        "def work(job):\n"
        "    print(job, flush=True)\n"
        "    time.sleep(2)\n"
        "list(in_processes(work, ['begun'] * 9, 2))\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert [parent.stdout.readline() for _ in range(2)] == ["begun\n", "begun\n"]
        parent.kill()
        rest, _ = parent.communicate()
        assert rest in {"", "begun\n"}  # of a process that was late to its first job


ON_A_CLOCK = {
    "losses": ["ranknet"],
    "baselines": ["lambdarank"],
    "frameworks": "lightgbm",
    "rounds": 2,
    "num_threads": 1,
}
ON_A_CLOCK |= {"metrics": "NDCG@5", "progress": False}
SECONDS_OF = {"lambdarank": 10.0, "regression": 10.0}  # of a training; 20 of others


@pytest.fixture
def clock(monkeypatch):
    """Trainings in their order; they move the clock on which budgets are counted."""
    now, run, order = [0.0], FRAMEWORKS["lightgbm"].run, []

    def timed(self, objective, seed, *given):
        now[0] += SECONDS_OF.get(objective, 20.0)
        order.append((objective if isinstance(objective, str) else "RankNet", seed))
        return run(self, objective, seed, *given)

    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", timed)
    monkeypatch.setattr(schedule, "time", lambda: now[0])
    return order


def finished(result):
    return {method["method"]: [(r["fold"], r["seed"]) for r in method["runs"]] for method in result.document["methods"]}


def test_methods_have_the_same_seeds(tiny, clock):
    result = bp.compare(*tiny, **ON_A_CLOCK, seeds=3, minutes=1)
    assert finished(result) == {"lambdarank": [(0, 0), (0, 1)], "RankNet": [(0, 0), (0, 1)]}
    assert result.out_of_time
    assert not result.interrupted
    assert [(run["method"], run["fold"], run["seed"]) for run in result.not_run] == [
        ("lambdarank", 0, 2), ("RankNet", 0, 2)
    ]  # fmt: skip
    text = " ".join(str(result).split())
    assert "INCOMPLETE: interrupted after 4 of 6 runs." in text
    assert "this holds for the finished runs only." in text
    assert "[2 of 3]" in text
    assert clock == [("lambdarank", 0), ("RankNet", 0), ("lambdarank", 1), ("RankNet", 1)]


def test_every_fold_before_the_second_seed(tiny, clock):
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    result = bp.compare(folds, **ON_A_CLOCK, seeds=2, minutes=1.5)
    assert finished(result) == {name: [(0, 0), (0, 1), (1, 0)] for name in ("lambdarank", "RankNet")}
    assert [seed for _, seed in clock] == [0, 0, 0, 0, 1, 1]
    assert "Student's t over the test queries of the runs that both have, " in " ".join(str(result).split())
    text = " ".join(str(result).split())
    assert "INCOMPLETE: interrupted after 6 of 8 runs." in text


def test_methods_with_fewer_runs_are_judged_on_those_that_both_have(tiny, clock):
    """The time is up in the middle of the second seed."""
    result = bp.compare(*tiny, **ON_A_CLOCK, seeds=2, minutes=35 / 60)
    assert clock == [("lambdarank", 0), ("RankNet", 0), ("lambdarank", 1)]
    one_seed = bp.compare(*tiny, **ON_A_CLOCK, seeds=1)
    ours, alone = (found.document["methods"][1] for found in (result, one_seed))
    assert (ours["difference"], ours["p"]) == (alone["difference"], alone["p"])
    assert result.document["recommendation"]["runs"] == 1
    assert "INCOMPLETE: interrupted after 3 of 4 runs." in " ".join(str(result).split())


def test_resume_goes_on_from_there(tiny, clock, tmp_path):
    some = {**ON_A_CLOCK, "seeds": 2}
    part = bp.compare(*tiny, **some, minutes=0.5, store=tmp_path)
    assert len(clock) == 2
    assert len(part.not_run) == 2
    whole = bp.compare(*tiny, **some, minutes=0.5, store=tmp_path, resume=True)
    assert len(clock) == 4
    assert not whole.out_of_time
    assert whole.not_run == []
    assert "INCOMPLETE" not in str(whole)
    assert without_times(whole) == without_times(bp.compare(*tiny, **some))


def test_enough_time_changes_nothing(tiny, clock):
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    limited, unlimited = (bp.compare(folds, **ON_A_CLOCK, seeds=2, minutes=minutes) for minutes in (60, None))
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
    some = {**ON_A_CLOCK, "rounds": 10, "early_stopping_rounds": None, "seeds": 2, "tune": 3}
    whole = bp.compare(*tiny, **some)
    assert len(rounds) == 2 * 10 * (3 + 2)
    now[0] = 0.0
    rounds.clear()
    part = bp.compare(*tiny, **some, minutes=25 / 60, store=tmp_path)
    assert len(rounds) == 30
    assert finished(part) == {"lambdarank": [], "RankNet": []}
    assert "No recommendation: no run has finished." in str(part)
    assert part.out_of_time
    assert not part.failed
    rounds.clear()
    again = bp.compare(*tiny, **some, store=tmp_path, resume=True)
    assert len(rounds) == 100 - 30  # all but three settings
    assert without_times(again) == without_times(whole)
