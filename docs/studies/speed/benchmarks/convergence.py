"""Benchmark convergence: seconds until a loss is as good as lambdarank at its best, with the same trees."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from boostplug.comparison.training.frameworks import Watch
from boostplug.data.inputs import CheckedInputs
from boostplug.datasets import load_bundled
from boostplug.losses import CRR, Loss, MPBoost, NDCGBoost, QBRank, RankNet
from boostplug.metrics import NDCG
from studies.quality.sets import SETS
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.trainings import ROUNDS, trainings

__all__ = ["Convergence"]

_REFERENCE = "lambdarank"
_METHODS: dict[str, Loss | str] = {
    _REFERENCE: _REFERENCE,
    "regression": "regression",
    **{loss.name: loss for loss in (QBRank(), CRR(), MPBoost(), RankNet(), NDCGBoost())},
}
_SETS = ("mslr", "yandex", "jester")  # those that train in seconds


class Convergence(Benchmark):
    """Time until a loss first reaches lambdarank's best validation NDCG@10, with the same trees and seed.

    Rounds and seconds are shares of lambdarank's, as geometric means over seeds. A training that never reaches it
    counts with all its rounds. The sets are first folds of the quality study, from BOOSTPLUG_DATA, or the bundled data.
    """

    name = "convergence"
    title = "seconds until a loss is as good as lambdarank at its best"
    columns = (
        Column("documents", "documents", "given"),
        Column("rounds", "rounds, share of lambdarank's", "ratio", 3),
        Column("share", "seconds, share of lambdarank's", "ratio", 3),
        Column("seconds", "seconds", digits=3),
        Column("reached", "reached, of seeds", "given"),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._folds: dict[str, tuple[CheckedInputs, CheckedInputs, CheckedInputs]] = {}
        folder = Path(os.environ.get("BOOSTPLUG_DATA", ""))
        for name in _SETS if "BOOSTPLUG_DATA" in os.environ else ():
            if (folder / SETS[name].folder).is_dir():
                self._folds[SETS[name].title] = SETS[name].load(folder, 0)
        if not self._folds:
            self.note("BOOSTPLUG_DATA names no folder with data sets: the bundled data stand in.")
            train, valid, test = (CheckedInputs(part.X, part.queries) for part in load_bundled())
            self._folds["bundled"] = train, valid, test
        self._rounds = setting.count(ROUNDS, 5)

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        for title, fold in self._folds.items():
            self.setting.say(title)
            found: dict[str, list[tuple[int, float, bool]]] = {name: [] for name in _METHODS}
            best = np.inf
            for done in trainings(fold, _METHODS, NDCG(10), rounds=self._rounds, num_threads=self.setting.threads):
                if done.method == _REFERENCE:  # of each seed the first
                    best = max(done.watch.values)
                found[done.method].append(_until(done.watch, best))
            for name, runs in found.items():
                rounds, seconds = (_mean_ratio(runs, found[_REFERENCE], k) for k in (0, 1))
                values = {
                    "documents": fold[0].queries.n_rows,
                    "rounds": rounds,
                    "share": seconds,
                    "seconds": float(np.mean([of_run for _, of_run, _ in runs])),
                    "reached": sum(was for _, _, was in runs),
                }
                yield Row(title, name, values)


def _until(watch: Watch, best: float) -> tuple[int, float, bool]:
    """Return rounds and seconds until a value was reached, and whether it was."""
    reached = np.flatnonzero(np.array(watch.values) >= best)
    rounds = int(reached[0]) + 1 if len(reached) else len(watch.values)
    return rounds, sum(watch.seconds[:rounds]), bool(len(reached))


def _mean_ratio(runs: Sequence[tuple[float, ...]], others: Sequence[tuple[float, ...]], k: int) -> float:
    return float(np.exp(np.mean([np.log(own[k] / theirs[k]) for own, theirs in zip(runs, others, strict=True)])))
