"""AdaRank straight from Xu & Li (2007), over any measure in [-1, 1]: the yardstick for the fast ranker."""

import math
from dataclasses import dataclass, field

import numpy as np

TIE = 1e-12


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
    valid: float  # what the stopping rule looks at: mean E(f_t), on validation where given


@dataclass
class Run:
    """All rounds made, those after the best one included; `best` counts rounds (0 if none was made)."""

    rounds: list[Round] = field(default_factory=list)
    stopped: str = "rounds"  # or "no improvement", "features used up"
    best: int = 0


def adarank(X, measure, rounds, *, cap, stop="patience", patience=10, no_repeat=False, validation=None):
    """Run AdaRank with single features as weak rankers.

    Parameters
    ----------
    X : (n_documents, n_features)
    measure : callable
        E(π(q, scores), y) of every query, from the scores of all documents.
    rounds : T, at most.
    cap : positive float
        α is clipped to ±cap: a perfect weak ranker, Σ P(1 - E) = 0, would have an infinite one.
    stop : "paper" or "patience"
        "paper" stops after the first round that does not improve mean E (by more than 1e-12) on what was best, and
        "patience" after so many such rounds in a row. The first round always improves.
    no_repeat : bool
        Each feature once.
    validation : (X, measure), optional
        What the stopping rule looks at instead of the training queries.

    Of features with the same Σ P E, within 1e-12 relative, the first is chosen.
    """
    E = np.array([measure(column) for column in X.T])
    n_features, n_queries = E.shape
    allowed = 1 if stop == "paper" else patience
    held_out, held_out_measure = (X, measure) if validation is None else validation
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
        after = measure(scores)
        delta_min = float(np.min(after - before - alpha * E[k]))
        # e^{-αE} ≤ its chord over [-1, 1]; at the paper's own α the chord is √(1 - φ²), clipped it is larger.
        chord = 0.5 * (1 + phi) * math.exp(-alpha) + 0.5 * (1 - phi) * math.exp(alpha)
        error *= math.exp(-delta_min) * chord
        valid = float(np.mean(held_out_measure(held_out @ weights)))
        run.rounds.append(Round(k, alpha, phi, P, after, delta_min, 1.0 - error, valid))
        if valid > best + TIE:
            best, run.best = valid, t
        if t - run.best >= allowed:
            run.stopped = "no improvement"
            break
        P = np.exp(-after) / np.exp(-after).sum()
        before = after
    return run
