"""The files of `studies.replication` import only from those before them, in the order that its docstring states."""

import ast
from pathlib import Path

import pytest

from boostplug.studies import replication

PACKAGE = "boostplug.studies.replication."
FOLDER = Path(replication.__file__).parent
ORDER = replication.__doc__.partition("::\n\n")[2].partition("\n\n")[0].split()


def offences(name, source):
    """Return what a file imports that does not stand before it, or imports elsewhere than at its top."""
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    found = set()
    for node in imports:
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for module in modules:
            if module.startswith(PACKAGE):
                other = module.removeprefix(PACKAGE).partition(".")[0]
                if node not in tree.body or ORDER.index(other) >= ORDER.index(name):
                    found.add(other)
    return found


def test_every_file_stands_in_the_order():
    assert {path.stem for path in FOLDER.iterdir() if path.suffix == ".py" or path.name == "papers"} == {
        *ORDER,
        "__init__",
    }


@pytest.mark.parametrize("name", [name for name in ORDER if name != "papers"])
def test_a_file_imports_from_before_it_at_its_top(name):
    assert not offences(name, (FOLDER / f"{name}.py").read_text(encoding="utf-8"))


def test_a_paper_imports_from_before_the_papers():
    for path in (FOLDER / "papers").glob("*.py"):
        assert offences("papers", path.read_text(encoding="utf-8")) <= {"papers"}
