"""Verdict: missing runs, the recommended method, and its certainty."""

from math import isnan

from boostplug.comparison.report.markup import Child, el
from boostplug.comparison.report.report_table import Column, interval, probability, short, signed, value
from boostplug.comparison.report.text import milliseconds, table_of
from boostplug.comparison.report.view import View, copyable, method_table
from boostplug.comparison.report.words import (
    about_differences,
    about_means,
    about_times,
    advice,
    at_cap,
    between_frameworks,
    headline,
    is_code,
    percent,
    uncompared,
    unfinished,
    warning_lines,
)
from boostplug.comparison.summary import Contrast


def caveats(view: View) -> list[str]:
    """Return the caveats of a result: missing runs, shared data, failures."""
    document = view.document
    failed = [m for m in view.methods if m.summary.errors]
    lines = unfinished(document) + warning_lines(document) + at_cap(document) + uncompared(document)
    for method in failed:
        done = method.summary.runs_finished
        of = f"{done} of {method.summary.runs_planned} runs finished" if done else "no run finished"
        lines.append(f"FAILED: {method.full_name}, {of}: {'; '.join(method.summary.errors)}")
    return lines


def recommendation(view: View) -> Child:
    """Return the recommended method with its verdict, its figures and its line of code."""
    document, found = view.document, view.document.recommendation
    words = [line for line in advice(document) if not is_code(line)]
    if found is None:
        return el("p.headline", words[0])
    method = next(m for m in view.methods if m.recommended)
    provisional = "Provisional: " if document.is_partial else ""
    figures: list[tuple[str, Child]] = [
        (f"{view.metric} on test", short(found.test)),
        (f"{view.metric} on validation", short(found.validation)),
    ]
    kind = "open"
    if (contrast := Contrast.from_summary(found)) is not None:
        kind = found.outcome if found.outcome.is_clear else kind
        sides = f"{found.challenger.method} less {contrast.reference}, on test"
        figures.append((sides, signed(contrast.difference)))
        if contrast.interval is not None:
            figures.append((f"{percent(document)} interval", interval(contrast.interval)))
        if not isnan(contrast.p):
            figures.append(("p", probability(contrast.p)))
    if method.details.outcomes:
        figures.append(("Queries won / tied / lost", " / ".join(f"{n:,}" for n in method.details.outcomes)))
    figures.append(("Rounds", f"{found.rounds:,}"))
    if method.summary.seconds_per_round is not None:
        figures.append(("Time per round", f"{milliseconds(method.summary).shown} ms"))
    return [
        el("p.headline", el("strong", found.method), f" in {found.framework}"),
        el(f"p.verdict {kind}", f"{provisional}{headline(found, document)}"),
        el("dl.figures", [el("div", el("dt", name), el("dd", shown)) for name, shown in figures]),
        [el("p", line) for line in words],
        copyable("the line of code", found.code),
        [el("p", line) for line in between_frameworks(document)],
    ]


def methods(view: View) -> Child:
    """Return the table of all methods."""
    document = view.document
    validation = Column("validation", descending=view.sign > 0, sorted_by=True)
    marked = " ▲ ▼ and bold: significantly better or worse than the reference (p < .05)."
    return [
        method_table(
            f"Means on test; validation: {view.metric} there, best first",
            [validation, *table_of(document).columns[1:]],
            view.methods,
            lambda m: [value(m.summary.validation.mean), *m.cells.values],
            class_="wide",
            described_by="about-table",
        ),
        el(
            "div.note",
            el("p", about_means(document), marked if any(m.is_clear for m in view.methods) else None),
            [el("p.again", line) for line in about_differences(document)],
            el("p", about_times(document)),
            id="about-table",
        ),
    ]
