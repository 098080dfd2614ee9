"""The table of all methods."""

from boostplug.comparison import report
from boostplug.comparison.report import percent
from boostplug.comparison.webpage.markup import Child, el
from boostplug.comparison.webpage.methods import label
from boostplug.comparison.webpage.tables import Cell, Column, table, value
from boostplug.comparison.webpage.view import View

__all__ = ["methods"]


def methods(view: View) -> Child:
    """Return the table of all methods."""
    document = view.document
    settings = document["settings"]
    lower = set(settings["lower_is_better"])
    columns = [
        Column("method", numbers=False),
        Column("framework", numbers=False),
        Column("validation", descending=view.sign > 0, sorted_by=True),
        *(
            Column(head, descending=name not in lower)
            for head, name in zip(report.metric_heads(document), settings["metrics"], strict=True)
        ),
        Column(f"Δ [{percent(document)}]", descending=view.sign > 0),
        Column("p", descending=False),
        Column("ms/round", descending=False),
        Column("rounds", descending=False),
    ]
    rows = []
    for method in view.methods:
        summary, row = method.summary, method.row
        cells = [Cell(label(method), method.name.lower()), Cell(method.framework, method.framework)]
        cells.append(value(summary["validation"]["mean"]))
        for name, (mean, spread), best in zip(settings["metrics"], row.metrics, row.best, strict=True):
            shown: list[Child] = [el("b", mean) if best else mean]
            if spread:
                shown.append(el("small", f" ± {spread}"))
            cells.append(Cell(shown, summary["test"][name]["mean"]))
        sign = {1: "up", -1: "down", 0: ""}[row.verdict]
        keys = (summary["difference"], summary["p_holm"])
        cells += [Cell(shown, key, sign) for shown, key in zip(row.verdict_cells, keys, strict=True)]
        keys = (summary["seconds_per_round"], summary["rounds"])
        cells += [Cell(shown, key) for shown, key in zip(row.cost_cells, keys, strict=True)]
        rows.append(cells)
    frameworks = [method.framework for method in view.methods]
    marked = " ▲ ▼ and bold: significantly better or worse than the reference (corrected p)."
    return [
        table(
            f"Means on test; validation: {view.metric} there, best first",
            columns,
            rows,
            frameworks=frameworks,
            class_="wide",
            described_by="about-table",
        ),
        el(
            "div",
            el("p", report.about_means(document), marked if any(m.row.verdict for m in view.methods) else None),
            [el("p", line) for line in report.about_differences(document)],
            el("p", report.about_times(document)),
            class_="note",
            id="about-table",
        ),
    ]
