"""Comparison of arrays up to rounding."""

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.best_round import ROUNDING


def above(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Return where a is above b by more than rounding."""
    size = np.maximum(np.abs(a), np.abs(b))
    found: NDArray[np.bool_] = a - b > ROUNDING * np.where(np.isfinite(size), size, 0.0)
    return found
