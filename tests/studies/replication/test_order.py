"""The order of the files in `studies.replication`, which its docstring states."""

import ast
from pathlib import Path

import pytest

from boostplug.studies import replication as replicate

ROOM = Path(replicate.__file__).parent
FLOORS = [line.split() for line in replicate.__doc__.partition("::\n\n")[2].partition("\n\n")[0].splitlines()]
FLOOR = {name: i for i, names in enumerate(FLOORS) for name in names}


def files_named(node):
    """Return the files of the room that a statement or a string names."""
    if isinstance(node, ast.ImportFrom):
        modules = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    elif isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    else:
        modules = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
    parts = [module.split(".") for module in modules if module.startswith("boostplug.studies.replication.")]
    return {part[3] for part in parts if part[3] in FLOOR}


def offences(name, source):
    """Return what a file names that stands not below it, or names elsewhere than in an import at its top."""
    tree = ast.parse(source)
    top = {node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))}
    found = [(node, other) for node in ast.walk(tree) for other in files_named(node)]
    return {other for node, other in found if node not in top or FLOOR[other] >= FLOOR[name]}


def test_every_file_stands_in_the_order():
    assert {path.stem for path in ROOM.glob("*.py")} - {"__init__"} == set(FLOOR)


@pytest.mark.parametrize("name", FLOOR)
def test_a_file_imports_from_below_at_its_top(name):
    assert not offences(name, (ROOM / f"{name}.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "source",
    [
        "from boostplug.studies.replication.outcome import Outcome",
        "from boostplug.studies.replication import outcome",
        "import boostplug.studies.replication.outcome",
        "def f():\n    from boostplug.studies.replication.study import Study",
        "if TYPE_CHECKING:\n    from boostplug.studies.replication.outcome import Outcome",
        "import_module('boostplug.studies.replication.outcome')",
    ],
)
def test_an_import_that_is_no_such_is_found(source):
    assert offences("task", source)
