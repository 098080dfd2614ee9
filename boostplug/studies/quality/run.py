"""Runs the study's cells over processes, each with one thread, and keeps each as it is finished."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from boostplug.comparison.console import progress_bar
from boostplug.comparison.document import plain, versions
from boostplug.comparison.training.frameworks import FRAMEWORKS
from boostplug.comparison.training.runs import FoldRuns, Plan
from boostplug.comparison.training.store import Store, head_of
from boostplug.comparison.training.workers import in_processes
from boostplug.studies.quality.catboost import CatBoost
from boostplug.studies.quality.protocol import PARTS, Job, jobs_of
from boostplug.studies.quality.sets import SETS, share_of

__all__ = ["kept_cells", "run"]

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
    with Store(store, head()) as kept:
        jobs = [job for name in parts for job in jobs_of(PARTS[name]) if (folder / SETS[job.data].folder).is_dir()]
        missing = [job for job in jobs if job.key not in kept.done]
        missing.sort(key=lambda job: job.method.framework == CatBoost.name)  # ten times as long: last
        with progress_bar(progress, len(jobs), completed=len(jobs) - len(missing), estimate=True) as advance:
            for job, cell in in_processes(partial(_trained, folder), missing, processes):
                kept.add(job.key, cell)
                advance(job.key, 1)


def head() -> dict[str, Any]:
    """Return what the kept cells depend on."""
    found = versions("catboost")
    return {
        "what": "cells of boostplug's study of quality, 1",
        "versions": {name: found.get(name) for name in _VERSIONS},
    }


def kept_cells(store: Path) -> dict[str, dict[str, Any]]:
    """Return the cells that are kept, by their jobs' keys, whatever versions they were trained with."""
    with Store(store, head_of(store) or head()) as kept:
        return dict(kept.done)


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
        _LAST[job.group] = FoldRuns(plan, job.fold, parts, None, _no_step, frameworks)
    cell = _LAST[job.group].outcome(job.method, job.seed)
    found = {name: getattr(cell, name) for name in _KEPT}
    found["per_query"] = {name: values.tolist() for name, values in cell.per_query.items()}
    found["curve"] = None if cell.curve is None else cell.curve.tolist()
    return dict(plain(found))


def _no_step(_description: str, _steps: int) -> None:
    pass
