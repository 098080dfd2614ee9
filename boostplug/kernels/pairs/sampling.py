"""Functions of a score difference, sampled on a grid of scores, in plain NumPy.

The grid's nodes are `Sampled.spacing` apart. A score lies in the middle cell of eight neighbouring nodes. Between nodes
the function is the polynomial through eight of them, for each of the two scores of a pair. So the function enters as
its values at the differences of nodes. Beyond `REACH` blocks of eight nodes it takes its tail, a polynomial q0 + q1 x +
q2 x² of the distance x. `docs/explanation/pair_sums.md` explains the method.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyfit, polyval

from boostplug.core.arrays import Floats
from boostplug.core.checks import frozen

Function = Callable[[Floats], Floats]

NODES = 8  # of a block, and of a polynomial
REACH = 56  # blocks further apart than this take the tails
_CENTRE = NODES * (REACH + 1)  # place of the difference 0 in `Sampled.values`
SIZE = 2 * _CENTRE + 1
_PLACES = np.arange(-_CENTRE, _CENTRE + 1)
_SPACINGS = tuple(2.0 ** (k / 2.0) for k in range(6, -23, -1))
_RELATIVE, _ABSOLUTE = 4e-10, 4e-12  # largest error, relative to the values nearby and to those near 0
_OFFSETS = np.arange(NODES) - 0.5 * (NODES - 1)  # of the nodes from the middle of their middle cell
_POLYNOMIALS = np.linalg.inv(np.vander(_OFFSETS, increasing=True))  # [power, node]


class Sampled(NamedTuple):
    """Functions of the score difference in the form that kernels read.

    Attributes
    ----------
    spacing : float
        Distance of the nodes, in score units.
    values : ndarray of shape (n_functions, 2, SIZE)
        Of the differences from -SIZE // 2 to SIZE // 2 spacings; [f, 1] has them reversed.
    tails : ndarray of shape (n_functions, 2, 3)
        q0, q1, q2 to the left, [f, 0], and to the right, [f, 1], by the distance in spacings.
    basis : ndarray of shape (NODES²,)
        Coefficients of the polynomials that are 1 at one node and 0 at the others, highest power first.
    """

    spacing: float
    values: Floats
    tails: Floats
    basis: Floats


@lru_cache(maxsize=64)
def sampled(functions: tuple[Function, ...]) -> Sampled | None:
    """Return the functions on the widest grid that describes them; None if no grid does."""
    with np.errstate(all="ignore"):
        for spacing in _SPACINGS:
            if all(_fits(function, spacing) for function in functions):
                tails = np.array([_tails(function, spacing) for function in functions])
                values = np.array([_values(function, _PLACES * spacing) for function in functions])
                both = np.stack([values, values[:, ::-1]], axis=1)
                sampled = Sampled(spacing, frozen(both), frozen(tails), frozen(_POLYNOMIALS[::-1].ravel()))
                return sampled if np.isfinite(tails).all() else None
    return None


def _values(function: Function, d: Any) -> Floats:
    """Return the function of differences; NaN if it refuses them, as a user's function does where it overflows."""
    try:
        return np.asarray(function(d), np.float64)
    except ValueError:
        return np.full(len(d), np.nan)


def _fits(function: Function, spacing: float) -> bool:
    """Return whether the polynomials through the nodes describe a function between all nodes."""
    nodes = _PLACES * spacing
    values = _values(function, nodes)
    windows = np.lib.stride_tricks.sliding_window_view(values, NODES)
    size = _RELATIVE * np.abs(windows).max(axis=1)
    size += _ABSOLUTE * np.abs(values[_CENTRE - NODES : _CENTRE + NODES]).max() + 1e-300
    for y in (0.0, 0.31):
        at = y ** np.arange(NODES) @ _POLYNOMIALS
        between = nodes[: len(windows)] + (0.5 * (NODES - 1) + y) * spacing
        if not (np.abs(windows @ at - _values(function, between)) <= size).all():
            return False
    return True


def _tails(function: Function, spacing: float) -> Floats:
    """Return the coefficients of the left and the right tail; NaN for a tail of another form."""
    x = NODES * REACH * np.geomspace(1.0, 1e3, 31)
    nearest = float(np.abs(_values(function, spacing * np.arange(-NODES, NODES))).max())
    tails = np.full((2, 3), np.nan)
    for side, sign in enumerate((-1.0, 1.0)):
        y = _values(function, sign * spacing * x)
        for order in range(3 if np.isfinite(y).all() else 0):
            tail, _ = polyfit(x, y, order, w=1.0 / (np.abs(y) + nearest + 1e-100), full=True)  # without RankWarning
            tail[np.abs(tail) < 1e-13 * nearest] = 0.0
            if (np.abs(polyval(x, tail) - y) <= 1e-9 * np.abs(y) + 1e-13 * nearest).all():
                tails[side] = np.r_[tail, np.zeros(2 - order)]
                break
    return tails
