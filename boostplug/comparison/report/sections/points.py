"""Points of two metrics, points of time and metric, and importances of features."""

from boostplug.comparison.report.charts import Scale, scatter
from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.report_table import NONE, Cell, Column, number, value
from boostplug.comparison.report.text import milliseconds
from boostplug.comparison.report.view import (
    Shown,
    View,
    figure,
    key_of,
    method_table,
    of_frameworks,
    training_time,
)
from boostplug.comparison.report.words import about_times

_MEASURE = "share of the total gain of splits"


def time(view: View) -> Child:
    """Return the time of a round against the metric."""
    points = [
        (m, 1e3 * m.summary.seconds_per_round, mean)
        for m in view.methods
        if m.summary.seconds_per_round and (mean := m.summary.test[view.metric].mean) is not None
    ]
    if not points:
        return None
    chart = scatter(
        points,
        Scale.around([ms for _, ms, _ in points], logarithmic=True),
        Scale.around([mean for *_, mean in points]),
        x_label="milliseconds per round (logarithmic)",
        y_label=f"{view.metric} on test",
    )
    columns = [Column(head, descending=False) for head in ("ms/round", "rounds", "whole training, s")]
    columns.append(Column(f"{view.metric} on test", descending=view.sign > 0))

    def cells(method: Shown) -> list[Cell]:
        rounds, mean = method.summary.rounds, method.summary.test[view.metric].mean
        return [milliseconds(method.summary), number(rounds, ".0f"), training_time(method), value(mean)]

    methods = [m for m, *_ in points]
    shapes = [name for name, _ in of_frameworks(methods)]
    forms = f" Discs are {shapes[0]}, diamonds {' and '.join(shapes[1:])}." if len(shapes) > 1 else ""
    best = "Further up and to the left" if view.sign > 0 else "Further down and to the left"
    table = method_table("Time per round and per training", columns, methods, cells)
    return figure("time", f"{best} is better.{forms} {about_times(view.document)}", chart, key_of(view, methods), table)


def features(view: View) -> Child:
    """Return the importances of features, the methods side by side."""
    methods = [m for m in view.methods if m.details.importances]
    shown, n = view.details.features, view.document.data.features
    if not methods or not shown:
        return None
    largest = max(s or 0.0 for m in methods for s in m.details.importances) or 1.0

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
            methods,
            lambda m: [*map(cell, m.details.importances)],
            class_="heatmap",
        ),
    ]
