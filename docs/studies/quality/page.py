"""The study's tables and figures, from its JSON: pages keep their text, and get the tables that they mark.

``<!-- table: NAME -->`` to ``<!-- end -->`` is filled; `tables` says which names there are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from boostplug.replication.drawing import drawn, slug
from boostplug.replication.tables import markdown
from studies.tables import FRAMEWORK_TITLES, decimals, line_style, with_interval

__all__ = ["draw", "tables"]

Document = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]
_MANY = 60  # rows of a table


def tables(document: Document) -> dict[str, list[str]]:
    """Return the lines of each table by its name.

    ``versions``, ``sets``; ``PART, FRAMEWORK`` (each method on each set); ``PART on SET``, by all
    measures; ``pooled PART`` and ``whole lists PART`` (over the sets); ``peers PART`` (the default `QBRank` beside
    them); ``curves`` (over shares of the training queries); ``rule``, ``twins``, ``variants``.
    """
    found = {"sets": _sets(document), "versions": _versions(document)}
    for part in dict.fromkeys(row["part"] for row in document["rows"]):
        rows = [row for row in document["rows"] if row["part"] == part and row["share"] == 1.0]
        pooled = [row for row in document["pooled"] if row["part"] == part and row["share"] == 1.0]
        titles = _titles(document, rows)
        found[f"pooled {part}"] = _pooled(pooled, _titles(document))
        found[f"whole lists {part}"] = _whole_lists(pooled)
        found[f"peers {part}"] = _peers(document, part)
        for framework in FRAMEWORK_TITLES:
            own = [row for row in rows if row["framework"] == framework]
            found[f"{part}, {framework}"] = _on_sets(own, _titles(document, own))
        for data in titles:
            found[f"{part} on {data}"] = _on_set([row for row in rows if row["set"] == data])
    found |= {"curves": _curve_table(document), "rule": _rule(document["rule"])}
    found |= {"twins": _twins(document["twins"]), "variants": _variants(document["variants"])}
    return {name: lines for name, lines in found.items() if lines}


def _titles(document: Document, rows: Rows | None = None) -> dict[str, str]:
    """Return the titles of the sets by name: of those that rows are about, or of all."""
    named = None if rows is None else {row["set"] for row in rows}
    return {one["name"]: one["title"] for one in document["sets"] if named is None or one["name"] in named}


def _pivot(
    rows: Rows, of: Sequence[str], across: str, columns: Iterable[Any], cell: Callable[[Any], str]
) -> dict[Any, list[str]]:
    """Return the cells of all `columns` for each value of some keys; – where there is no row."""
    found: dict[Any, dict[Any, Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in of), {})[row[across]] = row
    return {key: [cell(by[at]) if at in by else "–" for at in columns] for key, by in found.items()}


def _first_mean(row: Mapping[str, Any]) -> str:
    return decimals(row["means"][0])


def _versions(document: Document) -> list[str]:
    listed = ", ".join(f"{name} {number}" for name, number in document["versions"].items() if number)
    return [f"{document['date']}; {listed}.", ""]


def _sets(document: Document) -> list[str]:
    head = ["set", "queries", "documents", "features", "folds × seeds", "test queries counted"]
    body = [
        [
            row["title"],
            f"{row['queries']:,}",
            f"{row['documents']:,}",
            str(row["features"]),
            f"{row['folds']} × {row['seeds']}",
            f"{row['test_queries']:,}",
        ]
        for row in document["sets"]
    ]
    return markdown(head, body)


def _pooled(pooled: Rows, titles: Mapping[str, str]) -> list[str]:
    """Return each method over all sets, beside its framework's LambdaMART."""
    body = []
    for row in pooled:
        o = row["by_measure"]["NDCG@10"]
        body.append(
            [
                FRAMEWORK_TITLES[row["framework"]],
                row["method"],
                _with_interval(o),
                decimals(o["z"], 1, "+"),
                _p(o["p"]),
                f"{decimals(o['of_sets'], 4, '+')} ({_p(o['of_sets_p'])})",
                f"{o['ahead_on']} of {o['n_sets']}",
                f"{titles[o['worst_set']]} ({decimals(o['worst_z'], 1, '+')})",
            ]
        )
    head = ["", "method", "Δ, every query the same", "z", "p", "Δ, every set the same (p)", "ahead on", "worst set (z)"]
    return markdown(head, body)


def _whole_lists(pooled: Rows) -> list[str]:
    """Return each method over all sets by the other measures; more is better in all columns."""
    body = [
        [
            FRAMEWORK_TITLES[row["framework"]],
            row["method"],
            *(_with_z(row["by_measure"].get(name)) for name in ("NDCG@10", "MAP", "PairError", "KendallTau")),
        ]
        for row in pooled
    ]
    return markdown(["", "method", "NDCG@10", "MAP", "pairs in order", "Kendall's τ"], body)


def _on_set(rows: Rows) -> list[str]:
    """Return each method on one set by all measures, best first; with many methods, ours with their defaults alone."""
    if len(rows) > _MANY:
        rows = [row for row in rows if row["plain"]]
    body = [
        [
            FRAMEWORK_TITLES[row["framework"]],
            row["method"],
            *map(decimals, _shown(row["means"])),
            "–" if row["difference"] is None else _with_interval(row["difference"]),
        ]
        for row in sorted(rows, key=lambda row: -row["means"][0])
    ]
    head = ["", "objective", "NDCG@10", "MAP", "pairs in order", "Kendall's τ", "Δ NDCG@10 to the framework's first"]
    return markdown(head, body)


def _shown(means: Sequence[float | None]) -> list[float | None]:
    """Return a set's means with the share of pairs that are in order in place of the error, whose sign was turned."""
    ndcg, average_precision, turned, tau = means
    return [ndcg, average_precision, None if turned is None else 1.0 + turned, tau]


def _curve_table(document: Document) -> list[str]:
    """Return NDCG@10 by share of the training queries, of each set and method."""
    titles, rows = _titles(document), _curve_rows(document)
    shares = sorted({row["share"] for row in rows})
    cells = _pivot(rows, ("set", "framework", "method"), "share", shares, _first_mean)
    body = [
        [titles[data], FRAMEWORK_TITLES[framework], method, *own] for (data, framework, method), own in cells.items()
    ]
    return markdown(["set", "", "objective", *(f"{100 * share:g} %" for share in shares)], body)


def _curve_rows(document: Document) -> Rows:
    return [row for row in document["rows"] if row["part"] == "learning curves"]


def _on_sets(rows: Rows, titles: Mapping[str, str]) -> list[str]:
    """Return the first built-in's NDCG@10, and each other method's difference to it, with interval."""

    def cell(row: Mapping[str, Any]) -> str:
        return _first_mean(row) if row["difference"] is None else _with_interval(row["difference"])

    cells = _pivot(rows, ("method",), "set", titles, cell)
    return markdown(["", *titles.values()], [[*method, *own] for method, own in cells.items()])


def _peers(document: Document, part: str) -> list[str]:
    """Return the default `QBRank` beside each peer on each set."""
    rows = [row for row in document["peers"] if row["part"] == part]
    titles = _titles(document, rows)
    cells = _pivot(rows, ("framework", "of", "peer"), "set", titles, lambda row: _with_interval(row["difference"]))
    body = [
        [FRAMEWORK_TITLES[framework], peer if of == framework else f"{peer} ({FRAMEWORK_TITLES[of]})", *own]
        for (framework, of, peer), own in cells.items()
    ]
    return markdown(["QBRank in", "beside", *titles.values()], body)


def _rule(rule: Document | None) -> list[str]:
    if rule is None:
        return []
    body = [
        [
            f"**{row['loss']}**" if row["loss"] == rule["chosen"] else row["loss"],
            str(len(row["behind"])),
            _with_interval(row["overall"]),
            decimals(row["overall"]["z"], 1, "+"),
            "; ".join(row["behind"]) or "–",
        ]
        for row in rule["candidates"]
    ]
    return markdown(["candidate", "significantly behind", "pooled Δ, mean of four settings", "z", "where"], body)


def _twins(rows: Rows) -> list[str]:
    body = [
        [row["loss"], row["built_in"], _with_interval(row["overall"]), decimals(row["overall"]["z"], 1, "+")]
        for row in rows
    ]
    return markdown(["ours", "LightGBM's own", "pooled Δ", "z"], body)


def _variants(rows: Rows) -> list[str]:
    body = [
        [
            row["loss"],
            row["default"],
            _with_interval(row["overall"]),
            _p(row["p_holm"]),
            " ".join(decimals(value, 4, "+") for value in row["of_settings"]),
            "**yes**" if row["takes_over"] else "no",
        ]
        for row in rows
    ]
    return markdown(["variant", "beside", "pooled Δ", "p (Holm)", "in each setting", "becomes the default"], body)


def draw(document: Document, folder: Path) -> list[Path]:
    """Draw the learning curves, a figure for each set, and return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    files: list[Path] = []
    curves: dict[str, dict[str, dict[float, float]]] = {}
    for row in _curve_rows(document):
        name = f"{row['method']} ({FRAMEWORK_TITLES[row['framework']]})"
        curves.setdefault(row["set"], {}).setdefault(name, {})[row["share"]] = row["means"][0]
    for data, title in _titles(document).items():
        whole = {name: curve for name, curve in curves.get(data, {}).items() if len(curve) > 1}
        if whole:
            path = folder / f"quality-curve-{slug(data)}"
            files += drawn(partial(_plot, whole), f"{title}: NDCG@10 by share of the training queries", path)
    return files


def _plot(curves: Mapping[str, Mapping[float, float]], axes: Any) -> None:
    for i, (name, curve) in enumerate(curves.items()):
        shares = sorted(curve)
        axes.plot(shares, [curve[share] for share in shares], label=name, markersize=4, **line_style(i))
    axes.set_xscale("log")
    axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1.0], ["5 %", "10 %", "20 %", "50 %", "100 %"])
    axes.minorticks_off()
    axes.set_ylabel("NDCG@10 on test queries")


def _with_interval(found: Mapping[str, Any]) -> str:
    return with_interval(found["difference"], found["interval"], 3, p_holm=found.get("p_holm"))


def _with_z(found: Mapping[str, Any] | None) -> str:
    return "–" if found is None else f"{decimals(found['difference'], 4, '+')} ({decimals(found['z'], 1, '+')})"


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else decimals(value, 3)
