"""Tutorials run from their first block to the last, and print what they show."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
STEP = re.compile(r"^```python\n(.*?)^```(?:\n+```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[+-]?(?:\d*\.)?\d+")
TOLERANCE = 0.02  # of figures of trained trees, which are not the same in every version of a framework
CLUSTER = "LocalCluster("  # its workers import the page as a script
SLOW = {"clusters", "search", "tuning"}  # of many trainings: .ci/run runs them
LIMIT = 120  # seconds of such a script: what hangs fails


def steps(page):
    """Return a page's blocks of Python, each with the output that is shown right below it, or ""."""
    return STEP.findall(page.read_text())


def tutorials():
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        if steps(page):
            marks = [pytest.mark.cluster] if CLUSTER in page.read_text() else []
            marks += [pytest.mark.ci] if page.stem in SLOW else []
            yield pytest.param(page, id=page.stem, marks=marks)


def alike(printed, shown):
    """Return whether words and whole numbers are the same, and figures but for what versions change."""
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", shown).split():
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    return all(abs(float(a) - float(b)) <= (TOLERANCE if "." in b else 0) for a, b in pairs)


def output_of_a_process(code):
    Path("tutorial.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "tutorial.py"], env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", list(tutorials()))
def test_tutorial_prints_what_it_shows(page, tmp_path, monkeypatch, capsys):
    whole = "".join(code for code, _ in steps(page))
    for library in sorted(set(re.findall(r"^(?:import|from) (\w+)", whole, re.MULTILINE))):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    if CLUSTER in whole:
        printed = output_of_a_process(whole)
        assert alike(printed, "".join(shown for _, shown in steps(page))), printed
        return
    module = ModuleType("tutorial")  # what a page defines can be pickled
    monkeypatch.setitem(sys.modules, "tutorial", module)
    for code, shown in steps(page):
        exec(compile(code, page.name, "exec"), vars(module))  # noqa: S102 (our own pages)
        printed = capsys.readouterr().out
        assert alike(printed, shown), f"{page.name} shows\n{shown}and prints\n{printed}"
