"""Names of values: a short label for tables, a metric's name in the frameworks' logs; and values of expressions.

A value is a frozen dataclass of its parameters: a metric, a loss, a distance, a user's own. Its complete name is its
``repr``, which `read_value` reads.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import signature
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np

from boostplug.core.checks import shown
from boostplug.core.values import Value

_MOST_SHOWN = 3  # entries of a tuple


class Named(Value):
    """Base class of values with a short label: losses, metrics and distances."""

    always_named: ClassVar[bool] = False
    """True if labels of enclosing values include this value even if it is the default."""

    @property
    def name(self) -> str:
        """Label for tables: the class, and the parameters that differ from the defaults: "QBRank(.3, none)"."""
        return _class_and_differences(self)


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


def label(value: Any) -> str:
    """Return the short label of a value, a number or a function."""
    if isinstance(value, Named):
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
        for name, part, is_default in parameters(value)
        if not is_default or (isinstance(part, Named) and part.always_named)
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
    for parameter, part, is_default in parameters(value):
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


_LONGEST = 10_000  # characters of an expression; Python's parser runs out of stack on some longer ones
_QUOTED_OR_DASH_OR_CUT_OFF = re.compile(
    r"""("[^"]*"|'[^']*')|(?<=[a-z])-(?=[a-z])|(\w+)@(\w+)(?:\(([^()]*)\))?""", re.IGNORECASE
)
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
}


def read_value(text: str, known: Mapping[str, Any], what: str, listed: str) -> Any:
    """Return the value of an expression as written by ``repr``; only the classes' own code is run.

    The expression may contain literals, classes with parameters in parentheses, names of values, sums, and products
    with numbers. Words that a parameter takes need no quotes and no name: ``NDCG(letor)``. ``NDCG@5`` is
    ``NDCG(k=5)``.

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
        spelt = "" if len(text) > _LONGEST else _QUOTED_OR_DASH_OR_CUT_OFF.sub(_as_python, text).strip()
        tree = ast.parse(spelt, mode="eval").body
    except (AttributeError, TypeError, SyntaxError, ValueError, RecursionError, MemoryError):  # no text, no expression
        raise ValueError(f"there is no {what} {shown(text)}; there are: {listed}") from None
    try:
        return _Reader(plain, what, listed).value(tree)
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise ValueError(str(error) if isinstance(tree, ast.Name) else f"{what} {shown(text)}: {error}") from None


def _as_python(found: re.Match[str]) -> str:
    """Return a text in quotes as it is, a name with a cut-off as a call, and a dash in a name as an underscore."""
    quoted, kind, cut_off, options = found.groups()
    if kind is None:
        return quoted or "_"
    return f"{kind}({f'{options}, ' if options else ''}k={cut_off.title()})"


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
            case ast.Call(func=ast.Name() | ast.Attribute() as name):
                return self._made(name, node)
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

    def _made(self, class_name: ast.Name | ast.Attribute, call: ast.Call) -> Any:
        """Return the value of a class with parameters."""
        found = self._named(class_name)
        kind = found if isinstance(found, type) else type(found)
        hints, names = get_type_hints(kind), signature(kind).parameters
        words = {word: name for name in names if name in hints for word in _words(hints[name])}
        values: list[Any] = []
        options: dict[str, Any] = {}
        for argument in [*(ast.keyword(value=node) for node in call.args), *call.keywords]:
            node, name = argument.value, argument.arg
            is_word = isinstance(node, ast.Name) and node.id in words
            if name is None and not is_word:
                values.append(self.value(node))
            else:
                value = ast.unparse(node) if is_word else self.value(node)
                options[name or words[value]] = value
        try:
            bound = signature(kind).bind(*values, **options)
        except TypeError as error:
            raise ValueError(f"{kind.__name__}: {error}; its parameters are: {', '.join(names)}") from None
        return kind(*bound.args, **bound.kwargs)

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


def _words(hint: Any) -> tuple[Any, ...]:
    """Return the texts that a parameter of this type takes."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(word for part in get_args(hint) for word in _words(part))
