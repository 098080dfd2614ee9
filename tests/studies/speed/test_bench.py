"""`boostplug bench`: every benchmark runs, on little here, and says what it measured."""

import json
import math
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli import app
from boostplug.comparison.summary import to_json
from boostplug.losses import LOSSES
from boostplug.rankers import RankBoostRanker
from boostplug.studies import speed as package
from boostplug.studies.speed import (
    BENCHES,
    BenchResult,
    BenchResults,
    bench,
)
from boostplug.studies.speed.benchmark import Benchmark, Column, Row, Setting
from boostplug.studies.speed.benchmarks import gradients as gradients_module
from boostplug.studies.speed.benchmarks import out_of_core, rankers, rounds, startup
from boostplug.studies.speed.measuring import clock, data

runner = CliRunner()


@pytest.fixture
def little(monkeypatch):
    """Make what does not scale small too: few queries and features, little to compile without a cache."""
    whole = data.features_and_queries
    monkeypatch.setattr(rankers, "features_and_queries", lambda n, size, features, grades: whole(3, size, 4, grades))
    monkeypatch.setattr(gradients_module, "_LEAST_QUERIES", 400)
    monkeypatch.setattr(rounds, "_FEATURES", 4)
    monkeypatch.setattr(startup, "_STATEMENTS", ("import boostplug", "import numpy, numba", "import no_such_library"))
    ways = ("XGBoost, in memory: QuantileDMatrix", "LightGBM, batches: Sequence", "XGBoost, Dask: each of two workers")
    monkeypatch.setattr(out_of_core, "_WAYS", {name: out_of_core._WAYS[name] for name in ways})
    monkeypatch.setattr(startup, "default_losses", dict)
    monkeypatch.setattr(startup, "_FIRST_CALLS", f"import os; os.environ['NUMBA_OPT'] = '0'\n{startup._FIRST_CALLS}")


def nothing_found(*_arguments, **_environment):
    """Answer as a process does on a system that tells no memory."""
    return {"threads": 0, "bytes": {}}


class Toy(Benchmark):
    """A benchmark whose runs give 1, 2, 3, …"""

    name = "toy"
    title = "what a test measures"
    about = "Numbers.\n"
    columns = (
        Column("documents", "documents", "given"),
        Column("seconds", "s"),
        Column("share", "share", "ratio", 2),
        Column("absent", "absent"),
    )

    def __init__(self, setting):
        super().__init__(setting)
        self.number = 0

    def run(self):
        self.number += 1
        self.setting.say("thing")
        self.note("Something is left out.")
        yield Row(
            "lists", "thing", {"documents": 5000, "seconds": self.number, "share": 0.5 * self.number}, {"share": 0.9}
        )
        yield Row("lists", "other", {"documents": 70, "seconds": 0.012345, "share": None})


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(package, "BENCHES", {"toy": Toy, "again": Toy})


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", BENCHES)
def test_every_benchmark_runs(name, tmp_path):
    result = bench(name, scale=0.002, repeat=1)
    document = to_json(result)
    assert document["benchmark"] == name
    assert document["schema"] == "boostplug.bench/2"
    assert document["versions"].keys() >= {"boostplug", "numpy", "numba"}
    assert document["machine"]["cores"] >= 1
    assert document["machine"]["processor"]
    kinds = {column["key"]: column["kind"] for column in document["columns"]}
    assert result.rows
    for row in result.rows:
        assert row.values, row
        for key, value in row.values.items():
            assert math.isfinite(value), (row, key)
            assert value > 0 or key in {
                "kept_bytes",
                "later_call_bytes",
                "threads_woken",
                "compile_share",
                "above_dummy",
                "above_replay",
            }, (
                row,
                key,
            )
            assert key in row.runs or kinds[key] == "given", (row, key)
        assert row.name in str(result)
        assert not row.targets  # they are for the full scale
    names = [(row.part, row.name) for row in result.rows]
    assert len({*names}) == len(names)
    result.to_json(tmp_path / "bench.json")
    assert json.loads((tmp_path / "bench.json").read_text()) == document


def test_every_loss_is_measured(monkeypatch):
    """One that is new in the registry, too."""
    monkeypatch.setitem(LOSSES, "new", (bp.RankNet(sigmoid=0.125),))
    monkeypatch.setattr(gradients_module, "call_in_process", nothing_found)
    result = bench("gradients", scale=0.0005, repeat=1)
    for part in ("MSLR's shape, scores of spread 1", "One query", "Tiny lists", "Different grades"):
        found = {row.name for row in result.rows if row.part == part}
        assert found >= {*data.named_losses()}
    assert any("sigmoid" in name or ".125" in name for name in data.named_losses())
    assert "Memory is left out: this system does not tell" in str(result)


def test_shares_are_of_one_run_and_of_lambdarank(monkeypatch):
    """With clocks that give what each thing is to take, the share is their ratio per document."""

    def taken(calls, _number):
        return {name: 0.003 + 0.01 * name.endswith("ranks") for name in calls}

    monkeypatch.setattr(gradients_module, "in_turns", taken)
    monkeypatch.setattr(gradients_module, "call_in_process", nothing_found)
    result = bench("gradients", scale=0.001, repeat=2)
    rows = {row.name: row.values for row in result.rows if row.part.endswith("spread 1")}
    assert rows["RankNet"]["share"] == pytest.approx(0.3)
    assert rows["RankNet"]["milliseconds"] == pytest.approx(3.0)
    assert rows.keys() == {*data.named_losses(), "LightGBM's lambdarank"}
    assert rows["LightGBM's lambdarank"]["share"] == pytest.approx(1.0)
    tiny = next(row for row in result.rows if row.part == "Tiny lists" and row.name == "RankNet")
    assert tiny.values["microseconds"] == pytest.approx(3000 / 50)


def test_without_lightgbm(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    monkeypatch.setattr(gradients_module, "call_in_process", nothing_found)
    result = bench("gradients", scale=0.0005, repeat=1)
    assert not any("share" in row.values for row in result.rows)
    assert "LightGBM is not installed" in str(result)


@pytest.mark.usefixtures("toy")
def test_medians_ranges_and_targets():
    result = bench("toy", repeat=3)
    thing, other = result.rows
    assert thing.values == {"documents": 5000, "seconds": 2, "share": 1.0}
    assert thing.runs == {"seconds": [1, 2, 3], "share": [0.5, 1.0, 1.5]}
    assert "share" not in other.values
    text = str(result)
    assert "1.00 (0.50–1.50) ≤ 0.90 missed" in text
    assert "5,000" in text
    assert "0.0123" in text
    assert "absent" not in text
    assert "Something is left out." in text
    assert "medians of 3 runs" in text
    assert result.missed == ["lists, thing: share 1.00, target 0.900"]
    assert bench("toy", repeat=1).missed == []
    assert bench("toy", scale=0.5, repeat=3).missed == []  # smaller, so without targets


@pytest.mark.usefixtures("toy")
def test_several_benchmarks_in_one_file(tmp_path):
    path = tmp_path / "bench.json"
    done = runner.invoke(app, ["bench", "all", "--repeat", "2", "--json", str(path)])
    assert done.exit_code == 0
    document = json.loads(path.read_text())
    assert [result["repeat"] for result in document["results"]] == [2, 2]
    assert done.stdout.count("what a test measures") == 2
    assert "toy, run 2 of 2: thing" in done.stderr


@pytest.mark.usefixtures("toy")
def test_short_is_small_and_once(tmp_path):
    path = tmp_path / "bench.json"
    assert runner.invoke(app, ["bench", "toy", "--short", "--json", str(path)]).exit_code == 0
    document = json.loads(path.read_text())
    assert (document["scale"], document["repeat"]) == (0.05, 1)
    assert runner.invoke(app, ["bench", "toy", "--short", "--repeat", "2", "--json", str(path)]).exit_code == 0
    assert json.loads(path.read_text())["repeat"] == 2


@pytest.mark.parametrize(("error", "status"), [(RuntimeError("a process died"), 1), (KeyboardInterrupt(), 130)])
def test_what_is_finished_is_shown(error, status, toy, monkeypatch, tmp_path):
    class Failing(Toy):
        def run(self):
            raise error

    monkeypatch.setitem(package.BENCHES, "again", Failing)
    path = tmp_path / "bench.json"
    done = runner.invoke(app, ["bench", "all", "--json", str(path)])
    assert done.exit_code == status
    assert json.loads(path.read_text())["benchmark"] == "toy"
    assert "what a test measures" in done.stdout
    assert ("a process died" if status == 1 else "interrupted") in done.stderr


@pytest.mark.usefixtures("little")
def test_command(tmp_path):
    path = tmp_path / "bench.json"
    arguments = ["rankers", "--scale", "0.02", "--repeat", "1", "--threads", "1", "--json", str(path)]
    done = runner.invoke(app, ["bench", *arguments])
    assert done.exit_code == 0
    assert "RankBoost+" in done.stdout
    document = json.loads(path.read_text())
    assert document["threads"] == 1
    assert document["rows"][0]["values"].keys() >= {"documents", "pairs", "rounds", "seconds", "milliseconds_per_round"}


def test_unknown_benchmark():
    done = runner.invoke(app, ["bench", "everything"])
    assert done.exit_code == 2
    assert "there is no benchmark 'everything'; take one of gradients" in done.stderr
    with pytest.raises(ValueError, match="no benchmark"):
        bench("everything")


@pytest.mark.parametrize("scale", ["nan", "inf", "-1", "1e12"])
def test_a_scale_that_makes_no_sense(scale):
    done = runner.invoke(app, ["bench", "rankers", "--scale", scale])
    assert done.exit_code == 2
    assert "scale must be a finite number of at least 0 and of at most 1000; got" in done.stderr
    assert "1 is the benchmark's own" in done.stderr


def test_a_repeat_that_makes_no_sense():
    with pytest.raises(ValueError, match="repeat must be an integer of at least 1; got 0"):
        bench("rankers", repeat=0)


def test_memory_of_a_fit_counts_what_is_allocated():
    class Hungry(RankBoostRanker):
        def _rounds(self, training):
            self.eaten = bytearray(30_000_000)
            return super()._rounds(training)

    benchmark = rankers.Rankers(Setting(1.0, 1, lambda _: None))
    row = benchmark._fit("hungry", Hungry(n_estimators=2), data.features_and_queries(2, 40, 3, 2))
    assert row.values["megabytes"] > 30


def test_rounds_of_rankboost_add_up_and_the_longest_is_found(monkeypatch):
    """A fit reads the clock at its start and after each of 20 rounds; its round 13 takes five times as long."""
    ticks = iter(np.cumsum(([0.0] + [0.002] * 12 + [0.01] + [0.002] * 7) * 100))
    monkeypatch.setattr(rankers, "perf_counter", lambda: next(ticks))
    rows = [*rankers.Rankers(Setting(0.1, 1, lambda _: None))._by_round()]
    assert [row.name for row in rows] == [*rankers._VARIANTS]
    for row in rows:
        assert {row.values[key] for key in ("documents", "features", "rounds")} == {50, 40, 20}
        after = {n: row.values.get(f"milliseconds_after_{n}") for n in rankers._MARKS}
        expected = {n: 2.0 * n + 8.0 * (n > 12) for n in rankers._MARKS if n <= 20}
        assert after == {n: pytest.approx(expected[n]) if n in expected else None for n in rankers._MARKS}
        assert (row.values["longest"], row.values["longest_share"]) == (13, pytest.approx(5.0))
        assert row.values["late"] == pytest.approx(2.0)
        assert row.values["of_discrete"] == row.values["of_listed"] == pytest.approx(1.0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_of_a_call_counts_what_is_allocated():
    """By a loss that takes 200 bytes per document, keeps 100 of them, and returns 16, in a process of its own."""
    program = """
import json, numpy as np
from boostplug.studies.speed.measuring import memory
class Hungry:
    def gradient_hessian(self, scores, queries):
        if not hasattr(self, "kept"):
            self.kept = np.ones(len(scores) * 100 // 8)
        more = np.ones(len(scores) * 100 // 8)
        return scores + 1.0, scores + 2.0
print(json.dumps(memory._of_calls(Hungry(), memory.grades(2000, 100))))
"""
    found = clock.ask_process(program, **gradients_module._STEADY)
    assert found["first_call_bytes"] == pytest.approx(216, abs=8)
    assert found["later_call_bytes"] == pytest.approx(116, abs=8)
    assert found["kept_bytes"] == pytest.approx(100, abs=8)


def test_a_process_that_fails_is_no_result():
    with pytest.raises(RuntimeError, match="status 1: ValueError: of a program"):
        clock.ask_process("raise ValueError('of a program')")


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_a_replay_grows_the_same_trees(name, monkeypatch):
    library = pytest.importorskip(name)
    monkeypatch.setattr(rounds, "_FEATURES", 4)
    computed = []
    losses = {
        loss.name: lambda scores, dataset, loss=loss: computed.append(loss) or loss(scores, dataset)
        for loss in (bp.RankNet(), bp.MPBoost())
    }
    monkeypatch.setattr(rounds, "default_losses", lambda: losses)
    benchmark = rounds.BoostingRounds(Setting(0.005, 1, lambda _: None))
    framework = next(framework for framework in benchmark._frameworks if framework.title.lower() == name)
    made = []

    class Kept(library.Booster):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(library, "Booster", Kept)
    rows = [*benchmark._in(framework)]
    trees = [booster.trees_to_dataframe().drop(columns="ID", errors="ignore") for booster in made]
    ours, replayed = trees[3::2], trees[4::2]
    assert len(ours) == len(replayed) == len(losses)
    assert len(computed) == rounds._TURNS * len(losses)  # by ours alone
    for own, again in zip(ours, replayed, strict=True):
        assert len(own) > rounds._TURNS
        assert own.equals(again)
    assert not ours[0].equals(ours[1])
    assert [row.peer for row in rows] == [True] * 3 + [False] * len(losses)
    assert rows[0].values["share"] == 1.0


def test_growing_stops_before_what_would_take_too_long(monkeypatch):
    times = {10: 0.001, 100: 0.1, 1000: 10.0, 10_000: 1000.0}  # seconds of a call
    made = []

    def seconds(call):
        made.append(call())
        return times[made[-1]]

    monkeypatch.setattr(clock, "seconds_of", seconds)
    assert clock.growing({10: lambda: 1000}, 3, longest=20.0) == {10: 10.0}
    assert made == [1000, 1000]  # nothing was foreseen, so that it may have compiled
    made.clear()
    calls = {n: lambda n=n: n for n in times}
    assert clock.growing(calls, 3, longest=20.0) == {10: 0.001, 100: 0.1, 1000: 10.0}
    assert made.count(1000) == 1
    assert made.count(10) == 4
    assert 10_000 not in made


def test_turns_leave_the_first_call_of_each_out(monkeypatch):
    called = []
    monkeypatch.setattr(clock, "seconds_of", lambda call: call() or len(called))
    seconds = clock.in_turns({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, 6)
    assert "".join(called) == 3 * "aaabbb"
    assert seconds == {"a": 8.5, "b": 11.5}


def test_the_table_is_as_wide_as_it_needs(toy):
    """Where it is piped, that is; a terminal gets what fits."""
    result = BenchResults([bench("toy", repeat=1)])
    assert max(map(len, str(result).splitlines())) < 120
    assert isinstance(result.results[0], BenchResult)


def test_nothing_is_measured_where_the_file_cannot_be_written(tmp_path):
    done = runner.invoke(app, ["bench", "rankers", "--json", str(tmp_path / "no" / "bench.json")])
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr
