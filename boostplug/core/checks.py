"""Checks of users' arguments. Error messages name the argument, the value and the remedy."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from difflib import get_close_matches
from itertools import combinations
from numbers import Real
from operator import index
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.text import visible

_T = TypeVar("_T", bound=np.generic)
_LARGEST_INTEGER = 2**63 - 1  # kernels take no more
_LONGEST_SHOWN = 80  # characters of a value in a message
LARGEST_WEIGHT = 1e100  # products of three, and their sums, stay finite; so do those of the smallest, 1e-100
_LARGEST_SCORE = 1e100  # squares and products with distances stay finite


def frozen(array: NDArray[_T]) -> NDArray[_T]:
    """Return `array`, made read-only."""
    array.setflags(write=False)
    return array


class Immutable:
    """Base class of data whose attributes cannot be set or deleted; constructors write to ``__dict__``."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; build a new one to change {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; {name} cannot be deleted")


def as_native(values: Any) -> Any:
    """Return an array or sparse matrix in this machine's byte order, which the frameworks assume."""
    kind = getattr(values, "dtype", None)
    return values if not isinstance(kind, np.dtype) or kind.isnative else values.astype(kind.newbyteorder("="))


def shown(value: Any) -> str:
    """Return a value's repr for messages, shortened in the middle, or for a long list after some items."""
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind in "biufcSU" else str(value)
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 (a user's repr may raise, and Python refuses to write long integers)
        text = f"an int of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    printed: str = visible(text)
    if isinstance(value, (list, tuple)) and len(printed) > _LONGEST_SHOWN:
        items = [shown(item) for item in value[:_LONGEST_SHOWN]]
        n = max(1, int(np.searchsorted(np.cumsum([len(item) + 2 for item in items]), _LONGEST_SHOWN)))
        return f"[{', '.join(items[:n])}{f', … {len(value) - n} more' * (n < len(value))}]"
    half = _LONGEST_SHOWN // 2
    return printed if len(printed) <= _LONGEST_SHOWN else f"{printed[:half]}…{printed[-half:]}"


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """Return "; did you mean NAME?" with the known name that is nearest to another one; empty where none is near."""
    by_letters = {str(one).casefold(): one for one in known}
    nearest = get_close_matches(str(name).casefold(), by_letters, n=1)
    return "".join(f"; did you mean {by_letters[one]}?" for one in nearest)


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as bool, refusing values other than True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {shown(value)}")
    return bool(value)


def check_integer(
    name: str, value: Any, least: int, otherwise: str = "", remedy: str = "", *, most: int = _LARGEST_INTEGER
) -> int:
    """Return an integer of any type as int, refusing values below `least` or above `most`.

    `otherwise` names the caller's other valid values (", or None for all"), `remedy` the remedy.
    """
    try:
        number = least - 1 if isinstance(value, (bool, np.bool_)) else index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        limit = f"at least {least}" if number < least else f"at most {most}"
        raise ValueError(
            f"{name} must be an integer of {limit}{otherwise}; got {shown(value)}{remedy and '; ' + remedy}"
        )
    return number


def check_number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
    otherwise: str = "",
    remedy: str = "",
) -> float:
    """Return a real number as float, refusing values that are not finite or not within the limits."""
    try:
        number = math.nan if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) else float(value)
    except (OverflowError, TypeError):  # beyond float64; NumPy's timedelta64 is registered as real
        number = math.nan
    if not (math.isfinite(number) and above < number < below and least <= number <= most):
        limits = {"above": above, "of at least": least, "below": below, "of at most": most}
        words = " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if math.isfinite(limit))
        raise ValueError(
            f"{name} must be a finite number{words and ' ' + words}{otherwise}; got {shown(value)}"
            f"{remedy and '; ' + remedy}"
        )
    return number


def check_choice(name: str, value: Any, choices: tuple[str, ...], otherwise: str = "") -> str:
    """Return `value`, refusing values that are not in `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}{otherwise}; got {shown(value)}")
    return value


def check_choices(value: Any) -> None:
    """Check the fields of a dataclass that are annotated as ``Literal``."""
    hints: dict[str, Any] = {}
    with suppress(Exception):  # an annotation may be any string
        hints = get_type_hints(type(value))
    for field in fields(value):
        hint = hints.get(field.name)
        if get_origin(hint) is Literal:
            check_choice(f"{type(value).__name__}: {field.name}", getattr(value, field.name), get_args(hint))


def check_instance(name: str, value: Any, kind: type, example: str) -> Any:
    """Return `value`, refusing objects that are not instances of `kind`, and the class itself."""
    check_no_class(name, value, kind)
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__} such as {example}; got {shown(value)}")
    return value


def check_no_class(name: str, value: Any, kind: type) -> None:
    """Raise if `value` is a class of this kind in place of an instance."""
    if isinstance(value, type) and issubclass(value, kind):
        raise ValueError(f"{name} is the class {value.__name__}; pass an instance, {value.__name__}()")


def column_names(X: Any) -> list[Any]:
    """Return the names of a table's columns, empty if X has none; pyarrow's `columns` are the data."""
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


def check_column_names(chosen: Mapping[str, Any]) -> None:
    """Raise for names of columns that are not strings. The keys of `chosen` are the arguments."""
    for argument, name in chosen.items():
        if not isinstance(name, str):
            raise ValueError(f"{argument} must be the name of a column; got {shown(name)}")


def check_values(name: str, bad: NDArray[np.bool_], values: NDArray[Any], why: str) -> None:
    """Raise for the first element of `values` for which `bad` is True."""
    if bad.any():
        at = int(np.argmax(bad))
        more = int(bad.sum()) - 1
        rest = f" ({more} more)" if more else ""
        raise ValueError(f"{name}[{at}] = {shown(values[at])} {why}{rest}")


def check_order(**values: Any) -> Any:
    """Raise if two arguments have the same pandas index in different orders, since rows are matched by position.

    Arguments without an index are skipped, and so are indexes with different entries or lengths. Returns the first
    index, None if there is none. A mapping holds several arguments.
    """
    for several in [name for name, value in values.items() if isinstance(value, Mapping)]:
        values |= {f"{several}[{key!r}]": value for key, value in values.pop(several).items()}
    found: dict[str, Any] = {name: getattr(value, "index", None) for name, value in values.items()}
    indexes = {name: its for name, its in found.items() if hasattr(its, "get_indexer")}
    for (first, one), (name, other) in combinations(indexes.items(), 2):
        if _is_reordered(one, other):
            remedy = f"pass {name}.loc[{first}.index]" if other.is_unique else "sort both by one column"
            raise ValueError(
                f"{name} and {first} have the same index in different orders, and rows are matched by position; "
                f"{remedy}, or pass {name}.to_numpy() if the positions are right"
            )
    return next(iter(indexes.values()), None)


def _is_reordered(one: Any, other: Any) -> bool:
    """Return whether two pandas indexes hold the same entries with the same counts in different orders."""
    if one is other or len(one) != len(other) or one.equals(other):
        return False
    return list(one) != list(other) and Counter(one) == Counter(other)


def check_exact_ids(name: str, ids: NDArray[Any]) -> None:
    """Raise for floating-point ids so large that several integers are rounded to the same number."""
    if ids.dtype.kind != "f":
        return
    digits = np.finfo(ids.dtype).nmant + 1
    why = f"is too large an id for {ids.dtype}, which rounds integers from 2^{digits} on; pass integers or strings"
    check_values(name, np.abs(ids) >= 2.0**digits, ids, why)


def check_weights(name: str, weights: NDArray[np.float64], *, zero: bool = True) -> None:
    """Raise for weights beyond the limits within which products stay finite; with `zero`, 0 is allowed."""
    fits = (weights >= 1.0 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT) | (zero & (weights == 0))
    check_values(name, ~fits, weights, f"is not {'0 or ' * zero}from 1e-100 to 1e100; drop it, or rescale all")


def as_vector(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return `values` as a one-dimensional array."""
    array = _array(name, values)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, got shape {array.shape}; pass a list, or a single column, of shape (n,)"
        )
    return array


def as_column_vector(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return `values` as a one-dimensional array. A table of one column is taken, with scikit-learn's warning."""
    from sklearn.utils import column_or_1d

    array = _array(name, values)
    return column_or_1d(array, warn=True) if array.shape[1:] == (1,) else as_vector(name, array)


def as_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a new float64 vector, refusing values that are not real numbers."""
    array = as_real_numbers(name, as_vector(name, values))
    with np.errstate(over="ignore"):  # longdouble beyond float64 becomes infinite, which callers refuse
        return np.array(array, dtype=np.float64)


def call_function(
    what: str, per: str, function: Callable[..., Any], *arguments: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the result of a user's function of arrays as float64. The caller must check the numbers.

    NumPy's warnings are off, since the caller reports bad numbers. `what` is the name of the function in messages,
    `per` that of an entry of its arguments.
    """
    with np.errstate(all="ignore"):
        out = function(*(argument.copy() for argument in arguments))
    return as_result(what, per, out, arguments[0].shape)


def check_function(name: str, value: Any, otherwise: str = "") -> None:
    """Refuse what is no function of arrays, and functions that are not hashable, as losses and metrics must be."""
    if isinstance(value, type) or not callable(value):
        raise ValueError(f"{name} must be a function of arrays{otherwise}; got {shown(value)}")
    try:
        hash(value)
    except TypeError:
        remedy = "pass a function, or a frozen dataclass with __call__"
        raise ValueError(f"{name} must be hashable; got {shown(value)}; {remedy}") from None


def as_result(what: str, per: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the result of a user's function as float64, refusing other shapes and values that are not numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # entries of several lengths
        array = np.empty((), object)
    if array.shape != shape or (array.dtype.kind not in "biuf" and array.size):
        raise ValueError(
            f"{what} must return one real number per {per}, an array of shape {shape}; it returned one of shape "
            f"{array.shape}, dtype {array.dtype}"
        )
    return np.asarray(array, dtype=np.float64)


def scores_of_rows(scores: ArrayLike, n_rows: int, *, finite: bool, **beside: Any) -> NDArray[np.float64]:
    """Return scores as a contiguous, read-only float64 vector, without a copy if they already are one.

    The result is a read-only view, so that kernels are compiled for one type only. NaN is refused; with `finite`, for
    losses, infinities and values beyond ±1e100 too. `beside` is what may have the same pandas index.
    """
    if (
        type(scores) is np.ndarray and scores.dtype in (np.float32, np.float64) and not beside
    ):  # as frameworks pass them
        array: NDArray[Any] = scores
    else:
        check_order(**beside, scores=scores)
        array = as_real_numbers("scores", _array("scores", scores))
    if array.shape != (n_rows,):
        raise ValueError(
            f"scores must have shape ({n_rows},), one per row; got shape {array.shape}; a ranking model has one output "
            "per row"
        )
    with np.errstate(over="ignore"):  # longdouble beyond float64 becomes infinite
        checked: NDArray[np.float64] = np.ascontiguousarray(array, dtype=np.float64).view()
    checked.setflags(write=False)
    most = _LARGEST_SCORE if finite else math.inf
    if np.vdot(checked, checked) <= _LARGEST_SCORE:  # a quick look: no score is NaN, or beyond the root of 1e100
        return checked
    if not -most <= checked.min(initial=0.0) <= checked.max(initial=0.0) <= most:  # both are NaN if any score is
        why = f"is not a number within ±{most:g}" if finite else "has no rank"
        remedy = "look for NaN gradients, lower the learning rate, or check init_score"
        check_values("scores", ~(np.abs(checked) <= most), checked, f"{why}; {remedy}")
    return checked


def _array(name: str, values: ArrayLike) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise ValueError(f"{name} has {int(values.mask.sum())} masked values; drop such rows, or fill them")
    try:
        return as_native(np.asarray(values))  # type: ignore[no-any-return]
    except ValueError:
        raise ValueError(f"{name} must be one-dimensional, but its entries are of several lengths") from None


class NoNumberError(TypeError, ValueError):
    """Error for a value of a type that is no number: a TypeError to scikit-learn, a ValueError as all of ours."""


def as_real_numbers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of real numbers with a numeric dtype, refusing other values; None becomes NaN."""
    if array.dtype.kind in "biuf":
        return array
    if array.size and array.dtype.kind not in "OSU":
        what = "Complex data not supported: " if array.dtype.kind == "c" else ""
        raise ValueError(f"{what}{name} must hold real numbers, got dtype {array.dtype}; convert them first")
    out = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        if isinstance(value, (str, bytes)):
            where = f"{name}[{', '.join(map(str, place))}]"
            raise ValueError(f"{where} = {shown(value)} is text and not a number; convert it to a number, or drop it")
        try:
            out[place] = math.nan if value is None else float(value)
        except (TypeError, ValueError, ArithmeticError) as error:
            kind = NoNumberError if isinstance(error, TypeError) else ValueError
            where = f"{name}[{', '.join(map(str, place))}]"
            raise kind(
                f"{where} = {shown(value)} is not a real number within ±1.8e308; convert it first ({error})"
            ) from None
    return out
