"""Benchmark scaling: one query of more and more documents beside peers, and data of 1e8 and 1e9 documents."""

import sys
from collections.abc import Callable, Iterator, Mapping
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
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.figures import Growth, Headline
from studies.speed.measuring.clock import call_in_process, foreseen, growing, seconds_of
from studies.speed.measuring.data import (
    MSLR_SHARES,
    Floats,
    default_losses,
    features_and_queries,
    grades,
    named_losses,
    real_grades,
    scores_of,
)
from studies.speed.measuring.frameworks import (
    Own,
    Step,
    lightgbm_data,
    lightgbm_own,
    lightgbm_rounds,
    xgboost_own,
    xgboost_rounds,
)
from studies.speed.measuring.memory import count_anew, most_bytes, resident_bytes

__all__ = ["EFFICIENCY", "TRAININGS", "Cluster", "Costs", "Scaling", "histogram_bytes", "measured", "needs"]

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
_AT_ONCE = 400  # queries that an iterator hands over at once
_CALLS_OF_LOSS = 5


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


def histogram_bytes(features: int, nodes: int = _NODES) -> int:
    """Return what the histograms of a tree take, however many documents there are."""
    return nodes * features * BINS * _BYTES_OF_A_BIN


def _binned(X: NDArray[np.float32], queries: Queries, _folder: str) -> Any:
    import xgboost as xgb

    return xgb.QuantileDMatrix(_batches(X, queries, None), nthread=1, max_bin=BINS)


def _out_of_core(X: NDArray[np.float32], queries: Queries, folder: str) -> Any:
    import xgboost as xgb

    return xgb.ExtMemQuantileDMatrix(_batches(X, queries, f"{folder}/pages"), nthread=1, max_bin=BINS)


def _ring(features: int, workers: int) -> float:
    """Return what XGBoost's workers send: sums of histograms go round a ring, to be added up and to be known by all."""
    return _SENT * histogram_bytes(features, 1 << _DEPTH - 1) * 2 * (workers - 1) / workers


def _by_features(features: int, workers: int) -> float:
    """Return what LightGBM's workers send: each adds up the histograms of its share of the features for all."""
    return histogram_bytes(features) * (workers - 1) / workers


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
            stop = min(self.start + _AT_ONCE, queries.n_queries)
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
    return median([seconds_of(call) for _ in range(_CALLS_OF_LOSS)][1:])


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
    """Cost of a training on one thread.

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
) -> dict[str, float]:
    """Return what a training needs.

    Returns
    -------
    dict of str to float
        ``worker_gigabytes``, the most on a worker, where it is known; ``frame_gigabytes``, what its part of the
        features takes beside, as float32, while a frame of them is in memory; ``seconds_per_round``;
        ``gradient_share`` of these; ``network_megabytes``, what a worker sends in a round, where there are several.
    """
    n = documents / cluster.workers
    seconds = 1e-9 * n / (cluster.cores * EFFICIENCY)
    gradient, trees = seconds * costs.gradient_ns, seconds * costs.tree_ns * features
    values = {"seconds_per_round": gradient + trees, "gradient_share": gradient / (gradient + trees)}
    if costs.document_bytes is not None:
        values["worker_gigabytes"] = 1e-9 * (n * costs.document_bytes + histogram_bytes(features))
    if training.in_memory:
        values["frame_gigabytes"] = 1e-9 * n * features * _FEATURE_IN_A_FRAME
    if cluster.workers > 1:
        values["network_megabytes"] = 1e-6 * training.network_bytes(features, cluster.workers)
    return values


_SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
_GROWTHS = _SIZES[3:]
_CALLS, _ROUNDS, _FEW_ROUNDS = 9, 15, 3
_LONGEST, _LONGEST_AGAIN, _LONGEST_OF_PEERS = 30.0, 2.0, 2.0  # seconds of a call
_MOST_BUILT_IN = 10_000  # documents of a query that LightGBM takes
_BATCH = 10_000  # documents at least of a built-in's round, and of a call where what a document costs is measured
_LAMBDARANK, _NUMPY = "LightGBM's lambdarank", "NumPy, all pairs (RankNet)"
_PAIRWISE, _NDCG = "XGBoost's rank:pairwise, all pairs", "XGBoost's rank:ndcg"
_STEPS = ("BinaryDistance",)  # distances of which a call groups documents by grade
_FIVE, _DIFFERENT = "Five grades", "Different grades"
_EACH = "Five grades, a document"
_BLOCK = 256  # rows of the matrix of pairs at once

_QUERIES, _FEATURES, _OF_TRAINING = 8_333, 100, 9  # of 120 documents: a million; rounds
_LEAST_QUERIES = 200
_TREES, _LOSSES, _DATA = "Trees, on one thread", "Losses, on one thread", "{:,.0f} documents × {} features"
_CLUSTERS: Mapping[float, tuple[Cluster, ...]] = {
    1e8: (Cluster(1, 16), Cluster(4, 16)),
    1e9: (Cluster(1, 64), Cluster(16, 16)),
}
_LOSS = "MPBoost"
_QUIET = {"OMP_NUM_THREADS": "1"}

Lists = Callable[[int, int], Queries]
_OwnOf = Callable[[Queries], Own]


class Scaling(Benchmark):
    """Calls on one query of more and more documents, and what trainings on very many documents need."""

    name = "scaling"
    title = "time by the length of a list, and by the size of the data"
    about = f"""\
Milliseconds of one `gradient_hessian` on one query of 10 to a million documents with normal scores: once with the five
grades of MSLR-WEB30K, once with a different grade for each document. *×10 to* divides the time by that on a tenth of
the documents. Calls that take more than {_LONGEST:g} s are left out, and the notes list them; calls of more than
{_LONGEST_AGAIN:g} s are made in the first run only.

Other implementations run on one query and one thread, as they do in training: LightGBM's lambdarank (the top 30
against all others; at most {_MOST_BUILT_IN:,} documents, no real-valued grades), XGBoost's rank:ndcg with its defaults
and rank:pairwise with all pairs, each minus a round of squared errors, and RankNet in plain NumPy over all pairs. *Of
lambdarank's* divides the time on 1,000 documents by lambdarank's.

On a short list most of the time is the call itself. The tables *a document* therefore time lists of one length that
have {_BATCH:,} documents together, on one thread, as in a training with many queries.

The cost of a training is measured on a million documents × {_FEATURES} features (lists of 120, {_LOSS}), in separate
processes on one thread. *Tree* is the median round except the first, minus the loss, per document and feature.
*Gradient* is the loss as the framework calls it, per document. Memory is the resident memory above the features
themselves, at the end and at its peak, measured in the first run only.

The last tables compute from these what {" and ".join(f"{n:,.0f}" for n in _CLUSTERS)} documents need, if every
core does {EFFICIENCY:.0%} of the work of a single one ([the formulas](../explanation/scale.md)): a worker's peak
memory, the features as float32 while a frame of them is in memory, and what a worker sends per round.
"""
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
        Column("after_bytes", "after, B/document/feature", digits=2),
        Column("peak_bytes", "at the most, B/document/feature", digits=2),
        Column("worker_gigabytes", "a worker, GB"),
        Column("frame_gigabytes", "its frame, GB"),
        Column("seconds_per_round", "s/round"),
        Column("gradient_share", "of it the gradient", digits=3),
        Column("network_megabytes", "a worker sends, MB/round", "given", digits=0),
    )
    figures = (
        Headline(
            name="cost",
            title="",
            part=_EACH,
            prefix="nanoseconds_at_",
            heading="All pairs of a list, without the price of all pairs",
            unit="Time per document: gradient and Hessian, five grades, one thread",
            axis="documents in the list",
            note=(
                f"LightGBM's lambdarank takes lists of up to {_MOST_BUILT_IN:,}; all pairs by others end where a call\n"
                f"would take {_LONGEST_OF_PEERS:g} s. lambdarank and XGBoost's rank:ndcg take pairs with the top 30 "
                "and 32 alone."
            ),
            ours={
                "LambdaRank": "LambdaRank",
                "QBRank": "QBRank",
                "NDCGBoost": "NDCGBoost",
                "RankNet": "RankNet",
                "MPBoost(Log)": "MPBoost",
            },
            peers={
                _NUMPY: "NumPy, all pairs",
                _PAIRWISE: "rank:pairwise, all pairs",
                _NDCG: "rank:ndcg",
                _LAMBDARANK: "lambdarank",
            },
        ),
        *(
            Growth(
                name=part, title=f"Time of one query, {part.lower()}", part=part, prefix="milliseconds_at_", unit="ms"
            )
            for part in (_FIVE, _DIFFERENT)
        ),
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
        peers = {name: self._built_in(name, own, lists) for name, own in _OWNS_OF[lists].items()}
        peers[_NUMPY] = self._numpy(queries)
        lambdarank = peers.get(_LAMBDARANK, {})
        ours = {}
        for name, loss in named_losses().items():
            self.setting.say(f"{part.lower()}: {name}")
            calls = {n: partial(loss.gradient_hessian, scores[n], queries[n]) for n in queries}
            ours[name] = seconds = growing(calls, _CALLS, longest=self._longest)
            if self._first and len(seconds) < len(queries):
                smallest = min(queries.keys() - seconds.keys())
                self.note(f"{part}, {name}: from {smallest:,} on a call would take more than {self._longest:g} s.")
            smooth = isinstance(loss, MPBoost) and type(loss.distance).__name__ not in _STEPS
            yield self._row(part, name, seconds, lambdarank, targets=smooth and lists is real_grades)
        for name, found in peers.items():
            if found:
                yield self._row(part, name, found, lambdarank, peer=True)
        if lists is grades:
            yield from self._of_documents(ours, peers)

    def _of_documents(
        self, ours: Mapping[str, Mapping[int, float]], peers: Mapping[str, Mapping[int, float]]
    ) -> Iterator[Row]:
        """Yield what a document costs, by the length of its list; ours are seconds of one list, as the peers' are."""
        several = {n: grades(_BATCH // n, n) for n in self._sizes if n < _BATCH}
        losses = named_losses()
        for name, seconds in ours.items():
            self.setting.say(f"{_EACH.lower()}: {name}")
            calls = {n: partial(losses[name].gradient_hessian, scores_of(q), q) for n, q in several.items()}
            found = growing(calls, _CALLS, longest=self._longest)
            yield _each(name, {**seconds, **{n: n * taken / several[n].n_rows for n, taken in found.items()}})
        for name, seconds in peers.items():
            if seconds:
                yield _each(name, seconds, peer=True)

    def _row(
        self,
        part: str,
        name: str,
        seconds: Mapping[int, float],
        lambdarank: Mapping[int, float],
        *,
        targets: bool = False,
        peer: bool = False,
    ) -> Row:
        values: dict[str, float | None] = {f"milliseconds_at_{n}": 1e3 * taken for n, taken in seconds.items()}
        for n in _GROWTHS:
            if n in seconds and n // 10 in seconds:
                values[f"growth_to_{n}"] = seconds[n] / seconds[n // 10]
        if 1_000 in lambdarank and 1_000 in seconds:
            values["share"] = seconds[1_000] / lambdarank[1_000]
        most = {"milliseconds_at_10000": 100.0, **{f"growth_to_{n}": 15.0 for n in _GROWTHS}}
        return Row(part, name, values, most if targets else {}, peer=peer)

    def _built_in(self, name: str, own: _OwnOf, lists: Lists) -> dict[int, float]:
        """Return what a framework's own gradient of one list takes, by its size."""
        seconds: dict[int, float] = {}
        for n in (n for n in self._sizes if name != _LAMBDARANK or n <= _MOST_BUILT_IN):
            if foreseen(seconds, n) > _LONGEST_OF_PEERS * self._shorter:
                break
            self.setting.say(f"{name}, {n:,} documents")
            n_lists = max(1, _BATCH // n)
            try:
                found = own(lists(n_lists, n)).seconds(_ROUNDS if n < _MOST_BUILT_IN else _FEW_ROUNDS)
            except ImportError:
                self.note(f"{name} is left out: it is not installed.")
                break
            if found is not None:
                seconds[n] = found / n_lists
        return seconds

    def _numpy(self, queries: Mapping[int, Queries]) -> dict[int, float]:
        self.setting.say(_NUMPY)
        calls = {n: partial(_plain_ranknet, scores_of(q), q.labels) for n, q in queries.items()}
        return growing(calls, _CALLS, longest=_LONGEST_OF_PEERS * self._shorter)

    def _of_trainings(self) -> Iterator[Row]:
        """Measure what trainings cost, and reckon what more documents need."""
        n_queries, rounds = self.setting.count(_QUERIES, _LEAST_QUERIES), self.setting.count(_OF_TRAINING, 3)
        found = {}
        for name, training in TRAININGS.items():
            self.setting.say(name)
            answer = call_in_process(measured, name, n_queries, _FEATURES, rounds, **_QUIET)
            if "missing" in answer:
                self.note(f"{name} is left out: {training.library} is not installed.")
                continue
            if name not in self._memory:
                self._memory[name] = _bytes(answer)
            found[name] = answer
        if self.setting.scale < 1:
            self.note("Below full scale a tree's histograms weigh more: what many documents need comes out too large.")
        if not all(self._memory.values()):
            self.note("Memory of trainings is left out: this system does not tell the most that a process has had.")
        for name, answer in found.items():
            values = {"gradient_ns": answer["gradient_ns"][_LOSS], "tree_ns": answer["tree_ns"], **self._memory[name]}
            yield Row(_TREES, name, {"documents": answer["documents"], **values})
        yield from _of_losses(found)
        for documents, clusters in _CLUSTERS.items():
            for name, answer in found.items():
                yield from self._reckoned(name, answer, documents, clusters)

    def _reckoned(
        self, name: str, answer: Mapping[str, Any], documents: float, clusters: tuple[Cluster, ...]
    ) -> Iterator[Row]:
        training, peak = TRAININGS[name], self._memory[name].get("peak_bytes")
        least = float(_FEATURES)  # a byte for each bin
        of_histograms = histogram_bytes(_FEATURES) / answer["documents"]
        each = None if peak is None else max(least, peak * _FEATURES - of_histograms)
        costs = Costs(answer["gradient_ns"][_LOSS], answer["tree_ns"], each)
        for cluster in clusters if training.in_memory else clusters[:1]:
            values = needs(training, costs, cluster, documents=documents, features=_FEATURES)
            yield Row(_DATA.format(documents, _FEATURES), f"{name}: {cluster.name}", values)


def _each(name: str, seconds: Mapping[int, float], *, peer: bool = False) -> Row:
    return Row(_EACH, name, {f"nanoseconds_at_{n}": 1e9 * taken / n for n, taken in seconds.items()}, peer=peer)


def _bytes(answer: Mapping[str, Any]) -> dict[str, float]:
    """Return the memory for a document and a feature; empty where it is not known."""
    if answer["peak"] is None:
        return {}
    return {f"{when}_bytes": answer[when] / (answer["documents"] * _FEATURES) for when in ("after", "peak")}


def _of_losses(found: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    """Yield a row for each loss, with what it takes in each framework in memory."""
    values: dict[str, dict[str, float | None]] = {}
    for name, answer in found.items():
        if TRAININGS[name].in_memory:
            for loss, taken in answer["gradient_ns"].items():
                values.setdefault(loss, {"documents": answer["documents"]})[f"{TRAININGS[name].library}_ns"] = taken
    for loss, of_loss in values.items():
        yield Row(_LOSSES, loss, of_loss)


def _lambdarank(lists: Queries) -> Own:
    return lightgbm_own(lists, 1, scores_of(lists))


def _rank_ndcg(lists: Queries) -> Own:
    return xgboost_own(lists, 1, "rank:ndcg", scores_of(lists))


def _rank_pairwise(lists: Queries) -> Own:
    longest = int(np.diff(lists.boundaries).max())
    pairs = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": longest}
    return xgboost_own(lists, 1, "rank:pairwise", scores_of(lists), **pairs)


_OWNS_OF: Mapping[Lists, Mapping[str, _OwnOf]] = {
    grades: {_LAMBDARANK: _lambdarank, _NDCG: _rank_ndcg, _PAIRWISE: _rank_pairwise},
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
