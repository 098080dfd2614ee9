"""The methods of a comparison as the page shows them: their order, and which are drawn in which colour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from boostplug.comparison.report import Row, rows
from boostplug.comparison.webpage.markup import Child, Markup, el

__all__ = ["Shown", "by_validation", "label", "mark", "of_frameworks", "same", "swatch"]

_COLOURED = 6  # methods that have a colour from the start: as many as can be told apart
_REFERENCE, _NO_COLOUR = "cr", "c0"


@dataclass(frozen=True)
class Shown:
    """One method."""

    number: int  # in the document
    summary: dict[str, Any]
    row: Row
    colour: str  # a class of the style sheet
    shape: int  # of its framework, from 0
    recommended: bool
    reference: bool

    @property
    def framework(self) -> str:
        """Its framework's name."""
        return str(self.summary["framework"])

    @property
    def name(self) -> str:
        """Its own name."""
        return str(self.summary["method"])

    @property
    def full_name(self) -> str:
        """Its own name and its framework's."""
        return f"{self.name} ({self.framework})"

    @property
    def classes(self) -> str:
        """The style sheet's classes of its marks in figures."""
        return f"{self.colour} s{self.shape}"

    @property
    def finished(self) -> bool:
        """Whether it has a finished run."""
        return bool(self.summary["runs_finished"])


def by_validation(document: dict[str, Any]) -> list[Shown]:
    """Return all methods, the best on validation first, those without a value there last.

    In colour are the recommended one, the frameworks' own LambdaMARTs (which share one), the best of each framework,
    and the best of all as far as colours go.
    """
    methods = document["methods"]
    sign = -1 if document["settings"]["greater_is_better"] else 1
    means = [m["validation"]["mean"] for m in methods]
    best_first = sorted(
        (i for i, mean in enumerate(means) if mean is not None and mean == mean),  # noqa: PLR0124 (NaN)
        key=lambda i: sign * means[i],
    )
    found = document["recommendation"]
    chosen = [i for i in best_first if found and same(methods[i], found)]
    referred = {(m["framework"], m["reference"]) for m in methods if m["reference"]}
    if found and found["is_reference"]:
        referred.add((found["framework"], found["method"]))
    references = [i for i in best_first if (methods[i]["framework"], methods[i]["method"]) in referred]
    frameworks = list(dict.fromkeys(m["framework"] for m in methods))
    firsts = [next((i for i in best_first if methods[i]["framework"] == name), None) for name in frameworks]
    firsts = [i for i in firsts if i is not None]
    coloured = list(dict.fromkeys([*chosen, *references, *firsts, *best_first]))[:_COLOURED]
    colours = {i: f"c{k}" for k, i in enumerate((i for i in coloured if i not in references), start=1)}
    colours |= dict.fromkeys((i for i in coloured if i in references), _REFERENCE)
    cells = rows(document)
    rest = [i for i in range(len(methods)) if i not in set(best_first)]
    return [
        Shown(
            number=i,
            summary=methods[i],
            row=cells[i],
            colour=colours.get(i, _NO_COLOUR),
            shape=frameworks.index(methods[i]["framework"]),
            recommended=i in chosen,
            reference=(methods[i]["framework"], methods[i]["method"]) in referred,
        )
        for i in [*best_first, *rest]
    ]


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two entries are of the same method."""
    return bool(one["framework"] == other["framework"] and one["method"] == other["method"])


def of_frameworks(methods: Sequence[Shown]) -> list[tuple[str, list[Shown]]]:
    """Return the methods of each framework, the frameworks in the document's order."""
    names = dict.fromkeys(m.framework for m in sorted(methods, key=lambda m: m.number))
    return [(name, [m for m in methods if m.framework == name]) for name in names]


def label(method: Shown, *, framework: bool = False) -> list[Child]:
    """Return a method's name, its framework's where it is to be said, and what it is to the comparison."""
    return [
        el("span", method.row.name, class_="name"),
        [" ", el("small", method.framework)] if framework else None,
        [" ", el("span", "recommended", class_="tag chosen")] if method.recommended else None,
        [" ", el("span", "reference", class_="tag")] if method.reference else None,
    ]


def swatch(method: Shown) -> Markup:
    """Return a piece of the method's line with its mark, as it is in the figures."""
    return el(
        "svg",
        el("line", x1=1, y1=7, x2=27, y2=7, class_="curve"),
        mark(method, "14", "7"),
        class_=f"swatch {method.classes}",
        data_m=method.number,
        width=28,
        height=14,
        aria_hidden="true",
    )


def mark(method: Shown, x: str, y: str, *children: Child, hollow: bool = False) -> Markup:
    """Return a framework's mark around a place: a disc for the first, a diamond for the second."""
    shape = (
        el("circle", *children, r=4.5) if method.shape == 0 else el("path", *children, d="M-5.5 0 0-5.5 5.5 0 0 5.5Z")
    )
    return el("svg", shape, x=x, y=y, class_="mark hollow" if hollow else "mark")
