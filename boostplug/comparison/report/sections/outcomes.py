"""Single queries: won and lost, the most extreme of each method, the hardest of all."""

from collections.abc import Sequence
from itertools import pairwise

from boostplug.comparison.report.charts import percent_of
from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.tables import NONE, Cell, Column, Row, Table, as_html, difference, number, value
from boostplug.comparison.report.view import Shown, View, folded, label, method_table, of_framework, of_frameworks
from boostplug.comparison.summary import MethodQueries, Query, QueryDifference


def queries(view: View) -> Child:
    """Return wins and losses per query, the worst and best queries of each method, and the hardest of all."""
    found = view.entries(lambda details: details.queries.methods)
    if not found:
        return None
    return [_outcomes(view, found), _named_queries(view, found), _hardest(view)]


def _outcomes(view: View, found: Sequence[tuple[Shown, MethodQueries]]) -> Child:
    compared = [(method, entry) for method, entry in found if entry.wins is not None]
    of_method = {method.number: (e.wins or 0, e.ties or 0, e.losses or 0) for method, e in compared}
    if view.details is None or not compared:
        return None
    part = view.details.queries
    tied = f"tied: values less than {part.tied_below:g} apart"
    groups = []
    for framework, of_one in of_frameworks([method for method, _ in compared]):
        of_one.sort(key=lambda m: of_method[m.number][2] - of_method[m.number][0])
        legend = [
            el("span", class_="key wins"),
            "won ",
            el("span", class_="key ties"),
            "tied ",
            el("span", class_="key losses"),
            (
                f"lost, by {part.metric} on test, mean over seeds ({tied}). Sorted by won less lost; "
                "the line is at half of the queries."
            ),
        ]
        rows = el("ul", [_outcome_row(method, of_method[method.number]) for method in of_one], class_="rows")
        title = f"queries against {of_one[0].summary.reference}"
        groups.append(of_framework(view, framework, "outcomes", title, legend, rows))
    heads = ("won", "tied", "lost", "least", "5 %", "25 %", "median", "75 %", "95 %", "most")
    cells = [
        (m, [*map(number, of_method[m.number]), *map(difference, entry.quantiles or [None] * 7)])
        for m, entry in compared
    ]
    caption = f"Differences in {part.metric} per query to the reference, and their quantiles over the queries"
    shown = method_table(caption, [Column(head) for head in heads], cells)
    return [groups, folded("Wins, losses and quantiles of the differences as a table", shown)]


def _outcome_row(method: Shown, counts: tuple[int, int, int]) -> Markup:
    total = sum(counts) or 1
    places = [sum(counts[:i]) / total for i in range(4)]
    bars = [
        el("rect", x=percent_of(a), width=percent_of(b - a), y="50%", height=16, class_=kind)
        for (a, b), kind in zip(pairwise(places), ("wins", "ties", "losses"), strict=True)
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


def _named_queries(view: View, found: Sequence[tuple[Shown, MethodQueries]]) -> Child:
    blocks: list[Markup] = []
    for method, entry in found:
        if not entry.worst:
            continue
        compared = entry.worst[0].difference is not None
        reference = entry.reference if compared else None
        lowest = "Lowest of all" if view.sign > 0 else "Highest of all"
        caption = f"Furthest behind {reference}" if compared else lowest
        tables = [_query_table(view, entry.worst, caption, method, reference)]
        if entry.best and compared:
            tables.append(_query_table(view, entry.best, f"Furthest ahead of {reference}", method, reference))
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
        folded(f"The other {len(blocks) - 1} methods", blocks[1:]) if blocks[1:] else None,
    ]


def _query_table(
    view: View, entries: Sequence[QueryDifference], caption: str, method: Shown, reference: str | None
) -> Markup:
    columns = [*_heads_of_query(view), Column(view.metric)]
    columns += [] if reference is None else [Column(reference), Column("difference")]
    rows = []
    for one in entries:
        compared = [] if reference is None else [value(one.reference_value), difference(one.difference)]
        rows.append(Row([*_cells_of_query(view, one), value(one.value), *compared]))
    return as_html(Table(columns, rows, caption), name=f"{caption}: {method.full_name}")


def _heads_of_query(view: View) -> list[Column]:
    fold = [Column("fold")] if view.folds > 1 else []
    return [Column("query", numbers=False), *fold, Column("documents"), Column("relevant")]


def _cells_of_query(view: View, one: Query) -> list[Cell]:
    fold = [number(one.fold + 1)] if view.folds > 1 else []
    return [Cell(one.query, one.query), *fold, number(one.documents), number(one.relevant)]


def _hardest(view: View) -> Child:
    if view.details is None or not view.details.hardest:
        return None
    columns = [*_heads_of_query(view), Column("mean of all methods", descending=view.sign > 0)]
    columns += [Column("best", descending=view.sign > 0), Column("by", numbers=False)]
    rows = []
    for one in view.details.hardest:
        by = one.best_method if one.best != one.mean else None  # all are alike
        rows.append(Row([*_cells_of_query(view, one), value(one.mean), value(one.best), Cell(by or NONE, by)]))
    return [
        el("h3", "The hardest queries of all"),
        el("p", f"Those on which the mean {view.metric} of all methods is {'lowest' if view.sign > 0 else 'highest'}."),
        as_html(Table(columns, rows, "Hardest queries")),
    ]
