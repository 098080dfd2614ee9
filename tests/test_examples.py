"""Every example runs from a clean folder, prints something, and stays short."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    source = example.read_text()
    for framework in ("lightgbm", "xgboost", "pandas"):
        if framework in source or ("Ranker" in source and framework != "pandas"):
            pytest.importorskip(framework)
    assert len(source.splitlines()) < 60
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert "NDCG@10" in capsys.readouterr().out


def test_an_example_runs_in_a_process_of_its_own(tmp_path):
    pytest.importorskip("lightgbm")
    result = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:boostplug", str(ROOT / "examples" / "own_loss_class.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stderr
    assert "NDCG@10" in result.stdout


def test_there_are_examples():
    assert len(EXAMPLES) >= 4
