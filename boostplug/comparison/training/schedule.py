"""In which order runs begin, within a budget of time: one after another, or over processes."""

import math
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean
from time import monotonic
from typing import Any, NamedTuple

from boostplug.comparison.training.frameworks import Part
from boostplug.comparison.training.kept import users_modules
from boostplug.comparison.training.runs import FoldRuns, Keeper, Method, Plan, RunOutcome, announced
from boostplug.comparison.training.tuning import OutOfTime
from boostplug.comparison.training.workers import in_processes
from boostplug.core.checks import shown

__all__ = ["Budget", "Kind", "Unit", "Worker", "check_picklable", "outcomes_in_turn", "outcomes_over_processes"]

Folds = Sequence[Sequence[Part]]


class Kind(NamedTuple):
    """What is taken to last equally long."""

    framework: str
    method: str
    tunes: bool
    """Whether the training comes after its tuning."""


class Budget:
    """Lets work begin that what has passed suggests to end in time.

    A kind of work is expected to take as long as it did when it was last done; one that was not done yet, as the
    others of its framework on average, else as all others, else no time. The clock starts with the budget.

    Parameters
    ----------
    minutes : float or None
        None: all begins.
    clock : callable
        Seconds.
    """

    def __init__(self, minutes: float | None, clock: Callable[[], float] = monotonic) -> None:
        self.limited, self.clock = minutes is not None, clock
        self._end = math.inf if minutes is None else clock() + 60.0 * minutes
        self._took: dict[Kind, float] = {}

    @property
    def left(self) -> float:
        """Seconds, below 0 where time is up."""
        return self._end - self.clock()

    def took(self, kind: Kind, seconds: float) -> None:
        """Take down how long a piece of work took."""
        self._took[kind] = seconds

    def fits(self, kinds: Iterable[Kind]) -> bool:
        """Return whether pieces of work, one after another, are expected to end in time."""
        left = self.left
        return left > 0.0 and sum(map(self._expected, kinds)) <= left

    def knows(self, kinds: Iterable[Kind]) -> bool:
        """Return whether all of these were done before."""
        return all(kind in self._took for kind in kinds)

    def _expected(self, kind: Kind) -> float:
        if kind in self._took:
            return self._took[kind]
        alike = [seconds for other, seconds in self._took.items() if other.tunes == kind.tunes]
        same = [
            seconds
            for other, seconds in self._took.items()
            if (other.framework, other.tunes) == (kind.framework, kind.tunes)
        ]
        return fmean(same or alike or [0.0])


def outcomes_in_turn(
    plan: Plan,
    folds: Folds,
    methods: Sequence[Method],
    kept: Keeper | None,
    advance: Callable[[str, int], None],
    budget: Budget,
) -> Iterator[RunOutcome]:
    """Yield the outcomes of the runs, of all methods with a fold and a seed before the next.

    Within a budget all folds come with the first seed before any with the second, and once it is known how long each
    method takes, such a turn begins as a whole or not at all; none begins after one that was cut short. So methods have
    the same runs where that is possible.

    Parameters
    ----------
    plan : Plan
    folds : sequence of (train, valid, test)
    methods : sequence of Method
    kept : Keeper or None
    advance : callable
        As `progress_bar` yields it.
    budget : Budget
    """
    runs = [FoldRuns(plan, f, fold, kept, advance, is_late=lambda: budget.left < 0.0) for f, fold in enumerate(folds)]
    turns = [(f, seed) for f in range(len(folds)) for seed in plan.seeds]
    if budget.limited:
        turns = [(f, seed) for seed in plan.seeds for f in range(len(folds))]
    tuned: set[tuple[int, Method]] = set()
    last, whole = 0, True
    for f, seed in turns:
        if f != last:
            runs[last].forget()
            last = f
        due = {
            method: Kind(method.framework, method.name, bool(plan.tune) and (f, method) not in tuned)
            for method in methods
            if kept is None or kept.outcome(method, f, seed) is None
        }
        begins = whole and not (budget.knows(due.values()) and not budget.fits(due.values()))
        for method in methods:
            if method in due and not (begins and budget.fits([due[method]])):
                whole = False  # what still fits would be ahead of what was left out
                continue
            start = budget.clock()
            try:
                cell = runs[f].outcome(method, seed)
            except OutOfTime:
                whole = False
                continue
            if method in due:
                budget.took(due[method], budget.clock() - start)
                tuned.add((f, method))
            yield cell


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
                cells.append(runs.outcome(self._methods[unit.method], seed))  # noqa: PERF401 (kept if the next ends it)
        return cells


def outcomes_over_processes(
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
            cells = [] if kept is None else [kept.outcome(method, fold, seed) for seed in plan.seeds]
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
