"""The runs of a comparison over processes, of which the parent alone keeps what is finished."""

import math
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any, Literal

from boostplug.comparison.budget import Budget, Kind
from boostplug.comparison.cells import Cell, Method
from boostplug.comparison.kept import users_modules
from boostplug.comparison.runs import FoldRuns, Keeper, Plan
from boostplug.comparison.training import Part
from boostplug.comparison.tuning import Outcome, OutOfTime
from boostplug.comparison.workers import pieces_from_processes
from boostplug.core.checks import shown

__all__ = ["cells_over_processes", "check_picklable"]

Folds = Sequence[Sequence[Part]]


@dataclass(frozen=True, eq=False)
class _Unit:
    """What one process does without another: the runs of a method on a fold, after its tuning."""

    fold: int
    method: Method
    seeds: tuple[int, ...]
    trials: Mapping[int, Outcome]
    """Those that are kept, by number."""
    left: float = math.inf
    """Seconds until tuning ends."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """What a process tells the parent as soon as it is there."""

    kind: Literal["steps", "cell", "trial"]
    value: Any
    number: int = 0
    """Of a trial, or of steps."""


def cells_over_processes(
    plan: Plan,
    folds: Folds,
    methods: Sequence[Method],
    kept: Keeper | None,
    advance: Callable[[str, int], None],
    n_processes: int,
    budget: Budget,
) -> Iterator[Cell]:
    """Yield the outcomes of all runs as they are finished, those that are kept first.

    The data go to each process once. Within a process it is as without: the data of a fold are binned once for each
    framework, and a method is tuned before its runs.

    Parameters
    ----------
    plan : Plan
        Its number of threads is that of each process.
    folds : sequence of (train, valid, test)
    methods : sequence of Method
    kept : Keeper or None
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
        for method in methods:
            cells = [] if kept is None else [kept.cell(method, fold, seed) for seed in plan.seeds]
            done = {cell.seed: cell for cell in cells if cell is not None}
            for seed, cell in done.items():
                advance("", 1 + (plan.tune if seed == plan.seeds[0] else 0))
                yield cell
            left = tuple(seed for seed in plan.seeds if seed not in done)
            outcomes = [] if kept is None else [kept.trial(method, fold, n + 1) for n in range(plan.tune)]
            tried = {n: outcome for n, outcome in enumerate(outcomes, 1) if outcome is not None}
            if left:
                units.append(_Unit(fold, method, left, tried))
    if budget.limited and not plan.tune:
        single = [replace(unit, seeds=(seed,)) for unit in units for seed in unit.seeds]
        units = sorted(single, key=lambda unit: (plan.seeds.index(unit.seeds[0]), unit.fold))
    started: dict[int, float] = {}

    def begun() -> Iterator[_Unit]:
        cut = None  # the turn of which something was left out: none begins after it
        for unit in units:
            turn = (plan.seeds.index(unit.seeds[0]), unit.fold)
            if cut not in {None, turn}:
                return
            if budget.fits([_kind(unit)]):
                begins = replace(unit, left=budget.left) if plan.tune and budget.limited else unit
                started[id(begins)] = budget.clock()
                yield begins
            else:
                cut = turn

    work = partial(_worked, plan, folds)
    for unit, piece in pieces_from_processes(work, begun(), min(n_processes, len(units))):
        if piece.kind == "steps":
            advance(piece.value, piece.number)
        elif piece.kind == "trial":
            if kept is not None:
                kept.add_trial(unit.method, unit.fold, piece.number, piece.value)
        else:
            if piece.value.seed == unit.seeds[-1]:
                budget.took(_kind(unit), budget.clock() - started[id(unit)])
            cell = replace(piece.value, method=unit.method)  # this process's own, by which it is known
            if kept is not None:
                kept.add(cell)
            yield cell


def _kind(unit: _Unit) -> Kind:
    return Kind(unit.method.framework, unit.method.name, len(unit.seeds) > 1)


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


@dataclass(eq=False)
class _Relay:
    """Hands what is finished to the parent; knows the settings that an earlier comparison has tried."""

    say: Callable[[_Piece], None]
    trials: Mapping[int, Outcome] = field(default_factory=dict)

    def cell(self, _method: Method, _fold: int, _seed: int) -> None:
        """Return None: runs that are kept are in no unit."""

    def add(self, cell: Cell) -> None:
        """Hand on a run."""
        self.say(_Piece("cell", cell))

    def trial(self, _method: Method, _fold: int, number: int) -> Outcome | None:
        """Return what came of a setting."""
        return self.trials.get(number)

    def add_trial(self, _method: Method, _fold: int, number: int, outcome: Outcome) -> None:
        """Hand on what came of a setting."""
        self.say(_Piece("trial", outcome, number))

    def advance(self, description: str, steps: int) -> None:
        """Hand on how far the runs are."""
        self.say(_Piece("steps", description, steps))


_LAST: dict[int, tuple[_Relay, FoldRuns]] = {}  # of a process: the fold that it has binned last


def _worked(plan: Plan, folds: Folds, unit: _Unit, say: Callable[[_Piece], None]) -> None:
    if unit.fold not in _LAST:
        _LAST.clear()
        relay = _Relay(say)
        _LAST[unit.fold] = relay, FoldRuns(plan, unit.fold, folds[unit.fold], relay, relay.advance)
    relay, runs = _LAST[unit.fold]
    relay.say, relay.trials = say, unit.trials
    end = monotonic() + unit.left
    runs.is_late = lambda: monotonic() > end
    with suppress(OutOfTime):
        for seed in unit.seeds:
            runs.cell(unit.method, seed)
