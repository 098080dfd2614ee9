"""The differences to each framework's LambdaMART with their intervals: a forest plot, and how to read it."""

from collections.abc import Sequence

from boostplug.comparison.report.charts import Scale, axis_texts, percent_of
from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.view import Shown, View, label, of_framework, of_frameworks
from boostplug.comparison.report.words import SIGNIFICANT, about_differences, percent, verdicts
from boostplug.comparison.summary import Contrast

_TYPICAL = 4  # times the median reach: what is beyond leaves the axis


def differences(view: View) -> Child:
    """Return the forest plot: a row per method, the frameworks apart, on one axis."""
    found = {m.number: contrast for m in view.methods if (contrast := Contrast.of(m.summary)) is not None}
    if not found:
        return None
    document = view.document
    axis, cut = _axis_of_differences([*found.values()])
    better = "to the right is better" if view.sign > 0 else "to the left is better"
    groups = []
    for framework, of_one in of_frameworks([m for m in view.methods if m.number in found]):
        of_one.sort(key=lambda m: -view.sign * found[m.number].difference)
        legend = (
            f"{view.metric} on test with its {percent(document)} interval; {better}. Filled and bold: "
            f"significant (p below {SIGNIFICANT:g}). Hollow and thin: not."
        )
        rows = el("ul", [_forest_row(m, found[m.number], axis) for m in of_one], class_="rows")
        title = f"difference to {found[of_one[0].number].reference}"
        groups.append(of_framework(view, framework, "forest", title, legend, _axis_row(axis, view), rows))
    return [
        [el("p", line) for line in verdicts(document)],
        groups,
        el("p", "An arrow at the edge: the interval goes on beyond the axis.", class_="note") if cut else None,
        el(
            "div",
            el("h3", "How to read the interval and p"),
            [el("p", line) for line in about_differences(document)],
            el(
                "p",
                "The interval shows how far the mean difference could move with other test queries. It does not cover "
                "other training data. p is the probability of a difference at least this large if both methods were "
                "equally good. It is corrected for the number of methods, except for the recommended one, which the "
                "validation part chose before. Intervals are not corrected, so near .05 interval and p may disagree. "
                "A p above .05 does not prove that there is no difference.",
            ),
            class_="prose",
        ),
    ]


def _axis_of_differences(found: Sequence[Contrast]) -> tuple[Scale, bool]:
    """Return the axis of all methods, and whether some interval is beyond it: the worst ones must not rule it."""
    values = [[one.difference, *(one.interval or ())] for one in found]
    reach = [max(map(abs, of_one)) for of_one in values]
    typical = sorted(reach)[len(reach) // 2]
    bound = max(min(max(reach), _TYPICAL * typical), 1e-6)
    kept = [0.0, *(min(bound, max(-bound, v)) for of_one in values for v in of_one)]
    return Scale.around(kept), max(reach) > bound


def _axis_row(axis: Scale, view: View) -> Markup:
    values = axis.ticks
    texts = [
        el("text", text if tick <= 0 else f"+{text}", x=percent_of(axis.at(tick)), y=14, class_="across")
        for tick, text in zip(values, axis_texts(values), strict=True)
    ]
    return el(
        "div",
        el("span", "method"),
        el("svg", texts, height=18, width="100%"),
        el("span", f"Δ [{percent(view.document)}]", class_="n"),
        el("span", "p", class_="n"),
        class_="row head",
        aria_hidden="true",
    )


def _forest_row(method: Shown, found: Contrast, axis: Scale) -> Markup:
    difference = method.difference
    clear = bool(difference.verdict)
    y = "50%"
    drawn: list[Child] = [
        el("line", x1=percent_of(axis.at(tick)), x2=percent_of(axis.at(tick)), y1=0, y2="100%", class_="grid")
        for tick in axis.ticks
    ]
    drawn.append(el("line", x1=percent_of(axis.at(0)), x2=percent_of(axis.at(0)), y1=0, y2="100%", class_="zero"))
    if ends := found.interval:
        low, high = (axis.within(end) for end in ends)
        drawn.append(el("line", x1=percent_of(low), x2=percent_of(high), y1=y, y2=y, class_="whisker"))
        if ends[0] < axis.low:
            drawn.append(el("svg", el("path", d="M8 -5 0 0 8 5"), x=0, y=y, class_="arrow"))
        if ends[1] > axis.high:
            drawn.append(el("svg", el("path", d="M-8 -5 0 0 -8 5"), x="100%", y=y, class_="arrow"))
    from_axis = axis.at(found.difference)
    if 0 <= from_axis <= 1:
        shape = el("circle", r=5) if method.shape == 0 else el("path", d="M-6 0 0-6 6 0 0 6Z")
        drawn.append(el("svg", shape, x=percent_of(from_axis), y=y, class_="point"))
    better = {1: "better", -1: "worse", 0: ""}[difference.verdict]
    return el(
        "li",
        el("span", label(method), class_="who"),
        el("span", el("svg", drawn, aria_hidden="true"), class_="plot"),
        el("span", difference.shown, " ", el("small", difference.after), class_="n"),
        el("span", el("span", "p ", class_="aside"), method.p.shown, class_="n p"),
        el("span", better, class_="word") if better else None,
        class_=f"row {method.classes} {'clear' if clear else 'unclear'}",
        data_m=method.number,
    )
