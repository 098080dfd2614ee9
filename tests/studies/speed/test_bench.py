"""Benchmarks run, on little here, and say what they measured; the formulas of what very many documents need."""

import json
import math
import re
from pathlib import Path

import pytest

from boostplug.comparison.summary import to_json
from studies import speed as package
from studies.documents import filled
from studies.speed import BENCHES, bench
from studies.speed.benchmark import Benchmark, Column, Row
from studies.speed.benchmarks import gradients, rankers, rounds
from studies.speed.benchmarks.scaling import TRAININGS, Cluster, Costs, needs
from studies.speed.measuring import data
from studies.speed.page import tables
from studies.speed.result import from_document, number, to_file


@pytest.fixture
def little(monkeypatch):
    """Make what does not scale small too: few queries and features."""
    whole = data.features_and_queries
    monkeypatch.setattr(rankers, "features_and_queries", lambda n, size, features, grades: whole(3, size, 4, grades))
    monkeypatch.setattr(gradients, "_LEAST_QUERIES", 400)
    monkeypatch.setattr(rounds, "_FEATURES", 4)


class Toy(Benchmark):
    """A benchmark whose runs give 1, 2, 3, …"""

    name = "toy"
    title = "what a test measures"
    columns = (Column("documents", "documents", "given"), Column("seconds", "s"), Column("share", "share", "ratio", 2))
    columns += (Column("absent", "absent"),)

    def __init__(self, setting):
        super().__init__(setting)
        self.number = 0

    def run(self):
        self.number += 1
        self.setting.say("thing")
        self.note("Something is left out.")
        values = {"documents": 5000, "seconds": self.number, "share": 0.5 * self.number}
        yield Row("lists", "thing", values, {"share": 0.9})
        yield Row("lists", "other", {"documents": 70, "seconds": 0.012345, "share": None})


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", ["gradients", "rounds", "rankers", "clicks"])
def test_benchmarks_that_take_seconds_run(name, tmp_path):
    result = bench(name, scale=0.002, repeat=1)
    document = to_json(result)
    assert document["benchmark"] == name
    assert document["versions"].keys() >= {"boostplug", "numpy", "numba"}
    assert result.rows
    for row in result.rows:
        assert row.values, row
        assert all(map(math.isfinite, row.values.values())), row
        assert not row.targets  # they are for the full scale
    names = [(row.part, row.name) for row in result.rows]
    assert len({*names}) == len(names)
    to_file([result], tmp_path / "bench.json")
    assert from_document(json.loads((tmp_path / "bench.json").read_text())) == [result]


def test_medians_ranges_and_targets(monkeypatch):
    monkeypatch.setattr(package, "BENCHES", {"toy": Toy})
    result = bench("toy", repeat=3)
    thing, other = result.rows
    assert thing.values == {"documents": 5000, "seconds": 2, "share": 1.0}
    assert thing.runs == {"seconds": [1, 2, 3], "share": [0.5, 1.0, 1.5]}
    assert "share" not in other.values
    shown = ("1.00 (0.50–1.50) ≤ 0.90 missed", "5,000", "0.0123", "Something is left out.", "medians of 3 runs")
    assert not [words for words in shown if words not in str(result)]
    assert "absent" not in str(result)
    assert result.missed == ["lists, thing: share 1.00, target 0.900"]
    assert bench("toy", repeat=1).missed == []
    assert bench("toy", scale=0.5, repeat=3).missed == []  # smaller, so without targets


RESULTS = Path(__file__).parents[3] / "docs" / "results"
STORED = from_document(json.loads((RESULTS / "speed.json").read_text(encoding="utf-8")))


def test_tables_of_the_page_are_the_stored_results():
    page = (RESULTS / "speed.md").read_text(encoding="utf-8")
    assert filled(page, tables(STORED)) == page, "run python -m studies.speed.page"


def test_numbers_in_the_text_of_the_page_are_stored():
    """The text has only medians, ends of ranges and targets, written as tables write them."""
    shown = {
        number(value, column.digits)
        for result in STORED
        for column in result.columns
        for row in result.rows
        for value in (row.values.get(column.key), row.targets.get(column.key), *row.runs.get(column.key, []))
    }
    page = (RESULTS / "speed.md").read_text(encoding="utf-8")
    text = re.sub(r"<!-- .*?<!-- end -->", "", page, flags=re.DOTALL)
    found = re.findall(r"\d[\d,]*\.\d+|\d+,\d{3}|\d+(?= Mi?B)|\d+(?= ms)", text)
    assert len(found) > 40
    assert {figure for figure in found if figure not in shown} <= {"0.5", "100,000"}  # our limit for the load, a length
    rows = [row for result in STORED for row in result.rows]
    goals = [(row.values[k], most) for row in rows for k, most in row.targets.items() if k in row.values]
    assert f"{sum(value <= most for value, most in goals)} of {len(goals)} are met" in text


XGBOOST, OUT_OF_CORE, LIGHTGBM = TRAININGS


def test_formulas_by_hand():
    """The figures of runs on a million documents, 16 machines of 16 cores."""
    found = needs(TRAININGS[XGBOOST], Costs(21.0, 4.8), Cluster(16, 16), documents=1e9, features=100)
    assert found["seconds_per_round"] == pytest.approx(1e9 * (480 + 21) * 1e-9 / (256 * 0.7))
    assert found["gradient_share"] == pytest.approx(21 / 501)
    assert found["worker_gigabytes"] == pytest.approx(62.5e6 * (120 + 2.8 * 100) * 1e-9 + 255 * 100 * 256 * 16e-9)
    assert found["frame_gigabytes"] == pytest.approx(25.0)
    assert found["network_megabytes"] == pytest.approx(1.4 * 128 * 100 * 256 * 16e-6 * 2 * 15 / 16)
    lightgbm = needs(TRAININGS[LIGHTGBM], Costs(24.0, 11.5), Cluster(2, 1), documents=1e6, features=20)
    assert lightgbm["network_megabytes"] == pytest.approx(255 * 20 * 256 * 16e-6 / 2)
    one = needs(TRAININGS[OUT_OF_CORE], Costs(24.0, 11.5), Cluster(1, 1), documents=1e6, features=20)
    assert not one.keys() & {"network_megabytes", "frame_gigabytes"}


@pytest.mark.benchmark
@pytest.mark.parametrize("name", BENCHES)
def test_targets_are_met(name):
    result = bench(name, progress=True)
    print(result)
    assert result.missed == []
