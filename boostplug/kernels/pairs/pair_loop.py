"""The loop over the preference pairs of a few documents, with the pair function inlined.

`pair_loop` and `value_loop` make the loop for a function of a number x of each document: its score F, or e^F. Document
i has the higher level, j the lower one. In NumPy, for a function with derivatives `first` and `second`::

    def gradient_and_hessian(scores, labels, winner, loser, first, second):
        d = scores[:, None] - scores  # of i and j
        w = np.where(labels[:, None] > labels, winner[:, None] * loser, 0.0)
        g, h = w * first(d), w * second(d)
        return g.sum(axis=1) - g.sum(axis=0), h.sum(axis=1) + h.sum(axis=0)

The loop visits each pair once, i outside and j inside, and adds its terms to both documents. Two documents i share the
inner loop, which LLVM vectorises over j.
"""

from collections.abc import Callable
from typing import Any

from boostplug.kernels.base.arithmetic import exponential, unsigned
from boostplug.kernels.base.compiling import inlined
from boostplug.kernels.pairs.pair_task import Documents

ALONE = unsigned(24)  # documents below the only one of a grade; with more it shares its loop with the next grade


@inlined(fastmath={"contract", "reassoc"})
def exponentiate(documents: Documents, n: int, middle: float) -> None:
    """Write e^(f - middle) of each document, and its product with the document's weight as a loser."""
    f, e, loser, loser_e = documents.f, documents.e, documents.loser, documents.loser_e
    for i in range(unsigned(n)):
        e[i] = exponential(f[i] - middle)
        loser_e[i] = loser[i] * e[i]


@inlined()
def _write_gaps_below(loser: Any, documents: Documents, lowest: int, end: int) -> None:
    """Write the weights of the documents ``lowest <= j < end``, each times the gap of its level to that of `end`."""
    level = documents.level[end]
    for j in range(lowest, end):
        documents.weight[j] = loser[j] * (level - documents.level[j])


def _pairs_below(terms: Callable[..., Any], *, even: bool) -> Any:
    """Return the inner loop of `pair_loop`."""

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def below(x: Any, weight: Any, documents: Documents, i: int, k: int, j0: int, j1: int, parameter: Any) -> Any:
        """Add the pairs of i and k with ``j0 <= j < j1``; the shared loop halves the reads and writes of sums."""
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

    return below


def pair_loop(terms: Callable[..., Any], *, even: bool = False) -> Any:
    """Return a function that adds the derivatives of all pairs of two grades among the documents.

    ``terms(w, x_i, x_k, x_j, parameter)`` returns two numbers for each of the pairs (i, j) and (k, j): minus w times
    the first derivative by the score difference, and w times the second one. With `even` these are equal, and it
    returns one for each pair. The function is called as ``loop(x, loser, documents, start, u0, u1, base, by_gain,
    parameter)``, with the weights of the losers. The documents of grade u, ``u0 <= u < u1``, begin at ``start[u] -
    base``. With `by_gain` the weight of a pair is multiplied by the gap of levels.
    """
    below = _pairs_below(terms, even=even)

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def loop(
        x: Any, loser: Any, documents: Documents, start: Any, u0: int, u1: int, base: int, by_gain: bool, parameter: Any
    ) -> None:  # fmt: skip
        first, second, p, r = documents.first, documents.second, documents.p, documents.r
        weight = documents.weight if by_gain else loser
        lowest, n = unsigned(start[u0] - base), unsigned(start[u1] - base)
        for i in range(lowest, n):
            p[i] = r[i] = 0.0
        i = unsigned(start[u0 + 1] - base)
        for u in range(u0 + 1, u1):
            end, last = unsigned(start[u] - base), unsigned(start[u + 1] - base)
            if by_gain:
                _write_gaps_below(loser, documents, lowest, end)
            # The only document of a grade shares the loop with the first one of the next grade.
            across = unsigned(not by_gain and last - end == unsigned(1) and end - lowest > ALONE and last < n)
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
    """Return a function that writes the sum of values over each document's pairs with lower grades to `first`.

    ``terms(w, x_i, x_j, parameter)`` returns w times the value. The arguments of the function are those of
    `pair_loop`'s.
    """

    @inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
    def loop(
        x: Any, loser: Any, documents: Documents, start: Any, u0: int, u1: int, base: int, by_gain: bool, parameter: Any
    ) -> None:  # fmt: skip
        weight = documents.weight if by_gain else loser
        lowest = unsigned(start[u0] - base)
        for u in range(u0 + 1, u1):
            end = unsigned(start[u] - base)
            if by_gain:
                _write_gaps_below(loser, documents, lowest, end)
            for i in range(end, unsigned(start[u + 1] - base)):
                total, x_i = 0.0, x[i]
                for j in range(lowest, end):
                    total += terms(weight[j], x_i, x[j], parameter)
                documents.first[i] = documents.winner[i] * total

    return loop
