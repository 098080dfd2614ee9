"""Figures of matplotlib, which is imported only when needed, as files that are the same each time."""

from io import BytesIO
from pathlib import Path
from typing import Any

from boostplug.core.extras import needed_by
from boostplug.core.files import write_file


def require_matplotlib() -> tuple[Any, Any]:
    """Return matplotlib's class of figures, which needs no screen, and its settings for a block.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    with needed_by("figures need", "matplotlib"):
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    return Figure, rc_context


def check_suffix(path: str | Path, name: str = "path") -> None:
    """Raise for a file that is neither SVG nor PNG."""
    if Path(path).suffix not in (".svg", ".png"):
        raise ValueError(f"{name} must end with .svg or .png; got {path}")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure in the format that the suffix names. ``svg.hashsalt`` must be set, or each SVG differs."""
    content, form = BytesIO(), path.suffix[1:]
    figure.savefig(content, format=form, dpi=160, metadata={"Date": None} if form == "svg" else None)
    write_file(path, content.getvalue())
