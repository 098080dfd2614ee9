"""Lines: the validation metric by round, and NDCG by cut-off."""

from collections.abc import Sequence
from math import ceil
from statistics import fmean

from boostplug.comparison.report.charts import Scale, Series, line_chart
from boostplug.comparison.report.markup import Child, Markup
from boostplug.comparison.report.tables import NONE, Cell, Column, number, short, value
from boostplug.comparison.report.view import (
    MethodColumn,
    Shown,
    View,
    columns_table,
    figure,
    folded,
    key_of,
    legend,
    method_table,
)
from boostplug.comparison.summary import MethodCurves

_MOST_POINTS = 200  # of a curve


def curves(view: View) -> Child:
    """Return the learning curves."""
    found = [
        (method, entry)
        for method, entry in view.entries(lambda details: details.curves.methods)
        if any(run.values for run in entry.runs)
    ]
    if not found:
        return None
    metric = view.metric
    columns: list[MethodColumn[MethodCurves]] = [
        (
            Column(f"best {metric}", descending=view.sign > 0, sorted_by=True),
            lambda m, _: value(m.summary.validation.mean),
        ),
        (Column("best round", descending=False), lambda m, _: number(m.summary.rounds, ".0f")),
        (
            Column("of the runs", descending=False),
            lambda m, entry: Cell(_span([run.best_round for run in entry.runs]), m.summary.rounds),
        ),
        (Column("at the end", descending=view.sign > 0), lambda _, entry: value(_mean_of_ends(entry))),
    ]
    several = len(view.document.settings.seeds) * view.folds > 1
    caption = (
        f"{metric} on the validation part after each round"
        + (", mean over the runs; one that has stopped counts on with its last value. " if several else ". ")
        + _about_marks(view, several=several)
        + "Lines without a colour are the other methods."
    )
    return [
        figure("curves", caption, _chart(metric, found), legend(view, [method for method, _ in found])),
        folded("Best values and rounds as a table", columns_table("Best rounds", found, columns)),
    ]


def _chart(metric: str, found: Sequence[tuple[Shown, MethodCurves]]) -> Markup:
    """Return the mean curve of each method."""
    series = []
    for method, entry in found:
        mean = _mean_curve([run.values for run in entry.runs])
        best, rounds = method.summary.validation.mean, method.summary.rounds or 0.0  # not 0: it has finished runs
        marked = min(mean, key=lambda point: abs(point[0] - rounds), default=None)
        note = "" if best is None else f": {short(best)} after {rounds:.0f} rounds"
        series.append(Series(method, mean, marked, note))
    longest = max((one.points[-1][0] for one in series if one.points), default=1.0)
    across = Scale(1.0, max(2.0, longest))
    ticks = [(tick, f"{tick:g}") for tick in across.ticks if tick >= 1 and tick == int(tick)]
    if not ticks or ticks[0][0] > 1:
        ticks = [(1.0, "1"), *(tick for tick in ticks if across.at(tick[0]) > 0.04)]
    first = found[0][0]
    described = (
        f"Lines: {metric} on the validation part after each round, for {len(series)} methods. "
        f"{first.full_name} is best: {short(first.summary.validation.mean)} after "
        f"{first.summary.rounds or 0:.0f} rounds. The table below has the best value and round of each method."
    )
    return line_chart(
        series,
        across,
        Scale.around(_in_sight(series)),
        ticks,
        x_label="rounds",
        y_label=f"{metric} on validation",
        described=described,
    )


def _about_marks(view: View, *, several: bool) -> str:
    if not several:
        return "The mark is at the best round. "
    beyond = "higher" if view.sign > 0 else "lower"
    return f"The mark is at the mean best round; the runs' own best values, in the table, are {beyond} on average. "


def _mean_of_ends(entry: MethodCurves) -> float | None:
    """Return the mean over the runs of the value after the last round."""
    known = [end for run in entry.runs if run.values and (end := run.values[-1]) is not None]
    return fmean(known) if known else None


def _span(values: Sequence[int | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    return f"{min(known)}–{max(known)}" if min(known) < max(known) else f"{known[0]}"


def _mean_curve(runs: Sequence[Sequence[float | None]]) -> list[tuple[float, float]]:
    """Return (round, mean over the runs), thinned; a run that has stopped counts on with its last value."""
    runs = [run for run in runs if run]
    if not runs:
        return []
    length = max(map(len, runs))
    step = ceil(length / _MOST_POINTS)
    rounds = sorted({*range(0, length, step), length - 1})
    points = []
    for i in rounds:
        values = [run[min(i, len(run) - 1)] for run in runs]
        known = [value for value in values if value is not None]
        if known:
            points.append((float(i + 1), sum(known) / len(known)))
    return points


def _in_sight(series: Sequence[Series]) -> list[float]:
    """Return the values that the axis must hold: those in colour, without the first rounds, which are far off."""
    coloured = [one for one in series if one.method.coloured] or list(series)
    values = []
    for one in coloured:
        values += [v for _, v in one.points[len(one.points) // 10 :]]
        values += [] if one.marked is None else [one.marked[1]]
    return values


def cutoffs(view: View) -> Child:
    """Return NDCG over cut-offs: the lines are differences to a reference, beside which all else looks alike."""
    if view.details is None:
        return None
    part = view.details.cutoffs
    found = [(m, e) for m, e in view.entries(lambda _: part.methods) if any(mean is not None for mean in e.means)]
    if not found:
        return None
    at, name = part.at, part.metric
    base = _reference_of_all([method for method, _ in found])
    own = next((entry.means for method, entry in found if method is base), [0.0] * len(at))
    series = []
    for method, entry in found:
        known = [(i, mean) for i, mean in enumerate(entry.means) if mean is not None]
        points = [(float(i), mean - less) for i, mean in known if (less := own[i]) is not None]
        note = ": " + ", ".join(f"{name}@{at[i]} {short(mean)}" for i, mean in known)
        series.append(Series(method, points, note=note, every=True))
    minus = "" if base is None else f" less that of {base.full_name if view.several else base.name}"
    chart = line_chart(
        series,
        Scale(0.0, max(1.0, len(at) - 1.0)),
        Scale.around([v for one in series if one.method.coloured for _, v in one.points] or [0.0, 1.0]),
        [(float(i), str(k)) for i, k in enumerate(at)],
        x_label="cut-off k",
        y_label=f"{name}@k on test{minus}",
        described=f"Lines: {name} on test{minus} at the cut-offs {', '.join(map(str, at))} for {len(series)} methods; "
        "the table below has all values.",
    )
    caption = (
        f"{name} of the first k documents, mean over the test queries{minus and f',{minus}'}. "
        + ("" if base is None else f"{base.name} itself: {_listed(name, at, own)}. ")
        + "In colour are those chosen at the learning curves; the grey lines are the other methods."
    )
    shown = method_table(
        f"{name} by cut-off, test means",
        [Column(f"@{k}") for k in at],
        [(method, [*map(value, entry.means)]) for method, entry in found],
    )
    return [
        figure("cutoffs", caption, chart, key_of(view, [method for method, _ in found])),
        folded(f"{name} at all cut-offs as a table", shown),
    ]


def _reference_of_all(methods: Sequence[Shown]) -> Shown | None:
    """Return the recommended method's reference, else the best one, None where there is none."""
    chosen = next((method for method in methods if method.recommended), None)
    references = [method for method in methods if method.reference]
    its_own = [method for method in references if chosen is not None and method.framework == chosen.framework]
    return next(iter(its_own or references), None)


def _listed(name: str, at: Sequence[int], means: Sequence[float | None]) -> str:
    """Return the first, the middle and the last of means at cut-offs."""
    known = [(k, mean) for k, mean in zip(at, means, strict=True) if mean is not None]
    chosen = {0: None, len(known) // 2: None, len(known) - 1: None}
    return ", ".join(f"{short(known[i][1])} in {name}@{known[i][0]}" for i in chosen)
