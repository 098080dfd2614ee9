"""Defaults that docstrings of public names state are those of the signatures."""

import ast
import inspect
import re

import pytest

import boostplug as bp
from boostplug.comparison import significance

pytest.importorskip("dask")
pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

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
