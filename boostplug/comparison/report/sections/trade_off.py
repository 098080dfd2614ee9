"""Trade-off of a sweep: two metrics against each other, and the methods that no other beats on both."""

from boostplug.comparison.report.charts import Scale, scatter
from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.tables import Cell, Column, short, value
from boostplug.comparison.report.view import View, figure, key_of, method_table


def trade_off(view: View) -> Child:
    """Return the picture and the table of a sweep; None where there was none."""
    found = view.document.trade_off
    if found is None:
        return None
    first, second = found.metrics
    front = {one.key for one in found.front}
    points = [
        (m, a, b)
        for m in view.methods
        if (a := m.summary.test[first].mean) is not None and (b := m.summary.test[second].mean) is not None
    ]
    if not points:
        return None
    chart = scatter(
        [(m, a, b, f": {first} {short(a)}, {second} {short(b)}") for m, a, b in points],
        Scale.around([a for _, a, _ in points]),
        Scale.around([b for *_, b in points]),
        x_label=f"{first} on test",
        y_label=f"{second} on test",
        described=f"Points: {first} against {second} on test for {len(points)} methods; the table below has the "
        "figures. A line joins those that no other beats on both.",
        joined=sorted((a, b) for m, a, b in points if m.summary.key in front),
    )
    columns = [Column(f"{first} on test"), Column(f"{second} on test"), Column("beaten on both", numbers=False)]
    rows = [(m, [value(a), value(b), Cell("no" if m.summary.key in front else "yes")]) for m, a, b in points]
    key = key_of(view, [m for m, *_ in points])
    return [
        el(
            "p",
            f"Sums of two losses along a grid of weights. A method is worth a look where no other is better on both "
            f"{first} and {second}. These are means on the test part: choose a weight on the validation part.",
        ),
        figure("trade-off", f"{second} against {first}, mean on the test part. The line joins the front.", chart, key),
        method_table(f"{first} and {second} on the test part", columns, rows),
    ]
