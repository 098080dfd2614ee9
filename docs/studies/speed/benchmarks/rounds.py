"""Benchmark rounds: what a round of boosting costs with each loss, and how much of it is ours."""

from collections.abc import Iterator
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.measuring.clock import seconds_of, turn_by_turn
from studies.speed.measuring.data import MSLR_SHARES, default_losses, features_and_queries
from studies.speed.measuring.frameworks import Boosting, Objective, lightgbm, xgboost

__all__ = ["BoostingRounds"]

_QUERIES, _SIZE, _FEATURES = 2_917, 120, 136
_TURNS, _UNCOUNTED = 12, 2
_ABOVE, _ABOVE_OF_DEARER = 0.06, {"RankNet": 0.09, "AdaRank": 0.09}
_DUMMY, _REPLAYED = "a dummy objective", ", replayed"


class _Recorded:
    """A loss as the framework calls it, that keeps the last derivatives and how long its calls take."""

    def __init__(self, loss: Objective) -> None:
        self._loss = loss
        self.last: Any = None
        self.seconds: list[float] = []

    def __call__(self, scores: Any, data: Any) -> Any:
        start = perf_counter()
        self.last = self._loss(scores, data)
        self.seconds.append(perf_counter() - start)
        return self.last

    def replay(self, _scores: Any, _data: Any) -> Any:
        """Return the last derivatives, as an objective that grows the same tree and computes nothing."""
        return self.last


class BoostingRounds(Benchmark):
    """A round of boosting with each loss, as a share of a round with the built-in ranking objective.

    Boosters of one framework take turns, round by round. The dummy objective returns the same arrays in every call. The
    replay of a loss returns the derivatives that the loss has just computed for another booster, so it grows the same
    trees. Differences are medians over rounds, as shares of the built-in objective's round.
    """

    name = "rounds"
    title = "a round of boosting, as a share of the built-in objective's"
    columns = (
        Column("documents", "documents", "given"),
        Column("milliseconds", "ms/round"),
        Column("share", "share", "ratio", 3),
        Column("above_dummy", "above the dummy", "ratio", 3),
        Column("above_replay", "above the replay", "ratio", 3),
        Column("replay_milliseconds", "replay, ms/round"),
        Column("call_milliseconds", "call, ms"),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        X, queries = features_and_queries(setting.count(_QUERIES, 5), _SIZE, _FEATURES, MSLR_SHARES)
        self._n = queries.n_rows
        setting.say("data")
        self._frameworks = [
            lightgbm(X, queries, {"num_leaves": 31, "num_threads": setting.threads}),
            xgboost(X, queries, {"max_depth": 6, "nthread": setting.threads}),
        ]
        labels = queries.labels.astype(np.float32)
        self._nothing = labels.mean() - labels, np.ones_like(labels)

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        for framework in self._frameworks:
            self.setting.say(framework.title)
            yield from self._in(framework)

    def _in(self, framework: Boosting) -> Iterator[Row]:
        recorded = {name: _Recorded(loss) for name, loss in default_losses().items()}
        steps = {
            framework.built_in: framework.rounds(framework.built_in),
            framework.squared_errors: framework.rounds(framework.squared_errors),
            _DUMMY: framework.rounds(lambda _scores, _data: self._nothing),
        }
        for name, loss in recorded.items():
            steps |= {name: framework.rounds(loss), name + _REPLAYED: framework.rounds(loss.replay)}
        timed = {name: partial(seconds_of, step) for name, step in steps.items()}
        times = turn_by_turn(timed, _TURNS - _UNCOUNTED, _UNCOUNTED)
        for name in steps:
            if not name.endswith(_REPLAYED):
                yield self._row(framework, name, times, recorded.get(name))

    def _row(self, framework: Boosting, name: str, times: dict[str, list[float]], loss: _Recorded | None) -> Row:
        unit = median(times[framework.built_in])
        values = {
            "documents": self._n,
            "milliseconds": 1e3 * median(times[name]),
            "share": median(times[name]) / unit,
        }
        if loss is None:
            return Row(framework.title, name, values)
        replayed = times[name + _REPLAYED]
        values |= {
            "above_dummy": _above(times[name], times[_DUMMY]) / unit,
            "above_replay": _above(times[name], replayed) / unit,
            "replay_milliseconds": 1e3 * median(replayed),
            "call_milliseconds": 1e3 * median(loss.seconds[_UNCOUNTED:]),
        }
        most = _ABOVE_OF_DEARER.get(name, _ABOVE)
        return Row(framework.title, name, values, {"above_dummy": most, "above_replay": most})


def _above(times: list[float], others: list[float]) -> float:
    return median(own - other for own, other in zip(times, others, strict=True))
