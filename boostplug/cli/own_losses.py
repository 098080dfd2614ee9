"""Losses of the user's own, which the command line takes as ``module:name``."""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import isroutine
from pathlib import Path
from types import ModuleType
from typing import Any

from boostplug.core.checks import shown
from boostplug.losses import Loss

_FORM = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*)")
_NOTHING = object()


def with_own_losses(option: str, items: Sequence[str] | None) -> list[str | Loss] | None:
    """Return the items of an option, with the loss itself in place of each ``module:name``; None for None.

    The name is that of a class derived from `Loss`, a loss, or a function without parameters that returns one. Modules
    are found in the current folder and wherever Python looks for them.

    Raises
    ------
    ValueError
        If an item with a colon names no such loss.
    """
    return None if items is None else [_own_loss(option, item.strip()) if ":" in item else item for item in items]


def _own_loss(option: str, text: str) -> Loss:
    found = _FORM.fullmatch(text)
    if found is None or found[1].endswith(".py"):
        raise ValueError(
            f"{option}: {text!r} has a colon, but is not of the form module:name; write my_losses:MyLoss for MyLoss in "
            "my_losses.py, and set parameters or add losses in that file"
        )
    module = _imported(option, text, found[1])
    thing = getattr(module, found[2], _NOTHING)
    if thing is _NOTHING:
        raise ValueError(
            f"{option}: {text}: {getattr(module, '__file__', None) or found[1]} has no {found[2]!r}; "
            f"its losses are: {', '.join(_names_of_losses(module)) or 'none'}"
        )
    made = _called(option, text, thing) if _makes_a_loss(thing) else thing
    if not isinstance(made, Loss):
        got = shown(made) if made is thing else f"a function that returns {shown(made)}"
        raise ValueError(
            f"{option}: {text} is {got}; name a class derived from boostplug.Loss, an instance of one, or a function "
            "without parameters that returns one"
        )
    return made


def _imported(option: str, text: str, name: str) -> ModuleType:
    """Return a module of the current folder or of Python's path, which processes of `--jobs` inherit."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise ValueError(
                f"{option}: {text}: there is no module {error.name!r} in the current folder, and none is installed; "
                "run the command in the folder that holds it, or add that folder to PYTHONPATH"
            ) from None
        raise ValueError(
            f'{option}: {text}: importing {name} raises {_in_one_line(error)}; python -c "import {name}" shows where'
        ) from error


def _makes_a_loss(thing: Any) -> bool:
    """Return whether `thing` is to be called: a class of losses, or a function."""
    if isinstance(thing, type):
        return issubclass(thing, Loss)
    return isroutine(thing)


def _called(option: str, text: str, make: Any) -> Any:
    try:
        return make()
    except Exception as error:
        raise ValueError(
            f"{option}: {text}() raises {_in_one_line(error)}; it is called without parameters: give them defaults, or "
            "name a function that sets them"
        ) from error


def _names_of_losses(module: ModuleType) -> list[str]:
    """Return the names of classes of losses, and of losses, in a module."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, Loss) or (isinstance(value, type) and issubclass(value, Loss) and value is not Loss)
    ]


def _in_one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
