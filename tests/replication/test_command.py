"""`boostplug replicate`: what it prints and writes, and its exit statuses."""

import json
from dataclasses import replace

import pytest
from replication.test_machine import protocol
from typer.testing import CliRunner

from boostplug.cli.app import app
from boostplug.replication import PAPERS
from boostplug.replication.figures import Curves

runner = CliRunner()


@pytest.fixture
def toy(monkeypatch):
    """A paper of one tiny study."""
    figure = Curves(number="Figure 1", title="R2", study="toy", measures=("R2",), unit="share")
    monkeypatch.setitem(PAPERS, "toy", replace(protocol(), figures=(figure,)))


def replicated(*options):
    done = runner.invoke(app, ["replicate", "toy", "--processes", "1", *map(str, options)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.usefixtures("toy")
def test_tables_claims_files(tmp_path):
    pytest.importorskip("matplotlib")
    target, figures = tmp_path / "toy.json", tmp_path / "figures"
    printed = replicated("--json", target, "--figures", figures)
    assert "Rb-c" in printed
    assert "Verdicts, by passage of the paper" in printed
    assert "it is a toy" not in printed
    assert json.loads(target.read_text())["protocol"] == "toy"
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg"}
