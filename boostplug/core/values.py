"""Frozen values with parameters: losses, metrics, distances, and users' frozen dataclasses.

Their parameters can be listed and searched as those of scikit-learn's estimators, nested ones by names such as
``base__sigmoid``. A change returns a new value.
"""

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal, NoReturn, Self, get_args, get_origin, get_type_hints

import numpy as np

from boostplug.core.checks import check_number, shown

_FACTOR = 8.0  # without a declared range, a positive real number is searched from an eighth of it to 8 times it


@dataclass(frozen=True)
class Range:
    """Range of numbers from `low` to `high`, integers if both are; on a logarithmic scale if `log`."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        check_number("Range: low", self.low, above=0.0 if self.log else -np.inf)
        check_number("Range: high", self.high, least=float(self.low))

    @property
    def whole(self) -> bool:
        """True if its numbers are integers."""
        return isinstance(self.low, Integral) and isinstance(self.high, Integral)


Space = Mapping[str, Range | tuple[Any, ...]]
"""Range or choices of each parameter, by its name; nested ones with ``__``."""


class Value:
    """Frozen value whose parameters are the arguments of its constructor, kept as attributes of the same names."""

    search_ranges: ClassVar[Space] = {}
    """Ranges or choices that replace the defaults of `search_space`; added to those of the base classes."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn's estimators do.

        Parameters
        ----------
        deep : bool, default True
            Whether to list nested parameters too: ``base__sigmoid``, ``distance__lam``.
        """
        return _listed(self, deep=deep)

    def with_params(self, /, **parameters: Any) -> Self:
        """Return a copy with other parameters; nested ones by names such as ``distance__lam``.

        A nested value and its parameters may be given together.

        Raises
        ------
        ValueError
            If a parameter does not exist or its value is invalid.
        """
        changed: Self = _replaced(self, parameters)
        return changed

    def set_params(self, /, **parameters: Any) -> Self:
        """Raise TypeError, since the value is frozen; without parameters return the value.

        It is called if an estimator of your own holds the value, because scikit-learn's ``set_params`` changes nested
        objects in place. The rankers of this package build the new value themselves.
        """
        if not parameters:
            return self
        changes = ", ".join(f"{name}=…" for name in parameters)
        raise TypeError(
            f"{self!r} is a frozen value and cannot be changed in place; set a new value, value.with_params({changes})"
        )

    def __sklearn_clone__(self) -> Self:
        """Return the value itself, since it is immutable."""
        return self

    @property
    def search_space(self) -> Space:
        """Search space of the parameters for `boostplug.suggest`: by name a `Range`, or a tuple of choices.

        It holds `search_ranges`, the choices of parameters that take only certain strings, True and False for flags,
        an eighth to 8 times the value of positive real numbers, and the search spaces of nested values. Other
        parameters are not searched.
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
    """Return a copy of a value with other parameters, nested ones by ``__``."""
    return value.with_params(**parameters) if isinstance(value, Value) else _replaced(value, parameters)


def declared_ranges(value: Any) -> dict[str, Range | tuple[Any, ...]]:
    """Return the `search_ranges` of a value's class and its bases; raise for names that are not parameters."""
    declared: dict[str, Range | tuple[Any, ...]] = {}
    for kind in reversed(type(value).__mro__):
        declared |= vars(kind).get("search_ranges", {})
    known = parameters_of(value)
    for name, drawn in declared.items():
        if not isinstance(drawn, (Range, tuple, list)) or drawn in ((), []):
            raise ValueError(
                f"the search_ranges of {type(value).__name__} give {name!r} {shown(drawn)}; give it a Range, or a "
                "tuple of choices"
            )
    for name in vars(type(value)).get("search_ranges", {}):
        if name not in known:
            raise ValueError(
                f"the search_ranges of {type(value).__name__} name {shown(name)}, which is none of its parameters: "
                f"{sorted(known)}"
            )
    return {name: drawn for name, drawn in declared.items() if name in known}


def split_names(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the top-level parameters, and the nested ones by the name of their owner."""
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
    """Raise ValueError with scikit-learn's message."""
    raise ValueError(f"Invalid parameter {shown(name)} for {owner}. Valid parameters are: {sorted(valid)!r}.")


def no_parameters(name: str, part: Any, inner: Iterable[str], owner: Any) -> NoReturn:
    """Raise for nested parameters of an object that is neither a value nor an estimator."""
    given, kind = f"{name}__{next(iter(inner))}", type(owner).__name__
    if isinstance(part, type):
        raise ValueError(f"{kind} cannot take {given}, since {name} is the class {part.__name__}; pass an instance")
    raise ValueError(
        f"Invalid parameter {shown(given)} for {kind}, whose {name} is {shown(part)} and has no parameters; "
        f"set {name} itself"
    )


def _listed(value: Any, *, deep: bool) -> dict[str, Any]:
    listed: dict[str, Any] = {}
    for name in _names(type(value)):
        if _is_kept(value, name):  # a user's class may keep it under another name
            part = listed[name] = getattr(value, name)
            if deep and is_value(part):
                listed.update({f"{name}__{rest}": inner for rest, inner in parameters_of(part).items()})
    return listed


def _is_kept(value: Any, name: str) -> bool:
    """Return whether the instance has an attribute, also by a slot or property, and not only its class."""
    of_class = inspect.getattr_static(type(value), name, None)
    own = name in getattr(value, "__dict__", ()) or (hasattr(of_class, "__get__") and not inspect.isroutine(of_class))
    return own and hasattr(value, name)


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
    _refuse_to_forget(value, known)
    return type(value)(**known | changes)


def _refuse_to_forget(value: Any, known: Mapping[str, Any]) -> None:
    """Raise if rebuilding a value from its parameters gives another value."""
    remedy = "its constructor must take its parameters by name and keep them as attributes of the same names"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of the new value
            again = type(value)(**known)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{value!r} cannot be rebuilt, {error}; {remedy}") from None
    here, there = ({**getattr(one, "__dict__", {}), **parameters_of(one, deep=False)} for one in (value, again))
    beside = {field.name for field in fields(value) if not field.compare} if is_dataclass(value) else set()  # caches
    for name in here.keys() & there.keys() - beside:
        if not _same(here[name], there[name]):
            raise ValueError(
                f"{value!r} cannot be rebuilt, as its {name} would be {shown(there[name])} in place of "
                f"{shown(here[name])}; {remedy}"
            )


def _same(a: Any, b: Any) -> bool:
    """Return whether two attributes are equal; functions and objects without equality are compared by their code."""
    if a is b or type(a).__eq__ is object.__eq__:  # type: ignore[comparison-overlap]
        return type(a) is type(b) and getattr(a, "__code__", None) is getattr(b, "__code__", None)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    try:
        return bool(a == b)
    except ValueError:  # of arrays within
        return np.array_equal(a, b)


def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a class's parameters: those of its constructor, and of its bases' that it passes on."""
    names: dict[str, None] = {}
    for base in kind.__mro__[:-1]:
        if "__init__" in vars(base):
            taken = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
            names |= dict.fromkeys(p.name for p in taken if p.kind in {p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY})
            if not any(p.kind is p.VAR_KEYWORD for p in taken):
                break
    return tuple(names)


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
    return space | declared_ranges(value)


def _hints(kind: type) -> dict[str, Any]:
    """Return the annotations of the constructors of a class and its bases; none if they cannot be read."""
    hints: dict[str, Any] = {}
    for base in kind.__mro__[::-1]:
        with suppress(Exception):  # an annotation may be any string
            hints |= get_type_hints(base.__init__)  # type: ignore[misc]
    return hints
