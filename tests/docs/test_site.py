"""The site builds without a warning, links lead to every page, and no link leads nowhere."""

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("sphinx", "pydata_sphinx_theme", "numpydoc", "myst_nb", "sphinx_design", "sphinx_copybutton")
NEEDED += ("sphinx_gallery", "ziamath", "lightgbm", "xgboost", "distributed")

pytestmark = pytest.mark.ci
NOT_COPIED = shutil.ignore_patterns("gallery", "api", "__pycache__", "*.nb?", ".*")


class Page(HTMLParser):
    """The places of a page, and what it leads to or shows."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.places |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag not in {"link", "script"}:
            self.links |= {attrs[name] for name in ("href", "src") if attrs.get(name)}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site strictly from a copy of the tree, without running examples or the notebook; return its folder."""
    for library in NEEDED:
        pytest.importorskip(library)
    tree = tmp_path_factory.mktemp("tree")
    for name in ("docs", "examples", "tests"):  # the last are linked to
        shutil.copytree(ROOT / name, tree / name, ignore=NOT_COPIED)
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy(path, tree)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-D", "plot_gallery=0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    given = {"cwd": tree, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run([*command, "docs", "site"], check=False, **given)
    assert done.returncode == 0, done.stdout + done.stderr
    return tree / "site"


def ends(path, page):
    """Yield what the links of a page lead to within the site: a file and a place in it, or ""."""
    for link in page.links:
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc:
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            yield target, unquote(parts.fragment)


def reachable(site, pages):
    """Return the pages that links lead to from the home page."""
    found, todo = set(), [site / "index.html"]
    while todo:
        path = todo.pop()
        if path in pages and path not in found:
            found.add(path)
            todo += [target for target, _ in ends(path, pages[path])]
    return found


def test_the_site(site):
    """One test, since processes of pytest would each build the site."""
    pages = {path: Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    dead = {
        f"{path.relative_to(site)}: {target.name}#{place}"
        for path, page in pages.items()
        for target, place in ends(path, page)
        if not target.is_file() or (place and target in pages and place not in pages[target].places)
    }
    assert len(pages) > 100
    assert dead == set()
    lost = {path.relative_to(site).as_posix() for path in pages.keys() - reachable(site, pages)}
    assert lost <= {"search.html"}
