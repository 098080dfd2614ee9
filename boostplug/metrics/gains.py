"""Gains of grades, and discounts of ranks."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import call_function, check_choice, check_function, check_values, frozen
from boostplug.data.queries import Queries
from boostplug.metrics.grades import exp2_less_one

Gain = Literal["exp2", "linear"] | Callable[[Floats], Floats]
Convention = Literal["standard", "letor"]

_LARGEST_GAIN = 1e198  # 1e8 of them, times the largest weight, still add up to a finite number
_SMALL_GAIN = 1e-100  # sums of less may lose their digits, or have no finite inverse
_NAMED_GAINS = {  # formula, largest grade (2^657 < 1e198), what to do above it
    "exp2": ("2^r − 1", 657.0, 'scale the grades, or pass gain="linear"'),
    "linear": ("r", _LARGEST_GAIN, "scale the grades"),
}


def check_gain(gain: Gain) -> Gain:
    """Return a gain. Raise for what is neither the name of one nor a function."""
    if callable(gain):
        check_function("gain", gain)
    else:
        check_choice("gain", gain, ("exp2", "linear"), ", or a callable from grades to gains")
    return gain


def discounts(k: int, convention: Convention) -> Floats:
    """Return the discounts of the ranks 1 … k."""
    rank = np.arange(1.0, k + 1.0)
    return frozen(1.0 / np.log2(np.maximum(rank, 2.0) if convention == "letor" else 1.0 + rank))


def discounts_of_ranks(queries: Queries, k: int | None, convention: Convention) -> Floats:
    """Return the discounts of the ranks down to the cut-off, or to the end of the longest list."""

    def build() -> Floats:
        longest = int(queries.group.max(initial=0))
        return discounts(longest if k is None else min(k, longest), convention)

    return queries.remember(("discounts", k, convention), build)


def gains_of(queries: Queries, gain: Gain) -> Floats:
    """Return the gain of each row, 0 where it is not labelled; computed once per `Queries`."""
    return queries.remember(("gains", gain), lambda: frozen(_gains(queries, gain)), limit=4)


def gains_in_units(queries: Queries, gain: Gain) -> Floats:
    """Return the gain of each row in a unit of its query's, a power of 2: for what depends on ratios only."""
    return queries.remember(("gains in units", gain), lambda: _in_units(gains_of(queries, gain), queries), limit=4)


def _in_units(gains: Floats, queries: Queries) -> Floats:
    if gains.min(initial=np.inf, where=gains > 0) >= _SMALL_GAIN:
        return gains
    with_rows = queries.group > 0
    largest = np.zeros(queries.n_queries)
    largest[with_rows] = np.maximum.reduceat(gains, queries.boundaries[:-1][with_rows])
    return frozen(np.ldexp(gains, -np.frexp(largest)[1][queries.query_of_row]))


def _gains(queries: Queries, gain: Gain) -> Floats:
    judged, labels = queries.labelled_rows, queries.labels
    grades = labels[judged]
    if callable(gain):
        values = call_function("gain", "grade", gain, grades) if grades.size else grades
        bad = ~((values >= 0) & (values <= _LARGEST_GAIN))
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"gain must return values from 0 to {_LARGEST_GAIN:g}; it returned {values[at]!s} for the grade "
                f"{grades[at]!s} of row {np.flatnonzero(judged)[at]}"
            )
    else:
        formula, largest, remedy = _NAMED_GAINS[gain]
        why = f"is negative, and so is its gain {formula}; shift the grades to start at 0, or pass a callable"
        check_values("labels", judged & (labels < 0), labels, why)
        why = f"is too large: sums of the gain {formula} overflow above {largest:g}; {remedy} or a callable"
        check_values("labels", judged & (labels > largest), labels, why)
        values = exp2_less_one(grades) if gain == "exp2" else grades
    gains = np.zeros(queries.n_rows)
    gains[judged] = values
    return gains
