"""The first screen of the page as a picture: the headline, plain counts, and the differences to what is in use."""

from pathlib import Path
from textwrap import wrap
from typing import Any

from boostplug.comparison import formats
from boostplug.comparison.report import words
from boostplug.comparison.report.page import coloured_methods, plot_of_differences
from boostplug.comparison.report.words import Document
from boostplug.core.figures import check_suffix, require_matplotlib, save_figure
from boostplug.core.text import visible

_INK, _SOFT, _GRID, _OURS = "#1b1f24", "#555d68", "#e6e9ed", "#0072b2"
_WIDTH, _NAME, _LEFT, _PLOT, _DELTA, _P = 10.0, 0.25, 3.45, 3.35, 9.05, 9.75  # inches from the left; the last are ends
_LINE_IN_INCHES = 0.3
_LETTERS = {"name": 36, "headline": 78, "counts": 116}  # of a line
_STYLE = {"svg.hashsalt": "boostplug", "font.size": 10, "text.color": _INK, "text.parse_math": False}


def picture(document: Document, path: str | Path | None = None) -> Any:
    """Return the picture as matplotlib's figure, and write it if there is a path; see `CompareResult.plot`."""
    if path is not None:
        check_suffix(path)
    new_figure, rc_context = require_matplotlib()
    found = plot_of_differences(document, coloured_methods(document)) or {"rows": {}}
    with rc_context(_STYLE):
        figure = new_figure(facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, _WIDTH))  # in inches, and in lines from the top
        axes.set_axis_off()
        height = 0.4
        for text in wrap(visible(words.headline(document)), _LETTERS["headline"]):
            axes.text(_NAME, height := height + 1.0, text, size=14, weight="bold")
        height += 0.2
        for text in wrap(visible(" ".join(words.plainly(document))), _LETTERS["counts"]):
            axes.text(_NAME, height := height + 0.8, text)
        for reference, rows in found["rows"].items():
            title = f"{document['settings']['metric']} on test: difference to {reference}"
            axes.text(_NAME, height + 1.5, visible(title), weight="bold")
            _draw(axes, document, found, rows, height + 3.0)
            height += len(rows) + 3.0
        axes.set_ylim(height + 0.5, 0)
        figure.set_size_inches(_WIDTH, _LINE_IN_INCHES * (height + 0.5))
        if path is not None:
            save_figure(figure, Path(path))
    return figure


def _draw(axes: Any, document: Document, found: Document, rows: list[dict[str, Any]], top: float) -> None:
    """Draw a row per method below the height `top`, and the heads above it."""

    def write(inches: float, y: float, text: str, ha: str = "right", **style: Any) -> None:
        axes.text(inches, y, visible(text), ha=ha, va="center_baseline", **style)

    for at, text in found["ticks"]:
        x, is_zero = _LEFT + _PLOT * at, at == found["zero"]
        axes.plot([x, x], [top, top + len(rows)], color=_SOFT if is_zero else _GRID, linewidth=1)
        write(x, top - 0.4, "+" * (at > found["zero"]) + text, "center", color=_SOFT)
    write(_DELTA, top - 0.4, f"Δ [{words.percent(document)}]", color=_SOFT)
    write(_P, top - 0.4, "p", color=_SOFT)
    for number, m in enumerate(rows):
        y, clear, ours = top + number + 0.5, m["outcome"] in ("better", "worse"), m["recommended"]
        colour = _OURS if ours else _INK if clear or m["is_zero"] else _SOFT
        style = {"color": colour, "weight": "bold" if clear or ours else "normal"}
        name = words.title(m) if len(words.frameworks(document)) > 1 else m["method"]
        write(_NAME, y, formats.shortened(name, _LETTERS["name"]), "left", **style)
        if m["whisker"]:
            low, high = m["whisker"]
            ends = [_LEFT + _PLOT * at for at in m["ends"]]
            axes.plot(ends, [y, y], color=colour, linewidth=3 if clear else 1.2)
            for end in [0] * (low < 0) + [1] * (high > 1):  # the interval goes on
                axes.plot(ends[end], y, "<>"[end], color=colour)
        if 0 <= m["mark"] <= 1:
            shape, fill = "D" if m["shape"] else "o", colour if clear else "white"
            axes.plot(_LEFT + _PLOT * m["mark"], y, shape, color=colour, markerfacecolor=fill)
        if not m["is_zero"]:
            write(_DELTA, y, f"{formats.signed(m['difference'])} {formats.interval(m['interval'])}", **style)
            write(_P, y, formats.probability(m["p_holm"]), **style)
