"""Progress of a comparison: a bar in a terminal, a line now and then elsewhere."""

import pytest
from reports import without_times

import boostplug as bp
from boostplug.comparison import console
from boostplug.comparison.console import progress_bar
from boostplug.datasets import make_ranking


def test_it_changes_no_result(monkeypatch, capsys):
    parts = [make_ranking(12, n_features=4, mean_list_size=8, random_state=seed) for seed in range(3)]
    some = {"losses": "ranknet", "baselines": "lambdarank", "rounds": 3, "seeds": 2, "num_threads": 1}
    without = bp.compare(*parts, **some, progress=False)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    found = bp.compare(*parts, **some, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert found.per_query.equals(without.per_query)
    assert without_times(found) == without_times(without)


@pytest.fixture
def clock(monkeypatch):
    """Seconds, in a list."""
    now = [100.0]
    monkeypatch.setattr(console, "monotonic", lambda: now[0])
    return now


def test_lines_where_there_is_no_terminal(clock, capsys):
    """A step is followed by a line, but for those less than 30 seconds after another."""
    with progress_bar(True, 240) as advance:
        advance("lightgbm QBRank, seed 0", 0)
        for seconds, steps in ((31, 3), (20, 1), (20, 130)):
            clock[0] += seconds
            advance("", steps)
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(", ")[2] for line in err.splitlines()] == [
        "3 of 240 done; now lightgbm QBRank, seed 0",
        "134 of 240 done; now lightgbm QBRank, seed 0",
    ]
    assert err.startswith("boostplug: 0:00:00, ")
