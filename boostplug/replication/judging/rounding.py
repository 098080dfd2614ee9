"""Comparison of arrays up to rounding."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDING = 1e-12  # of numbers of size 1, as for `boostplug.core.best_round.rounding`


def above(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Return where a is above b by more than rounding."""
    size = np.maximum(np.abs(a), np.abs(b))
    found: NDArray[np.bool_] = a - b > _ROUNDING * np.where(np.isfinite(size), size, 0.0)
    return found
