"""The documentation says what the code does: generated pages are fresh, its Python runs, its links lead somewhere."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["losses.md", "metrics.md", "queries.md", "rankers.md"])
def test_reference_is_what_the_registries_say(name):
    module = generator()
    assert set(module.PAGES) == {path.name for path in module.REFERENCE.glob("*.md")}
    expected = module.PAGES[name]().rstrip("\n") + "\n"
    assert (module.REFERENCE / name).read_text() == expected, "run python docs/generate.py"


def python_blocks():
    for page in PAGES:
        if not page.exists():
            continue
        for i, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)):
            yield pytest.param(block, id=f"{page.relative_to(ROOT)}:{i}")


@pytest.mark.parametrize("block", list(python_blocks()))
def test_python_in_the_docs_runs(block, tmp_path, monkeypatch):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    names = {"__name__": "__main__"}
    exec(compile(block, "docs", "exec"), names)  # noqa: S102 (our own pages)
    assert names.keys() > {"__name__", "__builtins__"}  # it did something


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_can_be_reached():
    linked = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target
    }
    assert {page.resolve() for page in PAGES[1:]} <= linked
