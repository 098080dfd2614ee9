"""The trees: what they split on, and what they cost."""

from boostplug.comparison import report
from boostplug.comparison.report import NONE, short
from boostplug.comparison.webpage.charts import scatter
from boostplug.comparison.webpage.markup import Child, el
from boostplug.comparison.webpage.methods import label, of_frameworks
from boostplug.comparison.webpage.scale import Scale
from boostplug.comparison.webpage.tables import Cell, Column, number, table, value
from boostplug.comparison.webpage.view import View, folded, key_of

__all__ = ["features", "time"]

_MOST_FEATURES = 20


def features(view: View) -> Child:
    """Return what the trees split on, the methods side by side."""
    part = view.detail("importances")
    found = view.with_details(part)
    if not found or not part["features"]:
        return None
    shown = part["features"][:_MOST_FEATURES]
    largest = max((s for _, e in found for s in e["shares"][: len(shown)] if s is not None), default=0.0) or 1.0
    columns = [Column("method", numbers=False)]
    columns += [Column("framework", numbers=False)] if view.several else []
    columns += [Column(str(name)) for name in shown]
    rows = []
    for method, entry in found:
        cells = [Cell(label(method), method.name.lower())]
        cells += [Cell(method.framework, method.framework)] if view.several else []
        for share in entry["shares"][: len(shown)]:
            text = NONE if share is None else f"{100 * share:.1f}"
            tint = el("span", text, style=f"--share:{(share or 0.0) / largest:.2f}")
            cells.append(Cell(tint, share, "heat"))
        rows.append(cells)
    more = f", {len(shown)} of {part['n_features']}" if part["n_features"] > len(shown) else ""
    return [
        el(
            "p",
            f"Per cent of the {part['measure'].removeprefix('share of the ')}, mean over the runs; first the "
            f"features that matter most over all methods{more}. The stronger the tint, the larger. Shares "
            "say what the trees used, not what would be lost without it: of two features that say the same, one "
            "may have all of it.",
        ),
        table(
            f"Importances in per cent: {part['measure']}",
            columns,
            rows,
            frameworks=[m.framework for m, _ in found],
            class_="heatmap",
        ),
    ]


def time(view: View) -> Child:
    """Return the time of a round against the metric."""
    timed = [
        m for m in view.methods if m.summary["seconds_per_round"] and m.summary["test"][view.metric]["mean"] is not None
    ]
    if not timed:
        return None
    x = Scale.around([1e3 * m.summary["seconds_per_round"] for m in timed], logarithmic=True)
    y = Scale.around([m.summary["test"][view.metric]["mean"] for m in timed])
    points = [
        (
            m,
            1e3 * m.summary["seconds_per_round"],
            m.summary["test"][view.metric]["mean"],
            f": {m.row.milliseconds} ms per round, {view.metric} {short(m.summary['test'][view.metric]['mean'])}",
        )
        for m in timed
    ]
    chart = scatter(
        points,
        x,
        y,
        x_label="milliseconds per round (logarithmic)",
        y_label=f"{view.metric} on test",
        described=f"Points: milliseconds per round against {view.metric} on test for {len(points)} methods; the table "
        "below has the figures.",
    )
    seconds = {(e["framework"], e["method"]): e for e in view.detail("seconds") or []}
    columns = [
        Column("method", numbers=False),
        Column("framework", numbers=False),
        Column("ms/round", descending=False),
        Column("rounds", descending=False),
        Column("whole training, s", descending=False),
        Column(f"{view.metric} on test", descending=view.sign > 0),
    ]
    rows = []
    for m in timed:
        whole = seconds.get((m.framework, m.name), {}).get("training")
        rows.append(
            [
                Cell(label(m), m.name.lower()),
                Cell(m.framework, m.framework),
                number(1e3 * m.summary["seconds_per_round"], ".1f"),
                number(m.summary["rounds"], ".0f"),
                number(whole, ".2f"),
                value(m.summary["test"][view.metric]["mean"]),
            ]
        )
    shapes = [name for name, _ in of_frameworks(timed)]
    forms = f" Discs are {shapes[0]}, diamonds {' and '.join(shapes[1:])}." if len(shapes) > 1 else ""
    best = "Further up and to the left" if view.sign > 0 else "Further down and to the left"
    return [
        el(
            "figure",
            el("figcaption", f"{best} is better.{forms} {report.about_times(view.document)}", id="about-time"),
            el("div", chart, key_of(view, [m for m in timed if m.colour != "c0"], timed), class_="beside-legend"),
            role="group",
            aria_labelledby="about-time",
        ),
        folded(
            "Times as a table",
            table("Time per round and per training", columns, rows, frameworks=[m.framework for m in timed]),
        ),
    ]
