"""Small random ranking problems for comparisons with brute force."""

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


def has_pairs(queries):
    """Return whether there is anything to learn from."""
    return queries.pairs is not None or len(queries.grade_groups.rows) > 0
