"""Preference pairs from click logs, and from purchases without a log, for `Pairs.from_clicks` and `from_implicit`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import as_floats, as_vector, check_choice, check_integer, check_number, check_values
from boostplug.data.boundaries import places_within, row_weight_of
from boostplug.data.click_log import ClickLog
from boostplug.data.positions import as_propensities, check_propensities, check_several_positions, weights_of_clicks

PairArrays = tuple[Ints, Ints, Floats | None]
"""Winners, losers, and the weights of the pairs; None if all are 1."""

_AT_ONCE = 1 << 22  # pairs
# Whether a winner is compared with a loser so many positions below it.
_RULES: dict[str, Any] = {
    "skip_above": lambda below: below < 0,
    "skip_next": lambda below: below == 1,
    "all_unclicked": lambda below: np.ones(len(below), bool),
}


def log_of(clicked: ArrayLike | ClickLog, rule: str, *, position: ArrayLike | None, **columns: Any) -> ClickLog:
    """Return the given log, or a log of the given columns. Positions are checked if `rule` compares them."""
    check_choice("rule", rule, tuple(_RULES))
    if isinstance(clicked, ClickLog):
        again = [name for name, values in {"position": position, **columns}.items() if values is not None]
        if again:
            raise ValueError(f"clicked is a ClickLog, which has its own {again[0]}; leave out {again[0]}=")
    elif position is None and rule != "all_unclicked":
        raise ValueError(f"position is missing, and rule={rule!r} compares positions; pass it, or rule='all_unclicked'")
    else:
        places = np.arange(1, len(as_vector("clicked", clicked)) + 1) if position is None else position
        clicked = ClickLog(clicked, position=places, **columns)
    if rule != "all_unclicked":
        remedy = "pass each row's place, or rule='all_unclicked'"
        check_several_positions(clicked.position, f"and rule={rule!r} compares positions; {remedy}")
    return clicked


def pairs_of_clicks(
    log: ClickLog,
    rule: str,
    row: Ints | None,
    propensity: Any,
    max_weight: float,
    weight: ArrayLike | None,
    qid: ArrayLike | None,
    min_impressions: int,
) -> PairArrays:
    """Return the pairs of a log for `Pairs.from_clicks`: documents of a page whose click rates differ."""
    least = check_integer("min_impressions", min_impressions, 1)
    factor = _factor(log, propensity, check_number("max_weight", max_weight, least=1), weight, qid)
    if row is not None:
        if len(row) != log.n_rows:
            raise ValueError(f"row must hold one index per row of the log ({log.n_rows}), got {len(row)}")
        check_values("row", row >= 2**31, row, "is beyond the 2^31 rows that a data set can have; rows count from 0")
    if least > 1 and log.impressions is None:
        raise ValueError(f"min_impressions={least} needs impressions=; pass it, or leave out min_impressions")
    rate = log.clicked
    if log.impressions is not None:
        unknown = np.full(log.n_rows, np.nan)  # NaN takes part in no pair
        rate = np.divide(log.clicked, log.impressions, out=unknown, where=log.impressions >= least)
    pairs = [np.empty((2, 0), np.int64)]
    for i, j in _within_pages(np.flatnonzero(rate > 0), log.boundaries):
        beats = (rate[j] < rate[i]) & _RULES[rule](log.position[j] - log.position[i])
        pairs.append(np.stack([i[beats], j[beats]]))
    winner, loser = np.concatenate(pairs, axis=1)
    weights = None if factor is None else factor[winner]
    if log.impressions is not None:
        excess = log.impressions[winner] * (rate[winner] - rate[loser])
        weights = excess if weights is None else weights * excess
    return (winner, loser, weights) if row is None else _merged(row[winner], row[loser], weights)


def pairs_of_implicit(consumed: ArrayLike, boundaries: Ints, n_negatives: int, rng: Any) -> tuple[Ints, Ints]:
    """Return winners and losers for `Pairs.from_implicit`."""
    amounts = as_floats("consumed", consumed)
    check_values("consumed", ~(np.isfinite(amounts) & (amounts >= 0)), amounts, "is not an amount; pass numbers from 0")
    most = check_integer("n_negatives", n_negatives, 1)
    pairs = [np.empty((2, 0), np.int64)]
    for i, j in _within_pages(np.flatnonzero(amounts > 0), boundaries):
        others = amounts[j] == 0
        i, j = i[others], j[others]  # noqa: PLW2901
        order = np.lexsort((rng.random(len(i)), i))
        first = np.searchsorted(i, i)  # of each winner's pairs, which stand together
        drawn = order[np.arange(len(i)) - first < most]
        pairs.append(np.stack([i[drawn], j[drawn]]))
    winner, loser = np.concatenate(pairs, axis=1)
    return winner, loser


def _within_pages(rows: Ints, boundaries: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield each of some rows with each row of its page, some million pairs at a time."""
    page = np.searchsorted(boundaries, rows, side="right") - 1
    size, start = np.diff(boundaries)[page], boundaries[page]
    for block in np.array_split(np.arange(len(rows)), 1 + size.sum() // _AT_ONCE):
        yield np.repeat(rows[block], size[block]), np.repeat(start[block], size[block]) + places_within(size[block])


def _factor(log: ClickLog, propensity: Any, max_weight: float, weight: Any, qid: Any) -> Floats | None:
    """Return the weight per click of each winner's pairs; None if all are 1."""
    factor = row_weight_of(weight, log.boundaries, qid)
    if propensity is None:
        return factor
    theta = as_propensities(propensity)
    check_propensities(log.position, len(theta))
    inverse = weights_of_clicks(theta, log.position, max_weight)
    return inverse if factor is None else factor * inverse


def _merged(winner: Ints, loser: Ints, weights: Floats | None) -> tuple[Ints, Ints, Floats]:
    """Return each pair of rows once, sorted by winner and loser, with the sum of its weights."""
    two = winner != loser
    if not two.all():
        winner, loser, weights = winner[two], loser[two], None if weights is None else weights[two]
    n = max(winner.max(initial=0), loser.max(initial=0)) + 1
    if weights is None:
        pairs, count = np.unique(winner * n + loser, return_counts=True)
        return pairs // n, pairs % n, count.astype(np.float64)
    pairs, place = np.unique(winner * n + loser, return_inverse=True)
    sums = np.asarray(np.bincount(place, weights, minlength=len(pairs)), np.float64)
    return pairs // n, pairs % n, sums
