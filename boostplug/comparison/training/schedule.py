"""In which order runs begin, within a budget of time: one after another, or over processes."""

import math
import pickle
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from statistics import fmean
from time import monotonic
from typing import Any, NamedTuple

from boostplug.comparison.training.frameworks import Part
from boostplug.comparison.training.kept import users_modules
from boostplug.comparison.training.runs import FoldRuns, Keeper, Method, Plan, RunOutcome, announced
from boostplug.comparison.training.tuning import OutOfTime
from boostplug.comparison.training.workers import in_processes
from boostplug.core.checks import shown

Folds = Sequence[Sequence[Part]]


class Kind(NamedTuple):
    """Trainings that are assumed to take the same time."""

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


@dataclass(frozen=True, eq=False)
class Unit:
    """One process's work: runs of a method on a fold; all of them if the method is tuned first."""

    fold: int
    method: int
    """Its place among the methods."""
    seeds: tuple[int, ...]
    left: float = math.inf
    """Seconds until tuning ends."""


def _no_step(_description: str, _steps: int) -> None:
    pass


@dataclass(eq=False)
class Worker:
    """Trains units, and keeps each run and each setting that tuning tries as soon as it is finished.

    The data of a fold are binned once for each framework, as long as units of one fold follow one another.

    Parameters
    ----------
    plan : Plan
    folds : sequence of (train, valid, test)
    methods : sequence of Method
    kept : Keeper or None
    advance, is_late : callable, optional
        As `FoldRuns` takes them; not in another process, where `Unit.left` says when it is late.
    """

    plan: Plan
    folds: Folds
    methods: Sequence[Method]
    kept: Keeper | None
    advance: Callable[[str, int], None] = _no_step
    is_late: Callable[[], bool] | None = None
    _runs: dict[int, FoldRuns] = field(default_factory=dict)

    def __call__(self, unit: Unit) -> list[RunOutcome]:
        """Return the runs of a unit; none if time is up before its method is tuned."""
        new = FoldRuns(self.plan, unit.fold, self.folds[unit.fold], self.kept, self.advance)
        runs = self._runs.setdefault(unit.fold, new)
        for other in self._runs.values():
            if other is not runs:
                other.forget()
        end = monotonic() + unit.left
        runs.is_late = self.is_late or (lambda: monotonic() > end)
        found = []
        with suppress(OutOfTime):
            for seed in unit.seeds:
                found.append(runs.outcome(self.methods[unit.method], seed))  # noqa: PERF401 (kept if the next ends it)
        return found


def outcomes_of(
    plan: Plan,
    folds: Folds,
    methods: Sequence[Method],
    kept: Keeper | None,
    advance: Callable[[str, int], None],
    n_processes: int,
    budget: Budget,
) -> Generator[RunOutcome]:
    """Yield the outcomes of all runs as they are finished, those that are kept first.

    A turn is the runs of all methods with a fold and a seed. Within a budget all folds come with the first seed before
    any with the second, and none begins after a turn that was cut short; in one process, once it is known how long each
    method takes, a turn begins as a whole or not at all. So methods have the same runs where that is possible. Over
    processes, all runs of a method on a fold begin together where it must be tuned first.

    Parameters
    ----------
    plan : Plan
        Its number of threads is that of each process.
    folds : sequence of (train, valid, test)
    methods : sequence of Method
    kept : Keeper or None
        Picklable, for several processes.
    advance : callable
        As `progress_bar` yields it.
    n_processes : int
    budget : Budget

    Raises
    ------
    RuntimeError
        If a process dies.
    """
    work = Worker(plan, folds, methods, kept, advance, lambda: budget.left < 0.0)
    units = yield from _kept_runs(work, together=bool(plan.tune) and n_processes > 1)

    def turn(unit: Unit) -> tuple[int, int]:
        place = plan.seeds.index(unit.seeds[0])
        return (place, unit.fold) if budget.limited else (unit.fold, place)

    units.sort(key=turn)
    n_processes = min(n_processes, max(1, len(units)))
    inline = n_processes == 1
    started: dict[int, float] = {}
    tuned: set[tuple[int, int]] = set()
    cut: list[tuple[int, int]] = []  # the turn of which something was left out: none begins after it

    def kind(unit: Unit) -> Kind:
        method, tunes = methods[unit.method], bool(plan.tune) and (unit.fold, unit.method) not in tuned
        return Kind(method.framework, method.name, tunes)

    def startable_units() -> Iterator[Unit]:
        for at, of_turn in groupby(units, turn):
            due = list(of_turn)
            kinds = [kind(unit) for unit in due]
            if cut or (inline and budget.knows(kinds) and not budget.fits(kinds)):
                return
            for unit in due:
                if not budget.fits([kind(unit)]):
                    cut.append(at)  # what still fits of this turn begins
                    continue
                begins = replace(unit, left=budget.left) if plan.tune and budget.limited else unit
                started[id(begins)] = budget.clock()
                if not inline:
                    advance(announced(methods[unit.method], unit.seeds[0], unit.fold), 0)
                yield begins

    if not inline:
        work = Worker(plan, folds, methods, kept)
    for unit, finished in in_processes(work, startable_units(), n_processes):
        if finished:
            budget.took(kind(unit), budget.clock() - started[id(unit)])
            tuned.add((unit.fold, unit.method))
        else:
            cut.append(turn(unit))
        for run in finished:
            yield replace(run, method=methods[unit.method])  # this process's own, by which it is known
            if not inline:
                advance("", _steps(plan, run))


def _kept_runs(work: Worker, *, together: bool) -> Generator[RunOutcome, None, list[Unit]]:
    """Yield the runs that are kept, and return the units of the others, with all seeds of a method and fold or one."""
    plan, units = work.plan, []
    for fold, (i, method) in product(range(len(work.folds)), enumerate(work.methods)):
        found = [] if work.kept is None else [work.kept.outcome(method, fold, seed) for seed in plan.seeds]
        done = {run.seed: run for run in found if run is not None}
        for run in done.values():
            work.advance("", _steps(plan, run))
            yield run
        left = tuple(seed for seed in plan.seeds if seed not in done)
        units += [Unit(fold, i, seeds) for seeds in ([left] if together else zip(left, strict=True)) if seeds]
    return units


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
