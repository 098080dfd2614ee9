"""Common parts of all sections: methods, their order and colours, and elements."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.report_table import Cell, Column, ReportTable, Row, as_html, number
from boostplug.comparison.report.text import MethodCells, cells_of
from boostplug.comparison.summary import Comparison, Details, MethodDetails, MethodSummary
from boostplug.core.threads import Computed

_COLOURED = 6  # methods coloured at the start: as many colours as readers can distinguish
_REFERENCE, _NO_COLOUR = "cr", "c0"  # classes of the style sheet


@dataclass(frozen=True)
class Shown:
    """A method in the report, with its place, colour and mark."""

    number: int  # index in the document
    summary: MethodSummary
    details: MethodDetails
    cells: MethodCells
    colour: str  # class of the style sheet
    shape: int  # mark of its framework, from 0
    recommended: bool
    reference: bool

    @property
    def framework(self) -> str:
        """Its framework's name."""
        return self.summary.framework

    @property
    def name(self) -> str:
        """Its own name."""
        return self.summary.method

    @property
    def full_name(self) -> str:
        """Its own name and its framework's."""
        return f"{self.name} ({self.framework})"

    @property
    def coloured(self) -> bool:
        """Whether it is coloured at the start."""
        return self.colour != _NO_COLOUR

    @property
    def classes(self) -> str:
        """The CSS classes of its marks in figures."""
        return f"{self.colour} s{self.shape}"

    @property
    def difference(self) -> Cell:
        """The difference to its reference, with the interval."""
        return self.cells.difference

    @property
    def is_clear(self) -> bool:
        """Whether it is significantly better or worse than its reference."""
        return self.difference.verdict.is_clear

    @property
    def p(self) -> Cell:
        """The p of the difference: corrected by Holm, except for the recommended method."""
        return self.cells.p


def _by_validation(document: Comparison, details: Details) -> list[Shown]:
    """Return all methods, the best on validation first, those without a value last.

    Colours go to the recommended method, the frameworks' LambdaMARTs (which share one), the best of each framework, and
    then to the best of all, as long as there are colours.
    """
    methods, found, frameworks = document.methods, document.recommendation, document.frameworks
    values = {i: mean for i, m in enumerate(methods) if (mean := m.validation.mean) is not None and not isnan(mean)}
    best_first = sorted(values, key=lambda i: -document.settings.sign * values[i])
    chosen = [i for i in best_first if found and methods[i].key == found.key]
    referred = {(m.framework, m.reference) for m in methods if m.reference}
    if found and found.incumbent:
        referred.add(found.incumbent.key)
    references = [i for i in best_first if methods[i].key in referred]
    firsts = {methods[i].framework: i for i in reversed(best_first)}
    of_frameworks = [firsts[name] for name in frameworks if name in firsts]
    coloured = list(dict.fromkeys([*chosen, *references, *of_frameworks, *best_first]))[:_COLOURED]
    colours = {i: f"c{k}" for k, i in enumerate((i for i in coloured if i not in references), start=1)}
    colours |= dict.fromkeys((i for i in coloured if i in references), _REFERENCE)
    of_method = {one.key: one for one in details.methods}
    return [
        Shown(
            number=i,
            summary=methods[i],
            details=of_method.get(methods[i].key) or MethodDetails(framework=methods[i].framework, method=""),
            cells=cells_of(document, methods[i]),
            colour=colours.get(i, _NO_COLOUR),
            shape=frameworks.index(methods[i].framework),
            recommended=i in chosen,
            reference=methods[i].key in referred,
        )
        for i in [*best_first, *(i for i in range(len(methods)) if i not in values)]
    ]


def of_frameworks(methods: Sequence[Shown]) -> list[tuple[str, list[Shown]]]:
    """Return the methods by framework, in the document's order of frameworks."""
    names = dict.fromkeys(m.framework for m in sorted(methods, key=lambda m: m.number))
    return [(name, [m for m in methods if m.framework == name]) for name in names]


def label(method: Shown, *, framework: bool = False) -> list[Child]:
    """Return a method's name, its framework's with `framework`, and its tags: recommended, reference."""
    return [
        el("span.name", method.cells.name.shown),
        [" ", el("small", method.framework)] if framework else None,
        [" ", el("span.tag chosen", "recommended")] if method.recommended else None,
        [" ", el("span.tag", "reference")] if method.reference else None,
    ]


def swatch(method: Shown) -> Markup:
    """Return a piece of the method's line with its mark, as in the figures."""
    drawn = el("line.curve", x1=1, y1=7, x2=27, y2=7), mark(method, "14", "7")
    return el(f"svg.swatch {method.classes}", drawn, data_m=method.number, width=28, height=14, aria_hidden="true")


def mark(method: Shown, x: str, y: str, *, titled: bool = False) -> Markup:
    """Return a framework's mark at a position: a disc for the first framework, a diamond for the second."""
    shape, attributes = ("path", {"d": "M-5.5 0 0-5.5 5.5 0 0 5.5Z"}) if method.shape else ("circle", {"r": "4.5"})
    return el("svg.mark", el(shape, el("title", method.full_name) if titled else (), **attributes), x=x, y=y)


@dataclass(frozen=True, eq=False)
class View:
    """A comparison in the form that all sections share."""

    document: Comparison
    details: Details
    machine: dict[str, Any]

    @Computed
    def methods(self) -> list[Shown]:
        """All methods, the best on validation first."""
        return _by_validation(self.document, self.details)

    @property
    def metric(self) -> str:
        """The metric that chooses the method."""
        return self.document.settings.metric

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is."""
        return self.document.settings.sign

    @property
    def several(self) -> bool:
        """Whether there is more than one framework."""
        return len(self.document.frameworks) > 1

    @property
    def folds(self) -> int:
        """Number of folds."""
        return self.document.data.folds


def method_table(
    caption: str,
    columns: Sequence[Column],
    methods: Sequence[Shown],
    cells: Callable[[Shown], Sequence[Cell]],
    **options: str,
) -> Markup:
    """Return a table with a row for each method: its name and framework, then its `cells`."""
    heads = [Column("method", numbers=False), Column("framework", numbers=False), *columns]
    rows = [
        Row([Cell(label(m), m.name.lower()), Cell(m.framework, m.framework), *cells(m)], m.framework) for m in methods
    ]
    return as_html(ReportTable(heads, rows, caption), **options)


def training_time(method: Shown) -> Cell:
    """Return a cell with the seconds of a method's training."""
    return number(method.details.seconds, ".2f")


def figure(name: str, caption: str, chart: Markup, key: Child, table: Markup | None = None) -> Child:
    """Return a chart with caption and key, and its numbers in a table that readers can open."""
    id_ = f"about-{name}"
    content = el("figcaption", caption, id=id_), el("div.beside-legend", chart, key)
    shown = el("figure", content, role="group", aria_labelledby=id_)
    return [shown, folded("The numbers as a table", table) if table else None]


def copyable(what: str, code: str) -> Markup:
    """Return code in a box; the script adds a button that copies it."""
    return el("div.code", el("pre", el("code", code)), data_what=what)


def folded(summary: Child, content: Child) -> Markup:
    """Return content that readers can open; it is open on paper."""
    return el("details", el("summary", summary), content)


def pairs(given: Iterable[tuple[str, Child]]) -> Markup:
    """Return a description list of names and their contents."""
    return el("dl.pairs", [el("div", el("dt", name), el("dd", shown)) for name, shown in given])


def key_of(view: View, methods: Sequence[Shown]) -> Markup:
    """Return the lines of the coloured methods, next to a figure without a selection of its own."""
    items = [_key_entry(f"{method.classes} if-chosen", method, _line_and_name(view, method)) for method in methods]
    return el("ul.key-list", items, aria_label=f"Methods in colour: {sum(method.coloured for method in methods)}")


def legend(view: View, methods: Sequence[Shown]) -> Markup:
    """Return the methods with their lines, coloured ones first; the script makes each one selectable."""
    items = []
    for method in sorted(methods, key=lambda method: not method.coloured):
        box = el("input", type="checkbox", data_choose=method.number, checked=method.coloured, hidden=True)
        items.append(_key_entry(method.classes, method, el("label", box, _line_and_name(view, method))))
    return el("fieldset.legend", el("legend", "Methods in colour"), el("ul", items))


def _key_entry(classes: str, method: Shown, content: Child) -> Markup:
    return el(f"li.{classes}", content, data_m=method.number, data_framework=method.framework)


def _line_and_name(view: View, method: Shown) -> list[Child]:
    return [swatch(method), el("span", label(method, framework=view.several))]
