"""`boostplug replicate`: what it prints and writes, and its exit statuses."""

import json
import signal
import sys
from dataclasses import replace

import pytest
from studies.replication.test_machine import protocol
from typer.testing import CliRunner

from boostplug.cli import app
from boostplug.studies.replication import PAPERS
from boostplug.studies.replication.figures import Curves

runner = CliRunner()


@pytest.fixture
def toy(monkeypatch):
    """A paper of one tiny study."""
    figure = Curves(number="Figure 1", title="R2", study="toy", measures=("R2",), unit="share")
    monkeypatch.setitem(PAPERS, "toy", replace(protocol(), figures=(figure,)))


@pytest.mark.usefixtures("toy")
def test_tables_claims_files(tmp_path):
    pytest.importorskip("matplotlib")
    target, figures = tmp_path / "toy.json", tmp_path / "figures"
    done = runner.invoke(
        app, ["replicate", "toy", "--json", str(target), "--figures", str(figures), "--processes", "1"]
    )
    assert done.exit_code == 0, done.output
    assert "Rb-c" in done.stdout
    assert "Claims" in done.stdout
    assert json.loads(target.read_text())["protocol"] == "toy"
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg"}


def test_unknown_paper_and_folder(tmp_path):
    done = runner.invoke(app, ["replicate", "gbrank"])
    assert done.exit_code == 2
    assert "there is no replication of 'gbrank'; there are: rankboost-plus" in done.stderr
    done = runner.invoke(app, ["replicate", "adarank", "--data", str(tmp_path / "nowhere")])
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr
    done = runner.invoke(app, ["replicate", "adarank", "--data", str(tmp_path)])
    assert done.exit_code == 2
    assert "none of the data sets" in done.stderr


@pytest.mark.usefixtures("toy")
def test_interrupted_run_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("boostplug.studies.replication.run.in_processes", interrupt)
    done = runner.invoke(app, ["replicate", "toy", "--json", str(tmp_path / "toy.json")])
    assert done.exit_code == 130
    assert "the same command goes on where it was" in done.stderr
    assert not (tmp_path / "toy.json").exists()


def test_a_file_in_place_of_the_figures_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    done = runner.invoke(app, ["replicate", "adarank", "--figures", str(tmp_path / "file")])
    assert done.exit_code == 2
    assert "is a file; name a folder" in done.stderr


@pytest.mark.usefixtures("toy")
def test_figures_that_cannot_be_drawn_are_known_before_training(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr("boostplug.studies.replication.run.in_processes", lambda *_: pytest.fail("trained"))
    done = runner.invoke(app, ["replicate", "toy", "--figures", str(tmp_path / "figures")])
    assert done.exit_code == 2
    assert "figures need matplotlib: pip install 'boostplug[report]'" in done.stderr


@pytest.mark.usefixtures("toy")
def test_sigterm_ends_as_ctrl_c_does(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "boostplug.studies.replication.run.in_processes", lambda *_: signal.raise_signal(signal.SIGTERM)
    )
    done = runner.invoke(app, ["replicate", "toy", "--json", str(tmp_path / "toy.json")])
    assert done.exit_code == 143
    assert "interrupted; the same command goes on where it was" in done.stderr


@pytest.mark.usefixtures("toy")
def test_parts_that_are_none_and_processes_that_die(tmp_path, monkeypatch):
    (tmp_path / "toy.json.parts").write_text("null\n")
    done = runner.invoke(app, ["replicate", "toy", "--json", str(tmp_path / "toy.json")])
    assert done.exit_code == 2
    assert done.stderr.startswith("boostplug replicate: ")
    assert "toy.json.parts is damaged, or was not written by this program (file is not a database)" in done.stderr

    def die(*_):
        raise RuntimeError("a process of the replication has died")

    monkeypatch.setattr("boostplug.studies.replication.run.in_processes", die)
    done = runner.invoke(app, ["replicate", "toy", "--json", str(tmp_path / "other.json")])
    assert done.exit_code == 1
    assert done.stderr == (
        "boostplug replicate: a process of the replication has died; the same command goes on where it was\n"
    )
