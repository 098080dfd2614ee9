"""Figures of a replication, modelled on the paper's and drawn from the document; needs matplotlib."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from studies.drawing import COLOURS, DASHES, MARKERS, drawn, slug
from studies.replication.judging.study_results import extent


@dataclass(frozen=True, kw_only=True)
class Figure(ABC):
    """A figure of a paper, drawn with our numbers.

    Attributes
    ----------
    number : str
        The paper's number, or the content of a figure that the paper does not have; also the file's name.
    title : str
    study : str
        The study that it shows; see `protocol.on`.
    """

    number: str
    title: str
    study: str = ""

    @abstractmethod
    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""

    def average(self, study: Mapping[str, Any]) -> str:
        """Meaning of each point, in words."""
        return extent(study) if study["tasks"] == study["folds"] == 1 else f"mean of {extent(study)}"


@dataclass(frozen=True, kw_only=True)
class Curves(Figure):
    """Measures over rounds, averaged over folds and tasks, with a line for each learner.

    Attributes
    ----------
    measures : tuple of str
        Keys of the measures; if there are two, the second is dashed.
    part : {"test", "vali", "train", "trace"}
        "trace": entries of `history_`.
    unit : str
        Label of the vertical axis.
    learners : tuple of str
        Default: all.
    logarithmic : bool
        Whether the vertical axis is logarithmic.
    """

    measures: tuple[str, ...]
    unit: str
    part: str = "test"
    learners: tuple[str, ...] = ()
    logarithmic: bool = False

    def average(self, study: Mapping[str, Any]) -> str:
        """Meaning of each point, in words."""
        return f"median of {extent(study)}" if self.part == "trace" else super().average(study)

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        rounds = study["curve_rounds"]
        styles = _styles(learner["name"] for learner in study["learners"])
        several = len(self.measures) > 1
        for learner in study["learners"]:
            if self.learners and learner["name"] not in self.learners:
                continue
            curves, style = learner["curves"].get(self.part, {}), styles[learner["name"]]
            for measure, dash in zip(self.measures, DASHES if several else (style["linestyle"],), strict=False):
                if measure in curves:
                    label = f"{learner['name']}, {measure}" if several else learner["name"]
                    axes.plot(rounds, _floats(curves[measure]), **style | {"linestyle": dash, "label": label})
        axes.set_xscale("log")
        axes.set_xticks(rounds, [str(r) if str(r).rstrip("0") in {"1", "2", "5"} else "" for r in rounds])
        axes.minorticks_off()
        axes.set_xlabel("rounds (logarithmic)")
        axes.set_ylabel(self.unit)
        if self.logarithmic:
            axes.set_yscale("log")


class Row(NamedTuple):
    """A row of `Means`: the mean of some learners at some measures; default: the learner of that name, all measures."""

    name: str
    learners: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Means(Figure):
    """Test means at several measures, such as cut-offs, with a line for each row; published values are unfilled marks.

    Attributes
    ----------
    measures : tuple of (str, str)
        For each measure its text on the axis, and its key.
    axis, unit : str
        Labels of the two axes.
    rows : tuple of Row
        Default: one for each learner.
    joined : bool, default True
        Whether lines join the points of a row; otherwise rows stand side by side.
    """

    measures: tuple[tuple[str, str], ...]
    axis: str
    unit: str
    rows: tuple[Row, ...] = ()
    joined: bool = True

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        labels, keys = zip(*self.measures, strict=True)
        test = {learner["name"]: learner["test"] for learner in study["learners"]}
        rows = {name: (learners or (name,), own or keys) for name, learners, own in self.rows or map(Row, test)}
        published = study["published"] if study["published_applies"] else {}
        published = {name: row for name, row in published.items() if row.keys() & {*keys}}
        styles = _styles(test if rows.keys() <= test.keys() else rows)
        styles |= _styles([name for name in published if name not in styles], first=len(styles))
        for k, (name, (learners, own)) in enumerate(rows.items()):
            values = np.mean([_floats(map(test[learner].get, own)) for learner in learners], axis=0)
            side = 0.0 if self.joined else 0.7 * ((k + 0.5) / len(rows) - 0.5)
            style = styles[name] if self.joined else styles[name] | {"linestyle": "none"}
            axes.plot(np.arange(len(keys)) + side, values, label=name, **style)
        for name, row in published.items():
            at = [k for k, key in enumerate(keys) if key in row]
            style = styles[name] | {"linestyle": ":", "markerfacecolor": "none", "markersize": 7}
            axes.plot(at, [row[keys[k]] for k in at], label=f"{name}, published", **style)
        axes.set_xticks(range(len(keys)), labels)
        axes.set_xlabel(self.axis)
        axes.set_ylabel(self.unit)


@dataclass(frozen=True, kw_only=True)
class Ranks(Figure):
    """Mean ranks over tasks with the critical difference of Nemenyi's test, as in Demšar's diagrams.

    Attributes
    ----------
    measures : tuple of str
        Keys of the measures, a row for each.
    """

    measures: tuple[str, ...]

    def plot(self, axes: Any, study: Mapping[str, Any]) -> None:
        """Draw into matplotlib's axes, with labels."""
        heights = -np.arange(len(self.measures), dtype=np.float64)
        half = 0.5 * _floats(map(study["critical_difference"].get, self.measures))
        styles = _styles(learner["name"] for learner in study["learners"])
        for k, learner in enumerate(study["learners"]):
            ranks = _floats(map(learner["mean_rank"].get, self.measures))
            style = styles[learner["name"]] | {"linestyle": "none", "capsize": 4, "label": learner["name"]}
            axes.errorbar(ranks, heights - 0.12 * k, xerr=half, **style)
        axes.set_yticks(heights - 0.12, self.measures)
        axes.set_ylim(-len(self.measures) + 0.4, 0.4)
        axes.set_xlabel("mean rank over tasks, 1 the best\nbars: half the critical difference (α = .05) to either side")


def names(document: Mapping[str, Any], figures: Sequence[Figure]) -> dict[str, Figure]:
    """Return the figures whose study was run, by file name without suffix."""
    run = {study["name"] for study in document["studies"]}
    return {
        slug(f"{document['protocol']} {figure.number} {figure.study}"): figure
        for figure in figures
        if figure.study in run
    }


def draw(
    document: Mapping[str, Any],
    figures: Sequence[Figure],
    folder: Path,
    *,
    suffixes: Sequence[str] = ("png", "svg"),
) -> list[Path]:
    """Draw the figures whose study was run; return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    studies = {study["name"]: study for study in document["studies"]}
    written = []
    for name, figure in names(document, figures).items():
        study = studies[figure.study]
        title = f"{figure.number}: {figure.title}\n{figure.study}, {figure.average(study)}"
        written += drawn(partial(figure.plot, study=study), title, folder / name, suffixes=suffixes)
    return written


def _styles(rows: Iterable[str], first: int = 0) -> dict[str, dict[str, Any]]:
    """Return colour, marker and dash of each row, after the styles of the `first` rows."""
    return {
        name: {
            "color": COLOURS[k % len(COLOURS)],
            "marker": MARKERS[k % len(MARKERS)],
            "linestyle": DASHES[(k // len(COLOURS)) % len(DASHES)],
            "markersize": 4,
        }
        for k, name in enumerate(rows, first)
    }


def _floats(values: Iterable[float | None]) -> Any:
    return np.array([np.nan if value is None else value for value in values], float)
