"""Losses of the user's own, which the command line takes as ``module:name``."""

import sys
from importlib import import_module
from inspect import isroutine

from boostplug.core.checks import check_instance
from boostplug.losses import Loss


def own_loss(option: str, text: str) -> Loss:
    """Return the loss that ``module:name`` names: a class derived from `Loss`, a loss, or a function that returns one.

    Modules are found in the current folder and wherever Python looks for them.

    Raises
    ------
    ValueError
        If it names no such loss.
    """
    if "" not in sys.path:
        sys.path.insert(0, "")
    module, _, name = text.partition(":")
    try:
        thing = getattr(import_module(module), name)
        made = thing() if isinstance(thing, type) or isroutine(thing) else thing
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        raise ValueError(
            f"{option}: {text} cannot be loaded ({type(error).__name__}: {error}); write module:name for a class, a "
            "loss, or a function without parameters, in a module of the current folder"
        ) from error
    return check_instance(f"{option}: {text}", made, Loss, "my_losses:MyLoss")  # type: ignore[no-any-return]
