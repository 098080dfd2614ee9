"""Checks of arrays that users pass, and the one way to say what is wrong with them."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["check_flag", "check_integer", "frozen", "numbers", "refuse_where", "vector"]

_T = TypeVar("_T", bound=np.generic)


def frozen(array: NDArray[_T]) -> NDArray[_T]:
    """Return `array`, made read-only."""
    array.setflags(write=False)
    return array


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {value!r}")


def check_integer(name: str, value: Any, least: int, otherwise: str = "") -> None:
    """Refuse what is no integer of at least `least`; `otherwise` says what else the caller takes."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}{otherwise}; got {value!r}")


def refuse_where(name: str, bad: NDArray[np.bool_], values: NDArray[Any], why: str) -> None:
    """Raise for the first element of `values` at which `bad` holds."""
    if bad.any():
        at = int(np.argmax(bad))
        more = int(bad.sum()) - 1
        rest = f" ({more} more)" if more else ""
        raise ValueError(f"{name}[{at}] = {values[at]!s} {why}{rest}")


def vector(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return `values` as a one-dimensional array."""
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise ValueError(f"{name} has {int(values.mask.sum())} masked values; drop such rows, or fill them")
    if type(values).__module__.partition(".")[0] == "pyarrow":
        values = values.to_numpy(zero_copy_only=False)  # type: ignore[union-attr]
    elif hasattr(values, "to_numpy"):  # pandas, polars
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; pass {name}.ravel() for a column")
    return array


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a new float64 vector, refusing what is not a real number."""
    array = vector(name, values)
    if array.dtype.kind not in "biufO" and array.size:
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}; convert them first")
    if array.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in array):
        raise ValueError(f"{name} must hold real numbers, got strings; convert them first")
    try:
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must hold real numbers; {error}") from None
