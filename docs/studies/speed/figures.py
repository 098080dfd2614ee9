"""Pictures of time against the length of a list and against rounds, drawn from results; they need matplotlib."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from boostplug.replication.drawing import INK, drawn
from studies.speed.result import BenchResult
from studies.tables import line_style

__all__ = ["FIGURES", "Lines", "draw"]

_SIZE = (7.6, 5.6)  # inches
_DASHES = ("-", "--", "-.", ":")
_PEERS = (
    "NumPy, all pairs (RankNet)",
    "XGBoost's rank:pairwise, all pairs",
    "XGBoost's rank:ndcg",
    "LightGBM's lambdarank",
)


class Lines(NamedTuple):
    """A line for each row of a part of a benchmark, through the columns whose keys are `prefix` and a number.

    Both axes are logarithmic. `rows` chooses rows and their order, all by default.
    """

    benchmark: str
    title: str
    part: str
    prefix: str
    unit: str
    axis: str
    rows: tuple[str, ...] = ()

    def points(self, result: BenchResult) -> dict[str, list[tuple[int, float]]]:
        """Return the points of each line."""
        at = {c.key: int(c.key.removeprefix(self.prefix)) for c in result.columns if c.key.startswith(self.prefix)}
        lines = {
            row.name: [(n, row.values[key]) for key, n in at.items() if key in row.values]
            for row in result.rows
            if row.part == self.part
        }
        return {name: lines[name] for name in self.rows or lines if lines.get(name)}


FIGURES: dict[str, Lines] = {
    "speed-scaling-cost": Lines(
        "scaling",
        "Time per document of a gradient and Hessian: five grades, one thread",
        "Five grades, a document",
        "nanoseconds_at_",
        "ns per document",
        "documents in the list",
        ("LambdaRank", "QBRank", "NDCGBoost", "CRR", "RankNet", "MPBoost(Log)", *_PEERS),
    ),
    "speed-rankers-by-round": Lines(
        "rankers",
        "RankBoost: time since the start of training",
        "RankBoost by round",
        "milliseconds_after_",
        "ms",
        "rounds",
    ),
}


def draw(results: Sequence[BenchResult], folder: Path) -> list[Path]:
    """Draw `FIGURES`, those of which the results have numbers, and return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    return [
        file
        for name, lines in FIGURES.items()
        for result in results
        if result.benchmark == lines.benchmark and lines.points(result)
        for file in drawn(
            partial(_plot, lines.points(result), lines), lines.title, folder / name, _SIZE, suffixes=("png",)
        )
    ]


def _plot(points: dict[str, list[tuple[int, float]]], lines: Lines, axes: Any) -> None:
    for k, (name, line) in enumerate(points.items()):
        style: dict[str, Any] = line_style(k)
        if name in _PEERS:
            style |= {"color": INK, "linestyle": _DASHES[_PEERS.index(name)]}
        axes.plot(*zip(*line, strict=True), markersize=4, label=name, **style)
    axes.set(xscale="log", yscale="log", xlabel=lines.axis, ylabel=lines.unit)
