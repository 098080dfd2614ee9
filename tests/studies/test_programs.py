"""The programs of the studies: the examples in their docstrings, and no imports in a circle."""

import ast
import doctest
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MODULES = {
    ".".join(path.relative_to(DOCS).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((DOCS / "studies").rglob("*.py"))
}


@pytest.mark.parametrize("module", [name for name, path in MODULES.items() if ">>> " in path.read_text("utf-8")])
def test_examples_print_what_they_show(module):
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


def imports_of(module):
    """Return the modules that a file imports, at its top or in a function, except itself and the folders it is in."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {name for node in nodes for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))}
    return {name for name in names & MODULES.keys() if not f"{module}.".startswith(f"{name}.")}


def test_nothing_imports_in_a_circle():
    TopologicalSorter({module: imports_of(module) for module in MODULES}).prepare()
