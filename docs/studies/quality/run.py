"""Runs the study's cells over processes, each with one thread, and keeps each as it is finished."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.console import progress_bar
from boostplug.comparison.document import versions
from boostplug.comparison.summary import to_json
from boostplug.comparison.training.frameworks import FRAMEWORKS, DataPart, Watch
from boostplug.comparison.training.runs import FoldRuns, Plan
from boostplug.comparison.training.store import Store
from boostplug.comparison.training.trees import Trees
from boostplug.comparison.training.workers import in_processes
from boostplug.core.extras import imported
from boostplug.losses import Loss
from studies.quality.protocol import PARTS, Job, jobs_of
from studies.quality.sets import SETS, share_of

__all__ = ["kept_cells", "run"]

Floats = NDArray[np.float64]

_NONE: Mapping[str, Any] = MappingProxyType({})


class CatBoost:
    """CatBoost: symmetric trees of as many leaves (the next power of 2), the same rate, rounds and stopping rule.

    Its sampling, its l2 and the rest are its own defaults. All rounds are trained, and the best one found afterwards.
    """

    name: ClassVar[str] = "catboost"
    baselines: ClassVar[tuple[str, ...]] = ("YetiRank", "QueryRMSE", "PairLogit")
    tree_names: ClassVar[Mapping[str, str]] = {
        "learning_rate": "learning_rate",
        "num_leaves": "num_leaves",  # of which `run` makes a depth
        "l2": "l2_leaf_reg",
        "column_fraction": "rsm",
    }

    def __init__(self, train: DataPart, valid: DataPart, test: DataPart, trees: Trees, num_threads: int) -> None:
        self.catboost = imported("catboost", "training needs")
        self.trees, self.num_threads = trees, num_threads
        self.train, self.valid, self.test = map(self._pool, (train, valid, test))

    def _pool(self, part: DataPart) -> Any:
        return self.catboost.Pool(
            part.X, part.queries.labels, group_id=part.queries.query_of_row, thread_count=self.num_threads
        )

    def run(
        self,
        objective: Loss | str,
        seed: int,
        rounds: int,
        watch: Watch,
        parameters: Mapping[str, Any] = _NONE,
        start: None = None,  # noqa: ARG002 (the other frameworks' argument)
    ) -> Floats:
        """Train, and return the scores of the test part after the round that is best on the validation part."""
        given = dict(parameters)
        leaves = given.pop("num_leaves", self.trees.num_leaves)
        booster = self.catboost.CatBoost(
            {
                "loss_function": objective,
                "iterations": rounds,
                "learning_rate": self.trees.learning_rate,
                "depth": int(np.ceil(np.log2(leaves))),
                "random_seed": seed,
                "thread_count": self.num_threads,
                "allow_writing_files": False,
                "logging_level": "Silent",
                **given,
            }
        )
        watch.start_round()
        booster.fit(self.train)
        for scores in booster.staged_predict(self.valid, prediction_type="RawFormulaVal"):
            watch.measure(scores)
            if watch.stop:
                break
        scores = booster.predict(self.test, prediction_type="RawFormulaVal", ntree_end=watch.best_round)
        return np.asarray(scores, dtype=np.float64)


_VERSIONS = ("boostplug", "lightgbm", "xgboost", "catboost", "numpy", "numba")
_KEPT = ("rounds", "rounds_trained", "seconds_per_round", "validation", "test", "per_query", "error", "tuned", "notes")
_LAST: dict[tuple[Any, ...], FoldRuns] = {}  # of a process: the data that it has binned last


def run(folder: Path, store: Path, parts: Iterable[str], *, processes: int, progress: bool | None = None) -> None:
    """Train what is not kept yet of some parts of the study.

    Parameters
    ----------
    folder : Path
        Holds the data sets.
    store : Path
        The file that keeps cells; made where there is none.
    parts : iterable of str
        Of `PARTS`.
    processes : int
        Each trains with one thread.
    progress : bool, optional
        As `progress_bar` takes it.
    """
    kept, common = Store(store), head()
    if kept.get("head") not in (None, common):
        raise SystemExit(f"{store} holds cells of other versions; remove it to start anew, or name another file")
    kept.add("head", common)
    jobs = [job for name in parts for job in jobs_of(PARTS[name]) if (folder / SETS[job.data].folder).is_dir()]
    missing = [job for job in jobs if kept.get(job.key) is None]
    missing.sort(key=lambda job: job.method.framework == CatBoost.name)  # ten times as long: last
    with progress_bar(progress, len(jobs), completed=len(jobs) - len(missing)) as advance:
        for job, cell in in_processes(partial(_trained, folder), missing, processes):
            kept.add(job.key, cell)
            advance(job.key, 1)


def head() -> dict[str, Any]:
    """Return what the kept cells depend on."""
    found = versions("catboost")
    return {
        "what": "cells of boostplug's study of quality, 2",
        "versions": {name: found.get(name) for name in _VERSIONS},
    }


def kept_cells(store: Path) -> dict[str, dict[str, Any]]:
    """Return the cells that are kept, by their jobs' keys, whatever versions they were trained with."""
    kept = Store(store)
    cells = {job.key: kept.get(job.key) for part in PARTS.values() for job in jobs_of(part)}
    return {key: cell for key, cell in cells.items() if cell is not None}


def _trained(folder: Path, job: Job) -> dict[str, Any]:
    """Return what is kept of a cell; what goes wrong in it is an outcome too."""
    part, data = PARTS[job.part], SETS[job.data]
    if job.group not in _LAST:
        _LAST.clear()
        train, valid, test = data.load(folder, job.fold)
        plan = Plan(
            metric=data.metrics[0],
            metrics=data.metrics,
            trees=part.trees(job.data),
            rounds=part.rounds,
            patience=part.patience,
            num_threads=1,
            tune=part.tune,
            seeds=[part.first_seed],
        )
        parts = (share_of(train, job.share), valid, test)
        frameworks = {**FRAMEWORKS, CatBoost.name: CatBoost}
        _LAST[job.group] = FoldRuns(plan, job.fold, parts, frameworks=frameworks)
    cell = _LAST[job.group].outcome(job.method, job.seed)
    stored = cell.to_store()
    found = {name: stored[name] for name in (*_KEPT, "curve")}
    return dict(to_json(found, finite=True))
