"""The order of a comparison's trainings, within a budget of time and over processes."""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from time import time
from uuid import uuid4

from boostplug.comparison.training.fold_runs import FoldRuns
from boostplug.comparison.training.frameworks import DataPart
from boostplug.comparison.training.kept import Kept
from boostplug.comparison.training.runs import Method, Plan, RunOutcome
from boostplug.comparison.training.tuning import OutOfTime
from boostplug.comparison.training.workers import in_processes

Folds = Sequence[Sequence[DataPart]]

_LAST: dict[tuple[str, int], FoldRuns] = {}  # the fold that this process binned last


@dataclass(frozen=True)
class Unit:
    """A method on a fold with some seeds, trained in one process."""

    fold: int
    method: int
    """Its place among the methods."""
    seeds: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Work:
    """Trains units in any process. No training begins after `end`, in seconds since 1970."""

    plan: Plan
    folds: Folds
    methods: Sequence[Method]
    kept: Kept
    end: float
    token: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, unit: Unit) -> list[RunOutcome]:
        """Return the runs of a unit, without those that time left out."""
        key = (self.token, unit.fold)
        runs = _LAST.get(key)
        if runs is None:
            _LAST.clear()
            parts = self.folds[unit.fold]
            runs = _LAST[key] = FoldRuns(self.plan, unit.fold, parts, self.kept, is_late=lambda: time() >= self.end)
        found = []
        with suppress(OutOfTime):
            for seed in unit.seeds:
                found.append(runs.outcome(self.methods[unit.method], seed))  # noqa: PERF401 (the next may end it)
        return found


def outcomes_of(
    plan: Plan,
    folds: Folds,
    methods: Sequence[Method],
    kept: Kept,
    n_processes: int = 1,
    minutes: float | None = None,
    begin: Callable[[Method, int, int], None] = lambda *_: None,
) -> Generator[RunOutcome]:
    """Yield the outcomes of all runs as they finish, stored ones first.

    Parameters
    ----------
    plan : Plan
        Its number of threads is for each process.
    folds : sequence of (train, valid, test)
    methods : sequence of Method
    kept : Kept
    n_processes : int
    minutes : float or None
        No training begins after them. All folds are trained with the first seed before any with the second; with
        tuning, all seeds of a fold before the next fold.
    begin : callable
        ``begin(method, seed, fold)`` is called when a run begins.

    Raises
    ------
    RuntimeError
        If a process dies.
    """
    end = math.inf if minutes is None else time() + 60.0 * minutes
    units = list[Unit]()
    for fold, (i, method) in product(range(len(folds)), enumerate(methods)):
        found = {seed: kept.run(method, fold, seed) for seed in plan.seeds}
        yield from filter(None, found.values())
        left = tuple(seed for seed, run in found.items() if run is None)
        together = plan.tune and n_processes > 1  # all seeds of a method on a fold in one process: it is tuned once
        units += [Unit(fold, i, seeds) for seeds in ([left] if together else [(seed,) for seed in left]) if seeds]
    by_seed = minutes is not None and not plan.tune

    def place(unit: Unit) -> tuple[int, int]:
        seed = plan.seeds.index(unit.seeds[0])
        return (seed, unit.fold) if by_seed else (unit.fold, seed)

    def in_time() -> Iterator[Unit]:
        for unit in sorted(units, key=place):
            if time() >= end:
                return
            begin(methods[unit.method], unit.seeds[0], unit.fold)
            yield unit

    work = Work(plan, folds, methods, kept, end)
    try:
        for unit, runs in in_processes(work, in_time(), min(n_processes, max(1, len(units)))):
            yield from (replace(run, method=methods[unit.method]) for run in runs)  # another process's are copies
    finally:
        _LAST.clear()
