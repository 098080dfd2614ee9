"""Names of values made of the parameters that differ from their defaults.

A value is a frozen dataclass of its parameters: a metric, a loss, a distance, a user's own. `exact_name` is for logs
and files, and `read_name` reads it back; `short_name` is for tables. `read_value` reads a value's ``repr`` back.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import signature
from sys import modules
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from boostplug.core.checks import shown
from boostplug.core.values import Value

_T = TypeVar("_T")
_MOST_SHOWN = 3  # entries of a tuple


class Named(Value):
    """Base class of values with a short name: losses, metrics and distances."""

    always_named: ClassVar[bool] = False
    """True if names of enclosing values include this value even if it is the default."""

    def short_name(self, *, by_name: bool = False) -> str:
        """Return the name for tables, as `naming.short_name` does."""
        return _short_name(self, by_name=by_name)


def parameters(value: Any) -> Iterator[tuple[str, Any, bool]]:
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


def short_name(value: Any, *, by_name: bool = False) -> str:
    """Return the class and the parameters that differ from the defaults: ``QBRank(.3, none)``.

    With `by_name`, the parameters' names are included.
    """
    return value.short_name(by_name=by_name) if isinstance(value, Named) else _short_name(value, by_name=by_name)


def _short_name(value: Any, *, by_name: bool) -> str:
    options = []
    for name, part, is_default in parameters(value):
        if isinstance(part, Named) and part.always_named:
            options.append(part.short_name(by_name=by_name))
        elif not is_default:
            named = by_name or part is None or isinstance(part, bool)
            options.append(f"{name}={_short(part, by_name=by_name)}" if named else _short(part, by_name=by_name))
    kind = type(value).__name__
    return f"{kind}({', '.join(options)})" if options else kind


def _short(part: Any, *, by_name: bool) -> str:
    if is_dataclass(part) and not isinstance(part, type):
        return short_name(part, by_name=by_name)
    if isinstance(part, (float, np.floating)):
        return short_number(part)
    if isinstance(part, tuple) and len(part) > _MOST_SHOWN:
        return f"({', '.join(_short(one, by_name=by_name) for one in part[:_MOST_SHOWN])}, …)"
    return str(getattr(part, "__name__", None) or part)


def short_number(number: float | np.floating[Any]) -> str:
    """Return the number without the 0 before its point: ``.3``."""
    text = f"{number:g}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def distinct_names(values: Sequence[Any]) -> list[str]:
    """Return a unique name for each value: the short one if it is unique, else a longer one, else a numbered one."""
    spellings = [(short_name(value), short_name(value, by_name=True), repr(value)) for value in values]
    names: list[str] = []
    for own in spellings:
        base = next((name for i, name in enumerate(own) if [other[i] for other in spellings].count(name) == 1), own[-1])
        name, number = base, 2
        while name in names:
            name, number = f"{base} #{number}", number + 1
        names.append(name)
    return names


def exact_name(value: Any) -> str:
    """Return the class, ``@k`` and the parameters that differ from the defaults: ``NDCG@2(letor,relevant=2)``.

    The name contains no spaces or colons, at which XGBoost splits its lines.
    """
    name, options = type(value).__name__, []
    for parameter, part, is_default in parameters(value):
        if parameter == "k":
            name += "" if part is None and is_default else f"@{part}"
        elif not is_default:
            text = _callable_name(part) if callable(part) else str(part)
            options.append(text if isinstance(part, str) else f"{parameter}={text}")
    if options:
        name += f"({','.join(options)})"
    return "".join(name.split()).replace(":", "_")


def _callable_name(function: Callable[..., Any]) -> str:
    """Return ``module.name`` if the function can be found there, else a name made unique by its hash."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module and name and "<" not in name:
        found: Any = modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is function:
            return f"{module}.{name}"
    label = (name or type(function).__name__).rpartition(".")[2].strip("<>")
    return f"{label}-{hash(function) & 0xFFFFFFFFFFFFFFFF:x}"


def read_name(text: str, kinds: Mapping[str, type[_T]], what: str) -> _T:
    """Return the value for a name as written by `exact_name`.

    The class may be in lower case. Without ``@k`` the class's default cut-off is used.

    Parameters
    ----------
    text : str
    kinds : mapping of str to type
        Classes by name.
    what : str
        Kind of value, for errors: "metric".

    Raises
    ------
    ValueError
        If there is no such class, or it does not take such parameters.
    """
    found = re.fullmatch(r"\s*([^@(]*?)\s*(?:@([^(]*))?(?:\((.*)\))?\s*", text, re.DOTALL)
    head, cutoff, inside = found.groups() if found else (text, None, None)
    kind = next((kind for name, kind in kinds.items() if name.lower() == head.lower()), None)
    if kind is None:
        raise ValueError(f"there is no {what} {shown(text)}; there are: {', '.join(kinds)} (with a cut-off: NDCG@10)")
    takes = get_type_hints(kind)
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if cutoff and "k" not in names:
        raise ValueError(f"{what} {text!r}: {kind.__name__} has no cut-off; write {kind.__name__}")
    cutoff = "None" if cutoff and cutoff.strip().lower() == "none" else cutoff
    options = {"k": _read(cutoff)} if cutoff else {}
    for option in filter(None, map(str.strip, (inside or "").split(","))):
        name, equals, value = option.partition("=")
        if not equals:
            name, value = next((n for n in names if option in _words(takes[n])), ""), option
        if name not in names:
            raise ValueError(f"{what} {text!r}: {kind.__name__} has no parameter for {option!r}; it has: {names}")
        options[name] = _read(value)
    try:
        return kind(**options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} {text!r}: {error}") from None


def _words(hint: Any) -> tuple[Any, ...]:
    """Return the valid strings of a parameter of this type."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(word for part in get_args(hint) for word in _words(part))


def _read(text: str) -> Any:
    """Return the number, truth value or None that `text` spells, else `text` without its quotes."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    words = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


_LONGEST = 10_000  # characters of an expression; Python's parser runs out of stack on some longer ones
_IN_QUOTES_OR_DASH = re.compile(r"""("[^"]*"|'[^']*')|(?<=[a-z])-(?=[a-z])""", re.IGNORECASE)
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def read_value(text: str, known: Mapping[str, Any], what: str, listed: str) -> Any:
    """Return the value of an expression as written by ``repr``; only the classes' own code is run.

    The expression may contain literals, classes with parameters in parentheses, names of values, sums, and products
    and quotients with numbers.

    Parameters
    ----------
    text : str
    known : mapping of str to type or value
        Classes and values by their names in lower case, which may contain ``-`` between letters. A class without
        parentheses means its value with all defaults; a value with parentheses means a value of its class.
    what : str
        Kind of value, for errors: "loss".
    listed : str
        List of the names, for errors.

    Raises
    ------
    ValueError
        If a name is unknown, a class does not take the parameters, or the text is not such an expression.
    """
    plain = {name.replace("-", "_"): value for name, value in known.items()}
    try:
        spelt = "" if len(text) > _LONGEST else _IN_QUOTES_OR_DASH.sub(lambda found: found[1] or "_", text).strip()
        tree = ast.parse(spelt, mode="eval").body
    except (
        AttributeError,
        TypeError,
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # not a string, or not an expression
        raise ValueError(f"there is no {what} {shown(text)}; there are: {listed}") from None
    try:
        return _Reader(plain, what, listed).value(tree)
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise ValueError(str(error) if isinstance(tree, ast.Name) else f"{what} {shown(text)}: {error}") from None


class _Reader:
    """Evaluates the nodes of an expression's syntax tree."""

    def __init__(self, known: Mapping[str, Any], what: str, listed: str) -> None:
        self._known, self._what, self._listed = known, what, listed

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value) if value is None or isinstance(value, (bool, int, float, str)):
                return value
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[ast.Constant() as number], keywords=[]):
                return self.value(number)  # the repr of NumPy 2: np.float64(0.5)
            case ast.Name() | ast.Attribute():
                found = self._named(node)
                return found() if isinstance(found, type) else found
            case ast.Call(func=ast.Attribute(value=inner, attr="on"), args=[label], keywords=[]):
                return self.value(inner).on(label.id if isinstance(label, ast.Name) else self.value(label))
            case ast.Call(func=ast.Name() | ast.Attribute() as name, args=args, keywords=keywords):
                found = self._named(name)
                kind = found if isinstance(found, type) else type(found)
                options = {keyword.arg: self.value(keyword.value) for keyword in keywords if keyword.arg is not None}
                if len(options) < len(keywords):
                    raise ValueError("**-arguments cannot be read; give each parameter by name or position")
                values = [self.value(arg) for arg in args]
                try:
                    signature(kind).bind(*values, **options)
                except TypeError as error:
                    names = ", ".join(signature(kind).parameters)
                    raise ValueError(f"{kind.__name__}: {error}; its parameters are: {names}") from None
                return kind(*values, **options)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(map(self.value, elements))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._operand(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                a, b = self._operand(left), self._operand(right)
                try:
                    return _OPERATORS[type(op)](a, b)
                except TypeError:
                    raise ValueError(f"{a!r} and {b!r} cannot be added or multiplied") from None
        raise ValueError(
            f"{ast.unparse(node)!r} cannot be read; write literals, names with parameters in parentheses, and sums of "
            "these with weights, as in .7*a + .3*b(c=0.5)"
        )

    def _operand(self, node: ast.expr) -> Any:
        value = self.value(node)
        if isinstance(value, bool) or not isinstance(value, (int, float, Value)):
            raise ValueError(f"{value!r} cannot be added or multiplied")
        return value

    def _named(self, node: ast.Name | ast.Attribute) -> Any:
        name = ast.unparse(node)
        found = self._known.get(re.sub(r"^(bp|boostplug)\.", "", name).lower())
        if found is None:
            spelt = re.sub("(?<=[a-z])_(?=[a-z])", "-", name, flags=re.IGNORECASE)
            raise ValueError(f"there is no {self._what} {spelt!r}; there are: {self._listed}")
        return found
