"""Functions of a score difference with their derivatives, for `PairwiseLoss`; and a distance of a user."""

import numpy as np

__all__ = ["FUNCTIONS", "gap_weight", "root_distance", "softplus", "softplus_curvature", "softplus_slope"]


def logistic(d):
    t = np.exp(-np.abs(d))
    return np.where(d < 0, t, 1.0) / (1.0 + t)


def softplus(d):
    return np.maximum(0.0, -d) + np.log1p(np.exp(-np.abs(d)))


def softplus_slope(d):
    return -logistic(-d)


def softplus_curvature(d):
    return logistic(d) * logistic(-d)


def squared_softplus(d):
    return softplus(d) ** 2


def squared_softplus_slope(d):
    return 2.0 * softplus(d) * softplus_slope(d)


def squared_softplus_curvature(d):
    return 2.0 * softplus_slope(d) ** 2 + 2.0 * softplus(d) * softplus_curvature(d)


def pseudo_huber(d):
    return np.hypot(1.0, d - 1.0) - (d - 1.0)


def pseudo_huber_slope(d):
    return (d - 1.0) / np.hypot(1.0, d - 1.0) - 1.0


def pseudo_huber_curvature(d):
    return np.hypot(1.0, d - 1.0) ** -3


def squared_hinge(d):
    return np.maximum(0.0, 1.0 - d) ** 2


def squared_hinge_slope(d):
    return -2.0 * np.maximum(0.0, 1.0 - d)


def squared_hinge_curvature(d):
    return 2.0 * (d < 1.0)


def squares(d):
    return 0.5 * (d - 1.0) ** 2


def squares_slope(d):
    return d - 1.0


def squares_curvature(d):
    return np.ones_like(d)


def root_distance(gap):
    return np.sqrt(gap) + 0.1 * gap


def gap_weight(high, low):
    return high - low


FUNCTIONS = {
    "logistic": (softplus, softplus_slope, softplus_curvature),
    "squared softplus": (squared_softplus, squared_softplus_slope, squared_softplus_curvature),
    "pseudo-Huber": (pseudo_huber, pseudo_huber_slope, pseudo_huber_curvature),
    "squares": (squares, squares_slope, squares_curvature),
    "squared hinge": (squared_hinge, squared_hinge_slope, squared_hinge_curvature),
}
