"""`python docs/studies/replicate.py`: what it prints and writes, and its exit statuses."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from replication.test_machine import CONTINUOUS, protocol

from boostplug.rankers import RankBoostRanker
from studies import replicate
from studies.replication import PAPERS
from studies.replication import run as machine
from studies.replication.figures import Curves
from studies.replication.training.study import Learner

PROGRAM = Path(replicate.__file__)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    """A paper of one tiny study."""
    figure = Curves(number="Figure 1", title="R2", study="toy", measures=("R2",), unit="share")
    monkeypatch.setitem(PAPERS, "toy", replace(protocol(), figures=(figure,)))


def run(*options):
    return replicate.main(["toy", "--processes", "1", *map(str, options)])


def test_tables_claims_files(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    target, figures = tmp_path / "toy.json", tmp_path / "figures"
    assert run("--json", target, "--figures", figures, "--output", tmp_path / "toy.md") == 0
    printed = capsys.readouterr().out
    assert "Rb-c" in printed
    assert "Verdicts, by passage of the paper" in printed
    assert "it is a toy" not in printed
    assert json.loads(target.read_text())["protocol"] == "toy"
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg"}
    assert (tmp_path / "toy.md").read_text().startswith("# A toy.")
    assert run("--full", "--json", target) == 0  # a result may be replaced
    assert "it is a toy" in capsys.readouterr().out


def test_a_failed_task_exits_with_1(monkeypatch, capsys):
    broken = Learner(name="Rb-d", ranker=RankBoostRanker, params={"variant": "none such"})
    monkeypatch.setitem(PAPERS, "toy", protocol(CONTINUOUS, broken))
    assert run() == 1
    assert "2 trainings FAILED" in capsys.readouterr().out


def test_what_cannot_be_read_or_written_exits_with_1_before_anything_is_trained(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(machine, "_jobs", None)
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    for options, message in (
        (["--data", tmp_path / "none"], "there is no folder"),
        (["--json", tmp_path / "table.csv"], "table.csv holds something else"),
        (["--json", tmp_path / "none" / "toy.json"], "No such file or directory"),
    ):
        assert run(*options) == 1
        written = capsys.readouterr()
        assert written.out == ""
        assert written.err.startswith("replicate.py: ")
        assert message in written.err


def test_ctrl_c_exits_with_130(monkeypatch, capsys):
    def interrupt(job):
        raise KeyboardInterrupt

    monkeypatch.setattr(machine, "run", interrupt)
    assert run() == 130
    assert "the same command goes on where it was" in capsys.readouterr().err


def test_the_program_finds_its_modules_from_anywhere_and_knows_the_papers(tmp_path):
    command = [sys.executable, PROGRAM, "none-such"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "invalid choice: 'none-such'" in done.stderr
    assert all(name in done.stderr for name in PAPERS if name != "toy")
