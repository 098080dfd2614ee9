"""Names and defaults are those of the code: imports, commands, options, files on pages; defaults in docstrings."""

import ast
import inspect
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli.app import app
from boostplug.comparison import significance

for library in ("dask", "lightgbm", "xgboost"):
    pytest.importorskip(library)

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    if not {"results", "pictures"}.intersection(page.parts)
]
page_by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def reached(name):
    """Return whether a dotted name is a module or an attribute of one."""
    found, path = bp, "boostplug"
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        try:
            found = getattr(found, part) if hasattr(found, part) else import_module(path)
        except ModuleNotFoundError:
            return False
    return True


@pytest.fixture(scope="module")
def options():
    """Return the options of each command, as its help lists them."""
    listed = CliRunner().invoke(app, ["--help"]).output.partition("Commands:")[2]
    commands = re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)
    helps = {command: CliRunner().invoke(app, [command, "--help"]).output for command in commands}
    return {command: set(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE)) for command, text in helps.items()}


@page_by_page
def test_names_commands_options_and_files_exist(page, options):
    text = page.read_text()
    names = set(re.findall(r"\b(?:bp|boostplug)(?:\.[A-Za-z_]\w*)+", text))
    assert not [name for name in names if not name.endswith((".py", ".pyi")) and not reached(name)]
    files = re.findall(r"`((?:boostplug|docs|tests|examples|\.ci|\.github)/[\w./-]+)`", text)
    assert not [name for name in files if not (ROOT / name).exists()]
    assert not set(re.findall(r"`boostplug ([a-z]+)", text)) - options.keys()
    shell = "".join(re.findall(r"```(?:bash|sh)\n(.*?)```", text, re.DOTALL)).replace("\\\n", "")
    for command, given in re.findall(r"\bboostplug ([a-z]+)(.*)", shell):
        assert not set(re.findall(r" (--[a-z-]+)", given)) - options[command]


@page_by_page
def test_losses_and_metrics_in_the_text_can_be_made(page):
    """As `bp.NDCG(10, gain="linear")`; what is left open, as by … or a variable, is not looked at."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for expression in set(re.findall(r"`([^`\n]*\bbp\.[A-Z]\w*\([^`\n]*)`", text)):
        with suppress(SyntaxError, NameError):
            eval(expression, {"bp": bp})  # noqa: S307 (our own pages)


MODULES = [bp, bp.clicks, bp.dask, bp.datasets, bp.testing, significance]
STATED = re.compile(r"^(\w+) : .*, default[ :=]+(.+?)\.?$", re.MULTILINE)


def public():
    """Yield the functions, classes and public methods of the package, by name."""
    for module in MODULES:
        for name in getattr(module, "__all__", dir(module)):
            found = getattr(module, name)
            if inspect.isroutine(found) or inspect.isclass(found):
                yield name, found
                methods = vars(found).items() if inspect.isclass(found) else ()
                yield from ((f"{name}.{key}", value) for key, value in methods if inspect.isfunction(value))


@pytest.mark.filterwarnings("ignore")
def test_stated_defaults_are_those_of_the_signature():
    checked, wrong = 0, []
    for name, found in public():
        parameters = inspect.signature(found).parameters if inspect.getdoc(found) else {}
        for parameter, text in STATED.findall(inspect.getdoc(found) or ""):
            try:
                stated = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                continue  # such as NDCG(10)
            default = parameters[parameter].default if parameter in parameters else "no parameter"
            checked += 1
            wrong += [f"{name}({parameter}={default!r}): {text}"] * (default != stated)
    assert wrong == []
    assert checked > 80
