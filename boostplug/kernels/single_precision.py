"""From float64 results to the float32 that the frameworks take."""

from typing import Any

import numpy as np

from boostplug.kernels.compiling import compiled

__all__ = ["to_single"]

_LARGEST = float(np.finfo(np.float32).max)
_TINY = float(np.finfo(np.float32).tiny)  # below it float32 loses digits


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
        keep = y >= _TINY
        misfits += 0 if fits else 1
        steps += 1 if keep and x != 0.0 else 0
        g[i] = np.float32(x if keep else 0.0)
        h[i] = np.float32(y if keep else 0.0)
    if misfits:
        for i in range(gradient.shape[0]):
            if not (abs(gradient[i]) <= _LARGEST and 0.0 <= hessian[i] <= _LARGEST):
                return i, True
    return -1, steps > 0
