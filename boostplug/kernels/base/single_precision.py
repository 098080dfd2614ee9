"""Requirements of the frameworks on derivatives: positive Hessians and float32."""

from typing import Any

import numpy as np

from boostplug.kernels.base.compiling import compiled

_LARGEST = float(np.finfo(np.float32).max)
_LEAST_HESSIAN = 1e-16  # relative to the gradient; XGBoost's own floor
_LEAST = float(np.finfo(np.float64).tiny)
_TINY = float(np.finfo(np.float32).tiny)  # below it float32 loses digits


@compiled()
def to_single(gradient: Any, hessian: Any, g: Any, h: Any) -> tuple[int, bool]:
    """Write gradient and Hessian as float32. Return the first row that does not fit (-1: none), and whether any g ≠ 0.

    Both become 0 in a row whose Hessian is too small to keep its digits. A row does not fit if one of the two is NaN or
    beyond the range of float32. A negative Hessian does not fit either.
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


@compiled()
def positive_beside(gradient: Any, hessian: Any) -> None:
    """Raise each Hessian to at least 1e-16 times its gradient, and above 0 wherever the gradient is not 0."""
    for i in range(gradient.shape[0]):
        size = abs(gradient[i])
        least = max(_LEAST_HESSIAN * size, _LEAST) if size > 0.0 else 0.0
        hessian[i] = max(hessian[i], least)
