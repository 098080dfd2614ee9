"""The table of a comparison as it grows: what it shows, that it fits, that it goes."""

import os
import re
import select
import signal
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console

import boostplug as bp
from boostplug.comparison.live import Board
from boostplug.comparison.training.runs import Method, Plan, RunOutcome, announced
from boostplug.comparison.training.trees import Trees
from boostplug.datasets import make_ranking

METHODS = [
    Method(f"MPBoost(Log, normalization=queries {i})", framework, "lambdarank")
    for framework in ("lightgbm", "xgboost")
    for i in range(23)
]


def plan_of(metric="NDCG@10", *, tune=0, seeds=3):
    metric = bp.Metric.parse(metric)
    return Plan(metric, [metric], Trees(), 10, None, 1, tune, range(seeds))


def cell(method, value, *, seed=0, fold=0, metric="NDCG@10", **more):
    return RunOutcome(method, fold, seed, validation=value, test={metric: value}, **more)


def drawn(board, width=80, height=24):
    """Return the lines that a terminal of some size shows."""
    console = Console(file=StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    console.print(board, end="")
    return console.file.getvalue().splitlines()


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_all_methods_stand_in_their_order():
    methods = [METHODS[0], METHODS[23], Method("mine", "xgboost", "rank:ndcg")]
    board = Board(plan_of(), methods, 2, clock=Clock())
    board.advance(announced(methods[0], 0, 0), 0)
    board.add(cell(methods[0], 0.25))
    board.advance("", 1)
    board.advance(announced(methods[0], 1, 0), 0)
    board.add(cell(methods[0], 0.5, seed=1))
    board.advance("", 1)
    board.add(RunOutcome(methods[1], 0, 0, error="RuntimeError: broken"))
    board.advance("", 1)
    board.advance(announced(methods[2], 1, 1), 0)
    lines = drawn(board, 120)
    assert [re.split(r"\s{2,}", line.strip()) for line in lines[2:]] == [
        ["lightgbm", methods[0].name, "0.3750", "2/6"],
        ["xgboost", methods[1].name, "failed", "0/6"],
        [">", "xgboost", "mine", "0/6", "seed 1, fold 2"],
        [lines[-1].split()[0], "3/18", "0:00:00"],
    ]
    assert lines[0].split() == ["framework", "method", "validation", "NDCG@10", "runs", "now"]


@pytest.mark.parametrize("shown", [None, True, False])
def test_it_changes_no_result(monkeypatch, capsys, shown):
    parts = [make_ranking(12, n_features=4, mean_list_size=8, random_state=seed) for seed in range(3)]
    some = {"losses": "ranknet", "baselines": "lambdarank", "rounds": 3, "seeds": 2, "num_threads": 1}
    without = bp.compare(*parts, **some, progress=False)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    found = bp.compare(*parts, **some, progress=shown)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("lambdarank" in err) == (shown is not False)
    assert found.per_query.equals(without.per_query)
    assert found.details["hardest"] == without.details["hardest"]
    for a, b in zip(found.details["methods"], without.details["methods"], strict=True):
        assert a | {"seconds": None} == b | {"seconds": None}


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
@pytest.mark.ci
def test_ctrl_c_leaves_the_terminal_as_it_was(tmp_path):
    """In a terminal of its own: the table is there, then it is gone, and the cursor and a message are there."""
    import fcntl
    import struct
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(theirs)
    command = "compare --losses ranknet --frameworks lightgbm --rounds 1000000 --early-stopping 0 --threads 1"
    process = subprocess.Popen(
        [sys.executable, "-m", "boostplug.cli", *command.split(), "--store", str(tmp_path)],
        stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
    )  # fmt: skip
    seen, asked = b"", False
    try:
        while True:
            if select.select([ours], [], [], 0.2)[0]:
                seen += os.read(ours, 65536)
                if b"seed 0" in seen and not asked:
                    process.send_signal(signal.SIGINT)
                    asked = True
            elif process.poll() is not None:
                break
    finally:
        process.kill()
        process.wait()
    text = seen.decode()
    assert process.returncode == 130
    table, _, rest = text.rpartition("\x1b[?25h")  # the cursor is shown
    assert "\x1b[?25l" in table
    assert "lambdarank" in table
    assert "\x1b[?25l" not in rest
    assert "interrupted before any training had finished" in rest
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)
