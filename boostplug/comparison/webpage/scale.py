"""From values to places on an axis, and the round numbers that it is marked with."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

__all__ = ["Scale", "ticks"]

_FEWEST = 4  # ticks that say what an axis is
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, along which places are from 0 to 1; logarithmic where asked."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def around(cls, values: Sequence[float], *, margin: float = 0.06, logarithmic: bool = False) -> "Scale":
        """Return the axis that holds all of some values, and a little more."""
        low, high = min(values), max(values)
        if logarithmic:
            factor = max((high / low) ** margin, 1.15)
            return cls(low / factor, high * factor, logarithmic=True)
        space = margin * (high - low) or 0.05 * abs(high) or 1.0
        return cls(low - space, high + space)

    def at(self, value: float) -> float:
        """Return the place of a value, beyond 0 and 1 where it is out of the axis."""
        if self.logarithmic:
            return log10(value / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def within(self, value: float) -> float:
        """Return the place of a value, or the end of the axis that it is beyond."""
        return min(1.0, max(0.0, self.at(value)))

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the axis."""
        if not self.logarithmic:
            return ticks(self.low, self.high)
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        for steps in ((1, 2, 5), range(1, 10)):
            found = [step * 10.0**decade for decade in decades for step in steps]
            found = [value for value in found if self.low <= value <= self.high]
            if len(found) >= _FEWEST:
                return found
        return ticks(self.low, self.high)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most so many multiples of a round number from `low` to `high`."""
    least = (high - low) / most
    power = 10.0 ** floor(log10(least))
    step = next(power * factor for factor in _STEPS if power * factor >= least * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [k * step + 0.0 for k in range(first, last + 1)]
