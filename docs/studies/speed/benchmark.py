"""`Benchmark`: what every benchmark is; and how one is run: prepared once, measured several times, described."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from statistics import median
from time import monotonic
from typing import ClassVar

from boostplug.comparison.document import versions
from boostplug.comparison.machine import machine
from boostplug.comparison.summary import to_json
from boostplug.core.checks import check_integer, check_number
from boostplug.core.threads import get_num_threads
from studies.speed.result import BenchResult, Column, Row

__all__ = ["Benchmark", "Column", "Row", "Setting", "run"]


@dataclass(frozen=True)
class Setting:
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
    scale = check_number("scale", scale, least=0.0, most=1000.0, remedy="1 is the benchmark's own")
    repeat = check_integer("repeat", repeat, 1)
    progress_ = _Progress(kind.name, repeat, shown=progress)
    start, date, described = monotonic(), datetime.now(UTC), machine()  # before there is load of our own
    benchmark = kind(Setting(scale, get_num_threads(), progress_.say))
    runs = []
    for number in range(1, repeat + 1):
        progress_.run = number
        runs.append([*benchmark.run()])
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
        row = replace(of_runs[0], values=values, runs=of_columns)
        rows.append(row if targets else replace(row, targets={}))
    return rows


class _Progress:
    """Says on stderr what is measured now, between measurements: a bar's own thread would take part in them."""

    def __init__(self, name: str, repeat: int, *, shown: bool) -> None:
        self._name, self._repeat, self._shown = name, repeat, shown
        self.run = 1
        self._start = monotonic()

    def say(self, what: str) -> None:
        if self._shown:
            elapsed = timedelta(seconds=int(monotonic() - self._start))
            with suppress(OSError, ValueError):  # nobody listens any more
                sys.stderr.write(f"boostplug: {elapsed}, {self._name}, run {self.run} of {self._repeat}: {what}\n")
                sys.stderr.flush()
