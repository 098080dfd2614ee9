"""Set-up of the comparison: data, parameters, versions, machine, and the call that repeats it."""

from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.report_table import Cell, Column, ReportTable, Row, as_html, number
from boostplug.comparison.report.view import Shown, View, copyable, folded, method_table, pairs
from boostplug.comparison.report.words import about_data, parameters_of_all, tuned


def setup(view: View) -> Child:
    """Return data, parameters, versions, machine and notes."""
    document = view.document
    objective = Column("objective", numbers=False)

    def cells(method: Shown) -> list[Cell]:
        return [Cell(el("code", method.summary.objective), method.summary.objective, "long")]

    machine = [
        ("memory, GiB" if key == "memory_gib" else key, str(shown))
        for key in ("processor", "cores", "memory_gib", "system")
        if (shown := view.machine.get(key)) is not None
    ]
    return [
        el(
            "div.pair",
            el(
                "div",
                el("h3", "Data"),
                el("p", about_data(document).removeprefix("Data: ")),
                el("h3", "Versions"),
                pairs(list(document.versions.items())),
                [el("h3", "Machine"), pairs(machine)] if machine else None,
            ),
            el("div", el("h3", "Parameters of all methods"), pairs(parameters_of_all(document))),
        ),
        folded(
            "Each method's objective with all its parameters",
            method_table("Objectives", [objective], view.methods, cells),
        ),
        [el("h3", "Tuned settings"), [el("p", line) for line in lines]] if (lines := tuned(document)) else None,
        [el("h3", "Notes"), el("ul", [el("li", note) for note in notes])] if (notes := document.notes) else None,
    ]


def reproduce(view: View) -> Child:
    """Return the instructions to repeat the comparison."""
    found, fold = view.details, view.folds > 1
    if not found.python:
        return None
    rows = [
        Row(
            [
                Cell(part.part),
                *([number(part.fold + 1)] if fold else []),
                number(part.queries),
                number(part.documents),
                Cell(el("code", part.fingerprint)),
            ]
        )
        for part in found.data
    ]
    columns = [Column("part", numbers=False), *([Column("fold")] if fold else [])]
    columns += [Column("queries"), Column("documents"), Column("fingerprint", numbers=False)]
    return [
        [el("h3", "On the command line"), copyable("the command", found.command)] if found.command else None,
        el("h3", "In Python"),
        copyable("the call in Python", f"import boostplug as bp\n\nresult = {found.python}"),
        el("h3", "The data it was made with"),
        el(
            "p",
            "The same data have the same fingerprints. With the same versions, all figures are the same, except times.",
        ),
        as_html(ReportTable(columns, rows, "Fingerprints of the data")),
    ]
