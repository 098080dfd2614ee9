"""Probabilities from biased clicks: σ(score) of rankers from simulated logs, beside the true attractiveness.

``python -m studies.click_probabilities DATA RESULT.json PAGE.md`` trains for about five minutes on one core, and
fills the table of the page. DATA is the folder that holds the data sets.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logit

from boostplug.clicks import propensity, simulate
from boostplug.data.click_log import ClickLog
from boostplug.data.queries import Queries
from boostplug.losses import ClickLogLoss, LogisticError, Loss, Unbiased
from boostplug.metrics import ECE, NDCG, LogLoss
from studies.choosing import production_rankers
from studies.clicks import candidates, on_lightgbm, on_xgboost
from studies.tables import decimals, markdown, publish

__all__ = ["main", "measured", "tables"]

Floats = NDArray[np.float64]

_SETS, _ETAS, _SEEDS = ("yandex", "nfcorpus"), (1.0, 2.0), 5
_SESSIONS, _PLACES, _NOISE = 12_000, 10, 0.1  # 60 sessions a query
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


_FRAMEWORKS = {"LightGBM": on_lightgbm, "XGBoost": on_xgboost}


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
            start = logit(one.mean)
            scores = train_with(features[0], one.labels, log, one.loss, start=start)(features[1]) + start
            of = {"set": name, "eta": eta, "seed": seed, "framework": framework, "method": method}
            found.append(of | measured(scores, attraction, test.queries))
    return found


def tables(rows: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the means over all trainings, and how often the reference has a lower log loss than each method."""
    of_method: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of_method.setdefault(row["method"], []).append(row)
    reference, body = of_method[_REFERENCE], []
    for method, own in of_method.items():
        lower = sum(r["excess"] < o["excess"] for r, o in zip(reference, own, strict=True))
        means = (decimals(float(np.mean([row[measure] for row in own]))) for measure in _MEASURES)
        body.append([method, *means, "–" if method == _REFERENCE else f"{lower} of {len(own)}"])
    head = ["method", *_HEADS, f"{_REFERENCE}: lower log loss in"]
    return {"together": markdown(head, body, numbers=True)}


def main(folder: str, result: str, page: str) -> None:
    """Train, keep the figures and fill the page."""
    rows = [
        row
        for name in _SETS
        for seed in range(_SEEDS)
        for eta in _ETAS
        for row in of_log(Path(folder), name, eta, seed)
    ]
    publish(rows, result, page, tables)


if __name__ == "__main__":
    main(*sys.argv[1:])
