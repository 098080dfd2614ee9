"""The documentation says what the code does: generated pages are fresh, its Python runs, its links lead somewhere."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


sys.path.append(str(ROOT / "docs"))


def script(name):
    """Return a program of docs/ as a module."""
    return import_module(name)


OUTPUTS = script("outputs")


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


TOLD = [page for page in PAGES if any(name for name, _ in blocks(page))]  # their blocks go on from one to the next


def python_blocks():
    for page in PAGES:
        if page in OUTPUTS.PRINTING:
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


@pytest.mark.parametrize("block", list(python_blocks()))
@pytest.mark.usefixtures("folder")
def test_python_in_the_docs_runs(block):
    if OUTPUTS.CLUSTER in block:  # the tutorial and tests/dask start clusters
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

TOLERANCE = 0.02  # of figures of trained trees, where another version of a library trains them


def tolerance():
    """Return 0 with the versions that made the pages: they print the same on processors with and without AVX2."""
    return 0.0 if OUTPUTS.same_versions() else TOLERANCE


def tutorials():
    for page in OUTPUTS.PRINTING:
        if codes := [code for code, _ in OUTPUTS.steps(page)]:
            marks = [pytest.mark.cluster] if any(OUTPUTS.CLUSTER in code for code in codes) else []
            yield pytest.param(page, id=page.stem, marks=marks)


@pytest.mark.ci
@pytest.mark.parametrize("page", list(tutorials()))
def test_tutorial_prints_what_it_shows(page, folder):
    steps = OUTPUTS.steps(page)
    whole = "".join(code for code, _ in steps)
    for library in sorted(set(re.findall(r"^(?:import|from) (\w+)", whole, re.MULTILINE))):
        pytest.importorskip(library)
    for (_, shown), printed in zip(steps, OUTPUTS.run_tutorial(page, folder), strict=True):
        assert OUTPUTS.alike(printed, shown, tolerance()), f"{page.name} shows\n{shown}and prints\n{printed}"


@pytest.mark.ci
@pytest.mark.usefixtures("folder")
def test_readme_and_its_picture_show_what_the_command_gives(tmp_path):
    pytest.importorskip("jinja2")
    printed, report = OUTPUTS.compare_shop(tmp_path)
    _, shown = OUTPUTS.shop_comparison()
    assert OUTPUTS.alike(OUTPUTS.beginning(printed, shown), shown, tolerance()), printed
    pictured = OUTPUTS.WORDS.read_text(encoding="utf-8")
    assert "recommended" in pictured
    assert OUTPUTS.alike(words := OUTPUTS.words_of_report(report), pictured, tolerance()), words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_picture_of_gains_and_its_words_are_those_of_the_studies():
    pictures = script("pictures")
    assert (pictures.PICTURES / "gains.svg").read_text(encoding="utf-8") == pictures.gains()
    for page in pictures.SHOWN_ON:
        assert page.read_text(encoding="utf-8") == pictures.with_gains(page), "run python docs/pictures.py gains"
    assert pictures.table_of_gains() in README
    assert pictures.words_of_gains() in pictures.SHOWN_ON[1].read_text(encoding="utf-8")
    texts = re.findall(r">([^<>]+)</text>", pictures.gains())
    assert {text for row in pictures.rows_of_gains() for text in (row.situation, row.what)} <= {*texts}
    shows_it = [page for page in PAGES if "gains.svg" in page.read_text(encoding="utf-8")]
    assert {*shows_it} == {*pictures.SHOWN_ON}


def test_gains_in_words_are_those_of_the_picture():
    page = (ROOT / "docs" / "results" / "what_moves_ndcg.md").read_text(encoding="utf-8")
    gains = {}
    for row in script("pictures").rows_of_gains():
        gains[row.situation] = row.gain[0]
        digits = 3 if row.gain[0] > 0.005 else 4
        gain, low, high = (f"{end:+.{digits}f}".replace("0.", ".", 1) for end in row.gain)
        assert f"{gain} [{low}, {high}]" in page, row
        assert f"| {row.situation[0].lower()}{row.situation[1:]}" in page.replace("[", "").lower(), row
    assert "`CRR` gains .002" in README
    assert gains["Thousands of judged queries"] == pytest.approx(0.002, abs=5e-4)
    assert "[.009 with 2,000]" in README
    assert gains["2,000 judged queries"] == pytest.approx(0.009, abs=5e-4)
