"""The pair functions of RankNet and NDCGBoost."""

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.pairs.tables import NDCG, NDCG_VALUE, RANKNET, RANKNET_VALUE, TabulatedFunction, Tail
from boostplug.losses.base.smooth_pair_loss import PairFunction, SmoothSums

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


_BOXES = 2.5, 7  # width and reach: 1e-7 of every pair; from 17.5 on the tails are good to 5e-8
_FAR = Tail(c=1.0)
_SOFTPLUS = TabulatedFunction(softplus, Tail(q1=1.0, c=1.0), _FAR)
_WRONG = TabulatedFunction(wrong, Tail(q0=1.0, c=-1.0), _FAR)
_SLOPE = TabulatedFunction(slope, Tail(q0=-1.0, c=1.0), Tail(c=-1.0))
_CURVATURE = TabulatedFunction(curvature, _FAR, _FAR)

LOGISTIC = PairFunction(
    softplus,
    slope,
    curvature,
    0.25,
    SmoothSums.value(RANKNET_VALUE, _SOFTPLUS, *_BOXES),
    SmoothSums.derivatives(RANKNET, _SLOPE, _CURVATURE, *_BOXES),
)
"""log(1 + e^(-d)), with its own derivatives."""

SIGMOID = PairFunction(
    wrong,
    lambda d: -curvature(d),
    curvature,
    1.0 / (6.0 * np.sqrt(3.0)),
    SmoothSums.value(NDCG_VALUE, _WRONG, *_BOXES),
    SmoothSums.even(NDCG, _CURVATURE, *_BOXES),
)
"""σ(-d), with its own first derivative, and minus that in place of the second: the curvature of a majoriser."""
