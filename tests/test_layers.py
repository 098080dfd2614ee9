"""The rooms of the house: nothing imports upward, nothing in circles, whatever way an import is written.

Every kind of import counts: at the top, inside functions, under ``TYPE_CHECKING``, relative ones, and by string,
whoever reads it: ``import_module``, ``__import__``, ``sys.modules``, a table of names. One table alone is free:
``_HOME`` in ``boostplug/__init__.py``, through which the package's public names lead upward lazily; a module that takes
a public name from there (``from boostplug import MPBoost``) is held to have imported the name's home.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from quick import QUICK, QUICK_OF_ROOM

PACKAGE = Path(__file__).parent.parent / "boostplug"

# Bottom to top. A room imports from lower floors and, without circles, from its own.
FLOORS = [
    ["version", "core"],
    ["kernels"],
    ["data", "weak_rankers"],
    ["model", "datasets"],
    ["adapters"],
    ["metrics"],
    ["losses"],
    ["selection"],
    ["estimators"],
    ["testing"],
    ["rankers"],
    ["dask"],
    ["warm_up"],
    ["comparison"],
    ["studies"],
    ["doctor"],
    ["cli"],
]

IMPORTERS = {"import_module", "__import__", "find_spec", "resolve_name", "run_module"}

# Imports of a name that only the running program knows: not of this package, and why.
NAMES_OF_OTHERS = {"core.extras": "imports optional libraries"}


def room_of(module):
    return module.split(".")[0]


def text_of(node):
    """Return how a string begins, as far as the source says it (None: not at all), and whether that is all of it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, True
    if isinstance(node, ast.JoinedStr) and node.values:
        return text_of(node.values[0])[0], len(node.values) == 1
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        return before_a_gap(node.left), False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):  # "boostplug.{}".format(name)
        return before_a_gap(node.func.value), False
    return None, False


def before_a_gap(node):
    return None if (text := text_of(node)[0]) is None else re.split("[{%]", text)[0]


class House:
    """The modules of a source tree and what each imports."""

    def __init__(self, package):
        self.name = package.name
        self.paths = {
            ".".join(path.relative_to(package).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
            for path in sorted(package.rglob("*.py"))
        }
        self.home = {}
        for node in ast.walk(ast.parse(self.paths[""].read_text())):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
                self.home = ast.literal_eval(node.value)
        self.unread = []  # (module, line) of imports by a name that the source does not say
        self.places = {}  # (module, what it imports) -> line
        for module, path in self.paths.items():
            if module:
                self._read(module, path)

    def _modules(self, dotted, whole):
        """Return the modules that a full dotted name (or, if not whole, any that begins so) leads to."""
        name = dotted.partition(".")[2]
        if not whole:
            return [module for module in self.paths if module and f"{module}.".startswith(name)]
        name = self.home.get(name, name)
        while name and name not in self.paths:
            name = name.rpartition(".")[0]
        return [name] if name else []

    def _of_ours(self, dotted):
        return dotted.split(".")[0] == self.name

    def _read(self, module, path):
        tree = ast.parse(path.read_text())
        full = f"{self.name}.{module}".split(".")
        package = full if path.name == "__init__.py" else full[:-1]
        importers = IMPORTERS | {
            alias.asname
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name in IMPORTERS and alias.asname
        }
        for node in ast.walk(tree):
            for dotted, whole in self._named(node, package, importers):
                if dotted is None:
                    self.unread.append((module, node.lineno))
                    continue
                for target in self._modules(dotted, whole):
                    self._add(module, target, node.lineno)

    def _named(self, node, package, importers):
        """Yield (dotted name, whether it is the whole name) of all that a node of the source imports."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == self.name:
                    yield None, True  # the package's own name leads everywhere
                elif self._of_ours(alias.name):
                    yield alias.name, True
        elif isinstance(node, ast.ImportFrom):
            base = (
                [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
                if node.level
                else [node.module]
            )
            base = ".".join(base)
            if base == self.name and node.names[0].name == "*":
                yield None, True
            elif self._of_ours(base):
                for alias in node.names:
                    yield f"{base}.{alias.name}", True
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in importers:
            text, whole = text_of(node.args[0] if node.args else node.keywords[0].value)
            if text is None or (text == "" and not whole):
                yield None, True
            elif text.startswith("."):
                up = len(text) - len(text.lstrip("."))
                yield ".".join([*package[: len(package) - up + 1], text.lstrip(".")]), whole
            elif not whole and self._of_ours(text):
                yield text, False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = re.fullmatch(rf"{self.name}\.(\w+)[\w.]*(:\w+)?", node.value)
            if named and named[1] in self.rooms():  # a public name, as in a file's format, is no module
                yield node.value.partition(":")[0], True
        elif isinstance(node, ast.JoinedStr):
            text, whole = text_of(node)
            rest = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
            if text and text.startswith(f"{self.name}.") and re.fullmatch(r"[\w.:]*", rest):
                yield text, whole

    def _add(self, module, target, line):
        if target == module:
            return
        outer = target.rpartition(".")[0]
        while outer:  # Python runs a package before what is in it
            if not f"{module}.".startswith(f"{outer}."):
                self.places.setdefault((module, outer), line)
            outer = outer.rpartition(".")[0]
        self.places.setdefault((module, target), line)

    def upward(self, floors):
        """Return the imports from a higher floor, as pairs."""
        depth = {room: floor for floor, rooms in enumerate(floors) for room in rooms}
        return {pair for pair in self.places if depth[room_of(pair[0])] < depth[room_of(pair[1])]}

    def rooms(self):
        return {room_of(module) for module in self.paths if module}

    def circles(self):
        """Return the sets of modules, and of rooms, that import each other in a circle."""
        between_modules, between_rooms = defaultdict(set), defaultdict(set)
        for module, target in self.places:
            between_modules[module].add(target)
            if room_of(module) != room_of(target):
                between_rooms[room_of(module)].add(room_of(target))
        return circles_of(between_modules) | circles_of(between_rooms)


def circles_of(edges):
    """Return the sets of nodes that reach each other."""

    def reached(start):
        seen, left = set(), [start]
        while left:
            for node in edges.get(left.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    left.append(node)
        return seen

    reach = {node: reached(node) for node in [*edges]}
    return {
        frozenset(other for other in reach[node] if node in reach.get(other, ()))
        for node in reach
        if node in reach[node]
    }


@pytest.fixture(scope="module")
def house():
    return House(PACKAGE)


def test_every_room_has_a_place(house):
    assert house.rooms() == {room for rooms in FLOORS for room in rooms}


def test_only_the_command_line_imports_studies():
    house = House(PACKAGE)
    importers = {room_of(module) for module, target in house.places if room_of(target) == "studies"}
    assert importers == {"studies", "cli"}


def test_the_page_on_the_house_draws_these_floors():
    page = (PACKAGE.parent / "docs" / "explanation" / "house.md").read_text()
    table = page[page.index("| rooms,") : page.index("Two flows")]
    drawn = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    assert list(map(sorted, drawn)) == list(map(sorted, FLOORS))


def test_every_room_has_quick_tests():
    tests = Path(__file__).parent
    assert all((tests / name).is_file() for name in QUICK)
    rooms = {room for rooms in FLOORS for room in rooms}
    assert rooms >= QUICK_OF_ROOM.keys()
    for room in rooms:
        if room in QUICK_OF_ROOM:
            assert QUICK_OF_ROOM[room] in QUICK, room
        else:
            assert any(name.startswith((f"{room}/", f"test_{room}.py")) for name in QUICK), room


def test_nothing_imports_upward(house):
    assert house.upward(FLOORS) == set()


def test_nothing_imports_in_a_circle(house):
    assert house.circles() == set()


def test_every_import_names_what_it_imports(house):
    assert {module for module, _ in house.unread} == set(NAMES_OF_OTHERS)


# What a module of a lower room can write to import `high` (or, in a circle, whatever stands in its place).
WAYS = {
    "at the top": "from boostplug.high import thing",
    "the module": "from boostplug import high",
    "a public name": "from boostplug import High",
    "plain": "import boostplug.high",
    "plain, renamed": "import boostplug.high as other",
    "relative": "from ..high import thing",
    "relative, the module": "from .. import high",
    "in a function": "def f():\n    from boostplug.high import thing\n",
    "in a method": "class C:\n    def f(self):\n        import boostplug.high\n",
    "for type checkers": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from boostplug.high import thing\n",
    "in a try": "try:\n    from boostplug.high import thing\nexcept ImportError:\n    pass\n",
    "import_module": "from importlib import import_module\nimport_module('boostplug.high')",
    "import_module, renamed": "from importlib import import_module as get\nget('boostplug.high')",
    "import_module, relative": "import importlib\nimportlib.import_module('..high', __package__)",
    "import_module, by keyword": "import importlib\nimportlib.import_module(name='boostplug.high')",
    "f-string": "from importlib import import_module\ndef f(x):\n    return import_module(f'boostplug.hi{x}')",
    "f-string kept for later": "def f(x, load):\n    return load(f'boostplug.high.{x}')",
    "sum of strings": "from importlib import import_module\ndef f(x):\n    return import_module('boostplug.' + x)",
    "format": "from importlib import import_module\ndef f(x):\n    return import_module('boostplug.{}'.format(x))",
    "percent": "from importlib import import_module\ndef f(x):\n    return import_module('boostplug.%s' % x)",
    "__import__": "def f():\n    return __import__('boostplug.high')",
    "a table of names": "HOME = {'thing': 'boostplug.high'}",
    "sys.modules": "import sys\nthing = sys.modules['boostplug.high']",
    "pkgutil": "import pkgutil\nthing = pkgutil.resolve_name('boostplug.high:thing')",
}
FREE = """'''A module that speaks of boostplug.high, as documentation does.'''
import sys
import highway
from boostplug.low import base
from . import base as again
from boostplug.ground import floor
print("boostplug.high is upstairs", "boostplug.high, or so")
FORMAT = "boostplug.High"
"""


def planted(root, **sources):
    """Write a small house of two floors, in which modules have the given sources, and read it."""
    package = root / "boostplug"
    files = {
        "__init__": "_HOME = {'High': 'high'}\n",
        "ground": "floor = 0\n",
        "low.__init__": "",
        "low.base": "",
        "low.module": FREE,
        "high": "from boostplug.low.module import base\nthing = 1\n",
        **{name.replace("__", ".", 1): source for name, source in sources.items()},
    }
    for name, source in files.items():
        path = package.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return House(package)


TWO_FLOORS = [["ground"], ["low"], ["high"]]


def test_a_house_in_order_is_left_in_peace(tmp_path):
    house = planted(tmp_path)
    assert {*house.places} == {
        ("low.module", "low.base"),
        ("low.module", "ground"),
        ("high", "low"),
        ("high", "low.module"),
    }
    assert (house.upward(TWO_FLOORS), house.circles(), house.unread) == (set(), set(), [])


@pytest.mark.parametrize("way", WAYS)
def test_an_import_upward_is_found(way, tmp_path):
    assert ("low.base", "high") in planted(tmp_path, low__base=WAYS[way]).upward(TWO_FLOORS)


@pytest.mark.parametrize("way", WAYS)
def test_a_circle_is_found(way, tmp_path):
    assert frozenset({"low.base", "high", "low.module"}) in planted(tmp_path, low__base=WAYS[way]).circles()


def test_circles_are_found_within_a_room_through_its_package_and_between_rooms(tmp_path):
    within = planted(tmp_path / "within", low__base="def f():\n    from boostplug.low import module")
    assert within.circles() == {frozenset({"low.base", "low.module"})}
    package = planted(
        tmp_path / "package", low____init__="from boostplug.low.base import x", low__base="import boostplug.low"
    )
    assert package.circles() == {frozenset({"low", "low.base"})}
    sources = {"east__a": "import boostplug.west.b", "west__b": "", "west__c": "import boostplug.east.d", "east__d": ""}
    rooms = planted(tmp_path / "rooms", **sources)
    assert rooms.circles() == {frozenset({"east", "west"})}  # of rooms, though of no modules


@pytest.mark.parametrize(
    "source",
    [
        "import boostplug",
        "import boostplug as bp",
        "from boostplug import *",
        "from importlib import import_module\ndef f(x):\n    return import_module(x)",
        "def f(x):\n    return __import__(f'{x}.high')",
    ],
)
def test_an_import_of_who_knows_what_is_found(source, tmp_path):
    assert {module for module, _ in planted(tmp_path, low__base=source).unread} == {"low.base"}


def test_a_room_without_a_place_is_found(tmp_path):
    assert planted(tmp_path, attic="").rooms() - {room for rooms in TWO_FLOORS for room in rooms} == {"attic"}
