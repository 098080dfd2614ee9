"""The study's tables and figures, from its JSON: pages keep their text, and get the tables that they mark.

``<!-- table: NAME -->`` to ``<!-- end -->`` is filled; `tables` says which names there are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostplug.comparison.document import table_lines
from boostplug.comparison.report.drawing import COLOURS, DASHES, MARKERS, drawn, slug

__all__ = ["draw", "tables"]

Document = Mapping[str, Any]
_MANY = 60  # rows of a table
_FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}


def tables(document: Document) -> dict[str, list[str]]:
    """Return the lines of each table by its name.

    ``versions``, ``sets``, ``in short``; ``PART, FRAMEWORK`` (each method on each set); ``PART on SET``, by all
    measures; ``pooled PART`` and ``whole lists PART`` (over the sets); ``peers PART`` (the default `QBRank` beside
    them); ``curves`` (over shares of the training queries); ``rule``, ``twins``,
    ``variants``.
    """
    found: dict[str, Iterable[str]] = {"sets": _sets(document), "versions": _versions(document)}
    for part in dict.fromkeys(row["part"] for row in document["rows"]):
        found[f"pooled {part}"] = _pooled(document, part)
        found[f"whole lists {part}"] = _whole_lists(document, part)
        found[f"peers {part}"] = _peers(document, part)
        for framework in _FRAMEWORKS:
            found[f"{part}, {framework}"] = _on_sets(document, part, framework)
        for data in _titles(document):
            found[f"{part} on {data}"] = _on_set(document, part, data)
    found["curves"] = _curve_table(document)
    found["in short"] = _in_short(document, "24 leaves")
    found |= {"rule": _rule(document), "twins": _twins(document), "variants": _variants(document)}
    return {name: lines for name, rows in found.items() if (lines := [*rows])}


def _titles(document: Document, rows: Sequence[Mapping[str, Any]] | None = None) -> dict[str, str]:
    """Return the titles of the sets by name: of those that rows are about, or of all."""
    named = None if rows is None else {row["set"] for row in rows}
    return {one["name"]: one["title"] for one in document["sets"] if named is None or one["name"] in named}


def _versions(document: Document) -> Iterator[str]:
    listed = ", ".join(f"{name} {number}" for name, number in document["versions"].items() if number)
    yield f"{document['date']}; {listed}."
    yield ""


def _sets(document: Document) -> Iterator[str]:
    head = ["set", "queries", "documents", "features", "folds × seeds", "test queries counted"]
    yield from _table(
        head,
        [
            [
                row["title"],
                f"{row['queries']:,}",
                f"{row['documents']:,}",
                str(row["features"]),
                f"{row['folds']} × {row['seeds']}",
                f"{row['test_queries']:,}",
            ]
            for row in document["sets"]
        ],
    )


def _pooled(document: Document, part: str) -> Iterator[str]:
    """Yield each method over all sets, beside its framework's LambdaMART."""
    titles = _titles(document)
    body = []
    for row in document["pooled"]:
        if row["part"] == part and row["share"] == 1.0:
            o = row["by_measure"]["NDCG@10"]
            worst = f"{titles[o['worst_set']]} ({_signed(o['worst_z'], 1)})"
            body.append(
                [
                    _FRAMEWORKS[row["framework"]],
                    row["method"],
                    _with_interval(o),
                    _signed(o["z"], 1),
                    _p(o["p"]),
                    f"{_signed(o['of_sets'], 4)} ({_p(o['of_sets_p'])})",
                    f"{o['ahead_on']} of {o['n_sets']}",
                    worst,
                ]
            )
    head = ["", "method", "Δ, every query the same", "z", "p", "Δ, every set the same (p)", "ahead on", "worst set (z)"]
    yield from _table(head, body)


def _whole_lists(document: Document, part: str) -> Iterator[str]:
    """Yield each method over all sets by the other measures; more is better in all columns."""
    body = [
        [
            _FRAMEWORKS[row["framework"]],
            row["method"],
            *(_with_z(row["by_measure"].get(name)) for name in ("NDCG@10", "MAP", "PairError", "KendallTau")),
        ]
        for row in document["pooled"]
        if row["part"] == part and row["share"] == 1.0
    ]
    yield from _table(["", "method", "NDCG@10", "MAP", "pairs in order", "Kendall's τ"], body)


def _in_short(document: Document, part: str) -> Iterator[str]:
    """Yield NDCG@10 of the built-in objectives and of our losses with their defaults, and how they do over all sets."""
    pooled = {
        (row["framework"], row["method"]): row["by_measure"]["NDCG@10"]
        for row in document["pooled"]
        if row["part"] == part and row["share"] == 1.0
    }
    rows = [row for row in document["rows"] if row["part"] == part and row["share"] == 1.0]
    titles = _titles(document, rows)
    body = []
    for framework, method in dict.fromkeys((row["framework"], row["method"]) for row in rows):
        found = {row["set"]: row for row in rows if (row["framework"], row["method"]) == (framework, method)}
        if not next(iter(found.values()))["plain"]:
            continue
        cells = [_plain(found[name]["means"][0]) if name in found else "–" for name in titles]
        beside = pooled.get((framework, method))
        best = "" if beside is None else _with_interval(beside)
        body.append([_FRAMEWORKS[framework], method, *cells, best])
    yield from _table(["", "objective", *titles.values(), "all queries: Δ to the first"], body)


def _on_set(document: Document, part: str, data: str) -> Iterator[str]:
    """Yield each method on one set by all measures, best first; with many methods, ours with their defaults alone."""
    rows = [row for row in document["rows"] if (row["part"], row["set"], row["share"]) == (part, data, 1.0)]
    if len(rows) > _MANY:
        rows = [row for row in rows if row["plain"]]
    body = [
        [
            _FRAMEWORKS[row["framework"]],
            row["method"],
            *map(_plain, _shown(row["means"])),
            "–" if row["difference"] is None else _with_interval(row["difference"]),
        ]
        for row in sorted(rows, key=lambda row: -row["means"][0])
    ]
    head = ["", "objective", "NDCG@10", "MAP", "pairs in order", "Kendall's τ", "Δ NDCG@10 to the framework's first"]
    yield from _table(head, body)


def _shown(means: Sequence[float | None]) -> list[float | None]:
    """Return a set's means with the share of pairs that are in order in place of the error, whose sign was turned."""
    ndcg, average_precision, turned, tau = means
    return [ndcg, average_precision, None if turned is None else 1.0 + turned, tau]


def _curve_table(document: Document) -> Iterator[str]:
    """Yield NDCG@10 by share of the training queries, of each set and method."""
    titles = _titles(document)
    rows = [row for row in document["rows"] if row["part"] == "learning curves"]
    shares = sorted({row["share"] for row in rows})
    body = []
    for data, framework, method in dict.fromkeys((row["set"], row["framework"], row["method"]) for row in rows):
        found = {
            row["share"]: row["means"][0]
            for row in rows
            if (row["set"], row["framework"], row["method"]) == (data, framework, method)
        }
        cells = [_plain(found[share]) if share in found else "–" for share in shares]
        body.append([titles[data], _FRAMEWORKS[framework], method, *cells])
    yield from _table(["set", "", "objective", *(f"{100 * share:g} %" for share in shares)], body)


def _on_sets(document: Document, part: str, framework: str) -> Iterator[str]:
    """Yield the first built-in's NDCG@10, and each other method's difference to it, with interval."""
    rows = [
        row for row in document["rows"] if row["part"] == part and row["framework"] == framework and row["share"] == 1.0
    ]
    titles = _titles(document, rows)
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        of_sets = {row["set"]: row for row in rows if row["method"] == method}
        body.append([method, *(_cell(of_sets.get(name)) for name in titles)])
    yield from _table(["", *titles.values()], body)


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "–"
    found = row["difference"]
    return _plain(row["means"][0]) if found is None else _with_interval(found)


def _peers(document: Document, part: str) -> Iterator[str]:
    """Yield the default `QBRank` beside each peer on each set."""
    rows = [row for row in document["peers"] if row["part"] == part]
    titles = _titles(document, rows)
    body = []
    for framework, of, peer in dict.fromkeys((row["framework"], row["of"], row["peer"]) for row in rows):
        found = {
            row["set"]: row["difference"]
            for row in rows
            if (row["framework"], row["of"], row["peer"]) == (framework, of, peer)
        }
        cells = [_with_interval(found[name]) if name in found else "–" for name in titles]
        body.append([_FRAMEWORKS[framework], peer if of == framework else f"{peer} ({_FRAMEWORKS[of]})", *cells])
    yield from _table(["QBRank in", "beside", *titles.values()], body)


def _rule(document: Document) -> Iterator[str]:
    rule = document["rule"]
    if rule is None:
        return
    body = [
        [
            f"**{row['loss']}**" if row["loss"] == rule["chosen"] else row["loss"],
            str(len(row["behind"])),
            _with_interval(row["overall"]),
            _signed(row["overall"]["z"], 1),
            "; ".join(row["behind"]) or "–",
        ]
        for row in rule["candidates"]
    ]
    yield from _table(["candidate", "significantly behind", "pooled Δ, mean of four settings", "z", "where"], body)


def _twins(document: Document) -> Iterator[str]:
    body = [
        [row["loss"], row["built_in"], _with_interval(row["overall"]), _signed(row["overall"]["z"], 1)]
        for row in document["twins"]
    ]
    yield from _table(["ours", "LightGBM's own", "pooled Δ", "z"], body)


def _variants(document: Document) -> Iterator[str]:
    body = [
        [
            row["loss"],
            row["default"],
            _with_interval(row["overall"]),
            _p(row["p_holm"]),
            " ".join(_signed(value, 4) for value in row["of_settings"]),
            "**yes**" if row["takes_over"] else "no",
        ]
        for row in document["variants"]
    ]
    head = ["variant", "beside", "pooled Δ", "p (Holm)", "in each setting", "becomes the default"]
    yield from _table(head, body)


def draw(document: Document, folder: Path) -> list[Path]:
    """Draw the learning curves, a figure for each set, and return the files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    titles, files = _titles(document), []
    shares = [row for row in document["rows"] if row["part"] == "learning curves"]
    for data in dict.fromkeys(row["set"] for row in shares if row["share"] != 1.0):
        curves: dict[str, dict[float, float]] = {}
        for row in shares:
            if row["set"] == data:
                name = f"{row['method']} ({_FRAMEWORKS[row['framework']]})"
                curves.setdefault(name, {})[row["share"]] = row["means"][0]
        whole = {name: curve for name, curve in curves.items() if len(curve) > 1}
        path = folder / f"quality-curve-{slug(data)}"
        files += drawn(_curves(whole), f"{titles[data]}: NDCG@10 by share of the training queries", path)
    return files


def _curves(curves: Mapping[str, Mapping[float, float]]) -> Callable[[Any], None]:
    def plot(axes: Any) -> None:
        for i, (name, curve) in enumerate(curves.items()):
            shares = sorted(curve)
            style = {"marker": MARKERS[i % len(MARKERS)], "linestyle": DASHES[i // len(COLOURS) % len(DASHES)]}
            values = [curve[share] for share in shares]
            axes.plot(shares, values, color=COLOURS[i % len(COLOURS)], label=name, markersize=4, **style)
        axes.set_xscale("log")
        axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1.0], ["5 %", "10 %", "20 %", "50 %", "100 %"])
        axes.minorticks_off()
        axes.set_ylabel("NDCG@10 on test queries")

    return plot


def _with_interval(found: Mapping[str, Any]) -> str:
    """Return a difference with its interval, bold where it is significant after Holm's correction."""
    low, high = found["interval"]
    text = f"{_signed(found['difference'], 4)} [{_signed(low, 3)}, {_signed(high, 3)}]"
    p = found.get("p_holm")
    return f"**{text}**" if p is not None and p < 0.05 else text


def _with_z(found: Mapping[str, Any] | None) -> str:
    return "–" if found is None else f"{_signed(found['difference'], 4)} ({_signed(found['z'], 1)})"


def _signed(value: float | None, digits: int) -> str:
    if value is None:
        return "–"
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}".replace("0.", ".", 1).replace("-", "−")


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}".replace("0.", ".", 1)


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table; none where it has no row."""
    return table_lines(head, body, numbers=False) if body else []
