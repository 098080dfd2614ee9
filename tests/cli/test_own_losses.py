"""Losses of the user's own on the command line: ``--losses module:name``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli import app as cli
from boostplug.cli.own_losses import with_own_losses

ROOT = Path(__file__).parents[2]
MODULE = '''
import os
from dataclasses import dataclass

import boostplug as bp


@dataclass(frozen=True, kw_only=True)
class Flat(bp.RankNet):
    """RankNet with a flatter slope."""

    sigmoid: float = 0.25


@dataclass(frozen=True)
class Needy(bp.RankNet):
    """A class whose parameter has no default."""

    need: float


class Abstract(bp.Loss):
    """A class that leaves everything open."""


def both():
    return 0.5 * Flat() + 0.5 * bp.QBRank()


def with_parameter(weight):
    return weight * Flat()


def returns_text():
    return "ranknet"


ready = Flat(sigmoid=0.5)
number = 3
'''
QUICK = ["--rounds", "2", "--seeds", "1", "--threads", "2", "--frameworks", "lightgbm", "--baselines", "lambdarank"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a module of losses; what an import leaves behind is taken back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    (tmp_path / "toy_losses.py").write_text(MODULE)
    yield tmp_path
    for name in {*sys.modules} - before:
        if name.partition(".")[0].startswith("toy_"):
            del sys.modules[name]


@pytest.mark.usefixtures("folder")
def test_a_class_a_loss_and_a_function_name_a_loss():
    items = ["mpboost", "toy_losses:Flat", "toy_losses:ready", "toy_losses:both"]
    first, flat, ready, both = with_own_losses("--losses", items)
    assert first == "mpboost"
    assert (flat.name, flat.sigmoid, ready.sigmoid) == ("Flat", 0.25, 0.5)
    assert both == 0.5 * flat + 0.5 * bp.QBRank()
    assert with_own_losses("--losses", None) is None


def test_a_module_may_be_in_a_package(folder):
    (folder / "toy_package").mkdir()
    (folder / "toy_package" / "inner.py").write_text(MODULE)
    assert with_own_losses("--losses", ["ranknet", " toy_package.inner:Flat "])[1].name == "Flat"


ERRORS = {
    "toy_absent:Flat": "there is no module 'toy_absent' in the current folder, and none is installed; run the command "
    "in the folder that holds it, or add that folder to PYTHONPATH",
    "toy_losses.inner:Flat": "there is no module 'toy_losses.inner'",
    "toy_losses:Huber": "toy_losses.py has no 'Huber'; its losses are: Flat, Needy, Abstract, ready",
    "toy_losses:number": "is 3; name a class derived from boostplug.Loss, an instance of one, or a function without "
    "parameters that returns one",
    "toy_losses:returns_text": "is a function that returns 'ranknet'; name a class derived",
    "toy_losses:with_parameter": "missing 1 required positional argument: 'weight'; it is called without parameters: "
    "give them defaults, or name a function that sets them",
    "toy_losses:Needy": "missing 1 required positional argument: 'need'; it is called without parameters",
    "toy_losses:Abstract": "it is called without parameters",
    "toy_losses:os": "name a class derived from boostplug.Loss",
    "toy_losses:Flat(sigmoid=2)": "not of the form module:name; write my_losses:MyLoss for MyLoss in my_losses.py",
    "0.5*toy_losses:Flat": "not of the form module:name",
    "toy_losses.py:Flat": "not of the form module:name",
    "toy_syntax:Flat": "importing toy_syntax raises SyntaxError: invalid syntax (toy_syntax.py, line 1); python -c "
    '"import toy_syntax" shows where',
    "toy_needs:Flat": "importing toy_needs raises ModuleNotFoundError: No module named 'toy_library'",
    "toy_exits:Flat": "importing toy_exits raises SystemExit: 3",
}


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_names_the_option_the_text_and_the_remedy_in_one_line(folder, text):
    (folder / "toy_syntax.py").write_text("def def\n")
    (folder / "toy_needs.py").write_text("import toy_library\n")
    (folder / "toy_exits.py").write_text("import sys\nsys.exit(3)\n")
    outcome = CliRunner().invoke(cli.app, ["compare", *QUICK, "--losses", f"mpboost, {text}"])
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert (
        outcome.stderr.startswith(f"boostplug compare: --losses: {text}") or f"{text!r} has a colon" in outcome.stderr
    )
    assert ERRORS[text] in outcome.stderr
    assert outcome.stderr.count("\n") == 1


@pytest.mark.usefixtures("folder")
def test_python_imports_no_module_by_a_text():
    """There the loss itself is passed."""
    data = bp.datasets.load_bundled()
    with pytest.raises(ValueError, match="there is no loss 'toy_losses:Flat'"):
        bp.compare(*data, losses=["toy_losses:Flat"])
    assert "toy_losses" not in sys.modules


def test_several_processes_train_it_and_the_page_has_the_command(folder):
    """-P keeps the current folder off Python's path, as the script `boostplug` does."""
    files = ["--json", "out.json", "--report", "out.html"]
    arguments = [*QUICK, "--jobs", "2", "--losses", "toy_losses:Flat, toy_losses:both"]
    command = [sys.executable, "-P", "-m", "boostplug.cli", "compare", *arguments, *files]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    methods = json.loads((folder / "out.json").read_text())["methods"]
    assert [row["method"] for row in methods] == ["lambdarank", "Flat", ".5 Flat + .5 QBRank"]
    assert {row["runs_finished"] for row in methods} == {1}
    assert "--losses 'toy_losses:Flat, toy_losses:both' --json" in (folder / "out.html").read_text()
