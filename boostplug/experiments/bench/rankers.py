"""`boostplug bench rankers`: the reference rankers on the shapes of known data sets, and how their cost grows."""

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from boostplug.experiments.bench.benchmark import Benchmark, Column, Row, Setting
from boostplug.experiments.bench.clock import seconds_of
from boostplug.experiments.bench.data import features_and_queries
from boostplug.experiments.bench.figures import Bars
from boostplug.queries import Queries
from boostplug.rankers import (
    AdaRankRanker,
    MPBoostRanker,
    QBRankRanker,
    QuadraticBoundRanker,
    RankBoostRanker,
    ReferenceRanker,
)

__all__ = ["Rankers"]

_MOST_OF_QBRANK = 4.0  # seconds
_Data = tuple[NDArray[np.float32], Queries]


class Rankers(Benchmark):
    """The reference rankers on the shapes of known data sets, and their growth with documents and with pairs."""

    name = "rankers"
    title = "the reference rankers"
    about = """\
A fit, after one of two rounds that compiles. *Peak* is what NumPy and Python allocate at most, in a fit of its own
(compiled kernels allocate O(rows) beside it).

Beside QBRankRanker stands the same algorithm with scikit-learn's tree as its regressor,
`QuadraticBoundRanker(learning_rate=0.05, regressor=DecisionTreeRegressor(max_leaf_nodes=20))`.
"""
    columns = (
        Column("documents", "documents", "given"),
        Column("queries", "queries", "given"),
        Column("features", "features", "given"),
        Column("pairs", "pairs", "given"),
        Column("rounds", "rounds", "given"),
        Column("seconds", "seconds", digits=2),
        Column("milliseconds_per_round", "ms/round", digits=2),
        Column("megabytes", "peak MB", digits=1),
        Column("share", "of scikit-learn's", "ratio", 3),
    )
    figures = (Bars(name="", title="A fit of each ranker", columns={"seconds": ""}, unit="seconds"),)

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._megabytes: dict[str, float] = {}

    def run(self) -> Iterator[Row]:
        """Measure all of it once; memory, which chance does not touch, in the first run alone."""
        mq2008 = features_and_queries(471, 20, 46, 3)
        ohsumed = features_and_queries(63, 155, 45, 3)
        task = features_and_queries(40, 100, 136, [0.85, 0.15])
        yield self._fit("RankBoost+, 136 features, 255 thresholds", RankBoostRanker(n_estimators=100), task)
        continuous = RankBoostRanker(variant="continuous", n_estimators=300)
        yield self._fit("RankBoost, continuous, MQ2008's shape", continuous, mq2008)
        adarank = AdaRankRanker(n_estimators=500, no_repeat=False, patience=500)
        yield self._fit("AdaRank-MAP, OHSUMED's shape", adarank, ohsumed)
        yield self._fit("MPBoost, OHSUMED's shape", MPBoostRanker(n_estimators=500), ohsumed)
        yield from self._qbrank(ohsumed)
        for factor in (1, 2, 4):
            data = features_and_queries(200 * factor, 50, 46, 5)
            few = RankBoostRanker(variant="continuous", n_estimators=50)
            yield self._fit(f"RankBoost, continuous, {factor} × documents", few, data)
            yield self._fit(f"MPBoost, {factor} × documents", MPBoostRanker(n_estimators=50), data)
        for factor in (1, 2, 4):
            data = features_and_queries(400 // factor, 10 * factor, 46, 3)
            yield self._fit(f"RankBoost+, {factor} × pairs", RankBoostRanker(n_estimators=50), data)

    def _qbrank(self, ohsumed: _Data) -> Iterator[Row]:
        """Fit QBRank by its own trees and by scikit-learn's, one after the other."""
        own = QBRankRanker(n_estimators=100)
        regressor = DecisionTreeRegressor(max_leaf_nodes=own.max_leaf_nodes)
        peer = QuadraticBoundRanker(regressor=regressor, learning_rate=own.learning_rate, n_estimators=100)
        by_own = self._fit("QBRank, OHSUMED's shape", own, ohsumed)
        by_peer = self._fit("QBRank by scikit-learn's trees, OHSUMED's shape", peer, ohsumed, peer=True)
        per_round = [row.values["milliseconds_per_round"] for row in (by_own, by_peer)]
        assert per_round[0] is not None
        assert per_round[1] is not None
        share = {"share": per_round[0] / per_round[1]}
        yield replace(by_own, values={**by_own.values, **share}, targets={"seconds": _MOST_OF_QBRANK})
        yield by_peer

    def _fit(self, name: str, ranker: ReferenceRanker, data: _Data, *, peer: bool = False) -> Row:
        """Fit once for the time and, in the first run, once for the memory."""
        self.setting.say(name)
        X, queries = data
        group = np.diff(queries.boundaries)
        ranker.set_params(n_estimators=self.setting.count(ranker.n_estimators), random_state=0)
        small = slice(0, int(queries.boundaries[2]))
        clone(ranker).set_params(n_estimators=2).fit(X[small], queries.labels[small], group=group[:2])
        seconds = seconds_of(lambda: ranker.fit(X, queries.labels, group=group))
        if not peer and name not in self._megabytes:
            self._megabytes[name] = _megabytes(lambda: ranker.fit(X, queries.labels, group=group))
        rounds = len(ranker.history_["alpha"])
        values = {
            "documents": queries.n_rows,
            "queries": queries.n_queries,
            "features": X.shape[1],
            "pairs": int(queries.grade_runs.n_pairs.sum()),
            "rounds": rounds,
            "seconds": seconds,
            "milliseconds_per_round": 1e3 * seconds / max(1, rounds),
            "megabytes": self._megabytes.get(name),
        }
        return Row("", name, values, peer=peer)


def _megabytes(call: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
