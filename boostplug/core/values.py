"""Frozen values with parameters and names: losses, metrics, distances, and users' frozen dataclasses.

Their parameters can be listed and searched as those of scikit-learn's estimators, nested ones by names such as
``base__sigmoid``. A change returns a new value. A value's complete name is its ``repr``, which `naming.read_value`
reads. It has a short label for tables, and a metric has one for the frameworks' logs.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from inspect import signature
from numbers import Integral
from typing import Any, ClassVar, Literal, NoReturn, Self, get_args, get_origin, get_type_hints

import numpy as np

from boostplug.core.checks import check_number, shown

_MOST_SHOWN = 3  # entries of a tuple
FACTOR = 8.0  # without a declared range, a positive real number is searched from an eighth of it to 8 times it


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
    always_named: ClassVar[bool] = False
    """True if labels of enclosing values include this value even if it is the default."""

    @property
    def name(self) -> str:
        """Label for tables: the class, and the parameters that differ from the defaults: "QBRank(.3, none)"."""
        return _class_and_differences(self)

    def parameters(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        It is not `get_params`, in which the frameworks' own estimators look for parameters of a training.

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
        """Raise TypeError, since the value is frozen. Without parameters return the value.

        It is called if an estimator of your own holds the value: scikit-learn's ``set_params`` changes nested objects
        in place. The rankers of this package build the new value themselves.
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

        It holds `search_ranges` and the search spaces of nested values. Parameters that take only certain strings have
        these choices, flags True and False. Positive real numbers have an eighth to 8 times their value. Other
        parameters are not searched.
        """
        return _space(self)


def _fields_with_defaults(value: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield each parameter's name and value, and whether it is the default; nothing if `value` is not a dataclass."""
    for field in fields(value) if is_dataclass(value) else ():
        part = getattr(value, field.name, None)
        yield field.name, part, _is_default(part, field)


def _is_default(part: Any, field: Field[Any]) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    try:
        return bool(part is default or part == default)
    except (TypeError, ValueError):  # NumPy's arrays, and times
        return False


def label(value: Any) -> str:
    """Return the short label of a value, a number or a function."""
    if isinstance(value, Value):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        return _class_and_differences(value)
    if isinstance(value, (float, np.floating)):
        return re.sub(r"^(-?)0\.", r"\1.", f"{value:g}")
    if isinstance(value, tuple) and len(value) > _MOST_SHOWN:
        return f"({', '.join(map(label, value[:_MOST_SHOWN]))}, …)"
    return str(getattr(value, "__name__", None) or value)


def _class_and_differences(value: Any) -> str:
    differences = [
        f"{name}={part}" if part is None or isinstance(part, bool) else label(part)
        for name, part, is_default in _fields_with_defaults(value)
        if not is_default or (isinstance(part, Value) and part.always_named)
    ]
    return type(value).__name__ + (f"({', '.join(differences)})" if differences else "")


def distinct_names(values: Sequence[Any]) -> list[str]:
    """Return a unique name for each value: its label if it is unique, else its ``repr``, numbered if it comes again."""
    labels = [*map(label, values)]
    bases = [short if labels.count(short) == 1 else repr(value) for short, value in zip(labels, values, strict=True)]
    counts = [bases[: i + 1].count(base) for i, base in enumerate(bases)]
    return [base if count == 1 else f"{base} #{count}" for base, count in zip(bases, counts, strict=True)]


def name_in_logs(value: Any) -> str:
    """Return the class, ``@k`` and the parameters that differ from the defaults: ``NDCG@2(letor,relevant=2)``.

    The name contains no spaces or colons, at which XGBoost splits its lines. Functions without a name of their own
    are told apart by their hashes.
    """
    name, options = type(value).__name__, []
    for parameter, part, is_default in _fields_with_defaults(value):
        if parameter == "k":
            name += "" if part is None and is_default else f"@{part}"
        elif not is_default:
            text = _function_name(part) if callable(part) else str(part)
            options.append(text if isinstance(part, str) else f"{parameter}={text}")
    if options:
        name += f"({','.join(options)})"
    return "".join(name.split()).replace(":", "_")


def _function_name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", f"<{type(function).__name__}>")
    if "<" not in name:
        return f"{function.__module__}.{name}"
    return f"{name.rpartition('.')[2].strip('<>')}-{hash(function) & 0xFFFFFFFFFFFFFFFF:x}"


def is_value(thing: Any) -> bool:
    """Return whether `thing` is a frozen value with parameters: a `Value`, or any frozen dataclass."""
    frozen = getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False)
    return isinstance(thing, Value) or bool(frozen)


def parameters_of(value: Any, *, deep: bool = True) -> dict[str, Any]:
    """Return the parameters of a value by name."""
    return value.parameters(deep=deep) if isinstance(value, Value) else _listed(value, deep=deep)


def replaced(value: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a copy of a value with other parameters, nested ones by ``__``."""
    return value.with_params(**parameters) if isinstance(value, Value) else _replaced(value, parameters)


def changed_parameters(value: Any, known: dict[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `value` has as parameters, `known`, with changes; nested ones by ``__``."""
    changes, within = split_names(parameters)
    for name in (*changes, *within):
        if name not in known:
            invalid_parameter(name, shown(value), known)
    for name, inner in within.items():
        part = changes.get(name, known[name])
        if not is_value(part):
            no_parameters(name, part, inner, value)
        changes[name] = replaced(part, inner)
    return known | changes


def declared_ranges(value: Any) -> dict[str, Range | tuple[Any, ...]]:
    """Return the `search_ranges` of a value's class and its bases. Raise for names that are not parameters."""
    declared: dict[str, Range | tuple[Any, ...]] = {}
    known = parameters_of(value)
    for kind in reversed(type(value).__mro__):
        for name, drawn in vars(kind).get("search_ranges", {}).items():
            if (kind is type(value) and name not in known) or not isinstance(drawn, (Range, tuple)) or drawn == ():
                raise ValueError(
                    f"the search_ranges of {kind.__name__} must be a Range or a tuple of choices for some of its "
                    f"parameters {sorted(known)}; got {shown(drawn)} for {name!r}"
                )
            declared[name] = drawn
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
    kept = {*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())}
    for name in signature(type(value)).parameters:
        if name in kept:
            part = listed[name] = getattr(value, name)
            if deep and is_value(part):
                listed.update({f"{name}__{rest}": inner for rest, inner in parameters_of(part).items()})
    return listed


def _replaced(value: Any, parameters: Mapping[str, Any]) -> Any:
    known = parameters_of(value, deep=False)
    changed = changed_parameters(value, known, parameters)
    if signature(type(value)).parameters.keys() != known.keys():
        raise ValueError(
            f"{value!r} cannot be rebuilt with other parameters; its constructor must take its parameters by name and "
            "keep them as attributes of the same names"
        )
    return type(value)(**changed)


def _space(value: Any) -> Space:
    space: dict[str, Range | tuple[Any, ...]] = {}
    hints: dict[str, Any] = {}
    with suppress(Exception):  # an annotation may be any string
        hints = get_type_hints(type(value))
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
            space[name] = Range(float(part) / FACTOR, float(part) * FACTOR, log=True)
    return space | declared_ranges(value)
