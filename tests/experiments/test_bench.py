"""`boostplug bench`: every benchmark runs, on small data here, and says what it measured."""

import json

import pytest
from typer.testing import CliRunner

from boostplug.cli import app
from boostplug.experiments import bench as module
from boostplug.experiments.bench import BENCHES, BenchResult, bench


@pytest.fixture
def small(monkeypatch):
    """Queries of the benchmark's sizes, but few of them, and few features."""
    whole = module._data
    monkeypatch.setattr(
        module, "_data", lambda n, size, features, grades, shares=None: whole(3, size, 4, grades, shares)
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", BENCHES)
def test_every_benchmark_runs(name, tmp_path):
    result = bench(name, scale=0.02)
    assert len(result.rows) >= 8
    for row in result.rows:
        assert row.seconds > 0
        assert row.megabytes > 0
        assert row.rounds >= 1
        assert row.name in str(result)
    result.to_json(tmp_path / "bench.json")
    document = json.loads((tmp_path / "bench.json").read_text())
    assert [row["name"] for row in document["rows"]] == [row.name for row in result.rows]
    assert document["versions"]["boostplug"]


def test_memory_counts_what_is_allocated():
    X, queries = module._data(2, 40, 3, 2)

    class Hungry(module.RankBoostRanker):
        def _rounds(self, training):
            self.eaten = bytearray(30_000_000)
            return super()._rounds(training)

    ranker = Hungry(n_estimators=2)
    assert module._measure("hungry", ranker, (X, queries), 1.0).megabytes > 30


@pytest.mark.usefixtures("small")
def test_command(tmp_path):
    path = tmp_path / "bench.json"
    done = CliRunner().invoke(app, ["bench", "rankers", "--scale", "0.02", "--threads", "1", "--json", str(path)])
    assert done.exit_code == 0
    assert "RankBoost+" in done.stdout
    assert json.loads(path.read_text())["threads"] == 1


def test_unknown_benchmark():
    done = CliRunner().invoke(app, ["bench", "everything"])
    assert done.exit_code == 2
    assert "there is no benchmark 'everything'; take one of rankers" in done.stderr
    with pytest.raises(ValueError, match="no benchmark"):
        bench("everything")


@pytest.mark.parametrize("scale", ["nan", "inf", "-1", "1e12"])
def test_a_scale_that_makes_no_sense(scale):
    done = CliRunner().invoke(app, ["bench", "rankers", "--scale", scale])
    assert done.exit_code == 2
    assert "scale must be a finite number of at least 0 and of at most 1000; got" in done.stderr
    assert "1 is the benchmark's own" in done.stderr


def test_table_is_aligned():
    row = module.Row("x", 1000, 10, 5, 2000, 50, 0.5, 1.25)
    table = str(BenchResult("rankers", (row,), 2)).splitlines()
    assert len(table[0]) == len(table[1])
    assert "10.00" in table[1]
