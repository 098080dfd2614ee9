r"""NDCG_Boost's Algorithm 1 (Valizadegan et al., NIPS 2009), all ordered pairs and all stumps: slow, and the yardstick.

Which F. Eq. 6 gives the rankings' probabilities in terms of the ranking score F(d). From Eq. 9 on the paper writes
F_i = 2F(d_i), and everything below is in F_i: A_i (Eq. 10), M (Eq. 11), γ (Eq. 14), w (Eq. 16), α (Eq. 15), and the
update of line 7, F_i ← F_i + α f_i. The ranking score is F_i / 2, in the same order. With two documents
σ(F_j - F_i) is then exactly the probability, by Eq. 6, that j comes before i.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rankers.problems import Stump, first_best, stumps


def sigmoid(x):
    """Return σ(x) without overflow."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def gamma(x):
    """Return Eq. 14, σ(x)(1 - σ(x)), an even function, without overflow."""
    t = math.exp(-abs(x))
    return t / (1.0 + t) ** 2


@dataclass(frozen=True)
class Collection:
    """The queries with their gains and normalisers.

    Attributes: `boundaries` of the queries, `gain` G_i = 2^r - 1 per row, and `share` per query: v_q / Z_q, where Z_q
    is the ideal DCG of the whole list and v_q the query's weight, or 0 where Z_q = 0. Eqs. 15 and 16 read 1/Z_k as
    `share`, M and H besides divide by n = Σ v.
    """

    boundaries: tuple[int, ...]
    gain: tuple[float, ...]
    share: tuple[float, ...]
    n: float
    log: object


def collection(grades, boundaries, query_weight=None, log=math.log2):
    """Return the queries as the equations need them.

    `log` is the base of the discount 1/log(1 + j). The paper leaves it open. M and w scale with it (natural: ln 2 times
    those of base 2); H, the stumps and α do not depend on it. Proposition 1 reads log as natural.
    """
    gain = tuple(2.0**r - 1.0 for r in grades)
    n_queries = len(boundaries) - 1
    weight = [1.0] * n_queries if query_weight is None else list(query_weight)
    share = []
    for v, (first, last) in zip(weight, pairwise(boundaries), strict=True):
        ideal = math.fsum(g / log(1 + j) for j, g in enumerate(sorted(gain[first:last], reverse=True), 1))
        share.append(v / ideal if ideal > 0 else 0.0)
    return Collection(tuple(boundaries), gain, tuple(share), math.fsum(weight), log)


def queries_of(data):
    """Yield the share 1/Z_k and the rows of every query."""
    for share, (first, last) in zip(data.share, pairwise(data.boundaries), strict=True):
        yield share, range(first, last)


def later(F, data):
    """Return A_i of Eq. 10: the approximate number of documents ranked before i."""
    A = np.zeros(len(data.gain))
    for _, rows in queries_of(data):
        for i in rows:
            A[i] = math.fsum(sigmoid(F[j] - F[i]) for j in rows if j != i)
    return A


def objective_m(F, data):
    """Return M of Eq. 11, which the algorithm lowers."""
    A = later(F, data)
    return math.fsum(share * data.gain[i] * A[i] for share, rows in queries_of(data) for i in rows) / data.n


def objective_h(F, data):
    """Return H by Eq. 9, an estimate of the expected NDCG. It is no bound: only Eq. 3, with the exact ranks, is one."""
    A = later(F, data)
    return (
        math.fsum(share * data.gain[i] / data.log(2.0 + A[i]) for share, rows in queries_of(data) for i in rows)
        / data.n
    )


def document_weights(F, data):
    """Return w of Eq. 16, which is -n ∂M/∂F_i. Equal grades add nothing; each query's weights sum to 0."""
    w = np.zeros(len(data.gain))
    for share, rows in queries_of(data):
        for i in rows:
            w[i] = math.fsum((data.gain[i] - data.gain[j]) * share * gamma(F[i] - F[j]) for j in rows if j != i)
    return w


def up_and_down(F, f, data):
    """Return numerator and denominator of Eq. 15, over ordered pairs i ≠ j with f_j < f_i and with f_j > f_i.

    Pairs of equal grades belong to both sums, as Theorem 1 writes them. They drop out of the difference, which is
    Σ w f. Eq. 15's α lowers nM by at least (√numerator - √denominator)².
    """
    numerator, denominator = [], []
    for share, rows in queries_of(data):
        for i in rows:
            for j in rows:
                if i == j or f[i] == f[j]:
                    continue
                (numerator if f[i] > f[j] else denominator).append(data.gain[i] * share * gamma(F[i] - F[j]))
    return math.fsum(numerator), math.fsum(denominator)


def combination_weight(numerator, denominator, max_alpha):
    """Return α of Eq. 15, held within ±max_alpha (it is infinite where one of the sums, not both, is 0)."""
    if denominator == 0.0 or numerator == 0.0:
        return math.copysign(max_alpha, numerator - denominator)
    return min(max(0.5 * math.log(numerator / denominator), -max_alpha), max_alpha)


@dataclass(frozen=True)
class Round:
    """What one round did; `m` and `h` are those of F after it.

    `stump`, `alpha`: F ← F + α·1[x > θ]; α < 0 stands for the complement of the stump (see `ndcg_boost`). `wf` = Σ w f
    for f = 1[x > θ], negative with α.
    """

    stump: Stump
    alpha: float
    wf: float
    m: float
    h: float


def ndcg_boost(X, data, n_rounds, max_alpha=10.0):
    """Run Algorithm 1; return the rounds and the F of Eq. 12 per row, twice the ranking score.

    The classifier that maximises Eq. 17, Σ|w| f y = Σ w f, is the best of all stumps in both polarities. The complement
    1 - f of a stump has the negative Σ w f and swaps the two sums of Eq. 15, so its step α'(1 - f) equals -α' f but for
    a constant added to every document. It is therefore written as f = 1[x > θ] with a negative α = -α', and the
    stump taken is the one with the largest |Σ w f|.

    It stops early where the best stump has no effect: numerator and denominator equal, above all where both are 0
    (no two documents of different grades parted by any stump). `max_alpha` bounds |α| in every round.
    """
    candidates = stumps(X)
    F, rounds = np.zeros(len(X)), []
    for _ in range(n_rounds if candidates else 0):
        w = document_weights(F, data)
        sums = [math.fsum(w[stump.above(X)]) for stump in candidates]
        chosen = first_best(np.abs(sums))
        f = candidates[chosen].above(X).astype(float)
        numerator, denominator = up_and_down(F, f, data)
        if numerator == denominator:
            break
        alpha = combination_weight(numerator, denominator, max_alpha)
        F = F + alpha * f
        rounds.append(Round(candidates[chosen], alpha, sums[chosen], objective_m(F, data), objective_h(F, data)))
    return rounds, F
