"""Predicted probabilities beside what was observed: the reliability curve."""

from boostplug.comparison.report.charts import Scale, Series, line_chart
from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.tables import NONE, Cell, Column, short
from boostplug.comparison.report.view import View, figure, folded, key_of, method_table


def reliability(view: View) -> Child:
    """Return the curves of the methods in colour; None where no metric judges probabilities."""
    found = view.entries(lambda details: details.reliability.methods)
    coloured = [(method, entry) for method, entry in found if method.coloured]
    if not coloured:
        return None
    series = [
        Series(
            method,
            [(p, y) for p, y in zip(entry.predicted, entry.observed, strict=True) if p is not None and y is not None],
            every=True,
        )
        for method, entry in coloured
    ]
    chart = line_chart(
        series,
        Scale(0.0, 1.0),
        Scale(0.0, 1.0),
        x_label="mean predicted probability",
        y_label="mean label / max_grade",
        described=f"Lines: what was observed against the predicted probability, in bins, for {len(series)} methods; "
        "the table below has the figures.",
        joined=[(0.0, 0.0), (1.0, 1.0)],
    )
    n = max(len(entry.predicted) for _, entry in coloured)
    rows = [
        (
            method,
            [
                Cell(
                    f"{short(entry.predicted[i])}: {short(entry.observed[i])} ({100 * (entry.shares[i] or 0.0):.0f} %)"
                    if i < len(entry.predicted)
                    else NONE
                )
                for i in range(n)
            ],
        )
        for method, entry in coloured
    ]
    return [
        el(
            "p",
            "Calibrated scores lie on the grey diagonal: of documents with probability .3, three in ten are relevant. "
            "Below it, probabilities are too high. Scores are read as logits, as LogisticError and "
            "CalibratedSoftmax make them. Those of regression, lambdarank and losses on pairs have no such meaning.",
        ),
        figure(
            "reliability",
            "Test documents in bins of the predicted probability, all runs together.",
            chart,
            key_of(view, [method for method, _ in found]),
        ),
        folded(
            "Bins as a table",
            method_table("Predicted: observed (share of documents)", [Column(f"bin {i + 1}") for i in range(n)], rows),
        ),
    ]
