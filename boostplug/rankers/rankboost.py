"""`RankBoostRanker`: RankBoost, discrete and continuous, and RankBoost+."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from boostplug.core.checks import check_choice, check_flag
from boostplug.data.grade_groups import distinct
from boostplug.data.queries import Queries
from boostplug.rankers import critical_pairs as kernels
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.rankers.critical_pairs import critical_pairs
from boostplug.weak_rankers import Cuts
from boostplug.weak_rankers.independent import IndependentSet, components_of_pairs
from boostplug.weak_rankers.stump import first_best

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sides = NDArray[np.uint8]

_LOG_LARGEST = float(np.log(np.finfo(np.float64).max))
_SMALLEST_WEIGHT = 1e-200  # of a pair; smaller weights may underflow and lose their digits
_NO_EDGE = 1e-12  # share of the pairs' total weight; below it, rounding decides
_BLOCK = 256  # candidates tested for independence together


@dataclass(kw_only=True, eq=False, repr=False)
class RankBoostRanker(ReferenceRanker):
    r"""RankBoost on decision stumps: the predecessors of Freund et al. (2003), and RankBoost+.

    Connamacher et al., "RankBoost+: an improvement to RankBoost", Machine Learning 109 (2020); equations are numbered
    in that paper. The critical pairs are those of different grades in one query, or `pairs`. Their weights
    :math:`D_1` are proportional to :math:`\sqrt{w_i w_j}` of their rows. Each round picks a stump h with values 0 and
    1; :math:`\varepsilon^+, \varepsilon^-, \varepsilon^0` are the total weights of the pairs that h ranks right, ranks
    wrong, and ties.

    - "discrete" (Rb-d): :math:`\alpha = \frac12 \ln(\varepsilon^+ / \varepsilon^-)` (14), on
      :math:`\delta = \varepsilon^- - \varepsilon^+` (13).
    - "continuous" (Rb-c): :math:`\alpha = \frac12 \ln\frac{1 + r}{1 - r}` (19), :math:`r = \varepsilon^+ -
      \varepsilon^-`. Both cost O(F n + m) a round for m pairs.
    - "plus" (Rb+): coordinate descent on :math:`\hat E_2` over linearly independent stumps. Tied pairs are weighted by
      cosh (25), :math:`\delta = \varepsilon^- - \varepsilon^+ + \varepsilon^0 \tanh \alpha'` (33), :math:`\alpha` by
      (34), with α' the current weight of h. A round costs O(F n), and O(m) for each stump chosen so far. Memory is
      O(n (F + R) + m) for R chosen stumps. While "efficient" drops the dependent ones, R is the number of independent
      stumps, at most n.

    Parameters
    ----------
    variant : {"plus", "discrete", "continuous"}, default "plus"
    strategy : {"efficient", "optimal"}, default "efficient"
        How "plus" treats stumps that are linear combinations of chosen ones. "efficient" (the paper's Algorithm 2)
        drops them. "optimal" also descends along them, on all weights of the combination at once. It needs memory for
        O(cuts · rank) numbers and is meant for small tasks.
    n_estimators : int, default 100
        Number of rounds.
    max_thresholds : int or None, default 255
        Features with more cuts keep a random subset of this size.
    allow_negative : bool, default True
        True: choose the largest :math:`|\delta|`. A stump may then have a negative weight and prefer low values (the
        paper's leaf labels by weighted majority vote, and Observation 1). False: only stumps that prefer high values.
        RankBoost+ does not restrict its weights and ignores this.
    record_e2 : bool, default False
        Record :math:`\hat E_2` for "discrete" and "continuous" too, on the independent stumps chosen so far. This
        costs O(m) per such stump and round.
    random_state : int, RandomState or None, default None
        Seed of the random subsets of `max_thresholds`, and of the order in which "efficient" looks for independent
        stumps.

    Attributes
    ----------
    model_ : Ensemble
    history_ : dict of ndarray of shape (n_rounds,)
        - ``alpha``; of a combination, the step along it;
        - ``z`` (:math:`Z_t`), ``delta``, and ``bound``, :math:`\exp(-\frac12 \sum_t \delta_t^2)`, which bounds
          :math:`\prod Z_t` (Theorems 1 and 2);
        - ``e1``, ``e2``, ``r1``, ``r2``: :math:`\hat E_1, \hat E_2, \hat R_1, \hat R_2` in training; ties are full
          errors in :math:`\hat R_1`, half in :math:`\hat R_2`;
        - ``undefined``: 1 if α was infinite (see Notes).
    stop_reason_ : str

    Notes
    -----
    - α is infinite if a stump makes no error. It is then computed as if half a pair of mean weight were ranked right
      and half a pair wrong, and ``undefined`` is 1. The paper leaves this open. To stop there would end Rb-d on small
      tasks in its first rounds; an unbounded weight would let one stump outweigh all others.
    - An "optimal" step along a combination may break the last inequality of Theorem 2: it decreases the loss by less
      than the factor :math:`e^{-\delta^2/2}`. :math:`\prod Z_t = \hat E_2` always holds.
    - Stumps that split the documents in pairs alike are one ranker. The authors' code also treats a stump as a
      duplicate of a constant, and stops when one is chosen twice in a row. The paper and this class do not.
    - Linear dependence is tested by Gram-Schmidt with re-orthogonalisation on document vectors, centred by connected
      component of the graph of pairs; not by the diagonal of a QR decomposition of pair vectors.

    Examples
    --------
    >>> X, y, qid = [[3.0, 1.0], [2.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [2, 1, 0, 0], [1, 1, 1, 1]
    >>> ranker = RankBoostRanker(n_estimators=3, random_state=0).fit(X, y, qid=qid)
    >>> ranker.history_["e2"].round(4)
    array([0.8   , 0.7194, 0.605 ])
    """

    variant: Literal["plus", "discrete", "continuous"] = "plus"
    strategy: Literal["efficient", "optimal"] = "efficient"
    n_estimators: int = 100
    max_thresholds: int | None = 255
    allow_negative: bool = True
    record_e2: bool = False
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        check_choice("variant", self.variant, ("plus", "discrete", "continuous"))
        check_choice("strategy", self.strategy, ("efficient", "optimal"))
        check_flag("allow_negative", self.allow_negative)
        check_flag("record_e2", self.record_e2)

    def _rounds(self, training: Training) -> Rounds:
        pairs = _WeighedPairs(training.queries)
        cuts = Cuts(training.X, self.max_thresholds, training.random)
        candidates = cuts.distinct(pairs.rows)
        if self.variant != "plus":
            return self._classic(pairs, cuts, candidates)
        steps: Iterator[_Step] = iter(())
        if len(candidates) and self.strategy == "efficient":
            steps = _efficient(pairs, cuts, candidates, training.random)
        elif len(candidates):
            steps = _optimal(pairs, cuts, candidates)
        return _plus(steps, pairs, cuts)

    def _classic(self, pairs: "_WeighedPairs", cuts: Cuts, candidates: Ints) -> Rounds:
        """Run discrete or continuous RankBoost; steps are numbered by the lines of the paper's Algorithm 1."""
        scores = np.zeros(pairs.n_rows)
        e1, squares = 1.0, 0.0
        tracker = _E2OfModel(pairs, cuts) if self.record_e2 else None
        while len(candidates):
            # 6: the stump of the largest edge
            weight = pairs.distribution(scores)
            edges = cuts.sums_above(pairs.potentials(weight))[candidates]
            cut = int(candidates[first_best(np.abs(edges) if self.allow_negative else edges, _NO_EDGE)])
            above = cuts.above(cut).view(np.uint8)
            right, wrong, tied = kernels.split_weight(pairs.pairs, weight, above)
            delta = wrong - right
            if abs(delta) <= _NO_EDGE or (delta > 0.0 and not self.allow_negative):
                return "no weak ranker has an edge left"
            # 7: its weight
            share = tied / 2 if self.variant == "continuous" else 0.0
            alpha, undefined = _weight(right + share, wrong + share, pairs.n_pairs)
            # 8, 9: the ensemble, and with its scores the distribution
            z = tied + right * np.exp(-alpha) + wrong * np.exp(alpha)
            scores += alpha * above
            e1 *= z
            squares += delta**2
            record = {"alpha": alpha, "z": z, "delta": delta, "bound": np.exp(-0.5 * squares), "e1": e1}
            if tracker is not None:
                record["e2"] = tracker.add(cut, alpha)
            record["r1"], record["r2"] = pairs.errors(scores)
            yield Round(((cuts.stump(cut), alpha),), {**record, "undefined": float(undefined)})
            if wrong + tied <= 0.0 or right + tied <= 0.0:
                return "one weak ranker ranks all pairs right"
        return "no feature splits the documents in pairs"


def _plus(steps: Iterator["_Step"], pairs: "_WeighedPairs", cuts: Cuts) -> Rounds:
    """Yield the rounds of RankBoost+'s steps."""
    scores = np.zeros(pairs.n_rows)
    e2, squares = 1.0, 0.0
    for step in steps:
        for cut, weight in step.weights:
            scores += weight * cuts.above(cut)
        e2 *= step.z
        squares += step.delta**2
        record = {"alpha": step.alpha, "z": step.z, "delta": step.delta, "bound": np.exp(-0.5 * squares)}
        record["e1"], record["e2"] = pairs.e1(scores), e2
        record["r1"], record["r2"] = pairs.errors(scores)
        yield Round(
            tuple((cuts.stump(cut), weight) for cut, weight in step.weights),
            {**record, "undefined": float(step.undefined)},
        )
        if step.undefined and len(step.weights) == 1:
            return "one weak ranker ranks all pairs right"
    return "no weak ranker has an edge left"


def _weight(right: float, wrong: float, n_pairs: int) -> tuple[float, bool]:
    """Return ½ ln(right / wrong), and whether it was infinite and half a pair was added to both."""
    undefined = right <= 0.0 or wrong <= 0.0
    if undefined:
        right, wrong = right + 0.5 / n_pairs, wrong + 0.5 / n_pairs
    return float(0.5 * np.log(right / wrong)), undefined


class _WeighedPairs:
    """The critical pairs of a training set, with initial weights of sum 1; `rows` are the documents in pairs."""

    def __init__(self, queries: Queries) -> None:
        self.pairs = critical_pairs(queries)
        self.n_pairs, self.n_rows = len(self.pairs.weight), queries.n_rows
        self.rows = distinct(np.r_[self.pairs.winner, self.pairs.loser])
        self._weight = np.empty(self.n_pairs)

    def independent_set(self) -> IndependentSet:
        """Return an empty set of linearly independent rankers, as vectors on `rows`."""
        winner, loser = (np.searchsorted(self.rows, of_pair) for of_pair in self.pairs[:2])
        return IndependentSet(components_of_pairs(winner, loser, len(self.rows)))

    def distribution(self, scores: Floats) -> Floats:
        """Return the weights of the pairs at some scores, of sum 1; the next call overwrites the array."""
        kernels.exponential_weights(self.pairs, scores, self._weight)
        self._weight /= self._weight.sum()
        return self._weight

    def potentials(self, weight: Floats) -> Floats:
        """Return, for each row, the total weight of the pairs that it wins, less that of the pairs that it loses."""
        out = np.empty(self.n_rows)
        kernels.potentials(self.pairs, weight, out)
        return out

    def e1(self, scores: Floats) -> float:
        """Return the mean of e^{-(F_i - F_j)}."""
        shift = kernels.exponential_weights(self.pairs, scores, self._weight)
        return float(np.exp(shift + np.log(self._weight.sum())))

    def errors(self, scores: Floats) -> tuple[float, float]:
        """Return R1 and R2."""
        wrong, tied = kernels.misordered_and_tied(self.pairs, scores)
        return wrong + tied, wrong + tied / 2


@dataclass(frozen=True)
class _Step:
    """One step of RankBoost+: cuts, the change of their weights, and `alpha`, the step along a combination of cuts."""

    weights: tuple[tuple[int, float], ...]
    alpha: float
    z: float
    delta: float
    undefined: bool = False


class _Descent:
    """State of RankBoost+: the chosen cuts with their weights η, and the distribution D over pairs."""

    def __init__(self, pairs: _WeighedPairs, cuts: Cuts) -> None:
        self.pairs, self.cuts = pairs, cuts
        self.weight = pairs.pairs.weight.copy()
        self._out = np.empty_like(self.weight)
        self.span = pairs.independent_set()
        self.chosen: list[int] = []
        self.eta = np.empty(0)
        self._sides = np.empty((pairs.n_rows, 0), np.uint8)  # columns after the chosen cuts are unused

    def vectors(self, cuts: Ints) -> NDArray[np.bool_]:
        """Return the sides of cuts as vectors on the documents in pairs."""
        return np.array([self.cuts.above(int(cut))[self.pairs.rows] for cut in cuts])

    def edges(self) -> Floats:
        """Return ε⁺ - ε⁻ of all cuts."""
        return self.cuts.sums_above(self.pairs.potentials(self.weight))

    def deltas(self, edges: Floats) -> Floats:
        """Return δ of the chosen cuts (33)."""
        separated = kernels.separated_by_chosen(self.pairs.pairs, self.weight, self._sides, len(self.chosen))
        deltas: Floats = -edges[self.chosen] + (self.weight.sum() - separated) * np.tanh(self.eta)
        return deltas

    def admit(self, cut: int, *, independent: bool = False) -> bool:
        """Choose a cut if it is independent of the chosen ones; the caller may pass `independent` if it knows."""
        above = self.cuts.above(cut)
        if not independent and not self.span.add(above[self.pairs.rows]):
            return False
        n = len(self.chosen)
        if n == self._sides.shape[1]:
            self._sides = np.hstack([self._sides, np.zeros((self.pairs.n_rows, max(16, n)), np.uint8)])
        self._sides[:, n] = above
        self.chosen.append(cut)
        self.eta = np.r_[self.eta, 0.0]
        return True

    def along(self, place: int) -> _Step:
        """Step along a chosen cut (lines 7 to 9 of Algorithm 1)."""
        pairs, above, old = self.pairs, self._above(place), self.eta[place]
        right, wrong, tied = kernels.split_weight(pairs.pairs, self.weight, above)
        # (34): e^{∓α'} / 2 cosh α' are logistic functions
        alpha, undefined = _weight(right + tied * expit(-2 * old), wrong + tied * expit(2 * old), pairs.n_pairs)
        delta = wrong - right + tied * np.tanh(old)
        return _Step(((self.chosen[place], alpha),), alpha, self.shift(place, alpha), float(delta), undefined)

    def shift(self, place: int, alpha: float) -> float:
        """Add α to the weight of a chosen cut; return Z."""
        above, old = self._above(place), self.eta[place]
        # (25): cosh(α + α') / cosh α'
        of_tied = float(expit(2 * old) * np.exp(alpha) + expit(-2 * old) * np.exp(-alpha))
        kernels.reweigh(self.pairs.pairs, self.weight, above, np.exp(-alpha), np.exp(alpha), of_tied)
        self.eta[place] += alpha
        z = float(self.weight.sum())
        self.weight /= z
        return z

    def _above(self, place: int) -> Sides:
        return self.cuts.above(self.chosen[place]).view(np.uint8)

    def along_combination(self, beta: Floats) -> _Step:
        """Step along a combination of the chosen cuts, to the minimum of the loss, which is convex in the step."""
        slope = self._derivative(beta, 0.0)
        sign = -float(np.sign(slope))
        far, farthest = 1.0, 0.5 * np.log(2.0 * self.pairs.n_pairs + 1.0) / float(np.abs(beta).max())
        while far < farthest and self._derivative(beta, sign * far) * slope > 0.0:
            far *= 2.0
        end = sign * min(far, farthest)
        undefined = self._derivative(beta, end) * slope > 0.0
        alpha = end
        if not undefined:
            alpha = brentq(lambda step: self._derivative(beta, step), 0.0, end, xtol=1e-14, rtol=1e-14)
        z = float(np.exp(self.move(beta, alpha)))
        weights = tuple((cut, float(alpha * b)) for cut, b in zip(self.chosen, beta, strict=True))
        return _Step(weights, float(alpha), z, slope / float(np.linalg.norm(beta)), undefined)

    def move(self, beta: Floats, step: float) -> float:
        """Add step · β to the weights; return ln Z."""
        value, _, shift = self._tilted(self.weight, self.eta, beta, step)
        np.divide(self._out, value, out=self.weight)
        self.eta += step * beta
        return float(np.log(value) + shift)

    def log_loss(self) -> float:
        """Return ln F2(η), computed from scratch."""
        value, _, shift = self._tilted(self.pairs.pairs.weight, np.zeros_like(self.eta), self.eta, 1.0)
        return float(np.log(value) + shift)

    def _derivative(self, beta: Floats, step: float) -> float:
        """Return the derivative of the loss along β, divided by the loss at that step."""
        value, derivative, _ = self._tilted(self.weight, self.eta, beta, step)
        return derivative / value

    def _tilted(self, weight: Floats, eta: Floats, beta: Floats, step: float) -> tuple[float, float, float]:
        sides = self._sides[:, : len(self.chosen)]
        found: tuple[float, float, float] = kernels.tilted(self.pairs.pairs, weight, sides, eta, beta, step, self._out)
        return found


def _efficient(pairs: _WeighedPairs, cuts: Cuts, candidates: Ints, random: np.random.RandomState) -> Iterator[_Step]:
    """Yield the steps of Algorithm 2: after the first dependent candidate, only independent candidates are kept."""
    state = _Descent(pairs, cuts)
    order = random.permutation(len(candidates))
    candidate = np.zeros(len(cuts), bool)
    candidate[candidates] = True
    pruned = False
    while True:
        edges = state.edges()
        score = np.where(candidate, np.abs(edges), 0.0)
        score[state.chosen] = of_chosen = np.abs(state.deltas(edges))
        while True:
            cut = first_best(score, _NO_EDGE)
            if score[cut] <= _NO_EDGE:
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


def _independent(state: _Descent, order: Ints, candidate: NDArray[np.bool_]) -> NDArray[np.bool_]:
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


def _optimal(pairs: _WeighedPairs, cuts: Cuts, candidates: Ints) -> Iterator[_Step]:
    """Yield steps along all candidates; dependent ones are combinations of the chosen cuts."""
    state = _Descent(pairs, cuts)
    combined = _DependentCuts(state, candidates)
    while True:
        edges = state.edges()
        deltas = state.deltas(edges)
        score = np.abs(edges[candidates])
        score[combined.places] = np.abs(combined.weights @ deltas)
        score[combined.chosen] = np.abs(deltas)
        best = first_best(score, _NO_EDGE)
        if score[best] <= _NO_EDGE:
            return
        if best in combined.chosen:
            yield state.along(combined.chosen.index(best))
        elif best in combined.places:
            yield state.along_combination(combined.weights[np.flatnonzero(combined.places == best)[0]])
        elif state.admit(int(candidates[best])):
            combined.extend(best)
            yield state.along(len(state.chosen) - 1)
        else:  # nearly dependent: its products with the basis do not decide
            combined.places = np.append(combined.places, best)
            combined.solve()


class _DependentCuts:
    """The candidates that are combinations of the chosen cuts, with their weights, scaled to length 1."""

    def __init__(self, state: _Descent, candidates: Ints) -> None:
        self._state, self._candidates = state, candidates
        self.chosen: list[int] = []  # indices of candidates
        self.places = np.empty(0, np.int64)
        self.weights = np.empty((0, 0))
        self._onto = np.empty((0, len(candidates)))  # inner products of the basis and the candidates
        self._length = np.concatenate(
            [
                (state.span.centred(state.vectors(candidates[a : a + _BLOCK])) ** 2).sum(axis=1)
                for a in range(0, len(candidates), _BLOCK)
            ]
        )
        self._left = self._length.copy()  # squared length orthogonal to the basis

    def extend(self, place: int) -> None:
        """Add the cut that was chosen last to the basis."""
        self.chosen.append(place)
        state = self._state
        newest = np.zeros(state.pairs.n_rows)
        newest[state.pairs.rows] = state.span.basis[-1]
        onto = state.cuts.sums_above(newest)[self._candidates]
        self._onto = np.vstack([self._onto, onto])
        self._left -= onto**2
        known = self._length <= 1e-12  # a cut that ties all pairs is the vector 0
        known[self.places] = known[self.chosen] = True
        maybe = np.flatnonzero(~known & (self._left <= 1e-6 * self._length))
        found = [
            maybe[a : a + _BLOCK][state.span.spans(state.vectors(self._candidates[maybe[a : a + _BLOCK]]))]
            for a in range(0, len(maybe), _BLOCK)
        ]
        self.places = np.concatenate([self.places, *found])
        self.solve()

    def solve(self) -> None:
        """Compute the weights of all dependent candidates."""
        weights = self._state.span.from_basis(self._onto[:, self.places])
        self.weights = (weights / np.linalg.norm(weights, axis=0)).T


class _E2OfModel:
    """F2(η) on the independent cuts of a model with given weights (section 4 of the paper).

    Weights that cancel each other may be so large that F2 exceeds float64; it is then float64's largest number.
    """

    def __init__(self, pairs: _WeighedPairs, cuts: Cuts) -> None:
        self._state = _Descent(pairs, cuts)
        self._log_e2 = 0.0
        self._anew = False  # compute from η each time: the pairs' weights left the range of float64

    def add(self, cut: int, alpha: float) -> float:
        """Add α times a cut to the model; return F2."""
        state = self._state
        chosen = cut in state.chosen or state.admit(cut)
        if chosen and not self._anew:
            self._log_e2 += float(np.log(state.shift(state.chosen.index(cut), alpha)))
        else:
            above = state.cuts.above(cut)[state.pairs.rows]
            weights = np.eye(len(state.chosen))[state.chosen.index(cut)] if chosen else state.span.coordinates(above)
            if self._anew:
                state.eta += alpha * weights
            else:
                self._log_e2 += state.move(weights, alpha)
        self._anew = self._anew or float(state.weight.min()) < _SMALLEST_WEIGHT
        if self._anew:
            self._log_e2 = state.log_loss()
        return float(np.exp(min(self._log_e2, _LOG_LARGEST)))
