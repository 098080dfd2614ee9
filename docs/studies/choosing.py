"""Choice of a ranker on clicks: what it costs in true NDCG@10, with and without propensities.

``python -m studies.choosing DATA RESULT.json`` simulates logs from graded sets, lets `compare` choose on the validation
pages, once by the NDCG of the clicks and once by the DCG that propensities estimate, and looks up the truth.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import boostplug as bp
from boostplug.comparison.document import as_json
from boostplug.core.files import write_file
from boostplug.datasets import RankingData
from studies.quality.sets import SETS

_SETS = ("yandex", "nfcorpus")
_ETAS, _SEEDS, _SESSIONS, _PLACES = (0.0, 1.0, 2.0), 5, 12_000, 10
_FEW = 10  # queries that a production ranker has learnt from
_QUERIES, _DOCUMENTS = 300, 30
_TREES = {"num_leaves": 15, "learning_rate": 0.15, "max_bin": 63, "min_rows": 50}


def few(part: Any, seed: int) -> RankingData:
    """Return some queries of a part with some documents each."""
    rng, edges = np.random.default_rng(seed), part.queries.boundaries
    chosen = np.sort(rng.permutation(part.queries.n_queries)[:_QUERIES])
    rows = [np.sort(rng.permutation(np.arange(edges[q], edges[q + 1]))[:_DOCUMENTS]) for q in chosen]
    kept = np.concatenate(rows)
    return RankingData(np.asarray(part.X, np.float32)[kept], part.queries.labels[kept], group=[*map(len, rows)])


def production_rankers(data: RankingData, seed: int) -> list[Any]:
    """Return two rankers of a few labels each, as the log's pages are made by."""
    rng, rankers = np.random.default_rng(seed), []
    for _ in range(2):
        some = np.isin(data.queries.query_of_row, rng.permutation(data.queries.n_queries)[:_FEW])
        ranker = bp.LGBMRanker(objective="lambdarank", n_estimators=20, num_leaves=7, n_jobs=1, verbose=-1)
        rankers.append(ranker.fit(data.X[some], data.y[some], qid=data.queries.query_of_row[some]))
    return rankers


def pages(data: RankingData, rankers: list[Any], eta: float, seed: int) -> RankingData:
    """Return the pages of a log, with clicks as labels."""
    log = bp.clicks.simulate(data, eta=eta, ranker=rankers, sessions=_SESSIONS, max_position=_PLACES, random_state=seed)
    return RankingData.from_clicks(data.X, log)


def compared(train: Any, valid: Any, truth: Any, theta: Any, seed: int, **options: Any) -> Iterator[dict[str, Any]]:
    """Yield each method with its value on the validation pages and its true NDCG@10."""
    losses = {
        "clicks as labels": bp.RankNet(),
        "unbiased_lambdamart": bp.Unbiased(base=bp.LambdaRank()),
        "additive": bp.Unbiased(method="additive"),
        "ips": bp.Unbiased(method="ips", propensity=theta),
    }
    result = bp.compare(
        train, valid, truth, losses=losses, baselines="lambdarank", frameworks="lightgbm", rounds=100, seeds=[seed],
        early_stopping_rounds=15, metrics="NDCG@10", params=_TREES, num_threads=1, progress=False, **options,
    )  # fmt: skip
    for method in result.document["methods"]:
        yield {
            "method": method["method"],
            "validation": method["validation"]["mean"],
            "truth": method["test"]["NDCG@10"]["mean"],
            "rounds": method["rounds"],
        }


def costs(folder: Path, name: str, eta: float, seed: int) -> dict[str, Any]:
    """Return what each way of choosing costs beside the truly best method of both."""
    data, valid, truth = (few(part, seed) for part in SETS[name].load(folder, seed))
    rankers = production_rankers(data, seed)
    train, valid = pages(data, rankers, eta, seed), pages(valid, rankers, eta, seed + 100)
    theta = np.arange(1.0, _PLACES + 1.0) ** -eta
    ways = {
        "clicks": [*compared(train, valid, truth, theta, seed)],
        "propensities": [*compared(train, valid, truth, theta, seed, propensity=theta)],
    }
    best = max(one["truth"] for methods in ways.values() for one in methods)
    chosen = {way: max(methods, key=lambda one: one["validation"]) for way, methods in ways.items()}
    return {
        "set": name,
        "eta": eta,
        "seed": seed,
        "best": best,
        "cost": {way: best - one["truth"] for way, one in chosen.items()},
        "chosen": {way: one["method"] for way, one in chosen.items()},
        "methods": ways,
    }


def main(arguments: list[str]) -> None:
    """Run the study, two logs at once, and print the mean costs."""
    folder, path = Path(arguments[0]), Path(arguments[1])
    cases = [(name, eta, seed) for name in _SETS for eta in _ETAS for seed in range(_SEEDS)]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(costs)(folder, *case) for case in cases)
    write_file(path, as_json(found))
    for name in _SETS:
        for eta in _ETAS:
            rows = [one["cost"] for one in found if (one["set"], one["eta"]) == (name, eta)]
            means = {way: np.mean([row[way] for row in rows]) for way in rows[0]}
            print(f"{name}, eta {eta:g}: " + ", ".join(f"{way} {mean:.4f}" for way, mean in means.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
