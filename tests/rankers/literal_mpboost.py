"""MPBoost's Algorithm 1 (Zhu et al., CIKM 2009), all ordered pairs and all stumps: slow, and the yardstick."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rankers.problems import Stump, first_best, stumps

SMALLEST_CUT = 1e-10
"""Stumps that part a smaller share of the weight of all ordered pairs are passed over."""


@dataclass(frozen=True)
class OrderedPairs:
    """The index set I: (i, j) and (j, i) for every two rows of one query whose grades differ.

    Attributes: the rows `i` and `j`, their directed distance `d` (antisymmetric), and the initial weight `w`, sum 1.
    """

    i: np.ndarray
    j: np.ndarray
    d: np.ndarray
    w: np.ndarray


def ordered_pairs(grades, boundaries, distance, weight=None):
    """Return I with w⁽¹⁾ = 1/|I|, or ∝ √(w_i w_j) where the rows carry weights; pairs of weight 0 are left out.

    `distance` is that of a gap above 0; the directed one is odd.
    """
    weight = np.ones(len(grades)) if weight is None else np.asarray(weight, float)
    found = []
    for first, last in pairwise(boundaries):
        for i in range(first, last):
            for j in range(first, last):
                if grades[i] != grades[j] and weight[i] > 0 and weight[j] > 0:
                    gap = grades[i] - grades[j]
                    d = float(np.sign(gap) * distance(abs(gap)))
                    found.append((i, j, d, math.sqrt(weight[i]) * math.sqrt(weight[j])))
    total = math.fsum(v for *_, v in found)
    return OrderedPairs(
        np.array([i for i, *_ in found], int),
        np.array([j for _, j, *_ in found], int),
        np.array([d for _, _, d, _ in found], float),
        np.array([v / total for *_, v in found], float),
    )


@dataclass(frozen=True)
class Round:
    """What one round did; `misordering` and `bound` are those of F after it.

    `stump`, `a` and `z`: f = a·1[x > θ] and the normaliser Z_t. `misordering`: the share of w⁽¹⁾ on pairs whose scores
    are reversed or tied. `bound`: ΠZ up to here, Theorem 1's bound of the misordering. `decrease`: how much f lowers
    what the round minimises (see `mpboost`).
    """

    stump: Stump
    a: float
    z: float
    misordering: float
    bound: float
    decrease: float


def best_step(above, pairs, w):
    """Return the best a for f = a·1[above] and the decrease it brings; (0, -inf) where the cut is too small.

    A₁ holds the pairs with i above and j below. B₂, the same pairs turned round, has the same weights and the opposite
    distances, hence the factors 2 of J_wse and the halves that cancel in a.
    """
    cut = above[pairs.i] & ~above[pairs.j]
    separated = math.fsum(w[cut])
    if not cut.any() or separated < SMALLEST_CUT * math.fsum(w):
        return 0.0, -math.inf
    slope = math.fsum(w[cut] * pairs.d[cut])
    return slope / separated, 2.0 * slope**2 / separated


def misordering(scores, pairs):
    """Return the left side of Theorem 1: the share of w⁽¹⁾ on pairs in the wrong order, ties included."""
    wrong = np.sign(scores[pairs.i] - scores[pairs.j]) != np.sign(pairs.d)
    return math.fsum(pairs.w[wrong])


def mpboost(X, pairs, n_rounds):
    """Run Algorithm 1; return the rounds.

    Parameters
    ----------
    X : (n_rows, n_features)
    pairs : OrderedPairs
    n_rounds : int
        Fewer are run where no pair is left to part, or where no stump has a step other than 0.

    Notes
    -----
    Each round minimises Eq. 12, J_wse(f) = Σ_I w (d - (f_i - f_j))², hence a = Σ_{A₁} wd / Σ_{A₁} w and a decrease of
    2 (Σ_{A₁} wd)² / Σ_{A₁} w against f = 0.

    """
    candidates = stumps(X)
    scores, w, bound, rounds = np.zeros(len(X)), pairs.w, 1.0, []
    for _ in range(n_rounds if candidates else 0):
        steps = [best_step(stump.above(X), pairs, w) for stump in candidates]
        decreases = np.array([decrease for _, decrease in steps])
        if decreases.max() <= 0.0:
            break
        chosen = first_best(decreases)
        a = steps[chosen][0]
        f = a * candidates[chosen].above(X)
        w = w * np.exp(-pairs.d * (f[pairs.i] - f[pairs.j]))
        z = math.fsum(w)
        w = w / z
        scores, bound = scores + f, bound * z
        decrease = decreases[chosen]
        rounds.append(Round(candidates[chosen], a, z, misordering(scores, pairs), bound, decrease))
    return rounds
