"""Checks of users' arguments. Error messages name the argument, the value and the remedy."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import cache
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


def shown(value: Any) -> str:
    """Return a value's repr for messages, shortened if it is long."""
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind in "biufcSU" else str(value)
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 (a user's repr may raise, and Python refuses to write long integers)
        text = f"an int of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    text = visible(text)
    half = _LONGEST_SHOWN // 2
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:half]}…{text[-half // 2 :]}"


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as bool, refusing values other than True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {shown(value)}")
    return bool(value)


def check_integer(
    name: str, value: Any, least: int, otherwise: str = "", remedy: str = "", *, most: int | None = None
) -> int:
    """Return an integer of any type as int, refusing values below `least` or above `most` or 2^63 - 1.

    `otherwise` names the caller's other valid values (", or None for all"), `remedy` the remedy.
    """
    try:
        number = least - 1 if isinstance(value, (bool, np.bool_)) else index(value)
    except TypeError:
        number = least - 1
    if number > _LARGEST_INTEGER:
        raise ValueError(f"{name} must be an integer below 2^63{otherwise}; got {shown(value)}")
    if most is not None and number > most:
        raise ValueError(
            f"{name} must be an integer of at most {most}{otherwise}; got {shown(value)}{remedy and '; ' + remedy}"
        )
    if number < least:
        whole = isinstance(value, (float, np.floating)) and least <= float(value) <= (
            _LARGEST_INTEGER if most is None else most
        )
        hint = f"pass {int(value)}" if whole and float(value).is_integer() else remedy
        raise ValueError(
            f"{name} must be an integer of at least {least}{otherwise}; got {shown(value)}{hint and '; ' + hint}"
        )
    return number


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    otherwise: str = "",
    remedy: str = "",
) -> float:
    """Return a real number as float, refusing values that are not finite or not within the limits."""
    number = _as_float(value) if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) else math.nan
    fits = (
        math.isfinite(number)
        and (above is None or number > above)
        and (least is None or number >= least)
        and (below is None or number < below)
        and (most is None or number <= most)
    )
    if not fits:
        limits = [
            f"{word} {limit:g}"
            for word, limit in (("above", above), ("of at least", least), ("below", below), ("of at most", most))
            if limit is not None
        ]
        words = " ".join(["", " and ".join(limits)]).rstrip()
        raise ValueError(
            f"{name} must be a finite number{words}{otherwise}; got {shown(value)}{remedy and '; ' + remedy}"
        )
    return number


def _as_float(value: Any) -> float:
    """Return a real number as float, NaN if float64 cannot hold it."""
    try:
        return float(value)
    except (OverflowError, TypeError):  # beyond float64; NumPy's timedelta64 is registered as real
        return math.nan


def check_choice(name: str, value: Any, choices: tuple[str, ...], otherwise: str = "") -> str:
    """Return `value`, refusing values that are not in `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}{otherwise}; got {shown(value)}")
    return value


def check_choices(value: Any) -> None:
    """Check the fields of a dataclass that are annotated as ``Literal``."""
    for name, hint in _hints(value.__class__).items():
        if get_origin(hint) is Literal:
            check_choice(f"{type(value).__name__}: {name}", getattr(value, name), get_args(hint))


@cache
def _hints(kind: type) -> dict[str, Any]:
    """Return the annotations of a dataclass's fields; none if they cannot be read."""
    hints: dict[str, Any] = {}
    with suppress(Exception):  # an annotation may be any string
        hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.name in hints}


def check_instance(name: str, value: Any, kind: type, example: str) -> Any:
    """Return `value`, refusing objects that are not instances of `kind`, and the class itself."""
    refuse_class(name, value, kind)
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__} such as {example}; got {shown(value)}")
    return value


def refuse_class(name: str, value: Any, kind: type) -> None:
    """Raise if `value` is a class of this kind in place of an instance."""
    if isinstance(value, type) and issubclass(value, kind):
        raise ValueError(f"{name} is the class {value.__name__}; pass an instance, {value.__name__}()")


def column_names(X: Any) -> list[Any]:
    """Return the names of a table's columns, empty if X has none; pyarrow's `columns` are the data."""
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


def check_column_names(chosen: Mapping[str, Any]) -> None:
    """Raise for names of columns that are not strings; the keys of `chosen` are the arguments."""
    for argument, name in chosen.items():
        if not isinstance(name, str):
            raise ValueError(f"{argument} must be the name of a column; got {shown(name)}")


@contextmanager
def reading_features() -> Iterator[None]:
    """Let scikit-learn check X within the block, and name X in NumPy's errors.

    NumPy's warnings are off, because scikit-learn sums X up to check that it is finite.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (OverflowError, ValueError) as error:
        if isinstance(error, OverflowError) or str(error).startswith("could not convert"):
            raise ValueError(f"X must hold real numbers; {error}") from None
        raise


def refuse_where(name: str, bad: NDArray[np.bool_], values: NDArray[Any], why: str) -> None:
    """Raise for the first element of `values` for which `bad` is True."""
    if bad.any():
        at = int(np.argmax(bad))
        more = int(bad.sum()) - 1
        rest = f" ({more} more)" if more else ""
        raise ValueError(f"{name}[{at}] = {shown(values[at])} {why}{rest}")


def refuse_other_order(**values: Any) -> None:
    """Raise if two arguments have the same pandas index in different orders, since rows are matched by position.

    Arguments without an index are skipped, and so are indexes with different entries or lengths.
    """
    seen: list[tuple[str, Any]] = []
    for name, value in values.items():
        index: Any = getattr(value, "index", None)
        if not hasattr(index, "get_indexer"):
            continue
        if any(index is other or index.equals(other) for _, other in seen):
            continue
        for first, other in seen:
            if _is_reordered(index, other):
                remedy = f"pass {name}.loc[{first}.index]" if index.is_unique else "sort both by one column"
                raise ValueError(
                    f"{name} and {first} have the same index in different orders, and rows are matched by position; "
                    f"{remedy}, or pass {name}.to_numpy() if the positions are right"
                )
        seen.append((name, index))


def _is_reordered(index: Any, other: Any) -> bool:
    """Return whether two pandas indexes hold the same entries with the same counts in different orders."""
    if len(index) != len(other):
        return False
    counts, others = index.value_counts(sort=False, dropna=False), other.value_counts(sort=False, dropna=False)
    if len(counts) != len(others):
        return False
    places = others.index.get_indexer(counts.index)
    if (places < 0).any() or not np.array_equal(others.to_numpy()[places], counts.to_numpy()):
        return False
    return not index.astype(object).equals(other.astype(object))  # entries may be equal and of different types


def refuse_rounded_ids(name: str, ids: NDArray[Any]) -> None:
    """Raise for floating-point ids so large that several integers are rounded to the same number."""
    if ids.dtype.kind != "f":
        return
    digits = np.finfo(ids.dtype).nmant + 1
    refuse_where(
        name,
        np.abs(ids) >= 2.0**digits,
        ids,
        f"is too large an id for {ids.dtype}, which rounds integers from 2^{digits} on, so that different ids become "
        "equal; pass integers or strings",
    )


def refuse_weights(name: str, weights: NDArray[np.float64], *, zero: bool = True) -> None:
    """Raise for weights that are negative, not finite, or so small or large that products leave float64's range.

    With `zero`, 0 is allowed.
    """
    within = (weights >= 1.0 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT)
    if (within | (weights == 0) if zero else within).all():
        return
    fits = (weights >= 0 if zero else weights > 0) & np.isfinite(weights)
    refuse_where(name, ~fits, weights, f"is not a finite {'weight ≥' if zero else 'number >'} 0")
    remedy = "pass 0 to leave it out, or multiply all of them by one factor" if zero else "multiply it by some factor"
    refuse_where(name, ~within & (weights > 0), weights, f"is beyond 1e-100 to 1e100; {remedy}")


def vector(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return `values` as a one-dimensional array."""
    array = _array(name, values)
    if array.ndim == 0:
        raise ValueError(f"{name} must be one-dimensional, got shape (), the single value {shown(values)}; pass a list")
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, got shape {array.shape}; pass a single column, of shape (n,)"
        )
    return array


def column_as_vector(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return `values` as a one-dimensional array; a table of one column is taken, with scikit-learn's warning."""
    array = _array(name, values)
    if array.ndim != 2 or array.shape[1] != 1:
        return vector(name, array)
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        f"A column-vector {name} was passed when a 1d array was expected; it is taken as one of shape ({len(array)},)",
        DataConversionWarning,
        stacklevel=3,
    )
    return array[:, 0]


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a new float64 vector, refusing values that are not real numbers."""
    array = real_numbers(name, vector(name, values))
    with np.errstate(over="ignore"):  # longdouble beyond float64 becomes infinite, which callers refuse
        return np.array(array, dtype=np.float64)


def called(what: str, per: str, function: Callable[..., Any], *arguments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the result of a user's function of arrays as float64; the caller must check the numbers.

    NumPy's warnings are off, since the caller reports bad numbers. `what` is the name of the function in messages,
    `per` that of an entry of its arguments.
    """
    with np.errstate(all="ignore"):
        out = function(*(argument.copy() for argument in arguments))
    return returned(what, per, out, arguments[0].shape)


def returned(what: str, per: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
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


def scores_of_rows(scores: ArrayLike, n_rows: int, *, finite: bool) -> NDArray[np.float64]:
    """Return scores as a contiguous, read-only float64 vector, without a copy if they already are one.

    The result is a read-only view, so that kernels are compiled for one type only. NaN is refused; with `finite`, for
    losses, infinities and values beyond ±1e100 too.
    """
    array = _array("scores", scores)
    if array.shape != (n_rows,):
        remedy = "; a ranking model has one output per row" if array.ndim > 1 else ""
        remedy = "; pass scores.ravel()" if array.shape == (n_rows, 1) else remedy
        raise ValueError(f"scores must have shape ({n_rows},), one per row; got shape {array.shape}{remedy}")
    array = real_numbers("scores", array)
    if array.dtype.itemsize > 8:
        array = numbers("scores", array)
    checked = frozen(np.ascontiguousarray(array, dtype=np.float64).view())
    if not checked.size:
        return checked
    largest = float(checked.max())  # NaN if any score is
    if math.isnan(largest):
        undefined = np.isnan(checked)
        raise ValueError(
            f"scores[{int(np.argmax(undefined))}] is NaN and has no rank ({int(undefined.sum())} of {n_rows} scores "
            "are NaN); look for NaN gradients, a diverged model or init_score, or replace them"
        )
    if finite and max(largest, -float(checked.min())) > _LARGEST_SCORE:
        row = int(np.argmax(np.abs(checked)))
        what = f"is beyond ±{_LARGEST_SCORE:g}" if math.isfinite(checked[row]) else "is not finite"
        raise ValueError(f"scores[{row}] = {checked[row]} {what}; lower the learning rate, or check init_score")
    return checked


def _array(name: str, values: ArrayLike) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise ValueError(f"{name} has {int(values.mask.sum())} masked values; drop such rows, or fill them")
    if type(values).__module__.partition(".")[0] == "pyarrow" and hasattr(values, "to_numpy"):
        values = values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):  # pandas, polars
        values = values.to_numpy()
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be one-dimensional, but its entries are of several lengths") from None


def real_numbers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of real numbers with a numeric dtype, refusing other values."""
    if not array.size:
        return np.zeros(array.shape)
    if array.dtype.kind not in "biufO":
        what = "Complex data not supported: " if array.dtype.kind == "c" else ""
        raise ValueError(f"{what}{name} must hold real numbers, got dtype {array.dtype}; convert them first")
    if array.dtype.kind in "biuf":
        return array
    if any(isinstance(value, (str, bytes)) for value in array):
        raise ValueError(f"{name} must hold real numbers, got strings; convert them first")
    try:
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    except (TypeError, ValueError, ArithmeticError):
        for at, value in enumerate(array):
            _refuse_no_float(f"{name}[{at}]", value)
        raise


class NoNumberError(TypeError, ValueError):
    """Error for a value of a type that is no number: a TypeError to scikit-learn, a ValueError as all of ours."""


def _refuse_no_float(name: str, value: Any) -> None:
    """Raise for a value that cannot be converted to float."""
    message = f"{name} = {shown(value)} is not a real number within ±1.8e308; convert it first"
    try:
        if value is not None:
            float(value)
    except TypeError as error:
        raise NoNumberError(f"{message} ({error})") from None
    except (ValueError, ArithmeticError):
        raise ValueError(message) from None
