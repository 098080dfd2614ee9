"""The documentation says what the code does: generated pages are fresh, its Python runs, its links lead somewhere."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def script(name):
    """Return a program of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "docs" / "reference").glob("[!i]*.md")))
def test_reference_is_what_the_code_says(name):
    for library in ("lightgbm", "xgboost", "distributed"):
        pytest.importorskip(library)
    module = script("generate")
    expected = module.text(module.PAGES[name])
    assert (module.REFERENCE / name).read_text(encoding="utf-8") == expected, "run python docs/generate.py"


def test_tables_in_guides_are_what_the_code_says():
    module = script("generate")
    assert [*module.TABLES] == ["guides/search_engines.md"]
    for name in module.TABLES:
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == module.with_tables(name), "run docs/generate.py"


@pytest.mark.ci
@pytest.mark.parametrize("name", ["MPBoost", "AdaRank", "ClickLogLoss"])  # the others have the same code
def test_trainings_on_the_pages_of_losses_run(name):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    calls = script("generate").training_calls(name)
    assert calls.keys() == {"LightGBM", "XGBoost"}
    for framework, code in calls.items():
        names = {}
        exec(code.replace("num_boost_round=100", "num_boost_round=2"), names)  # noqa: S102 (our own pages)
        booster = names["booster"]
        assert (booster.num_trees if framework == "LightGBM" else booster.num_boosted_rounds)() == 2


def blocks(page):
    """Yield the file name in the first line, if there is one, and the text of each Python block of a page."""
    pattern = r"^```python\n(?:# (\w+\.py)\n)?(.*?)^```"
    yield from re.findall(pattern, page.read_text(), re.DOTALL | re.MULTILINE)


CLUSTER = "LocalCluster("  # in a script, which its workers import
TOLD = [page for page in PAGES if any(name for name, _ in blocks(page))]  # their blocks go on from one to the next


def tutorial_pages():
    """Return the tutorials, and the guide that prints tables as they do."""
    return [*sorted((ROOT / "docs" / "tutorials").glob("*.md")), ROOT / "docs" / "guides" / "what_has_it_learnt.md"]


def python_blocks():
    for page in PAGES:
        if page in tutorial_pages():
            continue  # told in order, with what they print
        for i, (_, block) in enumerate(blocks(page) if page not in TOLD else ()):
            marks = [pytest.mark.ci] if page.stem != "README" or i > 0 else []
            yield pytest.param(block, id=f"{page.relative_to(ROOT)}:{i}", marks=marks)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for framework in ("lightgbm", "xgboost", "pandas"):
        pytest.importorskip(framework)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def run_in_a_process(block):
    script = Path("train.py")
    script.write_text(block)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return done.stdout


@pytest.mark.parametrize("block", list(python_blocks()))
@pytest.mark.usefixtures("folder")
def test_python_in_the_docs_runs(block):
    if CLUSTER in block:  # the tutorial and tests/dask start clusters
        compile(block, "docs", "exec")
        return
    if "import optuna" in block:
        pytest.importorskip("optuna")
    names = {"__name__": "__main__"}
    exec(compile(block, "docs", "exec"), names)  # noqa: S102 (our own pages)
    assert names.keys() > {"__name__", "__builtins__"}  # it did something


@pytest.mark.ci
@pytest.mark.parametrize("page", TOLD, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_of_a_page_with_scripts_runs_in_order(page, folder):
    """A block that names its file is a script for a process that cannot import boostplug."""
    for library in ("onnxmltools", "onnxruntime", "treelite", "polars", "pyarrow"):
        pytest.importorskip(library)
    names = {"__name__": "__main__"}
    for script_name, block in blocks(page):
        if script_name:
            script = folder / script_name
            script.write_text(f"import sys\nsys.modules['boostplug'] = None\n{block}")
            subprocess.run([sys.executable, script], check=True, cwd=folder)
        else:
            exec(compile(block, "docs", "exec"), names)  # noqa: S102 (our own pages)


# Tutorials run from their first block to the last, and print what they show.

STEP = re.compile(r"^```python\n(.*?)^```(?:\n+```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[+-]?(?:\d*\.)?\d+")
TOLERANCE = 0.02  # of figures of trained trees, which are not the same in every version of a framework


def steps(page):
    """Return a page's blocks of Python, each with the output that is shown right below it, or ""."""
    return STEP.findall(page.read_text())


def tutorials():
    for page in tutorial_pages():
        if steps(page):
            marks = [pytest.mark.cluster] if CLUSTER in page.read_text() else []
            yield pytest.param(page, id=page.stem, marks=marks)


def alike(printed, shown):
    """Return whether words and whole numbers are the same, and figures but for what versions change."""
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", shown).split():
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    return all(abs(float(a) - float(b)) <= (TOLERANCE if "." in b else 0) for a, b in pairs)


@pytest.mark.ci
@pytest.mark.parametrize("page", list(tutorials()))
def test_tutorial_prints_what_it_shows(page, tmp_path, monkeypatch, capsys):
    whole = "".join(code for code, _ in steps(page))
    for library in sorted(set(re.findall(r"^(?:import|from) (\w+)", whole, re.MULTILINE))):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    if CLUSTER in whole:
        printed = run_in_a_process(whole)
        assert alike(printed, "".join(shown for _, shown in steps(page))), printed
        return
    module = ModuleType("tutorial")  # what a page defines can be pickled
    monkeypatch.setitem(sys.modules, "tutorial", module)
    for code, shown in steps(page):
        exec(compile(code, page.name, "exec"), vars(module))  # noqa: S102 (our own pages)
        printed = capsys.readouterr().out
        assert alike(printed, shown), f"{page.name} shows\n{shown}and prints\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_picture_of_gains_is_drawn_from_the_studies():
    pictures = script("pictures")
    assert (pictures.PICTURES / "gains.svg").read_text(encoding="utf-8") == pictures.gains()


def test_gains_in_words_are_those_of_the_picture():
    page = (ROOT / "docs" / "results" / "what_moves_ndcg.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    gains = {}
    for situation, what, ends in script("pictures").rows_of_gains():
        digits = 3 if ends[0] > 0.005 else 4
        gain, low, high = (f"{end:+.{digits}f}".replace("0.", ".", 1) for end in ends)
        assert f"{gain} [{low}, {high}]" in page, (situation, what)
        gains.setdefault(situation, ends[0])
    for situation in ("30 judged queries", "100 judged queries", "2,000 judged queries", "1,500 lists of one choice"):
        assert f"{gains[situation]:+.3f}".replace("0.", ".", 1) in readme
    assert (gains["Thousands of queries"], gains["Clicks with positions"]) == pytest.approx((0.002, 0.017), abs=5e-4)
