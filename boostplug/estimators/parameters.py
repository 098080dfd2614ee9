"""Parameters of estimators that hold losses, metrics and distances: ``objective__distance__lam``."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from boostplug.core.checks import shown
from boostplug.core.values import invalid_parameter, is_value, no_parameters, parameters_of, replaced, split_names


def nested(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's own parameters and those of its parts, values and estimators alike."""
    listed = dict(parameters)
    for name, part in parameters.items():
        inner: dict[str, Any] = {}
        if is_value(part):
            inner = parameters_of(part)
        elif hasattr(part, "get_params") and not isinstance(part, type):
            inner = part.get_params()
        listed.update({f"{name}__{rest}": value for rest, value in inner.items()})
    return listed


def for_framework(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those of parts, whose names have ``__``, and without our rankers' own, `features`."""
    return {name: value for name, value in parameters.items() if "__" not in name and name != "features"}


def given_names(parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of those parameters of a framework that are given: None stands for one that is not."""
    return [name for name, value in for_framework(parameters).items() if value is not None]


def resolved(estimator: Any, parameters: Mapping[str, Any], *, any_name: bool) -> dict[str, Any]:
    """Return parameters to set as wholes: in place of those of a value the new value, which has been checked.

    What is set within an estimator remains, once a clone has taken it: an error leaves everything as it was. A
    framework's estimator takes `any_name` as a whole, and hands it on.

    Raises
    ------
    ValueError
        If there is no such parameter, or a value cannot have it.
    """
    whole, within = split_names(parameters)
    if any_name and not within:
        return whole
    if any_name:  # by attribute, as a subclass whose constructor is at work has not all of its parameters yet
        known = whole | {name: getattr(estimator, name) for name in within if hasattr(estimator, name)}
    else:
        known = estimator.get_params(deep=False)
    for name in (*whole, *within):
        if name not in known:
            invalid_parameter(name, f"estimator {shown(estimator)}", estimator.get_params(deep=False))
    for name, inner in within.items():
        part = whole.get(name, known[name])
        if is_value(part):
            whole[name] = replaced(part, inner)
        elif hasattr(part, "get_params") and not isinstance(part, type):
            clone(part).set_params(**inner)
            whole.update({f"{name}__{rest}": value for rest, value in inner.items()})
        else:
            no_parameters(name, part, inner, estimator)
    return whole
