"""The page on speed, from the JSON files of `python -m studies.speed`.

``python -m studies.speed.page PAGE.md RESULT.json …``; figures are drawn into the folder ``figures``
beside the page. A page that is there and marks tables, as docs/explanation/scale.md does, keeps its text: each
``<!-- table: PART -->`` to ``<!-- end -->`` gets the rows of that part, ``<!-- machine -->`` to ``<!-- end -->`` where
they were measured.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostplug.core.files import write_file
from boostplug.replication.documents import filled, marks, read
from boostplug.replication.tables import markdown
from studies.speed import BENCHES
from studies.speed.figures import draw
from studies.speed.result import SCHEMA, BenchResult, Column, Row, cells, number

__all__ = ["main", "page", "with_tables"]

_INTRODUCTION = """\
The time and memory that boostplug takes, by the [benchmarks](../studies/README.md#speed). A ratio divides two numbers
of the same run; the tables have its median over the runs, and the range in parentheses. To measure it on another
machine, which should be idle:

```bash
PYTHONPATH=docs python -m studies.speed all --json bench.json
PYTHONPATH=docs python -m studies.speed.page docs/results/speed.md bench.json
```
"""


def page(results: Sequence[BenchResult], figures: Mapping[str, Sequence[str]]) -> str:
    """Return the page in Markdown.

    Parameters
    ----------
    results : sequence of BenchResult
    figures : mapping of str to sequence of str
        Paths relative to the page, by benchmark.
    """
    note = "<!-- Made by python -m studies.speed.page from the JSON files; do not edit. -->"
    lines = ["# Speed", "", note, "", *_INTRODUCTION.splitlines(), "", *_machines(results)]
    for result in results:
        name = result.benchmark
        lines += [f"## {result.title[0].upper()}{result.title[1:]}", "", f"`python -m studies.speed {name}`", ""]
        lines += [*BENCHES[name].about.splitlines(), ""]
        for figure in figures.get(name, ()):
            lines += [f"![{Path(figure).stem}]({figure})", ""]
        for part, rows in result.parts.items():
            table = _table_of(result, rows)
            lines += _folded(part, table) if part else table
        lines += [*(f"- {text}" for text in result.notes), *([""] if result.notes else [])]
    return "\n".join([*lines, *_targets(results)]).rstrip("\n") + "\n"


def with_tables(text: str, results: Sequence[BenchResult]) -> str:
    """Return a page with its marked tables anew.

    Raises
    ------
    KeyError
        If it marks a part of which the results have no rows.
    """
    tables = {f"table: {part}": _table_of(result, rows) for result in results for part, rows in result.parts.items()}
    shown = [result for result in results if marks(text) & {f"table: {part}" for part in result.parts}]
    return filled(text, tables | {"machine": [*_machines(shown)]})


def _table_of(result: BenchResult, rows: Sequence[Row]) -> list[str]:
    columns = result.columns_of(rows)
    return markdown(["", *(column.head for column in columns)], [[*cells(columns, row)] for row in rows], numbers=True)


def _machines(results: Sequence[BenchResult]) -> Iterator[str]:
    """Yield what the numbers hang on, once for all results that agree, and how each was measured."""
    found: dict[str, list[list[str]]] = {}
    for result in results:
        machine = result.machine
        memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:g} GiB"
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
        where = f"{machine['processor']}, {machine['cores']} cores{memory}, {machine['system']}; {versions}"
        numbers = (result.repeat, result.scale, result.threads, machine["load"])
        cells = [result.benchmark, result.date[:10], *(number(value, None) for value in numbers)]
        found.setdefault(where, []).append([*cells, f"{result.seconds_in_all:.0f} s"])
    head = ["", "date", "runs", "scale", "threads", "load before", "took"]
    for where, body in found.items():
        yield from (f"{where}:", "", *markdown(head, body, numbers=True))


def _folded(summary: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield lines that a browser shows after a click on their summary."""
    yield from (f"<details><summary>{summary}</summary>", "", *lines, "</details>", "")


def _targets(results: Sequence[BenchResult]) -> Iterator[str]:
    """Yield the targets that were missed, and the table of all."""
    body = []
    for result in results:
        columns = {column.key: column for column in result.columns}
        for row in result.rows:
            for key, most in row.targets.items():
                if key not in row.values:
                    continue
                value, runs, digits = row.values[key], row.runs[key], columns[key].digits
                span = f"{number(min(runs), digits)}–{number(max(runs), digits)}"
                met = "met" if value <= most else "**missed**"
                what = ", ".join(filter(None, [result.benchmark, row.part, row.name]))
                body.append([what, columns[key].head, number(most, digits), number(value, digits), span, met])
    if body:
        head = ["", "measure", "at most", "median", "range"]
        missed = [row[:-1] for row in body if row[-1] != "met"]
        yield from ("## Targets", "", f"{len(body) - len(missed)} of {len(body)} targets are met.", "")
        yield from _folded("Missed targets", markdown(head, missed, numbers=True)) if missed else ()
        yield from _folded("All targets", markdown([*head, ""], body, numbers=True))


def _results(document: dict[str, Any]) -> list[BenchResult]:
    """Return the results in a file."""
    return [
        BenchResult(
            **one | {"columns": [Column(**c) for c in one["columns"]], "rows": [Row(**row) for row in one["rows"]]}
        )
        for one in document.get("results", [document])
    ]


def main(arguments: Sequence[str]) -> None:
    """Write the page named first from the files named after it."""
    if len(arguments) < 2:
        raise SystemExit("usage: python -m studies.speed.page PAGE.md RESULT.json …")
    target, *sources = map(Path, arguments)
    results = [
        result
        for source in sources
        for result in _results(read(source, SCHEMA, lambda document: page(_results(document), {})))
    ]
    text = target.read_text(encoding="utf-8") if target.exists() else ""
    if marks(text):
        write_file(target, with_tables(text, results))
        return
    try:
        figures = {
            result.benchmark: draw(result, BENCHES[result.benchmark].figures, target.parent / "figures")
            for result in results
        }
    except ImportError as error:
        raise SystemExit(str(error)) from None
    paths = {
        name: [file.relative_to(target.parent).as_posix() for file in files if file.suffix == ".png"]
        for name, files in figures.items()
    }
    write_file(target, page(results, paths))


if __name__ == "__main__":
    main(sys.argv[1:])
