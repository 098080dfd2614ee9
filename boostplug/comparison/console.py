"""Results as text, and progress bars, by rich, which is imported where it is needed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from io import StringIO
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from boostplug.core.text import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderResult

_SECONDS = 30.0  # between two lines of a run whose stderr is no terminal


def as_text(render: "Callable[[Console], RenderResult]", width: int) -> str:
    """Return what `render` yields for a console of some width, without colours and trailing blanks."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False, legacy_windows=False)
    with console.capture() as captured:
        for part in render(console):
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


@contextmanager
def progress_bar(
    shown: bool | None, total: int, *, completed: int = 0, estimate: bool = False
) -> Iterator[Callable[[str, int], None]]:
    """Yield ``advance(description, steps)`` of a progress bar on stderr; shown by default where that is a terminal.

    An empty description leaves the one before. With `estimate`, the time that remains is shown too. Where `shown` is
    asked for and stderr is no terminal, a line says every 30 seconds where things stand.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal and not console.is_dumb_terminal:
        with _bar(console, total, completed, disable=shown is False, estimate=estimate) as advance:
            yield advance
    elif shown:
        with _lines(total, completed) as advance:
            yield advance
    else:
        yield lambda _description, _steps: None


@contextmanager
def _bar(
    console: "Console", total: int, completed: int, *, disable: bool, estimate: bool
) -> Iterator[Callable[[str, int], None]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    times = (TimeElapsedColumn(), TimeRemainingColumn()) if estimate else (TimeElapsedColumn(),)
    columns = (BarColumn(), MofNCompleteColumn(), *times, TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True, disable=disable) as bar:
        task = bar.add_task("", total=total, completed=completed)

        def advance(description: str, steps: int) -> None:
            bar.update(task, advance=steps, description=visible(description) or None)

        yield advance


@contextmanager
def _lines(total: int, completed: int) -> Iterator[Callable[[str, int], None]]:
    """Say every 30 seconds where things stand, from a thread of its own: a training may take longer than that."""
    start, end = monotonic(), Event()
    doing, done = "", completed

    def advance(description: str, steps: int) -> None:
        nonlocal doing, done
        doing, done = description or doing, done + steps

    def write_lines() -> None:
        while not end.wait(_SECONDS):
            elapsed = timedelta(seconds=int(monotonic() - start))
            with suppress(OSError, ValueError):  # nobody listens any more
                sys.stderr.write(f"boostplug: {elapsed}, {done} of {total} done; now {visible(doing)}\n")
                sys.stderr.flush()

    thread = Thread(target=write_lines, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        end.set()
        thread.join()
