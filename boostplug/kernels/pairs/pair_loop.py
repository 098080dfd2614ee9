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
def _weigh(loser: Any, documents: Documents, level: float, end: int) -> None:
    """Write the weights of the first documents, below a level, where gaps of levels weigh."""
    for j in range(end):
        documents.weight[j] = loser[j] * (level - documents.level[j])


def pair_loop(terms: Callable[..., Any], *, even: bool = False) -> Any:
    """Return a function that adds the derivatives of all pairs of two grades among the documents.

    ``terms(w, x_i, x_k, x_j)`` returns, for the pairs (i, j) and (k, j), w times minus the first derivative by the
    score difference and w times the second; with `even` both are the same, and it returns one for each pair. Called as
    ``loop(x, loser, documents, start, u0, u1, by_gap)``, with the losers' weights, and the documents of grade u from
    ``start[u] - start[u0]`` on.
    """

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def loop(x: Any, loser: Any, documents: Documents, start: Any, u0: int, u1: int, by_gap: bool) -> None:
        winner, first, second, p, r = (
            documents.winner, documents.first, documents.second, documents.p, documents.r,
        )  # fmt: skip
        weight, base = documents.weight if by_gap else loser, start[u0]
        for i in range(unsigned(start[u1] - base)):
            p[i] = r[i] = 0.0
        for u in range(u0 + 1, u1):
            end, last = unsigned(start[u] - base), unsigned(start[u + 1] - base)
            if by_gap:
                _weigh(loser, documents, documents.level[end], end)
            i = end
            while i < last:  # two documents at a time: sums are read and written half as often
                k = i + unsigned(1) if i + unsigned(1) < last else i
                s_i, s_k, x_i, x_k = winner[i], winner[k] if k > i else 0.0, x[i], x[k]
                g_i = h_i = g_k = h_k = 0.0
                for j in range(end):
                    if not even:
                        first_i, second_i, first_k, second_k = terms(weight[j], x_i, x_k, x[j])
                        h_i += second_i
                        h_k += second_k
                        r[j] += s_i * second_i + s_k * second_k
                    else:
                        first_i, first_k = terms(weight[j], x_i, x_k, x[j])
                    g_i += first_i
                    g_k += first_k
                    p[j] += s_i * first_i + s_k * first_k
                first[k], second[k] = s_k * g_k, s_k * h_k
                first[i], second[i] = s_i * g_i, s_i * h_i
                i += unsigned(2)
        for i in range(unsigned(start[u1] - base)):
            own = first[i]
            first[i] = p[i] - own
            second[i] = p[i] + own if even else r[i] + second[i]

    return loop


def value_loop(terms: Callable[..., Any]) -> Any:
    """Return a function that writes to `first` the values of each document's pairs with documents of lower grades.

    ``terms(w, x_i, x_j)`` returns w times the value. Called as `pair_loop`'s function is.
    """

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def loop(x: Any, loser: Any, documents: Documents, start: Any, u0: int, u1: int, by_gap: bool) -> None:
        weight, base = documents.weight if by_gap else loser, start[u0]
        for u in range(u0 + 1, u1):
            end = unsigned(start[u] - base)
            if by_gap:
                _weigh(loser, documents, documents.level[end], end)
            for i in range(end, unsigned(start[u + 1] - base)):
                total, x_i = 0.0, x[i]
                for j in range(end):
                    total += terms(weight[j], x_i, x[j])
                documents.first[i] = documents.winner[i] * total

    return loop
