"""Positions of documents on pages, and propensities: the probabilities that users look at them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import frozen, numbers, refuse_other_order, refuse_where
from boostplug.data.boundaries import in_order_of

_MAX_PROPENSITY = 1e3


def positions_of(position: ArrayLike, n_rows: int) -> Ints:
    """Return the position of each row on its page, checked: integers from 1.

    Raises
    ------
    ValueError
        If a position is missing, not an integer or below 1, or their number is not `n_rows`.
    """
    positions = numbers_of_rows("position", position, n_rows)
    bad = ~(np.isfinite(positions) & (positions >= 1) & (positions == np.floor(positions)) & (positions < 2**31))
    refuse_where("position", bad, positions, "is not a position; pass integers from 1, and leave out rows without one")
    return frozen(positions.astype(np.int64))


def propensities_of(propensity: Any, first: int | None = None) -> Floats:
    """Return the propensities of position 1, 2, …, relative to the first; only the `first` ones are checked if given.

    Raises
    ------
    ValueError
        If there are none, or one is not within (0, 1000].
    """
    given = getattr(propensity, "propensity", propensity)
    values = numbers("propensity", given)
    keys, remedy = range(1, len(values) + 1), "a Series whose index holds the positions from 1"
    values = in_order_of(keys, "propensity", given, values, "of the positions", remedy)
    if not len(values):
        raise ValueError("propensity is empty; pass one number for each position")
    bad = ~((values[:first] > 0.0) & (values[:first] <= _MAX_PROPENSITY))
    why = "is not a propensity; pass numbers above 0, relative to position 1, up to 1000"
    refuse_where("propensity", bad, values[:first], why)
    return values


def refuse_without_propensity(position: Ints, n: int) -> None:
    """Raise for the first row with a position beyond n."""
    why = f"has no propensity, which ends at position {n}; pass one for each position, or leave out such rows"
    refuse_where("position", position > n, position, why)


def numbers_of_rows(name: str, values: ArrayLike, n_rows: int, **beside: Any) -> Floats:
    """Return a float64 vector, refusing lengths other than `n_rows`, and the index of `beside` in another order."""
    refuse_other_order(**beside, **{name: values})
    vector = numbers(name, values)
    if len(vector) != n_rows:
        raise ValueError(f"{name} must hold one number per row ({n_rows}), got {len(vector)}")
    return vector
