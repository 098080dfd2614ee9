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

import pytest

import boostplug as bp
from boostplug.losses import LOSSES

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PAGES = [*sorted(ROOT.glob("*.md")), ROOT / ".github" / "pull_request_template.md"]


def read(path):
    """Return a YAML file's content. YAML 1.1 takes the key `on` of workflows for a truth value."""
    return yaml.safe_load(path.read_text())


def commands(workflow):
    """Yield the lines of each step that runs something."""
    for job in read(workflow)["jobs"].values():
        for step in job.get("steps", ()):
            yield from step.get("run", "").splitlines()


def values(workflow, name):
    """Yield the values that a workflow's matrices give a name."""
    for job in read(workflow)["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        yield from matrix.get(name, ())
        yield from (case[name] for case in matrix.get("include", ()) if name in case)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_complete(path):
    workflow = read(path)
    assert {"name", True, "permissions", "jobs"} <= workflow.keys()
    for job in workflow["jobs"].values():
        assert ("uses" in job) != ("runs-on" in job)
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= workflow["jobs"].keys()
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
        for step in job.get("steps", ()):
            assert ("run" in step) != ("uses" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./]+", step.get("uses", "a/b@v1"))
    assert "secrets." not in path.read_text()  # a release is published by trust, not by a token


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_the_versions_and_extras_of_pyproject(path):
    classifiers = PROJECT["project"]["classifiers"]
    known = set(re.findall(r"Python :: (3\.\d+)", " ".join(classifiers)))
    used = {*values(path, "python"), *re.findall(r'python-version: "([\d.]+)"', path.read_text())}
    assert used <= known
    installed = "\n".join(line for line in commands(path) if "pip install" in line)
    listed = {extra for extras in re.findall(r"\.\[([\w,]+)\]", installed) for extra in extras.split(",")}
    listed |= {extra for value in values(path, "frameworks") for extra in value.split(",")}
    assert listed <= EXTRAS.keys()


def test_tests_run_on_every_python_and_framework():
    (tests,) = (path for path in WORKFLOWS if path.name == "tests.yml")
    classifiers = " ".join(PROJECT["project"]["classifiers"])
    assert {*values(tests, "python")} == set(re.findall(r"Python :: (3\.\d+)", classifiers))
    assert {*values(tests, "frameworks")} == {"lightgbm,xgboost", "lightgbm", "xgboost"}
    assert len({*values(tests, "os")}) == 3
    oldest = "\n".join(line for line in commands(tests) if "lowest-direct" in line)
    assert ".[lightgbm,xgboost]" in oldest  # its versions are pyproject's lower bounds themselves
    for extra in ("lightgbm", "xgboost"):
        assert re.match(rf"{extra}>=[\d.]+$", EXTRAS[extra][0])


def test_one_job_has_every_optional_library_and_runs_all_tests():
    """Examples, the notebook, searches, figures and the site skip in the others: without it they would run nowhere."""
    (tests,) = (path for path in WORKFLOWS if path.name == "tests.yml")
    for job in read(tests)["jobs"].values():
        lines = [line for step in job.get("steps", ()) for line in step.get("run", "").splitlines()]
        extras = {extra for found in re.findall(r"\.\[([\w,]+)\]", "\n".join(lines)) for extra in found.split(",")}
        if {"docs", "test"} <= extras:
            assert "pytest -n auto --dist worksteal" in lines
            break
    else:
        pytest.fail("no job installs both docs and test")
    (of_docs,) = (line for line in EXTRAS["docs"] if line.startswith("boostplug["))
    assert [of_docs] == EXTRAS["all"]


def test_docs_are_built_by_what_the_extra_brings():
    (tests,) = (path for path in WORKFLOWS if path.name == "tests.yml")
    brought = {re.match(r"[\w-]+", requirement)[0] for requirement in EXTRAS["docs"]}
    builders = {"sphinx-build": "sphinx"}
    used = {builders[word] for line in commands(tests) for word in line.split() if word in builders}
    assert used
    assert used <= brought


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_issue_form_is_one(path):
    form = read(path)
    if path.name == "config.yml":
        assert isinstance(form["blank_issues_enabled"], bool)
        return
    assert {"name", "description", "body"} <= form.keys()
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked) > 0
    for part in asked:
        assert part["type"] in {"textarea", "input", "dropdown", "checkboxes"}
        assert part["attributes"]["label"]
        assert ("options" in part["attributes"]) == (part["type"] in {"dropdown", "checkboxes"})


def test_hooks_are_of_versions_that_pyproject_allows():
    version = pytest.importorskip("packaging.requirements")
    required = {r.name: r.specifier for r in map(version.Requirement, EXTRAS["test"])}
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
    assert losses - set(cited.split(", ")) == {"bp.SquaredError", "bp.LossSum"}  # of no paper
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


def test_commands_of_contributing_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for name in re.findall(r"python -m ([\w.]+)", text):
        place = ROOT / Path(*name.split("."))
        script = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
        assert "__main__" in script.read_text(), name
    for name in re.findall(r"python ([\w/]+\.py)", text) + re.findall(r"`(\w+/[\w./]+\.\w+)`", text):
        assert (ROOT / name).is_file(), name
    for command in re.findall(r"`boostplug (\w+)", text):
        assert f"\ndef {command}(" in (ROOT / "boostplug" / "cli.py").read_text(), command
    for mark in re.findall(r"pytest [^`\n]*-m (\w+)", text):
        assert any(line.startswith(f"{mark}:") for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"])
    for extras in re.findall(r"\.\[([\w,]+)\]", text):
        assert set(extras.split(",")) <= EXTRAS.keys()


def test_python_of_contributing_runs():
    (block,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)
    assert ast.parse(block).body
    exec(compile(block, "CONTRIBUTING.md", "exec"), {})  # noqa: S102 (our own page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if ":" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_one_address_is_a_placeholder_and_marked():
    text = (ROOT / "pyproject.toml").read_text()
    assert list(PROJECT["project"]["urls"].values()) == ["https://example.invalid/boostplug"]
    assert re.search(r"# PLACEHOLDER[^\n]*\n\[project\.urls\]", text)


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
