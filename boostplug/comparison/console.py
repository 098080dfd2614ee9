"""Results as text, and progress bars, by rich, which is imported where it is needed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from io import StringIO
from time import monotonic
from typing import TYPE_CHECKING

from boostplug.core.text import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderResult
    from rich.progress import Progress

_SECONDS = 30.0  # at least between two lines of a run whose stderr is no terminal


def as_text(render: "Callable[[Console], RenderResult]", width: int) -> str:
    """Return what `render` yields for a console of some width, without colours and trailing blanks."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False, legacy_windows=False)
    with console.capture() as captured:
        for part in render(console):
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


@contextmanager
def progress_bar(shown: bool | None, total: int, *, completed: int = 0) -> Iterator[Callable[[str, int], None]]:
    """Yield ``advance(description, steps)`` of a progress bar on stderr; shown by default where that is a terminal.

    An empty description leaves the one before. Where `shown` is true and stderr is no terminal, steps are followed by a
    line, at most every 30 seconds.
    """
    with bars(shown) as progress:
        yield first_bar(progress, shown, total, completed)


def bars(shown: bool | None) -> "Progress":
    """Return bars on stderr that go when the work is done; invisible where that is no terminal, or `shown` is false."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    return Progress(
        *(BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=shown is False or not console.is_terminal or console.is_dumb_terminal,
        refresh_per_second=2,  # each takes time from the training
        speed_estimate_period=24 * 3600,
    )


def first_bar(progress: "Progress", shown: bool | None, total: int, completed: int = 0) -> Callable[[str, int], None]:
    """Add a bar, and return its ``advance(description, steps)``, as `progress_bar` yields it."""
    progress.add_task("", total=total, completed=completed)
    task = progress.tasks[-1]
    last = monotonic()

    def advance(description: str, steps: int) -> None:
        nonlocal last
        progress.update(task.id, advance=steps, description=visible(description) or None)
        if shown and progress.disable and steps and monotonic() - last >= _SECONDS:
            last = monotonic()
            elapsed = timedelta(seconds=int(task.elapsed or 0))
            with suppress(OSError, ValueError):  # nobody listens any more
                sys.stderr.write(f"boostplug: {elapsed}, {task.completed:g} of {total} done; now {task.description}\n")
                sys.stderr.flush()

    return advance
