"""Hostile calls of every public name: only errors in our words may come out, and what returns must be right.

A short run by default. ``pytest -m fuzz``: 100,000 calls (BOOSTPLUG_FUZZ_CALLS), from another seed with
BOOSTPLUG_FUZZ_SEED; with BOOSTPLUG_FUZZ_COUNTS=FOLDER their outcomes are left there, for ``outcomes.py``.
"""

import json
import math
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import boostplug as bp
from boostplug import datasets, testing

pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

from fuzz import outcomes
from fuzz.all_targets import TARGETS
from fuzz.harness import outcome_of, reproduction

CALLS = int(os.environ.get("BOOSTPLUG_FUZZ_CALLS", "100000"))
SEED = int(os.environ.get("BOOSTPLUG_FUZZ_SEED", "0"))
SLOW = {"check_loss", "load_bundled", "warmup"}  # the last compiles all kernels
SHORT = {"derivatives": 60, "metric_calls": 50, "queries": 20, "properties": 10}  # calls by default, of others 4


def report(defect, text, detail):
    return f"{defect}\n\n{reproduction(text)}\n{detail}"


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in SLOW])
def test_a_few_hostile_calls(name):
    @settings(
        max_examples=SHORT.get(name, 4),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(TARGETS[name].strategy)
    def call(text):
        outcome = outcome_of(text)
        assert outcome.kind != "else", report(outcome.defect, text, outcome.detail)

    call()


@pytest.mark.fuzz
@pytest.mark.parametrize("name", TARGETS)
def test_many_hostile_calls(name, tmp_path):
    share = TARGETS[name].weight / sum(target.weight for target in TARGETS.values())
    counts, defects = outcomes.run(name, math.ceil(share * CALLS), SEED, tmp_path / "outcomes.json")
    if folder := os.environ.get("BOOSTPLUG_FUZZ_COUNTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        result = {"target": name, "seed": SEED, "counts": counts, "defects": defects}
        Path(folder, f"{re.sub('[^A-Za-z0-9]+', '_', name)}.json").write_text(json.dumps(result))
    assert not defects, "\n\n".join(report(what, d["text"], d["detail"]) for what, d in defects.items())


def test_every_public_name_is_a_target():
    names = {*bp.__all__, *(f"datasets.{n}" for n in datasets.__all__), *(f"testing.{n}" for n in testing.__all__)}
    assert names == {name for target in TARGETS.values() for name in target.covers}


def test_the_page_has_every_target_and_no_defect():
    rows = [line.strip("| ").split(" | ") for line in outcomes.PAGE.read_text().splitlines() if line.startswith("| ")]
    counted = {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in rows[1:]}
    assert counted.keys() == {*TARGETS, "all"}
    total = counted.pop("all")
    assert total == [sum(column) for column in zip(*counted.values(), strict=True)]
    assert total[0] == sum(total[1:]) >= 100_000
    assert total[-1] == 0
