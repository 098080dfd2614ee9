"""Tables of the page: rows that can be sorted, in a box of their own that scrolls where they are wide."""

from collections.abc import Sequence
from dataclasses import dataclass

from boostplug.comparison.report import NONE, short, signed
from boostplug.comparison.webpage.markup import Child, Markup, el

__all__ = ["Cell", "Column", "difference", "number", "table", "value"]


@dataclass(frozen=True)
class Column:
    """A column: its head, whether it holds numbers, and whether a first click puts the largest on top."""

    head: str
    numbers: bool = True
    descending: bool = True
    sorted_by: bool = False  # whether the rows stand in its order


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and what it is sorted by (None: it comes last)."""

    shown: Child
    key: float | str | None = None
    class_: str = ""


def number(shown: float | None, form: str = ",") -> Cell:
    """Return a cell of a number; an en dash where there is none."""
    return Cell(NONE if shown is None else f"{shown:{form}}", shown)


def value(shown: float | None) -> Cell:
    """Return a cell of a metric's value."""
    return Cell(NONE if shown is None else short(shown), shown)


def difference(shown: float | None) -> Cell:
    """Return a cell of a difference."""
    return Cell(signed(shown), shown)


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    frameworks: Sequence[str] | None = None,
    class_: str = "",
    described_by: str | None = None,
    name: str | None = None,
) -> Markup:
    """Return a table; the first cell of a row is its head.

    Parameters
    ----------
    caption : str
    columns : sequence of Column
    rows : sequence of sequences of Cell
    frameworks : sequence of str, optional
        One per row, by which the reader may filter.
    class_ : str
    described_by : str, optional
        The id of what explains it.
    name : str, optional
        Of the box that scrolls, where the caption does not say enough by itself.
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
        for column in columns
    ]
    body = [
        el(
            "tr",
            [
                el(
                    "th" if i == 0 else "td",
                    cell.shown,
                    scope="row" if i == 0 else None,
                    class_=" ".join(filter(None, ("n" if column.numbers else "", cell.class_))) or None,
                    data_key=cell.key,
                )
                for i, (cell, column) in enumerate(zip(row, columns, strict=True))
            ],
            data_framework=None if frameworks is None else frameworks[k],
        )
        for k, row in enumerate(rows)
    ]
    whole = el(
        "table",
        el("caption", el("span", caption)),
        el("thead", el("tr", heads)),
        el("tbody", [["\n", row] for row in body]),
        class_=class_ or None,
        aria_describedby=described_by,
    )
    return el("div", whole, class_="scrolls", tabindex=0, role="group", aria_label=name or caption)
