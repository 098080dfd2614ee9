"""What a reader must know first: what is missing, what to use, and how sure that is."""

from boostplug.comparison import report
from boostplug.comparison.report import SIGNIFICANT, interval, percent, probability, short, signed
from boostplug.comparison.webpage.markup import Child, el
from boostplug.comparison.webpage.methods import Shown
from boostplug.comparison.webpage.view import View, copyable

__all__ = ["caveats", "recommendation"]


def caveats(view: View) -> list[str]:
    """Return what a reader must know before anything else: missing runs, shared data, failures."""
    document = view.document
    failed = [m for m in view.methods if m.summary["errors"]]
    lines = report.unfinished(document) + report.warning_lines(document) + report.uncompared(document)
    for method in failed:
        done = method.summary["runs_finished"]
        of = f"{done} of {method.summary['runs_planned']} runs finished" if done else "no run finished"
        lines.append(f"FAILED: {method.full_name}, {of}: {'; '.join(method.summary['errors'])}")
    return lines


def recommendation(view: View) -> Child:
    """Return what to use, how sure that is, and the line of code."""
    document, found = view.document, view.document["recommendation"]
    words = [line for line in report.advice(document) if not report.is_code(line)]
    if found is None:
        return el("p", words[0], class_="headline")
    method = next(m for m in view.methods if m.recommended)
    kind, verdict = _verdict(view)
    figures: list[tuple[str, Child]] = [
        (f"{view.metric} on test", short(found["test"])),
        (f"{view.metric} on validation", short(found["validation"])),
    ]
    if found["difference"] is not None:
        figures.append((f"Difference to {found['reference']} on test", signed(found["difference"])))
        if between := interval(found["interval"]):
            figures.append((f"{percent(document)} interval", between))
        figures.append(("p", probability(found["p"])))
    figures += _outcome_figures(view, method)
    figures.append(("Rounds", f"{found['rounds']:,}"))
    if method.summary["seconds_per_round"] is not None:
        figures.append(("Time per round", f"{method.row.milliseconds} ms"))
    return [
        el(
            "p",
            el("strong", found["method"]),
            f" in {found['framework']}",
            class_="headline",
        ),
        el("p", verdict, class_=f"verdict {kind}"),
        el("dl", [el("div", el("dt", name), el("dd", shown)) for name, shown in figures], class_="figures"),
        [el("p", line) for line in words],
        copyable("the line of code", found["code"]),
    ]


def _verdict(view: View) -> tuple[str, str]:
    """Return what the test part says of the recommended method: a class of the style sheet, and words."""
    found, document = view.document["recommendation"], view.document
    provisional = "Provisional: " if document["interrupted"] or document.get("out_of_time") else ""
    if found["is_reference"]:
        return "open", f"{provisional}the framework's own LambdaMART is best on validation: keep it"
    if found["difference"] is None:
        return "open", f"{provisional}best on validation; nothing to compare it with"
    better = found["difference"] * view.sign > 0
    if not (found["p"] is not None and found["p"] < SIGNIFICANT):
        other = found["reference"]
        keep = "" if better else f", and no better on test: nothing here speaks against keeping {other}"
        return "open", f"{provisional}not significantly different from {other}{keep}"
    word = "better" if better else "worse"
    return word, f"{provisional}significantly {word} than {found['reference']}"


def _outcome_figures(view: View, method: Shown) -> list[tuple[str, Child]]:
    for other, entry in view.with_details(view.detail("queries")):
        if other is method and entry["wins"] is not None:
            counts = " / ".join(f"{entry[key]:,}" for key in ("wins", "ties", "losses"))
            return [("Queries won / tied / lost", counts)]
    return []
