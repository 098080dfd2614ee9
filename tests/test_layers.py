"""Nothing imports upward, and nothing imports in a circle.

An import counts wherever it stands: at the top, in a function, for type checkers only, or as the name of a module in a
string. ``boostplug/__init__.pyi``, by which the public names are loaded, stands above all layers but the last.
``from boostplug import MPBoost`` counts as an import of the module that defines the name.
"""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "boostplug"

# Bottom to top. A folder imports from lower layers and, without circles, from its own.
LAYERS = [["core"], ["kernels"], ["data", "weak_rankers"], ["model", "datasets"], ["adapters"], ["metrics"], ["losses"]]
LAYERS += [["selection"], ["estimators"], ["clicks"], ["testing"], ["rankers"], ["dask"], ["comparison"], ["cli"]]

PATHS = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


def folder_of(module):
    return module.split(".")[0]


def homes():
    """Return the module of each public name."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module.partition(".")[2] for node in imports for alias in node.names}


@cache
def dotted_names(module):
    """Return the full dotted names that a module imports or has as strings."""
    path, found = PATHS[module], []
    package = ["boostplug", *module.split(".")[: None if path.name == "__init__.py" else -1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            found += [".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"boostplug\.[a-z][\w.]*(:\w+)?", str(node.value)):
            found.append(node.value.partition(":")[0])
    return found


def imports_of(module, homes):
    """Return the modules of the package that a module imports, with the packages that Python runs before them."""
    found = set()
    for dotted in dotted_names(module):
        if dotted.partition(".")[0] == "boostplug":
            name = dotted.partition(".")[2]
            name = homes.get(name) or name
            while name:
                if name in PATHS and not f"{module}.".startswith(f"{name}."):
                    found.add(name)
                name = name.rpartition(".")[0]
    return found


@pytest.fixture(scope="module")
def imports():
    """Return what each module imports."""
    of_names = homes()
    return {module: imports_of(module, of_names) for module in PATHS}


def test_every_folder_has_a_layer():
    assert {folder_of(module) for module in PATHS} == {folder for folders in LAYERS for folder in folders}


def test_nothing_imports_upward(imports):
    depth = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}
    upward = {
        (module, target)
        for module, targets in imports.items()
        for target in targets
        if depth[folder_of(module)] < depth[folder_of(target)]
    }
    assert upward == set()


def test_the_package_stands_above_its_layers_and_below_the_command_line():
    """No module imports the package itself, and no public name is defined by what stands above."""
    importers = {module for module in PATHS if "boostplug" in dotted_names(module)}
    assert importers == set()
    assert "cli" not in map(folder_of, homes().values())


def test_nothing_imports_what_a_wheel_lacks():
    for module in PATHS:
        roots = {name.partition(".")[0] for name in dotted_names(module)}
        assert roots.isdisjoint({"studies", "docs", "tests", "examples"}), module


def test_nothing_imports_in_a_circle(imports):
    of_folders = {}
    for module, targets in imports.items():
        of_folders.setdefault(folder_of(module), set()).update(map(folder_of, targets))
    of_folders = {folder: targets - {folder} for folder, targets in of_folders.items()}
    for graph in (imports, of_folders):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            pytest.fail(f"a circle of imports: {error.args[1]}")
