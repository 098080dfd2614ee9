"""A framework's call of a loss → `Queries` and scores → gradient and Hessian as float32."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.adapter import Adapter
from boostplug.adapters.reading import adapter_of, queries_of, queries_of_arrays
from boostplug.adapters.workers import NO_QUERIES, Workers, in_step
from boostplug.core.arrays import Floats
from boostplug.core.threads import threads_of_framework
from boostplug.core.warning import warn_user
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.single_precision import to_single

Floats32 = NDArray[np.float32]


def derivatives_for_framework(
    loss: Any, a: Any, b: Any, weight: Any = None, group: Any = None
) -> tuple[Floats32, Floats32]:
    """Return gradient and Hessian to a framework; it is `Loss.__call__`.

    Parameters
    ----------
    a, b : array and dataset, or two arrays
        (scores, ``lgb.Dataset`` or ``xgb.DMatrix``) as ``lgb.train`` and ``xgb.train`` call it, or (labels, scores)
        as ``lgb.LGBMRanker`` does.
    weight, group : array, optional
        Row weights and query sizes, from ``lgb.LGBMRanker``.

    Returns
    -------
    gradient, hessian : ndarray of shape (n_rows,), float32
    """
    adapter = adapter_of(b)
    if adapter is None:
        scores, queries, n_threads = b, queries_of_arrays(a, weight, group), None
    else:
        workers = None if adapter.workers is None else adapter.workers()
        if workers is not None:
            return _on_worker(loss, workers, adapter, a, b)
        queries, n_threads = queries_of(adapter, b), adapter.threads(b)
        scores = a if queries.n_rows else np.empty(0)
    if not queries.position_is_rank and not loss.traits.positions:
        raise ValueError(
            f"the lgb.Dataset has position=…, which {loss!r} does not read; train boostplug.Unbiased(base=…), or "
            "pass a Dataset without it"
        )
    with nullcontext() if n_threads is None else threads_of_framework(n_threads):
        gradient, hessian = loss.gradient_hessian(scores, queries)
    g, h = np.empty((2, len(gradient)), np.float32)
    row, learns = to_single(gradient, hessian, g, h)  # as `as_single`, without a call more in each round
    if row >= 0:
        raise _beyond_single(loss, gradient, hessian, row)
    if not learns:
        _warn_of_nothing(loss, queries)
    return g, h


def _on_worker(loss: Any, workers: Workers, adapter: Adapter, scores: Any, dataset: Any) -> tuple[Floats32, Floats32]:
    """Return gradient and Hessian of one worker's rows. An error of one worker is raised on all."""
    with in_step(workers, 1 + loss.traits.n_totals, 1) as exchange:
        queries = queries_of(adapter, dataset)
        scores = scores if queries.n_rows else np.empty(0)
        with threads_of_framework(adapter.threads(dataset)):
            of_all = exchange.sum(np.r_[queries.n_queries, loss.totals(scores, queries)])
            if not of_all[0]:
                raise ValueError(NO_QUERIES)
            gradient, hessian = loss.gradient_hessian(scores, queries, totals=of_all[1:])
        g, h, learns = as_single(loss, gradient, hessian)
        learns = bool(exchange.sum(np.array([float(learns)]))[0])
    if not learns and queries.n_rows:
        _warn_of_nothing(loss, queries)
    return g, h


def as_single(loss: Any, gradient: Floats, hessian: Floats) -> tuple[Floats32, Floats32, bool]:
    """Return both as float32, and whether any gradient is not 0; see `to_single`."""
    g, h = np.empty((2, len(gradient)), np.float32)
    row, learns = to_single(gradient, hessian, g, h)
    if row >= 0:
        raise _beyond_single(loss, gradient, hessian, row)
    return g, h, learns


def _beyond_single(loss: Any, gradient: Floats, hessian: Floats, row: int) -> ValueError:
    return ValueError(
        f"{loss!r} returned gradient {gradient[row]} and Hessian {hessian[row]} in row {row}; the frameworks take "
        "numbers within float32's ±3.4e38, the Hessian not negative: check weights and scores, or rescale labels"
    )


def _warn_of_nothing(loss: Any, queries: Queries) -> None:
    """Warn, once for each loss and data, why the gradient is 0 in all rows."""
    cause = why_nothing_is_learnt(loss.with_own_labels(queries)) or "its gradient has vanished at these scores"
    if queries.pairs is None and not queries.labels.any():
        cause += "; all labels are 0, LightGBM's replacement for missing and NaN labels"
    text = f"{loss!r} has nothing to learn from: {cause}; the model stays constant"
    queries.remember(("nothing to learn", loss), lambda: warn_user(text))
