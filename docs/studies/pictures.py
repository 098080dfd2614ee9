"""Pictures of two pages whose trainings are done, from their stored figures: ``python -m studies.pictures``."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from studies.drawing import COLOURS, INK, drawn
from studies.tables import FRAMEWORK_TITLES

__all__ = ["draw"]

_RESULTS = Path(__file__).parents[1] / "results"
_SETS = ("yandex", "nfcorpus", "jester", "movielens")  # the MSLR sample has too few queries for a curve
_SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)


def _curves(found: Mapping[str, Any], axes: Any) -> None:
    """Draw how far `QBRank` is ahead of LambdaMART, by share of the training queries."""
    titles = {one["name"]: one["title"].partition(",")[0] for one in found["sets"]}
    rows = {
        (row["set"], row["framework"], row["share"]): row["difference"]["difference"]
        for row in found["rows"]
        if (row["part"], row["method"]) == ("learning curves", "QBRank")
    }
    for framework, dash in (("lightgbm", "-"), ("xgboost", "--")):
        for name, colour in zip(_SETS, COLOURS, strict=False):
            gaps = [rows[name, framework, share] for share in _SHARES]
            label = f"{titles[name]}, {FRAMEWORK_TITLES[framework]}"
            axes.plot(_SHARES, gaps, dash, color=colour, marker="o", markersize=4, label=label)
    axes.axhline(0.0, color=INK, linewidth=1.0)
    axes.set_xscale("log")
    axes.set_xticks(_SHARES, [f"{100 * share:g} %" for share in _SHARES])
    axes.minorticks_off()
    axes.set_xlabel("share of the training queries")
    axes.set_ylabel("NDCG@10 less LambdaMART's")


def _beside_catboost(found: Mapping[str, Any], axes: Any) -> None:
    """Draw how far our losses are ahead of CatBoost's two, with 95 % intervals."""
    names = {"default": "", "rows": ", subsample=0.7"}
    listed = [row for row in found["beside"] if row["beside"][0] == "catboost" and row["arm"][2] in ("QBRank", "CRR")]
    labels = list(
        dict.fromkeys(f"{row['arm'][2]}, {FRAMEWORK_TITLES[row['arm'][0]]}{names[row['arm'][1]]}" for row in listed)
    )
    for number, peer in enumerate(("YetiRank", "QueryRMSE")):
        own = [row["pooled"] for row in listed if row["beside"][2] == peer]
        axes.errorbar(
            [mean for mean, _ in own],
            [place + 0.2 * (number - 0.5) for place in range(len(own))],
            xerr=[1.96 * error for _, error in own],
            fmt="o",
            color=COLOURS[number],
            label=f"beside {peer}",
        )
    axes.axvline(0.0, color=INK, linewidth=1.0)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xticks([-0.004, -0.002, 0.0, 0.002, 0.004])
    axes.invert_yaxis()
    axes.set_xlabel("difference in NDCG@10; right of 0: our loss is ahead")


def draw(results: Path = _RESULTS) -> list[Path]:
    """Draw both pictures, and return their files."""
    listed = (
        ("quality", _curves, "QBRank beside LambdaMART, by size of the training part", "quality-curves"),
        ("starting_point", _beside_catboost, "QBRank and CRR beside CatBoost, seven sets pooled", "starting-point"),
    )
    files: list[Path] = []
    for page, plot, title, name in listed:
        found = json.loads((results / f"{page}.json").read_text(encoding="utf-8"))
        files += drawn(partial(plot, found), title, results / "figures" / name)
    return files


if __name__ == "__main__":
    draw()
