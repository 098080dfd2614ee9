"""Directed distances between grades (Zhu et al. 2009, Eqs. 5 to 8): how much further apart two grades should score."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import call_function, check_number
from boostplug.core.values import Range, Value
from boostplug.core.warning import warn_user
from boostplug.kernels.pairs import exponential

Distance = Callable[[Floats], Floats]
"""From gaps > 0 between grades to positive distances, both float64 arrays of one shape; ideally strictly growing."""


@dataclass(frozen=True)
class DirectedDistance(Value, ABC):
    """A built-in distance. An instance is also a callable from gaps > 0 to distances."""

    kind: ClassVar[int]
    always_named: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Label without "Distance": "Log", "Log(1)"."""
        head, bracket, rest = super().name.partition("(")
        return (head.removesuffix("Distance") or head) + bracket + rest

    def __post_init__(self) -> None:
        for field in fields(self):
            value = check_number(f"{type(self).__name__}: {field.name}", getattr(self, field.name), above=0.0)
            object.__setattr__(self, field.name, value)

    @property
    def parameter(self) -> float:
        """The distance's one parameter, for the kernels; 1 where it has none."""
        return float(next((getattr(self, field.name) for field in fields(self)), 1.0))

    @abstractmethod
    def __call__(self, gap: Floats) -> Floats:
        """Return the distance of each gap > 0."""


@dataclass(frozen=True)
class BinaryDistance(DirectedDistance):
    r"""BINARY, :math:`d = 1` for every gap: RankBoost's pairs, the paper's baseline; not growing, as its (4) asks."""

    kind: ClassVar[int] = exponential.BINARY

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        return np.ones_like(gap, dtype=np.float64)


@dataclass(frozen=True)
class LinearDistance(DirectedDistance):
    r"""LDD, :math:`d = \alpha \cdot \mathrm{gap}` (Eq. 6)."""

    alpha: float = 0.2
    kind: ClassVar[int] = exponential.LINEAR
    search_ranges: ClassVar = {"alpha": Range(0.05, 0.8, log=True)}  # as the paper's replication

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        return self.alpha * np.asarray(gap, dtype=np.float64)


@dataclass(frozen=True)
class LogDistance(DirectedDistance):
    r"""LOGDD, :math:`d = \ln(1 + \lambda \cdot \mathrm{gap})` (Eq. 7)."""

    lam: float = 3.0
    kind: ClassVar[int] = exponential.LOG
    search_ranges: ClassVar = {"lam": Range(0.1, 30.0, log=True)}  # 3 in the paper

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        return np.log1p(self.lam * np.asarray(gap, dtype=np.float64))


@dataclass(frozen=True)
class LogisticDistance(DirectedDistance):
    r"""LOGITDD, :math:`d = 1 / (1 + e^{-\beta \cdot \mathrm{gap}})` (Eq. 8), between 1/2 and 1."""

    beta: float = 0.5
    kind: ClassVar[int] = exponential.LOGISTIC
    search_ranges: ClassVar = {"beta": Range(0.05, 5.0, log=True)}  # .5 in the paper

    def __call__(self, gap: Floats) -> Floats:  # noqa: D102 (the base says it)
        return 1.0 / (1.0 + np.exp(-self.beta * np.asarray(gap, dtype=np.float64)))


def distances_of_gaps(distance: Distance, gaps: Floats) -> Floats:
    """Return the distances of gaps > 0. A user's function is checked for the paper's conditions (3) and (4)."""
    if isinstance(distance, DirectedDistance):
        with np.errstate(over="ignore"):  # callers refuse what is infinite
            return distance(gaps)
    if not len(gaps):
        return np.zeros(0)
    different, place = np.unique(gaps, return_inverse=True)
    # to 12 significant digits, so that gaps that differ only by the subtraction's rounding become equal
    rounded, back = np.unique([float(f"{gap:.11e}") for gap in different.tolist()], return_inverse=True)
    values = call_function("distance", "gap", distance, rounded)
    bad = ~((values > 0) & np.isfinite(values))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"distance must be positive and finite for gaps > 0 (the paper's condition 3): "
            f"distance({rounded[at]}) = {values[at]}"
        )
    apart = np.diff(rounded) > 1e-9 * rounded[1:]
    flat = apart & (np.diff(values) < 1e-12 * values[1:])
    if flat.any():
        at = int(np.argmax(flat))
        warn_user(
            "distance does not grow strictly (the paper's condition 4): "
            f"distance({rounded[at]}) = {values[at]}, distance({rounded[at + 1]}) = {values[at + 1]}; "
            "grades further apart are not pushed further apart",
        )
    return values[back][place]
