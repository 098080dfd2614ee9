"""Single queries: won and lost, the most extreme of each method, the hardest of all."""

from collections.abc import Sequence
from itertools import pairwise

from boostplug.comparison.report.charts import percent_of
from boostplug.comparison.report.markup import Child, Markup, el
from boostplug.comparison.report.tables import NONE, Cell, Column, Row, Table, as_html, difference, number, value
from boostplug.comparison.report.view import Shown, View, folded, label, method_table, of_framework, of_frameworks
from boostplug.comparison.summary import QueryValue

_QUANTILES = ("least", "5 %", "25 %", "median", "75 %", "95 %", "most")


def queries(view: View) -> Child:
    """Return wins and losses per query, the worst and best queries of each method, and the hardest of all."""
    return [_outcomes(view), _named_queries(view), _hardest(view)] if view.details.methods else None


def _outcomes(view: View) -> Child:
    methods = [m for m in view.methods if m.details.outcomes]
    if not methods:
        return None
    tied = f"tied: values less than {view.details.tied_below:g} apart"
    order = "Sorted by won less lost; the line is at half of the queries."
    groups = []
    for framework, of_one in of_frameworks(methods):
        of_one.sort(key=lambda m: m.details.outcomes[2] - m.details.outcomes[0])
        legend = [
            *([el("span", class_=f"key {kind}"), f"{word} "] for kind, word in (("wins", "won"), ("ties", "tied"))),
            el("span", class_="key losses"),
            f"lost, by {view.metric} on test, mean over seeds ({tied}). {order}",
        ]
        rows = el("ul", [*map(_outcome_row, of_one)], class_="rows")
        title = f"queries against {of_one[0].summary.reference}"
        groups.append(of_framework(view, framework, "outcomes", title, legend, rows))
    columns = [Column(head) for head in ("won", "tied", "lost", *_QUANTILES)]

    def cells(method: Shown) -> list[Cell]:
        quantiles = method.details.quantiles or [None] * len(_QUANTILES)
        return [*map(number, method.details.outcomes), *map(difference, quantiles)]

    caption = f"Differences in {view.metric} per query to the reference, and their quantiles over the queries"
    summary = "Wins, losses and quantiles of the differences as a table"
    return [groups, folded(summary, method_table(caption, columns, methods, cells))]


def _outcome_row(method: Shown) -> Markup:
    counts = method.details.outcomes
    total = sum(counts) or 1
    places = [sum(counts[:i]) / total for i in range(4)]
    bars = [
        el("rect", x=percent_of(a), width=percent_of(b - a), y="50%", height=16, class_=kind)
        for (a, b), kind in zip(pairwise(places), ("wins", "ties", "losses"), strict=True)
        if b > a
    ]
    half = el("line", x1="50%", x2="50%", y1=0, y2="100%", class_="zero")
    words = [
        [el("span", f"{count:,}", class_=word[1]), el("span", word, class_="unseen"), el("i", " / ") if i < 2 else None]
        for i, (count, word) in enumerate(zip(counts, (" won", " tied", " lost"), strict=True))
    ]
    return el(
        "li",
        el("span", label(method), class_="who"),
        el("span", el("svg", bars, half, aria_hidden="true"), class_="plot"),
        el("span", words, class_="n"),
        class_="row",
    )


def _named_queries(view: View) -> Child:
    blocks: list[Markup] = []
    for method in (m for m in view.methods if m.details.worst):
        reference = method.details.worst[0].other
        lowest = f"{'Lowest' if view.sign > 0 else 'Highest'} of all"
        behind = f"Furthest behind {reference}" if reference else lowest
        tables = [_query_table(view, method, method.details.worst, behind)]
        if method.details.best and reference:
            tables.append(_query_table(view, method, method.details.best, f"Furthest ahead of {reference}"))
        which = "The worst and best queries of " if reference else "The worst queries of "
        blocks.append(
            folded(
                el("span", which, label(method, framework=view.several)),
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


def _query_table(view: View, method: Shown, entries: Sequence[QueryValue], caption: str) -> Markup:
    reference = entries[0].other
    columns = [Column(view.metric), *([Column(reference), Column("difference")] if reference else [])]
    rows = []
    for one in entries:
        compared = (
            []
            if one.other_value is None
            else [value(one.other_value), difference(view.sign * (one.value - one.other_value))]
        )
        rows.append([value(one.value), *compared])
    return _table_of_queries(view, entries, columns, rows, caption, f"{caption}: {method.full_name}")


def _table_of_queries(
    view: View,
    entries: Sequence[QueryValue],
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    caption: str,
    name: str,
) -> Markup:
    """Return a table with a row for each query: its name and size, then cells."""
    folds = view.folds > 1
    heads = [Column("query", numbers=False), *([Column("fold")] if folds else []), Column("documents")]
    cells = [
        [
            Cell(one.query, one.query),
            *([number(one.fold + 1)] if folds else []),
            number(one.documents),
            number(one.relevant),
            *others,
        ]
        for one, others in zip(entries, rows, strict=True)
    ]
    return as_html(Table([*heads, Column("relevant"), *columns], [*map(Row, cells)], caption), name=name)


def _hardest(view: View) -> Child:
    hardest = view.details.hardest
    if not hardest:
        return None
    largest_first = view.sign > 0
    columns = [Column(head, descending=largest_first) for head in ("mean of all methods", "best")]
    rows = []
    for one in hardest:
        by = one.other if one.other_value != one.value else None  # all are alike
        rows.append([value(one.value), value(one.other_value), Cell(by or NONE, by)])
    columns.append(Column("by", numbers=False))
    return [
        el("h3", "The hardest queries of all"),
        el("p", f"Those on which the mean {view.metric} of all methods is {'lowest' if largest_first else 'highest'}."),
        _table_of_queries(view, hardest, columns, rows, "Hardest queries", "Hardest queries"),
    ]
