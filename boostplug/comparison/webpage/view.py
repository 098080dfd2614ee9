"""What all sections of the page look at, and pieces that several have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from boostplug.comparison.webpage.markup import Child, Markup, el
from boostplug.comparison.webpage.methods import Shown, by_validation, label, of_frameworks, swatch
from boostplug.core.threads import Computed

__all__ = ["View", "copyable", "folded", "key_of", "of_framework", "pairs"]


@dataclass(frozen=True, eq=False)
class View:
    """What all sections look at."""

    document: dict[str, Any]
    details: dict[str, Any] | None
    machine: dict[str, Any] | None

    @Computed
    def methods(self) -> list[Shown]:
        """All methods, the best on validation first."""
        return by_validation(self.document)

    @property
    def metric(self) -> str:
        """The metric that chooses."""
        return str(self.document["settings"]["metric"])

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return 1 if self.document["settings"]["greater_is_better"] else -1

    @property
    def several(self) -> bool:
        """Whether there is more than one framework."""
        return len({method.framework for method in self.methods}) > 1

    @property
    def folds(self) -> int:
        """How many folds there are."""
        return int(self.document["data"]["folds"])

    def detail(self, name: str) -> Any:
        """Return a part of the details, None where there are none."""
        return None if self.details is None else self.details.get(name)

    def with_details(self, part: dict[str, Any] | None) -> list[tuple[Shown, dict[str, Any]]]:
        """Return the methods that a part of the details lists, and what it says of each, the best first."""
        if part is None:
            return []
        of_method = {(entry["framework"], entry["method"]): entry for entry in part["methods"]}
        return [
            (method, of_method[method.framework, method.name])
            for method in self.methods
            if (method.framework, method.name) in of_method
        ]


def of_framework(view: View, framework: str, kind: str, title: str, legend: Child, *rows: Child) -> Markup:
    """Return a figure of one framework's methods, which the choice of frameworks shows and hides."""
    number = [name for name, _ in of_frameworks(view.methods)].index(framework)
    name = f"{kind}-{number}"
    head = f"{framework}: {title}" if view.several else title[0].upper() + title[1:]
    return el(
        "figure",
        el("figcaption", el("h3", head), el("p", legend), id=name),
        *rows,
        class_=kind,
        role="group",
        aria_labelledby=name,
        data_framework=framework,
    )


def copyable(what: str, code: str) -> Markup:
    """Return code in a box; the script puts a button there that copies it, and says what."""
    return el("div", el("pre", el("code", code)), class_="code", data_what=what)


def folded(summary: Child, content: Child, *, opened: bool = False, framework: str | None = None) -> Markup:
    """Return what a reader may open; paper has it open."""
    return el("details", el("summary", summary), content, open=opened, data_framework=framework)


def pairs(given: Sequence[tuple[str, Child]]) -> Markup:
    """Return names and what belongs to them."""
    return el("dl", [el("div", el("dt", name), el("dd", shown)) for name, shown in given], class_="pairs")


def key_of(view: View, coloured: Sequence[Shown], all_of_them: Sequence[Shown]) -> Markup:
    """Return the lines of those in colour, beside a figure that has no choice of its own."""
    return el(
        "ul",
        [
            el(
                "li",
                swatch(method),
                el("span", label(method, framework=view.several)),
                class_=f"{method.classes} if-chosen",
                data_m=method.number,
                data_framework=method.framework,
            )
            for method in all_of_them
        ],
        class_="key-list",
        aria_label=f"Methods in colour: {len(coloured)}",
    )
