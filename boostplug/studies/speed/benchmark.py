"""`Benchmark`: what every benchmark is, said once."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from boostplug.studies.speed.figures import Figure
from boostplug.studies.speed.result import Column

__all__ = ["Benchmark", "Column", "Row", "Setting"]


@dataclass(frozen=True)
class Row:
    """What one run measured of one thing.

    Attributes
    ----------
    part : str
        What was measured on; rows of one part make a table.
    name : str
        No two of a part alike.
    values : mapping of str to number
        By a column's key; None or absent where there is none.
    targets : mapping of str to number
        The most that a column should be, at full scale.
    peer : bool
        Whether it is another library's, to set ours beside.
    """

    part: str
    name: str
    values: Mapping[str, float | None]
    targets: Mapping[str, float] = field(default_factory=dict)
    peer: bool = False


@dataclass(frozen=True)
class Setting:
    """How a benchmark is run.

    Attributes
    ----------
    scale : float
        Documents, calls and rounds relative to the benchmark's own.
    threads : int
    say : callable
        Takes what is measured now, in words.
    """

    scale: float
    threads: int
    say: Callable[[str], object]

    def count(self, number: int, least: int = 1) -> int:
        """Return a number of documents, calls or rounds, scaled."""
        return max(least, round(number * self.scale))


class Benchmark(ABC):
    """A benchmark, prepared for one setting: `run` may be called again and again.

    Subclasses are named for the command line; `about` says in Markdown what the numbers mean.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]]
    figures: ClassVar[tuple[Figure, ...]]

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.notes: dict[str, None] = {}  # in order, each once

    @abstractmethod
    def run(self) -> Iterator[Row]:
        """Measure all of it once."""

    def note(self, text: str) -> None:
        """Say something of the result: what was left out, and why."""
        self.notes[text] = None
