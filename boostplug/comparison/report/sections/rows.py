"""Rows of methods with a plot: differences to each framework's reference, and queries won and lost."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from boostplug.comparison.report.charts import Scale, axis_texts, percent_of
from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.view import Shown, View, label, of_frameworks
from boostplug.comparison.report.words import about_differences, percent, verdicts
from boostplug.comparison.summary import SIGNIFICANT, Contrast

_TYPICAL = 4  # multiple of the median reach; intervals beyond it are cut at the end of the axis


def differences(view: View) -> Child:
    """Return the forest plot: a row per method, grouped by framework, on a common axis."""
    found = {m.number: contrast for m in view.methods if (contrast := Contrast.from_summary(m.summary)) is not None}
    if not found:
        return None
    document = view.document
    axis, cut = _axis_of_differences([*found.values()])
    best_first = sorted(found, key=lambda number: -view.sign * found[number].difference)
    of_number = {m.number: m for m in view.methods}
    legend = (
        f"{view.metric} on test with its {percent(document)} interval; to the {'right' if view.sign > 0 else 'left'} "
        f"is better. Filled and bold: significant (p below {SIGNIFICANT:g}). Hollow and thin: not."
    )
    return [
        [el("p", line) for line in verdicts(document)],
        _plots(
            view,
            "forest",
            [of_number[number] for number in best_first],
            lambda method: _forest_row(method, found[method.number], axis),
            "difference to",
            legend,
            _axis_row(axis, view),
        ),
        el("p.note", "An arrow at the edge: the interval goes on beyond the axis.") if cut else None,
        el(
            "div.prose",
            el("h3", "How to read the interval and p"),
            [el("p", line) for line in about_differences(document)],
            el(
                "p",
                "The interval shows how far the mean difference could move with other test queries. It does not cover "
                "other training data. p is the probability of a difference at least this large if both methods were "
                "equally good. It is corrected for the number of methods, except for the best on validation, which was "
                "chosen before the test. Intervals are not corrected, so near .05 interval and p may disagree. "
                "A p above .05 does not prove that there is no difference.",
            ),
        ),
    ]


def _plots(
    view: View,
    kind: str,
    methods: Sequence[Shown],
    row: Callable[[Shown], Markup],
    title: str,
    legend: Child,
    head: Child = None,
) -> list[Markup]:
    """Return a figure for each framework's methods; the reader shows or hides frameworks."""
    figures = []
    frameworks = [name for name, _ in of_frameworks(view.methods)]
    for framework, of_one in of_frameworks(methods):
        name = f"{kind}-{frameworks.index(framework)}"
        against = f"{title} {of_one[0].summary.reference}"
        heading = f"{framework}: {against}" if view.several else against[0].upper() + against[1:]
        caption = el("figcaption", el("h3", heading), el("p", legend), id=name)
        rows = el("ul.rows", map(row, sorted(of_one, key=methods.index)))
        figures.append(
            el(f"figure.{kind}", caption, head, rows, role="group", aria_labelledby=name, data_framework=framework)
        )
    return figures


def _axis_of_differences(found: Sequence[Contrast]) -> tuple[Scale, bool]:
    """Return the common axis, and whether some interval exceeds it: the worst methods must not stretch it."""
    values = [[one.difference, *(one.interval or ())] for one in found]
    reach = [max(map(abs, of_one)) for of_one in values]
    typical = sorted(reach)[len(reach) // 2]
    bound = max(min(max(reach), _TYPICAL * typical), 1e-6)
    kept = [0.0, *(min(bound, max(-bound, v)) for of_one in values for v in of_one)]
    return Scale.around(kept), max(reach) > bound


def _axis_row(axis: Scale, view: View) -> Markup:
    texts = [
        el("text.across", text if tick <= 0 else f"+{text}", x=percent_of(axis.at(tick)), y=14)
        for tick, text in zip(axis.ticks, axis_texts(axis.ticks), strict=True)
    ]
    return el(
        "div.row head",
        el("span", "method"),
        el("svg", texts, height=18, width="100%"),
        el("span.n", f"Δ [{percent(view.document)}]"),
        el("span.n", "p"),
        aria_hidden="true",
    )


def _row(class_: str, method: Shown, plot: Child, *columns: Child, number: int | None = None) -> Markup:
    """Return a method's row: its name, a plot, and figures."""
    drawn = el("span.plot", el("svg", plot, aria_hidden="true"))
    return el(f"li.row{class_}", el("span.who", label(method)), drawn, *columns, data_m=number)


def _forest_row(method: Shown, found: Contrast, axis: Scale) -> Markup:
    drawn: list[Child] = [_upright(axis.at(tick), "grid") for tick in axis.ticks]
    drawn.append(_upright(axis.at(0), "zero"))
    if ends := found.interval:
        low, high = (percent_of(axis.within(end)) for end in ends)
        drawn.append(el("line.whisker", x1=low, x2=high, y1="50%", y2="50%"))
        if ends[0] < axis.low:
            drawn.append(el("svg.arrow", el("path", d="M8 -5 0 0 8 5"), x=0, y="50%"))
        if ends[1] > axis.high:
            drawn.append(el("svg.arrow", el("path", d="M-8 -5 0 0 -8 5"), x="100%", y="50%"))
    place = axis.at(found.difference)
    if 0 <= place <= 1:
        shape = el("circle", r=5) if method.shape == 0 else el("path", d="M-6 0 0-6 6 0 0 6Z")
        drawn.append(el("svg.point", shape, x=percent_of(place), y="50%"))
    cell = method.difference
    return _row(
        f" {method.classes} {'clear' if method.is_clear else 'unclear'}",
        method,
        drawn,
        el("span.n", cell.shown, " ", el("small", cell.after)),
        el("span.n p", el("span.aside", "p "), method.p.shown),
        el("span.word", cell.verdict) if method.is_clear else None,
        number=method.number,
    )


def _upright(place: float, class_: str) -> Markup:
    return el(f"line.{class_}", x1=percent_of(place), x2=percent_of(place), y1=0, y2="100%")


def queries(view: View) -> Child:
    """Return the numbers of test queries that each method won and lost against its reference."""
    methods = [m for m in view.methods if m.details.outcomes]
    if not methods:
        return None
    legend = [
        *([el(f"span.key {kind}"), f"{word} "] for kind, word in (("wins", "won"), ("ties", "tied"))),
        el("span.key losses"),
        f"lost, by {view.metric} on test, mean over seeds (tied: values less than {view.details.tied_below:g} apart). ",
        "Sorted by won less lost; the line is at half of the queries.",
    ]
    best_first = sorted(methods, key=lambda m: m.details.outcomes[2] - m.details.outcomes[0])
    return _plots(view, "outcomes", best_first, _outcome_row, "queries against", legend)


def _outcome_row(method: Shown) -> Markup:
    counts = method.details.outcomes
    total = sum(counts) or 1
    places = [sum(counts[:i]) / total for i in range(4)]
    bars = [
        el(f"rect.{kind}", x=percent_of(a), width=percent_of(b - a), y="50%", height=16)
        for (a, b), kind in zip(pairwise(places), ("wins", "ties", "losses"), strict=True)
        if b > a
    ]
    words = [
        [el(f"span.{word[1]}", f"{count:,}"), el("span.unseen", word), el("i", " / ") if word != " lost" else None]
        for count, word in zip(counts, (" won", " tied", " lost"), strict=True)
    ]
    return _row("", method, [bars, _upright(0.5, "zero")], el("span.n", words))
