"""What a training costs for a document and a feature, on one thread; and what more documents and machines then need."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import set_num_threads
from boostplug.data.queries import Queries
from boostplug.losses import MPBoost
from boostplug.studies.speed.measuring.clock import seconds_of
from boostplug.studies.speed.measuring.data import MSLR_SHARES, default_losses, features_and_queries
from boostplug.studies.speed.measuring.frameworks import Step, lightgbm_data, lightgbm_rounds, xgboost_rounds
from boostplug.studies.speed.measuring.memory import count_anew, most_bytes, resident_bytes

__all__ = ["BINS", "EFFICIENCY", "TRAININGS", "Cluster", "Costs", "TrainingSetup", "measured", "needs"]

BINS = 256
"""Of a feature at most."""

EFFICIENCY = 0.7
"""The share of a core's time that is work, where all cores of all machines train: assumed, not measured."""

_FEATURE_IN_A_FRAME = 4  # bytes, as float32
_BYTES_OF_A_BIN = 16  # the sums of gradients and Hessians, as float64
_NODES = 255  # of a tree, of which histograms are kept
_DEPTH = 8
_SENT = 1.4  # times the histograms of the smaller children of the last level: measured on two workers
_SIZE = 120
_WARM, _WARM_ROUNDS = 20, 2  # queries and rounds that load and start all that a training needs
_BATCH = 400  # queries that an iterator hands over at once
_CALLS = 5


@dataclass(frozen=True)
class TrainingSetup:
    """A way to train.

    Attributes
    ----------
    library : str
        To be installed.
    data : callable
        Returns the framework's binned data of features, queries and a folder.
    rounds : callable
        Of these, returns what takes an objective, and returns a new booster's step: one round.
    network_bytes : callable
        Returns what a worker sends in a round so that all know the best splits, of so many features and workers.
    in_memory : bool
        Whether all documents are, on the machine or on its workers.
    """

    library: str
    data: Callable[[NDArray[np.float32], Queries, str], Any]
    rounds: Callable[[Any], Callable[..., Step]]
    network_bytes: Callable[[int, int], float]
    in_memory: bool = True

    def histogram_bytes(self, features: int) -> int:
        """Return what the histograms of a tree take, however many documents there are."""
        return _histogram_bytes(features)


def _histogram_bytes(features: int, nodes: int = _NODES) -> int:
    return nodes * features * BINS * _BYTES_OF_A_BIN


def _binned(X: NDArray[np.float32], queries: Queries, _folder: str) -> Any:
    import xgboost as xgb

    return xgb.QuantileDMatrix(_batches(X, queries, None), nthread=1, max_bin=BINS)


def _out_of_core(X: NDArray[np.float32], queries: Queries, folder: str) -> Any:
    import xgboost as xgb

    return xgb.ExtMemQuantileDMatrix(_batches(X, queries, f"{folder}/pages"), nthread=1, max_bin=BINS)


def _ring(features: int, workers: int) -> float:
    """Return what XGBoost's workers send: sums of histograms go round a ring, to be added up and to be known by all."""
    return _SENT * _histogram_bytes(features, 1 << _DEPTH - 1) * 2 * (workers - 1) / workers


def _by_features(features: int, workers: int) -> float:
    """Return what LightGBM's workers send: each adds up the histograms of its share of the features for all."""
    return _histogram_bytes(features) * (workers - 1) / workers


_LIGHTGBM = {"max_bin": BINS - 1, "num_leaves": _NODES, "num_threads": 1}
_XGBOOST = partial(xgboost_rounds, params={"max_depth": _DEPTH, "max_bin": BINS, "nthread": 1})
TRAININGS: dict[str, TrainingSetup] = {
    "XGBoost, depth 8": TrainingSetup("xgboost", _binned, _XGBOOST, _ring),
    "XGBoost out of core, depth 8": TrainingSetup("xgboost", _out_of_core, _XGBOOST, _ring, in_memory=False),
    "LightGBM, 255 leaves": TrainingSetup(
        "lightgbm",
        lambda X, queries, _folder: lightgbm_data(X, queries, _LIGHTGBM),
        partial(lightgbm_rounds, params=_LIGHTGBM),
        _by_features,
    ),
}


def _batches(X: NDArray[np.float32], queries: Queries, cache: str | None) -> Any:
    """Return XGBoost's iterator over whole queries, some at a time."""
    import xgboost as xgb

    group = np.diff(queries.boundaries)

    class Batches(xgb.DataIter):
        start = 0

        def reset(self) -> None:
            self.start = 0

        def next(self, input_data: Callable[..., object]) -> bool:
            if self.start >= queries.n_queries:
                return False
            stop = min(self.start + _BATCH, queries.n_queries)
            rows = slice(queries.boundaries[self.start], queries.boundaries[stop])
            input_data(data=X[rows], label=queries.labels[rows], group=group[self.start : stop])
            self.start = stop
            return True

    return Batches(cache_prefix=cache)


def measured(name: str, n_queries: int, n_features: int, rounds: int) -> dict[str, Any]:
    """Return what a training costs; to be called in a process of its own.

    Returns
    -------
    dict
        ``documents``; ``tree_ns``, nanoseconds of a round for a document and a feature without those of the loss, and
        ``gradient_ns``, by loss, for a document, as the framework calls them: medians without the first. ``after`` and
        ``peak``, bytes of the resident set beyond the data given, are None where the system does not tell. Where the
        framework is not installed, ``missing`` alone.
    """
    training = TRAININGS[name]
    set_num_threads(1)
    with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
        try:
            _train(training, *_lists(_WARM, n_features), _WARM_ROUNDS, folder)
        except ImportError as error:
            return {"missing": str(error)}
    X, queries = _lists(n_queries, n_features)
    linux = sys.platform.startswith("linux")
    before = count_anew() if linux else 0
    with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
        data, scores, seconds, _booster = _train(training, X, queries, rounds, folder)  # which holds memory
        after, peak = (resident_bytes() - before, most_bytes() - before) if linux else (None, None)
        gradients = {name: partial(loss, scores, data) for name, loss in default_losses().items()}
        return {
            "documents": queries.n_rows,
            "tree_ns": 1e9 * median(seconds[1:]) / X.size,
            "gradient_ns": {name: 1e9 * _seconds(call) / queries.n_rows for name, call in gradients.items()},
            "after": after,
            "peak": peak,
        }


def _lists(n_queries: int, n_features: int) -> tuple[NDArray[np.float32], Queries]:
    return features_and_queries(n_queries, _SIZE, n_features, MSLR_SHARES)


def _seconds(call: Callable[[], object]) -> float:
    """Return the median seconds of some calls without the first."""
    return median([seconds_of(call) for _ in range(_CALLS)][1:])


def _train(
    training: TrainingSetup, X: NDArray[np.float32], queries: Queries, rounds: int, folder: str
) -> tuple[Any, Any, list[float], Step]:
    """Return the data, the scores before the last round, the seconds of rounds without the loss's, and the booster."""
    data, loss = training.data(X, queries, folder), MPBoost()
    of_calls: list[float] = []
    scores = None

    def objective(given: Any, dataset: Any) -> Any:
        nonlocal scores
        scores, start = given.copy(), perf_counter()
        derivatives = loss(given, dataset)
        of_calls.append(perf_counter() - start)
        return derivatives

    step = training.rounds(data)(objective)
    of_rounds = [seconds_of(step) for _ in range(rounds)]
    return data, scores, [whole - call for whole, call in zip(of_rounds, of_calls, strict=True)], step


@dataclass(frozen=True)
class Costs:
    """What a training costs on one thread.

    Attributes
    ----------
    gradient_ns : float
        Nanoseconds of the loss in a round, for a document.
    tree_ns : float
        Nanoseconds of the rest of a round, for a document and a feature.
    document_bytes : float
        The most that is in memory for a document beside its features themselves.
    """

    gradient_ns: float
    tree_ns: float
    document_bytes: float | None


@dataclass(frozen=True)
class Cluster:
    """Machines, each with a worker that has so many cores."""

    workers: int
    cores: int

    @property
    def name(self) -> str:
        """In words."""
        machines = "1 machine" if self.workers == 1 else f"{self.workers} machines"
        return f"{machines} of {self.cores} cores"


def needs(
    training: TrainingSetup, costs: Costs, cluster: Cluster, *, documents: float, features: int
) -> Mapping[str, float]:
    """Return what a training needs.

    Returns
    -------
    mapping of str to float
        ``worker_gigabytes``, the most on a worker, where it is known; ``frame_gigabytes``, what its part of the
        features takes beside, as float32, while a frame of them is in memory; ``seconds_per_round``;
        ``gradient_share`` of these; ``network_megabytes``, what a worker sends in a round, where there are several.
    """
    n = documents / cluster.workers
    seconds = 1e-9 * n / (cluster.cores * EFFICIENCY)
    gradient, trees = seconds * costs.gradient_ns, seconds * costs.tree_ns * features
    values = {"seconds_per_round": gradient + trees, "gradient_share": gradient / (gradient + trees)}
    if costs.document_bytes is not None:
        values["worker_gigabytes"] = 1e-9 * (n * costs.document_bytes + training.histogram_bytes(features))
    if training.in_memory:
        values["frame_gigabytes"] = 1e-9 * n * features * _FEATURE_IN_A_FRAME
    if cluster.workers > 1:
        values["network_megabytes"] = 1e-6 * training.network_bytes(features, cluster.workers)
    return values
