"""Lines: validation metric by round, NDCG by cut-off, observed by predicted probabilities, clicks by position."""

from collections.abc import Iterable, Sequence
from math import ceil

from boostplug.comparison.report.charts import Scale, Series, line_chart
from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.report_table import NONE, Cell, Column, short, value
from boostplug.comparison.report.view import Shown, View, figure, key_of, legend, method_table
from boostplug.comparison.summary import Numbers

_MOST_POINTS = 200  # of a curve


def curves(view: View) -> Child:
    """Return the learning curves."""
    methods = [m for m in view.methods if any(run.values for run in m.details.curves)]
    if not methods:
        return None
    metric = view.metric
    caption = f"{metric} on the validation part after each round"
    if len(view.document.settings.seeds) * view.folds > 1:
        caption += (
            ", mean over the runs; one that has stopped counts on with its last value. The mark is at the mean best "
            "round. "
        )
    else:
        caption += ". The mark is at the best round. "
    caption += "Lines without a colour are the other methods."
    return figure("curves", caption, _learning_curves(metric, methods), legend(view, methods))


def _learning_curves(metric: str, methods: Sequence[Shown]) -> Markup:
    """Return the chart of each method's mean curve."""
    series = []
    for method in methods:
        mean = _mean_curve([run.values for run in method.details.curves if run.values])
        rounds = method.summary.rounds or 0.0
        marked = [min(mean, key=lambda point: abs(point[0] - rounds))] if mean else []
        series.append(Series(method, mean, marked))
    across = Scale(1.0, max([2.0, *(one.points[-1][0] for one in series if one.points)]))
    ticks = [(tick, f"{tick:g}") for tick in across.ticks if tick >= 1 and tick == int(tick)]
    if not ticks or ticks[0][0] > 1:
        ticks = [(1.0, "1"), *(tick for tick in ticks if across.at(tick[0]) > 0.04)]
    return line_chart(
        series,
        across,
        Scale.around(_in_sight(series)),
        ticks,
        x_label="rounds",
        y_label=f"{metric} on validation",
    )


def _mean_curve(runs: Sequence[Numbers]) -> list[tuple[float, float]]:
    """Return (round, mean over the runs), thinned; a stopped run keeps its last value."""
    length = max(map(len, runs), default=0)
    points = []
    for i in sorted({*range(0, length, ceil(length / _MOST_POINTS) or 1), length - 1} if runs else ()):
        known = [v for run in runs if (v := run[min(i, len(run) - 1)]) is not None]
        if known:
            points.append((float(i + 1), sum(known) / len(known)))
    return points


def _in_sight(series: Sequence[Series]) -> list[float]:
    """Return the values that the axis must hold: coloured lines without the first rounds, which are far off."""
    coloured = [one for one in series if one.method.coloured] or list(series)
    return [v for one in coloured for _, v in [*one.points[len(one.points) // 10 :], *one.marked]]


def cutoffs(view: View) -> Child:
    """Return differences to a reference in NDCG by cut-off; the NDCG itself looks alike for all methods."""
    at, name = view.details.cutoffs, view.details.cutoff_metric
    methods = [m for m in view.methods if any(mean is not None for mean in m.details.cutoffs)]
    if not methods:
        return None
    base = _reference_of_all(methods)
    own: Numbers = [0.0] * len(at) if base is None else base.details.cutoffs
    series = []
    for method in methods:
        known = [(i, mean) for i, mean in enumerate(method.details.cutoffs) if mean is not None]
        points = [(float(i), mean - less) for i, mean in known if (less := own[i]) is not None]
        series.append(Series(method, points, points))
    minus = "" if base is None else f" less that of {base.full_name if view.several else base.name}"
    chart = line_chart(
        series,
        Scale(0.0, max(1.0, len(at) - 1.0)),
        Scale.around([v for one in series if one.method.coloured for _, v in one.points] or [0.0, 1.0]),
        [(float(i), str(k)) for i, k in enumerate(at)],
        x_label="cut-off k",
        y_label=f"{name}@k on test{minus}",
    )
    caption = (
        f"{name} of the first k documents, mean over the test queries{minus and f',{minus}'}. "
        + ("" if base is None else f"{base.name} itself: {_first_middle_last(name, at, own)}. ")
        + "In colour are those chosen at the learning curves; the grey lines are the other methods."
    )
    columns = [Column(f"@{k}") for k in at]
    table = method_table(f"{name} by cut-off, test means", columns, methods, lambda m: [*map(value, m.details.cutoffs)])
    return figure("cutoffs", caption, chart, key_of(view, methods), table)


def _reference_of_all(methods: Sequence[Shown]) -> Shown | None:
    """Return the recommended method's reference, else the best one, or None."""
    frameworks = [method.framework for method in methods if method.recommended]
    references = [method for method in methods if method.reference]
    return min(references, key=lambda method: method.framework not in frameworks, default=None)


def _first_middle_last(name: str, at: Sequence[int], means: Numbers) -> str:
    known = [f"{short(mean)} in {name}@{k}" for k, mean in zip(at, means, strict=True) if mean is not None]
    return ", ".join(dict.fromkeys([known[0], known[len(known) // 2], known[-1]]))


def reliability(view: View) -> Child:
    """Return the reliability curves of the coloured methods; None if no metric evaluates probabilities."""
    found = [m for m in view.methods if m.details.bins]
    methods = [m for m in found if m.coloured]
    if not methods:
        return None
    chart = line_chart(
        _marked_lines((m, [(one.predicted, one.observed) for one in m.details.bins]) for m in methods),
        Scale(0.0, 1.0),
        Scale(0.0, 1.0),
        x_label="mean predicted probability",
        y_label="mean label / max_grade",
        joined=[(0.0, 0.0), (1.0, 1.0)],
    )
    n = max(len(method.details.bins) for method in methods)

    def cells(method: Shown) -> list[Cell]:
        bins = [
            f"{short(one.predicted)}: {short(one.observed)} ({100 * one.share:.0f} %)" for one in method.details.bins
        ]
        return [*map(Cell, bins), *[Cell(NONE)] * (n - len(bins))]

    columns = [Column(f"bin {i + 1}") for i in range(n)]
    table = method_table("Predicted: observed (share of documents)", columns, methods, cells)
    caption = "Test documents in bins of the predicted probability, all runs together."
    return [
        el(
            "p",
            "Calibrated scores lie on the grey diagonal: of documents with probability .3, three in ten are relevant. "
            "Below it, probabilities are too high. Scores are read as logits, as LogisticError and "
            "CalibratedSoftmax make them. Those of regression, lambdarank and losses on pairs have no such meaning.",
        ),
        figure("reliability", caption, chart, key_of(view, found), table),
    ]


def positions(view: View) -> Child:
    """Return the click curves of the coloured methods; None if none learns from clicks at positions."""
    found = [m for m in view.methods if m.details.positions]
    methods = [m for m in found if m.coloured]
    n = max((len(method.details.positions) for method in methods), default=0)
    if n < 2:
        return None
    lines = _marked_lines((m, [(k, y) for k, y in enumerate(m.details.positions, 1) if y is not None]) for m in methods)
    chart = line_chart(
        lines,
        Scale(1.0, float(n)),
        Scale(0.0, max([1.0, *(y for one in lines for _, y in one.points)])),
        x_label="position",
        y_label="relative to position 1",
    )

    def cells(method: Shown) -> list[Cell]:
        curve = method.details.positions
        return [*(Cell(short(y)) for y in curve), *[Cell(NONE)] * (n - len(curve))]

    columns = [Column(str(k + 1)) for k in range(n)]
    table = method_table("Relative to position 1", columns, methods, cells)
    caption = "Clicks by position as the losses see them, the mean over runs."
    return [
        el(
            "p",
            "How much rarer clicks are further down, for documents of equal relevance. Each method corrects this "
            "curve: it was given, or estimated on the validation part at the best round.",
        ),
        figure("positions", caption, chart, key_of(view, found), table),
    ]


def _marked_lines(found: Iterable[tuple[Shown, list[tuple[float, float]]]]) -> list[Series]:
    """Return a line for each method with a mark at each point."""
    return [Series(method, points, points) for method, points in found]
