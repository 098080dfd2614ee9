"""Results as text, and a progress bar, by rich."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from io import StringIO
from time import monotonic

from rich import progress as bars
from rich.console import Console, RenderResult

from boostplug.core.text import visible

_SECONDS = 30.0  # least time between two lines if stderr is not a terminal


def as_text(render: Callable[[Console], RenderResult], width: int) -> str:
    """Return the output of `render` for a console of some width, without colours and trailing blanks."""
    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False, legacy_windows=False)
    with console.capture() as captured:
        for part in render(console):
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


@contextmanager
def progress_bar(shown: bool | None, total: int) -> Iterator[Callable[[str, int], None]]:
    """Yield ``advance(description, steps)`` of a progress bar on stderr; shown by default if that is a terminal.

    An empty description keeps the last one. If `shown` is true and stderr is not a terminal, a line is written after
    some steps, at most every 30 seconds.
    """
    console = Console(stderr=True)
    progress = bars.Progress(
        *(bars.BarColumn(20), bars.MofNCompleteColumn(), bars.TimeElapsedColumn(), bars.TimeRemainingColumn()),
        bars.TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=shown is False or not console.is_terminal or console.is_dumb_terminal,
        refresh_per_second=2,  # a refresh takes time from the training
        speed_estimate_period=24 * 3600,
    )
    progress.add_task("", total=total)
    task, last = progress.tasks[-1], monotonic()

    def advance(description: str, steps: int) -> None:
        nonlocal last
        progress.update(task.id, advance=steps, description=visible(description) or None)
        if shown and progress.disable and steps and monotonic() - last >= _SECONDS:
            last = monotonic()
            elapsed = timedelta(seconds=int(task.elapsed or 0))
            with suppress(OSError, ValueError):  # the reader of stderr has gone
                now = task.description and f"; now {task.description}"
                sys.stderr.write(f"boostplug: {elapsed}, {task.completed:g} of {total} done{now}\n")
                sys.stderr.flush()

    with progress:
        yield advance
