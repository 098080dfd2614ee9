"""Frozen values with parameters: losses, metrics, distances, any frozen dataclass of a user's own.

Their parameters are listed and searched as those of scikit-learn's estimators are, parts of parts by names such as
``base__sigmoid``. Where an estimator would change in place, a value gives way to a new one.
"""

import inspect
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn, Self, get_args, get_origin, get_type_hints

import numpy as np

from boostplug.checks import shown

__all__ = [
    "Range",
    "Space",
    "Value",
    "invalid_parameter",
    "is_value",
    "no_parameters",
    "parameters_of",
    "replaced",
    "split_names",
]

_FACTOR = 8.0  # a positive real number of which nothing is known is searched from an eighth of it to 8 times it


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, integers where both are; on a scale of logarithms where `log`."""

    low: float
    high: float
    log: bool = False


Space = Mapping[str, Range | tuple[Any, ...]]
"""By the name of a parameter, nested ones with ``__``: the numbers or the choices to draw it from."""


class Value:
    """A frozen value whose parameters are those of its constructor that it keeps under their names."""

    search_ranges: ClassVar[Space] = {}
    """What `search_space` has for some parameters in place of the default; beside what a class's bases say."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn's estimators do.

        Parameters
        ----------
        deep : bool, default True
            Whether to list the parameters of parts too: ``base__sigmoid``, ``distance__lam``.
        """
        return _listed(self, deep=deep)

    def with_params(self, /, **parameters: Any) -> Self:
        """Return the value with other parameters, those of parts by names such as ``distance__lam``.

        A part and its parameters may be given at once.

        Raises
        ------
        ValueError
            If there is no such parameter, or the value cannot have it.
        """
        changed: Self = _replaced(self, parameters)
        return changed

    def set_params(self, /, **parameters: Any) -> Self:
        """Refuse, as the value is frozen; without parameters return it.

        It is here for estimators of your own that hold the value: scikit-learn's ``set_params`` changes parts in place.
        The rankers of this package build the new value themselves.
        """
        if not parameters:
            return self
        changes = ", ".join(f"{name}=…" for name in parameters)
        raise TypeError(
            f"{self!r} is a frozen value and cannot be changed in place; make a new one, value.with_params({changes}), "
            "and set it as a whole"
        )

    def __sklearn_clone__(self) -> Self:
        """Return the value itself, which nothing changes."""
        return self

    @property
    def search_space(self) -> Space:
        """What a search draws the parameters from (`boostplug.suggest`): by name a `Range`, or a tuple of choices.

        What `search_ranges` says; else the words of a parameter that takes nothing else, True and False, positive real
        numbers from an eighth to 8 times their value, and what the parts say. Other parameters stay as they are.
        """
        return _space(self)


def is_value(thing: Any) -> bool:
    """Return whether `thing` is a frozen value with parameters: a `Value`, or any frozen dataclass."""
    frozen = getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False)
    return isinstance(thing, Value) or bool(frozen)


def parameters_of(value: Any, *, deep: bool = True) -> dict[str, Any]:
    """Return the parameters of a value by name."""
    return value.get_params(deep=deep) if isinstance(value, Value) else _listed(value, deep=deep)


def replaced(value: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a value with other parameters, nested ones by ``__``."""
    return value.with_params(**parameters) if isinstance(value, Value) else _replaced(value, parameters)


def split_names(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return what is set as a whole, and by the name of a part what is set within it."""
    whole: dict[str, Any] = {}
    within: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in parameters.items():
        head, nested, rest = name.partition("__")
        if nested:
            within[head][rest] = value
        else:
            whole[name] = value
    return whole, within


def invalid_parameter(name: str, owner: Any, valid: Iterable[str]) -> NoReturn:
    """Raise as scikit-learn does."""
    raise ValueError(f"Invalid parameter {shown(name)} for {owner}. Valid parameters are: {sorted(valid)!r}.")


def no_parameters(name: str, part: Any, inner: Iterable[str], owner: Any) -> NoReturn:
    """Raise where something is to be set within a part that is neither a value nor an estimator."""
    given, kind = f"{name}__{next(iter(inner))}", type(owner).__name__
    if isinstance(part, type):
        raise ValueError(f"{kind} cannot take {given}, for {name} is the class {part.__name__}; pass an instance")
    raise ValueError(
        f"Invalid parameter {shown(given)} for {kind}, whose {name} is {shown(part)} and has no parameters; "
        f"set {name} as a whole"
    )


def _listed(value: Any, *, deep: bool) -> dict[str, Any]:
    listed: dict[str, Any] = {}
    for name in _names(type(value)):
        if hasattr(value, name):  # a class of one's own may keep it under another
            part = listed[name] = getattr(value, name)
            if deep and is_value(part):
                listed.update({f"{name}__{rest}": inner for rest, inner in parameters_of(part).items()})
    return listed


def _replaced(value: Any, parameters: Mapping[str, Any]) -> Any:
    known = parameters_of(value, deep=False)
    changes, within = split_names(parameters)
    for name in (*changes, *within):
        if name not in known:
            invalid_parameter(name, shown(value), known)
    for name, inner in within.items():
        part = changes.get(name, known[name])
        if not is_value(part):
            no_parameters(name, part, inner, value)
        changes[name] = replaced(part, inner)
    return _built(value, known | changes)


def _built(value: Any, parameters: dict[str, Any]) -> Any:
    try:
        inspect.signature(type(value)).bind(**parameters)
    except TypeError as error:
        raise ValueError(
            f"{value!r} cannot be built anew, {error}; its constructor's parameters are to be attributes of their names"
        ) from None
    return type(value)(**parameters)


def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a class's parameters: what its constructor takes by name."""
    taken = inspect.signature(kind.__init__).parameters.values()  # type: ignore[misc]
    return tuple(p.name for p in list(taken)[1:] if p.kind in {p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY})


def _space(value: Any) -> Space:
    space: dict[str, Range | tuple[Any, ...]] = {}
    hints = _hints(type(value))
    for name, part in parameters_of(value, deep=False).items():
        hint = hints.get(name, type(part))
        if is_value(part):
            inner = part.search_space if isinstance(part, Value) else _space(part)
            space.update({f"{name}__{rest}": drawn for rest, drawn in inner.items()})
        elif get_origin(hint) is Literal:
            space[name] = get_args(hint)
        elif isinstance(part, bool):
            space[name] = (False, True)
        elif float in (hint, *get_args(hint)) and isinstance(part, (int, float, np.floating)) and part > 0:
            space[name] = Range(float(part) / _FACTOR, float(part) * _FACTOR, log=True)
    return space | _said(value)


def _said(value: Any) -> dict[str, Range | tuple[Any, ...]]:
    """Return what the class of a value and its bases say of its parameters; a name of none in the class is an error."""
    said: dict[str, Range | tuple[Any, ...]] = {}
    for kind in reversed(type(value).__mro__):
        said |= vars(kind).get("search_ranges", {})
    known = parameters_of(value)
    for name in vars(type(value)).get("search_ranges", {}):
        if name not in known:
            raise ValueError(
                f"the search_ranges of {type(value).__name__} name {shown(name)}, which is none of its parameters: "
                f"{sorted(known)}"
            )
    return {name: drawn for name, drawn in said.items() if name in known}


def _hints(kind: type) -> dict[str, Any]:
    """Return what a class's constructor takes by name; nothing where the names of types cannot be read."""
    try:
        return get_type_hints(kind.__init__)  # type: ignore[misc]
    except (NameError, TypeError):
        return {}
