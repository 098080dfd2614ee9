"""Value of clicks: rankers from simulated logs, judged by the true labels; propensities; pairs beside labels.

``python -m studies.clicks DATA STORE RESULT.json PAGE.md`` trains about an hour on two cores, fills the
tables of the page, and draws figures beside it. DATA is the folder that holds the data sets. STORE is a folder for
finished parts; the command goes on from there.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.adapters.attached import set_pairs, set_positions
from boostplug.clicks import propensity, simulate
from boostplug.comparison.document import as_json
from boostplug.comparison.report.drawing import COLOURS, DASHES, drawn
from boostplug.comparison.summary import to_json
from boostplug.core.extras import imported
from boostplug.core.files import write_file
from boostplug.data.click_log import ClickLog
from boostplug.data.pairs import Pairs
from boostplug.datasets import RankingData
from boostplug.losses import Loss, QBRank, RankNet, Unbiased
from boostplug.metrics import NDCG
from boostplug.replication.tables import markdown, rounded
from studies.bootstrap import bootstrap_interval
from studies.quality.sets import SETS
from studies.store import finished
from studies.tables import decimals, difference, fill, line_style, with_interval

__all__ = ["draw", "main", "tables"]

Floats = NDArray[np.float64]
Predict = Callable[[Any], Floats]

_SETS = ("yandex", "mslr", "ohsumed", "nfcorpus")
_ETAS, _SEEDS = (0.0, 1.0, 2.0), 5
_MOST_QUERIES, _MOST_DOCUMENTS = 200, 30  # of the training part: the candidates that users see
_ROWS = 600_000  # of a log
_ROUNDS, _LEAVES, _RATE, _BINS = 50, 15, 0.15, 63
_LEAST_ROWS = 50
_TREES = {"num_leaves": _LEAVES, "learning_rate": _RATE, "num_threads": 1, "verbosity": -1}  # in LightGBM
_LEAST_WAY = 0.01  # from clicks as labels to true propensities, of which shares say something
_BUILT_IN = ("lightgbm built-in with positions", "xgboost built-in with positions")
_SHARES = (0.05, 0.2, 1.0)  # of the queries, with labels
_WEIGHTS = (0.03, 0.1, 0.5)  # of pairs beside labels: preference_weight
_PAGES = (1_000, 10_000, 100_000)
_PAIRS, _ABOVE = "pairs only", "pairs by skip_above only"
_ESTIMATORS = ("randomised", "swapped", "harvesting", "em")


def candidates(folder: Path, name: str, seed: int) -> tuple[RankingData, RankingData]:
    """Return some queries of a fold's training part with some documents each, and its test part."""
    train, _, test = SETS[name].load(folder, seed)
    rng = np.random.default_rng(seed)
    edges = train.queries.boundaries
    chosen = np.sort(rng.permutation(train.queries.n_queries)[:_MOST_QUERIES])
    of_query = [np.arange(edges[q], edges[q + 1]) for q in chosen]
    rows = [np.sort(rng.permutation(one)[:_MOST_DOCUMENTS]) for one in of_query]
    kept = np.concatenate(rows)
    group = [len(one) for one in rows]
    X, y = np.asarray(train.X, np.float32), train.queries.labels
    return (
        RankingData(X[kept], y[kept], group=group),
        RankingData(np.asarray(test.X, np.float32), test.queries.labels, group=test.group),
    )


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


def _lightgbm(X: Any, y: Floats, log: ClickLog, objective: Loss | str, *, positions: bool) -> Predict:
    lgb = imported("lightgbm", "training needs")
    given = {"position": log.position - 1} if positions and isinstance(objective, str) else {}
    data = lgb.Dataset(X, y, group=log.group, **given)
    if not isinstance(objective, str):
        set_positions(data, log.position)
    more = {"max_bin": _BINS, "min_data_in_leaf": _LEAST_ROWS, "seed": 0}
    predict: Predict = lgb.train({**_TREES, **more, "objective": objective}, data, _ROUNDS).predict
    return predict


def _xgboost(X: Any, y: Floats, log: ClickLog, objective: Loss | str, *, positions: bool) -> Predict:
    xgb = imported("xgboost", "training needs")
    data = xgb.QuantileDMatrix(X, y, group=log.group, max_bin=_BINS, nthread=1)
    params: dict[str, Any] = {
        "max_leaves": _LEAVES,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "learning_rate": _RATE,
        "max_bin": _BINS,
        "nthread": 1,
    }
    if isinstance(objective, str):
        params |= {"objective": objective, "lambdarank_unbiased": positions}
        booster = xgb.train(params, data, _ROUNDS)
    else:
        set_positions(data, log.position)
        booster = xgb.train(params, data, _ROUNDS, obj=objective)
    return lambda features: np.asarray(booster.inplace_predict(features), np.float64)


def of_log(folder: Path, name: str, eta: float, seed: int) -> dict[str, Any]:
    """Return NDCG@10 of each test query by each method on one log, and the propensities."""
    train, test = candidates(folder, name, seed)
    sessions = int(_ROWS * train.n_queries / train.n_rows)
    log = simulate(train, eta=eta, ranker=[None, None], sessions=sessions, random_state=seed)
    true = 1.0 / np.arange(1.0, log.position.max() + 1.0) ** eta
    found = propensity(log, method="harvesting", n_bootstrap=2).propensity
    rows = np.asarray(log.document)
    X, train_with = train.X[rows], {"lightgbm": _lightgbm, "xgboost": _xgboost}
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
    ranker: Any = "random" if method in {"randomised", "swapped"} else [None, None]
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
        "interval": bootstrap_interval(
            np.concatenate([part["values"][method] for part in mixed]),
            strata=np.repeat(np.arange(len(mixed)), [len(part["values"][method]) for part in mixed]),
        ),
        "beside pairs": _difference(mixed, method, _PAIRS),
        "beside labels": _difference(mixed, method, alone) if alone in mixed[0]["values"] else None,
    }


def tables(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the tables of the page."""
    made = {}
    for name in _SETS:
        own = [row for row in found["logs"] if row["set"] == name]
        body = []
        for method in dict.fromkeys(row["method"] for row in own):
            cells = []
            for row in (row for row in own if row["method"] == method):
                cells += [decimals(row["NDCG@10"]), "–" if method in _BUILT_IN else _signed(row["beside built-in"])]
            body.append([method, *cells])
        head = [cell for eta in _ETAS for cell in (f"η = {eta:g}", "Δ to built-in with positions")]
        made[name] = markdown(["method", *head], body, numbers=True)
        mixed = [row for row in found["mixtures"] if row["set"] == name]
        made[f"mixture {name}"] = markdown(
            ["trained on", "NDCG@10", "Δ to pairs only", "Δ to the same labels only"],
            [
                [
                    row["method"],
                    decimals(row["NDCG@10"]),
                    "–" if row["method"] == _PAIRS else _signed(row["beside pairs"]),
                    _signed(row["beside labels"]) if row["beside labels"] else "–",
                ]
                for row in mixed
            ],
            numbers=True,
        )
    made["recovered"] = _recovered(found["logs"])
    made["cost"] = _cost(found["logs"])
    errors = {(row["method"], row["pages"]): row["errors"] for row in found["errors"]}
    made["errors"] = markdown(
        ["method", *(f"{pages:,} pages" for pages in _PAGES)],
        [
            [
                method,
                *(f"{np.mean(errors[method, n]):.0%} ({max(errors[method, n]):.0%} at worst)" for n in _PAGES),
            ]
            for method in _ESTIMATORS
        ],
        numbers=True,
    )
    return made


def _recovered(rows: list[dict[str, Any]]) -> list[str]:
    """Return, at η = 1, what part of the way from clicks as labels to true propensities each method goes."""
    at = {(row["set"], row["method"]): row["NDCG@10"] for row in rows if row["eta"] == 1.0}
    body = []
    for method in dict.fromkeys(method for _, method in at):
        framework = method.split()[0]
        cells = []
        for name in _SETS:
            low, high = (at[name, f"{framework} {end}"] for end in ("clicks as labels", "ips, true"))
            way = high - low
            cells.append(f"{(at[name, method] - low) / way:.0%}" if way >= _LEAST_WAY else "–")
        if not any(word in method for word in ("true", "built-in", "clicks as labels")):
            body.append([method, *cells])
    return markdown(["method", *(SETS[name].title for name in _SETS)], body, numbers=True)


def _cost(rows: list[dict[str, Any]]) -> list[str]:
    """Return, where there is no bias, the difference of each method to clicks as labels, built-in ones to their own."""
    at = {(row["set"], row["method"]): row["beside clicks"] for row in rows if row["eta"] == 0.0}
    body = [
        [method, *(_signed(at[name, method]) for name in _SETS)]
        for method in dict.fromkeys(method for _, method in at)
        if "true" not in method and "clicks as labels" not in method
    ]
    return markdown(["method", *(SETS[name].title for name in _SETS)], body, numbers=True)


def _signed(values: list[float]) -> str:
    return with_interval(values[0], values[1:])


def _plot(rows: list[dict[str, Any]], axes: Any) -> None:
    for i, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row for row in rows if row["method"] == method]
        label = method.removeprefix("lightgbm ")
        axes.plot([row["eta"] for row in own], [row["NDCG@10"] for row in own], label=label, **line_style(i))
    axes.set_xlabel("η, how strongly clicks depend on the position")
    axes.set_ylabel("NDCG@10 on the true labels")
    axes.set_xticks(_ETAS)


def _plot_mixture(rows: list[dict[str, Any]], axes: Any) -> None:
    of = {row["method"]: row for row in rows}
    shares = np.array([100.0 * share for share in _SHARES])
    lines = {f"pairs (w = {weight:g}) and labels": [_mixed(share, weight) for share in _SHARES] for weight in _WEIGHTS}
    for i, (name, methods_of_line) in enumerate({**lines, "labels only": list(map(_labels, _SHARES))}.items()):
        means = np.array([of[method]["NDCG@10"] for method in methods_of_line])
        ends = np.array([of[method]["interval"] for method in methods_of_line])
        axes.errorbar(
            shares * (1.0 + 0.04 * i),
            means,
            yerr=np.abs(ends.T - means),
            capsize=3,
            label=name,
            **{**line_style(i), "linestyle": DASHES[i]},
        )
    alone = of[_PAIRS]
    axes.axhline(alone["NDCG@10"], color=COLOURS[-1], linestyle=":", label="pairs only")
    axes.axhspan(*alone["interval"], color=COLOURS[-1], alpha=0.12, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(shares, [f"{share:g} %" for share in shares])
    axes.set_xlabel("queries with labels")
    axes.set_ylabel("NDCG@10 on the true labels")


def draw(found: Mapping[str, Any], folder: Path) -> None:
    """Draw two figures for each set."""
    for name in _SETS:
        logs = [row for row in found["logs"] if row["set"] == name and row["method"].startswith("lightgbm")]
        drawn(partial(_plot, logs), f"{SETS[name].title}: rankers from clicks, LightGBM", folder / f"clicks-{name}")
        mixed = [row for row in found["mixtures"] if row["set"] == name]
        drawn(partial(_plot_mixture, mixed), f"{SETS[name].title}: QBRank on clicks and labels", folder / f"mix-{name}")


def main(folder: str, store: str, result: str, page: str) -> None:
    """Train what is not in the store, keep the figures, fill the page and draw."""
    Path(store).mkdir(parents=True, exist_ok=True)
    jobs = _jobs(Path(folder))
    done = joblib.Parallel(n_jobs=-1)(joblib.delayed(finished)(Path(store), name, job) for name, job in jobs.items())
    found = to_json(rounded(summary(dict(zip(jobs, done, strict=True)))), finite=True)
    write_file(Path(result), as_json(found))
    fill(Path(page), tables(found))
    draw(found, Path(page).parent / "figures")


if __name__ == "__main__":
    main(*sys.argv[1:])
