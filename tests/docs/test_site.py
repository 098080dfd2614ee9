"""The site builds without a warning, shows every public name, and no link in it leads nowhere."""

import os
import re
import shutil
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import chromium

import boostplug as bp

ROOT = Path(__file__).parents[2]
NEEDED = (
    "sphinx",
    "pydata_sphinx_theme",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery",
    "ziamath",
    "lightgbm",
    "xgboost",
    "distributed",
)

pytestmark = pytest.mark.ci
NOT_COPIED = shutil.ignore_patterns("gallery", "api", "__pycache__", "*.nb?", ".*")
MODULES = ("dask", "datasets", "testing")
# What users meet beside `bp.__all__`: what is returned, and the replication.
MORE = (
    "comparison.result.CompareResult",
    "replication.ReplicationResult",
    "replication.replicate",
    "selection.folds.Folds",
    "selection.scorer.RankingScorer",
)
LOOKED_AT = (
    "index.html",
    "guides/compare.html",
    "reference/losses.html",
    "reference/api/NDCG.html",
    "reference/api/comparison.result.CompareResult.html",
    "results/quality.html",
    "genindex.html",
)


# What reaches beyond the window, but for what scrolls in a box of its own: the theme cuts it off.
CUT_OFF = """() => [...document.querySelectorAll("main *")].filter(
    (e) => e.getBoundingClientRect().right > innerWidth + 1 && e.checkVisibility() &&
        !e.closest("pre, .pst-scrollable-table-container, div.formula, .genindextable, .bd-sidebar-secondary") &&
        !(e.tagName === "IMG" && getComputedStyle(e.parentElement).overflowX === "auto")
).map((e) => e.outerHTML.slice(0, 100))"""


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
    done = subprocess.run(
        [*command, "docs", "site"], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return tree / "site"


def ends(path, page):
    """Yield what the links of a page lead to within the site: a file and a place in it, or ""."""
    for link in page.links:
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc:
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            yield target, unquote(parts.fragment)


def check_links(site, pages):
    """Check that every link leads somewhere."""
    dead = {
        f"{path.relative_to(site)}: {target.name}#{place}"
        for path, page in pages.items()
        for target, place in ends(path, page)
        if not target.is_file() or (place and target in pages and place not in pages[target].places)
    }
    assert len(pages) > 100
    assert dead == set()


def reachable(site, pages):
    """Return the pages that links lead to from the home page."""
    found, todo = set(), [site / "index.html"]
    while todo:
        path = todo.pop()
        if path in pages and path not in found:
            found.add(path)
            todo += [target for target, _ in ends(path, pages[path])]
    return found


def inventory(site):
    """Return where the site has each Python name: what other projects' documentation links by."""
    packed = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    for line in zlib.decompress(packed).decode().splitlines():
        name, role, _, address, _ = re.fullmatch(r"(.+?) (\S+) (-?\d+) (\S*) (.*)", line).groups()
        if role.startswith("py:"):
            yield name, address.replace("$", name)


def public_names():
    """Yield every public name, once for each thing."""
    yield from (f"boostplug.{name}" for name in (*bp.__all__, *MORE))
    for module in MODULES:
        home = import_module(f"boostplug.{module}")
        known = {id(getattr(bp, name)) for name in bp.__all__}
        yield from (f"boostplug.{module}.{name}" for name in home.__all__ if id(getattr(home, name)) not in known)


def check_names(site, pages):
    """Check that every page and every public name can be reached from home."""
    places = dict(inventory(site))
    found = reachable(site, pages)
    assert {path.relative_to(site).as_posix() for path in pages.keys() - found} <= {"search.html"}
    names = set(public_names())
    assert len(names) > 70
    for name in sorted(names):
        assert name in places, f"{name} is to have a place in PAGES of docs/generate.py"
        path, _, place = places[name].partition("#")
        assert site / path in found
        assert place in pages[site / path].places


def check_widths(site):
    """Check that pages fit narrow and wide windows, and ask no other server."""
    with chromium() as browser:
        for width in (400, 1400):
            page = browser.new_page(viewport={"width": width, "height": 900})
            errors = []  # no other server is asked, either
            page.on("request", lambda asked, errors=errors: asked.url.startswith("http") and errors.append(asked.url))
            page.on(
                "console", lambda message, errors=errors: errors.append(message) if message.type == "error" else None
            )
            page.on("pageerror", lambda error, errors=errors: errors.append(error))
            for name in LOOKED_AT:
                page.goto((site / name).as_uri())
                beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                assert page.evaluate(beyond) <= 0, f"{name} at {width}"
                assert page.evaluate(CUT_OFF) == [], f"{name} at {width}"
                assert errors == [], f"{name} at {width}"


def test_the_site(site):
    """One test, since processes of pytest would each build the site."""
    pages = {path: Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    check_links(site, pages)
    check_names(site, pages)
    check_widths(site)
