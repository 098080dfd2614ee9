"""Intervention harvesting: propensities from documents that several rankers show at different positions."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit

from boostplug.clicks.shown import Items
from boostplug.core.arrays import Floats


def all_pairs(items: Items, n_positions: int) -> Callable[[Floats], Floats]:
    """Return the AllPairs estimator, a function of the weight of each query.

    The interventional set of positions k and k' holds the documents of queries that were shown at both. Each counts
    once at k and once at k', with its click rates there. The likelihood has a propensity for each position and a mean
    relevance for each pair of positions.

    Raises
    ------
    ValueError
        If a position shares no documents with those that are linked to position 1, or none of the shared documents was
        clicked at 1.
    """
    shown = items.by_place(np.ones(len(items.item)), n_positions)
    rates = items.by_place(items.clicks / items.impressions, n_positions)
    linked = connected_components(shown.T @ shown, directed=False)[1]
    if (linked != linked[0]).any():
        position = int(np.argmax(linked != linked[0])) + 1
        what = f"log has no interventional set for position {position}"
        raise ValueError(f"{what}; pass max_position, a log of several rankers, or a longer one")
    several = np.diff(shown.tocsr().indptr) > 1
    if not rates.tocsr()[several][:, [0]].sum():
        what = "no document that was shown at position 1 and at others was clicked at 1"
        raise ValueError(f"log.clicked: {what}; pass a log of several rankers, or a longer one")

    def estimate(weight: Floats) -> Floats:
        weighted = shown.multiply(weight[items.query][:, None]).T.tocsr()
        n = (weighted @ shown).toarray()
        clicks = (weighted @ rates).toarray().T  # of position k (row), in the set of k and k'
        np.fill_diagonal(n, 0.0)
        np.fill_diagonal(clicks, 0.0)
        return _most_likely(clicks, n)

    return estimate


def _most_likely(clicks: Floats, n: Floats) -> Floats:
    """Return the propensities that maximise the likelihood of clicks and skips, relative to position 1."""
    n_positions, total = len(n), n.sum()
    upper = np.nonzero(np.triu(n, 1))
    skips = np.maximum(n - clicks, 0.0)

    def loss(logits: Floats) -> tuple[float, Floats]:
        a, b = logits[:n_positions, None], np.zeros_like(n)
        b[upper] = logits[n_positions:]
        b = np.where(np.tri(n_positions, dtype=bool), b.T, b)
        p, r = expit(a), expit(b)
        skipped = np.maximum(1.0 - p * r, 1e-12)
        value = (clicks * (log_expit(a) + log_expit(b)) + skips * np.log(skipped)).sum()
        odds = skips * p * r / skipped
        slope_p, slope_r = (clicks - odds) * (1.0 - p), (clicks - odds) * (1.0 - r)
        slope_r = slope_r + slope_r.T
        return -value / total, -np.concatenate([slope_p.sum(axis=1), slope_r[upper]]) / total

    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.nan_to_num(clicks.sum(axis=1) / n.sum(axis=1))
    start = np.concatenate([np.log(np.clip(rate / max(rate.max(), 1e-12), 0.01, 0.9)), np.full(len(upper[0]), -1.0)])
    solution = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-13, "gtol": 1e-8}
    )
    p = expit(solution.x[:n_positions])
    p[clicks.sum(axis=1) == 0] = 0.0  # its logit has no finite maximum
    p[n.sum(axis=1) == 0] = np.nan  # a resample without the documents of this position
    with np.errstate(divide="ignore", invalid="ignore"):
        theta: Floats = p / p[0]
    return theta
