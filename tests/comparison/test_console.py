"""Progress: a bar in a terminal, a line now and then where there is none."""

import threading

import pytest

from boostplug.comparison import console
from boostplug.comparison.console import progress_bar


class Clock:
    """Time that passes when someone waits for it; each wait is answered by the next of `waits`."""

    def __init__(self, monkeypatch, *waits):
        self.now, self.waits, self.asked = 100.0, list(waits), []
        monkeypatch.setattr(console, "monotonic", lambda: self.now)
        monkeypatch.setattr(console, "Event", lambda: self)
        monkeypatch.setattr(console, "Thread", lambda target, daemon: Thread(target))

    def wait(self, seconds):
        self.asked.append(seconds)
        if not self.waits:
            return True
        self.now += seconds
        self.waits.pop(0)()
        return False

    def set(self):
        pass


class Thread:
    """Does its work when it is waited for."""

    def __init__(self, target):
        self.join = target

    def start(self):
        pass


def test_lines_where_there_is_no_terminal(monkeypatch, capsys):
    steps = []
    Clock(monkeypatch, lambda: steps[0]("lightgbm QBRank, seed 0", 3), lambda: None, lambda: steps[0]("", 130))
    with progress_bar(True, 240, completed=5) as advance:
        steps.append(advance)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "boostplug: 0:00:30, 8 of 240 done; now lightgbm QBRank, seed 0",
        "boostplug: 0:01:00, 8 of 240 done; now lightgbm QBRank, seed 0",
        "boostplug: 0:01:30, 138 of 240 done; now lightgbm QBRank, seed 0",
    ]


@pytest.mark.parametrize("shown", [None, False])
def test_silence_where_nobody_has_asked(monkeypatch, capsys, shown):
    clock = Clock(monkeypatch, lambda: None)
    with progress_bar(shown, 3) as advance:
        advance("something", 1)
    assert capsys.readouterr() == ("", "")
    assert clock.asked == []


def test_the_thread_ends_with_the_work(capsys):
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError), progress_bar(True, 3):
        assert 1 / 0
    assert threading.active_count() == before
    assert capsys.readouterr().err == ""


def test_a_closed_stderr_is_no_error(monkeypatch):
    def fail(_):
        raise BrokenPipeError

    clock = Clock(monkeypatch, lambda: None)
    monkeypatch.setattr(console.sys.stderr, "write", fail)
    with progress_bar(True, 3):
        pass
    assert clock.asked == [30.0, 30.0]


def test_a_bar_in_a_terminal_and_lines_in_a_dumb_one(monkeypatch, capsys):
    Clock(monkeypatch, lambda: None)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(None, 3) as advance:
        advance("something", 1)
    assert "1/3" in capsys.readouterr().err
    monkeypatch.setenv("TERM", "dumb")
    with progress_bar(True, 3) as advance:
        advance("something", 1)
    assert capsys.readouterr().err == "boostplug: 0:00:30, 1 of 3 done; now something\n"
