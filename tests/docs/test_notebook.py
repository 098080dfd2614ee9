"""The notebook for a first hour runs from top to bottom, and holds no outputs in the repository."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
kernelspec = pytest.importorskip("ipykernel.kernelspec")

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "first_hour.ipynb"
pytestmark = pytest.mark.ci


def test_the_notebook_runs(tmp_path, monkeypatch):
    for library in ("lightgbm", "pandas", "matplotlib", "optuna"):
        pytest.importorskip(library)
    # A kernel of this interpreter, whatever others the machine knows by that name.
    kernelspec.write_kernel_spec(tmp_path / "kernels" / "python3")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    work = tmp_path / "work"
    work.mkdir()
    client = nbclient.NotebookClient(
        notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": str(work)}}
    )
    client.execute()
    printed = [output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", [])]
    assert printed[-1] == "the same scores\n"
    assert not [text for text in printed if "Warning" in text and "tqdm" not in text]  # optuna's bars ask for widgets
    assert [path.name for path in work.iterdir()] == ["model.txt"]
