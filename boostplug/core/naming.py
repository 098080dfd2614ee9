"""Names of values: a short label for tables, a metric's name in the frameworks' logs; and values of expressions.

A value is a frozen dataclass of its parameters: a metric, a loss, a distance, a user's own. Its complete name is its
``repr``, which `read_value` reads.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any, ClassVar

import numpy as np

from boostplug.core.checks import did_you_mean, shown
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
_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.Add: operator.add, ast.Mult: operator.mul}


def read_value(text: str, known: Mapping[str, Any], what: str, listed: str) -> Any:
    """Return the value of a Python expression as written by ``repr``; only the classes' own code is run.

    The expression may contain literals, known classes with parameters in parentheses, sums, and products with numbers.
    ``NDCG@5`` is ``NDCG(k=5)``.

    Parameters
    ----------
    text : str
    known : mapping of str to type
        Classes by their names in lower case. A class without parentheses means its value with all defaults.
    what : str
        Kind of value, for errors: "loss".
    listed : str
        List of the names, for errors.

    Raises
    ------
    ValueError
        If a name is unknown, a class does not take the parameters, or the text is not such an expression.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ValueError(f"there is no {what} {shown(text)}; there are: {listed}")
    tree: ast.expr = ast.Name(text)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _value(tree, known)
    except (SyntaxError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        is_name = isinstance(tree, ast.Name)
        cause, near = "" if is_name else f": {error}", did_you_mean(text, known) if is_name else ""
        raise ValueError(f"there is no {what} {shown(text)}{cause}; there are: {listed}{near}") from None


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name() | ast.Attribute():
            return _class(node, known)()
        case ast.Call(func=ast.Attribute(value=inner, attr="on"), args=[label], keywords=[]):
            return _value(inner, known).on(ast.literal_eval(label))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[number], keywords=[]):
            return ast.literal_eval(number)  # the repr of NumPy 2: np.float64(0.5)
        case ast.Call(func=name, args=args, keywords=keywords):
            options = {str(keyword.arg): _value(keyword.value, known) for keyword in keywords}
            return _class(name, known)(*(_value(argument, known) for argument in args), **options)
        case ast.BinOp(left=left, op=ast.MatMult(), right=k):
            return replace(_value(left, known), k=ast.literal_eval(k))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SUMS:
            return _SUMS[type(op)](_value(left, known), _value(right, known))
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return tuple(_value(element, known) for element in elements)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"{ast.unparse(node)!r} cannot be read") from None


def _class(node: ast.expr, known: Mapping[str, Any]) -> Any:
    name = ast.unparse(node)
    found = known.get(name.lower().removeprefix("bp.").removeprefix("boostplug."))
    if found is None:
        raise ValueError(f"{name!r} is unknown")
    return found
