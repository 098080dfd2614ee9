"""Hostile calls of every public name: only errors in our words may come out, and what returns must be right.

A short run by default. ``pytest -m fuzz``: 100,000 calls (BOOSTPLUG_FUZZ_CALLS), from another seed with
BOOSTPLUG_FUZZ_SEED; with BOOSTPLUG_FUZZ_COUNTS=FOLDER their outcomes are left there, for ``outcomes.py``.
"""

import json
import math
import os
import re
from collections import Counter
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
SHORT = 12  # calls of a target by default


def report(defect, text, detail):
    return f"{defect}\n\n{reproduction(text)}\n{detail}"


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in SLOW])
def test_a_few_hostile_calls(name):
    @settings(
        max_examples=SHORT, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
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


# The harness itself: what it must see, and what it must let pass


@pytest.mark.parametrize(
    ("text", "kind", "defect"),
    [
        ("bp.NDCG(3)", "returned", ""),
        ("bp.NDCG(0)", "ValueError", ""),
        ("bp.NDCG(x=1)", "TypeError", ""),
        ("datasets.load_letor('nowhere')", "OSError", ""),
        ("bp.nowhere", "else", "AttributeError"),
        ("bp.Pairs([0], [1]).winner[5]", "else", "IndexError"),
        ("raise ValueError('x')", "else", "the call's own text"),
        ("bp.MPBoost(distance=np.ones_like).value([0, 1, 2], bp.Queries([2, 1, 0], group=[3]))", "returned", ""),
        ("check_value(bp.MPBoost()); assert False", "else", "AssertionError"),
        ("bp.MPBoost(distance=refusing).value([0, 1], bp.Queries([1, 0], group=[2]))", "ValueError", ""),
        ("warnings.warn('odd', UserWarning)", "else", "UserWarning"),
        ("bp.LogDistance()(np.array([-1.0]))", "else", "RuntimeWarning"),
        ("bp.Queries([1, 0], group=[2]).of_rows(np.ones(3, bool))", "else", "IndexError"),
        ("bp.Queries([1, 0], group=[2]).remember(5, None)", "else", "not in our words: TypeError"),
    ],
)
def test_outcomes_are_told_apart(text, kind, defect):
    outcome = outcome_of(text)
    assert (outcome.kind, outcome.defect.startswith(defect)) == (kind, True), outcome


@pytest.mark.parametrize(
    ("does", "defect"),
    [
        ("pass", ""),
        ("raise typer.Exit(2)", "AssertionError: it failed without a word"),
        ("typer.echo('no', err=True); raise typer.Exit(2)", ""),
        ("typer.echo('no', err=True); raise typer.Exit(3)", "AssertionError"),
        ("{}['x']", "KeyError"),
        ("Path('train.txt').write_text('new')", "AssertionError: train.txt was changed"),
        ("Path('train.txt').unlink()", "AssertionError: gone"),
        ("Path('new.json').write_text('{\"p\": NaN}')", "AssertionError: new.json holds NaN"),
        ("Path('new.json').write_text('{}')", ""),
        (
            "Path('new.json').write_text('{}'); typer.echo('no'); raise typer.Exit(2)",
            "AssertionError: refused, but wrote",
        ),
        ("Path('.x.new').write_text('')", "AssertionError: left behind"),
    ],
)
def test_a_command_is_watched(does, defect):
    text = (
        "import fuzz.run_checks\nimport typer\nbefore, fuzz.run_checks.app = fuzz.run_checks.app, typer.Typer()\n"
        f"@fuzz.run_checks.app.command()\ndef _(train: str = ''):\n    {does}\n"
        "try:\n    command('--train', 'train.txt', files={'train.txt': letor()})\nfinally:\n"
        "    fuzz.run_checks.app = before"
    )
    outcome = outcome_of(text)
    assert (outcome.kind, outcome.defect.startswith(defect)) == ("else" if defect else "returned", True), outcome


def test_a_call_that_ends_the_process_is_named(tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text("import os, sys\nopen(sys.argv[4] + '.call', 'w').write('the call')\nos.abort()\n")
    monkeypatch.setattr(outcomes, "WORKER", worker)
    counts, defects = outcomes.run("queries", 1, 0, tmp_path / "out")
    assert counts == {"else": 1}
    assert [d["text"] for d in defects.values()] == ["the call"]


def test_the_worker_counts_its_calls(tmp_path):
    counts, defects = outcomes.run("set_num_threads", 40, 1, tmp_path / "out.json")
    assert sum(counts.values()) == 40
    assert not defects
    assert Counter(counts).keys() <= set(outcomes.KINDS)


def test_the_page_has_every_target_and_no_defect():
    rows = [line.strip("| ").split(" | ") for line in outcomes.PAGE.read_text().splitlines() if line.startswith("| ")]
    counted = {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in rows[1:]}
    assert counted.keys() == {*TARGETS, "all"}
    total = counted.pop("all")
    assert total == [sum(column) for column in zip(*counted.values(), strict=True)]
    assert total[0] == sum(total[1:]) >= 100_000
    assert total[-1] == 0
