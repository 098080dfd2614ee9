"""Derivatives that may leave the range of floats, and the common factor that brings them back."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.collective import Collective
from boostplug.data.queries import Queries
from boostplug.kernels.base.rows import multiply_queries
from boostplug.kernels.pairs.exponential_loss.one_query import MAX_LOST_SHARE, MIN_HESSIAN

Floats = NDArray[np.float64]

_LARGEST = 2.0**100  # of g and h: a sum over 1e8 rows still fits float32
_LOG_LARGEST = math.log(_LARGEST)
_SLACK = 1e-9  # of logarithms; an output of a power of 2, no rare thing, is then not one that rounding decides on
_BY_POWER = 600.0  # up to e^600 the common factor is a power of 2, which rounds nothing
_TINY = float(np.finfo(np.float64).tiny)


class ScaledDerivatives(NamedTuple):
    """Gradient and Hessian divided by e^shift, with one shift per query.

    Attributes
    ----------
    gradient, hessian : ndarray of shape (n_rows,)
        New arrays.
    shift : ndarray of shape (n_queries,)
        At least 0.
    top : ndarray of shape (n_queries,)
        The largest of ``abs(gradient)`` and ``hessian`` of each query, or a little more.
    """

    gradient: Floats
    hessian: Floats
    shift: Floats
    top: Floats


def rescale(outputs: ScaledDerivatives, queries: Queries, totals: Collective) -> tuple[Floats, Floats]:
    """Undo the shifts and, where an output of any machine would pass 2^100, multiply all rows by one factor."""
    gradient, hessian, shift, top = outputs
    furthest = float(shift.max(initial=0.0))
    # The largest output is e^(furthest + beyond); apart, so that a huge shift does not swallow the rest.
    beyond = float((np.log(np.maximum(top, _TINY)) + (shift - furthest)).max(initial=math.log(_TINY)))
    own = furthest + beyond
    largest = totals.largest(own if top.any() else -np.inf)
    if largest == -np.inf or (largest <= _LOG_LARGEST + _SLACK and not furthest):
        return gradient, hessian
    if largest < _BY_POWER:
        halvings = max(0, math.ceil((largest - _LOG_LARGEST - _SLACK) / math.log(2.0)))
        multipliers = [np.exp(np.minimum(shift, 700.0)) * 2.0**-halvings]
    else:  # the square root of the factor twice, because the factor itself can overflow
        multipliers = 2 * [np.exp(0.5 * (shift - furthest - (beyond - _LOG_LARGEST + (largest - own))))]
    for multiplier in multipliers:
        of_row = multiplier[queries.query_of_row]
        gradient *= of_row
        hessian *= of_row
    zero_underflowed(gradient, hessian, queries)
    return gradient, hessian


def times(
    outputs: tuple[Floats, Floats] | ScaledDerivatives, factors: Floats, queries: Queries
) -> tuple[Floats, Floats]:
    """Multiply each query's gradient and Hessian by its factor. Return writable arrays."""
    gradient, hessian = writable(outputs)
    multiply_queries(gradient, hessian, factors, queries.boundaries)
    return gradient, hessian


def writable(outputs: tuple[Floats, Floats] | ScaledDerivatives) -> tuple[Floats, Floats]:
    """Return gradient and Hessian as separate arrays to write to; copies of a user's that are frozen, views or one."""
    gradient, hessian = (array if array.flags.carray else array.copy() for array in outputs[:2])
    return gradient, hessian.copy() if np.may_share_memory(gradient, hessian) else hessian


def zero_underflowed(gradient: Floats, hessian: Floats, queries: Queries) -> None:
    """Set both to 0 where the Hessian underflowed, and in all of a query that would lose much of its gradient."""
    no_step = hessian < MIN_HESSIAN
    if not gradient[no_step].any():
        hessian[no_step] = 0.0
        return
    size = np.abs(gradient)
    lost = _largest(np.where(no_step, size, 0.0), queries) > MAX_LOST_SHARE * _largest(size, queries)
    no_step |= lost[queries.query_of_row]
    gradient[no_step] = hessian[no_step] = 0.0


def _largest(values: Floats, queries: Queries) -> Floats:
    """Return the largest value of each query's rows; of all rows, where pairs cross queries."""
    if queries.pairs is not None and queries.pair_runs.crosses:
        return np.full(queries.n_queries, values.max(initial=0.0))
    largest = np.zeros(queries.n_queries)
    np.maximum.at(largest, queries.query_of_row, values)
    return largest
