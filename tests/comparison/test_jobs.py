"""A comparison over processes is that of one process."""

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
        several = bp.compare(folds, **some, jobs=2, store=tmp_path / "kept.jsonl")
    assert several.document["settings"]["jobs"] == 2
    assert without_times(several) == without_times(one)
    assert several.per_query.equals(one.per_query)
    assert several.failed
    with pytest.warns(UserWarning, match="has code of your own"):
        again = bp.compare(folds, **some, store=tmp_path / "kept.jsonl", resume=True)
    seconds = [run["seconds_per_round"] for method in several.document["methods"] for run in method["runs"]]
    assert [run["seconds_per_round"] for method in again.document["methods"] for run in method["runs"]] == seconds
    assert without_times(again) == without_times(one)


def test_threads_are_shared_out(tiny, monkeypatch):
    asked = []

    def no_runs(plan, _folds, _methods, _kept, n_processes, _advance):
        asked.append((plan.num_threads, n_processes))
        yield from ()

    monkeypatch.setattr(module, "runs_of", no_runs)
    for threads, jobs in ((4, 2), (3, 2), (1, 2)):
        result = bp.compare(*tiny, **{**SMALL, "num_threads": threads}, jobs=jobs)
        assert result.document["settings"]["num_threads"] == asked[-1][0]
    assert asked == [(2, 2), (1, 2), (1, 2)]


@pytest.mark.ci
def test_ctrl_c_keeps_what_is_finished(tiny, tmp_path, monkeypatch):
    @contextmanager
    def until_two_runs(*_args, **_options):
        done = []

        def advance(_, steps):
            done.extend([None] * steps)
            if len(done) >= 2:
                raise KeyboardInterrupt

        yield advance

    with monkeypatch.context() as patch:
        patch.setattr(module, "progress_bar", until_two_runs)
        result = bp.compare(*tiny, **SMALL, jobs=2, store=tmp_path / "kept.jsonl")
    assert result.interrupted
    assert sum(row["runs_finished"] for row in result.document["methods"]) == 2
    again = bp.compare(*tiny, **SMALL, jobs=2, store=tmp_path / "kept.jsonl", resume=True)
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
        bp.compare(*tiny, **some, jobs=2, store=tmp_path / "kept.jsonl")
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_size > 0]
    resumed = bp.compare(
        *tiny, **{**some, "losses": {"ours": bp.RankNet()}}, jobs=2, store=tmp_path / "kept.jsonl", resume=True
    )
    assert not resumed.failed


@pytest.mark.ci
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


@pytest.mark.ci
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
