"""A comparison's table and the lines below it: for a terminal, as plain text, and in Markdown."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from boostplug.comparison.console import as_text
from boostplug.comparison.report.report_table import (
    NONE,
    Cell,
    Column,
    ReportTable,
    Row,
    as_markdown,
    as_rich,
    in_markdown,
    interval,
    number,
    probability,
    short,
    signed,
)
from boostplug.comparison.report.words import NO_VERDICT, RECOMMENDED, advice, below_table, is_code, percent
from boostplug.comparison.summary import Comparison, Contrast, MethodSummary
from boostplug.core.text import visible

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderResult
    from rich.table import Table as RichTable

_UNLIMITED = 10_000  # characters


class MethodCells(NamedTuple):
    """The cells of a method in the table."""

    name: Cell
    metrics: Sequence[Cell]
    difference: Cell
    p: Cell
    time: Cell | None
    """None if no run of the comparison was timed: the table then has no such column."""
    rounds: Cell

    @property
    def values(self) -> list[Cell]:
        """All cells except the name, in the order of the table's columns."""
        return [*self.metrics, self.difference, self.p, *([] if self.time is None else [self.time]), self.rounds]


def table_of(document: Comparison) -> ReportTable:
    """Return the table: a row per method, in the document's order."""
    settings = document.settings
    columns = [
        Column("method", numbers=False),
        *(
            Column(f"{name} ↓", descending=False) if name in settings.lower_is_better else Column(name)
            for name in settings.metrics
        ),
        Column(f"Δ [{percent(document)}]", descending=settings.greater_is_better),
        Column("p", descending=False),
        *([Column("ms/round", descending=False)] if _is_timed(document) else []),
        Column("rounds", descending=False),
    ]
    cells = [(cells_of(document, method), method.framework) for method in document.methods]
    return ReportTable(columns, [Row([found.name, *found.values], framework) for found, framework in cells])


def cells_of(document: Comparison, method: MethodSummary) -> MethodCells:
    """Return the cells of a method."""
    finished, planned = method.runs_finished, method.runs_planned
    difference, p = _contrast_cells(Contrast.from_summary(method), document)
    return MethodCells(
        name=Cell(method.method + (f" [{finished} of {planned}]" if 0 < finished < planned else "")),
        metrics=[_metric_cell(document, method, name) for name in document.settings.metrics],
        difference=difference,
        p=p,
        time=milliseconds(method) if _is_timed(document) else None,
        rounds=replace(number(method.rounds, ".0f"), after="cap" if method.runs_at_cap else ""),
    )


def _is_timed(document: Comparison) -> bool:
    return any(method.seconds_per_round is not None for method in document.methods)


def milliseconds(method: MethodSummary) -> Cell:
    """Return the cell of the time per round."""
    return number(None if method.seconds_per_round is None else 1e3 * method.seconds_per_round, ".1f")


def _contrast_cells(found: Contrast | None, document: Comparison) -> tuple[Cell, Cell]:
    """Return the cells of a difference with its interval, and of its p."""
    if found is None:
        return Cell(NONE), Cell(NONE)
    p, verdict = None if isnan(found.p) else found.p, found.outcome(document)
    difference = Cell(signed(found.difference), found.difference, after=interval(found.interval), verdict=verdict)
    return difference, Cell(probability(p), p, verdict=verdict)


def _metric_cell(document: Comparison, method: MethodSummary, name: str) -> Cell:
    settings, found = document.settings, method.test[name]
    if found.mean is None:
        state = "failed" if method.errors else "not run"
        return Cell(state if name == settings.metrics[0] else NONE)
    spread = f"± {short(found.spread)}" if name == settings.metric and found.spread is not None else ""
    means = [m.test[name].mean for m in document.methods if m.framework == method.framework]
    best = (min if name in settings.lower_is_better else max)(mean for mean in means if mean is not None)
    return Cell(short(found.mean), found.mean, after=spread, bold=found.mean == best)


def render(document: Comparison, options: "ConsoleOptions") -> "RenderResult":
    """Yield the table, narrow if the wide form does not fit, and the lines below it."""
    from rich.text import Text

    wide = as_rich(table_of(document), narrow=False)
    yield wide if _width(wide) <= options.max_width else as_rich(table_of(document), narrow=True)
    yield Text("")
    for line in below_table(document):
        yield Text(visible(line), style="bold" if line.startswith(("INCOMPLETE", "PARTIAL", "WARNING")) else "")
    yield Text("")
    for line in advice(document):
        yield Text(visible(line), style="bold" if line.startswith((RECOMMENDED, NO_VERDICT)) else "")


def _width(table: "RichTable") -> int:
    from rich.console import Console

    return Console(width=_UNLIMITED).measure(table).maximum


def text(document: Comparison) -> str:
    """Return the table as plain text, as wide as the terminal, or without one as wide as needed."""
    from shutil import get_terminal_size

    wide = max(120, _width(as_rich(table_of(document), narrow=False)))
    width = get_terminal_size((120, 24)).columns if sys.stdout.isatty() else wide
    return as_text(lambda console: render(document, console.options), width)


def markdown(document: Comparison) -> str:
    """Return the table and the lines below it as Markdown."""
    lines = [
        f"# {in_markdown(document.data.name or 'Comparison')}",
        "",
        *as_markdown(table_of(document)),
        "",
        *(f"- {in_markdown(line)}" for line in below_table(document)),
        "",
    ]
    for line in advice(document):
        lines += ["```python", visible(line).strip(), "```"] if is_code(line) else [in_markdown(line), ""]
    return "\n".join(lines) + "\n"
