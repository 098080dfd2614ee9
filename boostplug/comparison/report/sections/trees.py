"""The trees: what they split on, and what they cost."""

from boostplug.comparison.report.charts import Scale, scatter
from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.tables import NONE, Cell, Column, number, short, value
from boostplug.comparison.report.view import (
    MethodColumn,
    View,
    columns_table,
    figure,
    folded,
    key_of,
    method_table,
    of_frameworks,
)
from boostplug.comparison.report.words import about_times

_MOST_FEATURES = 20


def features(view: View) -> Child:
    """Return what the trees split on, the methods side by side."""
    found = view.entries(lambda details: details.importances.methods)
    part = view.details.importances if view.details else None
    if not found or part is None or not part.features:
        return None
    shown = part.features[:_MOST_FEATURES]
    largest = max((s for _, e in found for s in e.shares[: len(shown)] if s is not None), default=0.0) or 1.0

    def cell(share: float | None) -> Cell:
        text = NONE if share is None else f"{100 * share:.1f}"
        return Cell(el("span", text, style=f"--share:{(share or 0.0) / largest:.2f}"), share, "heat")

    more = f", {len(shown)} of {part.n_features}" if part.n_features > len(shown) else ""
    return [
        el(
            "p",
            f"Per cent of the {part.measure.removeprefix('share of the ')}, mean over the runs; first the "
            f"features that matter most over all methods{more}. The stronger the tint, the larger. Shares "
            "show what the trees used. Of two correlated features, one may get all of it.",
        ),
        method_table(
            f"Importances in per cent: {part.measure}",
            [Column(name) for name in shown],
            [(method, [*map(cell, entry.shares[: len(shown)])]) for method, entry in found],
            class_="heatmap",
        ),
    ]


def time(view: View) -> Child:
    """Return the time of a round against the metric."""
    timed = [
        (m, (1e3 * m.summary.seconds_per_round, mean))
        for m in view.methods
        if m.summary.seconds_per_round and (mean := m.summary.test[view.metric].mean) is not None
    ]
    if not timed:
        return None
    chart = scatter(
        [(m, ms, mean, f": {ms:.1f} ms per round, {view.metric} {short(mean)}") for m, (ms, mean) in timed],
        Scale.around([ms for _, (ms, _) in timed], logarithmic=True),
        Scale.around([mean for _, (_, mean) in timed]),
        x_label="milliseconds per round (logarithmic)",
        y_label=f"{view.metric} on test",
        described=f"Points: milliseconds per round against {view.metric} on test for {len(timed)} methods; the table "
        "below has the figures.",
    )
    columns: list[MethodColumn[tuple[float, float]]] = [
        (Column("ms/round", descending=False), lambda _, found: number(found[0], ".1f")),
        (Column("rounds", descending=False), lambda m, _: number(m.summary.rounds, ".0f")),
        (Column("whole training, s", descending=False), lambda m, _: view.training_time(m)),
        (Column(f"{view.metric} on test", descending=view.sign > 0), lambda _, found: value(found[1])),
    ]
    methods = [m for m, _ in timed]
    shapes = [name for name, _ in of_frameworks(methods)]
    forms = f" Discs are {shapes[0]}, diamonds {' and '.join(shapes[1:])}." if len(shapes) > 1 else ""
    best = "Further up and to the left" if view.sign > 0 else "Further down and to the left"
    return [
        figure("time", f"{best} is better.{forms} {about_times(view.document)}", chart, key_of(view, methods)),
        folded("Times as a table", columns_table("Time per round and per training", timed, columns)),
    ]
