"""Frozen values with parameters: losses, metrics, distances, any frozen dataclass of a user's own.

Their parameters are listed and searched as those of scikit-learn's estimators are, parts of parts by names such as
``base__sigmoid``. Where an estimator would change in place, a value gives way to a new one.
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

__all__ = [
    "Range",
    "Space",
    "Value",
    "invalid_parameter",
    "is_value",
    "no_parameters",
    "parameters_of",
    "ranges_said",
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

    def __post_init__(self) -> None:
        check_number("Range: low", self.low, above=0.0 if self.log else None)
        check_number("Range: high", self.high, least=float(self.low))

    @property
    def whole(self) -> bool:
        """Whether its numbers are integers."""
        return isinstance(self.low, Integral) and isinstance(self.high, Integral)


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


def ranges_said(value: Any) -> dict[str, Range | tuple[Any, ...]]:
    """Return what the class of a value and its bases say of its parameters; a name of none in the class is an error."""
    said: dict[str, Range | tuple[Any, ...]] = {}
    for kind in reversed(type(value).__mro__):
        said |= vars(kind).get("search_ranges", {})
    known = parameters_of(value)
    for name, drawn in said.items():
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
    return {name: drawn for name, drawn in said.items() if name in known}


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
        if _is_kept(value, name):  # a class of one's own may keep it under another
            part = listed[name] = getattr(value, name)
            if deep and is_value(part):
                listed.update({f"{name}__{rest}": inner for rest, inner in parameters_of(part).items()})
    return listed


def _is_kept(value: Any, name: str) -> bool:
    """Return whether `value` itself has an attribute, by a slot or property too, and not its class alone."""
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
    """Raise where a value with the same parameters would be another one: its constructor keeps them otherwise."""
    remedy = "its constructor is to take its parameters by name, and to keep them as attributes of their names"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which the new value gives
            again = type(value)(**known)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{value!r} cannot be built anew, {error}; {remedy}") from None
    here, there = ({**getattr(one, "__dict__", {}), **parameters_of(one, deep=False)} for one in (value, again))
    beside = {field.name for field in fields(value) if not field.compare} if is_dataclass(value) else set()  # caches
    for name in here.keys() & there.keys() - beside:
        if not _same(here[name], there[name]):
            raise ValueError(
                f"{value!r} cannot be built anew, as its {name} would be {shown(there[name])} in place of "
                f"{shown(here[name])}; {remedy}"
            )


def _same(a: Any, b: Any) -> bool:
    """Return whether two attributes are equal; functions and objects that a constructor makes, by their code."""
    if a is b or type(a).__eq__ is object.__eq__:  # type: ignore[comparison-overlap]
        return type(a) is type(b) and getattr(a, "__code__", None) is getattr(b, "__code__", None)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    try:
        return bool(a == b)
    except ValueError:  # of arrays within
        return np.array_equal(a, b)


def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a class's parameters: what its constructor takes by name, or hands on to its bases'."""
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
    return space | ranges_said(value)


def _hints(kind: type) -> dict[str, Any]:
    """Return the types of what a class's constructor and those of its bases take; none where they cannot be read."""
    hints: dict[str, Any] = {}
    for base in kind.__mro__[::-1]:
        with suppress(Exception):  # what stands between quotes is any text
            hints |= get_type_hints(base.__init__)  # type: ignore[misc]
    return hints
