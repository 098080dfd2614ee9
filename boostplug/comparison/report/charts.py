"""Figures as SVG with widths in percent: they follow the width of the page, and letters keep their size.

Curves are drawn in an inner SVG that is stretched to the plot. For a screen reader each figure is one image, named by
its axes; tables of the page have the numbers.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.report_table import without_zero
from boostplug.comparison.report.view import Shown, mark

_HEIGHT = 320  # pixels
_LINE = 16  # least number of pixels between labels
_LETTER = 0.0085  # width of a letter, as a share of the width of a plot that has space for labels
_TURNS = 0.65  # position from which labels stand to the left of their marks
_FEWEST = 4  # smallest number of ticks of an axis
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_LONGEST = 24  # characters of a label at the end of a line; the legend has the full name


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, with positions from 0 to 1 along it; logarithmic if set."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def around(cls, values: Sequence[float], *, margin: float = 0.06, logarithmic: bool = False) -> "Scale":
        """Return an axis that holds all values, with a margin."""
        low, high = min(values), max(values)
        if logarithmic:
            factor = max((high / low) ** margin, 1.15)
            return cls(low / factor, high * factor, logarithmic=True)
        space = margin * (high - low) or 0.05 * abs(high) or 1.0
        return cls(low - space, high + space)

    def at(self, value: float) -> float:
        """Return the position of a value, below 0 or above 1 if it is beyond the axis."""
        if self.logarithmic:
            return log10(value / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def within(self, value: float) -> float:
        """Return the position of a value, or the nearest end of the axis if it is beyond."""
        return min(1.0, max(0.0, self.at(value)))

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the axis."""
        if not self.logarithmic:
            return ticks(self.low, self.high)
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        for steps in ((1, 2, 5), range(1, 10)):
            found = [step * 10.0**decade for decade in decades for step in steps]
            found = [value for value in found if self.low <= value <= self.high]
            if len(found) >= _FEWEST:
                return found
        return ticks(self.low, self.high)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most `most` multiples of a round number from `low` to `high`."""
    least = (high - low) / most
    power = 10.0 ** floor(log10(least))
    step = next(power * factor for factor in _STEPS if power * factor >= least * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [k * step + 0.0 for k in range(first, last + 1)]


@dataclass(frozen=True)
class Series:
    """A method's line: points (position, value), and those of them with a mark."""

    method: Shown
    points: list[tuple[float, float]]
    marked: list[tuple[float, float]]


def percent_of(place: float) -> str:
    """Return a position on an axis as a CSS length."""
    return f"{100 * place:.2f}".rstrip("0").rstrip(".") + "%"


def axis_texts(values: Sequence[float]) -> list[str]:
    """Return the texts of an axis's ticks, with as few decimals as possible."""
    step = min((b - a for a, b in pairwise(values)), default=1.0)
    decimals = max(0, -floor(log10(step) + 1e-9))
    if abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6:  # steps of 2.5
        decimals += 1
    return [without_zero(f"{value:.{decimals}f}") if value else "0" for value in values]


def line_chart(
    series: Sequence[Series],
    x: Scale,
    y: Scale,
    x_ticks: Sequence[tuple[float, str]] | None = None,
    *,
    x_label: str,
    y_label: str,
    joined: Sequence[tuple[float, float]] = (),
) -> Markup:
    """Return lines with the names of the coloured ones at their ends; lines without a colour are behind.

    Parameters
    ----------
    series : sequence of Series
        The most important first.
    x, y : Scale
    x_ticks : sequence of (number, text), optional
        Default: round numbers.
    x_label, y_label : str
    joined : sequence of (number, value), optional
        Points of one more line, in grey.
    """
    lines, marks = [], []
    best_first = sorted(series, key=lambda one: not one.method.coloured)
    for of_one in best_first[::-1]:  # the best is drawn on top
        method = of_one.method
        curve = el("polyline.curve", points=_line(of_one.points, x, y))
        lines.append(_group("", method, el("title", method.full_name), curve))
        places = [(x.at(a), 1 - y.at(value)) for a, value in of_one.marked]
        shown = [mark(method, percent_of(a), percent_of(b), titled=True) for a, b in places if 0 <= b <= 1]
        if shown:
            marks.append(_group("marks", method, shown))
    named = [one for one in series if one.method.coloured and one.points]
    names = _short_names([one.method for one in named])
    wanted = [_HEIGHT * (1 - y.within(one.points[-1][1])) for one in named]
    ends = [
        _group(
            "end",
            one.method,
            el("path.leader", d=f"M2 {wish:.0f}L12 {at:.0f}"),
            el("text", names[one.method.number], x=16, y=f"{at + 4:.0f}"),
        )
        for one, at, wish in zip(named, _apart(wanted), wanted, strict=True)
    ]
    drawn = [_stretched("joined", el("polyline", points=_line(joined, x, y))), _stretched("curves", lines), marks]
    return _framed(drawn, x, y, x_ticks, x_label, y_label, ends)


def _group(kind: str, method: Shown, *children: Child) -> Markup:
    """Return marks of a method in a group, whose colour the reader can change."""
    return el("g", *children, class_=f"{kind} {method.classes}".strip(), data_m=method.number)


def _line(points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> str:
    return " ".join(f"{1000 * x.at(a):.0f},{1000 * (1 - y.at(b)):.0f}" for a, b in points)


def _stretched(class_: str, lines: Child) -> Markup:
    """Return lines over the entire plot, with coordinates from 0 to 1000."""
    box = {"viewBox": "0 0 1000 1000", "preserveAspectRatio": "none"}
    return el(f"svg.{class_}", lines, width="100%", height="100%", **box)


def scatter(
    points: Sequence[tuple[Shown, float, float]],
    x: Scale,
    y: Scale,
    *,
    x_label: str,
    y_label: str,
) -> Markup:
    """Return a mark for each method at (x, y), with the name if it has a colour; the most important first."""
    named = [(method, x.at(a), _HEIGHT * (1 - y.at(b))) for method, a, b in points if method.coloured]
    names = _short_names([method for method, *_ in named])
    places = [(place, height) for _, place, height in named]
    shifts = _label_shifts(places, [_span_of_label(place, names[method.number]) for method, place, _ in named])
    heights = {method.number: shift for (method, *_), shift in zip(named, shifts, strict=True)}
    marks, labels = [], []
    best_first = sorted(points, key=lambda point: not point[0].coloured)
    for method, a, b in best_first[::-1]:  # the best is drawn on top
        place = x.at(a)
        at = {"x": percent_of(place), "y": percent_of(1 - y.at(b))}
        if (shift := heights.get(method.number)) is not None:
            tag, start = ("text.left", -10) if place > _TURNS else ("text", 10)
            text = el(tag, names[method.number], x=start, y=f"{shift + 4:.0f}")
            labels.append(_group("point", method, el("svg.beside", text, **at)))
        marks.append(_group("marks point", method, mark(method, **at, titled=True)))
    n_grey = len(points) - len(named)
    drawn = [marks[:n_grey], labels, marks[n_grey:]]
    return _framed(drawn, x, y, None, x_label, y_label)


def _framed(
    drawn: Child,
    x: Scale,
    y: Scale,
    x_ticks: Sequence[tuple[float, str]] | None,
    x_label: str,
    y_label: str,
    ends: Sequence[Markup] = (),
) -> Markup:
    """Return a plot with its axes."""
    values = y.ticks
    rows = [(percent_of(1 - y.at(value)), text) for value, text in zip(values, axis_texts(values), strict=True)]
    grid = [el("line.grid", x1=0, x2="100%", y1=at, y2=at) for at, _ in rows]
    places = [
        (percent_of(x.at(value)), text) for value, text in x_ticks or [(value, f"{value:g}") for value in x.ticks]
    ]
    columns = [
        [
            el("line.axis", x1=at, x2=at, y1="100%", y2=_HEIGHT + 5),
            el("text.across", text, x=at, y=_HEIGHT + 18),
        ]
        for at, text in places
    ]
    base = el("line.axis", x1=0, x2="100%", y1="100%", y2="100%")
    left = [el("text.upright", text, x=44, y=at) for at, text in rows]
    return el(
        "div.chart",
        el("p.axis-label", y_label, aria_hidden="true"),
        el(
            "div.area",
            el("svg.y-axis", left, width=50, height=_HEIGHT),
            el("svg.plot", grid, base, columns, drawn, height=_HEIGHT, width="100%"),
            el("svg.ends", ends, height=_HEIGHT) if ends else None,
            aria_hidden="true",
        ),
        el("p.axis-label below", x_label, aria_hidden="true"),
        role="img",
        aria_label=f"{y_label} by {x_label}",
    )


def _apart(wanted: Sequence[float]) -> list[float]:
    """Return heights of labels close to the wanted ones, within the plot and without overlaps."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [0.0] * len(wanted)
    least = 6.0
    for i in order:
        places[i] = least = max(wanted[i], least)
        least += _LINE
    most = _HEIGHT - 2.0
    for i in reversed(order):
        places[i] = most = min(places[i], most)
        most -= _LINE
    return places


def _span_of_label(place: float, name: str) -> tuple[float, float]:
    """Return the left and right end of a label next to a mark."""
    near, far = 0.01, 0.01 + _LETTER * len(name)
    return (place - far, place - near) if place > _TURNS else (place + near, place + far)


def _label_shifts(places: Sequence[tuple[float, float]], spans: Sequence[tuple[float, float]]) -> list[float]:
    """Return the downward shift of each label, so that no label covers another label or mark."""
    shifts = [0.0] * len(places)
    taken = [((across - 0.01, across + 0.01), height, 10.0) for across, height in places]
    for i in sorted(range(len(places)), key=lambda i: places[i][1]):
        (low, high), wish = spans[i], places[i][1]
        for (left, right), at, room in sorted(taken, key=lambda one: one[1]):  # from the top down
            if low < right and left < high and abs(wish - at) < room:
                wish = at + room
        taken.append(((low, high), wish, _LINE))
        shifts[i] = wish - places[i][1]
    return shifts


def _short_names(methods: Sequence[Shown]) -> dict[int, str]:
    """Return the names for the figure, with the framework's if two methods have the same name."""
    counts = Counter(method.name for method in methods)
    names = {m.number: m.full_name if counts[m.name] > 1 else m.name for m in methods}
    return {i: name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for i, name in names.items()}
