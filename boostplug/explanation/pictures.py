"""Pictures of explanations: bars, of which each may start where the last one ends."""

from pathlib import Path
from typing import Any

from boostplug.core.figures import check_suffix, require_matplotlib, save_figure
from boostplug.core.text import visible

MOST = 15  # bars
_LETTERS = 48  # of the name of a bar
_UP, _DOWN = "#0072b2", "#d55e00"
_STYLE = {"svg.hashsalt": "boostplug", "font.size": 10, "text.parse_math": False}


def check_plot(path: Any) -> None:
    """Raise if a picture is asked for that cannot be drawn."""
    if path is not None:
        check_suffix(path, "plot")
        require_matplotlib()


def save_bars(path: str | Path, title: str, labels: Any, lengths: Any, starts: Any = 0.0) -> None:
    """Draw bars from top to bottom, with their lengths beside them, into a file."""
    labels = [label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…" for label in map(visible, labels)]
    new_figure, rc_context = require_matplotlib()
    with rc_context(_STYLE):
        height = 1.0 + 0.28 * len(labels)  # inches
        axes = new_figure((7.0, height), layout="constrained", facecolor="white").add_subplot()
        colours = [_UP if length >= 0.0 else _DOWN for length in lengths]
        bars = axes.barh(range(len(labels)), lengths, left=starts, color=colours, height=0.7, tick_label=labels)
        axes.bar_label(bars, [f"{length:.3g}" for length in lengths], padding=4)
        axes.set_title(title, fontsize="medium")
        axes.invert_yaxis()
        axes.use_sticky_edges = False  # room for the numbers
        axes.margins(x=0.15, y=0.03)
        axes.spines[["top", "right"]].set_visible(False)
        save_figure(axes.figure, Path(path))
