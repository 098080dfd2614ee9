"""Result of a benchmark: the rows of several runs, as tables and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from boostplug.comparison.console import as_text
from boostplug.comparison.document import as_json
from boostplug.comparison.summary import to_json
from boostplug.core.files import write_file
from boostplug.replication.tables import Table, rich_table

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["SCHEMA", "BenchResult", "BenchResults", "Column", "Row", "cells", "number"]

SCHEMA = "boostplug.bench/2"

_WIDE = 400  # characters: more than any table has
_DIGITS = 3  # significant ones


@dataclass(frozen=True)
class Column:
    """A number that rows have.

    Attributes
    ----------
    key : str
        In the JSON file.
    head : str
        In tables, with the unit.
    kind : {"given", "measured", "ratio"}
        "given": what was run, the same in every run. A ratio's numbers are of one run; its range over runs is shown.
    digits : int, optional
        Decimals. Default: three significant digits.
    """

    key: str
    head: str
    kind: Literal["given", "measured", "ratio"] = "measured"
    digits: int | None = None


@dataclass(frozen=True)
class Row:
    """What was measured of one thing, by one run or by several.

    Attributes
    ----------
    part : str
        What was measured on; rows of one part make a table.
    name : str
        No two of a part alike.
    values : dict of str to number
        By a column's key; of one run None or absent where there is none. Of several runs medians; of what was given,
        the number itself.
    targets : dict of str to number
        The most that a column should be, at full scale.
    peer : bool
        Whether it is another library's, to set ours beside.
    runs : dict of str to list of number
        The values of each of several runs.
    """

    part: str
    name: str
    values: dict[str, Any]
    targets: dict[str, float] = field(default_factory=dict)
    peer: bool = False
    runs: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BenchResult:
    """Result of a benchmark: prints as tables, and writes JSON.

    Attributes
    ----------
    benchmark, title : str
    scale : float
    repeat, threads : int
    date : str
    seconds_in_all : float
    machine, versions : dict
    columns : list of Column
    notes : list of str
    rows : list of Row
    """

    schema: str = SCHEMA
    benchmark: str
    title: str
    scale: float
    repeat: int
    threads: int
    date: str
    seconds_in_all: float
    machine: dict[str, Any]
    versions: dict[str, str]
    columns: list[Column]
    notes: list[str]
    rows: list[Row]

    @property
    def parts(self) -> dict[str, list[Row]]:
        """The rows by the part that they are of."""
        parts: dict[str, list[Row]] = {}
        for row in self.rows:
            parts.setdefault(row.part, []).append(row)
        return parts

    @property
    def missed(self) -> list[str]:
        """The targets that the medians miss, in words."""
        return [
            f"{row.part}, {row.name}: {key} {number(row.values[key], None)}, target {number(most, None)}"
            for row in self.rows
            for key, most in row.targets.items()
            if row.values.get(key, most) > most
        ]

    def columns_of(self, rows: Sequence[Row]) -> list[Column]:
        """Return the columns that any of these rows has a number for."""
        return [column for column in self.columns if any(column.key in row.values for row in rows)]

    def to_json(self, path: Path) -> None:
        """Write all of it."""
        write_file(path, as_json(to_json(self)))

    def __str__(self) -> str:
        return as_text(lambda _: _render(self), _WIDE)


class BenchResults:
    """The results of several benchmarks; in one file ``results`` has the document of each."""

    def __init__(self, results: Sequence[BenchResult]) -> None:
        self.results = results

    def to_json(self, path: Path) -> None:
        """Write all documents into one; that of a single benchmark alone."""
        documents = [to_json(result) for result in self.results]
        whole = documents[0] if len(documents) == 1 else {"schema": SCHEMA, "benchmark": "all", "results": documents}
        write_file(path, as_json(whole))

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.results))


def cells(columns: Sequence[Column], row: Row) -> Iterator[str]:
    """Yield the texts of a row: medians, with a ratio's range over runs and the target."""
    yield row.name
    for column in columns:
        value, runs = row.values.get(column.key), row.runs.get(column.key, [])
        text = number(value, column.digits)
        if column.kind == "ratio" and len(runs) > 1:
            low, high = (number(bound, column.digits) for bound in (min(runs), max(runs)))
            text += f" ({low}–{high})"
        if column.key in row.targets:
            text += f" ≤ {number(row.targets[column.key], column.digits)}"
            text += "" if value is None or value <= row.targets[column.key] else " missed"
        yield text


def number(value: float | None, digits: int | None) -> str:
    """Return a number as tables show it: with so many decimals, or three significant digits."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if digits is None:
        digits = max(0, _DIGITS - 1 - floor(log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"


def _render(result: BenchResult) -> Iterator["RenderableType"]:
    from rich.text import Text

    scale = "" if result.scale == 1 else f", at a scale of {result.scale:g}"
    yield Text(f"{result.benchmark}: {result.title}{scale}", style="bold")
    yield Text("")
    for part, rows in result.parts.items():
        if part:
            yield Text(part)
        columns = result.columns_of(rows)
        head = ["", *(column.head for column in columns)]
        yield rich_table(Table("", head, [cells(columns, row) for row in rows], numbers=True))
    for note in result.notes:
        yield Text(note)
    several = f"medians of {result.repeat} runs, ranges over them; " if result.repeat > 1 else ""
    machine = result.machine
    yield Text(f"{several}threads: {result.threads} of {machine['cores']} cores; {machine['processor']}.")
