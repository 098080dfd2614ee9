"""Values of expressions, as their ``repr`` or a user writes them."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from boostplug.core.checks import did_you_mean, shown

_LONGEST = 10_000  # characters of an expression; Python's parser runs out of stack on some longer ones
_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.Add: operator.add, ast.Mult: operator.mul}


def read_value(text: str, known: Mapping[str, Any], what: str, listed: str) -> Any:
    """Return the value of a Python expression as written by ``repr``. Only the classes' own code is run.

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
