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
LAYERS += [["selection"], ["estimators"], ["clicks"], ["testing"], ["rankers"], ["explanation"], ["dask"]]
LAYERS += [["comparison"], ["cli"]]

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


def within(folder, imports):
    """Return what the modules and folders that stand in a folder import of each other."""
    depth = len(folder.split(".")) if folder else 0
    graph = {}
    for module, targets in imports.items():
        inside = [name for name in (module, *targets) if not folder or name.startswith(f"{folder}.")]
        if module in inside:
            own, *others = (".".join(name.split(".")[: depth + 1]) for name in inside)
            graph.setdefault(own, set()).update({*others} - {own})
    return graph


def test_nothing_imports_in_a_circle(imports):
    """No two modules, and no two folders that stand in one folder."""
    folders = ["", *(module for module, path in PATHS.items() if path.name == "__init__.py")]
    for graph in (imports, *(within(folder, imports) for folder in folders)):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            pytest.fail(f"a circle of imports: {error.args[1]}")


# A comparison in the order in which to read it: what all stations use, and then eight stations.
STATIONS = [
    "summary formats console significance",
    "inputs: columns data",
    "inputs: features ids contents clicks leaks folds today",
    "training: trees plan frameworks tuning store runs baselines workers",
    "choosing comparison",
    "decision",
    "counts examples recommendation document",
    "report: words table page picture",
    "result arguments compare",
]


def test_a_comparison_imports_only_what_stands_before(imports):
    order = []
    for station in STATIONS:
        folder, _, names = station.rpartition(": ")
        order += [".".join(filter(None, ("comparison", folder, name))) for name in names.split()]
    folders = {module for module, path in PATHS.items() if path.name == "__init__.py"}
    assert sorted(order) == sorted({module for module in PATHS if folder_of(module) == "comparison"} - folders)
    later = {(module, target) for k, module in enumerate(order) for target in imports[module] & {*order[k:]}}
    assert later == set()
