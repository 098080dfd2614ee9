"""A loss of a user's own, as the guide on losses describes it: one file, everything else is inherited."""

from dataclasses import dataclass

import numpy as np

from boostplug.losses.base.pair_loss import Normalization, PairFunction
from boostplug.losses.base.smooth_pair_loss import SmoothPairLoss
from boostplug.losses.base.traits import Traits


def value(d):
    return np.abs(d - 1.0) + np.log1p(np.exp(-2.0 * np.abs(d - 1.0))) - np.log(2.0)


def first(d):
    return np.tanh(d - 1.0)


def second(d):
    t = np.exp(-2.0 * np.abs(d - 1.0))
    return 4.0 * t / (1.0 + t) ** 2


PAIR = PairFunction(value, first, second, largest_second=1.0)


@dataclass(frozen=True, kw_only=True)
class LogCosh(SmoothPairLoss):
    """log cosh(s (F_i - F_j) - 1) of every preference pair."""

    sigmoid: float = 1.0
    normalization: Normalization = "none"

    pair_function = PAIR
    traits = Traits(hessian="exact", pairs=True)
