"""A comparison over processes is that of one process, whatever ends it."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children

import pytest
from reports import without_times

import boostplug as bp
from boostplug.comparison import compare as module

SECONDS = 240  # in which a hang fails
SOME = {"losses": ["ranknet"], "rounds": 3, "seeds": 2, "num_threads": 1, "metrics": "NDCG@5", "progress": False}
SMALL = {**SOME, "baselines": ["lambdarank"], "frameworks": "lightgbm"}


@pytest.fixture(autouse=True)
def _time_limit():
    if sys.platform == "win32":
        yield
        return

    def end(*_):
        raise TimeoutError(f"the test took more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True, kw_only=True)
class Fails(bp.RankNet):
    version = "1"

    def gradient_hessian(self, *_args, **_options):
        raise RuntimeError("broken on purpose")


@pytest.fixture(autouse=True)
def no_process_stays():
    """See that a comparison ends its processes; those of a cluster that other tests use are not its own."""
    before = set(active_children())
    yield
    assert set(active_children()) <= before


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
    several = bp.compare(folds, **some, jobs=2, store=tmp_path)
    assert several.document["settings"]["jobs"] == 2
    assert without_times(several) == without_times(one)
    assert several.per_query.equals(one.per_query)
    assert several.failed
    again = bp.compare(folds, **some, store=tmp_path, resume=True)
    seconds = [run["seconds_per_round"] for method in several.document["methods"] for run in method["runs"]]
    assert [run["seconds_per_round"] for method in again.document["methods"] for run in method["runs"]] == seconds
    assert without_times(again) == without_times(one)


def test_threads_are_shared_out(tiny, monkeypatch):
    asked = []

    def no_cells(plan, _folds, _methods, _kept, _advance, n_processes, _budget):
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
    def until_two_steps(*_args, **_options):
        steps = []

        def advance(_description, n):
            steps.extend(range(n))
            if len(steps) >= 2:
                raise KeyboardInterrupt

        yield advance, lambda _cell: None

    with monkeypatch.context() as patch:
        patch.setattr(module, "live_table", until_two_steps)
        result = bp.compare(*tiny, **SMALL, jobs=2, store=tmp_path)
    assert result.interrupted
    assert sum(row["runs_finished"] for row in result.document["methods"]) in {2, 3}  # a cell comes before its step
    again = bp.compare(*tiny, **SMALL, jobs=2, store=tmp_path, resume=True)
    assert not again.interrupted
    kept = [run for row in result.document["methods"] for run in row["runs"]]
    assert all(run in [run for row in again.document["methods"] for run in row["runs"]] for run in kept)  # times too
    assert without_times(again) == without_times(bp.compare(*tiny, **SMALL))


@pytest.mark.ci
def test_the_death_of_a_process_is_said_and_costs_no_finished_training(tiny, tmp_path):
    some = {**SMALL, "losses": {"ours": bp.RankNet(), "deadly": Dies()}}
    with (
        pytest.raises(RuntimeError, match="a worker process has died; what was finished before is kept"),
        pytest.warns(UserWarning, match="has code of your own"),
    ):
        bp.compare(*tiny, **some, jobs=2, store=tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_size > 0]
    resumed = bp.compare(*tiny, **{**some, "losses": {"ours": bp.RankNet()}}, jobs=2, store=tmp_path, resume=True)
    assert not resumed.failed


@pytest.mark.ci
def test_a_script_without_its_guard_is_told_so(tmp_path):
    """Its processes die as they start, before they read the data, which are more than a pipe holds."""
    script = tmp_path / "script.py"
    script.write_text(
        "import boostplug as bp\n"
        "parts = [bp.datasets.make_ranking(40, n_features=30, random_state=s) for s in range(3)]\n"
        "bp.compare(*parts, losses='ranknet', baselines='lambdarank', frameworks='lightgbm', rounds=1, jobs=2)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert 'the call must stand under if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_what_cannot_go_to_other_processes_is_refused_before_training(tiny):
    loss = bp.MPBoost(distance=lambda gap: gap)
    with pytest.raises(ValueError, match=r"jobs hands losses and metrics to other processes, .* or leave out jobs"):
        bp.compare(*tiny, **{**SMALL, "losses": loss}, jobs=2)
    for jobs in (0, 1.5, "2", 10**6):
        with pytest.raises(ValueError, match="jobs must be an integer"):
            bp.compare(*tiny, **SMALL, jobs=jobs)


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.ci
def test_processes_end_with_a_parent_that_is_killed(tmp_path):
    """Standard output is closed when the last process that holds it is gone."""
    script = tmp_path / "script.py"
    script.write_text(
        "import time\n"
        "from boostplug.comparison.training.workers import in_processes\n"
        "def work(job):\n"
        "    print(job, flush=True)\n"
        "    time.sleep(1000)\n"
        'if __name__ == "__main__":\n'
        "    list(in_processes(work, ['begun', 'begun'], 2))\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert [parent.stdout.readline() for _ in range(2)] == ["begun\n", "begun\n"]
        parent.kill()
        assert parent.communicate(timeout=60) == ("", None)
