"""Every example runs in a clean folder, prints something, draws a picture, leaves nothing behind, and stays short."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")  # where there is a display
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    source = example.read_text()
    for library in ("lightgbm", "xgboost", "pandas", "matplotlib"):
        if library in source or ("Ranker" in source and library in {"lightgbm", "xgboost"}):
            pytest.importorskip(library)
    assert len(source.splitlines()) < 60
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    plt.close("all")
    runpy.run_path(str(example), run_name="__main__")
    assert "NDCG@10" in capsys.readouterr().out
    for figure in map(plt.figure, plt.get_fignums()):
        assert all(axes.has_data() for axes in figure.axes)
    assert len(plt.get_fignums()) == 1  # its picture in the gallery
    plt.close("all")
    assert not list(tmp_path.iterdir())  # where the gallery is built, files would be left in the repository


def test_an_example_runs_in_a_process_of_its_own(tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("matplotlib")
    result = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:boostplug", str(ROOT / "examples" / "own_loss_class.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
    )
    assert result.returncode == 0, result.stderr
    assert "NDCG@10" in result.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title_for_the_gallery(example):
    title, line, empty, *rest = ast.get_docstring(ast.parse(example.read_text())).splitlines()
    assert line == "=" * len(title)
    assert empty == ""
    assert rest


def test_there_are_examples():
    assert len(EXAMPLES) >= 4
