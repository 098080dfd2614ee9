"""A comparison's table as it grows, in a terminal; lines now and then where there is none."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from statistics import fmean
from time import monotonic
from typing import TYPE_CHECKING, Literal

from boostplug.comparison.console import progress_bar
from boostplug.comparison.training.runs import Method, Plan, RunOutcome, announced
from boostplug.core.text import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.segment import Segment

_PER_SECOND = 2  # times that it is drawn: each takes time from the training
_AROUND = 5  # lines that are no methods: heads, a rule, what is not shown, the bar, and below it the cursor
_LEAST = 2  # methods; where fewer fit, the bar stands alone
_WIDE = 64  # from here on it says what is trained of a method
_VALUE = 7  # letters of a metric's value
_BAR = 30


@contextmanager
def live_table(
    shown: bool | None, board: "Board"
) -> Iterator[tuple[Callable[[str, int], None], Callable[[RunOutcome], None]]]:
    """Yield ``advance(description, steps)`` and ``add(cell)`` of a table on stderr that goes when the work is done.

    Where stderr is no terminal, or `shown` is False, it is as `progress_bar` has it.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if shown is not False and console.is_terminal and not console.is_dumb_terminal:
        with Live(board, console=console, transient=True, refresh_per_second=_PER_SECOND):
            yield board.advance, board.add
    else:
        with progress_bar(shown, board.total) as advance:
            yield advance, lambda _cell: None


class Board:
    """Live table of a comparison: finished and running trainings and the expected time.

    Where not all methods fit, those at work are shown, and the best so far. Drawn anew when something has changed.

    Parameters
    ----------
    plan : Plan
    methods : sequence of Method
    n_folds : int
    jobs : int
        Trainings at once.
    minutes : float or None
        After which none begins.
    clock : callable
        Seconds.
    """

    def __init__(
        self,
        plan: Plan,
        methods: Sequence[Method],
        n_folds: int,
        *,
        jobs: int = 1,
        minutes: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._plan, self._methods, self._n_folds, self._jobs, self._clock = plan, methods, n_folds, jobs, clock
        self.total = n_folds * (len(plan.seeds) + plan.tune) * len(methods)
        self._steps = 0
        self._start = clock()
        self._end = math.inf if minutes is None else self._start + 60.0 * minutes
        self._outcomes: dict[Method, list[RunOutcome]] = {method: [] for method in methods}
        self._runs = {
            announced(method, seed, fold): (method, seed, fold)
            for method in methods
            for seed in plan.seeds
            for fold in range(n_folds)
        }
        self._at_work: dict[str, float] = {}  # since when
        self._drawn: tuple[tuple[int, int], list[list[Segment]]] | None = None

    def advance(self, description: str, steps: int) -> None:
        """Take a run that begins, by its description, and steps that are done."""
        self._steps += steps
        if description in self._runs:
            self._at_work = {**self._at_work, description: self._clock()}
            self._drawn = None

    def add(self, cell: RunOutcome) -> None:
        """Take a run that has ended."""
        self._outcomes[cell.method] = [*self._outcomes[cell.method], cell]
        name = announced(cell.method, cell.seed, cell.fold)
        self._at_work = {other: since for other, since in self._at_work.items() if other != name}
        self._drawn = None

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.segment import Segment

        size = (console.width, console.height)
        drawn = self._drawn
        if drawn is None or drawn[0] != size:
            rows = self._shown(console.height - _AROUND)
            lines = console.render_lines(self._table(rows, console.width), options, pad=False) if rows else []
            drawn = self._drawn = size, lines
        for line in drawn[1]:
            yield from line
            yield Segment.line()
        yield self._bar(console.width)

    def _shown(self, most: int) -> list[Method]:
        """Return the methods that are shown: all in their order, or those at work and then the best."""
        if len(self._methods) <= most + 1:  # with no line that says how many more there are
            return list(self._methods)
        if most < _LEAST:
            return []
        working = {self._runs[name][0]: None for name in self._at_work}
        sign = 1.0 if self._plan.metric.greater_is_better else -1.0
        means = {method: mean for method in self._methods if (mean := self._mean(method)) is not None}
        best = sorted(means, key=lambda method: -sign * means[method])
        return list(dict.fromkeys([*list(working)[: most - 1], *best, *self._methods]))[:most]

    def _mean(self, method: Method) -> float | None:
        """Return the mean validation score over the runs that are finished; None where none is, or it has no value."""
        values = [cell.validation for cell in self._outcomes[method] if cell.error is None]
        return fmean(values) if values and not math.isnan(fmean(values)) else None

    def _table(self, rows: Sequence[Method], width: int) -> "RenderableType":
        from rich import box
        from rich.cells import cell_len
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        planned = self._n_folds * len(self._plan.seeds)
        means = {method: self._mean(method) for method in self._methods}
        known = [mean for mean in means.values() if mean is not None]
        best = (max if self._plan.metric.greater_is_better else min)(known, default=None)
        lines = []
        for method in rows:
            now = [self._run_label(name) for name in self._at_work if self._runs[name][0] == method]
            mean, cells = means[method], self._outcomes[method]
            failed = mean is None and any(cell.error is not None for cell in cells)
            value = ("failed" if failed else "") if mean is None else f"{mean:.4f}"
            runs = f"{sum(cell.error is None for cell in cells)}/{planned}"
            style = "red" if failed else "bold" if mean is not None and mean == best else ""
            name = visible(method.name)
            line = [">" if now else "", method.framework, name, Text(value, style), runs, "; ".join(now)]
            lines.append((line, "" if now or cells else "dim"))
        heads = ["", "framework", "method", f"validation {visible(self._plan.metric.name)}", "runs", "now"]
        columns = list(zip(heads, *(line for line, _ in lines), strict=True))
        taken = [max(cell_len(str(value)) for value in column) for column in columns]
        taken[3] = max(_VALUE, min(taken[3], width // 5))  # a metric's name may be long
        if width < _WIDE:
            heads[1], taken[1], taken[-1] = "", max(len(method.framework) for method in rows), 0
        if len({method.framework for method in self._methods}) == 1:
            taken[1] = 0
        gap = 2 if width >= _WIDE else 1
        others = [max(1, size) for i, size in enumerate(taken) if i != 2 and (size or not i)]
        taken[2] = max(1, min(taken[2], width - sum(others) - gap * len(others)))
        shown = [i for i, size in enumerate(taken) if size or not i]
        table = Table(box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False, show_edge=False)
        for i in shown:
            side: Literal["left", "right"] = "right" if heads[i] in heads[3:5] else "left"
            table.add_column(Text(heads[i]), width=max(1, taken[i]), no_wrap=True, justify=side)
        for line, style in lines:
            table.add_row(*(line[i] if i == 3 else Text(str(line[i])) for i in shown), style=style)
        left = [method for method in self._methods if method not in rows]
        done = sum(len(self._outcomes[method]) == planned for method in left)
        more = f"and {len(left)} more, {done} of them finished; shown: at work, then the best so far"
        return Group(table, Text(more, "dim", no_wrap=True, overflow="ellipsis")) if left else table

    def _run_label(self, name: str) -> str:
        method, seed, fold = self._runs[name]
        of_fold = f", fold {fold + 1}" if self._n_folds > 1 else ""
        tunes = self._plan.tune and not any(cell.fold == fold for cell in self._outcomes[method])
        return f"{'tuning, ' if tunes else ''}seed {seed}{of_fold}"

    def _bar(self, width: int) -> "RenderableType":
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        elapsed, left = self._clock() - self._start, self.seconds_left()
        times = f"{_hours(elapsed)}" + ("" if left is None else f", about {_hours(left)} left")
        text = Text(f"{self._steps}/{self.total}  {times}", no_wrap=True, overflow="ellipsis")
        if width < _BAR + text.cell_len + 1:
            return text
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total=self.total, completed=self._steps, width=_BAR), text)
        return grid

    def seconds_left(self) -> float | None:
        """Return about how long it will take; None while nothing is known.

        A training is taken to last as long as those of its method on average, else of its framework, else as all.
        """
        seconds = {
            method: [cell.seconds for cell in self._outcomes[method] if cell.seconds is not None]
            for method in self._methods
        }
        if not any(seconds.values()):
            return None
        total = 0.0
        for method in self._methods:
            cells = self._outcomes[method]
            tuned = {cell.fold for cell in cells}
            steps = self._n_folds * len(self._plan.seeds) - len(cells)
            steps += self._plan.tune * (self._n_folds - len(tuned))
            alike = [s for other, of in seconds.items() if other.framework == method.framework for s in of]
            total += steps * fmean(seconds[method] or alike or [s for of in seconds.values() for s in of])
        now = self._clock()
        total -= sum(now - since for since in self._at_work.values())
        return max(0.0, min(total / self._jobs, self._end - now))


def _hours(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
