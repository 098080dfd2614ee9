"""What a benchmark returns: the rows of several runs, as tables and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from boostplug.comparison.console import as_text
from boostplug.comparison.document import as_json, plain
from boostplug.core.files import write_file
from boostplug.studies.speed.benchmark import Column, Row

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

__all__ = ["SCHEMA", "BenchResult", "BenchResults", "cells", "columns_of", "merged", "number", "parts_of"]

SCHEMA = "boostplug.bench/1"

_WIDE = 400  # characters: more than any table has
_DIGITS = 3  # significant ones


class BenchResult:
    """What a benchmark returns: prints as tables, and writes JSON.

    Attributes
    ----------
    document : dict
        All of it in JSON's types. In ``rows``, a number is the median over runs; ``runs`` has those of each run.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document: dict[str, Any] = plain(document)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the document."""
        rows: list[dict[str, Any]] = self.document["rows"]
        return rows

    @property
    def missed(self) -> list[str]:
        """The targets that the medians miss, in words."""
        return [
            f"{row['part']}, {row['name']}: {key} {number(row[key], None)}, target {number(most, None)}"
            for row in self.rows
            for key, most in row["targets"].items()
            if row.get(key) is not None and row[key] > most
        ]

    def to_json(self, path: Path) -> None:
        """Write the document."""
        write_file(path, as_json(self.document))

    def __str__(self) -> str:
        return as_text(lambda _: _render(self.document), _WIDE)

    def __rich_console__(self, _console: "Console", _options: "ConsoleOptions") -> "RenderResult":
        yield from _render(self.document)


class BenchResults:
    """The results of several benchmarks; in one file ``results`` has the document of each."""

    def __init__(self, results: Sequence[BenchResult]) -> None:
        self.results = results

    def to_json(self, path: Path) -> None:
        """Write all documents into one; that of a single benchmark alone."""
        documents = [result.document for result in self.results]
        whole = documents[0] if len(documents) == 1 else {"schema": SCHEMA, "benchmark": "all", "results": documents}
        write_file(path, as_json(whole))

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.results))

    def __rich_console__(self, _console: "Console", _options: "ConsoleOptions") -> "RenderResult":
        yield from self.results


def merged(columns: Sequence[Column], runs: Sequence[Iterable[Row]]) -> list[dict[str, Any]]:
    """Return the rows of several runs as the document has them."""
    by_name: dict[tuple[str, str], list[Row]] = {}
    for run in runs:
        for row in run:
            by_name.setdefault((row.part, row.name), []).append(row)
    rows = []
    for (part, name), of_runs in by_name.items():
        document: dict[str, Any] = {"part": part, "name": name}
        of_columns: dict[str, list[float]] = {}
        for column in columns:
            found = [value for row in of_runs if (value := row.values.get(column.key)) is not None]
            if found and column.kind == "given":
                document[column.key] = found[0]
            elif found:
                document[column.key] = median(found)
                of_columns[column.key] = found
        rows.append({**document, "runs": of_columns, "targets": dict(of_runs[0].targets), "peer": of_runs[0].peer})
    return rows


def parts_of(document: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a document by the part that they are of."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in document["rows"]:
        parts.setdefault(row["part"], []).append(row)
    return parts


def columns_of(document: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Return the columns of a document that any of these rows has a number for."""
    columns = [Column(**column) for column in document["columns"]]
    return [column for column in columns if any(row.get(column.key) is not None for row in rows)]


def cells(columns: Sequence[Column], row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a row: medians, with a ratio's range over runs and the target."""
    yield row["name"]
    for column in columns:
        value, runs = row.get(column.key), row["runs"].get(column.key, [])
        text = number(value, column.digits)
        if column.kind == "ratio" and len(runs) > 1:
            low, high = (number(bound, column.digits) for bound in (min(runs), max(runs)))
            text += f" ({low}–{high})"
        if column.key in row["targets"]:
            text += f" ≤ {number(row['targets'][column.key], column.digits)}"
            text += "" if value is None or value <= row["targets"][column.key] else " missed"
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


def _render(document: Mapping[str, Any]) -> Iterator["RenderableType"]:
    from rich.text import Text

    scale = "" if document["scale"] == 1 else f", at a scale of {document['scale']:g}"
    yield Text(f"{document['benchmark']}: {document['title']}{scale}", style="bold")
    yield Text("")
    for part, rows in parts_of(document).items():
        if part:
            yield Text(part)
        yield _table(columns_of(document, rows), rows)
    for note in document["notes"]:
        yield Text(note)
    machine = document["machine"]
    several = f"medians of {document['repeat']} runs, ranges over them; " if document["repeat"] > 1 else ""
    yield Text(f"{several}threads: {document['threads']} of {machine['cores']} cores; {machine['processor']}.")


def _table(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for column in columns:
        table.add_column(column.head, justify="right")
    for row in rows:
        table.add_row(*cells(columns, row))
    return table
