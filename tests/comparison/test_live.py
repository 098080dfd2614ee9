"""Progress of a comparison: bars with a mean per method in a terminal, a line now and then elsewhere."""

import os
import select
import signal
import subprocess
import sys

import pytest
from reports import without_times

import boostplug as bp
from boostplug.comparison import console, live
from boostplug.comparison.console import bars, progress_bar
from boostplug.comparison.training.runs import Method, Plan, RunOutcome
from boostplug.comparison.training.trees import Trees
from boostplug.datasets import make_ranking


def test_each_method_has_a_bar_with_its_mean(monkeypatch):
    shown = []
    monkeypatch.setattr(live, "bars", lambda given: shown.append(bars(given)) or shown[-1])
    methods = [Method(name, "lightgbm", "lambdarank") for name in ("a", "b", "c")]
    plan = Plan(bp.NDCG(10), [bp.NDCG(10)], Trees(), 10, None, 1, 0, range(2))
    with live.live_bars(False, plan, methods, 3) as (begin, add):
        begin(methods[0], 1, 2)
        add(RunOutcome(methods[0], 0, 0, validation=0.25))
        add(RunOutcome(methods[0], 0, 1, validation=0.5))
        add(RunOutcome(methods[1], 0, 0, error="RuntimeError: broken"))
        assert [(task.description, task.completed, task.total) for task in shown[0].tasks] == [
            ("lightgbm a, seed 1, fold 3", 3, 18),
            ("lightgbm a  0.3750", 2, 6),
            ("lightgbm b  failed", 1, 6),
            ("lightgbm c", 0, 6),
        ]


@pytest.mark.parametrize(("shown", "lines"), [(None, 1), (True, 1), (False, 0)])
def test_a_script_prints_a_line_every_30_seconds(clock, capsys, shown, lines):
    method = Method("a", "lightgbm", "lambdarank")
    with live.live_bars(shown, Plan(bp.NDCG(10), [bp.NDCG(10)], Trees(), 10, None, 1, 0, [0]), [method], 3) as (_, add):
        for fold in range(3):
            clock[0] += 20
            add(RunOutcome(method, fold, 0, validation=0.25))
    assert capsys.readouterr().err.count("2 of 3 done") == lines


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
    assert without_times(found) == without_times(without)


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
@pytest.mark.ci
def test_ctrl_c_leaves_the_terminal_as_it_was(tmp_path):
    """In a terminal of its own: the bars are there, then they are gone, and the cursor and a message are there."""
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
    drawn, _, rest = text.rpartition("\x1b[?25h")  # the cursor is shown
    assert "\x1b[?25l" in drawn
    assert "lambdarank" in drawn
    assert "\x1b[?25l" not in rest
    assert "interrupted before any training had finished" in rest
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


@pytest.fixture
def clock(monkeypatch):
    """Seconds, in a list."""
    now = [100.0]
    monkeypatch.setattr(console, "monotonic", lambda: now[0])
    return now


def test_lines_where_there_is_no_terminal(clock, capsys):
    """A step is followed by a line, but for those less than 30 seconds after another."""
    with progress_bar(True, 240, completed=5) as advance:
        advance("lightgbm QBRank, seed 0", 0)
        for seconds, steps in ((31, 3), (20, 1), (20, 130)):
            clock[0] += seconds
            advance("", steps)
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(", ")[2] for line in err.splitlines()] == [
        "8 of 240 done; now lightgbm QBRank, seed 0",
        "139 of 240 done; now lightgbm QBRank, seed 0",
    ]
    assert err.startswith("boostplug: 0:00:00, ")


@pytest.mark.parametrize("shown", [None, False])
def test_silence_without_progress(clock, capsys, shown):
    with progress_bar(shown, 3) as advance:
        clock[0] += 60
        advance("something", 1)
    assert capsys.readouterr() == ("", "")


def test_a_closed_stderr_is_no_error(clock, monkeypatch):
    def fail(_):
        raise BrokenPipeError

    monkeypatch.setattr(console.sys.stderr, "write", fail)
    with progress_bar(True, 3) as advance:
        clock[0] += 60
        advance("something", 1)


def test_a_bar_in_a_terminal_and_lines_in_a_dumb_one(clock, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(None, 3) as advance:
        advance("something", 1)
    assert "1/3" in capsys.readouterr().err
    monkeypatch.setenv("TERM", "dumb")
    with progress_bar(True, 3) as advance:
        clock[0] += 60
        advance("something", 1)
    assert capsys.readouterr().err == "boostplug: 0:00:00, 1 of 3 done; now something\n"
