"""The logistic function of a score difference, its relatives, and the boxes in which they are summed."""

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.pairs.tables import Kernel, Tail

__all__ = [
    "CURVATURE",
    "REACH",
    "SLOPE",
    "SOFTPLUS",
    "WIDTH",
    "WRONG",
    "curvature",
    "slope",
    "softplus",
]

Floats = NDArray[np.float64]


def softplus(d: Floats) -> Floats:
    """Return log(1 + e^(-d))."""
    return np.maximum(0.0, -d) + np.log1p(np.exp(-np.abs(d)))


def wrong(d: Floats) -> Floats:
    """Return σ(-d)."""
    t = np.exp(-np.abs(d))
    result: Floats = np.where(d < 0.0, 1.0, t) / (1.0 + t)
    return result


def slope(d: Floats) -> Floats:
    """Return -σ(-d), the derivative of `softplus`."""
    return -wrong(d)


def curvature(d: Floats) -> Floats:
    """Return γ = σ(d) σ(-d), its second derivative."""
    t = np.exp(-np.abs(d))
    result: Floats = t / (1.0 + t) ** 2
    return result


WIDTH, REACH = 2.5, 7  # 1e-7 of every pair; from 17.5 on the tails are good to 5e-8
_FAR = Tail(c=1.0)
SOFTPLUS = Kernel(softplus, Tail(q1=1.0, c=1.0), _FAR)
WRONG = Kernel(wrong, Tail(q0=1.0, c=-1.0), _FAR)
SLOPE = Kernel(slope, Tail(q0=-1.0, c=1.0), Tail(c=-1.0))
CURVATURE = Kernel(curvature, _FAR, _FAR, even=True)
