"""Position bias, for methods that learn from clicks."""

from boostplug.comparison.report.charts import Scale, Series, line_chart
from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.tables import NONE, Cell, Column, short
from boostplug.comparison.report.view import View, figure, folded, key_of, method_table


def positions(view: View) -> Child:
    """Return the curves of the methods in colour; None where none learns from clicks at positions."""
    found = view.entries(lambda details: details.positions.methods)
    coloured = [(method, entry) for method, entry in found if method.coloured]
    n = max((len(entry.relative) for _, entry in coloured), default=0)
    if n < 2:
        return None
    series = [
        Series(method, [(float(k), y) for k, y in enumerate(entry.relative, 1) if y is not None], every=True)
        for method, entry in coloured
    ]
    largest = max((y for entry in (e for _, e in coloured) for y in entry.relative if y is not None), default=1.0)
    chart = line_chart(
        series,
        Scale(1.0, float(n)),
        Scale(0.0, max(1.0, largest)),
        x_label="position",
        y_label="relative to position 1",
        described=f"Lines: how likely clicks are by position, for {len(series)} methods; the table below has the "
        "figures.",
    )
    rows = [
        (method, [Cell(short(entry.relative[k]) if k < len(entry.relative) else NONE) for k in range(n)])
        for method, entry in coloured
    ]
    return [
        el(
            "p",
            "How much rarer clicks are further down, for documents of equal worth. Each method corrects this curve: "
            "it was given, or estimated on the validation part at the best round.",
        ),
        figure(
            "positions",
            "Clicks by position as the losses see them, the mean over runs.",
            chart,
            key_of(view, [method for method, _ in found]),
        ),
        folded(
            "Positions as a table", method_table("Relative to position 1", [Column(str(k + 1)) for k in range(n)], rows)
        ),
    ]
