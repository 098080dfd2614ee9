"""Directed distances between grades (Zhu et al. 2009, Eqs. 5 to 8): how much further apart two grades should score."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels import exponential
from boostplug.naming import Named

__all__ = [
    "BinaryDistance",
    "DirectedDistance",
    "Distance",
    "LinearDistance",
    "LogDistance",
    "LogisticDistance",
]

Floats = NDArray[np.float64]
Distance = Callable[[Floats], Floats]
"""From gaps > 0 between grades to positive distances, both float64 arrays of one shape; ideally strictly growing."""


@dataclass(frozen=True)
class DirectedDistance(Named, ABC):
    """A built-in distance; an instance is also a callable from gaps > 0 to distances."""

    kind: ClassVar[int]
    always_named: ClassVar[bool] = True

    def short_name(self, *, by_name: bool = False) -> str:
        """Return the name without "Distance": "Log", "Log(1)"."""
        head, bracket, rest = super().short_name(by_name=by_name).partition("(")
        return (head.removesuffix("Distance") or head) + bracket + rest

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not (number and 0 < value < math.inf):
                raise ValueError(f"{type(self).__name__}: {field.name} must be a finite number > 0, got {value!r}")
            object.__setattr__(self, field.name, float(value))

    @property
    def parameter(self) -> float:
        """The distance's one parameter, for the kernels."""
        return 1.0

    @abstractmethod
    def __call__(self, gap: Floats) -> Floats:
        """Return the distance of each gap > 0."""


@dataclass(frozen=True)
class BinaryDistance(DirectedDistance):
    """BINARY, d = 1 for every gap: RankBoost's pairs, the paper's baseline. It does not grow, as its (4) asks."""

    kind: ClassVar[int] = exponential.BINARY

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        return np.ones_like(gap, dtype=np.float64)


@dataclass(frozen=True)
class LinearDistance(DirectedDistance):
    """LDD, d = alpha · gap (Eq. 6)."""

    alpha: float = 0.2
    kind: ClassVar[int] = exponential.LINEAR

    @property
    def parameter(self) -> float:
        """Alpha."""
        return self.alpha

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        with np.errstate(over="ignore"):  # MPBoost refuses what overflows
            return self.alpha * np.asarray(gap, dtype=np.float64)


@dataclass(frozen=True)
class LogDistance(DirectedDistance):
    """LOGDD, d = ln(1 + lam · gap) (Eq. 7)."""

    lam: float = 3.0
    kind: ClassVar[int] = exponential.LOG

    @property
    def parameter(self) -> float:
        """Lambda."""
        return self.lam

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        return np.log1p(self.lam * np.asarray(gap, dtype=np.float64))


@dataclass(frozen=True)
class LogisticDistance(DirectedDistance):
    """LOGITDD, d = 1 / (1 + exp(-beta · gap)) (Eq. 8), between 1/2 and 1."""

    beta: float = 0.5
    kind: ClassVar[int] = exponential.LOGISTIC

    @property
    def parameter(self) -> float:
        """Beta."""
        return self.beta

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        return 1.0 / (1.0 + np.exp(-self.beta * np.asarray(gap, dtype=np.float64)))
