"""Probabilities from biased clicks: σ(score) of rankers from simulated logs, beside the true attractiveness.

``python -m studies.click_probabilities DATA RESULT.json PAGE.md`` trains for about five minutes on one core, and
fills the tables of the page. DATA is the folder that holds the data sets.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logit

from boostplug.adapters.attached import set_positions
from boostplug.clicks import propensity, simulate
from boostplug.comparison.document import as_json
from boostplug.comparison.summary import to_json
from boostplug.core.extras import imported
from boostplug.core.files import write_file
from boostplug.data.click_log import ClickLog
from boostplug.data.queries import Queries
from boostplug.losses import ClickLogLoss, LogisticError, Loss, Unbiased
from boostplug.metrics import ECE, NDCG, LogLoss
from boostplug.replication.tables import markdown, rounded
from studies.choosing import production_rankers
from studies.clicks import candidates
from studies.tables import decimals, fill

__all__ = ["main", "measured", "tables"]

Floats = NDArray[np.float64]

_SETS, _ETAS, _SEEDS = ("yandex", "nfcorpus"), (1.0, 2.0), 5
_SESSIONS, _PLACES, _NOISE = 12_000, 10, 0.1  # 60 sessions a query
_ROUNDS, _LEAVES, _RATE, _BINS, _LEAST_ROWS = 50, 15, 0.15, 63, 50
_MEASURES = ("excess", "ECE", "NDCG@10")
_HEADS = ("excess log loss", "ECE", "NDCG@10")
_REFERENCE = "ClickLogLoss, true θ"


class Method(NamedTuple):
    """What learns: a loss, the labels, the mean probability that training starts from, and whether X has positions."""

    loss: Loss
    labels: Floats
    mean: float
    with_position: bool = False


def attractions(labels: Floats, largest: float) -> Floats:
    """Return the probabilities of a click on what is seen, as `simulate` has them."""
    return _NOISE + (1.0 - _NOISE) * (np.exp2(labels) - 1.0) / (np.exp2(largest) - 1.0)


def methods(log: ClickLog, theta: dict[str, Floats], attraction: Floats) -> dict[str, Method]:
    """Return what learns from a log: `theta` are its propensities by name, and `attraction` that of its rows."""
    clicked = np.asarray(log.clicked, np.float64)
    raw = clicked.mean()
    learning = {
        "clicks as labels": Method(LogisticError(), clicked, raw),
        "position as a feature": Method(LogisticError(), clicked, raw, with_position=True),
    }
    for name, of_position in theta.items():
        ips, loss = Unbiased(method="ips", propensity=of_position), ClickLogLoss(propensity=of_position)
        seen = clicked.sum() / np.minimum(of_position, 1.0)[log.position - 1].sum()
        learning[f"ips + LogisticError, {name} θ"] = Method(ips + LogisticError(), clicked, raw)
        learning[f"ClickLogLoss, {name} θ"] = Method(loss, clicked, seen)
        learning[f"ips + ClickLogLoss, {name} θ"] = Method(ips + loss, clicked, seen)
    learning["true attractiveness as labels"] = Method(LogisticError(), attraction, attraction.mean())
    return learning


def _lightgbm(X: Floats, log: ClickLog, method: Method, test: Floats) -> Floats:
    """Return the scores of test documents after a training in LightGBM, without the start."""
    lgb = imported("lightgbm", "training needs")
    data = lgb.Dataset(X, method.labels, group=log.group, init_score=np.full(len(X), logit(method.mean)))
    set_positions(data, log.position)
    params = {
        "objective": method.loss, "num_leaves": _LEAVES, "learning_rate": _RATE, "max_bin": _BINS,
        "min_data_in_leaf": _LEAST_ROWS, "num_threads": 1, "verbosity": -1, "seed": 0,
    }  # fmt: skip
    scores: Floats = lgb.train(params, data, _ROUNDS).predict(test, num_threads=1)
    return scores


def _xgboost(X: Floats, log: ClickLog, method: Method, test: Floats) -> Floats:
    """Return the scores of test documents after a training in XGBoost, without the start."""
    xgb = imported("xgboost", "training needs")
    data = xgb.QuantileDMatrix(X, method.labels, group=log.group, max_bin=_BINS, nthread=1)
    data.set_base_margin(np.full(len(X), logit(method.mean)))
    set_positions(data, log.position)
    params = {
        "max_leaves": _LEAVES, "max_depth": 0, "grow_policy": "lossguide", "learning_rate": _RATE, "max_bin": _BINS,
        "base_score": 0.0, "nthread": 1,
    }  # fmt: skip
    booster = xgb.train(params, data, _ROUNDS, obj=method.loss)
    return np.asarray(booster.predict(xgb.DMatrix(test, nthread=1), output_margin=True), np.float64)


_FRAMEWORKS = {"LightGBM": _lightgbm, "XGBoost": _xgboost}


def measured(scores: Floats, attraction: Floats, truth: Queries) -> dict[str, float]:
    """Return the log loss of σ(scores) beyond the entropy of the attractiveness, its ECE, and NDCG@10 of the labels."""
    as_labels = truth.replaced(labels=attraction)
    entropy = float(np.mean(entr(attraction) + entr(1.0 - attraction)))
    excess = LogLoss()(scores, as_labels) - entropy
    return dict(zip(_MEASURES, (excess, ECE()(scores, as_labels), NDCG(10)(scores, truth)), strict=True))


def of_log(folder: Path, name: str, eta: float, seed: int) -> list[dict[str, Any]]:
    """Return what each method measures on one log, in each framework."""
    train, test = candidates(folder, name, seed)
    rankers, largest = production_rankers(train, seed), float(train.y.max())
    log = simulate(
        train, eta=eta, noise=_NOISE, ranker=rankers, sessions=_SESSIONS, max_position=_PLACES, random_state=seed
    )
    theta = {
        "true": np.arange(1.0, _PLACES + 1.0) ** -eta,
        "harvested": propensity(log, method="harvesting", n_bootstrap=2).propensity,
    }
    rows = np.asarray(log.document)
    X, attraction = train.X[rows], attractions(test.y, largest)
    placed = np.column_stack([X, log.position.astype(np.float32)])
    at_the_top = np.column_stack([test.X, np.ones(test.n_rows, np.float32)])
    found = []
    for framework, train_with in _FRAMEWORKS.items():
        for method, one in methods(log, theta, attractions(train.y[rows], largest)).items():
            features = (placed, at_the_top) if one.with_position else (X, test.X)
            scores = train_with(features[0], log, one, features[1]) + logit(one.mean)
            of = {"set": name, "eta": eta, "seed": seed, "framework": framework, "method": method}
            found.append(of | measured(scores, attraction, test.queries))
    return found


def tables(rows: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Return a table of all logs together, and one for each set and framework: means over seeds."""
    made = {"together": _together(rows)}
    for name in _SETS:
        for framework in _FRAMEWORKS:
            own = [row for row in rows if (row["set"], row["framework"]) == (name, framework)]
            body = []
            for method in dict.fromkeys(row["method"] for row in own):
                cells = [
                    decimals(float(np.mean([r[measure] for r in own if (r["method"], r["eta"]) == (method, eta)])))
                    for eta in _ETAS
                    for measure in _MEASURES
                ]
                body.append([method, *cells])
            head = [f"{what}, η = {eta:g}" for eta in _ETAS for what in _HEADS]
            made[f"{name} {framework}"] = markdown(["method", *head], body, numbers=True)
    return made


def _together(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the means over all trainings, and how often the reference has a lower log loss than each method."""
    of_method: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of_method.setdefault(row["method"], []).append(row)
    reference, body = of_method[_REFERENCE], []
    for method, own in of_method.items():
        lower = sum(r["excess"] < o["excess"] for r, o in zip(reference, own, strict=True))
        means = (decimals(float(np.mean([row[measure] for row in own]))) for measure in _MEASURES)
        body.append([method, *means, "–" if method == _REFERENCE else f"{lower} of {len(own)}"])
    return markdown(["method", *_HEADS, f"{_REFERENCE}: lower log loss in"], body, numbers=True)


def main(folder: str, result: str, page: str) -> None:
    """Train, keep the figures and fill the page."""
    rows = [
        row
        for name in _SETS
        for seed in range(_SEEDS)
        for eta in _ETAS
        for row in of_log(Path(folder), name, eta, seed)
    ]
    kept = to_json(rounded(rows), finite=True)
    write_file(Path(result), as_json(kept))
    fill(Path(page), tables(kept))


if __name__ == "__main__":
    main(*sys.argv[1:])
