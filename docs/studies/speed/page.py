"""Fill a page's marked tables from the JSON files of `python -m studies.speed`, and draw its pictures.

``python -m studies.speed.page PAGE.md RESULT.json …``: each ``<!-- table: NAME -->`` to ``<!-- end -->`` gets the rows
of that part of a benchmark, or one of `SUMMARIES`; ``<!-- machine -->`` gets what they were measured on.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from boostplug.core.files import write_file
from studies.documents import filled, read
from studies.speed.figures import draw
from studies.speed.result import SCHEMA, BenchResult, Row, from_document, number, with_range
from studies.tables import markdown

__all__ = ["SUMMARIES", "main", "tables"]


class Summary(NamedTuple):
    """A table with columns of several benchmarks.

    `columns` has the head, the benchmark, the part and the key of each. A row is found by its name in each part, or by
    its name without what is in parentheses.
    """

    rows: Sequence[str]
    columns: Sequence[tuple[str, str, str, str]]


_MSLR = "MSLR's shape, scores of spread 1"
_MAIN = ("QBRank", "CRR", "MPBoost(Log)", "NDCGBoost", "RankNet", "LambdaRank")
_MORE = ("AdaRank", "ListNet", "SquaredError", "LogisticError(4)", "CalibratedSoftmax(4)", "Correlation")
_OTHERS = ("LightGBM's lambdarank", "XGBoost's rank:ndcg", "XGBoost's rank:pairwise, all pairs")
_SIZES = (1_000, 10_000, 100_000, 1_000_000)
SUMMARIES: dict[str, Summary] = {
    "losses": Summary(
        _MAIN + _MORE,
        (
            ("gradient, ms", "gradients", _MSLR, "milliseconds"),
            ("of lambdarank's", "gradients", _MSLR, "share"),
            ("in LightGBM, ms", "rounds", "LightGBM", "call_milliseconds"),
            ("in XGBoost, ms", "rounds", "XGBoost", "call_milliseconds"),
            ("memory, B/document", "gradients", "Memory", "first_call_bytes"),
        ),
    ),
    "long lists": Summary(
        _MAIN + _OTHERS, [(f"{n:,}: ms", "scaling", "Five grades", f"milliseconds_at_{n}") for n in _SIZES]
    ),
    "rounds": Summary(
        ("QBRank", "CRR", "MPBoost", "LambdaRank"),
        (
            ("LightGBM: round", "rounds", "LightGBM", "share"),
            ("added", "rounds", "LightGBM", "above_replay"),
            ("XGBoost: round", "rounds", "XGBoost", "share"),
            ("added", "rounds", "XGBoost", "above_replay"),
        ),
    ),
    "first calls": Summary(
        ("QBRank", "CRR", "MPBoost", "NDCGBoost", "LambdaRank", "all of them"),
        (("empty cache, s", "cold", "", "seconds"), ("used cache, s", "cold", "", "cached_seconds")),
    ),
    "reference rankers": Summary(
        (
            "QBRank, OHSUMED's shape",
            "MPBoost, OHSUMED's shape",
            "AdaRank-MAP, OHSUMED's shape",
            "RankBoost, continuous, MQ2008's shape",
            "RankBoost+, 136 features, 255 thresholds",
        ),
        (
            ("documents", "rankers", "", "documents"),
            ("rounds", "rankers", "", "rounds"),
            ("seconds", "rankers", "", "seconds"),
            ("peak MB", "rankers", "", "megabytes"),
        ),
    ),
}


def tables(results: Sequence[BenchResult]) -> dict[str, list[str]]:
    """Return the lines of each part's table, of each summary whose benchmarks are there, and of the machine."""
    found = {"machine": [*_machines(results)]}
    for result in results:
        for part in result.parts:
            found[f"table: {part}"] = result.table(part)
    known = {result.benchmark: result for result in results}
    for name, summary in SUMMARIES.items():
        if {benchmark for _, benchmark, _, _ in summary.columns} <= known.keys():
            found[f"table: {name}"] = _summary(summary, known)
    return found


def _summary(summary: Summary, results: dict[str, BenchResult]) -> list[str]:
    body = [[name] for name in summary.rows]
    for _, benchmark, part, key in summary.columns:
        result = results[benchmark]
        (column,) = (column for column in result.columns if column.key == key)
        rows: dict[str, Row] = {row.name: row for row in result.parts[part]}
        for line in body:
            row = rows.get(line[0]) or rows[line[0].partition("(")[0]]
            line.append(with_range(column, row))
    return markdown(["", *(column[0] for column in summary.columns)], body, numbers=True)


def _machines(results: Sequence[BenchResult]) -> Iterator[str]:
    """Yield the machine and the versions, once for all results that agree, and the runs of each."""
    found: dict[str, list[str]] = {}
    for result in results:
        machine = result.machine
        memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:g} GiB"
        where = f"{machine['processor']}, {machine['cores']} cores{memory}, {machine['system'].partition('-')[0]}"
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
        scale = "" if result.scale == 1 else f", scale {result.scale:g}"
        runs = f"{result.benchmark} {result.repeat} ({number(machine['load'], None)}{scale})"
        found.setdefault(f"{where}; {versions}; threads: {result.threads}; {result.date[:10]}", []).append(runs)
    for where, runs in found.items():
        yield from (f"{where}. Runs, with the load before: {', '.join(runs)}.", "")


def main(arguments: Sequence[str]) -> None:
    """Fill the page named first from the files named after it; draw its pictures into the folder that it shows."""
    if len(arguments) < 2:
        raise SystemExit("usage: python -m studies.speed.page PAGE.md RESULT.json …")
    target, *sources = map(Path, arguments)
    results = [result for file in sources for result in from_document(read(file, SCHEMA, from_document))]
    text = target.read_text(encoding="utf-8")
    write_file(target, filled(text, tables(results)))
    if "](figures/speed-" in text:
        draw(results, target.parent / "figures")


if __name__ == "__main__":
    main(sys.argv[1:])
