"""The files around the package: they parse, agree with pyproject.toml, and lead somewhere; the sdist holds them."""

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import numpy as np
import pytest
from quick import QUICK

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / ".github" / "pull_request_template.md"]


def read(path):
    return yaml.safe_load(path.read_text())


def words_of(workflow):
    """Return the Python versions and extras that a workflow names."""
    text = workflow.read_text()
    matrices = [
        values
        for job in read(workflow)["jobs"].values()
        for matrix in [job.get("strategy", {}).get("matrix", {})]
        for values in [matrix, *matrix.get("include", ())]
    ]
    listed = [extras for values in matrices for extras in np.atleast_1d(values.get("frameworks", []))]
    listed += re.findall(r"\.\[([\w,]+)\]", text)
    return set(re.findall(r"\b3\.\d\d\b", text)), {extra for extras in listed for extra in extras.split(",")}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_pythons_and_extras_of_pyproject(path):
    pythons, extras = words_of(path)
    supported = set(re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"])))
    assert pythons <= supported
    assert path.name != "tests.yml" or pythons == supported
    assert extras <= EXTRAS.keys()
    assert "secrets." not in path.read_text()  # releases use trusted publishing


def test_the_list_of_quick_tests_names_files():
    assert {name for name in QUICK if not (ROOT / "tests" / name).is_file()} == set()


def test_python_of_contributing_runs():
    (block,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)
    assert ast.parse(block).body
    exec(compile(block, "CONTRIBUTING.md", "exec"), {})  # noqa: S102 (our own page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if ":" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """Build the sdist; return it unpacked."""
    pytest.importorskip("build")
    pytest.importorskip("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


@pytest.mark.ci
def test_sdist_holds_all_that_is_tracked_and_nothing_else(sdist):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = {name for name in listed.splitlines() if (ROOT / name).exists()}
    held = {str(path.relative_to(sdist)) for path in sdist.rglob("*") if path.is_file()}
    assert not tracked - held
    made = {name for name in held - tracked if name != "PKG-INFO"}
    untracked = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert made <= set(untracked.splitlines())
