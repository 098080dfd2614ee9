"""Choice of a ranker on clicks: its cost in true NDCG@10, with and without propensities.

``python -m studies.choosing DATA RESULT.json PAGE.md`` trains for about 20 minutes on one core, and fills the table of
the page. DATA is the folder that holds the data sets. With a fourth argument, the number of the first seed, it
explores: logs of other seeds than the page's.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug import LGBMRanker
from boostplug.clicks import simulate
from boostplug.comparison.compare import compare
from boostplug.datasets import RankingData
from boostplug.losses import Loss, RankNet, Unbiased
from studies.quality.sets import SETS
from studies.tables import decimals, markdown, publish

__all__ = ["main", "tables"]

Floats = NDArray[np.float64]

_SETS = ("yandex", "nfcorpus")
_ETAS, _SEEDS = (0.0, 1.0, 2.0), 5
_SESSIONS, _PLACES = 12_000, 10
_QUERIES, _DOCUMENTS = 65, 30  # of the training log; 185 sessions a query, as in `studies.clicks`
_FEW = 10  # queries whose labels train a production ranker
_TREES = {"num_leaves": 15, "learning_rate": 0.15, "max_bin": 63, "min_rows": 50}
_TRAININGS: dict[str, dict[str, Any]] = {
    "same models": {"rounds": 50, "early_stopping_rounds": None},
    "stopped early": {"rounds": 100},
}
_WAYS = ("clicks", "propensities", "grades")


def taken(data: RankingData, queries: Any, rng: np.random.Generator | None = None) -> RankingData:
    """Return some queries; with a generator, at most `_DOCUMENTS` random documents of each."""
    edges = data.queries.boundaries
    of_query = [np.arange(edges[q], edges[q + 1]) for q in queries]
    if rng is not None:
        of_query = [np.sort(rng.permutation(rows)[:_DOCUMENTS]) for rows in of_query]
    kept = np.concatenate(of_query)
    return RankingData(data.X[kept], data.y[kept], group=[len(rows) for rows in of_query])


def loaded(folder: Path, name: str, fold: int) -> list[RankingData]:
    """Return the training, validation and test part of a fold."""
    return [
        RankingData(np.asarray(part.X, np.float32), part.queries.labels, group=part.group)
        for part in SETS[name].load(folder, fold)
    ]


def parts(folder: Path, name: str, seed: int) -> tuple[RankingData, RankingData, RankingData]:
    """Return candidates of few training queries, those of all validation queries, and all other queries complete."""
    train, valid, test = loaded(folder, name, seed % 5)
    rng = np.random.default_rng(seed)
    order = rng.permutation(train.n_queries)
    rest = taken(train, order[_QUERIES:])
    truth = RankingData(
        np.concatenate([test.X, rest.X]), np.concatenate([test.y, rest.y]), group=[*test.group, *rest.group]
    )
    return taken(train, order[:_QUERIES], rng), taken(valid, range(valid.n_queries), rng), truth


def production_rankers(data: RankingData, seed: int) -> list[LGBMRanker]:
    """Return two rankers that have learnt from the labels of few queries each."""
    rng, rankers = np.random.default_rng(seed), []
    for _ in range(2):
        some = np.isin(data.queries.query_of_row, rng.permutation(data.n_queries)[:_FEW])
        ranker = LGBMRanker(objective="lambdarank", n_estimators=20, num_leaves=7, n_jobs=1, verbose=-1)
        rankers.append(ranker.fit(data.X[some], data.y[some], qid=data.queries.query_of_row[some]))
    return rankers


def pages(data: RankingData, rankers: list[LGBMRanker], eta: float, seed: int) -> RankingData:
    """Return the pages of a log, with clicks as labels."""
    log = simulate(data, eta=eta, ranker=rankers, sessions=_SESSIONS, max_position=_PLACES, random_state=seed)
    return RankingData.from_clicks(data.X[log.document], log)


def of_log(folder: Path, name: str, eta: float, seed: int) -> dict[str, Any]:
    """Return, for one log, each method's value on validation and true NDCG@10, by how it trains and what judges."""
    data, judged, truth = parts(folder, name, seed)
    rankers = production_rankers(data, seed)
    train, shown = pages(data, rankers, eta, seed), pages(judged, rankers, eta, seed + 1000)
    theta = np.arange(1.0, _PLACES + 1.0) ** -eta
    losses: dict[str, Loss] = {
        "clicks as labels": RankNet(),
        "unbiased_lambdamart": Unbiased(method="unbiased_lambdamart"),
        "additive": Unbiased(method="additive", ridge=0.03),
        "ips": Unbiased(method="ips", propensity=theta),
    }
    judges: dict[str, tuple[RankingData, dict[str, Any]]] = {
        "clicks": (shown, {}),
        "propensities": (shown, {"propensity": theta}),
        "grades": (judged, {}),
    }
    methods: dict[str, Any] = {}
    for training, rounds in _TRAININGS.items():
        for way, (valid, options) in judges.items():
            result = compare(
                train,
                valid,
                truth,
                losses=losses,
                baselines="lambdarank",
                frameworks="lightgbm",
                seeds=[seed],
                metrics="NDCG@10",
                params=_TREES,
                num_threads=1,
                progress=False,
                **rounds,
                **options,
            )
            methods.setdefault(training, {})[way] = {
                one["method"]: [one["validation"]["mean"], one["test"]["NDCG@10"]["mean"]]
                for one in result.document["methods"]
            }
    return {"set": name, "eta": eta, "seed": seed, "methods": methods}


def costs(methods: Mapping[str, Mapping[str, list[float]]]) -> dict[str, float]:
    """Return how far the true NDCG@10 of what each way chooses is below the best that any way has trained."""
    best = max(truth for of_way in methods.values() for _, truth in of_way.values())
    return {way: best - max(of_way.values())[1] for way, of_way in methods.items()}


def tables(logs: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the table of the page: mean costs by set and η, and over both sets where there is bias."""
    cases = [(SETS[name].title, f"{eta:g}", {name}, {eta}) for name in _SETS for eta in _ETAS]
    body = [
        [title, eta, *_cells(logs, names, etas)]
        for title, eta, names, etas in [*cases, ("both", "1 and 2", {*_SETS}, {1.0, 2.0})]
    ]
    head = [f"{way}, {training}" for training in _TRAININGS for way in _WAYS]
    return {"costs": markdown(["set", "η", *head], body, numbers=True)}


def _cells(logs: list[dict[str, Any]], names: set[str], etas: set[float]) -> list[str]:
    """Return the mean cost of each way of choosing in each way of training."""
    own = [log["methods"] for log in logs if log["set"] in names and log["eta"] in etas]
    of_trainings = [[costs(methods[training]) for methods in own] for training in _TRAININGS]
    return [decimals(float(np.mean([one[way] for one in found]))) for found in of_trainings for way in _WAYS]


def main(folder: str, result: str, page: str, first_seed: str = "0") -> None:
    """Train, keep the figures and fill the page."""
    seeds = range(int(first_seed), int(first_seed) + _SEEDS)
    logs = [of_log(Path(folder), name, eta, seed) for name in _SETS for seed in seeds for eta in _ETAS]
    publish(logs, result, page, tables)


if __name__ == "__main__":
    main(*sys.argv[1:])
