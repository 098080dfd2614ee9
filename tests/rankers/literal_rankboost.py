"""RankBoost and RankBoost+ straight from Connamacher et al. (2020): every pair, every ranker, nothing clever.

The yardstick for the fast rankers. `H` is (n_rankers, n_documents) of 0 and 1, `pairs` the critical pairs. One rule for
ties between rankers: the first index of `H` whose value is within 1e-12, relative, of the largest. An edge of at most
1e-12 counts as none, since the edge of a ranker just used is zero up to rounding.
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from rankers.problems import stumps as every_stump

TIE = 1e-12
NO_EDGE = 1e-12
SINGULAR = 1e-9


class Pairs(NamedTuple):
    """Critical pairs: rows of the preferred and the other document, and D_1, which sums to 1."""

    winner: np.ndarray
    loser: np.ndarray
    weight: np.ndarray


def pairs_of(winner, loser, weight=None):
    """Return the pairs with normalised weights (equal by default); a pair of weight 0 is no pair."""
    winner, loser = np.asarray(winner), np.asarray(loser)
    weight = np.ones(len(winner)) if weight is None else np.asarray(weight, float)
    kept = weight > 0
    return Pairs(winner[kept], loser[kept], weight[kept] / weight.sum())


def graded_pairs(labels, boundaries, row_weight=None):
    """Return all pairs of different grades within a query, each weighing the root of its rows' weights."""
    w = np.ones(len(labels)) if row_weight is None else row_weight
    found = [
        (i, j, math.sqrt(w[i] * w[j]))
        for first, last in pairwise(boundaries)
        for i in range(first, last)
        for j in range(first, last)
        if labels[i] > labels[j]
    ]
    return pairs_of(*map(list, zip(*found, strict=True)))


# What is measured


def differences(H, pairs):
    """Return y(h(x') - h(x)), (n_rankers, n_pairs): 1 right, -1 reversed, 0 tied."""
    H = np.asarray(H, int)
    return H[:, pairs.winner] - H[:, pairs.loser]


def r1(scores, pairs):
    """Return the D_1 mass of reversed and tied pairs, Eq. 3."""
    return float(pairs.weight[scores[pairs.winner] <= scores[pairs.loser]].sum())


def r2(scores, pairs):
    """Return the D_1 mass of reversed pairs and half that of tied ones, Eq. 4."""
    reversed_ = pairs.weight[scores[pairs.winner] < scores[pairs.loser]].sum()
    tied = pairs.weight[scores[pairs.winner] == scores[pairs.loser]].sum()
    return float(reversed_ + 0.5 * tied)


def e1(scores, pairs):
    """Return the exponential error, Eq. 5."""
    return float(pairs.weight @ np.exp(-(scores[pairs.winner] - scores[pairs.loser])))


def omega(d, weight):
    """Return ω*_2 of one ranker with this weight on every pair, Eq. 23."""
    return np.where(d > 0, np.exp(-weight), np.where(d < 0, np.exp(weight), np.cosh(weight)))


def e2(eta, H, pairs):
    """Return F2(η), Eq. 22: one total weight per ranker of `H`, ties count cosh."""
    product = np.ones(len(pairs.weight))
    for d, weight in zip(differences(H, pairs), eta, strict=True):
        product *= omega(d, weight)
    return float(pairs.weight @ product)


# Independence


def components(n_documents, pairs):
    """Return a name of each document's connected component in the pair graph."""
    parent = list(range(n_documents))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for i, j in zip(pairs.winner, pairs.loser, strict=True):
        parent[root(i)] = root(j)
    return np.array([root(i) for i in range(n_documents)])


def centred(H, pairs):
    """Return `H` less its mean in every component, so that documents in no pair are 0.

    These rows are dependent exactly where the rows of `differences` are.
    """
    V = np.array(H, float)
    component = components(V.shape[1], pairs)
    for c in np.unique(component):
        V[:, component == c] -= V[:, component == c].mean(axis=1, keepdims=True)
    return V


def depends(V, basis, j):
    """Return whether centred ranker j lies in the span of the (independent) basis."""
    return int(np.linalg.matrix_rank(V[[*basis, j]], tol=SINGULAR)) == len(basis)


def independent_subset(V, basis, candidates):
    """Return the candidates that, taken in this order, each leave the span of basis and those before."""
    kept = []
    for j in candidates:
        if not depends(V, [*basis, *kept], j):
            kept.append(j)
    return kept


# The algorithms


class Round(NamedTuple):
    """One round; its errors are those of the scores after it."""

    ranker: int
    alpha: float
    z: float
    delta: float  # ε⁻ - ε⁺, plus ε⁰ tanh(α') in RankBoost+
    e1: float
    e2: float  # of RankBoost+


@dataclass
class Run:
    """The rounds, and why they ended."""

    rounds: list[Round] = field(default_factory=list)
    stopped: str = "rounds"  # or "no edge", "undefined weight", "infinite weight"


def masses(d, distribution):
    """Return ε⁺, ε⁻ and ε⁰ of every ranker, Eq. 8."""
    return (d > 0) @ distribution, (d < 0) @ distribution, (d == 0) @ distribution


def first_largest(values):
    """Return the first index whose value is within 1e-12, relative, of the largest."""
    best = np.max(values)
    return int(np.flatnonzero(values >= best - TIE * abs(best))[0])


def half_log_ratio(a, b):
    """Return ½ ln(a/b), infinite where one of the two is 0."""
    if a == 0 or b == 0:
        return -math.inf if a == 0 else math.inf
    return 0.5 * math.log(a / b)


def _on_e1(H, pairs, rounds, allow_negative, ratio, needs_both):
    """Run Algorithm 1 with update (9); α = ½ ln of `ratio` of ε⁺, ε⁻, ε⁰."""
    d = differences(H, pairs)
    run, D, scores = Run(), pairs.weight, np.zeros(np.shape(H)[1])
    while len(run.rounds) < rounds:
        right, wrong, tied = masses(d, D)
        edge = right - wrong
        j = first_largest(np.abs(edge) if allow_negative else edge)
        if (abs(edge[j]) if allow_negative else edge[j]) <= NO_EDGE:
            run.stopped = "no edge"
            break
        if needs_both and min(right[j], wrong[j]) == 0 and tied[j] > 0:
            run.stopped = "undefined weight"
            break
        alpha = half_log_ratio(*ratio(right[j], wrong[j], tied[j]))
        if math.isinf(alpha):  # a perfect ranker, met in the first round or never
            run.stopped = "infinite weight"
            break
        scores = scores + alpha * np.asarray(H[j])
        weighted = D * np.exp(-alpha * d[j])
        z = float(weighted.sum())
        D = weighted / z
        run.rounds.append(Round(j, alpha, z, float(wrong[j] - right[j]), e1(scores, pairs), math.nan))
    return run


def discrete(H, pairs, rounds, allow_negative=False):
    """Run Rb-d: largest ε⁺ - ε⁻ (its absolute value if `allow_negative`), α = ½ ln(ε⁺/ε⁻), Eq. 13, 14.

    Stops "no edge" where no ranker has one, and "undefined weight" before a round whose ranker reverses nothing (or
    orders nothing right) and ties something, and "infinite weight" before that of a perfect ranker.
    """
    return _on_e1(H, pairs, rounds, allow_negative, lambda right, wrong, tied: (right, wrong), needs_both=True)


def continuous(H, pairs, rounds):
    """Run Rb-c: largest |r|, which minimises (18), r = ε⁺ - ε⁻; α = ½ ln((1 + r)/(1 - r)), Eq. 19.

    The ratio is taken as (ε⁺ + ε⁰/2)/(ε⁻ + ε⁰/2), Eq. 39, which is exact for a perfect ranker. Stops as `discrete`.
    """

    def ratio(right, wrong, tied):
        return right + tied / 2, wrong + tied / 2

    return _on_e1(H, pairs, rounds, True, ratio, needs_both=False)


def slopes(d, distribution, eta):
    """Return δ of every ranker, Eq. 33: ∂F2/∂η_s over F2, where the distribution is that of η."""
    right, wrong, tied = masses(d, distribution)
    return wrong - right + tied * np.tanh(eta)


def plus(H, pairs, rounds, order):
    """Run Rb+, Algorithm 2: the largest |δ|, Eq. 33, α by Eq. 34, update (25); δ and α know the ranker's weight so far.

    Candidates are S, the rankers chosen, and R, at first all others. A candidate of R that turns out dependent on S is
    dropped and the same round goes on; the first time this happens R is also pruned to those that, taken in `order` (a
    permutation of all rankers), are independent of S and of those kept before. Ties go by index of `H`.

    Stops "no edge", and "infinite weight" before the round of a perfect ranker.
    """
    d, V = differences(H, pairs), centred(H, pairs)
    run, D, eta, basis, rest, pruned = Run(), pairs.weight, np.zeros(len(H)), [], list(range(len(H))), False
    while len(run.rounds) < rounds:
        delta = slopes(d, D, eta)
        candidates = sorted({*basis, *rest})
        j = candidates[first_largest(np.abs(delta[candidates]))]
        if abs(delta[j]) <= NO_EDGE:
            run.stopped = "no edge"
            break
        if j not in basis:
            if depends(V, basis, j):
                rest.remove(j)
                if not pruned:
                    rest = independent_subset(V, basis, [k for k in order if k in rest and k not in basis])
                    pruned = True
                continue
            basis.append(j)
        before = eta[j]
        right, wrong, tied = (mass[j] for mass in masses(d, D))
        alpha = half_log_ratio(
            right + tied * math.exp(-before) / (2 * math.cosh(before)),
            wrong + tied * math.exp(before) / (2 * math.cosh(before)),
        )
        if math.isinf(alpha):
            run.stopped = "infinite weight"
            break
        weighted = D * omega(d[j], before + alpha) / omega(d[j], before)
        z = float(weighted.sum())
        D = weighted / z
        eta[j] += alpha
        run.rounds.append(Round(j, alpha, z, float(delta[j]), e1(eta @ H, pairs), e2(eta, H, pairs)))
    return run


# Stumps


def stumps(X):
    """Return [(feature, threshold)] and H, h = 1[x > threshold], by feature and then ascending threshold."""
    found = every_stump(X)
    H = np.array([stump.above(X) for stump in found], int).reshape(len(found), len(X))
    return [(stump.feature, stump.threshold) for stump in found], H
