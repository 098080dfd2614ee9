"""Regression EM: propensities of a log without randomisation, with a model of relevance."""

from collections.abc import Callable
from typing import Any

import numpy as np

from boostplug.clicks.shown import Items, sums
from boostplug.core.arrays import Floats
from boostplug.data.tables import rows_of

_ROUNDS_WITH_MODEL, _ROUNDS = 20, 500
_TOLERANCE_WITH_MODEL, _TOLERANCE = 2e-3, 1e-6  # largest change of a propensity in one round
_INNER = 3  # updates of the propensities in one round: they cost little beside a model
_LEAST = 1e-12
_VALUES_FOR_ONE_THREAD = 5_000_000  # of features; below it, threads that wait for a busy core cost more than they gain
_PRIOR = 5.0  # looks at the mean relevance, added to those at each document
# 32 bins, because finding more takes longer than growing the trees. The regularization counts in documents that were
# looked at, so that it matters in short logs only.
_MODEL: dict[str, Any] = {
    "max_iter": 40,
    "max_leaf_nodes": 15,
    "max_bins": 32,
    "l2_regularization": 30.0,
    "early_stopping": False,
    "random_state": 0,
}


def regression_em(items: Items, n_positions: int, X: Any) -> Callable[[Floats], Floats]:
    """Return the estimator, a function of the weight of each query. Later calls start from the result of the first.

    A click says that the document was looked at and is relevant. Behind a skip stand three cases. Each step fills in
    as little as it needs (the alternating EM of Meng & van Dyk, "The EM algorithm: an old folk-song sung to a fast new
    tune", JRSS B 1997). For the relevance these are the skips that were looked at, for the propensities the skips of
    relevant documents. The likelihood grows as in plain EM, which takes hundreds of rounds where clicks are rare.

    Parameters
    ----------
    items : Items
    n_positions : int
    X : features, one row per document number, or None
        None: a relevance for each document of a query.
    """
    _, _, item, place, impressions, clicks = items
    n_items = len(items.query)
    both = None if X is None else rows_of(X, np.tile(items.document, 2))
    rounds, tolerance = (_ROUNDS, _TOLERANCE) if both is None else (_ROUNDS_WITH_MODEL, _TOLERANCE_WITH_MODEL)
    start: tuple[Floats, Floats] | None = None

    def estimate(of_query: Floats) -> Floats:
        nonlocal start
        weight = of_query[items.query][item]
        c, skips = clicks * weight, (impressions - clicks) * weight
        of_place, of_item = sums(place, c, n_positions), sums(item, c, n_items)
        if start is None:
            rate = of_place / sums(place, c + skips, n_positions)
            theta, relevance = np.clip(rate / rate[0], 1e-3, 1.0), np.full(n_items, rate[0])
        else:
            theta, relevance = start
        for _ in range(rounds):
            before, looked_at, relevant = theta, theta[place], relevance[item]
            looked_at = skips * looked_at * (1.0 - relevant) / np.maximum(1.0 - looked_at * relevant, _LEAST)
            relevance = _relevance(both, of_item, sums(item, looked_at, n_items))
            relevant = relevance[item]
            for _ in range(_INNER):
                unseen = 1.0 - theta[place]
                missed = skips * relevant * unseen / np.maximum(1.0 - (1.0 - unseen) * relevant, _LEAST)
                theta = of_place / np.maximum(of_place + sums(place, missed, n_positions), _LEAST)
            if np.abs(theta - before).max() <= tolerance:
                break
        start = start or (theta, relevance)
        return theta / theta[0] if theta[0] > 0 else np.full(n_positions, np.nan)

    return estimate


def _relevance(X: Any, clicks: Floats, skips: Floats) -> Floats:
    """Return the relevance of each item, given its clicks and the expected number of skips that were looked at.

    X holds the features of the items twice, or is None.
    """
    if X is None:
        mean = clicks.sum() / max((clicks + skips).sum(), _LEAST)
        shrunk: Floats = (clicks + _PRIOR * mean) / (clicks + skips + _PRIOR)
        return shrunk
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(**_MODEL)
    with threadpool_limits(1 if X.size <= _VALUES_FOR_ONE_THREAD else None, "openmp"):
        model.fit(X, np.repeat([1, 0], len(clicks)), np.concatenate([clicks, skips]))
        fitted: Floats = model.predict_proba(X[: len(clicks)])[:, 1]
    return fitted
