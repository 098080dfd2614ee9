"""AdaRank straight from Xu & Li (2007), over any measure of one query's ranking: the yardstick for the fast ranker.

A measure here is `measure(query, scores)` in [-1, 1], for the index of a query and the scores of its documents; how it
treats tied scores is its own affair (`in_file_order` and `over_ties` make one from a function of ranked labels).
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise, permutations, product

import numpy as np

TIE = 1e-12


def in_file_order(function, labels, boundaries):
    """Return the measure that keeps tied documents in their order; `function` takes labels from the top down."""
    lists = [np.asarray(labels[first:last]) for first, last in pairwise(boundaries)]
    return lambda query, scores: function(lists[query][np.argsort(-scores, kind="stable")])


def over_ties(function, labels, boundaries):
    """Return the measure's mean over all orders of tied documents, each of them tried."""
    lists = [np.asarray(labels[first:last]) for first, last in pairwise(boundaries)]

    def measure(query, scores):
        levels = [np.flatnonzero(scores == s) for s in np.unique(scores)[::-1]]
        orders = [sum(order, ()) for order in product(*(permutations(level) for level in levels))]
        return math.fsum(function(lists[query][list(order)]) for order in orders) / len(orders)

    return measure


def average_precision(ranked):
    """Return AP, relevant being a label of 1 or more; 0 without one."""
    places = [j for j, label in enumerate(ranked, 1) if label >= 1]
    return sum(k / j for k, j in enumerate(places, 1)) / max(len(places), 1)


def ndcg(ranked):
    """Return NDCG of the whole list: gain 2^r - 1, discount 1/log(1 + j); 0 without a gain."""
    ideal = _dcg(sorted(ranked, reverse=True))
    return _dcg(ranked) / ideal if ideal > 0 else 0.0


def _dcg(ranked):
    return sum((2.0**label - 1.0) / math.log2(1 + j) for j, label in enumerate(ranked, 1))


@dataclass
class Round:
    """One round; `performance` is E(f_t) per query, `distribution` the P_t that chose the feature."""

    feature: int
    alpha: float
    phi: float
    distribution: np.ndarray
    performance: np.ndarray
    delta_min: float
    bound: float  # Theorem 1 for (1/m) Σ E(f_t)
    scores: np.ndarray
    valid: float  # what the stopping rule looks at: mean E(f_t), on validation where given


@dataclass
class Run:
    """All rounds made, those after the best one included; `best` counts rounds (0 if none was made)."""

    rounds: list[Round] = field(default_factory=list)
    stopped: str = "rounds"  # or "no improvement", "features used up"
    best: int = 0


def per_query(measure, scores, boundaries):
    """Return E of every query."""
    return np.array([measure(q, scores[first:last]) for q, (first, last) in enumerate(pairwise(boundaries))])


def adarank(X, boundaries, measure, rounds, *, cap, stop="patience", patience=10, no_repeat=False, validation=None):
    """Run AdaRank with single features as weak rankers.

    Parameters
    ----------
    X : (n_documents, n_features)
    boundaries : n_queries + 1 row numbers
    measure : callable
        E(π(q, scores), y) as `measure(query, scores)`.
    rounds : T, at most.
    cap : positive float
        α is clipped to ±cap: a perfect weak ranker, Σ P(1 - E) = 0, would have an infinite one.
    stop : "paper" or "patience"
        "paper" stops after the first round that does not improve mean E (by more than 1e-12) on what was best, and
        "patience" after so many such rounds in a row. The first round always improves.
    no_repeat : bool
        Each feature once.
    validation : (X, boundaries, measure), optional
        What the stopping rule looks at instead of the training queries.

    Of features with the same Σ P E, within 1e-12 relative, the first is chosen.
    """
    X = np.asarray(X, float)
    n_queries, n_features = len(boundaries) - 1, X.shape[1]
    E = np.array([per_query(measure, X[:, k], boundaries) for k in range(n_features)])
    if stop not in {"paper", "patience"}:
        raise ValueError(f"stop is 'paper' or 'patience', got {stop!r}")
    allowed = 1 if stop == "paper" else patience
    held_out, held_out_boundaries, held_out_measure = (X, boundaries, measure) if validation is None else validation
    weights = np.zeros(n_features)
    P = np.full(n_queries, 1.0 / n_queries)
    before = np.zeros(n_queries)  # E(f_0) := 0, with which P_1 is uniform as every later P is e^{-E}
    error, best = 1.0, -math.inf
    run = Run()
    for t in range(1, rounds + 1):
        features = [k for k in range(n_features) if not (no_repeat and any(r.feature == k for r in run.rounds))]
        if not features:
            run.stopped = "features used up"
            break
        quality = E[features] @ P
        top = quality.max()
        k = features[int(np.flatnonzero(quality >= top - TIE * abs(top))[0])]
        above, below = float(P @ (1 + E[k])), float(P @ (1 - E[k]))
        if above <= 0 or below <= 0:
            alpha = -cap if above <= 0 else cap
        else:
            alpha = min(max(0.5 * math.log(above / below), -cap), cap)
        phi = float(P @ E[k])
        weights[k] += alpha
        scores = X @ weights
        after = per_query(measure, scores, boundaries)
        delta_min = float(np.min(after - before - alpha * E[k]))
        # e^{-αE} ≤ its chord over [-1, 1]; at the paper's own α the chord is √(1 - φ²), clipped it is larger.
        chord = 0.5 * (1 + phi) * math.exp(-alpha) + 0.5 * (1 - phi) * math.exp(alpha)
        error *= math.exp(-delta_min) * chord
        valid = float(np.mean(per_query(held_out_measure, np.asarray(held_out) @ weights, held_out_boundaries)))
        run.rounds.append(Round(k, alpha, phi, P, after, delta_min, 1.0 - error, scores, valid))
        if valid > best + TIE:
            best, run.best = valid, t
        if t - run.best >= allowed:
            run.stopped = "no improvement"
            break
        P = np.exp(-after) / np.exp(-after).sum()
        before = after
    return run
