"""Every example runs in a clean folder, draws a picture, leaves nothing behind; the notebook runs too."""

import runpy
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from unittest import mock

import pytest

import boostplug as bp

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SMOKE = "lightgbm_train"  # .ci/run runs the others too


@pytest.mark.parametrize(
    "example", [pytest.param(path, id=path.stem, marks=[pytest.mark.ci] * (path.stem != SMOKE)) for path in EXAMPLES]
)
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")  # where there is a display
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    source = example.read_text()
    for library in ("lightgbm", "xgboost", "pandas", "matplotlib"):
        if library in source or ("Ranker" in source and library in {"lightgbm", "xgboost"}):
            pytest.importorskip(library)
    assert len(source.splitlines()) <= 60
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


@pytest.fixture(params=[("lambda_loss", "NDCGLoss2"), ("approx_ndcg", "ApproxNDCG")], ids=lambda names: names[0])
def gallery_loss(request, monkeypatch):
    """The class of a loss in an example, whose comparison is left out."""
    pytest.importorskip("matplotlib").use("agg")
    name, kind = request.param
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # for pickle
    with mock.patch.object(bp, "compare"), mock.patch("matplotlib.pyplot.show"):
        spec.loader.exec_module(module)
    return getattr(module, kind)


def test_losses_of_the_gallery_keep_all_properties(gallery_loss):
    bp.testing.check_loss(gallery_loss())


@pytest.mark.ci
def test_the_notebook_runs(tmp_path, monkeypatch):
    for library in ("lightgbm", "pandas", "matplotlib", "optuna"):
        pytest.importorskip(library)
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    kernelspec = pytest.importorskip("ipykernel.kernelspec")
    # A kernel of this interpreter, whatever others the machine knows by that name.
    kernelspec.write_kernel_spec(tmp_path / "kernels" / "python3")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(ROOT / "examples" / "first_hour.ipynb", as_version=4)
    work = tmp_path / "work"
    work.mkdir()
    given = {"timeout": None, "kernel_name": "python3", "resources": {"metadata": {"path": str(work)}}}
    nbclient.NotebookClient(notebook, **given).execute()
    printed = [output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", [])]
    assert printed[-1] == "the same scores\n"
    assert not [text for text in printed if "Warning" in text and "tqdm" not in text]  # optuna's bars ask for widgets
    assert [path.name for path in work.iterdir()] == ["model.txt"]
