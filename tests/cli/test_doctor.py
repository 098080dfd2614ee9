"""`boostplug doctor`: what it finds here, and what it says of libraries that are missing or broken."""

import importlib.metadata
import warnings

import pytest
from typer.testing import CliRunner

from boostplug.cli import app as cli
from boostplug.cli import doctor


def run():
    return CliRunner().invoke(cli.app, ["doctor"])


def test_what_is_here_works():
    found = run()
    assert found.exit_code == 0, found.output
    assert found.stdout.endswith("Problem: none\n")
    for line in ("numpy 2", "scikit-learn ", "RankBoostRanker: NDCG@10 1.000", "LGBMRanker: NDCG@10 1.000"):
        assert f"\n{line}" in found.stdout


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (OSError("libgomp.so.1: no such file"), "fails (OSError: libgomp.so.1: no such file): reinstall the library"),
        (0.5, "RankBoostRanker does not learn: report it with this text"),
        ("compiled code cannot be kept", "compiled code cannot be kept"),
    ],
)
def test_problems_end_with_what_to_do(broken, problem, monkeypatch):
    def trained(_ranker):
        if isinstance(broken, Exception):
            raise broken
        if isinstance(broken, str):
            warnings.warn(broken, UserWarning, stacklevel=2)
        return broken if isinstance(broken, float) else 1.0, "none"

    monkeypatch.setattr(doctor, "_trained", trained)
    found = run()
    assert found.exit_code == 1
    assert "Problem: " in found.stdout
    assert problem in found.stdout


def test_a_library_that_is_not_installed_is_no_problem(monkeypatch):
    known = importlib.metadata.version

    def version(name):
        if name in ("xgboost", "numpy"):
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    monkeypatch.setattr(doctor, "is_installed", lambda name: name != "xgboost")
    monkeypatch.setattr(doctor, "_trained", lambda _: (1.0, "none"))
    findings, problems = doctor.doctor()
    assert problems == []
    assert "xgboost is not installed: pip install 'boostplug[xgboost]'" in findings
    assert not any(line.startswith("XGBRanker") for line in findings)


def test_a_library_that_cannot_be_loaded_is_a_problem(monkeypatch):
    """A missing libgomp is an OSError of the import."""

    def fails(name):
        raise OSError(f"libgomp.so.1, which {name} needs")

    monkeypatch.setattr(doctor, "is_installed", fails)
    monkeypatch.setattr(doctor, "_trained", lambda _: (1.0, "none"))
    _, problems = doctor.doctor()
    assert any("LGBMRanker fails (OSError: libgomp.so.1" in line for line in problems)
