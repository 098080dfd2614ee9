"""Positions of documents on result pages, and propensities: the probabilities that users look at them.

A position is an integer from 1: the rank at which the user saw the document. LightGBM's ``Dataset(position=…)`` keeps
categories in the order of appearance instead, of which nobody knows the first.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import as_floats, check_values, frozen
from boostplug.data.boundaries import in_order_of, numbers_of_rows

_MAX_PROPENSITY = 1e3


def as_positions(position: ArrayLike, n_rows: int) -> Ints:
    """Return the position of each row on its page, checked: integers from 1.

    Raises
    ------
    ValueError
        If a position is missing, not an integer or below 1, or their number is not `n_rows`.
    """
    positions = numbers_of_rows("position", position, n_rows)
    bad = ~(np.isfinite(positions) & (positions >= 1) & (positions == np.floor(positions)) & (positions < 2**31))
    check_values("position", bad, positions, "is not a position; pass integers from 1, and leave out rows without one")
    return frozen(positions.astype(np.int64))


def positions_for(loss: str, position: Ints | None, *, is_rank: bool, needs_rank: str | None) -> Ints:
    """Return the positions of clicks for a loss that learns from them.

    `needs_rank` is what needs to know which position is the first, for the message; None if nothing does.

    Raises
    ------
    ValueError
        If there are no positions, or they are categories and `needs_rank` is not None.
    """
    call = "call boostplug.set_positions(dataset, positions)"
    if position is None:
        raise ValueError(
            f"{loss} learns from clicks at positions, and there are none; pass position= to fit, Queries or "
            f"RankingData, or {call}"
        )
    if needs_rank is not None and not is_rank:
        raise ValueError(
            f"{needs_rank} needs to know which position is the first, and lgb.Dataset(position=…) keeps categories in "
            f"the order of appearance; {call}"
        )
    return position


def check_several_positions(position: Ints, why: str) -> None:
    """Raise if all rows have the same position; `why` ends the message."""
    if len(position) and position.min() == position.max():
        raise ValueError(f"position is {position[0]} in all rows, {why}")


def check_no_gap(position: Ints) -> int:
    """Return the last of a log's positions, all of which must be there, and two at least."""
    seen = np.unique(position)
    if len(seen) < 2:
        there = f"position {seen[0]} only" if len(seen) else "no rows"
        raise ValueError(f"log.position: there is {there}; propensities compare positions, so pass a log of several")
    absent = int(np.argmax(np.append(seen != np.arange(1, len(seen) + 1), True))) + 1
    if absent <= seen[-1]:
        what = f"nothing was shown at position {absent}, but at {seen[-1]}"
        raise ValueError(f"log.position: {what}; pass max_position, or a log that has it")
    return len(seen)


def places_of(position: Ints, n: int) -> NDArray[np.int32]:
    """Return positions from 0, those past the n-th as the n-th."""
    return frozen((np.minimum(position, n) - 1).astype(np.int32))


def as_propensities(propensity: Any, first: int | None = None) -> Floats:
    """Return the propensities of position 1, 2, …, relative to the first. Only the `first` ones are checked if given.

    Raises
    ------
    ValueError
        If there are none, or one is not within (0, 1000].
    """
    given = getattr(propensity, "propensity", propensity)
    values = as_floats("propensity", given)
    keys, remedy = range(1, len(values) + 1), "a Series whose index holds the positions from 1"
    values = in_order_of(keys, "propensity", given, values, "of the positions", remedy)
    if not len(values):
        raise ValueError("propensity is empty; pass one number for each position")
    bad = ~((values[:first] > 0.0) & (values[:first] <= _MAX_PROPENSITY))
    why = "is not a propensity; pass numbers above 0, relative to position 1, up to 1000"
    check_values("propensity", bad, values[:first], why)
    return values


def check_propensities(position: Ints, n: int) -> None:
    """Raise for the first row with a position beyond n, the last one that has a propensity."""
    why = f"has no propensity, which ends at position {n}; pass one for each position, or leave out such rows"
    check_values("position", position > n, position, why)


def weights_of_clicks(theta: Floats, position: Ints, max_weight: float) -> Floats:
    """Return 1/θ of each row's position, at most `max_weight`."""
    weights: Floats = np.minimum(1.0 / theta, max_weight)[position - 1]
    return weights
