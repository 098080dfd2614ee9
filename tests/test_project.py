"""The files around the package: they parse, agree with pyproject.toml, and lead somewhere; the sdist holds them."""

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email import message_from_bytes
from pathlib import Path

import numpy as np
import pytest
from quick import QUICK

import boostplug as bp
from boostplug.losses import LOSSES

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


def test_hooks_are_of_versions_that_pyproject_allows():
    version = pytest.importorskip("packaging.requirements")
    required = {r.name: r.specifier for r in map(version.Requirement, EXTRAS["dev"])}
    repos = read(ROOT / ".pre-commit-config.yaml")["repos"]
    pins = {name: repo["rev"].removeprefix("v") for repo in repos for name in ("ruff", "mypy") if name in repo["repo"]}
    assert pins.keys() == {"ruff", "mypy"}
    for name, pin in pins.items():
        assert pin in required[name]


def test_citation_names_the_package_and_the_papers_of_its_losses():
    citation = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["title"] == PROJECT["project"]["name"]
    assert citation["abstract"] == PROJECT["project"]["description"]
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["authors"] == PROJECT["project"]["authors"]
    cited = ", ".join(paper["notes"] for paper in citation["references"])
    losses = {f"bp.{type(loss).__name__}" for variants in LOSSES.values() for loss in variants}
    assert losses - set(cited.split(", ")) == {"bp.SquaredError", "bp.LogisticError", "bp.Correlation"}  # of no paper
    for paper in citation["references"]:
        assert {"type", "title", "authors", "year"} <= paper.keys()
        assert paper["type"] == "article" or "collection-title" in paper
        assert "doi" not in paper
        for name in paper["notes"].split(", "):
            assert getattr(bp, name.removeprefix("bp."))
            assert str(paper["year"]) in source_of(name), f"{name} is of another year's paper"


def source_of(name):
    """Return the text of the file that defines a public name."""
    return Path(sys.modules[getattr(bp, name.removeprefix("bp.")).__module__].__file__).read_text()


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


@pytest.mark.ci
def test_readme_of_the_sdist_has_whole_addresses(sdist):
    text = message_from_bytes((sdist / "PKG-INFO").read_bytes()).get_payload()
    own = (ROOT / "README.md").read_text()
    assert text.count("](") == own.count("](")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert targets
    for target in targets:
        assert target.startswith(("https://", "#")), target
    (base,) = PROJECT["project"]["urls"].values()
    for target in targets:
        if target.startswith(base):
            path = re.fullmatch(rf"{base}/(?:blob|raw)/main/([^#]+)(?:#.*)?", target)[1]
            assert (ROOT / path).exists(), target
