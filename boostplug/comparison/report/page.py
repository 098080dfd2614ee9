"""The page: its head, its sections in order, and the navigation."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.sections.lines import curves, cutoffs, positions, reliability
from boostplug.comparison.report.sections.points import features, time
from boostplug.comparison.report.sections.rows import differences, queries
from boostplug.comparison.report.sections.setup import reproduce, setup
from boostplug.comparison.report.sections.verdict import caveats, methods, recommendation
from boostplug.comparison.report.view import View, of_frameworks
from boostplug.comparison.report.words import counted
from boostplug.comparison.summary import Comparison, Details

# id, heading, its name in the navigation, content
_SECTIONS = (
    ("differences", "Differences to the reference", "Differences", differences),
    ("methods", "All methods", "All methods", methods),
    ("curves", "Learning curves", "Curves", curves),
    ("queries", "Queries won and lost", "Queries", queries),
    ("cutoffs", "NDCG by cut-off", "Cut-offs", cutoffs),
    ("reliability", "Probabilities and what was observed", "Calibration", reliability),
    ("positions", "Clicks by position", "Positions", positions),
    ("features", "Features that the trees split on", "Features", features),
    ("time", "Time and quality", "Time", time),
    ("setup", "Set-up", "Set-up", setup),
    ("reproduce", "How to make it again", "Reproduce", reproduce),
)


def page(document: Comparison, details: Details | None = None, machine: dict[str, Any] | None = None) -> str:
    """Return a comparison as a self-contained page.

    Parameters
    ----------
    document : Comparison
    details : Details, optional
        Without it, the page shows only the document.
    machine : dict, optional
        Result of `boostplug.comparison.machine.machine`.
    """
    view = View(document, details or Details(), machine or {})
    name = document.data.name
    shown = [(id_, head, short, made) for id_, head, short, section in _SECTIONS if (made := section(view))]
    title = f"boostplug compare: {name}" if name else "boostplug compare"
    style, script = (files(__package__).joinpath(file).read_text(encoding="utf-8") for file in ("page.css", "page.js"))
    body = el(
        "body",
        el("a.skip", "Skip to the recommendation", href="#recommendation"),
        el("header", el("h1", title), el("p.lead", _in_short(view)), el("p.lead", _made(view))),
        _navigation([("recommendation", "Recommendation"), *((id_, short) for id_, _, short, _ in shown)], view),
        el(
            "main",
            _caveats(view),
            _section("recommendation", "Recommendation", recommendation(view)),
            [_section(id_, head, made) for id_, head, _, made in shown],
        ),
        el(
            "footer",
            el("p", f"Made by boostplug {document.versions.get('boostplug', '')}. This file fetches nothing."),
        ),
        el("p.unseen", role="status", id="said"),
        el("script", Markup(script)),
    )
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    )
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("style", Markup(style)),
    )
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _in_short(view: View) -> str:
    """Return a line on the methods and the data."""
    document = view.document
    data, settings = document.data, document.settings
    frameworks = " and ".join(name for name, _ in of_frameworks(view.methods))
    runs = counted(len(settings.seeds), "seed") + (f" × {view.folds} folds" if view.folds > 1 else "")
    return (
        f"{counted(len(view.methods), 'method')} in {frameworks}, {runs}, at most {settings.rounds:,} rounds; "
        f"{data.test.queries:,} test queries, {data.features:,} features. "
        f"Chosen by {view.metric} on the validation part, judged on the test part."
    )


def _made(view: View) -> str:
    """Return the date of the comparison, and the versions."""
    date = view.machine.get("date")
    versions = ", ".join(f"{name} {number}" for name, number in view.document.versions.items())
    return f"{f'{date}. ' if date else ''}Versions: {versions}."


def _navigation(places: list[tuple[str, str]], view: View) -> Child:
    links = el("ul", [el("li", el("a", name, href=f"#{id_}")) for id_, name in places])
    choices = []
    for name in ("", *view.document.frameworks):
        button = el("input", type="radio", name="framework", value=name, checked=not name)
        choices.append(el("label", button, el("span", name or "all")))
    choice = el("fieldset.filter", el("legend", "Frameworks"), choices, hidden=True) if view.several else None
    return el("nav", links, choice, aria_label="Sections")


def _caveats(view: View) -> Child:
    items = []
    for line in caveats(view):
        word, colon, rest = line.partition(":")
        items.append(el("li", [el("strong", f"{word}:"), rest] if colon and word.isupper() else line))
    head = el("p.caveats-head", "Before you rely on it")
    return el("aside.caveats", head, el("ul", items), aria_label="Caveats") if items else None


def _section(id_: str, head: str, content: Child) -> Markup:
    return el("section", el("h2", head, id=f"{id_}-head"), content, id=id_, aria_labelledby=f"{id_}-head")
