"""Benchmark convergence: seconds until a loss is as good as lambdarank at its best, with the same trees."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from boostplug.comparison.training.frameworks import DataPart, Watch
from boostplug.datasets import load_bundled
from boostplug.losses import CRR, Loss, MPBoost, NDCGBoost, QBRank, RankNet
from boostplug.metrics import NDCG
from studies.quality.sets import SETS
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.figures import Bars
from studies.trainings import N_SEEDS, PATIENCE, ROUNDS, trainings

__all__ = ["Convergence"]

_REFERENCE = "lambdarank"
_METHODS: dict[str, Loss | str] = {
    _REFERENCE: _REFERENCE,
    "regression": "regression",
    **{loss.name: loss for loss in (QBRank(), CRR(), MPBoost(), RankNet(), NDCGBoost())},
}
_SETS = ("mslr", "yandex", "jester")  # those that train in seconds


class Convergence(Benchmark):
    """Time to lambdarank's best validation value."""

    name = "convergence"
    title = "seconds until a loss is as good as lambdarank at its best"
    about = f"""\
LightGBM trains each objective with the same trees: 31 leaves, learning rate .1, four fifths of the rows and half of the
columns of each tree, {N_SEEDS} seeds. There are at most {ROUNDS} rounds, stopped {PATIENCE} after the best. *Rounds*
and *seconds* run until the validation NDCG@10 first reaches the best value that lambdarank has with that seed. Both are
shares of what lambdarank itself takes, as geometric means over seeds. A training that never reaches it counts with all
its rounds, and *reached* says how many of the seeds did.

The sets are the first folds of those of the quality study, from the folder that BOOSTPLUG_DATA names. Without it, the
bundled data.
"""
    columns = (
        Column("documents", "documents", "given"),
        Column("rounds", "rounds, share of lambdarank's", "ratio", 3),
        Column("share", "seconds, share of lambdarank's", "ratio", 3),
        Column("seconds", "seconds", digits=3),
        Column("reached", "reached, of seeds", "given"),
    )
    figures = (
        Bars(
            name="seconds",
            title="Seconds until lambdarank's best validation NDCG@10",
            columns={"share": ""},
            unit="share of lambdarank's own seconds",
        ),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._folds: dict[str, tuple[DataPart, DataPart, DataPart]] = {}
        folder = Path(os.environ.get("BOOSTPLUG_DATA", ""))
        for name in _SETS if "BOOSTPLUG_DATA" in os.environ else ():
            if (folder / SETS[name].folder).is_dir():
                self._folds[SETS[name].title] = SETS[name].load(folder, 0)
        if not self._folds:
            self.note("BOOSTPLUG_DATA names no folder with data sets: the bundled data stand in.")
            train, valid, test = (DataPart(part.X, part.queries) for part in load_bundled())
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
                yield _row(title, fold[0].queries.n_rows, name, runs, found[_REFERENCE])


def _until(watch: Watch, best: float) -> tuple[int, float, bool]:
    """Return rounds and seconds until a value was reached, and whether it was."""
    reached = np.flatnonzero(np.array(watch.values) >= best)
    rounds = int(reached[0]) + 1 if len(reached) else len(watch.values)
    return rounds, sum(watch.seconds[:rounds]), bool(len(reached))


def _row(
    title: str, n_rows: int, name: str, runs: list[tuple[int, float, bool]], reference: list[tuple[int, float, bool]]
) -> Row:
    rounds, seconds = ([own[k] / theirs[k] for own, theirs in zip(runs, reference, strict=True)] for k in (0, 1))
    values = {
        "documents": n_rows,
        "rounds": float(np.exp(np.mean(np.log(rounds)))),
        "share": float(np.exp(np.mean(np.log(seconds)))),
        "seconds": float(np.mean([of_run for _, of_run, _ in runs])),
        "reached": sum(was for _, _, was in runs),
    }
    return Row(title, name, values, peer=isinstance(_METHODS[name], str))
