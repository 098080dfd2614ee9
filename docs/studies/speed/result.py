"""Result of a benchmark: the rows of several runs, as tables and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import floor, log10
from pathlib import Path
from typing import Any, Literal

from boostplug.comparison.summary import as_json, to_json
from boostplug.core.files import write_file
from studies.tables import markdown

__all__ = ["SCHEMA", "BenchResult", "Column", "Row", "from_document", "number", "to_file", "with_range"]

SCHEMA = "boostplug.bench/3"


@dataclass(frozen=True)
class Column:
    """A column of tables: its key in the JSON file, its head with the unit, its kind, and its decimals.

    A "given" number is the same in every run. A "ratio" divides two numbers of the same run, and tables show its range
    over the runs. Without `digits`, tables show three significant digits.
    """

    key: str
    head: str
    kind: Literal["given", "measured", "ratio"] = "measured"
    digits: int | None = None


@dataclass(frozen=True)
class Row:
    """Measurements of one thing; `part` names its table.

    `values` has a number for each column's key: the median of `runs`, or what was given. `targets` has the largest
    number that meets our goal, at full scale.
    """

    part: str
    name: str
    values: dict[str, Any]
    targets: dict[str, float] = field(default_factory=dict)
    runs: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BenchResult:
    """Result of a benchmark; prints as tables."""

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
        """The rows of each part."""
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

    def table(self, part: str) -> list[str]:
        """Return the lines of a part's table in Markdown, with the columns that any row has a number for."""
        rows = self.parts[part]
        columns = [column for column in self.columns if any(column.key in row.values for row in rows)]
        return markdown(["", *(c.head for c in columns)], [[*_cells(columns, row)] for row in rows], numbers=True)

    def __str__(self) -> str:
        lines = [f"{self.benchmark}: {self.title}, scale {self.scale:g}", ""]
        for part in self.parts:
            lines += [part, "", *self.table(part)]
        where = f"{self.machine['cores']} cores; {self.machine['processor']}"
        return "\n".join([*lines, *self.notes, f"medians of {self.repeat} runs; threads: {self.threads} of {where}."])


def to_file(results: Sequence[BenchResult], path: Path) -> None:
    """Write the results of several benchmarks as JSON."""
    write_file(path, as_json({"schema": SCHEMA, "results": to_json(results)}))


def from_document(document: dict[str, Any]) -> list[BenchResult]:
    """Return the results in a file that `to_file` wrote."""
    return [
        BenchResult(
            **one | {"columns": [Column(**c) for c in one["columns"]], "rows": [Row(**row) for row in one["rows"]]}
        )
        for one in document["results"]
    ]


def _cells(columns: Sequence[Column], row: Row) -> Iterator[str]:
    """Yield the texts of a row, with its targets."""
    yield row.name
    for column in columns:
        text, value = with_range(column, row), row.values.get(column.key)
        if (most := row.targets.get(column.key)) is not None:
            text += f" ≤ {number(most, column.digits)}" + ("" if value is None or value <= most else " missed")
        yield text


def with_range(column: Column, row: Row) -> str:
    """Return a number as tables show it: a ratio with its range over the runs."""
    text, runs = number(row.values.get(column.key), column.digits), row.runs.get(column.key, [])
    if column.kind == "ratio" and len(runs) > 1:
        text += f" ({number(min(runs), column.digits)}–{number(max(runs), column.digits)})"
    return text


def number(value: float | None, digits: int | None) -> str:
    """Return a number with so many decimals, or with three significant digits."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if digits is None:
        digits = max(0, 2 - floor(log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f}"
