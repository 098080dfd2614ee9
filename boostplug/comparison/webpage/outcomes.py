"""Single queries: won and lost, the most extreme of each method, the hardest of all."""

from collections.abc import Sequence
from typing import Any

from boostplug.comparison.report import NONE
from boostplug.comparison.webpage.charts import percent_of
from boostplug.comparison.webpage.markup import Child, Markup, el
from boostplug.comparison.webpage.methods import Shown, label, of_frameworks
from boostplug.comparison.webpage.tables import Cell, Column, difference, number, table, value
from boostplug.comparison.webpage.view import View, folded, of_framework

__all__ = ["queries"]


def queries(view: View) -> Child:
    """Return wins and losses per query, the worst and best queries of each method, and the hardest of all."""
    part = view.detail("queries")
    found = view.with_details(part)
    if not found:
        return None
    counted = [(method, entry) for method, entry in found if entry["wins"] is not None]
    content: list[Child] = []
    if counted:
        content.append(_outcomes(view, part, counted))
    content.append(_named_queries(view, found))
    content.append(_hardest(view))
    return content


def _outcomes(view: View, part: dict[str, Any], counted: Sequence[tuple[Shown, dict[str, Any]]]) -> Child:
    of_method = {method.number: entry for method, entry in counted}
    tied = f"tied: values less than {part['tied_below']:g} apart"
    groups = []
    for framework, of_one in of_frameworks([method for method, _ in counted]):
        reference = of_method[of_one[0].number]["reference"]
        of_one.sort(key=lambda m: of_method[m.number]["losses"] - of_method[m.number]["wins"])
        legend = [
            el("span", class_="key wins"),
            "won ",
            el("span", class_="key ties"),
            "tied ",
            el("span", class_="key losses"),
            (
                f"lost, by {part['metric']} on test, mean over seeds ({tied}). Sorted by won less lost; "
                "the line is at half of the queries."
            ),
        ]
        rows = el("ul", [_outcome_row(method, of_method[method.number]) for method in of_one], class_="rows")
        groups.append(of_framework(view, framework, "outcomes", f"queries against {reference}", legend, rows))
    columns = [
        Column("method", numbers=False),
        Column("framework", numbers=False),
        Column("won"),
        Column("tied"),
        Column("lost"),
        *(Column(head) for head in ("least", "5 %", "25 %", "median", "75 %", "95 %", "most")),
    ]
    rows_of_table = [
        [
            Cell(label(method), method.name.lower()),
            Cell(method.framework, method.framework),
            *(number(entry[key]) for key in ("wins", "ties", "losses")),
            *(difference(v) for v in (entry["quantiles"] or [None] * 7)),
        ]
        for method, entry in counted
    ]
    caption = f"Differences in {part['metric']} per query to the reference, and their quantiles over the queries"
    shown = table(caption, columns, rows_of_table, frameworks=[method.framework for method, _ in counted])
    return [groups, folded("Wins, losses and quantiles of the differences as a table", shown)]


def _outcome_row(method: Shown, entry: dict[str, Any]) -> Markup:
    counts = [entry[key] for key in ("wins", "ties", "losses")]
    total = sum(counts) or 1
    places = [sum(counts[:i]) / total for i in range(4)]
    bars = [
        el("rect", x=percent_of(a), width=percent_of(b - a), y="50%", height=16, class_=kind)
        for a, b, kind in zip(places, places[1:], ("wins", "ties", "losses"), strict=False)
        if b > a
    ]
    half = el("line", x1="50%", x2="50%", y1=0, y2="100%", class_="zero")
    words = [
        [el("span", f"{count:,}", class_=kind), el("span", word, class_="unseen"), el("i", " / ") if i < 2 else None]
        for i, (count, kind, word) in enumerate(zip(counts, ("w", "t", "l"), (" won", " tied", " lost"), strict=True))
    ]
    return el(
        "li",
        el("span", label(method), class_="who"),
        el("span", el("svg", bars, half, aria_hidden="true"), class_="plot"),
        el("span", words, class_="n"),
        class_="row",
    )


def _named_queries(view: View, found: Sequence[tuple[Shown, dict[str, Any]]]) -> Child:
    blocks: list[Markup] = []
    for method, entry in found:
        if not entry["worst"]:
            continue
        compared = entry["worst"][0]["difference"] is not None
        tables = []
        for key, caption in (
            (
                "worst",
                f"Furthest behind {entry['reference']}"
                if compared
                else "Lowest of all"
                if view.sign > 0
                else "Highest of all",
            ),
            ("best", f"Furthest ahead of {entry['reference']}"),
        ):
            if entry[key] and (compared or key == "worst"):
                tables.append(_query_table(view, entry[key], caption, method, entry["reference"] if compared else None))
        summary = el(
            "span",
            "The worst and best queries of " if compared else "The worst queries of ",
            label(method, framework=view.several),
        )
        blocks.append(
            folded(
                summary,
                el("div", tables, class_="pair"),
                opened=not blocks,
                framework=method.framework if blocks else None,
            )
        )
    if not blocks:
        return None
    return [
        el("h3", "The queries behind it"),
        el(
            "p",
            "Queries by their names in the data, the most extreme first; values are means over seeds, and a "
            "difference below 0 is worse.",
        ),
        blocks[0],
        folded(f"The same of {len(blocks) - 1} more", blocks[1:]) if blocks[1:] else None,
    ]


def _query_table(
    view: View, entries: Sequence[dict[str, Any]], caption: str, method: Shown, reference: str | None
) -> Markup:
    metric = view.metric
    columns = [Column("query", numbers=False)]
    columns += [Column("fold")] if view.folds > 1 else []
    columns += [Column("documents"), Column("relevant"), Column(metric)]
    columns += [] if reference is None else [Column(reference), Column("difference")]
    rows = []
    for one in entries:
        cells = [Cell(str(one["query"]), str(one["query"]))]
        cells += [number(one["fold"] + 1)] if view.folds > 1 else []
        cells += [number(one["documents"]), number(one["relevant"]), value(one["value"])]
        cells += [] if reference is None else [value(one["reference_value"]), difference(one["difference"])]
        rows.append(cells)
    return table(caption, columns, rows, name=f"{caption}: {method.full_name}")


def _hardest(view: View) -> Child:
    entries = view.detail("hardest")
    if not entries:
        return None
    columns = [Column("query", numbers=False)]
    columns += [Column("fold")] if view.folds > 1 else []
    columns += [Column("documents"), Column("relevant"), Column("mean of all methods", descending=view.sign > 0)]
    columns += [Column("best", descending=view.sign > 0), Column("by", numbers=False)]
    rows = []
    for one in entries:
        cells = [Cell(str(one["query"]), str(one["query"]))]
        cells += [number(one["fold"] + 1)] if view.folds > 1 else []
        cells += [number(one["documents"]), number(one["relevant"]), value(one["mean"]), value(one["best"])]
        by = one["best_method"] if one["best"] != one["mean"] else None  # all are alike
        cells.append(Cell(by or NONE, by))
        rows.append(cells)
    return [
        el("h3", "The hardest queries of all"),
        el("p", f"Those on which the mean {view.metric} of all methods is {'lowest' if view.sign > 0 else 'highest'}."),
        table("Hardest queries", columns, rows),
    ]
