"""Coordinates of the page's figures: axes with round numbers, and mean learning curves."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

from boostplug.comparison.formats import interval, is_missing, without_zero

HEIGHT = 320
"""Height of the learning curves in pixels."""
_MOST_POINTS = 200  # of a curve
_MOST_TICKS = 6
_TYPICAL = 4  # multiple of the median reach; intervals beyond it are cut at the end of the axis

Point = tuple[float, float]
Axis = tuple[float, float]
"""The low and the high end of an axis."""


def axis_around(values: Sequence[float]) -> Axis:
    """Return an axis that holds all values, with a margin."""
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def place(value: float, axis: Axis) -> float:
    """Return the place of a value on an axis: 0 at the low end, 1 at the high end."""
    return (value - axis[0]) / (axis[1] - axis[0])


def ticks(axis: Axis) -> list[tuple[float, str]]:
    """Return places and texts of the multiples of a round number, with as few decimals as possible."""
    low, high = axis
    least = (high - low) / _MOST_TICKS
    power = 10.0 ** floor(log10(least))
    step = next(power * factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if power * factor >= least * (1 - 1e-9))
    decimals = len(f"{step:.12f}".rstrip("0").partition(".")[2])
    multiples = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return [(place(k * step, axis), without_zero(f"{k * step:.{decimals}f}") if k else "0") for k in multiples]


def axis_of_differences(methods: Sequence[Mapping[str, Any]]) -> Axis:
    """Return the common axis of all differences; the worst methods must not stretch it, and leave it instead."""
    values = [[m["difference"], *(m["interval"] if interval(m["interval"]) else ())] for m in methods]
    reach = [max(map(abs, of_method)) for of_method in values]
    bound = max(min(max(reach), _TYPICAL * sorted(reach)[len(reach) // 2]), 1e-6)
    return axis_around([0.0, *(min(bound, max(-bound, value)) for of_method in values for value in of_method)])


def mean_curve(runs: Iterable[Sequence[float | None]]) -> list[Point]:
    """Return (round, mean over the runs), thinned; a run that has stopped counts on with its last value."""
    curves = [run for run in runs if run]
    length = max(map(len, curves), default=0)
    points = []
    for i in sorted({*range(0, length, ceil(length / _MOST_POINTS) or 1), length - 1} if length else ()):
        known = [value for run in curves if not is_missing(value := run[min(i, len(run) - 1)])]
        if known:
            points.append((float(i + 1), sum(known) / len(known)))
    return points
