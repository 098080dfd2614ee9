"""Figures of benchmarks, drawn from their results alone; they need matplotlib."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import log10
from pathlib import Path
from typing import Any

from boostplug.replication.drawing import COLOURS, DASHES, INK, MARKERS, drawn, slug
from studies.speed.result import BenchResult, Row

__all__ = ["Bars", "Figure", "Growth", "Headline", "draw"]

_WIDTH, _PER_BAR, _FRAME = 7.6, 0.15, 1.6  # inches
_GREYS = (INK, "#6b6b6b", "#8a8a8a", "#999999")
_LEGIBLE = 12  # points: at half a figure's size, as on a telephone, still to be read
_LINES_OF_LABELS = 17  # that stand one above the other in the height of the axes


@dataclass(frozen=True, kw_only=True)
class Figure(ABC):
    """A figure of a benchmark.

    Attributes
    ----------
    name : str
        Of its files, after the benchmark's.
    title : str
    """

    name: str
    title: str

    @abstractmethod
    def content(self, result: BenchResult) -> Mapping[str, Any]:
        """Return what is drawn, by the name of the row; empty where there are no numbers."""

    @abstractmethod
    def plot(self, axes: Any, result: BenchResult) -> None:
        """Draw into matplotlib's axes, with labels."""

    def size(self, result: BenchResult) -> tuple[float, float]:  # noqa: ARG002 (others go by it)
        """Return width and height in inches."""
        return _WIDTH, 5.6


@dataclass(frozen=True, kw_only=True)
class Growth(Figure):
    """A number against what it is measured on, both logarithmic: a line for each row, peers in grey.

    Attributes
    ----------
    part : str
        Of the rows.
    prefix : str
        Of the columns' keys, which end in the number of documents, or of what `axis` says.
    unit : str
        Of the vertical axis.
    axis : str
        The horizontal one.
    """

    part: str
    prefix: str
    unit: str
    axis: str = "documents in the query"

    def content(self, result: BenchResult) -> dict[str, list[tuple[int, float]]]:
        """Return the points of each line."""
        keys = [column.key for column in result.columns if column.key.startswith(self.prefix)]
        at = {key: int(key.removeprefix(self.prefix)) for key in keys}
        lines = {
            row.name: [(n, row.values[key]) for key, n in at.items() if key in row.values]
            for row in result.rows
            if row.part == self.part
        }
        return {name: points for name, points in lines.items() if points}

    def plot(self, axes: Any, result: BenchResult) -> None:
        """Draw into matplotlib's axes, with labels."""
        lines = self.content(result)
        rows = [row for row in result.rows if row.part == self.part and row.name in lines]
        styles = _styles([row.name for row in rows if not row.peer])
        for number, row in enumerate(row for row in rows if row.peer):
            marker = MARKERS[::-1][number % len(MARKERS)]
            styles[row.name] = (_GREYS[number % len(_GREYS)], marker, ":")
        for name, points in lines.items():
            colour, marker, dash = styles[name]
            x, y = zip(*points, strict=True)
            axes.plot(x, y, dash, color=colour, marker=marker, markersize=4, label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(self.axis)
        axes.set_ylabel(self.unit)


def _styles(names: list[str]) -> dict[str, tuple[str, str, str]]:
    """Return colour, marker and dash of each loss: variants of one differ in their dashes."""
    kinds = list(dict.fromkeys(re.match(r"\w*", name)[0] for name in names))  # type: ignore[index]
    styles = {}
    for kind, colour, marker in zip(kinds, COLOURS * len(kinds), MARKERS * len(kinds), strict=False):
        variants = [name for name in names if re.match(r"\w*", name)[0] == kind]  # type: ignore[index]
        for number, name in enumerate(variants):
            styles[name] = (colour, marker, DASHES[number % len(DASHES)])
    return styles


@dataclass(frozen=True, kw_only=True)
class Headline(Growth):
    """Lines of a `Growth` in nanoseconds, for readers in passing: ours in colour, peers in grey, named at their ends.

    Attributes
    ----------
    ours, peers : mapping of str to str
        Names of rows to what the lines are called.
    heading : str
        What the figure says.
    note : str
        Below it.
    """

    ours: Mapping[str, str]
    peers: Mapping[str, str]
    heading: str
    note: str

    def content(self, result: BenchResult) -> dict[str, list[tuple[int, float]]]:
        """Return the points of each line that is drawn, peers first: ours lie above them."""
        lines = super().content(result)
        return {name: lines[name] for name in (*self.peers, *self.ours) if name in lines}

    def plot(self, axes: Any, result: BenchResult) -> None:
        """Draw into matplotlib's axes, with labels."""
        lines = self.content(result)
        colours = dict(zip(self.ours, COLOURS, strict=False))
        dashes = dict(zip(self.peers, DASHES, strict=False))
        for name, points in lines.items():
            x, y = zip(*points, strict=True)
            if name in self.ours:
                axes.plot(x, y, color=colours[name], marker="o", markersize=5, linewidth=2.4)
            else:
                axes.plot(x, y, dashes[name], color=INK, marker="o", markersize=3.5, linewidth=1.6)
        axes.set_xscale("log")
        axes.set_yscale("log")
        values = [value for points in lines.values() for _, value in points]
        least, most = min(values) / 1.6, max(values) * 2.5  # room for names
        axes.set_ylim(least, most)
        gap = log10(most / least) / _LINES_OF_LABELS
        ends = {name: points[-1] for name, points in lines.items()}
        last = max(n for n, _ in ends.values())
        above = {name: y if n == last else y * 10 ** (gap / 2) for name, (n, y) in ends.items()}  # lines that go on
        for name, height in _apart(above, gap).items():
            axes.annotate(
                {**self.ours, **self.peers}[name],
                (ends[name][0], height),
                xytext=(7, 0),
                textcoords="offset points",
                va="center",
                fontsize=_LEGIBLE,
                color=colours.get(name, INK),
                weight="bold" if name in self.ours else "normal",
            )
        axes.spines[["top", "right"]].set_visible(False)
        sizes = sorted({n for points in lines.values() for n, _ in points})
        axes.set_xticks(sizes, [f"{n:,}" if n < 1e6 else f"{n / 1e6:g} million" for n in sizes])
        decades = [10.0**n for n in range(12) if least <= 10**n <= most]
        axes.set_yticks(decades, [_duration(decade) for decade in decades])
        axes.minorticks_off()
        axes.tick_params(labelsize=_LEGIBLE - 1, colors=INK)
        axes.set_xlabel(self.axis, fontsize=_LEGIBLE, color=INK)
        axes.set_title(self.unit, fontsize=_LEGIBLE, color=INK, loc="left")
        axes.figure.suptitle(self.heading, fontsize=_LEGIBLE + 3, color=INK, weight="bold", x=0.01, ha="left")
        axes.figure.supxlabel(self.note, fontsize=_LEGIBLE - 2, color=INK, x=0.01, ha="left")
        axes.figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)


def _apart(heights: Mapping[str, float], gap: float) -> dict[str, float]:
    """Return heights that are at least `gap` powers of ten apart, in the same order, and centred on those given."""
    order = sorted(heights, key=heights.__getitem__)
    clusters: list[tuple[float, list[str]]] = []  # the middle of each, and what is in it
    for name in order:
        middle, names = log10(heights[name]), [name]
        while clusters and middle - clusters[-1][0] < gap * (len(names) + len(clusters[-1][1])) / 2:
            below, others = clusters.pop()
            middle = (middle * len(names) + below * len(others)) / (len(names) + len(others))
            names = others + names
        clusters.append((middle, names))
    return {
        name: 10 ** (middle + gap * (number - (len(names) - 1) / 2))
        for middle, names in clusters
        for number, name in enumerate(names)
    }


def _duration(nanoseconds: float) -> str:
    factor, unit = next(
        (factor, unit) for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")) if nanoseconds >= factor
    )
    return f"{nanoseconds / factor:g} {unit}"


@dataclass(frozen=True, kw_only=True)
class Bars(Figure):
    """Bars of numbers, with their range over runs and what they should be at most.

    Attributes
    ----------
    columns : mapping of str to str
        Keys of the columns, a bar each, to what the legend calls them.
    parts : tuple of str
        Of the rows: a bar each, where there is one column. Default: all.
    unit : str
        Of the horizontal axis.
    peers : bool
        Whether to draw peers too.
    """

    columns: Mapping[str, str]
    parts: tuple[str, ...] = ()
    unit: str
    peers: bool = True

    def content(self, result: BenchResult) -> dict[str, dict[str, tuple[Row, str]]]:
        """Return the row and column of each bar, by the name of the row and the legend."""
        bars: dict[str, dict[str, tuple[Row, str]]] = {}
        parts = self.parts or tuple(result.parts)
        for row in result.rows:
            if row.part not in parts or (row.peer and not self.peers):
                continue
            for key, legend in self.columns.items():
                if key in row.values:
                    of_part = row.part if len(parts) > 1 else ""
                    bars.setdefault(row.name, {})[", ".join(filter(None, [of_part, legend]))] = row, key
        return bars

    def size(self, result: BenchResult) -> tuple[float, float]:
        """Return width and height in inches."""
        bars = self.content(result)
        return _WIDTH, _FRAME + _PER_BAR * (sum(map(len, bars.values())) + len(bars))

    def plot(self, axes: Any, result: BenchResult) -> None:
        """Draw into matplotlib's axes, with labels."""
        bars = self.content(result)
        legends = list(dict.fromkeys(legend for of_row in bars.values() for legend in of_row))
        top, ticks = 0.0, []
        for of_row in bars.values():
            ticks.append(top - 0.5 * (len(of_row) - 1))
            for legend, (row, key) in of_row.items():
                value = row.values[key]
                runs = row.runs.get(key, [value])
                spread = [[value - min(runs)], [max(runs) - value]]
                number = legends.index(legend)
                axes.barh(top, value, 0.9, color=COLOURS[number % len(COLOURS)], xerr=spread, ecolor=INK)
                if key in row.targets:
                    axes.plot([row.targets[key]] * 2, [top - 0.5, top + 0.5], color=INK, linewidth=2)
                top -= 1.0
            top -= 1.0
        for number, legend in enumerate(legends):
            if legend:
                axes.barh(0.0, 0.0, color=COLOURS[number % len(COLOURS)], label=legend)
        if any(key in row.targets for of_row in bars.values() for row, key in of_row.values()):
            axes.plot([], [], color=INK, linewidth=2, label="at most")
        axes.set_yticks(ticks, list(bars), fontsize=8)
        axes.set_xlabel(self.unit)


def draw(result: BenchResult, figures: tuple[Figure, ...], folder: Path) -> list[Path]:
    """Draw the figures of a result, those of which it has numbers; return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    written = []
    for figure in figures:
        if figure.content(result):
            path = folder / slug(f"speed {result.benchmark} {figure.name}")
            written += drawn(partial(figure.plot, result=result), figure.title, path, figure.size(result))
    return written
