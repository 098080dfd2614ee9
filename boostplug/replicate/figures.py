"""Figures of a replication, after the paper's own, drawn from the document alone; needs matplotlib."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.experiments.drawing import COLOURS, DASHES, MARKERS, drawn, slug
from boostplug.replicate.outcome import extent

__all__ = ["ByCutoff", "ByGroup", "Curves", "Distances", "Figure", "Ranks", "draw"]


@dataclass(frozen=True, kw_only=True)
class Figure(ABC):
    """A figure of a paper, drawn with our numbers.

    Attributes
    ----------
    number : str
        The paper's, or what it shows where the paper has none: also the file's name.
    title : str
    study : str
        What it is drawn of; "" for none.
    """

    number: str
    title: str
    study: str = ""

    @property
    def centre(self) -> str:
        """What is drawn of a study's tasks and folds."""
        return "mean"

    @abstractmethod
    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""


@dataclass(frozen=True, kw_only=True)
class Curves(Figure):
    """Measures over rounds, mean over folds and tasks, a line for each learner.

    Attributes
    ----------
    measures : tuple of str
        Their keys; of several, the second is dashed.
    part : {"test", "vali", "train", "trace"}
        "trace": entries of `history_`.
    unit : str
        Of the vertical axis.
    learners : tuple of str
        Default: all.
    logarithmic : bool
        The vertical axis.
    limits : (float, float), optional
        Of the vertical axis.
    """

    measures: tuple[str, ...]
    unit: str
    part: str = "test"
    learners: tuple[str, ...] = ()
    logarithmic: bool = False
    limits: tuple[float, float] | None = None

    @property
    def centre(self) -> str:
        """What is drawn of a study's tasks and folds: of traces, which may have no bound, the median."""
        return "median" if self.part == "trace" else "mean"

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        rounds = study["curve_rounds"]
        styles = _styles(study)
        for learner in _of(study, self.learners):
            colour, marker, _ = styles[learner["name"]]
            curves = learner["curves"].get(self.part, {})
            for measure, dash in zip(self.measures, DASHES, strict=False):
                values = curves.get(measure)
                if values is None:
                    continue
                several = len(self.measures) > 1
                label = f"{learner['name']}, {measure}" if several else learner["name"]
                axes.plot(rounds, _floats(values), dash, color=colour, marker=marker, markersize=4, label=label)
        axes.set_xscale("log")
        axes.set_xticks(rounds, [str(r) if str(r).rstrip("0") in {"1", "2", "5"} else "" for r in rounds])
        axes.minorticks_off()
        axes.set_xlabel("rounds (logarithmic)")
        axes.set_ylabel(self.unit)
        if self.limits is not None:
            axes.set_ylim(*self.limits)
        if self.logarithmic:
            axes.set_yscale("log")


@dataclass(frozen=True, kw_only=True)
class ByCutoff(Figure):
    """A measure at several cut-offs, a line for each learner, with the published values dotted.

    Attributes
    ----------
    measures : mapping of number to str
        Cut-off to the measure's key.
    axis, unit : str
        What the two axes show.
    published : bool
        Also draw rows of the study's published values.
    """

    measures: tuple[tuple[float, str], ...]
    axis: str
    unit: str
    published: bool = True

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        styles = _styles(study)
        at = [cutoff for cutoff, _ in self.measures]
        for learner in study["learners"]:
            colour, marker, dash = styles[learner["name"]]
            values = [learner["test"].get(measure) for _, measure in self.measures]
            axes.plot(at, _floats(values), dash, color=colour, marker=marker, markersize=4, label=learner["name"])
        if self.published and study["published_applies"]:
            greys = cycle(("#555555", "#999999", "#777777", "#BBBBBB"))
            for (name, row), grey, marker in zip(study["published"].items(), greys, cycle("+x12"), strict=False):
                values = [row.get(measure) for _, measure in self.measures]
                if any(value is not None for value in values):
                    axes.plot(at, _floats(values), ":", color=grey, marker=marker, label=f"{name}, published")
        axes.set_xticks(at)
        axes.set_xlabel(self.axis)
        axes.set_ylabel(self.unit)


@dataclass(frozen=True, kw_only=True)
class ByGroup(Figure):
    """One of the study's extras: bars where it has one row; else a marker for each row, side by side in each group.

    Attributes
    ----------
    extra : str
        Its name.
    axis : str
        What the groups are.
    rows : tuple of str
        Default: all.
    lines : bool
        Join the markers of a row: for groups that are an axis, such as cut-offs.
    """

    extra: str
    axis: str
    rows: tuple[str, ...] = ()
    lines: bool = False

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        extra = study["extras"][self.extra]
        rows = {name: _floats(values) for name, values in extra["rows"].items() if not self.rows or name in self.rows}
        at = np.arange(len(extra["groups"]))
        styles = zip(cycle(COLOURS), cycle(MARKERS), strict=False)
        for i, ((name, values), (colour, marker)) in enumerate(zip(rows.items(), styles, strict=False)):
            if len(rows) == 1:
                axes.bar(at, values, color=colour, zorder=2)
            elif self.lines:
                dash = DASHES[i // len(COLOURS) % len(DASHES)]
                axes.plot(at, values, dash, color=colour, marker=marker, markersize=4, label=name)
            else:
                side = 0.7 * ((i + 0.5) / len(rows) - 0.5)
                axes.plot(at + side, values, linestyle="none", color=colour, marker=marker, label=name)
        axes.set_xticks(at, extra["groups"])
        axes.set_xlabel(self.axis)
        axes.set_ylabel(extra["unit"])


@dataclass(frozen=True, kw_only=True)
class Ranks(Figure):
    """Mean ranks over tasks with the critical difference of Nemenyi's test, as in Demšar's diagrams.

    Attributes
    ----------
    measures : tuple of str
        Their keys, a row for each.
    """

    measures: tuple[str, ...]

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        styles = _styles(study)
        for row, measure in enumerate(self.measures):
            half = 0.5 * study["tests"][measure]["critical_difference"]
            for k, learner in enumerate(study["learners"]):
                colour, marker, _ = styles[learner["name"]]
                rank, height = learner["mean_rank"][measure], -row - 0.12 * k
                label = learner["name"] if row == 0 else None
                axes.errorbar(rank, height, xerr=half, fmt=marker, color=colour, capsize=4, label=label)
        axes.set_yticks([-row - 0.12 for row in range(len(self.measures))], self.measures)
        axes.set_ylim(-len(self.measures) + 0.4, 0.4)
        axes.set_xlabel("mean rank over tasks, 1 the best\nbars: half the critical difference (α = .05) to either side")


@dataclass(frozen=True, kw_only=True)
class Distances(Figure):
    """Functions of the gap between two grades.

    Attributes
    ----------
    functions : tuple of (name, callable)
    unit : str
    """

    functions: tuple[tuple[str, Any], ...]
    unit: str

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:  # noqa: ARG002 (the functions are given)
        """Draw into matplotlib's axes, with labels."""
        gaps = np.linspace(1e-3, 4.0, 200)
        for (name, function), colour, dash in zip(self.functions, cycle(COLOURS), cycle(DASHES), strict=False):
            values = np.asarray(function(gaps))
            axes.plot(np.r_[-gaps[::-1], gaps], np.r_[-values[::-1], values], dash, color=colour, label=name)
        axes.set_xlabel("difference of grades")
        axes.set_ylabel(self.unit)


def draw(document: Mapping[str, Any], figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Draw those figures whose study was run, as PNG and SVG; return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    studies = {study["name"]: study for study in document["studies"]}
    written = []
    for figure in figures:
        if figure.study and figure.study not in studies:
            continue
        study = studies.get(figure.study, {})
        where = f"\n{study['name']}, {figure.centre} of {extent(study)}" if study else ""
        path = folder / slug(f"{document['protocol']} {figure.number} {figure.study}")
        written += drawn(partial(figure.plot, study=study), f"{figure.number}: {figure.title}{where}", path)
    return written


def _styles(study: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    """Return colour, marker and dash of each learner: the same in all figures of a study."""
    names = [learner["name"] for learner in study["learners"]]
    return {
        name: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)], DASHES[(k // len(COLOURS)) % len(DASHES)])
        for k, name in enumerate(names)
    }


def _of(study: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    return [learner for learner in study["learners"] if not names or learner["name"] in names]


def _floats(values: Sequence[float | None]) -> Any:
    return np.array([np.nan if value is None else value for value in values], float)
