"""Figures of a replication, after the paper's own, drawn from the document alone; needs matplotlib."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.comparison.report.drawing import COLOURS, DASHES, INK, MARKERS, drawn, slug
from boostplug.replication.judging.study_results import extent

_GREYS, _GREY_MARKERS = ("#6b6b6b", "#8a8a8a", INK, "#999999"), "PX*dh"


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

    @abstractmethod
    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""

    def average(self, study: Mapping[str, Any]) -> str:
        """Return what each point stands for, in words."""
        return extent(study) if study["tasks"] == study["folds"] == 1 else f"mean of {extent(study)}"


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
    """

    measures: tuple[str, ...]
    unit: str
    part: str = "test"
    learners: tuple[str, ...] = ()
    logarithmic: bool = False

    def average(self, study: Mapping[str, Any]) -> str:
        """Return what each point stands for, in words."""
        return f"median of {extent(study)}" if self.part == "trace" else super().average(study)

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        rounds = study["curve_rounds"]
        styles = _styles(study)
        several = len(self.measures) > 1
        for learner in _of(study, self.learners):
            colour, marker, own_dash = styles[learner["name"]]
            curves = learner["curves"].get(self.part, {})
            for measure, dash in zip(self.measures, DASHES if several else (own_dash,), strict=False):
                values = _floats(curves.get(measure, ()))
                if np.isnan(values).all():
                    continue
                label = f"{learner['name']}, {measure}" if several else learner["name"]
                axes.plot(rounds, values, dash, color=colour, marker=marker, markersize=4, label=label)
        axes.set_xscale("log")
        axes.set_xticks(rounds, [str(r) if str(r).rstrip("0") in {"1", "2", "5"} else "" for r in rounds])
        axes.minorticks_off()
        axes.set_xlabel("rounds (logarithmic)")
        axes.set_ylabel(self.unit)
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
    """

    measures: tuple[tuple[float, str], ...]
    axis: str
    unit: str

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        styles = _styles(study)
        at = [cutoff for cutoff, _ in self.measures]
        for learner in study["learners"]:
            colour, marker, dash = styles[learner["name"]]
            values = _floats([learner["test"].get(measure) for _, measure in self.measures])
            if not np.isnan(values).all():
                axes.plot(at, values, dash, color=colour, marker=marker, markersize=4, label=learner["name"])
        if study["published_applies"]:
            others = zip(cycle(_GREYS), cycle(_GREY_MARKERS), strict=False)
            for name, row in study["published"].items():
                points = [(cutoff, row[key]) for cutoff, key in self.measures if row.get(key) is not None]
                if points:
                    colour, marker = styles[name][:2] if name in styles else next(others)
                    line = ":" if len(points) > 1 else "none"
                    style = {"color": colour, "marker": marker, "markersize": 7, "markerfacecolor": "none"}
                    axes.plot(*zip(*points, strict=True), linestyle=line, label=f"{name}, published", **style)
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

    def average(self, study: Mapping[str, Any]) -> str:
        """Return what each point stands for, in words; of one row, such as numbers of queries, the title says it."""
        return "" if len(self._rows(study)) == 1 else super().average(study)

    def _rows(self, study: Mapping[str, Any]) -> dict[str, Any]:
        rows = study["extras"][self.extra]["rows"].items()
        return {name: _floats(row) for name, row in rows if not self.rows or name in self.rows}

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        extra, rows, own = study["extras"][self.extra], self._rows(study), _styles(study)
        at = np.arange(len(extra["groups"]))
        others = zip(cycle(COLOURS), cycle(MARKERS), cycle(DASHES[:1]), strict=False)
        for i, (name, values) in enumerate(rows.items()):
            colour, marker, dash = own[name] if rows.keys() <= own.keys() else next(others)
            if np.isnan(values).all():
                continue
            if len(rows) == 1:
                axes.bar(at, values, color=colour, zorder=2)
            elif self.lines:
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
        styles, labelled = _styles(study), set[str]()
        for row, measure in enumerate(self.measures):
            critical = study["tests"][measure]["critical_difference"]
            half = None if critical is None else 0.5 * critical
            for k, learner in enumerate(study["learners"]):
                colour, marker, _ = styles[learner["name"]]
                rank, height = learner["mean_rank"][measure], -row - 0.12 * k
                if rank is None:
                    continue
                label = None if learner["name"] in labelled else learner["name"]
                labelled.add(learner["name"])
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


def names(document: Mapping[str, Any], figures: Sequence[Figure]) -> dict[str, Figure]:
    """Return those figures whose study was run, by the name of their file without its suffix."""
    run = {study["name"] for study in document["studies"]}
    return {
        slug(f"{document['protocol']} {figure.number} {figure.study}"): figure
        for figure in figures
        if not figure.study or figure.study in run
    }


def draw(
    document: Mapping[str, Any],
    figures: Sequence[Figure],
    folder: Path,
    *,
    suffixes: Sequence[str] = ("png", "svg"),
) -> list[Path]:
    """Draw those figures whose study was run; return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    studies = {study["name"]: study for study in document["studies"]}
    written = []
    for name, figure in names(document, figures).items():
        study = studies.get(figure.study, {})
        of = [study["name"], figure.average(study)] if study else []
        title = "\n".join(filter(None, [f"{figure.number}: {figure.title}", ", ".join(filter(None, of))]))
        written += drawn(partial(figure.plot, study=study), title, folder / name, suffixes=suffixes)
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
