"""Benchmark scaling: one query of more and more documents beside other libraries, and data of 1e8 and 1e9 documents."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import set_num_threads
from boostplug.data.queries import Queries
from boostplug.losses import MPBoost
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.measuring import data as made
from studies.speed.measuring import frameworks, memory
from studies.speed.measuring.clock import call_in_process, foreseen, growing, seconds_of
from studies.speed.measuring.data import Floats, grades, named_losses, real_grades, scores_of
from studies.speed.measuring.frameworks import Own, Step

__all__ = ["EFFICIENCY", "TRAININGS", "Cluster", "Costs", "Scaling", "measured", "needs"]

EFFICIENCY = 0.7  # share of a core's time that is work, where all cores of all machines train: assumed, not measured
_BINS = 256  # of a feature at most
_FEATURE_IN_A_FRAME = 4  # bytes, as float32
_BYTES_OF_A_BIN = 16  # the sums of gradients and Hessians, as float64
_NODES, _DEPTH = 255, 8  # of a tree, of which histograms are kept
_SENT = 1.4  # times the histograms of the smaller children of the last level: measured on two workers
_SIZE = 120
_WARM, _WARM_ROUNDS = 20, 2  # queries and rounds that load and start all that a training needs
_AT_ONCE = 400  # queries that an iterator hands over at once
_CALLS_OF_LOSS = 5


class TrainingSetup(NamedTuple):
    """A way to train.

    `data` returns binned data of features, queries and a folder; `rounds` of these a function that takes an objective
    and returns a step. `network_bytes` returns what a worker sends in a round, by the number of features and workers.
    `memory` has the bytes of a document, and those of each of its features: docs/explanation/scale.md says how they
    were measured.
    """

    library: str
    data: Callable[[NDArray[np.float32], Queries, str], Any]
    rounds: Callable[[Any], Callable[..., Step]]
    network_bytes: Callable[[int, int], float]
    memory: tuple[float, float]
    in_memory: bool = True


def _histogram_bytes(features: int, nodes: int = _NODES) -> int:
    return nodes * features * _BINS * _BYTES_OF_A_BIN


def _xgboost_data(X: NDArray[np.float32], queries: Queries, folder: str, *, cached: bool) -> Any:
    import xgboost as xgb

    kind = xgb.ExtMemQuantileDMatrix if cached else xgb.QuantileDMatrix
    return kind(_batches(X, queries, f"{folder}/pages" if cached else None), nthread=1, max_bin=_BINS)


def _ring(features: int, workers: int) -> float:
    """Return what XGBoost's workers send: sums of histograms go round a ring twice."""
    return _SENT * _histogram_bytes(features, 1 << _DEPTH - 1) * 2 * (workers - 1) / workers


def _by_features(features: int, workers: int) -> float:
    """Return what LightGBM's workers send: each adds up the histograms of its share of the features for all."""
    return _histogram_bytes(features) * (workers - 1) / workers


_LIGHTGBM = {"max_bin": _BINS - 1, "num_leaves": _NODES, "num_threads": 1}
_XGBOOST = partial(frameworks.xgboost_rounds, params={"max_depth": _DEPTH, "max_bin": _BINS, "nthread": 1})
TRAININGS: dict[str, TrainingSetup] = {
    "XGBoost, depth 8": TrainingSetup("xgboost", partial(_xgboost_data, cached=False), _XGBOOST, _ring, (120, 2.8)),
    "XGBoost out of core, depth 8": TrainingSetup(
        "xgboost", partial(_xgboost_data, cached=True), _XGBOOST, _ring, (150, 0), in_memory=False
    ),
    "LightGBM, 255 leaves": TrainingSetup(
        "lightgbm",
        lambda X, queries, _folder: frameworks.lightgbm_data(X, queries, _LIGHTGBM),
        partial(frameworks.lightgbm_rounds, params=_LIGHTGBM),
        _by_features,
        (110, 2),
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
            stop = min(self.start + _AT_ONCE, queries.n_queries)
            rows = slice(queries.boundaries[self.start], queries.boundaries[stop])
            input_data(data=X[rows], label=queries.labels[rows], group=group[self.start : stop])
            self.start = stop
            return True

    return Batches(cache_prefix=cache)


def measured(name: str, n_queries: int, n_features: int, rounds: int) -> dict[str, Any]:
    """Return the cost of a training; call this in a process of its own.

    ``tree_ns`` is the nanoseconds of a round without the loss, for a document and a feature; ``gradient_ns`` those of
    each loss as the framework calls it, for a document: medians without the first. ``after`` and ``peak``, the resident
    memory beyond the features, are None where the system does not tell.
    """
    training = TRAININGS[name]
    set_num_threads(1)
    lists = partial(made.features_and_queries, size=_SIZE, n_features=n_features, shares=made.MSLR_SHARES)
    with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
        _train(training, *lists(_WARM), _WARM_ROUNDS, folder)
    X, queries = lists(n_queries)
    linux = sys.platform.startswith("linux")
    before = memory.count_anew() if linux else 0
    with TemporaryDirectory(prefix="boostplug-bench-", ignore_cleanup_errors=True) as folder:
        data, scores, seconds, _booster = _train(training, X, queries, rounds, folder)  # which holds memory
        after, peak = (memory.resident_bytes(what) - before if linux else None for what in ("VmRSS", "VmHWM"))
        gradients = {
            name: median([seconds_of(partial(loss, scores, data)) for _ in range(_CALLS_OF_LOSS)][1:])
            for name, loss in made.default_losses().items()
        }
        return {
            "documents": queries.n_rows,
            "tree_ns": 1e9 * median(seconds[1:]) / X.size,
            "gradient_ns": {name: 1e9 * taken / queries.n_rows for name, taken in gradients.items()},
            "after": after,
            "peak": peak,
        }


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


class Costs(NamedTuple):
    """Nanoseconds of a round on one thread: of the gradient for a document, of the tree for each of its features."""

    gradient_ns: float
    tree_ns: float


class Cluster(NamedTuple):
    """Machines, each with a worker that has so many cores."""

    workers: int
    cores: int

    def __str__(self) -> str:
        return f"{self.workers} machine{'s' * (self.workers > 1)} of {self.cores} cores"


def needs(
    training: TrainingSetup, costs: Costs, cluster: Cluster, *, documents: float, features: int
) -> dict[str, float]:
    """Return the memory, time and network traffic of a training, by docs/explanation/scale.md.

    A frame's memory is left out where no frame is in memory, and traffic on one machine.
    """
    n = documents / cluster.workers
    seconds = 1e-9 * n / (cluster.cores * EFFICIENCY)
    gradient, trees = seconds * costs.gradient_ns, seconds * costs.tree_ns * features
    values = {"seconds_per_round": gradient + trees, "gradient_share": gradient / (gradient + trees)}
    of_document, of_feature = training.memory
    values["worker_gigabytes"] = 1e-9 * (n * (of_document + of_feature * features) + _histogram_bytes(features))
    if training.in_memory:
        values["frame_gigabytes"] = 1e-9 * n * features * _FEATURE_IN_A_FRAME
    if cluster.workers > 1:
        values["network_megabytes"] = 1e-6 * training.network_bytes(features, cluster.workers)
    return values


_SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
_GROWTHS = _SIZES[3:]
_CALLS, _ROUNDS, _FEW_ROUNDS = 9, 15, 3
_LONGEST, _LONGEST_AGAIN, _LONGEST_OF_OTHERS = 30.0, 2.0, 2.0  # seconds of a call
_MOST_BUILT_IN = 10_000  # documents of a query that LightGBM takes
_BATCH = 10_000  # documents at least of a built-in's round, and of a call where what a document costs is measured
_LAMBDARANK, _NUMPY = "LightGBM's lambdarank", "NumPy, all pairs (RankNet)"
_PAIRWISE, _NDCG = "XGBoost's rank:pairwise, all pairs", "XGBoost's rank:ndcg"
_STEPS = ("BinaryDistance",)  # distances of which a call groups documents by grade
_FIVE, _DIFFERENT, _EACH = "Five grades", "Different grades", "Five grades, a document"
_BLOCK = 256  # rows of the matrix of pairs at once

_QUERIES, _FEATURES, _OF_TRAINING = 8_333, 100, 9  # of 120 documents: a million; rounds
_LEAST_QUERIES = 200
_TREES, _LOSSES, _DATA = "Trees, on one thread", "Losses, on one thread", "{:,.0f} documents × {} features"
_CLUSTERS = {1e8: (Cluster(1, 16), Cluster(4, 16)), 1e9: (Cluster(1, 64), Cluster(16, 16))}
_LOSS = "MPBoost"
_MOST = {"milliseconds_at_10000": 100.0, **{f"growth_to_{n}": 15.0 for n in _GROWTHS}}

Lists = Callable[[int, int], Queries]
Seconds = Mapping[int, float]  # by the number of documents


class Scaling(Benchmark):
    """Calls on one query of more and more documents, and what trainings on very many documents need.

    Scores are normal; grades are MSLR's five, or all different. Calls of more than two seconds are made in the first
    run only. Other implementations run on one thread, each minus a round of squared errors: lambdarank takes the top 30
    against all others, rank:pairwise all pairs. *A document*: lists of one length with 10,000 documents together, on
    one thread, because a call on one short list costs more than its documents. Trainings and memory: see `measured`.
    """

    name = "scaling"
    title = "time by the length of a list, and by the size of the data"
    columns = (
        *(Column(f"milliseconds_at_{n}", f"{n:,}: ms") for n in _SIZES),
        *(Column(f"nanoseconds_at_{n}", f"lists of {n:,}: ns") for n in _SIZES),
        *(Column(f"growth_to_{n}", f"×10 to {n:,}", "ratio", 1) for n in _GROWTHS),
        Column("share", "of lambdarank's", "ratio", 3),
        Column("documents", "documents", "given"),
        Column("gradient_ns", "gradient, ns/document"),
        Column("xgboost_ns", "in XGBoost, ns/document"),
        Column("lightgbm_ns", "in LightGBM, ns/document"),
        Column("tree_ns", "tree, ns/document/feature"),
        Column("after_bytes", "after, B/document", digits=0),
        Column("peak_bytes", "at the most, B/document", digits=0),
        Column("worker_gigabytes", "a worker, GB"),
        Column("frame_gigabytes", "its frame, GB"),
        Column("seconds_per_round", "s/round"),
        Column("gradient_share", "of it the gradient", digits=3),
        Column("network_megabytes", "a worker sends, MB/round", "given", digits=0),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        largest = setting.count(_SIZES[-1], _SIZES[1])
        self._sizes = [n for n in _SIZES if n <= largest]
        self._shorter = min(1.0, setting.scale)
        self._longest = _LONGEST * self._shorter
        self._first = True
        self._memory: dict[str, dict[str, float]] = {}  # by training

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        yield from self._on(_FIVE, grades)
        yield from self._on(_DIFFERENT, real_grades)
        yield from self._of_trainings()
        self._longest, self._first = _LONGEST_AGAIN * self._shorter, False

    def _on(self, part: str, lists: Lists) -> Iterator[Row]:
        queries = {n: lists(1, n) for n in self._sizes}
        scores = {n: scores_of(q) for n, q in queries.items()}
        others: dict[str, Seconds] = {name: self._built_in(name, own, lists) for name, own in _OWNS_OF[lists].items()}
        self.setting.say(_NUMPY)
        calls = {n: partial(_plain_ranknet, scores[n], q.labels) for n, q in queries.items()}
        others[_NUMPY] = growing(calls, _CALLS, longest=_LONGEST_OF_OTHERS * self._shorter)
        ours, losses = {}, named_losses()
        for name, loss in losses.items():
            self.setting.say(f"{part.lower()}: {name}")
            calls = {n: partial(loss.gradient_hessian, scores[n], queries[n]) for n in queries}
            ours[name] = seconds = growing(calls, _CALLS, longest=self._longest)
            if self._first and len(seconds) < len(queries):
                smallest = min(queries.keys() - seconds.keys())
                self.note(f"{part}, {name}: from {smallest:,} on a call would take more than {self._longest:g} s.")
        found = {name: seconds for name, seconds in others.items() if seconds}
        for name, seconds in {**ours, **found}.items():
            loss = losses.get(name)
            smooth = isinstance(loss, MPBoost) and type(loss.distance).__name__ not in _STEPS
            values = _values(seconds, others.get(_LAMBDARANK, {}))
            yield Row(part, name, values, _MOST if smooth and lists is real_grades else {})
        if lists is grades:
            for name, seconds in {**self._of_documents(ours), **found}.items():
                yield Row(_EACH, name, {f"nanoseconds_at_{n}": 1e9 * taken / n for n, taken in seconds.items()})

    def _of_documents(self, ours: Mapping[str, Seconds]) -> dict[str, Seconds]:
        """Return what a list costs among others of its length; `ours` has the seconds of a single one."""
        several = {n: grades(_BATCH // n, n) for n in self._sizes if n < _BATCH}
        losses, each = named_losses(), {}
        for name, seconds in ours.items():
            self.setting.say(f"{_EACH.lower()}: {name}")
            calls = {n: partial(losses[name].gradient_hessian, scores_of(q), q) for n, q in several.items()}
            found = growing(calls, _CALLS, longest=self._longest)
            each[name] = {**seconds, **{n: n * taken / several[n].n_rows for n, taken in found.items()}}
        return each

    def _built_in(self, name: str, own: Callable[[Queries], Own], lists: Lists) -> Seconds:
        """Return what a framework's own gradient of one list takes."""
        seconds: dict[int, float] = {}
        for n in (n for n in self._sizes if name != _LAMBDARANK or n <= _MOST_BUILT_IN):
            if foreseen(seconds, n) > _LONGEST_OF_OTHERS * self._shorter:
                break
            self.setting.say(f"{name}, {n:,} documents")
            n_lists = max(1, _BATCH // n)
            found = own(lists(n_lists, n)).seconds(_ROUNDS if n < _MOST_BUILT_IN else _FEW_ROUNDS)
            if found is not None:
                seconds[n] = found / n_lists
        return seconds

    def _of_trainings(self) -> Iterator[Row]:
        """Measure the cost of trainings, and compute from it what more documents need."""
        n_queries, rounds = self.setting.count(_QUERIES, _LEAST_QUERIES), self.setting.count(_OF_TRAINING, 3)
        found = {}
        for name in TRAININGS:
            self.setting.say(name)
            found[name] = answer = call_in_process(measured, name, n_queries, _FEATURES, rounds, OMP_NUM_THREADS="1")
            known = {f"{when}_bytes": answer[when] for when in ("after", "peak") if answer[when] is not None}
            self._memory.setdefault(name, {key: taken / answer["documents"] for key, taken in known.items()})
        if self.setting.scale < 1:
            self.note("Below full scale a tree's histograms weigh more in the bytes of a document.")
        if not all(self._memory.values()):
            self.note("Memory of trainings is left out: this system does not tell the most that a process has had.")
        losses: dict[str, dict[str, float | None]] = {}
        for name, answer in found.items():
            values = {"gradient_ns": answer["gradient_ns"][_LOSS], "tree_ns": answer["tree_ns"], **self._memory[name]}
            yield Row(_TREES, name, {"documents": answer["documents"], **values})
            for loss, taken in answer["gradient_ns"].items() if TRAININGS[name].in_memory else ():
                of_loss = losses.setdefault(loss, {"documents": answer["documents"]})
                of_loss[f"{TRAININGS[name].library}_ns"] = taken
        for loss, of_loss in losses.items():
            yield Row(_LOSSES, loss, of_loss)
        for documents, clusters in _CLUSTERS.items():
            for name, answer in found.items():
                training, costs = TRAININGS[name], Costs(answer["gradient_ns"][_LOSS], answer["tree_ns"])
                for cluster in clusters if training.in_memory else clusters[:1]:
                    needed = needs(training, costs, cluster, documents=documents, features=_FEATURES)
                    yield Row(_DATA.format(documents, _FEATURES), f"{name}: {cluster}", needed)


def _values(seconds: Seconds, lambdarank: Seconds) -> dict[str, float]:
    values = {f"milliseconds_at_{n}": 1e3 * taken for n, taken in seconds.items()}
    both = [n for n in _GROWTHS if n in seconds and n // 10 in seconds]
    values |= {f"growth_to_{n}": seconds[n] / seconds[n // 10] for n in both}
    if 1_000 in lambdarank and 1_000 in seconds:
        values["share"] = seconds[1_000] / lambdarank[1_000]
    return values


def _rank_pairwise(lists: Queries) -> Own:
    longest = int(np.diff(lists.boundaries).max())
    pairs = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": longest}
    return frameworks.xgboost_own(lists, 1, "rank:pairwise", scores_of(lists), **pairs)


_OWNS_OF: Mapping[Lists, Mapping[str, Callable[[Queries], Own]]] = {
    grades: {
        _LAMBDARANK: lambda lists: frameworks.lightgbm_own(lists, 1, scores_of(lists)),
        _NDCG: lambda lists: frameworks.xgboost_own(lists, 1, "rank:ndcg", scores_of(lists)),
        _PAIRWISE: _rank_pairwise,
    },
    real_grades: {_PAIRWISE: _rank_pairwise},
}


def _plain_ranknet(scores: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """Return RankNet's gradient and Hessian of one query over the matrix of its pairs, some rows at a time."""
    gradient, hessian = np.zeros((2, len(scores)))
    for start in range(0, len(scores), _BLOCK):
        rows = slice(start, start + _BLOCK)
        better = labels[rows, None] > labels
        rho = better / (1.0 + np.exp(scores[rows, None] - scores))
        curvature = rho * (1.0 - rho)
        gradient[rows] -= rho.sum(axis=1)
        gradient += rho.sum(axis=0)
        hessian[rows] += curvature.sum(axis=1)
        hessian += curvature.sum(axis=0)
    return gradient, hessian
