"""Cost of a second label on the first: sums of two bound losses, on MSLR's clicks and on a made-up shop.

``python -m studies.several_labels DATA PAGE.md`` trains in some minutes, and fills the tables of the page.
DATA is the folder that holds ``mslr_sample``.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.compare import compare
from boostplug.comparison.result import CompareResult
from boostplug.datasets import Fold, RankingData
from boostplug.losses import QBRank
from boostplug.metrics import NDCG
from boostplug.replication.sources import N_FOLDS
from boostplug.replication.tables import markdown
from studies.quality.sets import SETS
from studies.tables import decimals, difference, fill, with_interval

__all__ = ["main", "mslr_with_clicks", "shop"]

Floats = NDArray[np.float64]

_CLICKS = slice(133, 136)  # MSLR's features 134 to 136, counted from 1: query-url clicks, url clicks, dwell time
_COUNTED = 134  # url clicks
_SEEDS, _ROUNDS = 3, 300


def mslr_with_clicks(folder: Path) -> Iterator[Fold]:
    """Yield the folds of the MSLR sample with a label ``click``, from 0 to 4, and without the click features.

    The label is the power of ten below the number of clicks, as clicks are counted in one to a million.
    """
    for fold in range(N_FOLDS):
        parts = []
        for part in SETS["mslr"].load(folder, fold):
            X = np.asarray(part.X)
            click = np.clip(np.floor(np.log10(1.0 + X[:, _COUNTED])), 0.0, 4.0)
            rest = np.delete(X, _CLICKS, axis=1)
            parts.append(RankingData(rest, part.queries.labels, group=part.group, labels={"click": click}))
        yield Fold(*parts)


def shop(n_queries: int, seed: int) -> RankingData:
    """Return products with clicks as the label and sales as a second one.

    A picture draws clicks and no sales; price and quality count once a product is clicked.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 30, n_queries)
    n = int(sizes.sum())
    match, price, quality, picture = rng.normal(size=(4, n))
    X = np.column_stack([match, price, quality, picture]) + 0.3 * rng.normal(size=(n, 4))
    click = match + 1.2 * picture + rng.logistic(size=n) > 1.5
    sale = click & (quality - price + rng.logistic(size=n) > 1.0)
    return RankingData(X, 1.0 * click, group=sizes, labels={"sale": 1.0 * sale})


def table(folds: list[Fold], label: str, leaves: int) -> list[str]:
    """Return how each sum differs from the first loss alone, on both labels, with intervals over test queries."""
    metrics = (NDCG(10), NDCG(10).on(label))
    result = compare(
        folds,
        sweep=(QBRank(), QBRank().on(label)),
        losses=[],
        baselines=[],
        frameworks="lightgbm",
        rounds=_ROUNDS,
        seeds=_SEEDS,
        params={"num_leaves": leaves},
    )
    front = {one["method"] for one in result.document["trade_off"]["front"]}
    first = result.outcomes.methods[0].name
    rows = []
    for method in result.outcomes.methods:
        cells = [_cell(result, method.name, first, metric.name) for metric in metrics]
        rows.append([method.name, *cells, "yes" if method.name in front else "no"])
    return markdown(["loss", *(metric.name for metric in metrics), "on the front"], rows)


def _cell(result: CompareResult, name: str, first: str, metric: str) -> str:
    """Return the mean of a method, or its difference to the first one with the 95 % interval."""
    ours, theirs = (_per_query(result, one, metric) for one in (name, first))
    if name == first:
        return decimals(float(np.nanmean(np.concatenate(ours))))
    return with_interval(*difference(ours, theirs))


def _per_query(result: CompareResult, name: str, metric: str) -> list[Floats]:
    """Return by fold a metric of each test query, the mean over seeds."""
    runs = [run for run in result.outcomes.runs if run.method == name]
    return [np.mean([r.per_query[metric] for r in runs if r.fold == f], axis=0) for f in sorted({r.fold for r in runs})]


def main(folder: str, page: str) -> None:
    """Train, and fill a page."""
    made = [Fold(*(shop(1000, seed) for seed in (1, 2, 3)))]
    mslr = [*mslr_with_clicks(Path(folder))]
    fill(Path(page), {"mslr": table(mslr, "click", 24), "shop": table(made, "sale", 7)})


if __name__ == "__main__":
    main(*sys.argv[1:])
