"""Pictures of time against the length of a list and against rounds, drawn from results; they need matplotlib."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from studies.drawing import INK, drawn
from studies.speed.result import BenchResult
from studies.tables import line_style

__all__ = ["draw"]

_SIZE = (7.6, 5.6)  # inches
_DASHES = {
    "NumPy, all pairs (RankNet)": "-",
    "XGBoost's rank:pairwise, all pairs": "--",
    "XGBoost's rank:ndcg": "-.",
    "LightGBM's lambdarank": ":",
}  # of other libraries, in grey
_OURS = ("LambdaRank", "QBRank", "NDCGBoost", "CRR", "RankNet", "MPBoost(Log)")
_RANKBOOST = "RankBoost: time since the start of training"
_LISTS = "Time per document of a gradient and Hessian: five grades, one thread"


def draw(results: Sequence[BenchResult], folder: Path) -> None:
    """Draw a picture of each benchmark that has one; raise ImportError without matplotlib."""
    for result in results:
        if result.benchmark == "scaling":
            plot = partial(_plot, result, "Five grades, a document", "nanoseconds_at_", (*_OURS, *_DASHES))
            plot = partial(plot, xlabel="documents in the list", ylabel="ns per document")
            drawn(plot, _LISTS, folder / "speed-scaling-cost", _SIZE, suffixes=("png",))
        if result.benchmark == "rankers":
            names = [row.name for row in result.parts["RankBoost by round"]]
            plot = partial(_plot, result, "RankBoost by round", "milliseconds_after_", names)
            plot = partial(plot, xlabel="rounds", ylabel="ms")
            drawn(plot, _RANKBOOST, folder / "speed-rankers-by-round", _SIZE, suffixes=("png",))


def _plot(result: BenchResult, part: str, prefix: str, names: Sequence[str], axes: Any, **labels: str) -> None:
    """Draw a line for each row through the columns whose keys are `prefix` and a number."""
    rows = {row.name: row.values for row in result.parts[part]}
    for k, name in enumerate(names):
        x, y = zip(
            *((int(key.removeprefix(prefix)), value) for key, value in rows[name].items() if key.startswith(prefix)),
            strict=True,
        )
        style: dict[str, Any] = line_style(k)
        if name in _DASHES:
            style |= {"color": INK, "linestyle": _DASHES[name]}
        axes.plot(x, y, markersize=4, label=name, **style)
    axes.set(xscale="log", yscale="log", **labels)
