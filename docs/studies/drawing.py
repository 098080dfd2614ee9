"""Figures as files, by matplotlib, which is imported only when needed."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from boostplug.core.figures import require_matplotlib, save_figure

INK = "#7b828c"  # grey with enough contrast on white and on black: the background is transparent
# The colours of Okabe and Ito, with a lighter blue, and grey instead of black.
COLOURS = ("#2D84C4", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
MARKERS, DASHES = "osD^vPX", ("-", "--", "-.", ":")
_LONG = 30  # characters of a label; three longer ones are wider than a figure
_SIZE = (6.4, 4.2)  # inches
_STYLE = {
    "savefig.transparent": True,
    "svg.hashsalt": "boostplug",  # the same file each time
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}


def drawn(
    plot: Callable[[Any], object],
    title: str,
    path: Path,
    size: tuple[float, float] = _SIZE,
    *,
    suffixes: Sequence[str] = ("png", "svg"),
) -> list[Path]:
    """Draw into new axes, write them as PNG and SVG with a transparent background, and return the files.

    Parameters
    ----------
    plot : callable
        Draws into matplotlib's axes.
    title : str
    path : Path
        Path of the files without a suffix; its folder is made.
    size : (float, float)
        Width and height in inches.
    suffixes : sequence of str
        Suffixes of the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    new_figure, rc_context = require_matplotlib()
    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context(_STYLE):
        canvas = new_figure(figsize=size, layout="constrained")
        axes = canvas.add_subplot()
        plot(axes)
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3, linewidth=0.6)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            side_by_side = 2 if max(map(len, labels)) > _LONG else 3
            columns = min(side_by_side, len(handles))
            style = {"fontsize": 8, "frameon": False, "handlelength": 3.5}  # long enough to see dashes
            canvas.legend(loc="outside lower center", ncols=columns, **style)
        files = [path.with_name(f"{path.name}.{suffix}") for suffix in suffixes]
        for file in files:
            save_figure(canvas, file)
    return files


def slug(text: str) -> str:
    """Return a text as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
