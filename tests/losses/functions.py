"""Functions of a score difference with their derivatives, for `PairwiseLoss`; and a distance of a user."""

import numpy as np

from boostplug.losses.base.logistic import curvature as softplus_curvature
from boostplug.losses.base.logistic import slope as softplus_slope
from boostplug.losses.base.logistic import softplus

__all__ = ["FUNCTIONS", "root_distance", "softplus", "softplus_curvature", "softplus_slope"]


def squared_softplus(d):
    return softplus(d) ** 2


def squared_softplus_slope(d):
    return 2.0 * softplus(d) * softplus_slope(d)


def squared_softplus_curvature(d):
    return 2.0 * softplus_slope(d) ** 2 + 2.0 * softplus(d) * softplus_curvature(d)


FUNCTIONS = {
    "logistic": (softplus, softplus_slope, softplus_curvature),
    "squared softplus": (squared_softplus, squared_softplus_slope, squared_softplus_curvature),
    "pseudo-Huber": (
        lambda d: np.hypot(1.0, d - 1.0) - (d - 1.0),
        lambda d: (d - 1.0) / np.hypot(1.0, d - 1.0) - 1.0,
        lambda d: np.hypot(1.0, d - 1.0) ** -3,
    ),
    "squares": (lambda d: 0.5 * (d - 1.0) ** 2, lambda d: d - 1.0, np.ones_like),
    "squared hinge": (
        lambda d: np.maximum(0.0, 1.0 - d) ** 2,
        lambda d: -2.0 * np.maximum(0.0, 1.0 - d),
        lambda d: 2.0 * (d < 1.0),
    ),
}


def root_distance(gap):
    return np.sqrt(gap) + 0.1 * gap
