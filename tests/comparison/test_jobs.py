"""A comparison over processes is that of one process."""

import os
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
    """Of two folds, both frameworks, a loss that fails; and what one keeps the other goes on from."""
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    some = {**SOME, "baselines": ["lambdarank", "rank:ndcg"], "seeds": 1}
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
    again = bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl", resume=True)
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


@pytest.mark.ci
def test_large_data_and_lambdas_go_to_other_processes():
    """Arrays of more than a megabyte reach the processes as read-only files in memory."""
    parts = [bp.datasets.make_ranking(7000, n_features=3, random_state=seed) for seed in range(3)]
    assert parts[0].y.nbytes > 2**20
    some = {**SMALL, "losses": bp.MPBoost(distance=lambda gap: gap), "seeds": 1}
    one, two = (bp.compare(*parts, **some, jobs=jobs) for jobs in (1, 2))
    assert not two.failed
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
