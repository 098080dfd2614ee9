"""No file of the studies imports in a circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
MODULES = {
    ".".join(path.relative_to(DOCS).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((DOCS / "studies").rglob("*.py"))
}


def imports_of(module):
    """Return the modules that a file imports, at its top or in a function, except itself and the folders it is in."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {name for node in nodes for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))}
    return {name for name in names & MODULES.keys() if not f"{module}.".startswith(f"{name}.")}


def test_nothing_imports_in_a_circle():
    TopologicalSorter({module: imports_of(module) for module in MODULES}).prepare()
