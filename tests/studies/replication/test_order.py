"""The files of `studies.replication` import only from those before them, in the order that its docstring states."""

import ast
from pathlib import Path

import pytest

from boostplug.studies import replication

PACKAGE = "boostplug.studies.replication."
FOLDER = Path(replication.__file__).parent
LISTED = replication.__doc__.partition("::\n\n")[2].partition("\n\n")[0].split()
FOLDERS = {name.rstrip("/") for name in LISTED if name.endswith("/")}
ORDER = [name.rstrip("/") for name in LISTED if name not in {"training/", "judging/"}]
FILES = {path.stem: path for path in FOLDER.rglob("*.py") if path.stem != "__init__" and path.parent.name != "papers"}


def offences(name, source):
    """Return what a file imports that does not stand before it, or imports elsewhere than at its top."""
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    found = set()
    for node in imports:
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for module in modules:
            if module.startswith(PACKAGE):
                folder, _, file = module.removeprefix(PACKAGE).partition(".")
                other = file if file and folder != "papers" else folder
                if node not in tree.body or ORDER.index(other) >= ORDER.index(name):
                    found.add(other)
    return found


def test_every_file_stands_in_the_order():
    assert {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"} == FOLDERS
    assert sorted([*FILES, "papers"]) == sorted(ORDER)


@pytest.mark.parametrize("name", [name for name in ORDER if name != "papers"])
def test_a_file_imports_from_before_it_at_its_top(name):
    assert not offences(name, FILES[name].read_text(encoding="utf-8"))


def test_a_paper_imports_from_before_the_papers():
    for path in (FOLDER / "papers").glob("*.py"):
        assert offences("papers", path.read_text(encoding="utf-8")) <= {"papers"}
