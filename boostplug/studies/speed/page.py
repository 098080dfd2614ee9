"""The page on speed, from the JSON files of `boostplug bench`.

``python -m boostplug.studies.speed.page PAGE.md RESULT.json …``; figures are drawn into the folder ``figures``
beside the page. A page that is there and marks tables, as docs/explanation/scale.md does, keeps its text: each
``<!-- table: PART -->`` to ``<!-- end -->`` gets the rows of that part, ``<!-- machine -->`` to ``<!-- end -->`` where
they were measured.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostplug.comparison.document import filled, marks, read, table_lines
from boostplug.core.files import write_file
from boostplug.studies.speed import BENCHES
from boostplug.studies.speed.figures import draw
from boostplug.studies.speed.result import SCHEMA, cells, columns_of, number, parts_of

__all__ = ["main", "page", "with_tables"]

_INTRODUCTION = """\
What boostplug costs, measured by `boostplug bench` ([guide](../guides/bench.md)): every ratio is of numbers of one run,
and stands as the median over runs, with the range in parentheses. To measure it on another machine, one that is else
idle:

```bash
boostplug bench all --json bench.json
python -m boostplug.studies.speed.page speed.md bench.json
```
"""


def page(documents: Sequence[Mapping[str, Any]], figures: Mapping[str, Sequence[str]]) -> str:
    """Return the page in Markdown.

    Parameters
    ----------
    documents : sequence of dict
        What `boostplug bench` wrote; with all benchmarks in one file, the results in it.
    figures : mapping of str to sequence of str
        Paths relative to the page, by benchmark.
    """
    note = "<!-- Made by python -m boostplug.studies.speed.page from the JSON files; do not edit. -->"
    lines = ["# Speed", "", note, "", *_INTRODUCTION.splitlines(), "", *_machines(documents), *_targets(documents)]
    for document in documents:
        name = document["benchmark"]
        lines += [f"## {document['title'][0].upper()}{document['title'][1:]}", "", f"`boostplug bench {name}`", ""]
        lines += [*BENCHES[name].about.splitlines(), ""]
        for figure in figures.get(name, ()):
            lines += [f"![{Path(figure).stem}]({figure})", ""]
        for part, rows in parts_of(document).items():
            lines += [f"**{part}**", ""] if part else []
            lines += _table_of(document, rows)
        lines += [*(f"- {text}" for text in document["notes"]), *([""] if document["notes"] else [])]
    return "\n".join(lines).rstrip("\n") + "\n"


def with_tables(text: str, documents: Sequence[Mapping[str, Any]]) -> str:
    """Return a page with its marked tables anew.

    Raises
    ------
    KeyError
        If it marks a part of which the documents have no rows.
    """
    tables = {
        f"table: {part}": _table_of(document, rows)
        for document in documents
        for part, rows in parts_of(document).items()
    }
    shown = [d for d in documents if marks(text) & {f"table: {part}" for part in parts_of(d)}]
    return filled(text, tables | {"machine": [*_machines(shown)]})


def _table_of(document: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    columns = columns_of(document, rows)
    return table_lines(
        ["", *(column.head for column in columns)], [[*cells(columns, row)] for row in rows], numbers=True
    )


def _machines(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the numbers hang on, once for all documents that agree, and how each was measured."""
    found: dict[str, list[list[str]]] = {}
    for document in documents:
        machine = document["machine"]
        memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:g} GiB"
        versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
        where = f"{machine['processor']}, {machine['cores']} cores{memory}, {machine['system']}; {versions}"
        numbers = [document[key] for key in ("repeat", "scale", "threads")] + [machine["load"]]
        cells = [document["benchmark"], document["date"][:10], *(number(value, None) for value in numbers)]
        found.setdefault(where, []).append([*cells, f"{document['seconds_in_all']:.0f} s"])
    head = ["", "date", "runs", "scale", "threads", "load before", "took"]
    for where, body in found.items():
        yield from (f"{where}:", "", *table_lines(head, body, numbers=True))


def _targets(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table of all targets."""
    body = []
    for document in documents:
        columns = {column.key: column for column in columns_of(document, document["rows"])}
        for row in document["rows"]:
            for key, most in row["targets"].items():
                if row.get(key) is None:
                    continue
                runs, digits = row["runs"][key], columns[key].digits
                span = f"{number(min(runs), digits)}–{number(max(runs), digits)}"
                met = "**met**" if row[key] <= most else "missed"
                what = ", ".join(filter(None, [document["benchmark"], row["part"], row["name"]]))
                body.append([what, columns[key].head, number(most, digits), number(row[key], digits), span, met])
    if body:
        yield from ("## Targets", "")
        yield from table_lines(["", "what", "at most", "median", "range", ""], body, numbers=True)


def _documents(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the documents of a file: those in it, or itself."""
    documents: list[dict[str, Any]] = document.get("results", [document])
    return documents


def main(arguments: Sequence[str]) -> None:
    """Write the page named first from the files named after it."""
    if len(arguments) < 2:
        raise SystemExit("usage: python -m boostplug.studies.speed.page PAGE.md RESULT.json …")
    target, *sources = map(Path, arguments)
    documents = [
        document
        for source in sources
        for document in _documents(read(source, SCHEMA, lambda document: page(_documents(document), {})))
    ]
    text = target.read_text(encoding="utf-8") if target.exists() else ""
    if marks(text):
        write_file(target, with_tables(text, documents))
        return
    try:
        figures = {
            document["benchmark"]: draw(document, BENCHES[document["benchmark"]].figures, target.parent / "figures")
            for document in documents
        }
    except ImportError as error:
        raise SystemExit(str(error)) from None
    paths = {
        name: [file.relative_to(target.parent).as_posix() for file in files if file.suffix == ".png"]
        for name, files in figures.items()
    }
    write_file(target, page(documents, paths))


if __name__ == "__main__":
    main(sys.argv[1:])
