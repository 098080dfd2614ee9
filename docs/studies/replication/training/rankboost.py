"""What the RankBoost+ paper's experiments need beyond `RankBoostRanker`.

`OptimalRankBoost` descends along all stumps, `WithE2` records F2 for discrete and continuous RankBoost.
`ObservedRounds` lets a subclass of a ranker follow its rounds.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import brentq

from boostplug.core.arrays import Floats, Ints
from boostplug.data.queries import Queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled
from boostplug.rankers import RankBoostRanker
from boostplug.rankers.base import Round, Rounds, Training
from boostplug.rankers.rankboost_plus import NO_EDGE, Descent
from boostplug.weak_rankers import Cuts
from boostplug.weak_rankers.independent import TOLERANCE
from boostplug.weak_rankers.stump import first_best

_LOG_LARGEST = float(np.log(np.finfo(np.float64).max))


class ObservedRounds:
    """The rounds of an algorithm, for a loop that observes or changes them.

    Attributes
    ----------
    reason : str
        The reason why the algorithm ended; set after the loop.
    """

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self.reason = ""

    def __iter__(self) -> Iterator[Round]:
        self.reason = yield from self._rounds


class OptimalRankBoost(RankBoostRanker):
    """RankBoost+ that also descends along stumps that are combinations of chosen ones, on all their weights at once.

    It needs memory for O(cuts · rank) numbers and is meant for small tasks. A step along a combination may break the
    last inequality of Theorem 2: it decreases the loss by less than the factor exp(-δ²/2).
    """

    def _steps(self, training: Training, cuts: Cuts, candidates: Ints) -> Iterator[Round]:
        return _optimal(Combinations(training.queries, cuts), candidates) if len(candidates) else iter(())


class WithE2(RankBoostRanker):
    """RankBoost with ``e2`` in `history_`: F2 on the independent stumps chosen so far (section 4 of the paper).

    This costs O(m) for each such stump and round.
    """

    def _rounds(self, training: Training) -> Rounds:
        rounds = ObservedRounds(super()._rounds(training))
        model = _E2OfModel(training)
        for done in rounds:
            ((stump, alpha),) = done.terms
            yield Round(done.terms, {**done.record, "e2": model.add(stump, alpha)})
        return rounds.reason


class Combinations(Descent):
    """`Descent` with steps along combinations of the chosen cuts."""

    def __init__(self, queries: Queries, cuts: Cuts) -> None:
        super().__init__(queries, cuts)
        self._initial = self.weight.copy()
        self._out = np.empty_like(self.weight)

    @property
    def _of_chosen(self) -> NDArray[np.float32]:
        """The sides of the chosen cuts, of shape (n_rows, n_chosen): 1 above, 0 below."""
        return self._sides[:, : len(self.chosen)]

    def coordinates(self, vectors: ArrayLike) -> Floats:
        """Return the coefficients, shape (…, n_chosen), of `vectors` on `rows` as combinations of the chosen cuts."""
        return self.from_basis((self.span.centred(vectors) @ self.span.basis.T).T).T

    def from_basis(self, onto: Floats) -> Floats:
        """Return coefficients of the chosen cuts from those of the basis; both have shape (n_chosen, …)."""
        factor = self.span.centred(self._of_chosen[self.rows].T) @ self.span.basis.T  # lower triangular
        weights: Floats = solve_triangular(factor, onto, lower=True, trans="T")
        return weights

    def along_combination(self, beta: Floats) -> Round:
        """Step along a combination of the chosen cuts, to the minimum of the loss, which is convex in the step."""
        slope = self._derivative(beta, 0.0)
        sign = -float(np.sign(slope))
        far, farthest = 1.0, 0.5 * np.log(2.0 * len(self.weight) + 1.0) / float(np.abs(beta).max())
        while far < farthest and self._derivative(beta, sign * far) * slope > 0.0:
            far *= 2.0
        end = sign * min(far, farthest)
        undefined = self._derivative(beta, end) * slope > 0.0
        alpha = end
        if not undefined:
            alpha = brentq(lambda step: self._derivative(beta, step), 0.0, end, xtol=1e-14, rtol=1e-14)
        z = float(np.exp(self.move(beta, alpha)))
        weights = tuple((cut, float(alpha * b)) for cut, b in zip(self.chosen, beta, strict=True))
        return self.round(weights, alpha=alpha, z=z, delta=slope / np.linalg.norm(beta), undefined=undefined)

    def move(self, beta: Floats, step: float) -> float:
        """Add step · β to the weights; return ln Z."""
        value, _, shift = self._tilted(self.weight, self.eta, beta, step)
        np.divide(self._out, value, out=self.weight)
        self.eta += step * beta
        return float(np.log(value) + shift)

    def log_loss(self) -> float:
        """Return ln F2(η), computed from scratch."""
        value, _, shift = self._tilted(self._initial, np.zeros_like(self.eta), self.eta, 1.0)
        return float(np.log(value) + shift)

    def _derivative(self, beta: Floats, step: float) -> float:
        """Return the derivative of the loss along β, divided by the loss at that step."""
        value, derivative, _ = self._tilted(self.weight, self.eta, beta, step)
        return derivative / value

    def _tilted(self, weight: Floats, eta: Floats, beta: Floats, step: float) -> tuple[float, float, float]:
        found: tuple[float, float, float] = _tilted(
            self.winner, self.loser, weight, self._of_chosen, eta, beta, step, self._out
        )
        return found


def _optimal(state: Combinations, candidates: Ints) -> Iterator[Round]:
    """Yield steps along all candidates; dependent ones are combinations of the chosen cuts."""
    combined = _DependentCuts(state, candidates)
    while True:
        edges = state.edges()
        deltas = state.deltas(edges)
        score = np.abs(edges[candidates])
        score[combined.places] = np.abs(combined.weights @ deltas)
        score[combined.chosen] = np.abs(deltas)
        best = first_best(score, NO_EDGE)
        if score[best] <= NO_EDGE:
            return
        if best in combined.chosen:
            yield state.along(combined.chosen.index(best))
        elif best in combined.places:
            yield state.along_combination(combined.weights[np.flatnonzero(combined.places == best)[0]])
        elif state.admit(int(candidates[best])):
            combined.extend(best)
            yield state.along(len(state.chosen) - 1)
        else:  # so nearly dependent that rounding decides
            combined.solve(np.append(combined.places, best))


class _DependentCuts:
    """The candidates that are combinations of the chosen cuts, with their weights, scaled to length 1."""

    def __init__(self, state: Combinations, candidates: Ints) -> None:
        self._state = state
        self.chosen: list[int] = []  # indices of candidates
        self.places = np.empty(0, np.int64)
        self.weights = np.empty((0, 0))
        self._rest = state.span.centred(state.vectors(candidates))  # less their projections on the basis
        self._length = np.linalg.norm(self._rest, axis=1)
        self._onto = np.empty((0, len(candidates)))  # inner products of the basis and the candidates

    def extend(self, place: int) -> None:
        """Add the cut that was chosen last to the basis."""
        self.chosen.append(place)
        newest = self._state.span.basis[-1]
        onto = self._rest @ newest
        self._rest -= np.outer(onto, newest)
        self._onto = np.vstack([self._onto, onto])
        left = np.linalg.norm(self._rest, axis=1)
        # A cut that ties all pairs has the length 0, and is no candidate.
        dependent = (left <= TOLERANCE * self._length) & (self._length > 0.0)
        dependent[self.chosen] = False
        self.solve(np.union1d(self.places, np.flatnonzero(dependent)))

    def solve(self, places: Ints) -> None:
        """Compute the weights of the dependent candidates."""
        self.places = places
        weights = self._state.from_basis(self._onto[:, places])
        self.weights = (weights / np.linalg.norm(weights, axis=0)).T


class _E2OfModel:
    """F2(η) on the independent stumps of a model with given weights, at most float64's largest number."""

    def __init__(self, training: Training) -> None:
        self._state = Combinations(training.queries, Cuts(training.X, None, training.random))

    def add(self, stump: Any, alpha: float) -> float:
        """Add α times a stump to the model; return F2."""
        state, cut = self._state, self._cut(stump)
        if cut in state.chosen or state.admit(cut):
            state.eta[state.chosen.index(cut)] += alpha
        else:
            state.eta += alpha * state.coordinates(state.cuts.above(cut)[state.rows])
        return float(np.exp(min(state.log_loss(), _LOG_LARGEST)))

    def _cut(self, stump: Any) -> int:
        cuts, first = self._state.cuts, self._state.cuts.start[stump.feature]
        return int(first + np.searchsorted(cuts.threshold[first : cuts.start[stump.feature + 1]], stump.threshold))


@compiled()
def _tilted(
    winner: Any, loser: Any, weight: Any, sides: Any, eta: Any, beta: Any, step: float, out: Any
) -> tuple[float, float, float]:
    r"""Return RankBoost+'s loss at ``eta + step · beta``, its derivative by the step, and a shift.

    With α the step, the factor of a pair is a product over the cuts s: of :math:`e^{\mp\alpha\beta_s}` if s ranks it
    right or wrong, and of :math:`\cosh(\eta_s + \alpha\beta_s) / \cosh\eta_s` if s ties it. `weight` holds the pairs'
    weights at ``eta``, and `out` receives the new ones. All results are divided by e^shift, because the weights of cuts
    may be large where they cancel.
    """
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
