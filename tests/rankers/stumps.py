"""Every stump 1[x_k > θ] of a data set, one by one: the weak rankers that the literal algorithms try in turn."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Stump:
    """The cut 1[x_feature > threshold]; a missing value (NaN) lies below every threshold, -inf included."""

    feature: int
    threshold: float

    def above(self, X):
        """Return, per row, whether the feature (float32) exceeds the threshold (float64)."""
        return np.asarray(X, np.float32)[:, self.feature].astype(np.float64) > self.threshold


def stumps(X):
    """Return all stumps that split the rows, ordered by feature, then by ascending threshold.

    Thresholds lie midway (in float64) between distinct neighbouring values (in float32). -inf, which parts the missing
    from the known, comes first where a feature has both.
    """
    X = np.asarray(X, np.float32)
    if np.isinf(X).any():
        raise ValueError("X holds infinite values, which have no midpoints: make them finite or NaN")
    found = []
    for k in range(X.shape[1]):
        missing = np.isnan(X[:, k])
        values = sorted({float(x) for x in X[~missing, k]})
        if missing.any() and values:
            found.append(Stump(k, -np.inf))
        found.extend(Stump(k, (low + high) / 2) for low, high in pairwise(values))
    return found


def first_best(objectives, tolerance=1e-10):
    """Return the first index whose objective equals the largest up to rounding (a share `tolerance` of it).

    Stumps that part the documents alike tie exactly on paper and only nearly in floating point; the first one wins.
    """
    objectives = np.asarray(objectives)
    best = objectives.max()
    return int(np.flatnonzero(objectives >= best - tolerance * abs(best))[0])
