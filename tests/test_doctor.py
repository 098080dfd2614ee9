"""`boostplug doctor`: what it finds here, and what it says of libraries that are missing, old, broken or deadly."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug import cli, doctor

ROOT = Path(__file__).parent.parent
WELL = {
    "imports": {
        name: {"version": "99.1"} for name in ("numpy", "scipy", "numba", "sklearn", "typer", "rich", "lightgbm")
    },
    "kernels": {
        "machine": {"processor": "abacus", "cores": 4, "memory_gib": 8.0},
        "threads": 4,
        "limit": None,
        "ndcg": 1.0,
        "in_memory": False,
        "folders": ["/opt/numba"],
    },
    "lightgbm": {"ndcg": 1.0, "gpu": "No OpenCL device found"},
    "xgboost": {"ndcg": 1.0, "cuda": None, "nccl": True},
}


def diagnose(monkeypatch, installed=None, environment=None, **changed):
    """Return the diagnosis of a machine that is well but for what is changed in the answers of its processes."""
    answers = {name: WELL[name] | changed.get(name, {}) for name in WELL}
    there = {name for name in answers["imports"] if name != "openmp"} if installed is None else installed
    monkeypatch.setattr(doctor, "is_installed", there.__contains__)
    monkeypatch.setattr(doctor, "_version", lambda name, imported: imported.get(name, {}).get("version"))
    monkeypatch.setattr(doctor, "_answers", lambda what, *_: answers[what])
    monkeypatch.setattr(doctor, "_gpus", lambda: ["a card"])
    monkeypatch.setattr(doctor, "_least", lambda: {"numpy": "1.26", "lightgbm": "4.6", "scikit-learn": "1.6"})
    monkeypatch.setattr(doctor, "_installed_version", lambda _: bp.__version__)
    for name in ("OMP_NUM_THREADS", "NUMBA_DISABLE_JIT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (environment or {}).items():
        monkeypatch.setenv(name, value)
    return doctor.doctor()


@pytest.mark.ci
def test_what_is_here_works(tmp_path):
    """In full, as a user runs it."""
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    target = tmp_path / "found.json"
    outcome = CliRunner().invoke(cli.app, ["doctor", "--json", str(target)])
    found = json.loads(target.read_text())
    assert (outcome.exit_code, found["problems"], outcome.stderr) == (0, [], "")
    assert {name: trial["ndcg"] for name, trial in found["trials"].items() if "ndcg" in trial} == {
        "kernels": 1.0,
        "lightgbm": 1.0,
        "xgboost": 1.0,
    }
    kernels = found["trials"]["kernels"]
    assert kernels["folders"]
    assert kernels["set_num_threads"] == 2
    assert all("error" not in found["trials"]["imports"][name] for name in ("numpy", "sklearn", "lightgbm", "xgboost"))
    assert f"boostplug {bp.__version__}, " in outcome.stdout
    for name in ("numpy", "scikit-learn", "lightgbm"):
        assert f"  {name} " in outcome.stdout
    assert "schema" not in outcome.stdout


def test_a_library_whose_import_fails_is_all_that_fails(tmp_path):
    """Even the one that everything needs."""
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
    remedy = "pip install --force-reinstall numpy"
    assert f"1. numpy cannot be imported (ImportError: libopenblas is not where it was): {remedy}" in done.stdout, (
        done.stdout
    )
    assert "Traceback" not in done.stdout + done.stderr


def test_an_import_that_ends_its_process_is_all_that_fails(tmp_path, monkeypatch):
    (tmp_path / "deadly.py").write_text("import os\nprint('last words')\nos.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = doctor._imports(["json", "deadly", "csv"])
    assert found["deadly"]["error"] in {"the process is ended by SIGABRT", "status 3"}  # the latter on Windows
    assert all("error" not in found[name] for name in ("json", "csv"))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"imports": {"numpy": {"version": "1.25.9"}}}, "numpy 1.25.9 is older than 1.26: pip install --upgrade"),
        (
            {"imports": {"sklearn": {"version": "1.6", "error": "OSError: cut off", "remedy": "mend it"}}},
            "scikit-learn cannot be imported (OSError: cut off): mend it",
        ),
        ({"imports": {"numba": {"version": None}}}, "numba is missing, and nothing works without it: pip install"),
        ({"lightgbm": {"ndcg": 0.5}}, "LightGBM does not learn what is given away (NDCG@10 0.500, not 1)"),
        ({"kernels": {"ndcg": 0.5}}, "the reference rankers do not learn what is given away"),
        (
            {"imports": {"openmp": [{"runtime": name, "path": name} for name in ("libomp", "libgomp", "libiomp")]}},
            "two OpenMP runtimes that do not get on are loaded together (libiomp and libomp)",
        ),
    ],
)
def test_problems_end_with_what_to_do(changed, problem, monkeypatch, tmp_path):
    found = diagnose(monkeypatch, **changed)
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem)
    assert f"What to do\n  1. {problem}" in str(found)
    monkeypatch.setattr(doctor, "doctor", lambda _: found)
    outcome = CliRunner().invoke(cli.app, ["doctor", "--json", str(tmp_path / "found.json")])
    assert outcome.exit_code == 1
    assert json.loads((tmp_path / "found.json").read_text())["problems"] == found.problems
