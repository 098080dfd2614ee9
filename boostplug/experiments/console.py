"""Results as text, and progress bars, by rich, which is imported where it is needed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderResult

__all__ = ["as_text", "progress_bar"]


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
    """Yield ``advance(description, steps)`` of a progress bar on stderr, shown by default where that is a terminal.

    An empty description leaves the one before. With `estimate`, the time that remains is shown too.
    """
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
    disable = not (console.is_terminal if shown is None else shown)
    times = (TimeElapsedColumn(), TimeRemainingColumn()) if estimate else (TimeElapsedColumn(),)
    columns = (BarColumn(), MofNCompleteColumn(), *times, TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True, disable=disable) as bar:
        task = bar.add_task("", total=total, completed=completed)

        def advance(description: str, steps: int) -> None:
            bar.update(task, advance=steps, description=description or None)

        yield advance
