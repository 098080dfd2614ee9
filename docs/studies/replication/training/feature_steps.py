"""Theorem 1 of QBRank's paper, and the risk that it bounds: boosting by single features, which fit exactly."""

from itertools import count
from typing import Any

import numpy as np
from scipy.optimize import minimize

from boostplug.core.arrays import Floats
from boostplug.losses import QBRank
from boostplug.rankers.base import ReferenceRanker, Round, Rounds, Training
from boostplug.rankers.quadratic_bound import line_search
from boostplug.weak_rankers import Feature

_PENALTIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4)  # of the 1-norm, as shares of the steepest slope at h = 0


def best_feature(X: Floats, targets: Floats, weight: Floats) -> tuple[int, float]:
    """Return the multiple of one feature with the smallest weighted sum of squared errors: the column and its factor.

    Multiples of single features are scale-invariant, and this is the best of them: the weak learner of Theorem 1 with
    the tolerance ε = 0.
    """
    products, squares = X.T @ (weight * targets), (X**2).T @ weight
    gains = np.divide(products**2, squares, out=np.zeros(len(squares)), where=squares > 0.0)
    best = int(np.argmax(gains))
    return best, float(products[best] / squares[best]) if squares[best] > 0.0 else 0.0


class SearchedSteps(ReferenceRanker):
    """Algorithm 1 by the best single features with a line search, and the theorem's bound of its steps in ``history_``.

    Parameters
    ----------
    loss : QBRank
        With the Hessian "global".
    n_estimators : int, default 100
    random_state : None
        Without effect.
    """

    def __init__(
        self,
        *,
        loss: QBRank = QBRank(hessian="global", normalization="none"),  # noqa: B008 (an immutable value)
        n_estimators: int = 100,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _rounds(self, training: Training) -> Rounds:
        theorem = _Theorem(training, self.loss)
        X = np.nan_to_num(training.X.astype(np.float64))
        scores = np.zeros(len(X))
        while True:
            gradient, bound = self.loss.gradient_hessian(scores, training.queries)
            targets = np.divide(-gradient, bound, out=np.zeros(len(X)), where=bound > 0.0)
            best, factor = best_feature(X, targets, bound)
            step = line_search(self.loss, training.queries, scores, factor * X[:, best])
            if step is None:
                return "no feature has a direction in which the risk falls"
            scores += step * factor * X[:, best]
            length = theorem.length(step * factor * X[:, best])
            yield Round(((Feature(best), step * factor),), theorem.record(length, theorem.risk(scores)))


class GivenSteps(ReferenceRanker):
    r"""Algorithm 1 by single features with normalised steps :math:`\bar s_k = s (k + 1)^{-p}` from k = 0 on.

    Parameters
    ----------
    loss : QBRank
        With the Hessian "global".
    exponent : float, default 0.75
        p. For ½ < p ≤ 1 the sum of steps diverges and the sum of their squares does not: the condition of Theorem 1 for
        R(h_k) to converge to its infimum.
    first : float, default 0.1
        s, as a share of the step from h = 0 that minimises the quadratic bound.
    n_estimators : int, default 100
    random_state : None
        Without effect.
    """

    def __init__(
        self,
        *,
        loss: QBRank = QBRank(hessian="global", normalization="none"),  # noqa: B008 (an immutable value)
        exponent: float = 0.75,
        first: float = 0.1,
        n_estimators: int = 100,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.exponent = exponent
        self.first = first
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _rounds(self, training: Training) -> Rounds:
        theorem = _Theorem(training, self.loss)
        scores = np.zeros(training.queries.n_rows)
        first = 0.0
        for k in count():
            slopes = theorem.Z.T @ theorem.gradient(scores)
            best = int(np.argmax(np.abs(slopes)))
            if not slopes[best]:
                return "the risk is minimal"
            first = first or self.first * abs(float(slopes[best])) / theorem.M
            length = first * (k + 1) ** -self.exponent
            step = -float(np.sign(slopes[best])) * length
            scores += step * theorem.Z[:, best]
            term = (Feature(int(theorem.columns[best])), step / float(theorem.norms[best]))
            yield Round((term,), theorem.record(length, theorem.risk(scores)))
        raise AssertionError


class _Theorem:
    r"""The quantities of Theorem 1, for the risk of a `QBRank` over the span of single features.

    Attributes
    ----------
    M : float
        The number of rows n: R(h + βg) ≤ R(h) + β∇Rᵀg + ½β²M‖g‖². Here :math:`\|g\|^2 = \frac1n \sum_i W_i g_i^2`, with
        W the diagonal bound of the Hessian that holds everywhere.
    columns : ndarray of int
        The features that are not 0 everywhere.
    norms : ndarray
        Norms of these features.
    Z : ndarray of shape (n_rows, n_columns)
        These features divided by their norms.
    """

    def __init__(self, training: Training, loss: QBRank) -> None:
        self._loss, self._queries = loss, training.queries
        zeros = np.zeros(training.queries.n_rows)
        self.M = float(len(zeros))
        self._scale = loss.scale(training.queries)
        self._weights = loss.gradient_hessian(zeros, training.queries)[1] / self._scale
        X = np.nan_to_num(training.X.astype(np.float64))
        norms = np.array([self.length(column) for column in X.T])
        self.columns = np.flatnonzero(norms > 0.0)
        self.norms = norms[self.columns]
        self.Z = X[:, self.columns] / self.norms
        self._start = self.risk(zeros)
        self._least, _ = self._minimum(0.0)
        steepest = float(np.abs(self.Z.T @ self.gradient(zeros)).max())
        self._targets = np.array([self._minimum(share * steepest) for share in _PENALTIES])
        self._reach = [0.0]  # sums of steps: 0, a_0, a_1, …
        self._spent = [0.0]  # sums of ½ M times squared steps: b_0 - b_0, b_0 - b_1, …
        self._room = np.inf

    def risk(self, scores: Floats) -> float:
        """Return R."""
        return float(self._loss.value(scores, self._queries).sum())

    def gradient(self, scores: Floats) -> Floats:
        """Return ∇R."""
        gradient: Floats = self._loss.gradient_hessian(scores, self._queries)[0] / self._scale
        return gradient

    def length(self, step: Floats) -> float:
        """Return the norm of a function."""
        return float(np.sqrt(np.mean(self._weights * step**2)))

    def _minimum(self, penalty: float) -> tuple[float, float]:
        """Return risk and 1-norm of the linear function that minimises the risk plus `penalty` times the 1-norm.

        With a penalty, no other weights of this function have a smaller sum of |α|, so the sum is its 1-norm.
        """
        half = self.Z.shape[1]  # a weight is the difference of two numbers ≥ 0

        def objective(halves: Floats) -> tuple[float, Floats]:
            scores = self.Z @ (halves[:half] - halves[half:])
            slopes = self.Z.T @ self.gradient(scores)
            return self.risk(scores) + penalty * float(halves.sum()), np.r_[slopes, -slopes] + penalty

        solved = minimize(
            objective,
            np.zeros(2 * half),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * (2 * half),
            options={"ftol": 1e-13, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 20_000},
        )
        weights = solved.x[:half] - solved.x[half:]
        return self.risk(self.Z @ weights), float(np.abs(weights).sum())

    def record(self, length: float, risk: float) -> dict[str, float]:
        """Return a row of `history_`; risks are measured from inf R, as shares of R(0) - inf R.

        ``gap`` is the risk of h_{k+1}, and ``bound`` the theorem's right side, the least over some targets h̄.
        ``tightest`` is the gap plus the smallest difference of both in all rounds so far; it is below the gap if the
        gap ever exceeded its bound. ``length`` is the step.
        """
        self._reach.append(self._reach[-1] + length)
        self._spent.append(self._spent[-1] + 0.5 * self.M * length**2)
        unit = self._start - self._least
        risks, norms = self._targets.T[:, :, None]
        reach, spent = np.array(self._reach[1:]) + norms, np.array(self._spent[1:])  # for j = 0, …, k
        steps = (spent * reach / reach[:, -1:] + (spent[-1] - spent)).min(axis=1)
        sides = risks[:, 0] + norms[:, 0] / reach[:, -1] * np.maximum(0.0, self._start - risks[:, 0]) + steps
        gap, bound = (risk - self._least) / unit, (float(sides.min()) - self._least) / unit
        self._room = min(self._room, bound - gap)
        return {"gap": gap, "bound": bound, "tightest": gap + self._room, "length": length}
