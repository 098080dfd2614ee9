"""The pair functions of RankNet and NDCGBoost."""

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.kernels.pairs.pair_by_pair import NDCG, RANKNET
from boostplug.losses.base.pair_loss import PairFunction


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


LOGISTIC = PairFunction(softplus, slope, curvature, 0.25, kind=RANKNET)
"""log(1 + e^(-d)), with its own derivatives."""

SIGMOID = PairFunction(wrong, lambda d: -curvature(d), curvature, 1.0 / (6.0 * np.sqrt(3.0)), kind=NDCG)
"""σ(-d), with its own first derivative, and minus that in place of the second: the curvature of a majoriser."""
