"""Small random ranking problems for comparisons with brute force, and every stump of a data set, one by one."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from boostplug import Pairs, Queries


def problem(seed, *, grades="integer", weighted=False, explicit=False, n_features=4):
    """Return X (float32: ties, missing values, duplicate and constant columns) and its Queries."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, rng.integers(2, 5))
    n = int(sizes.sum())
    X = rng.integers(0, 5, (n, n_features)).astype(np.float32)
    X[:, 1] += rng.normal(size=n).astype(np.float32)
    X[rng.random((n, n_features)) < 0.1] = np.nan
    X = np.column_stack([X, X[:, rng.integers(n_features)], np.zeros(n)]).astype(np.float32)
    y = rng.integers(0, 4, n).astype(float) if grades == "integer" else rng.normal(size=n).round(1)
    weight = rng.random(n) + 0.2 if weighted else None
    pairs = None
    if explicit:
        m = int(rng.integers(3, 12))
        winner = rng.integers(0, n, m)
        loser = (winner + rng.integers(1, n, m)) % n
        pairs = Pairs(winner, loser, weight=rng.random(m) + 0.1)
    return X, Queries(y, group=sizes, weight=weight, pairs=pairs)


def fit(ranker, X, queries):
    """Fit a ranker on Queries."""
    given = {"pairs": queries.pairs, "labelled": queries.labelled, "sample_weight": queries.row_weight}
    return ranker.fit(X, queries.labels, group=np.diff(queries.boundaries), **given)


def has_pairs(queries):
    """Return whether there is anything to learn from."""
    return queries.pairs is not None or len(queries.grade_groups.rows) > 0


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
