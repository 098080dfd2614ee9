"""Places of documents on the pages that users saw."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import frozen, numbers, refuse_where

__all__ = ["numbers_of_rows", "positions_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def positions_of(position: ArrayLike, n_rows: int) -> Ints:
    """Return the place of each row on its page, checked: integers from 1.

    Raises
    ------
    ValueError
        If one is missing, no integer or below 1, or their number is not `n_rows`.
    """
    found = numbers_of_rows("position", position, n_rows)
    bad = ~(np.isfinite(found) & (found >= 1) & (found == np.floor(found)) & (found < 2**31))
    refuse_where("position", bad, found, "is no place on a page; pass integers from 1, and leave out rows without one")
    return frozen(found.astype(np.int64))


def numbers_of_rows(name: str, values: ArrayLike, n_rows: int) -> Floats:
    """Return one number per row, refusing another length."""
    found = numbers(name, values)
    if len(found) != n_rows:
        raise ValueError(f"{name} must hold one number per row ({n_rows}), got {len(found)}")
    return found
