"""The report as one self-contained HTML page: `page.html` is its template, `page.css` its style.

`page.js` lets readers sort, filter, choose and copy; without it all content is readable.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import ceil, floor, log10
from typing import Any

from boostplug.comparison import formats
from boostplug.comparison.formats import interval, is_missing, without_zero
from boostplug.comparison.report import words
from boostplug.comparison.report.table import frame, heads, split, styles, texts
from boostplug.comparison.report.words import Document
from boostplug.core.extras import needed_by
from boostplug.core.text import visible

_COLOURED = 6  # methods coloured at the start: as many colours as readers can distinguish
_REFERENCE, _NO_COLOUR = "cr", "c0"  # classes of the style sheet
_TOP_PLACES = 5  # documents of the new and of the old order in an example
_HEIGHT_IN_PIXELS = 320  # of the learning curves
_MOST_POINTS = 200  # of a curve
_MOST_TICKS = 6
_TIMES_MEDIAN_REACH = 4  # multiple of the median reach; intervals beyond it are cut at the end of the axis

Point = tuple[float, float]
Axis = tuple[float, float]
"""The low and the high end of an axis."""


@cache
def template() -> Any:
    """Return the template of the page.

    Raises
    ------
    ImportError
        If Jinja2 is not installed.
    """
    with needed_by("the page of a comparison needs", "jinja2"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup

    def shown(value: Any) -> Any:
        return value if isinstance(value, Markup) else visible("" if value is None else str(value))

    loader = PackageLoader(__package__, ".")
    environment = Environment(
        loader=loader, autoescape=True, finalize=shown, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters["percent"] = lambda place: f"{100 * place:.4g}%"
    environment.globals.update(words=words, formats=formats, split=split)
    return environment.get_template("page.html")


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(document: Document) -> str:
    """Return a comparison as a page.

    Parameters
    ----------
    document : dict
        `CompareResult.document`, perhaps with a "date", with "examples", the rows of each query of
        `CompareResult.examples`, and with "reasons", one for each of these queries.
    """
    script = _file("page.js")
    methods = coloured_methods(document)
    text: str = template().render(
        document=document,
        settings=document["settings"],
        advice=document["recommendation"],
        frameworks=words.frameworks(document),
        methods=methods,
        differences=plot_of_differences(document, methods),
        table=_table(document),
        examples=_examples(document.get("examples", ()), document.get("reasons", ())),
        curves=_curves(methods),
        style=_file("page.css"),
        script=script,
        hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return text.lstrip()


def coloured_methods(document: Document) -> list[dict[str, Any]]:
    """Return the document's methods, the best on validation first, with colours, marks and tags.

    Colours go to the recommended method, the frameworks' references (which share one), the best of each framework, and
    then to the best of all, as long as there are colours.
    """
    advice, frameworks = document["recommendation"], words.frameworks(document)
    referred = {m["reference"] for m in document["methods"]}
    if advice and advice["incumbent"]:
        referred.add(words.title(advice["incumbent"]))
    advised = words.title(advice) if advice and advice["outcome"] != "doubtful" else None
    methods = [
        {
            **method,
            "number": number,
            "shape": [*frameworks, method["framework"]].index(method["framework"]) % 2,
            "recommended": words.title(method) == advised,
            "is_reference": words.title(method) in referred,
            "is_zero": False,
            "colour": _NO_COLOUR,
        }
        for number, method in enumerate(document["methods"])
    ]
    sign = 1 if document["settings"]["greater_is_better"] else -1
    known = [m for m in methods if not is_missing(m["validation"]["mean"])]
    best_first = sorted(known, key=lambda m: -sign * m["validation"]["mean"])
    firsts = [next((m for m in best_first if m["framework"] == name), None) for name in frameworks]
    chosen = [m for m in best_first if m["recommended"]] + [m for m in best_first if m["is_reference"]]
    wanted = {m["number"]: m for m in [*chosen, *filter(None, firsts), *best_first]}
    colours = iter(range(1, _COLOURED + 1))
    for method in [*wanted.values()][:_COLOURED]:
        method["colour"] = _REFERENCE if method["is_reference"] else f"c{next(colours)}"
    return best_first + [m for m in methods if is_missing(m["validation"]["mean"])]


def plot_of_differences(document: Document, methods: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the plot of the differences to the references; the methods get the places of their marks.

    The first row of a reference is what is recommended, if it is one of its rows, then the reference itself.
    """
    tested = [m for m in methods if m["difference"] is not None]
    if not tested:
        return None
    drawn = [m for m in tested if m["recommended"] or m["framework"] in words.frameworks(document)] or tested
    axis, sign = axis_of_differences(drawn), 1 if document["settings"]["greater_is_better"] else -1
    rows = {}
    for reference in dict.fromkeys(m["reference"] for m in tested):
        own = [{**m, "difference": 0.0, "is_zero": True} for m in methods if words.title(m) == reference]
        rows[reference] = [*own, *(m for m in tested if m["reference"] == reference)]
        for m in rows[reference]:
            ends = m["interval"] if interval(m["interval"]) else ()
            m["mark"] = place(m["difference"], axis)
            m["whisker"] = [place(end, axis) for end in ends]
            m["ends"] = [min(1.0, max(0.0, at)) for at in m["whisker"]]  # within the axis
        rows[reference].sort(key=lambda m: (not m["recommended"], not m["is_zero"], -sign * m["difference"]))
    first = sorted(rows, key=lambda reference: not rows[reference][0]["recommended"])
    return {"ticks": ticks(axis), "zero": place(0.0, axis), "rows": {reference: rows[reference] for reference in first}}


def _table(document: Document) -> dict[str, Any]:
    """Return the columns of the table, and the text, the style and the sort key of each cell."""
    settings, numbers = document["settings"], frame(document)
    columns = {"method": "method", "framework": "framework", "validation": "validation", **heads(document)}
    ascending = {"method", "framework", "p_holm", "seconds_per_round", "rounds", *settings["lower_is_better"]}
    ascending |= set() if settings["greater_is_better"] else {"difference", "validation"}
    cells = {"text": texts(document), "style": styles(document, numbers), "key": numbers}
    records = {name: table.to_dict("records") for name, table in cells.items()}
    return {"columns": columns, "ascending": ascending, **records}


def _examples(examples: Sequence[Sequence[Mapping[str, Any]]], reasons: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the tables of examples: the documents at the top of the new or of the old order, with their reason."""
    tables = []
    for rows, why in zip(examples, reasons, strict=True):
        top = [row for row in rows if min(row["new place"], row["old place"]) <= _TOP_PLACES]
        heads = [name for name in top[0] if name not in ("query", "change", "new score", "old score")]
        shown = [{"cells": [row[name] for name in heads], "is_relevant": row["label"] > 0.0} for row in top]
        of_query = {name: top[0][name] for name in ("query", "change")}
        tables.append({**of_query, "heads": heads, "rows": shown, "why": why})
    return tables


def _curves(methods: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the figure of the mean learning curves; the methods get their lines, and the places of their marks."""
    points = {m["number"]: mean_curve(run["curve"] for run in m["runs"]) for m in methods}
    drawn = [m for m in methods if points[m["number"]]]
    if not drawn:
        return None
    best = {m["number"]: min(points[m["number"]], key=lambda p: abs(p[0] - (m["rounds"] or 0.0))) for m in drawn}
    # The first rounds of the coloured lines, and all others, may leave the figure.
    lines = [points[m["number"]] for m in drawn if m["colour"] != _NO_COLOUR]
    late = [value for line in lines for _, value in line[len(line) // 10 :]]
    x = 1.0, max(2.0, *(line[-1][0] for line in points.values() if line))
    y = axis_around(late + [best[m["number"]][1] for m in drawn if m["colour"] != _NO_COLOUR])
    for m in drawn:
        line = points[m["number"]]
        m["line"] = " ".join(f"{1000 * place(a, x):.0f},{1000 * (1 - place(b, y)):.0f}" for a, b in line)
        m["best"] = place(best[m["number"]][0], x), 1 - place(best[m["number"]][1], y)
    rounds = [(at, text.partition(".")[0]) for at, text in ticks(x) if float(text).is_integer() and at > 0.04]
    listed = sorted(drawn, key=lambda m: m["colour"] == _NO_COLOUR)
    return {"methods": listed, "x_ticks": [(0.0, "1"), *rounds], "y_ticks": ticks(y), "height": _HEIGHT_IN_PIXELS}


def axis_around(values: Sequence[float]) -> Axis:
    """Return an axis that holds all values, with a margin."""
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def place(value: float, axis: Axis) -> float:
    """Return the place of a value on an axis: 0 at the low end, 1 at the high end."""
    return (value - axis[0]) / (axis[1] - axis[0])


def ticks(axis: Axis) -> list[tuple[float, str]]:
    """Return places and texts of the multiples of a round number, with as few decimals as possible."""
    low, high = axis
    least = (high - low) / _MOST_TICKS
    power = 10.0 ** floor(log10(least))
    step = next(power * factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if power * factor >= least * (1 - 1e-9))
    decimals = len(f"{step:.12f}".rstrip("0").partition(".")[2])
    multiples = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return [(place(k * step, axis), without_zero(f"{k * step:.{decimals}f}") if k else "0") for k in multiples]


def axis_of_differences(methods: Sequence[Mapping[str, Any]]) -> Axis:
    """Return the common axis of all differences; the worst methods must not stretch it, and leave it instead."""
    values = [[m["difference"], *(m["interval"] if interval(m["interval"]) else ())] for m in methods]
    reach = [max(map(abs, of_method)) for of_method in values]
    bound = max(min(max(reach), _TIMES_MEDIAN_REACH * sorted(reach)[len(reach) // 2]), 1e-6)
    return axis_around([0.0, *(min(bound, max(-bound, value)) for of_method in values for value in of_method)])


def mean_curve(runs: Iterable[Sequence[float | None]]) -> list[Point]:
    """Return (round, mean over the runs), thinned; a run that has stopped counts on with its last value."""
    curves = [run for run in runs if run]
    length = max(map(len, curves), default=0)
    points = []
    for i in sorted({*range(0, length, ceil(length / _MOST_POINTS) or 1), length - 1} if length else ()):
        known = [value for run in curves if not is_missing(value := run[min(i, len(run) - 1)])]
        if known:
            points.append((float(i + 1), sum(known) / len(known)))
    return points
