"""Requirements of the frameworks on derivatives: positive Hessians and float32."""

from typing import Any, NamedTuple

import numpy as np

from boostplug.kernels.base.compiling import compiled

_LARGEST = float(np.finfo(np.float32).max)
_LEAST_HESSIAN = 1e-16  # beside the gradient, XGBoost's own floor
_LEAST = float(np.finfo(np.float64).tiny)
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


@compiled()
def positive_beside(gradient: Any, hessian: Any) -> None:
    """Raise the Hessian to 1e-16 of the gradient where it has vanished beside it, and never leave it 0."""
    for i in range(gradient.shape[0]):
        size = abs(gradient[i])
        least = max(_LEAST_HESSIAN * size, _LEAST) if size > 0.0 else 0.0
        hessian[i] = max(hessian[i], least)


class FirstStep(NamedTuple):
    """Size of the first tree of a training.

    Attributes
    ----------
    gain : float
        What its splits gain together, at most. A split's gain is what it lets Σ G²/H of the leaves grow by: with a leaf
        for each row the sum is Σ g²/h, without any split G²/H of all rows.
    step : float
        How far its leaves go from the mean of all rows. Both are 0 where all rows take one step, up to rounding.
    hessian, mean_hessian : float
        Sum and mean over the rows that take a step.
    """

    gain: float
    step: float
    hessian: float
    mean_hessian: float


def first_step(gradient: Any, hessian: Any) -> FirstStep:
    """Return how large a step from these derivatives is, of which one at least is not 0."""
    taken = hessian > 0.0
    h = hessian[taken]
    with np.errstate(over="ignore"):
        step = gradient[taken] / h
        away = step - gradient.sum() / h.sum()
        away[np.abs(away) <= 1e-12 * np.abs(step).max()] = 0.0
        return FirstStep(float((h * away**2).sum()), float(np.abs(away).max()), float(h.sum()), float(h.mean()))
