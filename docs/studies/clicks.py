"""Value of clicks: rankers from simulated logs, judged by the true labels; propensities; pairs beside labels.

``python -m studies.clicks DATA STORE RESULT.json PAGE.md`` trains about an hour on two cores, fills the
table of the page, and draws a figure beside it. DATA is the folder that holds the data sets. STORE is a folder for
finished parts; the command goes on from there.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.attached import set_pairs, set_positions
from boostplug.clicks import propensity, simulate
from boostplug.core.extras import imported
from boostplug.data.click_log import ClickLog
from boostplug.data.pairs import Pairs
from boostplug.datasets import RankingData
from boostplug.losses import Loss, QBRank, RankNet, Unbiased
from boostplug.metrics import NDCG
from studies.choosing import loaded, taken
from studies.drawing import drawn
from studies.quality.sets import SETS
from studies.store import all_finished
from studies.tables import decimals, difference, line_style, markdown, publish

__all__ = ["draw", "main", "tables"]

Floats = NDArray[np.float64]
Predict = Callable[[Any], Floats]

_SETS = ("yandex", "mslr", "ohsumed", "nfcorpus")
_ETAS, _SEEDS = (0.0, 1.0, 2.0), 5
_MOST_QUERIES = 200  # of the training part: the candidates that users see
_ROWS = 600_000  # of a log
_ROUNDS, _LEAVES, _RATE, _BINS = 50, 15, 0.15, 63
_LEAST_ROWS = 50
_TREES = {"num_leaves": _LEAVES, "learning_rate": _RATE, "num_threads": 1, "verbosity": -1}  # in LightGBM
_SHARES = (0.05, 0.2, 1.0)  # of the queries, with labels
_WEIGHTS = (0.03, 0.1, 0.5)  # of pairs beside labels: preference_weight
_PAGES = (1_000, 10_000, 100_000)
_PAIRS, _ABOVE = "pairs only", "pairs by skip_above only"
_ESTIMATORS = ("randomised", "harvesting", "em")


def candidates(folder: Path, name: str, seed: int) -> tuple[RankingData, RankingData]:
    """Return some queries of a fold's training part with some documents each, and its test part."""
    train, _, test = loaded(folder, name, seed)
    rng = np.random.default_rng(seed)
    return taken(train, np.sort(rng.permutation(train.n_queries)[:_MOST_QUERIES]), rng), test


def methods(true: Floats, found: Floats) -> dict[tuple[str, str], Loss | str]:
    """Return what learns, by framework and name; `found` are propensities that were estimated."""
    ours: dict[str, Loss] = {
        "clicks as labels": RankNet(),
        "unbiased_lambdamart": Unbiased(method="unbiased_lambdamart"),
        "additive": Unbiased(method="additive", ridge=0.03),
        "ips, estimated": Unbiased(method="ips", propensity=found),
        "ips, true": Unbiased(method="ips", propensity=true),
        "true labels": RankNet(),
    }
    both = {(framework, name): loss for framework in ("lightgbm", "xgboost") for name, loss in ours.items()}
    return both | {
        ("lightgbm", "built-in, clicks as labels"): "lambdarank",
        ("lightgbm", "built-in with positions"): "lambdarank",
        ("xgboost", "built-in, clicks as labels"): "rank:ndcg",
        ("xgboost", "built-in with positions"): "rank:ndcg",
    }


def on_lightgbm(
    X: Any, y: Floats, log: ClickLog, objective: Loss | str, *, positions: bool = False, start: float = 0.0
) -> Predict:
    """Return the scores without `start` by a training in LightGBM; `positions`: in the built-in objective."""
    lgb = imported("lightgbm", "training needs")
    given = {"position": log.position - 1} if positions else {}
    data = lgb.Dataset(X, y, group=log.group, init_score=np.full(len(X), start) if start else None, **given)
    if not isinstance(objective, str):
        set_positions(data, log.position)
    more = {"max_bin": _BINS, "min_data_in_leaf": _LEAST_ROWS, "seed": 0}
    predict: Predict = lgb.train({**_TREES, **more, "objective": objective}, data, _ROUNDS).predict
    return predict


def on_xgboost(
    X: Any, y: Floats, log: ClickLog, objective: Loss | str, *, positions: bool = False, start: float = 0.0
) -> Predict:
    """Return the scores without `start` by a training in XGBoost; `positions`: in the built-in objective."""
    xgb = imported("xgboost", "training needs")
    data = xgb.QuantileDMatrix(X, y, group=log.group, max_bin=_BINS, nthread=1)
    params: dict[str, Any] = {"max_leaves": _LEAVES, "max_depth": 0, "grow_policy": "lossguide"}
    params |= {"learning_rate": _RATE, "max_bin": _BINS, "nthread": 1}
    if start:
        data.set_base_margin(np.full(len(X), start))
        params["base_score"] = 0.0
    if isinstance(objective, str):
        params |= {"objective": objective, "lambdarank_unbiased": positions}
        booster = xgb.train(params, data, _ROUNDS)
    else:
        set_positions(data, log.position)
        booster = xgb.train(params, data, _ROUNDS, obj=objective)
    return lambda features: np.asarray(booster.inplace_predict(features, predict_type="margin"), np.float64)


def of_log(folder: Path, name: str, eta: float, seed: int) -> dict[str, Any]:
    """Return NDCG@10 of each test query by each method on one log, and the propensities."""
    train, test = candidates(folder, name, seed)
    sessions = int(_ROWS * train.n_queries / train.n_rows)
    log = simulate(train, eta=eta, ranker=[None, None], sessions=sessions, random_state=seed)
    true = 1.0 / np.arange(1.0, log.position.max() + 1.0) ** eta
    found = propensity(log, method="harvesting", n_bootstrap=2).propensity
    rows = np.asarray(log.document)
    X, train_with = train.X[rows], {"lightgbm": on_lightgbm, "xgboost": on_xgboost}
    values = {}
    for (framework, method), objective in methods(true, found).items():
        y = train.y[rows] if method == "true labels" else log.clicked
        predict = train_with[framework](X, y, log, objective, positions=method.endswith("with positions"))
        values[f"{framework} {method}"] = NDCG(10).per_query(predict(test.X), test.queries)
    return {"set": name, "eta": eta, "seed": seed, "n_clicks": float(log.clicked.sum()), "values": values}


def of_mixture(folder: Path, name: str, seed: int) -> dict[str, Any]:
    """Return NDCG@10 of each test query by QBRank on pairs of clicks, on a few labels, and on both."""
    train, test = candidates(folder, name, seed)
    sessions = int(_ROWS / 10 * train.n_queries / train.n_rows)
    log = simulate(train, eta=1.0, ranker=[None, None], sessions=sessions, random_state=seed)
    theta = propensity(log, method="harvesting", n_bootstrap=2)
    pairs = Pairs.from_clicks(log, rule="all_unclicked", row=log.document, propensity=theta)
    above = Pairs.from_clicks(log, rule="skip_above", row=log.document)
    rng = np.random.default_rng(seed)
    order = rng.permutation(train.n_queries)
    values = {
        _ABOVE: _of_qbrank(train.X, None, train.group, test, above),
        _PAIRS: _of_qbrank(train.X, None, train.group, test, pairs),
    }
    for share in _SHARES:
        chosen = np.zeros(train.n_queries, bool)
        chosen[order[: int(np.ceil(share * train.n_queries))]] = True
        labelled = np.repeat(chosen, train.group)
        rows = np.flatnonzero(labelled)
        values[_labels(share)] = _of_qbrank(train.X[rows], train.y[rows], train.group[chosen], test)
        for weight in _WEIGHTS:
            values[_mixed(share, weight)] = _of_qbrank(
                train.X, train.y, train.group, test, pairs, labelled=labelled, weight=weight
            )
    return {"set": name, "seed": seed, "values": values}


def _labels(share: float) -> str:
    return f"labels of {share:.0%}".replace("%", " %")


def _mixed(share: float, weight: float) -> str:
    return f"pairs (w = {weight:g}) and {_labels(share)}"


def _of_qbrank(
    X: Any,
    y: Any,
    group: Any,
    test: RankingData,
    pairs: Pairs | None = None,
    *,
    labelled: Any = None,
    weight: float = 0.5,
) -> Floats:
    lgb = imported("lightgbm", "training needs")
    data = lgb.Dataset(X, y, group=group)
    if pairs is not None:
        set_pairs(data, pairs, labelled=labelled)
    booster = lgb.train({**_TREES, "objective": QBRank(preference_weight=weight)}, data, _ROUNDS)
    found: Floats = NDCG(10).per_query(booster.predict(test.X), test.queries)
    return found


def of_estimator(folder: Path, method: str, n_pages: int, seed: int) -> dict[str, Any]:
    """Return the mean relative error of estimated propensities at positions 2 to 10, at η = 1."""
    train, _ = candidates(folder, "yandex", seed)
    ranker: Any = "random" if method == "randomised" else [None, None]
    log = simulate(train, ranker=ranker, sessions=n_pages, max_position=10, random_state=seed)
    X = dict(enumerate(train.X)) if method == "em" else None
    found = propensity(log, method=method, X=X, n_bootstrap=2).propensity  # type: ignore[arg-type]
    error = np.abs(found[1:] * np.arange(2.0, 11.0) - 1.0)
    return {"method": method, "pages": n_pages, "seed": seed, "error": float(error.mean())}


def _jobs(folder: Path) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return all parts of the study by name."""
    seeds = range(_SEEDS)
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    for name in _SETS:
        for seed in seeds:
            found |= {f"log-{name}-{eta:g}-{seed}": partial(of_log, folder, name, eta, seed) for eta in _ETAS}
            found[f"mixture-{name}-{seed}"] = partial(of_mixture, folder, name, seed)
    for method in _ESTIMATORS:
        for n_pages in _PAGES:
            found |= {
                f"estimator-{method}-{n_pages}-{seed}": partial(of_estimator, folder, method, n_pages, seed)
                for seed in seeds
            }
    return found


def _mean(parts: Iterable[Mapping[str, Any]], method: str) -> float:
    """Return the mean over seeds of a method's mean over queries."""
    return float(np.mean([np.nanmean(part["values"][method]) for part in parts]))


def _difference(parts: list[dict[str, Any]], method: str, other: str) -> list[float]:
    """Return how much better a method is than another one, and the ends of the 95 % interval over queries."""
    ours, theirs = ([part["values"][name] for part in parts] for name in (method, other))
    return [_mean(parts, method) - _mean(parts, other), *difference(ours, theirs)[1]]


def summary(parts: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of the page."""
    rows, mixtures = [], []
    for name in _SETS:
        for eta in _ETAS:
            logs = [parts[f"log-{name}-{eta:g}-{seed}"] for seed in range(_SEEDS)]
            for method in logs[0]["values"]:
                framework = method.split()[0]
                naive = "built-in, clicks as labels" if "built-in" in method else "clicks as labels"
                built_in = f"{framework} built-in with positions"
                rows.append(
                    {
                        "set": name,
                        "eta": eta,
                        "method": method,
                        "NDCG@10": _mean(logs, method),
                        "beside clicks": _difference(logs, method, f"{framework} {naive}"),
                        "beside built-in": _difference(logs, method, built_in),
                        "clicks": float(np.mean([log["n_clicks"] for log in logs])),
                    }
                )
        mixed = [parts[f"mixture-{name}-{seed}"] for seed in range(_SEEDS)]
        mixtures += [_of_method(name, method, mixed) for method in mixed[0]["values"]]
    errors = [
        {
            "method": method,
            "pages": pages,
            "errors": [parts[f"estimator-{method}-{pages}-{seed}"]["error"] for seed in range(_SEEDS)],
        }
        for method in _ESTIMATORS
        for pages in _PAGES
    ]
    return {"logs": rows, "mixtures": mixtures, "errors": errors}


def _of_method(name: str, method: str, mixed: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what one way of mixing pairs and labels gives, beside either alone."""
    _, _, alone = method.partition(" and ")
    return {
        "set": name,
        "method": method,
        "NDCG@10": _mean(mixed, method),
        "beside pairs": _difference(mixed, method, _PAIRS),
        "beside labels": _difference(mixed, method, alone) if alone in mixed[0]["values"] else None,
    }


def tables(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the page's table at η = 1: bold if significantly ahead of the built-in objective, italic if behind."""
    at = {(row["method"], row["set"]): row for row in found["logs"] if row["eta"] == 1.0}
    body = [
        [method, *(_marked(at[method, name]) for name in _SETS)] for method in dict.fromkeys(method for method, _ in at)
    ]
    return {"eta 1": markdown(["method", *(SETS[name].title for name in _SETS)], body, numbers=True)}


def _marked(row: Mapping[str, Any]) -> str:
    _, low, high = row["beside built-in"]
    mark = "**" if low > 0.0 else "*" if high < 0.0 else ""
    return f"{mark}{decimals(row['NDCG@10'])}{mark}"


def _plot(rows: list[dict[str, Any]], axes: Any) -> None:
    for i, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row for row in rows if row["method"] == method]
        label = method.removeprefix("lightgbm ")
        axes.plot([row["eta"] for row in own], [row["NDCG@10"] for row in own], label=label, **line_style(i))
    axes.set_xlabel("η, how strongly clicks depend on the position")
    axes.set_ylabel("NDCG@10 on the true labels")
    axes.set_xticks(_ETAS)


def draw(found: Mapping[str, Any], folder: Path) -> None:
    """Draw NDCG@10 by η on Yandex."""
    logs = [row for row in found["logs"] if row["set"] == "yandex" and row["method"].startswith("lightgbm")]
    drawn(partial(_plot, logs), f"{SETS['yandex'].title}: rankers from clicks, LightGBM", folder / "clicks-yandex")


def main(folder: str, store: str, result: str, page: str) -> None:
    """Train what is not in the store, keep the figures, fill the page and draw."""
    found = publish(summary(all_finished(Path(store), _jobs(Path(folder)))), result, page, tables)
    draw(found, Path(page).parent / "figures")


if __name__ == "__main__":
    main(*sys.argv[1:])
