"""Figures as files, by matplotlib, which is imported where it is needed."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from boostplug.core.extras import needed_by
from boostplug.core.files import replacing

INK = "#7b828c"  # grey with enough contrast on white and on black: the background is transparent
# Okabe and Ito's, with a lighter blue, and grey in place of black.
COLOURS = ("#2D84C4", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
MARKERS, DASHES = "osD^vPX", ("-", "--", "-.", ":")
_LONG = 30  # characters of a label: three of them are wider than a figure
_SIZE, _DPI = (6.4, 4.2), 160  # inches
_STYLE = {
    "savefig.transparent": True,
    "svg.hashsalt": "boostplug",  # the same file each time
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}


def require_matplotlib() -> tuple[Any, Any]:
    """Return matplotlib's figure, and the canvas that needs no screen.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    with needed_by("figures need", "matplotlib"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    return Canvas, FigureCanvasAgg


def drawn(
    plot: Callable[[Any], object],
    title: str,
    path: Path,
    size: tuple[float, float] = _SIZE,
    *,
    suffixes: Sequence[str] = ("png", "svg"),
) -> list[Path]:
    """Draw into new axes, and write them as PNG and SVG with a transparent background; return the files.

    Parameters
    ----------
    plot : callable
        Draws into matplotlib's axes.
    title : str
    path : Path
        Of the files, without a suffix; its folder is made.
    size : (float, float)
        Width and height in inches.
    suffixes : sequence of str
        Of the files that are written.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    Canvas, FigureCanvasAgg = require_matplotlib()
    from matplotlib import rc_context

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context(_STYLE):
        canvas = Canvas(figsize=size, layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        plot(axes)
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3, linewidth=0.6)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            side_by_side = 2 if max(map(len, labels)) > _LONG else 3
            columns = min(side_by_side, len(handles))
            style = {"fontsize": 8, "frameon": False, "handlelength": 3.5}  # long enough to tell a dash from a line
            canvas.legend(loc="outside lower center", ncols=columns, **style)
        files = [path.with_name(f"{path.name}.{suffix}") for suffix in suffixes]
        for file in files:
            form = file.suffix[1:]
            with replacing(file) as out:
                canvas.savefig(out, format=form, dpi=_DPI, metadata={"Date": None} if form == "svg" else None)
    return files


def slug(text: str) -> str:
    """Return a text as the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
