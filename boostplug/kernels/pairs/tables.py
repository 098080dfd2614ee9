"""Smooth functions of a score difference as tables: what the kernels of `smooth` know of them, in plain NumPy.

The scores of a query fall into boxes of one width, and the position within a box is y in [-1, 1]. A function of the
difference of two scores in two boxes is a polynomial in both positions, a 12 × 12 matrix that depends on the distance
of the boxes alone (`Tables.box`). Further out than the tables reach a function is its tail, q0 + q1 d + q2 d² +
c e^(-λ d), or nothing is known of it. One difference at a time is read from polynomials of 16ths of a width.

The matrices are truncated Chebyshev series (for γ = σ(1 - σ) the poles at ±iπ set the rate: boxes of 2.5 give 1e-7 of
every single pair, far pairs included); moments are of plain powers, which twelve of them can afford in float64.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from boostplug.core.checks import frozen

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

MOMENTS = 12  # of a box
GENERAL, NDCG, RANKNET, NDCG_VALUE, RANKNET_VALUE = -1, 0, 1, 2, 3  # functions that kernels know exactly
PIECES = 16  # in the width of a box: 1e-12 of any function that boxes describe
_TERMS = 8  # of the polynomial of a piece
_SAMPLES = 32
_ACCURACY = 2e-7  # of the tables, beside the largest value within each pair of boxes
_ABSOLUTE = 2e-9  # more, beside the largest value near 0, where tails vanish too fast for the first alone
_REACHES = (7, 15, 31, 63)
_WIDTHS = tuple(2.5 * 2.0 ** (k / 2.0) for k in range(12, -17, -1))
_LEAST_REACH = 8.0  # of tables without tails; below it, they are not worth having


@dataclass(frozen=True)
class Tail:
    """Tail of a function on one side: q0 + q1 x + q2 x² + c e^(-rate x), x = abs(d)."""

    q0: float = 0.0
    q1: float = 0.0
    q2: float = 0.0
    c: float = 0.0
    rate: float = 1.0

    def __call__(self, x: Floats) -> Floats:
        """Return the tail at distances x ≥ 0."""
        return self.q0 + x * (self.q1 + x * self.q2) + self.c * np.exp(-self.rate * x)


@dataclass(frozen=True)
class TabulatedFunction:
    """A smooth function of the difference, with its tails to the left and to the right."""

    function: Function
    left: Tail
    right: Tail


class Tables(NamedTuple):
    """Functions as the kernels read them.

    Attributes
    ----------
    width : float
        Of a box, in score units.
    reach : int
        Pairs of boxes further apart than this take the tails.
    box : ndarray of shape (n_functions, 2, MOMENTS · (2 reach + 1) · MOMENTS)
        Moments to coefficients; [f, 0] where the source has the lower grade, [f, 1] where it has the higher.
        In the last axis: moment of the source, distance of the boxes (target - source), power of the target.
    tail : ndarray of shape (n_functions, 2, 5)
        [f, 0] left and [f, 1] right: q0, q1, q2, c, rate, in units of half a box.
    power : ndarray of shape (n_functions, 2, 2, MOMENTS)
        Polynomials of e^(-rate y), [f, side, 0], and e^(rate y), [f, side, 1].
    piece : ndarray of shape (n_functions, 2 · reach · 16, 8)
        Polynomials of the function within a 16th of a width, from -reach widths on; position in [-1, 1].
    """

    width: float
    reach: int
    box: Floats
    tail: Floats
    power: Floats
    piece: Floats


class Functions(NamedTuple):
    """Functions and what each of them counts in each output of a sum.

    Attributes
    ----------
    kind : int
        The functions' name here, or `GENERAL` where tables are all that is known.
    lower, higher : ndarray of shape (n_functions, n_outputs)
        What a function counts in an output where the other document has the lower and the higher grade.
    tables : Tables
    """

    kind: int
    lower: Floats
    higher: Floats
    tables: Tables


def tables(kernels: tuple[TabulatedFunction, ...], width: float, reach: int) -> Tables:
    """Sample functions into `Tables`."""
    half = width / 2.0
    box = np.empty((len(kernels), 2, MOMENTS, 2 * reach + 1, MOMENTS))
    tail = np.empty((len(kernels), 2, 5))
    power = np.empty((len(kernels), 2, 2, MOMENTS))
    middle = half / PIECES * np.arange(1.0 - 2 * reach * PIECES, 2 * reach * PIECES, 2.0)
    piece = np.empty((len(kernels), len(middle), _TERMS))
    distance = np.arange(-reach, reach + 1)
    sign = (-1.0) ** np.arange(MOMENTS)
    for k, kernel in enumerate(kernels):
        box[k, 0] = _box_to_box(kernel.function, half, distance).transpose(1, 0, 2)
        # κ(F_s - F_t): mirror the axis of scores, which turns distance and odd powers around.
        box[k, 1] = box[k, 0, :, ::-1, :] * sign[:, None, None] * sign[None, None, :]
        for side, t in enumerate((kernel.left, kernel.right)):
            tail[k, side] = t.q0, t.q1 * half, t.q2 * half * half, t.c, t.rate * half
            for n, rate in enumerate((-t.rate, t.rate)):
                power[k, side, n] = _to_powers() @ np.exp(rate * half * _nodes())
        d = middle[:, None] + half / PIECES * _nodes()
        piece[k] = np.asarray(kernel.function(d.ravel()), np.float64).reshape(d.shape) @ _to_powers(_TERMS).T
    flat = box.reshape(len(kernels), 2, -1)
    return Tables(width, reach, frozen(flat), frozen(tail), frozen(power), frozen(piece))


def _nodes() -> Floats:
    nodes: Floats = np.cos((2.0 * np.arange(_SAMPLES) + 1.0) * np.pi / (2.0 * _SAMPLES))
    return nodes


def _to_powers(terms: int = MOMENTS) -> Floats:
    """Return the matrix from values at the nodes to coefficients of powers, by the truncated Chebyshev series."""
    to_chebyshev = (2.0 / _SAMPLES) * chebyshev.chebvander(_nodes(), terms - 1).T
    to_chebyshev[0] /= 2.0
    powers_of = np.zeros((terms, terms))
    for u in range(terms):
        powers_of[: u + 1, u] = chebyshev.cheb2poly([0.0] * u + [1.0])
    matrix: Floats = powers_of @ to_chebyshev
    return matrix


def _box_to_box(function: Function, half: float, distance: NDArray[np.int64]) -> Floats:
    """Return the matrices [distance, moment of the source, power of the target] of a function of target - source."""
    y = _nodes()
    d = (2.0 * distance[:, None, None] + y[None, None, :] - y[None, :, None]) * half
    sampled = np.asarray(function(d.ravel()), dtype=np.float64).reshape(d.shape)
    matrix = _to_powers()
    result: Floats = matrix @ sampled @ matrix.T
    return result


class TableLayout(NamedTuple):
    """Boxes that describe some functions, and each function's tails to the left and the right, None where unknown."""

    width: float
    reach: int
    tails: tuple[tuple[Tail | None, Tail | None], ...]

    @property
    def has_tails(self) -> bool:
        """Whether every function is known at any distance."""
        return all(tail is not None for both in self.tails for tail in both)


def layout_of(functions: tuple[Function, ...]) -> TableLayout | None:
    """Return boxes whose tables describe the functions; None if none do.

    The widest boxes win, but those with tails go first.
    """
    best = None
    for slack in (0.0, _ABSOLUTE):
        for width in _WIDTHS:
            if not all(_fits(f, width, _REACHES[0], slack) for f in functions):
                continue
            for reach in _REACHES:
                start = reach * width
                plan = TableLayout(
                    width, reach, tuple((_tail(f, -1.0, start, width), _tail(f, 1.0, start, width)) for f in functions)
                )
                if plan.has_tails:
                    break
            if not all(_fits(f, width, reach, slack) for f in functions):
                continue
            if plan.has_tails:
                return plan
            if reach * width >= _LEAST_REACH and (best is None or reach * width > best.reach * best.width):
                best = plan
            break  # narrower boxes reach less far
    return best


def _fits(function: Function, width: float, reach: int, slack: float) -> bool:
    """Whether the tables describe a function within each pair of boxes."""
    t = tables((TabulatedFunction(function, Tail(), Tail()),), width, reach)
    matrix = t.box[0, 0].reshape(MOMENTS, 2 * reach + 1, MOMENTS)
    y = np.linspace(-1.0, 1.0, 25)
    powers = np.vander(y, MOMENTS, increasing=True)
    found = np.einsum("su,udv,tv->dst", powers, matrix, powers, optimize=True)
    distance = np.arange(-reach, reach + 1)[:, None, None]
    d = (2.0 * distance + y[None, None, :] - y[None, :, None]) * (width / 2.0)
    expected = np.asarray(function(d.ravel()), np.float64).reshape(d.shape)
    if not np.isfinite(expected).all():
        return False
    off = np.abs(found - expected).max(axis=(1, 2))
    size = np.abs(expected).max(axis=(1, 2))
    return bool((off <= _ACCURACY * size + slack * size[reach] + 1e-300).all())


def _tail(function: Function, side: float, start: float, width: float) -> Tail | None:
    """Return q0 + q1 x + q2 x² + c e^(-rate x), equal to the function of side · x from `start` on; None if none is."""
    x = start * np.geomspace(1.0, 1e3, 31)
    y = np.asarray(function(side * x), np.float64)
    if not np.isfinite(y).all():
        return None
    for order in range(3):
        at = [30, 20, 15][: order + 1]
        coefficients = np.polynomial.polynomial.polyfit(x[at] / x[-1], y[at], order) / x[-1] ** np.arange(order + 1.0)
        parts = np.abs(coefficients) * start ** np.arange(order + 1.0)
        coefficients[(parts < 1e-11 * parts.max()) | (parts < 1e-200)] = 0.0
        q0, q1, q2 = np.r_[coefficients, np.zeros(2 - order)].tolist()
        polynomial = Tail(q0, q1, q2, 0.0, 1.0 / width)
        rest = y - polynomial(x)
        noise = 1e-13 * np.abs(y)
        if (np.abs(rest[15:]) > 10.0 * noise[15:] + 1e-300).any():
            continue
        if (np.abs(rest) <= noise).all():
            return polynomial
        close = start + np.array([0.0, width / 2.0, width, 2.0 * width])
        near = np.asarray(function(side * close), np.float64) - polynomial(close)
        if near[0] * near[1] > 0.0 and abs(near[1]) < abs(near[0]):
            rate = float(np.log(near[0] / near[1]) / (width / 2.0))
            # The rate to six digits means what is left of the tail further out.
            if rate * width / 2.0 <= 4.0 and abs(rate - round(rate, 4)) < 1e-5 * rate:
                rate = round(rate, 4)
            tail = Tail(q0, q1, q2, float(near[0] * np.exp(min(rate * start, 700.0))), rate)
            off = np.abs(near - (tail(close) - polynomial(close)))
            fits = (off <= 1e-5 * np.abs(near) + 10.0 * noise[0]).all()
            if fits and rate * width / 2.0 <= 4.0 and rate * start < 700.0:
                return tail
        near_zero = np.abs(function(side * np.ones(1)))
        if np.abs(rest).max() <= _ABSOLUTE * max(float(np.abs(y).max()), float(near_zero[0])):
            return polynomial
    return None
