"""The steps of RankBoost+: coordinate descent on the weights of linearly independent cuts.

The weight of a pair is no product of two factors here, so all pairs are listed.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from boostplug.core.arrays import Floats, Ints
from boostplug.core.threads import run_evenly
from boostplug.data.grade_groups import ListedPairs, distinct
from boostplug.data.queries import Queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled
from boostplug.losses.base.pair_loss import pairs_to_learn
from boostplug.rankers.base import Round
from boostplug.weak_rankers import Cuts
from boostplug.weak_rankers.independent import IndependentSet, components_of_pairs
from boostplug.weak_rankers.stump import first_best

Sides = NDArray[np.bool_]

NO_EDGE = 1e-12  # share of the pairs' total weight; below it, rounding decides
_BLOCK = 256  # candidates tested for independence together
_TOGETHER = 32  # chosen cuts in one pass over the pairs; a pass costs as much as some ten cuts


def weight_of_cut(right: float, wrong: float, n_pairs: int) -> tuple[float, bool]:
    """Return ½ ln(right / wrong), and whether it was infinite and half a pair was added to both."""
    undefined = right <= 0.0 or wrong <= 0.0
    if undefined:
        right, wrong = right + 0.5 / n_pairs, wrong + 0.5 / n_pairs
    return float(0.5 * np.log(right / wrong)), undefined


class Descent:
    """State of RankBoost+: the chosen cuts with their weights η, and the distribution D over pairs.

    Attributes
    ----------
    winner, loser : ndarray of shape (n_pairs,)
        Rows of each pair. The pairs of one winner are mostly adjacent.
    weight : ndarray of shape (n_pairs,)
        Weights of sum 1.
    rows : ndarray
        The documents in pairs.
    chosen : list of int
        Cuts, with weights `eta`.
    span : IndependentSet
        The chosen cuts as vectors on `rows`.
    """

    def __init__(self, queries: Queries, cuts: Cuts) -> None:
        self.cuts = cuts
        self.winner, self.loser, weight = _listed(queries)
        self.weight = weight / weight.sum()
        self.rows = distinct(np.r_[self.winner, self.loser])
        winner, loser = (np.searchsorted(self.rows, of_pair) for of_pair in (self.winner, self.loser))
        self.span = IndependentSet(components_of_pairs(winner, loser, len(self.rows)))
        self.chosen: list[int] = []
        self.eta = np.empty(0)
        self._sides = np.empty((queries.n_rows, 0), np.float32)  # 1 above a chosen cut, 0 below; spare columns follow

    def vectors(self, cuts: Ints) -> Sides:
        """Return the sides of cuts as vectors on the documents in pairs."""
        return np.array([self.cuts.above(int(cut))[self.rows] for cut in cuts])

    def edges(self) -> Floats:
        """Return ε⁺ - ε⁻ of all cuts."""
        won_less_lost = np.zeros(len(self._sides))
        _add_weights(self.winner, self.loser, self.weight, won_less_lost)
        return self.cuts.sums_above(won_less_lost)

    def deltas(self, edges: Floats) -> Floats:
        """Return δ of the chosen cuts (33)."""
        n = len(self.chosen)
        separated = np.empty(n)

        def run(first: int, last: int) -> None:
            a, b = _TOGETHER * first, min(_TOGETHER * last, n)
            _separated(self.winner, self.loser, self.weight, self._sides, a, b, separated)

        run_evenly(run, -(-n // _TOGETHER), _TOGETHER * len(self.weight))
        deltas: Floats = -edges[self.chosen] + (self.weight.sum() - separated) * np.tanh(self.eta)
        return deltas

    def admit(self, cut: int, *, independent: bool = False) -> bool:
        """Choose a cut if it is independent of the chosen ones. The caller may pass `independent` if it knows."""
        above = self.cuts.above(cut)
        if not independent and not self.span.add(above[self.rows]):
            return False
        n = len(self.chosen)
        if n == self._sides.shape[1]:
            self._sides = np.hstack([self._sides, np.zeros((len(self._sides), max(16, n)), np.float32)])
        self._sides[:, n] = above
        self.chosen.append(cut)
        self.eta = np.r_[self.eta, 0.0]
        return True

    def along(self, place: int) -> Round:
        """Step along a chosen cut (lines 7 to 9 of Algorithm 1)."""
        cut, old = self.chosen[place], self.eta[place]
        right, wrong, tied = _split(self.winner, self.loser, self.weight, self.cuts.above(cut))
        # (34): e^{∓α'} / 2 cosh α' are logistic functions
        alpha, undefined = weight_of_cut(
            right + tied * expit(-2 * old), wrong + tied * expit(2 * old), len(self.weight)
        )
        delta = wrong - right + tied * np.tanh(old)
        return self.round(((cut, alpha),), alpha=alpha, z=self.shift(place, alpha), delta=delta, undefined=undefined)

    def round(self, weights: Iterable[tuple[int, float]], **record: float) -> Round:
        """Return a step that adds to the weights of some cuts."""
        terms = tuple((self.cuts.stump(cut), weight) for cut, weight in weights)
        return Round(terms, {name: float(value) for name, value in record.items()})

    def shift(self, place: int, alpha: float) -> float:
        """Add α to the weight of a chosen cut; return Z."""
        above, old = self.cuts.above(self.chosen[place]), self.eta[place]
        # (25): cosh(α + α') / cosh α'
        of_tied = float(expit(2 * old) * np.exp(alpha) + expit(-2 * old) * np.exp(-alpha))
        _reweigh(
            self.winner, self.loser, self.weight, above, np.array([of_tied, np.exp(alpha), np.exp(-alpha), of_tied])
        )
        self.eta[place] += alpha
        z = float(self.weight.sum())
        self.weight /= z
        return z


def efficient_steps(state: Descent, candidates: Ints, random: np.random.RandomState) -> Iterator[Round]:
    """Yield the steps of Algorithm 2: after the first dependent candidate, only independent candidates are kept."""
    order = random.permutation(len(candidates))
    candidate = np.zeros(len(state.cuts), bool)
    candidate[candidates] = True
    pruned = False
    while len(candidates):
        edges = state.edges()
        score = np.where(candidate, np.abs(edges), 0.0)
        score[state.chosen] = of_chosen = np.abs(state.deltas(edges))
        while True:
            cut = first_best(score, NO_EDGE)
            if score[cut] <= NO_EDGE:
                return
            if not candidate[cut]:  # chosen before
                break
            candidate[cut] = False
            if state.admit(cut, independent=pruned):
                break
            pruned = True
            candidate &= _independent(state, candidates[order], candidate)
            score[~candidate] = 0.0
            score[state.chosen] = of_chosen
        yield state.along(state.chosen.index(cut))


def _independent(state: Descent, order: Ints, candidate: Sides) -> Sides:
    """Return the cuts that, with the chosen ones, form a maximal independent set, examined in the given order."""
    span = deepcopy(state.span)
    kept = np.zeros_like(candidate)
    order = order[candidate[order]]
    for start in range(0, len(order), _BLOCK):
        if span.size == span.largest:
            break
        block = order[start : start + _BLOCK]
        kept[block[span.add_each(state.vectors(block))]] = True
    return kept


def _listed(queries: Queries) -> tuple[Ints, Ints, Floats]:
    """Return winner, loser and weight of the explicit pairs, or of all pairs of different grades within queries."""
    groups = pairs_to_learn(queries)
    if isinstance(groups, ListedPairs):
        return groups.winner, groups.loser, groups.weight
    blocks = groups.pairs()
    higher, lower = (np.concatenate(places) for places in zip(*blocks, strict=True))
    root = groups.sqrt_weight if len(groups.sqrt_weight) else np.ones(len(groups.rows))
    return groups.rows[higher], groups.rows[lower], root[higher] * root[lower]


@compiled()
def _add_weights(winner: Any, loser: Any, weight: Any, out: Any) -> None:
    """Add to each row the total weight of the pairs that it wins, less that of the pairs that it loses."""
    i, won = unsigned(winner[0]), 0.0
    for p in range(unsigned(len(weight))):
        if unsigned(winner[p]) != i:
            out[i] += won
            i, won = unsigned(winner[p]), 0.0
        won += weight[p]
        out[unsigned(loser[p])] -= weight[p]
    out[i] += won


@compiled()
def _split(winner: Any, loser: Any, weight: Any, above: Any) -> tuple[float, float, float]:
    """Return the total weights of the pairs that a cut ranks right, wrong, and ties."""
    right = wrong = tied = 0.0
    for p in range(unsigned(len(weight))):
        i, j = above[unsigned(winner[p])], above[unsigned(loser[p])]
        right += weight[p] if i and not j else 0.0
        wrong += weight[p] if j and not i else 0.0
        tied += weight[p] if i == j else 0.0
    return right, wrong, tied


@compiled()
def _reweigh(winner: Any, loser: Any, weight: Any, above: Any, factor: Any) -> None:
    """Multiply the weight of each pair by the factor of its sides: tied below, wrong, right, tied above."""
    for p in range(unsigned(len(weight))):
        weight[p] *= factor[2 * above[unsigned(winner[p])] + above[unsigned(loser[p])]]


@compiled()
def _separated(winner: Any, loser: Any, weight: Any, sides: Any, first: int, last: int, out: Any) -> None:
    """Write the total weight of the pairs that each cut ``first <= s < last``, a column of `sides`, does not tie."""
    a, b = unsigned(first), unsigned(last)
    out[a:b] = 0.0
    above = np.zeros(len(out))  # weights of one winner's pairs whose loser is above
    i, total = unsigned(winner[0]), 0.0
    for p in range(unsigned(len(weight) + 1)):
        if p == unsigned(len(weight)) or unsigned(winner[p]) != i:
            for s in range(a, b):
                out[s] += total - above[s] if sides[i, s] else above[s]
                above[s] = 0.0
            if p == unsigned(len(weight)):
                break
            i, total = unsigned(winner[p]), 0.0
        total += weight[p]
        w, side = weight[p], sides[unsigned(loser[p])]
        for s in range(a, b):
            above[s] += w * np.float64(side[s])
