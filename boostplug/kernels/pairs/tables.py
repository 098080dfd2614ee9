"""Smooth functions of a score difference as polynomials, in plain NumPy.

Scores fall into boxes of one width. For two boxes at some distance, the function is a polynomial of both positions y in
[-1, 1], stored as a 12 × 12 matrix. Boxes beyond `REACH` take the tail, a polynomial q0 + q1 x + q2 x² of the distance.
Pairs summed one by one read the function from polynomials over 16ths of a width. `docs/explanation/pair_sums.md`
explains the method.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyfit, polyval
from numpy.typing import NDArray

from boostplug.core.checks import frozen

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

MOMENTS = 12  # per box
PIECES = 16  # per box
_TERMS = 8  # coefficients of a piece: a relative error of 1e-12 for any function that boxes describe
_RELATIVE, _ABSOLUTE = 2e-7, 2e-9  # largest error, relative to the largest value in the same two boxes and in one box
REACH = 15  # boxes further apart than this take the tails
_WIDTHS = tuple(2.5 * 2.0 ** (k / 2.0) for k in range(12, -17, -1))


class Tables(NamedTuple):
    """Functions of the score difference in the form that kernels read.

    Attributes
    ----------
    width : float
        Width of a box, in score units.
    box : ndarray of shape (n_functions, 2, MOMENTS · (2 REACH + 1) · MOMENTS)
        Moments to coefficients; [f, 0] if the source has the lower grade, [f, 1] if it has the higher one. Last axis:
        moment of the source, distance of the boxes (target - source), power of the target.
    tail : ndarray of shape (n_functions, 2, 3)
        q0, q1, q2 to the left, [f, 0], and to the right, [f, 1], by the distance in half boxes.
    piece : ndarray of shape (n_functions, 2 · REACH · PIECES, 8)
        Polynomials of the function within a 16th of a width, from -REACH widths on; position in [-1, 1].
    """

    width: float
    box: Floats
    tail: Floats
    piece: Floats

    def chosen(self, first: int, last: int) -> "Tables":
        """Return the tables of the functions ``first <= f < last``."""
        return self._replace(box=self.box[first:last], tail=self.tail[first:last], piece=self.piece[first:last])


def tables_of(functions: tuple[Function, ...]) -> Tables | None:
    """Return tables with the widest boxes that describe the functions; None if no boxes do."""
    for width in _WIDTHS:
        if all(_fits(f, width, 1) for f in functions) and all(_fits(f, width, REACH) for f in functions):
            tail = np.array([_tails(f, width) for f in functions])
            return _sampled(functions, width, tail) if np.isfinite(tail).all() else None
    return None


def _sampled(functions: tuple[Function, ...], width: float, tail: Floats) -> Tables:
    box = np.empty((len(functions), 2, MOMENTS, 2 * REACH + 1, MOMENTS))
    middle = (np.arange(2 * REACH * PIECES) + 0.5) / PIECES - REACH
    piece = np.empty((len(functions), len(middle), _TERMS))
    sign = (-1.0) ** np.arange(MOMENTS)
    for k, function in enumerate(functions):
        box[k, 0] = _matrices(function, width, REACH).transpose(1, 0, 2)
        # κ(F_s - F_t): mirroring the scores reverses the distances and the signs of odd powers.
        box[k, 1] = box[k, 0, :, ::-1, :] * sign[:, None, None] * sign
        d = width * (middle[:, None] + 0.5 / PIECES * _nodes(_TERMS))
        piece[k] = _values(function, d) @ _to_powers(_TERMS).T
    in_half_boxes = tail * (0.5 * width) ** np.arange(3)
    return Tables(width, frozen(box.reshape(len(functions), 2, -1)), frozen(in_half_boxes), frozen(piece))


def _nodes(n: int) -> Floats:
    nodes: Floats = np.cos((2.0 * np.arange(n) + 1.0) * np.pi / (2.0 * n))
    return nodes


def _to_powers(n: int) -> Floats:
    """Return the matrix from values at the n nodes to coefficients of powers."""
    matrix: Floats = np.linalg.inv(np.vander(_nodes(n), increasing=True)).astype(np.float64)
    return matrix


def _values(function: Function, d: Floats) -> Floats:
    return np.asarray(function(d.ravel()), np.float64).reshape(d.shape)


def _differences(y: Floats, width: float, reach: int) -> Floats:
    """Return the differences [distance, source, target] of positions in two boxes."""
    distance = np.arange(-reach, reach + 1)[:, None, None]
    differences: Floats = (2.0 * distance + y - y[:, None]) * (0.5 * width)
    return differences


def _matrices(function: Function, width: float, reach: int) -> Floats:
    """Return the matrices [distance, moment of the source, power of the target] of a function of target - source."""
    matrices: Floats = (
        _to_powers(MOMENTS) @ _values(function, _differences(_nodes(MOMENTS), width, reach)) @ _to_powers(MOMENTS).T
    )
    return matrices


def _fits(function: Function, width: float, reach: int) -> bool:
    """Return whether the matrices describe a function within each pair of boxes."""
    y = np.linspace(-1.0, 1.0, 25)
    powers = np.vander(y, MOMENTS, increasing=True)
    expected = _values(function, _differences(y, width, reach))
    if not np.isfinite(expected).all():
        return False
    size = np.abs(expected).max(axis=(1, 2))
    off = np.abs(powers @ _matrices(function, width, reach) @ powers.T - expected).max(axis=(1, 2))
    return bool((off <= _RELATIVE * size + _ABSOLUTE * size[reach] + 1e-300).all())


def _tails(function: Function, width: float) -> Floats:
    """Return the coefficients of the left and the right tail, by the distance; NaN for a tail of another form."""
    x = REACH * width * np.geomspace(1.0, 1e3, 31)
    nearest = float(np.abs(_values(function, 0.5 * width * _nodes(_TERMS))).max())
    tails = np.full((2, 3), np.nan)
    for side, sign in enumerate((-1.0, 1.0)):
        y = _values(function, sign * x)
        for order in range(3 if np.isfinite(y).all() else 0):
            at = [30, 20, 15][: order + 1]
            coefficients = polyfit(x[at] / x[-1], y[at], order)
            size = np.abs(coefficients)
            coefficients[size < 1e-14 * size.max()] = 0.0
            coefficients /= x[-1] ** np.arange(order + 1.0)
            if (np.abs(polyval(x, coefficients) - y) <= 1e-9 * np.abs(y) + 1e-13 * nearest).all():
                tails[side] = np.r_[coefficients, np.zeros(2 - order)]
                break
    return tails
