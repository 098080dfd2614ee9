"""Data of benchmarks: random lists of the shapes of known data sets, the same in every run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.values import distinct_names
from boostplug.data.queries import Queries
from boostplug.losses import LOSSES, Loss, MPBoost

__all__ = [
    "MSLR_SHARES",
    "default_losses",
    "features_and_queries",
    "grades",
    "named_losses",
    "real_grades",
    "scores_of",
]

Floats = NDArray[np.float64]

MSLR_SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)
"""Of the grades 0 to 4 in MSLR-WEB30K."""


def named_losses() -> dict[str, Loss]:
    """Return every variant of the registry by a short name, no two alike, without those that learn from positions."""
    losses = [loss for variants in LOSSES.values() for loss in variants if not loss.traits.positions]
    return dict(zip(distinct_names(losses), losses, strict=True))


def default_losses() -> dict[str, Loss]:
    """Return a variant of each loss of the registry by its class's name: the first; of MPBoost the default."""
    firsts = [MPBoost() if isinstance(variants[0], MPBoost) else variants[0] for variants in LOSSES.values()]
    return {type(loss).__name__: loss for loss in firsts if not loss.traits.positions}


def grades(n_queries: int, size: int) -> Queries:
    """Return lists of `size` documents with MSLR's grades."""
    labels = np.random.default_rng(0).choice(len(MSLR_SHARES), n_queries * size, p=MSLR_SHARES)
    return Queries(labels.astype(np.float64), group=np.full(n_queries, size))


def real_grades(n_queries: int, size: int) -> Queries:
    """Return lists of `size` documents whose grades all differ, from 0 to 4."""
    labels = 4.0 * np.random.default_rng(1).random(n_queries * size)
    return Queries(labels, group=np.full(n_queries, size))


def scores_of(queries: Queries, spread: float = 1.0) -> Floats:
    """Return normal scores of some standard deviation."""
    return spread * np.random.default_rng(2).normal(size=queries.n_rows)


def features_and_queries(
    n_queries: int, size: int, n_features: int, shares: int | Sequence[float]
) -> tuple[NDArray[np.float32], Queries]:
    """Return random features, a third of which tell the grade, and queries of one size.

    `shares` are those of the grades, or how many grades there are.
    """
    rng = np.random.default_rng(0)
    n = n_queries * size
    p = None if isinstance(shares, int) else shares
    y = rng.choice(shares if p is None else len(p), n, p=p).astype(np.float64)
    X: NDArray[Any] = rng.normal(size=(n, n_features))
    X[:, ::3] += 0.3 * y[:, None]
    return X.astype(np.float32), Queries(y, group=np.full(n_queries, size))
