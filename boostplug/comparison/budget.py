"""`Budget`: which trainings begin where time is limited; `cells_in_turn`: a comparison's runs one after another."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from time import monotonic
from typing import NamedTuple

from boostplug.comparison.cells import Method, RunOutcome
from boostplug.comparison.runs import FoldRuns, Keeper, Plan
from boostplug.comparison.training import Part
from boostplug.comparison.tuning import OutOfTime

__all__ = ["Budget", "Kind", "cells_in_turn"]

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


def cells_in_turn(
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
            if kept is None or kept.cell(method, f, seed) is None
        }
        begins = whole and not (budget.knows(due.values()) and not budget.fits(due.values()))
        for method in methods:
            if method in due and not (begins and budget.fits([due[method]])):
                whole = False  # what still fits would be ahead of what was left out
                continue
            start = budget.clock()
            try:
                cell = runs[f].cell(method, seed)
            except OutOfTime:
                whole = False
                continue
            if method in due:
                budget.took(due[method], budget.clock() - start)
                tuned.add((f, method))
            yield cell
