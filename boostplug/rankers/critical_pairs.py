"""The critical pairs of RankBoost and MPBoost, and sums over them: weights by cut and row, errors.

A cut is given by the documents above it. It ranks a pair (i preferred to j) right if only i is above, wrong if only j
is above, and otherwise ties it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_evenly
from boostplug.data.grade_groups import ListedPairs
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled
from boostplug.losses import BinaryDistance
from boostplug.losses.base.pair_loss import pairs_to_learn
from boostplug.losses.directed_distance import Distance, distances_of_gaps
from boostplug.weak_rankers.cuts import CutCodes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sides = NDArray[np.uint8]

_ONE = BinaryDistance()
_CUTS_AT_ONCE = 8  # 4.0 ns a pair, hardly more than one cut (3.3); 16 take 6.7 ns (400,000 pairs, one core)


class CriticalPairs(NamedTuple):
    """Pairs one by one: rows of winner and loser, initial weights of sum 1, and directed distances."""

    winner: Ints
    loser: Ints
    weight: Floats
    distance: Floats


def refuse_no_pairs(queries: Queries) -> None:
    """Raise if no pair has a positive weight."""
    if len(pairs_to_learn(queries).query):
        return
    cause = why_nothing_is_learnt(queries)
    if queries.pairs is not None:
        raise ValueError(
            f"pairs holds no pair of positive weight between rows of positive weight: {cause}; pass at least one"
        )
    raise ValueError(f"y holds no pair to learn from: {cause}; check y, the weights and the queries")


def critical_pairs(queries: Queries, distance: Distance = _ONE) -> CriticalPairs:
    """Return the explicit pairs, or all pairs of different grades within queries; at least one."""
    refuse_no_pairs(queries)
    groups = pairs_to_learn(queries)
    if isinstance(groups, ListedPairs):
        winner, loser, weight, gap = groups.winner, groups.loser, groups.weight, groups.margin
    else:
        blocks = groups.pairs()
        higher, lower = (np.concatenate(places) for places in zip(*blocks, strict=True))
        grade, root = np.repeat(groups.group_grade, np.diff(groups.group_start)), groups.sqrt_weight
        winner, loser, gap = groups.rows[higher], groups.rows[lower], grade[higher] - grade[lower]
        weight = root[higher] * root[lower] if len(root) else np.ones(len(gap))
    return CriticalPairs(winner, loser, weight / weight.sum(), distances_of_gaps(distance, gap))


def separated_by_chosen(pairs: CriticalPairs, weight: Floats, sides: Sides, n_cuts: int) -> Floats:
    """Return the total weight of the pairs that each of the first cuts (columns of `sides`) does not tie."""
    out = np.empty(n_cuts)
    work = len(weight) // _CUTS_AT_ONCE
    run_evenly(lambda a, b: _separated_by_chosen(pairs, weight, sides, a, b, out), n_cuts, work)
    return out


def separated_by_all(pairs: CriticalPairs, weight: Floats, cuts: CutCodes) -> Floats:
    """Return the total weight of the pairs that each cut of all features does not tie, in O(F m)."""
    out = np.empty(cuts.start[-1])
    run_evenly(lambda a, b: _separated_by_all(pairs, weight, cuts, a, b, out), len(cuts.codes), len(weight))
    return out


@compiled()
def split_weight(pairs: Any, weight: Any, above: Any) -> tuple[float, float, float]:
    """Return the total weights of the pairs that a cut ranks right, wrong, and ties."""
    winner, loser = pairs.winner, pairs.loser
    total = np.zeros(4)
    for p in range(unsigned(len(weight))):
        total[2 * above[winner[p]] + above[loser[p]]] += weight[p]
    return total[2], total[1], total[0] + total[3]


@compiled(error_model="numpy")
def _separated_by_chosen(pairs: Any, weight: Any, sides: Any, first: int, last: int, out: Any) -> None:
    winner, loser = pairs.winner, pairs.loser
    n_cuts = unsigned(last - first)
    total = np.zeros(n_cuts)
    for p in range(unsigned(len(weight))):
        i, j = sides[winner[p], first:last], sides[loser[p], first:last]
        for s in range(n_cuts):
            total[s] += weight[p] * float(i[s] ^ j[s])
    out[first:last] = total


@compiled()
def _separated_by_all(pairs: Any, weight: Any, cuts: Any, first: int, last: int, out: Any) -> None:
    # Each pair is added at the higher of its two codes, and subtracted at the lower one.
    winner, loser, start = pairs.winner, pairs.loser, cuts.start
    of_row = np.empty(cuts.codes.shape[1])
    for k in range(first, last):
        code, n_cuts = cuts.codes[k], start[k + 1] - start[k]
        of_row[:] = 0.0
        i, own = unsigned(winner[0]), 0.0
        for p in range(unsigned(len(weight))):
            if unsigned(winner[p]) != i:  # pairs of one winner are mostly adjacent
                of_row[i] += own
                i, own = unsigned(winner[p]), 0.0
            j = unsigned(loser[p])
            signed = weight[p] * (int(code[i] > code[j]) - int(code[i] < code[j]))  # no branch
            own += signed
            of_row[j] -= signed
        of_row[i] += own
        bins = np.zeros(n_cuts + 1)
        for row in range(unsigned(len(of_row))):
            bins[code[row]] += of_row[row]
        total = 0.0
        for c in range(n_cuts, 0, -1):
            total += bins[c]
            out[start[k] + c - 1] = total


@compiled()
def potentials(pairs: Any, weight: Any, out: Any) -> None:
    """Write, for each row, the total weight of the pairs that it wins, less that of the pairs that it loses."""
    winner, loser = pairs.winner, pairs.loser
    out[:] = 0.0
    for p in range(unsigned(len(weight))):
        out[winner[p]] += weight[p]
        out[loser[p]] -= weight[p]


@compiled()
def reweigh(pairs: Any, weight: Any, above: Any, right: float, wrong: float, tied: float) -> None:
    """Multiply the weight of each pair by the factor for pairs that a cut ranks right, wrong, or ties."""
    winner, loser = pairs.winner, pairs.loser
    factor = np.array([tied, wrong, right, tied])
    for p in range(unsigned(len(weight))):
        weight[p] *= factor[2 * above[winner[p]] + above[loser[p]]]


@compiled()
def exponential_weights(pairs: Any, scores: Any, out: Any) -> float:
    """Write the initial weight times :math:`e^{-d(F_i - F_j)}` of each pair, divided by e^shift; return the shift."""
    winner, loser, weight, distance = pairs.winner, pairs.loser, pairs.weight, pairs.distance
    shift = -np.inf
    for p in range(unsigned(len(weight))):
        out[p] = distance[p] * (scores[loser[p]] - scores[winner[p]])
        shift = max(shift, out[p])
    for p in range(unsigned(len(weight))):
        out[p] = weight[p] * math.exp(out[p] - shift)
    return shift


@compiled()
def tilted(
    pairs: Any, weight: Any, sides: Any, eta: Any, beta: Any, step: float, out: Any
) -> tuple[float, float, float]:
    r"""Return RankBoost+'s loss at ``eta + step · beta``, its derivative by the step, and a shift.

    With α the step, the factor of a pair is a product over the cuts s: of :math:`e^{\mp\alpha\beta_s}` if s ranks it
    right or wrong, and of :math:`\cosh(\eta_s + \alpha\beta_s) / \cosh\eta_s` if s ties it. `weight` holds the pairs'
    weights at ``eta``, and `out` receives the new ones. All results are divided by e^shift, because the weights of cuts
    may be large where they cancel.
    """
    winner, loser = pairs.winner, pairs.loser
    n_cuts = len(eta)
    tie, slope = np.empty(n_cuts), np.empty(n_cuts)
    for s in range(n_cuts):
        x, y = abs(eta[s] + step * beta[s]), abs(eta[s])
        tie[s] = (x + math.log1p(math.exp(-2.0 * x))) - (y + math.log1p(math.exp(-2.0 * y)))
        slope[s] = beta[s] * math.tanh(eta[s] + step * beta[s])
    rates = np.empty(len(weight))
    shift = -np.inf
    for p in range(len(weight)):
        i, j = winner[p], loser[p]
        exponent, rate = 0.0, 0.0
        for s in range(unsigned(n_cuts)):
            order = float(sides[i, s]) - float(sides[j, s])
            exponent += tie[s] if order == 0.0 else -step * beta[s] * order
            rate += slope[s] if order == 0.0 else -beta[s] * order
        out[p], rates[p] = exponent, rate
        shift = max(shift, exponent)
    value, derivative = 0.0, 0.0
    for p in range(len(weight)):
        out[p] = weight[p] * math.exp(out[p] - shift)
        value += out[p]
        derivative += out[p] * rates[p]
    return value, derivative, shift


@compiled()
def misordered_and_tied(pairs: Any, scores: Any) -> tuple[float, float]:
    """Return the total initial weights of the pairs in the wrong order, and of those with equal scores."""
    winner, loser, weight = pairs.winner, pairs.loser, pairs.weight
    wrong, tied = 0.0, 0.0
    for p in range(unsigned(len(weight))):
        i, j = scores[winner[p]], scores[loser[p]]
        wrong += weight[p] if i < j else 0.0
        tied += weight[p] if i == j else 0.0
    return wrong, tied
