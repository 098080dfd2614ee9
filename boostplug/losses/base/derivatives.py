"""Arrays of derivatives that a loss changes in place."""

import numpy as np

from boostplug.core.arrays import Floats

_SMALLEST_HESSIAN = 1e-300  # below it a Hessian has lost digits


def writable(derivatives: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return gradient and Hessian as separate arrays to write to; copies of what is frozen or shared."""
    gradient, hessian = (array if array.flags.carray else array.copy() for array in derivatives)
    return gradient, hessian.copy() if np.may_share_memory(gradient, hessian) else hessian


def zero_underflowed(gradient: Floats, hessian: Floats) -> None:
    """Set both to 0, in place, where the Hessian underflowed: such a row takes no step."""
    no_step = hessian < _SMALLEST_HESSIAN
    gradient[no_step] = hessian[no_step] = 0.0
