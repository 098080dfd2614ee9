"""Features that the trees split on."""

from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.tables import NONE, Cell, Column
from boostplug.comparison.report.view import View, method_table

_MOST_FEATURES = 20
_MEASURE = "share of the total gain of splits"


def features(view: View) -> Child:
    """Return the importances of features, the methods side by side."""
    methods = [m for m in view.methods if m.details.importances]
    shown, n = view.details.features[:_MOST_FEATURES], view.document.data.features
    if not methods or not shown:
        return None
    largest = max(s or 0.0 for m in methods for s in m.details.importances[: len(shown)]) or 1.0

    def cell(share: float | None) -> Cell:
        text = NONE if share is None else f"{100 * share:.1f}"
        return Cell(el("span", text, style=f"--share:{(share or 0.0) / largest:.2f}"), share, "heat")

    more = f", {len(shown)} of {n}" if n > len(shown) else ""
    return [
        el(
            "p",
            f"Per cent of the {_MEASURE.removeprefix('share of the ')}, mean over the runs; first the "
            f"features that matter most over all methods{more}. The stronger the tint, the larger. Shares "
            "show what the trees used. Of two correlated features, one may get all of it.",
        ),
        method_table(
            f"Importances in per cent: {_MEASURE}",
            [Column(name) for name in shown],
            [(m, [*map(cell, m.details.importances[: len(shown)])]) for m in methods],
            class_="heatmap",
        ),
    ]
