"""A small model of tables with writers for a terminal, Markdown and HTML, and formats of numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.summary import Outcome
from boostplug.core.text import visible

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from rich.text import Text

NONE = "–"
_LEAST_NAME = 16  # least width of the folded first column


@dataclass(frozen=True)
class Column:
    """A column: its head, whether it holds numbers, and whether the first click sorts the largest to the top."""

    head: str
    numbers: bool = True
    descending: bool = True
    sorted_by: bool = False  # whether rows are sorted by it


@dataclass(frozen=True)
class Cell:
    """Content of a cell and its sort key (None: sorted last)."""

    shown: Child
    key: float | str | None = None
    class_: str = ""  # class of the HTML element
    after: str = ""  # a spread or an interval, beside the content or below it
    bold: bool = False
    verdict: Outcome = Outcome.LEVEL

    @property
    def text(self) -> str:
        """All of it as plain text."""
        return f"{self.shown} {self.after}".rstrip()


@dataclass(frozen=True)
class Row:
    """The cells of a row, and its group, such as a framework."""

    cells: Sequence[Cell]
    group: str | None = None


@dataclass(frozen=True)
class ReportTable:
    """Columns and rows; the first cell of a row is its head."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""


def as_rich(table: ReportTable, *, narrow: bool) -> "RichTable":
    """Return a table for a terminal.

    A narrow table has its groups as headings instead of a first column, and spreads or intervals below values.
    """
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, int(not narrow)), collapse_padding=True, pad_edge=False)
    if not narrow:
        shown.add_column("framework")
    shown.add_column(table.columns[0].head, overflow="fold", min_width=_LEAST_NAME)
    for column in table.columns[1:]:
        shown.add_column(Text(visible(column.head)), justify="right", overflow="fold")
    for group, rows in groupby(table.rows, lambda row: row.group):
        shown.add_section()
        if narrow:
            shown.add_row(Text(str(group), style="bold"))
        for row in rows:
            first = [] if narrow else [Text(str(group))]
            shown.add_row(*first, *(_rich_cell(cell, narrow=narrow) for cell in row.cells))
    return shown


def _rich_cell(cell: Cell, *, narrow: bool) -> "Text":
    from rich.text import Text

    style = {Outcome.BETTER: "bold green", Outcome.WORSE: "red"}.get(cell.verdict, "bold" if cell.bold else "")
    text = Text(visible(str(cell.shown)), style=style)
    if cell.after:
        below = cell.after.replace("± ", "±").replace(" ", "\n")
        text.append(f"\n{below}" if narrow else f" {cell.after}", style="not bold" * cell.bold)
    return text


def as_markdown(table: ReportTable) -> list[str]:
    """Return the lines of a table in Markdown, with its groups as the first column."""
    rows = [
        [row.group or "", *(f"**{c.shown}** {c.after}".rstrip() if c.bold else c.text for c in row.cells)]
        for row in table.rows
    ]
    rule = ["---", *("---:" if column.numbers else "---" for column in table.columns)]
    head = ["framework", *(column.head for column in table.columns)]
    return [
        "| " + " | ".join(in_markdown(cell).replace("|", "&#124;") for cell in cells) + " |"
        for cells in (head, rule, *rows)
    ]


def in_markdown(text: str) -> str:
    """Return a text in one line, with HTML markup escaped."""
    return escape(" ".join(visible(text).split()), quote=False)


def as_html(
    table: ReportTable, *, class_: str | None = None, described_by: str | None = None, name: str | None = None
) -> Markup:
    """Return a sortable table, in a box that scrolls if the table is wide.

    Parameters
    ----------
    table : ReportTable
        Rows with a group can be filtered by it.
    class_ : str, optional
    described_by : str, optional
        Id of the element that explains it.
    name : str, optional
        Name of the box, if the caption is not enough.
    """
    heads = [
        el(
            "th",
            el("span", column.head),
            scope="col",
            class_="n" if column.numbers else None,
            data_first="descending" if column.descending and column.numbers else "ascending",
            aria_sort=("descending" if column.descending else "ascending") if column.sorted_by else None,
        )
        for column in table.columns
    ]
    body = [
        el(
            "tr",
            [_html_cell(c, h, first=h is table.columns[0]) for c, h in zip(row.cells, table.columns, strict=True)],
            data_framework=row.group,
        )
        for row in table.rows
    ]
    whole = el(
        "table",
        el("caption", el("span", table.caption)),
        el("thead", el("tr", heads)),
        el("tbody", [["\n", row] for row in body]),
        class_=class_,
        aria_describedby=described_by,
    )
    return el("div.scrolls", whole, tabindex=0, role="group", aria_label=name or table.caption)


def _html_cell(cell: Cell, column: Column, *, first: bool) -> Markup:
    after = f" {cell.after}" if cell.after else None
    classes = ("n" * column.numbers, {Outcome.BETTER: "up", Outcome.WORSE: "down"}.get(cell.verdict), cell.class_)
    return el(
        "th" if first else "td",
        el("b", cell.shown) if cell.bold else cell.shown,
        el("small", after) if cell.after.startswith("±") else after,
        scope="row" if first else None,
        class_=" ".join(filter(None, classes)) or None,
        data_key=cell.key,
    )


def number(shown: float | None, form: str = ",") -> Cell:
    """Return a cell of a number; an en dash for None."""
    return Cell(NONE if shown is None else f"{shown:{form}}", shown)


def value(shown: float | None) -> Cell:
    """Return a cell of a metric's value."""
    return Cell(short(shown), shown)


def difference(shown: float | None) -> Cell:
    """Return a cell of a difference."""
    return Cell(signed(shown), shown)


def short(value: float | None) -> str:
    """Return four decimals, without a leading zero."""
    return NONE if value is None else without_zero(f"{value:.4f}")


def signed(value: float | None) -> str:
    """Return four decimals with their sign, without a leading zero."""
    return NONE if value is None else without_zero(f"{round(value, 4) + 0.0:+.4f}")  # + 0.0: no -.0000


def interval(ends: Sequence[float] | None) -> str:
    """Return the ends of an interval in brackets, or an empty text if they are unknown."""
    return "" if ends is None else f"[{', '.join(map(signed, ends))}]"


def probability(value: float | None) -> str:
    """Return three decimals, without a leading zero."""
    if value is None:
        return NONE
    return "<.001" if value < 0.0005 else without_zero(f"{value:.3f}")


def without_zero(number: str) -> str:
    """Return a number as text without the zero before its point."""
    return re.sub(r"^([+-]?)0\.", r"\1.", number)
