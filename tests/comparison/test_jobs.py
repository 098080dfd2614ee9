"""Several trainings at once give the comparison of one training at a time; a progress bar changes nothing."""

import os
import signal
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from reports import ONE, without_times

import boostplug as bp
from boostplug.comparison import compare as module
from boostplug.comparison import console

SMALL = {**ONE, "seeds": 2, "metrics": "NDCG@5"}
BOTH = {**SMALL, "frameworks": None, "baselines": ["lambdarank", "rank:ndcg"]}


@dataclass(frozen=True, kw_only=True)
class Fails(bp.RankNet):
    def gradient_hessian(self, *_args, **_options):
        raise RuntimeError("broken on purpose")


@dataclass(frozen=True, kw_only=True)
class Warns(bp.RankNet):
    sigmoid: float = 2.0

    def gradient_hessian(self, *args, **options):
        for what in (UserWarning, FutureWarning):
            warnings.warn(f"{what.__name__} on purpose", what, stacklevel=1)
        return super().gradient_hessian(*args, **options)


def test_the_result_is_that_of_one_training_at_a_time(tiny):
    """Of two folds, both frameworks, losses that fail, that warn, and that cannot be pickled."""
    folds = [tiny, (tiny[1], tiny[2], tiny[0])]
    losses = {"ours": bp.RankNet(), "broken": Fails(), "odd": Warns(), "free": bp.MPBoost(distance=Locked())}
    one, several = (bp.compare(folds, **BOTH | {"losses": losses}, **jobs) for jobs in ({}, {"jobs": 3}))
    assert several.document["settings"]["jobs"] == 3
    assert without_times(several) == without_times(one)
    assert several.per_query.equals(one.per_query)
    assert several.failed
    notes = [note for note in several.document["notes"] if "purpose" in note]
    assert notes == [f"{name} odd warns: UserWarning on purpose" for name in ("lightgbm", "xgboost")]


def test_tuned_methods_are_those_of_one_training_at_a_time(tiny):
    some = {**BOTH, "losses": ["ranknet", "qbrank"], "baselines": "lambdarank", "tune": 3}
    one, several = bp.compare(*tiny, **some), bp.compare(*tiny, **some, jobs=2)
    assert without_times(several) == without_times(one)


def test_losses_that_learn_nothing_warn_alike_in_one_thread_and_in_several(tiny):
    X, y, qid = tiny[0].X, tiny[0].y, tiny[0].qid
    train = bp.RankingData(X, np.zeros(len(y)), qid=qid)
    some = {**SMALL, "losses": [bp.QBRank(), bp.RankNet()], "baselines": "rank_xendcg"}
    notes = [bp.compare(train, *tiny[1:], **some, jobs=jobs).document["notes"] for jobs in (1, 2)]
    assert notes[0] == notes[1]
    assert sum("has nothing to learn from" in note for note in notes[0]) == 1  # both are one row


@pytest.mark.parametrize(
    ("num_threads", "jobs", "small", "of_a_training", "at_once"),
    [
        (4, 2, True, 2, 2),
        (3, 2, True, 1, 2),
        (1, 2, True, 1, 2),
        (2, None, True, 1, 2),
        (None, None, True, 1, 5),
        (None, 2, True, 1, 2),
        (2, None, False, 2, 1),
        (None, None, False, 5, 1),
        (None, 2, False, 2, 2),
    ],
)
def test_threads_are_shared_out(tiny, monkeypatch, num_threads, jobs, small, of_a_training, at_once):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.setattr(module.arguments, "is_small", lambda _: small)
    result = bp.compare(*tiny, **{**SMALL, "rounds": 1, "num_threads": num_threads}, jobs=jobs)
    settings = result.document["settings"]
    assert (settings["num_threads"], settings["jobs"]) == (of_a_training, at_once)


@pytest.mark.parametrize("name", ["num_threads", "jobs"])
def test_wrong_numbers_are_refused_by_name(tiny, name):
    with pytest.raises(ValueError, match=f"^{name} must be an integer"):
        bp.compare(*tiny, **{**SMALL, name: 0})


@pytest.mark.parametrize(("policy", "expected"), [(None, "passive"), ("active", "active")])
def test_threads_of_openmp_wait_passively_unless_told_otherwise(monkeypatch, policy, expected):
    monkeypatch.setenv("OMP_WAIT_POLICY", policy or "")
    if policy is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    with pytest.raises(ValueError, match="train"):
        bp.compare(None)
    assert os.environ["OMP_WAIT_POLICY"] == expected


_interrupted = threading.Event()


@dataclass(frozen=True, kw_only=True)
class Interrupts(bp.RankNet):
    def gradient_hessian(self, *args, **options):
        if not _interrupted.is_set():
            _interrupted.set()
            signal.raise_signal(signal.SIGINT)  # Python raises it in the main thread
        return super().gradient_hessian(*args, **options)


@pytest.mark.skipif(os.name == "nt", reason="a signal ends the process")
@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("tune", [0, 3])
def test_ctrl_c_ends_trainings_in_other_threads(tiny, framework, tune):
    before = threading.active_count()
    _interrupted.clear()
    given = {**ONE, "losses": [bp.RankNet(), Interrupts()], "baselines": (), "frameworks": framework, "tune": tune}
    result = bp.compare(*tiny, **given | {"rounds": 10**6, "early_stopping_rounds": None}, jobs=2)
    assert result.interrupted
    until = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_ctrl_c_keeps_what_is_finished(tiny, tmp_path, monkeypatch):
    @contextmanager
    def until_two_runs(*_args, **_options):
        done = []

        def advance(_, steps):
            done.extend([None] * steps)
            if steps and len(done) >= 2:
                raise KeyboardInterrupt

        yield advance

    with monkeypatch.context() as patch:
        patch.setattr(module, "progress_bar", until_two_runs)
        result = bp.compare(*tiny, **SMALL, jobs=2, store=tmp_path / "kept.jsonl")
    assert result.interrupted
    assert sum(row["runs_finished"] for row in result.document["methods"]) == 2
    again = bp.compare(*tiny, **SMALL, store=tmp_path / "kept.jsonl", resume=True)
    assert not again.interrupted
    runs = [run for row in again.document["methods"] for run in row["runs"]]
    assert all(run in runs for row in result.document["methods"] for run in row["runs"])  # times too
    assert without_times(again) == without_times(bp.compare(*tiny, **SMALL))


class Locked:
    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, gap):
        return gap


def test_progress_changes_no_result(tiny, monkeypatch, capsys):
    without = bp.compare(*tiny, **SMALL, progress=False)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    found = bp.compare(*tiny, **SMALL, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert without_times(found) == without_times(without)


def test_progress_has_lines_where_there_is_no_terminal(monkeypatch, capsys):
    """A step is followed by a line, but for those less than 30 seconds after another. The first names no training."""
    now = [100.0]
    monkeypatch.setattr(console, "monotonic", lambda: now[0])
    with console.progress_bar(True, 240) as advance:
        for seconds, steps in ((31, 1), (31, 2), (20, 1), (20, 130)):
            now[0] += seconds
            advance("", steps)
            advance("lightgbm QBRank, seed 0", 0)
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(", ")[2] for line in err.splitlines()] == [
        "1 of 240 done",
        *(f"{done} of 240 done; now lightgbm QBRank, seed 0" for done in (3, 134)),
    ]
    assert err.startswith("boostplug: 0:00:00, ")
