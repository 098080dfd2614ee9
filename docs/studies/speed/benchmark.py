"""`Benchmark`: the base class of benchmarks, and `run`: prepared once, measured several times, described."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from statistics import median
from time import monotonic
from typing import ClassVar, NamedTuple

from boostplug.comparison.summary import to_json, versions
from boostplug.core.threads import get_num_threads
from studies.speed.machine import machine
from studies.speed.result import BenchResult, Column, Row

__all__ = ["Benchmark", "Column", "Row", "Setting", "run"]


class Setting(NamedTuple):
    """Options of a benchmark: its size relative to its own, its threads, and a function that says what is measured."""

    scale: float
    threads: int
    say: Callable[[str], object]

    def count(self, number: int, least: int = 1) -> int:
        """Return a number of documents, calls or rounds, scaled."""
        return max(least, round(number * self.scale))


class Benchmark(ABC):
    """A benchmark, prepared for one setting: `run` may be called again and again.

    Subclasses are named for the command line; their docstrings say what the numbers mean.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]]

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.notes: dict[str, None] = {}  # in order, each once

    @abstractmethod
    def run(self) -> Iterator[Row]:
        """Measure all of it once."""

    def note(self, text: str) -> None:
        """Say something of the result: what was left out, and why."""
        self.notes[text] = None


def run(kind: type[Benchmark], *, scale: float, repeat: int, progress: bool) -> BenchResult:
    """Run a benchmark as `bench` does."""
    start, date, described = monotonic(), datetime.now(UTC), machine()  # before there is load of our own
    runs: list[list[Row]] = []

    def say(what: str) -> None:  # between measurements: a progress bar's own thread would take part in them
        if progress:
            at = f"{timedelta(seconds=int(monotonic() - start))}, {kind.name}, run {len(runs) + 1} of {repeat}"
            print(f"boostplug: {at}: {what}", file=sys.stderr, flush=True)

    benchmark = kind(Setting(scale, get_num_threads(), say))
    for _ in range(repeat):
        runs.append([*benchmark.run()])  # noqa: PERF401 (say needs their number)
    return BenchResult(
        benchmark=kind.name,
        title=kind.title,
        scale=scale,
        repeat=repeat,
        threads=get_num_threads(),
        date=date.isoformat(timespec="seconds"),
        seconds_in_all=monotonic() - start,
        machine=described,
        versions=versions(),
        columns=list(kind.columns),
        notes=list(benchmark.notes),
        rows=_merged(kind.columns, runs, targets=scale >= 1),
    )


def _merged(columns: Sequence[Column], runs: Sequence[Sequence[Row]], *, targets: bool) -> list[Row]:
    """Return the rows of several runs as one; targets are for the full scale only."""
    by_name: dict[tuple[str, str], list[Row]] = {}
    for row in chain.from_iterable(runs):
        by_name.setdefault((row.part, row.name), []).append(row)
    rows = []
    for of_runs in by_name.values():
        values, of_columns = {}, {}
        for column in columns:
            known = [value for row in of_runs if (value := row.values.get(column.key)) is not None]
            found = to_json(known, finite=True)
            if found:
                values[column.key] = found[0] if column.kind == "given" else median(found)
            if found and column.kind != "given":
                of_columns[column.key] = found
        goals = of_runs[0].targets if targets else {}
        rows.append(replace(of_runs[0], values=values, runs=of_columns, targets=goals))
    return rows
