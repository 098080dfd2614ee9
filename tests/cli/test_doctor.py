"""`boostplug doctor`: what it finds here, and its remedies for libraries that are old, broken or end their process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli import app as cli
from boostplug.cli import doctor

ROOT = Path(__file__).parents[2]
WELL = {"ndcg": 1.0, "threads": 4, "cores": 4, "folders": ["/opt/numba"]}


def diagnose(monkeypatch, versions=None, **changed):
    """Return the diagnosis of a machine without problems, except for the changed answers of its processes."""
    known = {"boostplug": bp.__version__, "numpy": "2.0", "lightgbm": "4.6.0", "xgboost": "3.0"} | (versions or {})
    answers = {name: changed.get(name, WELL) for name in doctor.TRAININGS}
    monkeypatch.setattr(doctor, "is_installed", lambda name: known.get(name, "1") is not None)
    monkeypatch.setattr(doctor, "_version", known.get)
    monkeypatch.setattr(doctor, "_trained_in_new_process", answers.__getitem__)
    needed = ["numpy>=1.26", 'lightgbm>=4.6; extra == "lightgbm"', "dask[dataframe]>=2025.5.1"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: needed)
    return doctor.doctor()


@pytest.mark.ci
def test_what_is_here_works(tmp_path):
    """In full, as a user runs it."""
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    target = tmp_path / "found.json"
    outcome = CliRunner().invoke(cli.app, ["doctor", "--json", str(target)], env={"OMP_NUM_THREADS": "1"})
    found = json.loads(target.read_text())
    assert (outcome.exit_code, found["problems"], outcome.stderr) == (0, [], "")
    assert {*found["trainings"]} == {"RankBoostRanker", "LGBMRanker", "XGBRanker"}
    for training in found["trainings"].values():
        assert (training["ndcg"], training["threads"]) == (1.0, 1)
        assert training["folders"]
    assert f"boostplug {bp.__version__}, " in outcome.stdout
    for name in ("numpy", "scikit-learn", "lightgbm"):
        assert f"  {name} " in outcome.stdout
    assert "schema" not in outcome.stdout


def test_a_library_that_everything_needs_and_whose_import_fails(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('libopenblas is not where it was')")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    code = "from boostplug.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "doctor"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert done.stdout.endswith(
        "What to do\n  1. training fails (ImportError: libopenblas is not where it was): reinstall the library that it "
        "names, or report it with this text\n"
    ), done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os; print('last words'); os._exit(3)", r"training fails \(exit status 3\): reinstall"),
        (
            "raise OSError('libgomp.so.1: no such file')",
            r"LightGBM, .*\(OSError: libgomp.so.1: .*apt-get install libgomp1",
        ),
    ],
)
def test_a_framework_that_fails_is_the_only_problem(code, problem, tmp_path, monkeypatch):
    (tmp_path / "lightgbm.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    answer = doctor._trained_in_new_process("LGBMRanker")
    (found,) = diagnose(monkeypatch, LGBMRanker=answer).document["problems"]
    assert re.search(problem, found), found


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"versions": {"numpy": "1.25.9"}}, "numpy 1.25.9 is older than 1.26: pip install --upgrade 'numpy>=1.26'"),
        ({"versions": {"lightgbm": "4.10"}, "RankBoostRanker": {"error": "broken"}}, "training fails (broken): reinst"),
        ({"LGBMRanker": WELL | {"ndcg": 0.5}}, "LGBMRanker reaches an NDCG@10 of 0.500 instead of 1"),
        ({"XGBRanker": WELL | {"folders": None}}, "no folder for compiled code can be written to"),
        (
            {"XGBRanker": WELL | {"threads": 64}},
            "64 threads share 4 cores and wait for each other: set OMP_NUM_THREADS=4",
        ),
    ],
)
def test_problems_end_with_what_to_do(changed, problem, monkeypatch, tmp_path):
    found = diagnose(monkeypatch, **changed)
    problems = found.document["problems"]
    assert len(problems) == 1
    assert problems[0].startswith(problem)
    assert f"What to do\n  1. {problem}" in str(found)
    monkeypatch.setattr(doctor, "doctor", lambda _: found)
    outcome = CliRunner().invoke(cli.app, ["doctor", "--json", str(tmp_path / "found.json")])
    assert outcome.exit_code == 1
    assert json.loads((tmp_path / "found.json").read_text())["problems"] == problems


def test_a_framework_that_is_not_installed_is_no_problem(monkeypatch):
    found = str(diagnose(monkeypatch, versions={"xgboost": None}))
    assert "not installed (pip install 'boostplug[xgboost]')" in found
    assert found.endswith("All is well.")


def test_the_home_folder_is_shown_as_a_tilde(monkeypatch):
    folder = str(Path.home() / ".cache" / "numba")
    found = diagnose(monkeypatch, RankBoostRanker=WELL | {"folders": [folder]})
    assert f"  {Path('~', '.cache', 'numba')}\n" in str(found)
    assert str(Path.home()) not in str(found)
