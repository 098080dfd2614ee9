"""The loop over the preference pairs of a few documents, with the pair function inlined.

`pair_loop` and `value_loop` make it for a pair function of a number x that each document has: its score, or e to that.
Document i has the higher level, j the lower one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import exponential, unsigned
from boostplug.kernels.base.compiling import inlined

__all__ = [
    "Documents",
    "documents_in",
    "exponentiate",
    "pair_loop",
    "space_for",
    "value_loop",
]

Floats = NDArray[np.float64]

ALONE = unsigned(24)  # documents below another; for more it pays to sum them beside one of the next grade
SPACE = 11  # rows of numbers for the documents of a query


class Documents(NamedTuple):
    """Documents by ascending level.

    A pair of document i and one of lower level weighs ``winner[i] * loser[j]``, times the gap of their levels if
    the loop is called with `by_gap`.
    """

    f: Floats  # scores, in units of the pair function
    winner: Floats
    loser: Floats  # may be the array `winner` itself
    level: Floats
    first: Floats  # sums of first derivatives
    second: Floats  # sums of second derivatives
    e: Floats  # e^f around the middle of the scores, where they are near
    loser_e: Floats  # loser times e
    weight: Floats  # of the documents below the current level
    p: Floats  # sums over the documents of higher levels
    r: Floats


@inlined(_nrt=True)
def space_for(n: int) -> Any:
    """Return space for `documents_in`; the system hands out rows that nobody writes to at no cost."""
    x = np.empty((SPACE, n))
    x[1] = 1.0
    x[3] = 0.0
    return x


@numba.njit(inline="always")
def documents_in(x: Any, apart: bool) -> Documents:
    """Return the documents in the rows of `space_for`'s array; `apart`: losers weigh otherwise than winners."""
    return Documents(x[0], x[1], x[2] if apart else x[1], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10])


@inlined(fastmath={"contract", "reassoc"})
def exponentiate(documents: Documents, n: int, middle: float) -> None:
    """Write e^(f - middle) of each document, and the same times its weight as a loser."""
    f, e, loser, loser_e = documents.f, documents.e, documents.loser, documents.loser_e
    for i in range(unsigned(n)):
        e[i] = exponential(f[i] - middle)
        loser_e[i] = loser[i] * e[i]


@numba.njit(inline="always")
def _weigh(loser: Any, documents: Documents, level: float, lowest: int, end: int) -> None:
    """Write the weights of the documents below a level, where gaps of levels weigh."""
    for j in range(lowest, end):
        documents.weight[j] = loser[j] * (level - documents.level[j])


def pair_loop(terms: Callable[..., Any], *, even: bool = False) -> Any:
    """Return a function that adds the derivatives of all pairs of two grades among the documents.

    ``terms(w, x_i, x_k, x_j, parameter)`` returns, for the pairs (i, j) and (k, j), w times minus the first derivative
    by the score difference and w times the second; with `even` both are the same, and it returns one for each pair.
    Called as ``loop(x, loser, documents, start, u0, u1, base, by_gap, parameter)``, with the losers' weights, and the
    documents of grade u, ``u0 <= u < u1``, from ``start[u] - base`` on.
    """

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def below(x: Any, weight: Any, documents: Documents, i: int, k: int, j0: int, j1: int, parameter: float) -> Any:
        """Add the pairs of i and k with ``j0 <= j < j1``: two at a time, so sums are read and written half as often."""
        p, r, x_i, x_k = documents.p, documents.r, x[i], x[k]
        s_i, s_k = documents.winner[i], documents.winner[k] if k > i else 0.0
        g_i = h_i = g_k = h_k = 0.0
        for j in range(j0, j1):
            if not even:
                first_i, second_i, first_k, second_k = terms(weight[j], x_i, x_k, x[j], parameter)
                h_i += second_i
                h_k += second_k
                r[j] += s_i * second_i + s_k * second_k
            else:
                first_i, first_k = terms(weight[j], x_i, x_k, x[j], parameter)
            g_i += first_i
            g_k += first_k
            p[j] += s_i * first_i + s_k * first_k
        return s_i * g_i, s_i * h_i, s_k * g_k, s_k * h_k

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def loop(
        x: Any, loser: Any, documents: Documents, start: Any, u0: int, u1: int, base: int, by_gap: bool,
        parameter: float,
    ) -> None:  # fmt: skip
        first, second, p, r = documents.first, documents.second, documents.p, documents.r
        weight, apart = documents.weight if by_gap else loser, not by_gap
        lowest, n = unsigned(start[u0] - base), unsigned(start[u1] - base)
        for i in range(lowest, n):
            p[i] = r[i] = 0.0
        i = unsigned(start[u0 + 1] - base)
        for u in range(u0 + 1, u1):
            end, last = unsigned(start[u] - base), unsigned(start[u + 1] - base)
            if by_gap:
                _weigh(loser, documents, documents.level[end], lowest, end)
            # A document that is alone of its grade is summed beside the first one of the next grade.
            across = unsigned(apart and last - end == unsigned(1) and end - lowest > ALONE and last < n)
            while i < last:
                k = i + unsigned(1) if i + unsigned(1) < last + across else i
                g_i, h_i, g_k, h_k = below(x, weight, documents, i, k, lowest, end, parameter)
                if k >= last:
                    s_k = documents.winner[k]
                    if not even:
                        first_i, second_i, _, _ = terms(weight[i], x[k], x[k], x[i], parameter)
                        h_k += s_k * second_i
                        r[i] += s_k * second_i
                    else:
                        first_i, _ = terms(weight[i], x[k], x[k], x[i], parameter)
                    g_k += s_k * first_i
                    p[i] += s_k * first_i
                first[k], second[k] = g_k, h_k
                first[i], second[i] = g_i, h_i
                i = k + unsigned(1)
        for i in range(lowest, unsigned(start[u0 + 1] - base)):
            first[i] = second[i] = 0.0
        for i in range(lowest, n):
            own = first[i]
            first[i] = p[i] - own
            second[i] = p[i] + own if even else r[i] + second[i]

    return loop


def value_loop(terms: Callable[..., Any]) -> Any:
    """Return a function that writes to `first` the values of each document's pairs with documents of lower grades.

    ``terms(w, x_i, x_j, parameter)`` returns w times the value. Called as `pair_loop`'s function is.
    """

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def loop(
        x: Any, loser: Any, documents: Documents, start: Any, u0: int, u1: int, base: int, by_gap: bool,
        parameter: float,
    ) -> None:  # fmt: skip
        weight = documents.weight if by_gap else loser
        lowest = unsigned(start[u0] - base)
        for u in range(u0 + 1, u1):
            end = unsigned(start[u] - base)
            if by_gap:
                _weigh(loser, documents, documents.level[end], lowest, end)
            for i in range(end, unsigned(start[u + 1] - base)):
                total, x_i = 0.0, x[i]
                for j in range(lowest, end):
                    total += terms(weight[j], x_i, x[j], parameter)
                documents.first[i] = documents.winner[i] * total

    return loop
