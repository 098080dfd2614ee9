"""From float64 results to the float32 that the frameworks take."""

from typing import Any

import numpy as np

from boostplug.kernels.compiling import compiled

__all__ = ["TINY", "first_step", "to_single"]

_LARGEST = float(np.finfo(np.float32).max)
TINY = float(np.finfo(np.float32).tiny)  # below it float32 loses digits


@compiled()
def to_single(gradient: Any, hessian: Any, g: Any, h: Any) -> tuple[int, bool]:
    """Write both as float32 and return (first row that does not fit or -1, whether any gradient is not 0).

    A row whose Hessian would lose its digits takes no step at all: both become 0. A row does not fit where one of the
    two is NaN, or past float32's range, or the Hessian is negative.
    """
    misfits = 0
    steps = 0
    for i in range(gradient.shape[0]):
        x, y = gradient[i], hessian[i]
        fits = abs(x) <= _LARGEST and 0.0 <= y <= _LARGEST  # false for NaN
        keep = y >= TINY
        misfits += 0 if fits else 1
        steps += 1 if keep and x != 0.0 else 0
        g[i] = np.float32(x if keep else 0.0)
        h[i] = np.float32(y if keep else 0.0)
    if misfits:
        for i in range(gradient.shape[0]):
            if not (abs(gradient[i]) <= _LARGEST and 0.0 <= hessian[i] <= _LARGEST):
                return i, True
    return -1, steps > 0


def first_step(gradient: Any, hessian: Any) -> tuple[float, float]:
    """Return what the splits of one tree gain together, at most, and how far its leaves go from the mean of all rows.

    A split's gain is what it lets Σ G²/H of the leaves grow by. With a leaf for each row the sum is Σ g²/h; without any
    split, G²/H of all rows. Both results are 0 where all rows take one step, up to rounding.
    """
    taken = hessian > 0.0
    h = hessian[taken]
    with np.errstate(over="ignore"):
        step = gradient[taken] / h
        away = step - gradient.sum() / h.sum()
        away[np.abs(away) <= 1e-12 * np.abs(step).max()] = 0.0
        return float((h * away**2).sum()), float(np.abs(away).max())
