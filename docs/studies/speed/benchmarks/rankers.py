"""Benchmark rankers: the reference rankers on the shapes of known data sets, and how their cost grows."""

import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.rankers import (
    AdaRankRanker,
    MPBoostRanker,
    QBRankRanker,
    QuadraticBoundRanker,
    RankBoostRanker,
    ReferenceRanker,
)
from boostplug.rankers.base import Rounds, Training
from studies.replication.training.rankboost import ObservedRounds, OptimalRankBoost
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.measuring.clock import seconds_of, turn_by_turn
from studies.speed.measuring.data import features_and_queries

__all__ = ["Rankers"]

_MOST_OF_QBRANK = 4.0  # seconds
_BY_ROUND = "RankBoost by round"
_MARKS = (1, 3, 10, 20, 30, 50, 70, 100, 150, 200)  # rounds
_TURNS = 7  # fits of each
_DISCRETE, _LISTED = "Discrete (Rb-d)", "Discrete (Rb-d), pairs one by one"
_VARIANTS: Mapping[str, Any] = {
    "Optimal Rb+": "plus",
    "Efficient Rb+": "plus",
    "Continuous (Rb-c)": "continuous",
    _DISCRETE: "discrete",
    "Continuous (Rb-c), pairs one by one": "continuous",
    _LISTED: "discrete",
}
_Data = tuple[NDArray[np.float32], Queries]


class Rankers(Benchmark):
    """Fits of the reference rankers on the shapes of known data sets, and their growth with documents and with pairs.

    *Peak* is the most that NumPy and Python allocate, in a separate fit; compiled kernels allocate O(rows) in addition.
    *RankBoost by round* repeats Figure 1 of Connamacher et al. (2020). With so few values, stumps soon depend on
    earlier ones. A round's time is the median of the fits, and *late* rounds are those of the second half.
    """

    name = "rankers"
    title = "the reference rankers"
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
        *(Column(f"milliseconds_after_{n}", f"after {n}: ms", digits=1) for n in _MARKS),
        Column("late", "late round, ms", digits=3),
        Column("of_discrete", "of Rb-d's", "ratio", 2),
        Column("of_listed", "of Rb-d's on pairs one by one", "ratio", 2),
        Column("longest", "longest round but the first", digits=0),
        Column("longest_share", "of a late one", "ratio", 1),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._megabytes: dict[str, float] = {}  # of the first run

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
        yield from self._by_round()

    def _by_round(self) -> Iterator[Row]:
        """Measure each round of RankBoost's variants, in turns."""
        self.setting.say(_BY_ROUND)
        features, queries = features_and_queries(1, 50, 40, 5)
        X = np.clip(np.round(features), -1.0, 1.0)
        group, y = np.diff(queries.boundaries), queries.labels
        pairs = Pairs(*np.nonzero(y[:, None] > y))
        n_rounds = self.setting.count(_MARKS[-1], 3)

        def seconds_of_rounds(name: str) -> NDArray[np.float64]:
            kind = _TimedOptimal if name.startswith("Optimal") else _Timed
            ranker = kind(n_estimators=n_rounds, random_state=0, variant=_VARIANTS[name])
            taught = {"y": None, "pairs": pairs} if name.endswith("one by one") else {"y": y}
            return np.diff(ranker.fit(X, group=group, **taught).times)

        fits = {name: partial(seconds_of_rounds, name) for name in _VARIANTS}
        times = turn_by_turn(fits, _TURNS, 1)  # the first compiles
        rounds = {name: np.median(np.array(of_fits), axis=0) for name, of_fits in times.items()}
        late = {name: float(np.median(seconds[len(seconds) // 2 :])) for name, seconds in rounds.items()}
        for name, seconds in rounds.items():
            longest = 1 + int(np.argmax(seconds[1:]))
            values = {
                "documents": queries.n_rows,
                "features": X.shape[1],
                "pairs": len(pairs),
                "rounds": len(seconds),
                **{f"milliseconds_after_{n}": 1e3 * seconds[:n].sum() for n in _MARKS if n <= len(seconds)},
                "late": 1e3 * late[name],
                "of_discrete": late[name] / late[_DISCRETE],
                "of_listed": late[name] / late[_LISTED],
                "longest": longest + 1,
                "longest_share": seconds[longest] / late[name],
            }
            yield Row(_BY_ROUND, name, values)

    def _qbrank(self, ohsumed: _Data) -> Iterator[Row]:
        """Fit QBRank by its own trees and by scikit-learn's, one after the other."""
        own = QBRankRanker(n_estimators=100)
        regressor = DecisionTreeRegressor(max_leaf_nodes=own.max_leaf_nodes)
        peer = QuadraticBoundRanker(regressor=regressor, learning_rate=own.learning_rate, n_estimators=100)
        by_own = self._fit("QBRank, OHSUMED's shape", own, ohsumed)
        by_peer = self._fit("QBRank by scikit-learn's trees, OHSUMED's shape", peer, ohsumed, memory=False)
        by_own.values["share"] = by_own.values["milliseconds_per_round"] / by_peer.values["milliseconds_per_round"]
        by_own.targets["seconds"] = _MOST_OF_QBRANK
        yield by_own
        yield by_peer

    def _fit(self, name: str, ranker: ReferenceRanker, data: _Data, *, memory: bool = True) -> Row:
        """Fit once for the time and, in the first run, once for the memory."""
        self.setting.say(name)
        X, queries = data
        group = np.diff(queries.boundaries)
        ranker.set_params(n_estimators=self.setting.count(ranker.n_estimators), random_state=0)
        small = slice(0, int(queries.boundaries[2]))
        clone(ranker).set_params(n_estimators=2).fit(X[small], queries.labels[small], group=group[:2])
        seconds = seconds_of(lambda: ranker.fit(X, queries.labels, group=group))
        if memory and name not in self._megabytes:
            self._megabytes[name] = _megabytes(lambda: ranker.fit(X, queries.labels, group=group))
        rounds = len(ranker.history_["alpha"])
        values = {
            "documents": queries.n_rows,
            "queries": queries.n_queries,
            "features": X.shape[1],
            "pairs": int(queries.grade_groups.n_pairs.sum()),
            "rounds": rounds,
            "seconds": seconds,
            "milliseconds_per_round": 1e3 * seconds / max(1, rounds),
            "megabytes": self._megabytes.get(name),
        }
        return Row("", name, values)


class _Timed(RankBoostRanker):
    """Keeps when training started and each round was done."""

    def _rounds(self, training: Training) -> Rounds:
        self.times = [perf_counter()]
        rounds = ObservedRounds(super()._rounds(training))
        for done in rounds:
            self.times.append(perf_counter())
            yield done
        return rounds.reason


class _TimedOptimal(_Timed, OptimalRankBoost):
    """The same for descent along all stumps."""


def _megabytes(call: Callable[[], object]) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6
