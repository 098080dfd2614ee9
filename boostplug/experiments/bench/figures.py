"""Figures of benchmarks, drawn from their documents alone; they need matplotlib."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from boostplug.experiments.drawing import COLOURS, DASHES, MARKERS, drawn, slug

__all__ = ["Bars", "Figure", "Growth", "draw"]

_WIDTH, _PER_BAR, _FRAME = 7.6, 0.15, 1.6  # inches
_GREYS = ("#000000", "#666666", "#999999", "#BBBBBB")


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
    def has_numbers(self, document: Mapping[str, Any]) -> bool:
        """Return whether there is something to draw."""

    @abstractmethod
    def plot(self, axes: Any, document: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""

    def size(self, document: Mapping[str, Any]) -> tuple[float, float]:  # noqa: ARG002 (others go by it)
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

    def _lines(self, document: Mapping[str, Any]) -> dict[str, list[tuple[int, float]]]:
        """Return the points of each line."""
        keys = [column["key"] for column in document["columns"] if column["key"].startswith(self.prefix)]
        at = {key: int(key.removeprefix(self.prefix)) for key in keys}
        lines = {
            row["name"]: [(n, row[key]) for key, n in at.items() if row.get(key) is not None]
            for row in document["rows"]
            if row["part"] == self.part
        }
        return {name: points for name, points in lines.items() if points}

    def has_numbers(self, document: Mapping[str, Any]) -> bool:
        """Return whether there is something to draw."""
        return bool(self._lines(document))

    def plot(self, axes: Any, document: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        lines = self._lines(document)
        rows = [row for row in document["rows"] if row["part"] == self.part and row["name"] in lines]
        styles = _styles([row["name"] for row in rows if not row["peer"]])
        for number, row in enumerate(row for row in rows if row["peer"]):
            marker = MARKERS[::-1][number % len(MARKERS)]
            styles[row["name"]] = (_GREYS[number % len(_GREYS)], marker, ":")
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

    def _bars(self, document: Mapping[str, Any]) -> dict[str, dict[str, tuple[Mapping[str, Any], str]]]:
        """Return the row and column of each bar, by the name of the row and the legend."""
        bars: dict[str, dict[str, tuple[Mapping[str, Any], str]]] = {}
        parts = self.parts or tuple(dict.fromkeys(row["part"] for row in document["rows"]))
        for row in document["rows"]:
            if row["part"] not in parts or (row["peer"] and not self.peers):
                continue
            for key, legend in self.columns.items():
                if row.get(key) is not None:
                    of_part = row["part"] if len(parts) > 1 else ""
                    bars.setdefault(row["name"], {})[", ".join(filter(None, [of_part, legend]))] = row, key
        return bars

    def has_numbers(self, document: Mapping[str, Any]) -> bool:
        """Return whether there is something to draw."""
        return bool(self._bars(document))

    def size(self, document: Mapping[str, Any]) -> tuple[float, float]:
        """Return width and height in inches."""
        bars = self._bars(document)
        return _WIDTH, _FRAME + _PER_BAR * (sum(map(len, bars.values())) + len(bars))

    def plot(self, axes: Any, document: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        bars = self._bars(document)
        legends = list(dict.fromkeys(legend for of_row in bars.values() for legend in of_row))
        top, ticks = 0.0, []
        for of_row in bars.values():
            ticks.append(top - 0.5 * (len(of_row) - 1))
            for legend, (row, key) in of_row.items():
                runs = row["runs"].get(key, [row[key]])
                spread = [[row[key] - min(runs)], [max(runs) - row[key]]]
                number = legends.index(legend)
                axes.barh(top, row[key], 0.9, color=COLOURS[number % len(COLOURS)], xerr=spread, ecolor="#444444")
                if key in row["targets"]:
                    axes.plot([row["targets"][key]] * 2, [top - 0.5, top + 0.5], color="#000000", linewidth=2)
                top -= 1.0
            top -= 1.0
        for number, legend in enumerate(legends):
            if legend:
                axes.barh(0.0, 0.0, color=COLOURS[number % len(COLOURS)], label=legend)
        if any(key in row["targets"] for of_row in bars.values() for row, key in of_row.values()):
            axes.plot([], [], color="#000000", linewidth=2, label="at most")
        axes.set_yticks(ticks, list(bars), fontsize=8)
        axes.set_xlabel(self.unit)


def draw(document: Mapping[str, Any], figures: tuple[Figure, ...], folder: Path) -> list[Path]:
    """Draw the figures of a document, those of which it has numbers; return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    written = []
    for figure in figures:
        if figure.has_numbers(document):
            path = folder / slug(f"speed {document['benchmark']} {figure.name}")
            written += drawn(partial(figure.plot, document=document), figure.title, path, figure.size(document))
    return written
