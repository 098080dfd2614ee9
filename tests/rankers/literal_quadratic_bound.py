"""The general boosting method and QBRank (Zheng et al. 2007), pair by pair: slow, and the yardstick."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Preference:
    """The pair winner ≻ loser with its margin τ and weight.

    `grades` are the two rows' grades where τ is their gap; the shortfall is then computed as the losses do it.
    """

    winner: int
    loser: int
    tau: float = 1.0
    weight: float = 1.0
    grades: tuple[float, float] | None = None

    def shortfall(self, h):
        """Return h(y) - h(x) + τ; the pair x ≻ y is active where this is > 0."""
        if self.grades is None:
            return self.tau - (h[self.winner] - h[self.loser])
        return (self.grades[0] - h[self.winner]) - (self.grades[1] - h[self.loser])


@dataclass(frozen=True)
class Label:
    """A labelled row with its weight."""

    row: int
    label: float
    weight: float = 1.0


def preferences(grades, boundaries, margin="grade", normalization="none", weight=None, labelled=None):
    """Return a preference for every two judged rows of one query with different grades.

    `margin`: "grade", the gap, or one τ for all. A pair weighs √(w_i w_j), times n_q / pairs_q under normalization
    "rows" and 1 / pairs_q under "query". Rows that are not labelled, or weigh 0, stand in no pair.
    """
    weight = np.ones(len(grades)) if weight is None else weight
    labelled = np.ones(len(grades), bool) if labelled is None else labelled
    found = []
    for first, last in pairwise(boundaries):
        judged = [i for i in range(first, last) if labelled[i] and weight[i] > 0]
        pairs = [(x, y) for x in judged for y in judged if grades[x] > grades[y]]
        for x, y in pairs:
            c = {"none": 1.0, "rows": len(judged) / len(pairs), "query": 1.0 / len(pairs)}[normalization]
            v = c * math.sqrt(weight[x]) * math.sqrt(weight[y])
            if margin == "grade":
                found.append(Preference(x, y, grades[x] - grades[y], v, (grades[x], grades[y])))
            else:
                found.append(Preference(x, y, margin, v))
    return found


def labels(grades, weight=None, labelled=None):
    """Return the label of every labelled row; rows that weigh 0 are left out."""
    weight = np.ones(len(grades)) if weight is None else weight
    labelled = np.ones(len(grades), bool) if labelled is None else labelled
    return [Label(z, grades[z], weight[z]) for z in range(len(grades)) if labelled[z] and weight[z] > 0]


def residuals(gradient, curvature):
    """Return Algorithm 1's targets r = -∇R / W; 0 where the bound is 0, since R is then flat along that row."""
    if np.any((curvature == 0) & (gradient != 0)):
        raise ValueError("the bound is 0 on a row whose gradient is not: it cannot bound R")
    return -gradient / np.where(curvature > 0, curvature, 1.0)


@dataclass(frozen=True)
class QBRankRisk:
    """R(h) = w/2 Σ_{x≻y} v max(0, h(y) - h(x) + τ)² + (1-w)/2 Σ_z u (l - h(z))².

    w is `preference_weight`, in [0, 1]; v and u are the weights of pairs and labels, all 1 in the paper.
    """

    n_rows: int
    preferences: tuple[Preference, ...]
    labels: tuple[Label, ...]
    preference_weight: float = 0.5

    def value(self, h):
        """Return R(h)."""
        w = self.preference_weight
        return math.fsum(
            [w / 2 * p.weight * max(0.0, p.shortfall(h)) ** 2 for p in self.preferences]
            + [(1 - w) / 2 * z.weight * (z.label - h[z.row]) ** 2 for z in self.labels]
        )

    def training_set(self, h):
        """Return Algorithm 2's training set as it is written: (row, target, weight), a row once per pair and label."""
        w, found = self.preference_weight, []
        for p in self.preferences:
            short = max(0.0, p.shortfall(h))
            found += [(p.winner, short, w * p.weight), (p.loser, -short, w * p.weight)]
        return found + [(z.row, z.label - h[z.row], (1 - w) * z.weight) for z in self.labels]

    def gradient(self, h):
        """Return ∇R(h): each row's targets, weighted and summed, with the sign turned."""
        terms = [[] for _ in range(self.n_rows)]
        for row, target, weight in self.training_set(h):
            terms[row].append(-weight * target)
        return np.array([math.fsum(t) for t in terms])

    def curvature(self, h, kind):
        """Return a diagonal, one number per row.

        "bound": 2w per active pair and 1-w per label, diag(·) - ∇²R(h) ⪰ 0 at h alone. "global": 2w per pair, active
        or not, and 1-w per label, Eq. 6 for every step. "average": w per pair, active or not, and 1-w per label, the
        total weight of the row in Algorithm 2's training set; it bounds nothing.
        """
        w = self.preference_weight
        terms = [[] for _ in range(self.n_rows)]
        for p in self.preferences:
            if kind != "bound" or p.shortfall(h) > 0:
                for row in (p.winner, p.loser):
                    terms[row].append((1 if kind == "average" else 2) * w * p.weight)
        for z in self.labels:
            terms[z.row].append((1 - w) * z.weight)
        return np.array([math.fsum(t) for t in terms])

    def working_set(self, h, kind="bound"):
        """Return weights and targets for the weak learner: `curvature(h, kind)` and -∇R / curvature.

        "bound" and "global" are Algorithm 1. "average" is Algorithm 2 with the Remark's average target per document;
        a least-squares fit equals the one to `training_set`.
        """
        curvature = self.curvature(h, kind)
        return curvature, residuals(self.gradient(h), curvature)

    def line_search(self, h, g):
        """Return the smallest s ≥ 0 that minimises R(h + s g), exactly.

        R' is continuous, non-decreasing and piecewise linear in s with a knot where a pair becomes or ceases to be
        active: find the piece on which it reaches 0 and solve there.
        """
        w = self.preference_weight
        pairs = [(w * p.weight, p.shortfall(h), g[p.winner] - g[p.loser]) for p in self.preferences]
        points = [((1 - w) * z.weight, z.label - h[z.row], g[z.row]) for z in self.labels]

        def slope(s):
            return -math.fsum(
                [v * delta * max(0.0, short - s * delta) for v, short, delta in pairs]
                + [u * step * (error - s * step) for u, error, step in points]
            )

        if slope(0.0) >= 0.0:
            return 0.0
        knots = sorted({short / delta for _, short, delta in pairs if delta != 0 and short / delta > 0})
        low, high = 0.0, math.inf
        for knot in knots:
            if slope(knot) >= 0.0:
                high = knot
                break
            low = knot
        inside = (low + high) / 2 if high < math.inf else 2 * low + 1
        curvature = math.fsum(
            [v * delta**2 for v, short, delta in pairs if short - inside * delta > 0]
            + [u * step**2 for u, _, step in points]
        )
        # R >= 0 cannot fall for ever: without curvature the slope is 0 but for rounding
        return min(low - slope(low) / curvature, high) if curvature > 0 else low


@dataclass(frozen=True)
class Round:
    """What one round did: the weak learner's input and predictions `g`, the step s (before shrinkage), R after it."""

    weights: np.ndarray
    targets: np.ndarray
    g: np.ndarray
    step: float
    risk: float


def quadratic_bound(X, value, working_set, learner, n_rounds, step, learning_rate=1.0):
    """Run Algorithm 1 from h = 0; return the rounds and h on the rows.

    Parameters
    ----------
    X : (n_rows, n_features)
    value : callable
        h -> R(h), convex.
    working_set : callable
        h -> (W, r), the diagonal of a bound of the Hessian and the residuals r = -∇R / W (see `residuals`).
    learner : callable
        A: (W, X, r) -> predictions on X, a least-squares regressor with sample weights.
    n_rounds : int
        Fewer are run where every weight is 0, nothing is left to fit, or R falls in no direction: s = 0.
    step : callable or float
        (h, g) -> s, the line search, or the same s in every round.
    learning_rate : float
        The shrinkage η of Algorithm 2: h ← h + η s g.

    """
    h, rounds = np.zeros(len(X)), []
    for _ in range(n_rounds):
        weights, targets = working_set(h)
        if not np.any(weights > 0):
            break
        g = learner(weights, X, targets)
        s = step(h, g) if callable(step) else step
        h = h + learning_rate * s * g
        rounds.append(Round(weights, targets, g, s, value(h)))
        if s == 0.0:
            break
    return rounds, h


def qbrank(X, risk, learner, n_rounds, learning_rate=0.05, kind="bound"):
    """Run QBRank: `quadratic_bound` on a QBRankRisk with the exact line search."""
    return quadratic_bound(
        X,
        risk.value,
        lambda h: risk.working_set(h, kind),
        learner,
        n_rounds,
        risk.line_search,
        learning_rate,
    )
