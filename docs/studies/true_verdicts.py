"""Does the verdict come true? What `compare` promises on 200 queries, beside what its models do on 1,000 others.

``python -m studies.true_verdicts train FOLDER STORE [DRAWS]`` makes the comparisons that STORE lacks, all sets in
turn, on one core. ``python -m studies.true_verdicts page STORE RESULT.json PAGE.md`` fills the page. FOLDER holds the
data sets.
"""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from boostplug.comparison.compare import compare
from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData
from studies.fitting_trees import with_pairs
from studies.quality.sets import SETS, movielens, with_one_relevant
from studies.store import finished
from studies.tables import decimals, markdown, publish, with_error
from studies.verdicts import decided, judged, mean_and_error, record, shares

HERE, OTHERS = 200, 1000  # queries
MOST = {"movielens": 40}  # documents of a query
ONE_CHOICE = "yandex, one choice"
TITLES = {
    "yandex": "Yandex",
    "nfcorpus": "NFCorpus",
    "jester": "Jester",
    "mq2008": "MQ2008",
    "movielens": "MovieLens",
    ONE_CHOICE: "Yandex, one choice",
}
_SEED = 2067


@cache
def _pool(folder: Path, data: str) -> CheckedInputs:
    """Return all queries of a set whose documents have different labels, at most `MOST` documents of each."""
    rng = np.random.default_rng(_SEED)
    fold = movielens(folder, 20)[0] if data == "movielens" else SETS[data.partition(",")[0]].load(folder, 0)
    if data == ONE_CHOICE:
        fold = with_one_relevant(fold, rng)
    labels, group = (
        np.concatenate(values) for values in zip(*((p.queries.labels, p.group) for p in fold), strict=True)
    )
    queries = Queries(labels, group=group)
    place = np.lexsort((rng.random(len(labels)), queries.query_of_row))  # the rows of each query in a random order
    rows = np.sort(place[np.arange(len(labels)) - queries.boundaries[queries.query_of_row] < MOST.get(data, 1000)])
    part = CheckedInputs(np.concatenate([part.X for part in fold])[rows], queries.of_rows(rows, keep_empty=False))
    return part.take_queries(with_pairs(part))


def drawn(folder: Path, data: str, draw: int) -> dict[Any, Any]:
    """Return the record of a comparison on some queries of a set, with what its models do on others."""
    part = _pool(folder, data)
    order = np.random.default_rng((_SEED, draw)).permutation(part.queries.n_queries)
    here, others = part.take_queries(order[:HERE]), part.take_queries(order[HERE : HERE + OTHERS])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare(
            RankingData(here.X, here.queries.labels, group=here.group),
            folds=5,
            losses=["crr", "qbrank"],
            baselines=["lambdarank", "regression", "column", "linear"],
            frameworks="lightgbm",
            params={"learning_rate": 0.1},
            rounds=300,
            early_stopping_rounds=20,
            seeds=1,
            num_threads=1,
            progress=False,
        )
    return record(result, others)


def train(folder: str, store: str, draws: str = "200") -> None:
    """Make the comparisons that are not in the store, set by set in each draw."""
    Path(store).mkdir(parents=True, exist_ok=True)
    for draw in range(int(draws)):
        for data in TITLES:
            finished(Path(store), f"{data}-{draw}", partial(drawn, Path(folder), data, draw))


def by_validation(found: Mapping[str, Any]) -> tuple[float, float]:
    """Return what was promised before, and its truth: the best method by validation, tested on all queries."""
    fresh, keys = found["fresh"], [(framework, name) for name, framework, *_ in found["methods"]]
    runs = {key: [run for run in found["runs"] if (run["framework"], run["method"]) == key] for key in keys}
    ours = max(runs, key=lambda key: float(np.mean([run["validation"] for run in runs[key]])))
    theirs = next((framework, name) for name, framework, _, is_reference in found["methods"] if is_reference)
    gaps = [a["test"]["NDCG@10"] - b["test"]["NDCG@10"] for a, b in zip(runs[ours], runs[theirs], strict=True)]
    return float(np.mean(gaps)), float(np.nanmean(fresh[ours][:-1] - fresh[theirs][:-1]))


def _of_model(found: Mapping[str, Any]) -> float:
    """Return the difference of the challenger's `result.model` and the models of what is in use, on other queries."""
    decision, fresh = decided(found), found["fresh"]
    assert decision.incumbent is not None
    return float(np.nanmean(fresh[decision.challenger.key][-1] - fresh[decision.incumbent.key][:-1].mean(axis=0)))


def _row(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the numbers of some comparisons."""
    verdicts = [judged(one) for one in found]
    before = np.array([by_validation(one) for one in found])
    advised = [number for number, one in enumerate(verdicts) if one.advised]
    return {
        **shares(verdicts),
        "others": float(np.mean([np.isfinite(next(iter(one["fresh"].values()))[0]).sum() for one in found])),
        "by validation": mean_and_error(before[:, 0]),
        "by validation, promised - true": mean_and_error(before[:, 0] - before[:, 1]),
        "came true": sum(verdicts[number].true > 0.0 for number in advised),
        "advised, promised": mean_and_error([verdicts[number].promised for number in advised]),
        "advised, lower end": mean_and_error([(verdicts[number].interval or (np.nan,))[0] for number in advised]),
        "advised, true": mean_and_error([verdicts[number].true for number in advised]),
        "advised, model": mean_and_error([_of_model(found[number]) for number in advised]),
    }


def summary(store: Path) -> dict[str, Any]:
    """Return the numbers of each set and of all, from the draws that every set has."""
    has_all = (all((store / f"{data}-{draw}.joblib").is_file() for data in TITLES) for draw in count())
    n = sum(1 for _ in takewhile(bool, has_all))
    found = {data: [joblib.load(store / f"{data}-{draw}.joblib") for draw in range(n)] for data in TITLES}
    rows = [{"set": title, **_row(found[data])} for data, title in TITLES.items()]
    return {"sets": [*rows, {"set": "all", **_row([*chain.from_iterable(found.values())])}]}


def tables(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the page's tables: what is promised of a change, and what comes of those that are advised."""
    promises, advised = [], []
    for row in found["sets"]:
        share = 100 * row["covered"][0] / row["covered"][1]
        errors = [with_error(row[name]) for name in ("promised - true", "by validation, promised - true")]
        means = [decimals(row[name][0], 4, "+") for name in ("promised", "true")]
        promises.append([row["set"], f"{row['trials']:,}", f"{row['others']:,.0f}", *means, *errors, f"{share:.1f} %"])
        of_advised = [
            decimals(row[f"advised, {name}"][0], 4, "+") for name in ("promised", "lower end", "true", "model")
        ]
        advised.append([row["set"], f"{row['advised']} of {row['trials']:,}", str(row["came true"]), *of_advised])
    first = ["set", "draws", "others", "promised", "true", "promised − true", "by validation", "holds"]
    second = ["set", "a change is advised", "it is better", "promised", "lower end", "true", "`result.model`"]
    return {"promises": markdown(first, promises, numbers=True), "advised": markdown(second, advised, numbers=True)}


def page(store: str, result: str, page: str) -> None:
    """Write the numbers, and fill the page."""
    publish(summary(Path(store)), result, page, tables)


COMMANDS: Mapping[str, Callable[..., None]] = {"train": train, "page": page}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
