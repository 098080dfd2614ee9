"""`boostplug bench scaling`: one query of more and more documents beside peers, and data of 1e8 and 1e9 documents."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from boostplug.data.queries import Queries
from boostplug.losses import MPBoost
from boostplug.studies.speed.benchmark import Benchmark, Column, Row, Setting
from boostplug.studies.speed.benchmarks.costs import EFFICIENCY, TRAININGS, Cluster, Costs, measured, needs
from boostplug.studies.speed.figures import Growth, Headline
from boostplug.studies.speed.measuring.clock import call_in_process, foreseen, growing
from boostplug.studies.speed.measuring.data import Floats, grades, named_losses, real_grades, scores_of
from boostplug.studies.speed.measuring.frameworks import Own, lightgbm_own, xgboost_own

__all__ = ["Scaling"]

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
    title = "one query of more and more documents, and data of more and more"
    about = f"""\
Milliseconds of one `gradient_hessian` on one query of 10 to a million documents with normal scores, with the five
grades of MSLR-WEB30K and with a different grade for each document; *×10 to* is how many times a call takes what it
takes on a tenth of the documents. What would take more than {_LONGEST:g} s is left out, and the notes say where;
calls of more than {_LONGEST_AGAIN:g} s are made in the first run alone.

Peers, one query on one thread as they work: LightGBM's lambdarank (30 documents from the top against all others; it
takes no query beyond {_MOST_BUILT_IN:,} documents and no real-valued grades), XGBoost's rank:ndcg as it is by default
and its rank:pairwise told to take all pairs, each less its round of squared errors as in the gradients; and RankNet
as one would write it in NumPy, over all pairs. *Of lambdarank's* is the time on 1,000 documents over lambdarank's.

A call of ours on a short list is mostly the call. So *a document* is measured on lists of one length that are
{_BATCH:,} documents together, on one thread, as trainings have many; the peers' numbers are of such lists anyway.

What a training costs is measured on a million documents × {_FEATURES} features (lists of 120, {_LOSS}), each way in a
process of its own, on one thread: the median round without the first, less the loss's part, for a document and a
feature (*tree*); the loss as the framework calls it, for a document (*gradient*); and the resident set beyond the
features themselves, at the end and at the most since they were handed over. Memory is measured in the first run alone.

From these follows what {" and ".join(f"{n:,.0f}" for n in _CLUSTERS)} documents need, if every core does
{EFFICIENCY:.0%} of what one alone does ([the formulas](../explanation/scale.md)): memory of a worker at the most;
beside it the features as float32, while a frame of them is in memory; what a worker sends in a round.
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
        of_histograms = training.histogram_bytes(_FEATURES) / answer["documents"]
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
