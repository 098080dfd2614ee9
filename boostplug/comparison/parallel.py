"""The runs of a comparison over processes."""

import math
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from boostplug.comparison.budget import Budget, Kind
from boostplug.comparison.cells import Method, RunOutcome
from boostplug.comparison.kept import users_modules
from boostplug.comparison.runs import FoldRuns, Keeper, Plan, announced
from boostplug.comparison.training import Part
from boostplug.comparison.tuning import OutOfTime
from boostplug.comparison.workers import in_processes
from boostplug.core.checks import shown

__all__ = ["Unit", "Worker", "cells_over_processes", "check_picklable"]

Folds = Sequence[Sequence[Part]]


@dataclass(frozen=True, eq=False)
class Unit:
    """What one process does without another: runs of a method on a fold, all of them where it must be tuned first."""

    fold: int
    method: int
    """Its place among the methods."""
    seeds: tuple[int, ...]
    left: float = math.inf
    """Seconds until tuning ends."""


class Worker:
    """Trains units in a process, and keeps each run and each setting that tuning tries as soon as it is finished.

    The data of a fold are binned once for each framework, as long as units of one fold follow one another.
    """

    def __init__(self, plan: Plan, folds: Folds, methods: Sequence[Method], kept: Keeper | None) -> None:
        self._plan, self._folds, self._methods, self._kept = plan, folds, methods, kept
        self._binned: tuple[int, FoldRuns] | None = None

    def __call__(self, unit: Unit) -> list[RunOutcome]:
        """Return the runs of a unit; none if time is up before its method is tuned."""
        if self._binned is None or self._binned[0] != unit.fold:
            self._binned = None
            runs = FoldRuns(self._plan, unit.fold, self._folds[unit.fold], self._kept, lambda *_: None)
            self._binned = unit.fold, runs
        runs, end = self._binned[1], monotonic() + unit.left
        runs.is_late = lambda: monotonic() > end
        cells = []
        with suppress(OutOfTime):
            for seed in unit.seeds:
                cells.append(runs.cell(self._methods[unit.method], seed))  # noqa: PERF401 (kept if the next ends it)
        return cells


def cells_over_processes(
    plan: Plan,
    folds: Folds,
    methods: Sequence[Method],
    kept: Keeper | None,
    advance: Callable[[str, int], None],
    n_processes: int,
    budget: Budget,
) -> Iterator[RunOutcome]:
    """Yield the outcomes of all runs as they are finished, those that are kept first.

    Parameters
    ----------
    plan : Plan
        Its number of threads is that of each process.
    folds : sequence of (train, valid, test)
    methods : sequence of Method
    kept : Keeper or None
        Picklable.
    advance : callable
        As `progress_bar` yields it.
    n_processes : int
    budget : Budget
        Without tuning, it lets one run begin at a time, all folds with a seed before the next; with it, all runs of a
        method on a fold.

    Raises
    ------
    RuntimeError
        If a process dies.
    """
    units = []
    for fold in range(len(folds)):
        for i, method in enumerate(methods):
            cells = [] if kept is None else [kept.cell(method, fold, seed) for seed in plan.seeds]
            done = {cell.seed: cell for cell in cells if cell is not None}
            for cell in done.values():
                advance("", _steps(plan, cell))
                yield cell
            left = tuple(seed for seed in plan.seeds if seed not in done)
            units += [Unit(fold, i, seeds) for seeds in ([left] if plan.tune else zip(left, strict=True)) if seeds]

    def turn(unit: Unit) -> tuple[int, int]:
        return plan.seeds.index(unit.seeds[0]), unit.fold

    if budget.limited and not plan.tune:
        units.sort(key=turn)
    started: dict[int, float] = {}

    def kind(unit: Unit) -> Kind:
        return Kind(methods[unit.method].framework, methods[unit.method].name, len(unit.seeds) > 1)

    def begun() -> Iterator[Unit]:
        cut = None  # the turn of which something was left out: none begins after it
        for unit in units:
            if cut not in {None, turn(unit)}:
                return
            if budget.fits([kind(unit)]):
                begins = replace(unit, left=budget.left) if plan.tune and budget.limited else unit
                started[id(begins)] = budget.clock()
                advance(announced(methods[unit.method], unit.seeds[0], unit.fold), 0)
                yield begins
            else:
                cut = turn(unit)

    work = Worker(plan, folds, methods, kept)
    for unit, finished in in_processes(work, begun(), min(n_processes, max(1, len(units)))):
        budget.took(kind(unit), budget.clock() - started[id(unit)])
        for cell in finished:
            yield replace(cell, method=methods[unit.method])  # this process's own, by which it is known
            advance("", _steps(plan, cell))


def _steps(plan: Plan, cell: RunOutcome) -> int:
    """Return how many steps of the plan a run is: itself, and the settings that were tried before it."""
    return 1 + (plan.tune if cell.seed == plan.seeds[0] else 0)


def check_picklable(plan: Plan, methods: Sequence[Method]) -> None:
    """Refuse losses and metrics that no other process can take.

    Raises
    ------
    ValueError
    """
    for value in (*plan.metrics, *(method.objective for method in methods)):
        try:
            pickle.loads(pickle.dumps(value))  # noqa: S301 (made here)
            reason = "it is defined in no file" if _is_of_no_file(value) else ""
        except Exception as error:  # noqa: BLE001 (whatever a user's value raises)
            reason = str(error)
        if reason:
            raise ValueError(
                f"jobs hands losses and metrics to other processes, which {shown(value)} cannot go to ({reason}); "
                "define its functions and classes at the top of a file, or leave out jobs"
            )


def _is_of_no_file(value: Any) -> bool:
    """Return whether a class or function of a value was typed in at a prompt or in a notebook."""
    return "__main__" in users_modules(value) and getattr(sys.modules["__main__"], "__file__", None) is None
