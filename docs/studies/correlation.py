"""Losses for cross-sections: Spearman's correlation per query, on Jester's real-valued ratings and on made-up markets.

``python -m studies.correlation DATA RESULT.json PAGE.md`` trains in some minutes, and fills the table of the page. DATA
is the folder that holds ``jester``.
"""

import sys
from functools import partial
from pathlib import Path
from statistics import median
from timeit import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.losses import Correlation, Loss, MPBoost, RankNet, SquaredError
from boostplug.metrics import SpearmanRho
from studies.sources import Fifths
from studies.tables import decimals, difference, markdown, publish, with_interval
from studies.trainings import trainings

__all__ = ["main", "market"]

Floats = NDArray[np.float64]

_METHODS: dict[str, Loss | str] = {
    "regression": "regression",
    "SquaredError(centred=True)": SquaredError(centred=True),
    "RankNet": RankNet(),
    "MPBoost": MPBoost(),
    "Correlation": Correlation(),
}
_ROWS, _CALLS = 8_000, 20  # of a query, and calls of a gradient


def market(n_dates: int, seed: int, n_rows: int = 2_000, n_features: int = 20) -> CheckedInputs:
    """Return days of returns: a weak signal, a move of the market and a volatility that differ from day to day."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_dates * n_rows, n_features)).astype(np.float32)
    signal = 0.08 * X[:, 0] - 0.05 * X[:, 1] * (X[:, 2] > 0) + 0.04 * np.tanh(X[:, 3] * X[:, 4])
    volatility = np.repeat(np.exp(rng.normal(scale=0.7, size=n_dates)), n_rows)
    moves = np.repeat(rng.normal(size=n_dates), n_rows)
    noise = rng.standard_t(4, size=len(X))
    return CheckedInputs(X, Queries(volatility * (signal + noise) + moves, group=np.full(n_dates, n_rows)))


def _jester(folder: Path) -> tuple[CheckedInputs, CheckedInputs, CheckedInputs]:
    """Return the first fold of Jester, with real-valued ratings as labels."""
    loaded = Fifths(("jester",)).load(folder)
    if loaded is None:
        raise FileNotFoundError(f"{folder} holds no folder jester; name the folder that holds the data sets")
    first = loaded.splits[0]
    train, valid, test = (
        CheckedInputs(p.X, Queries(p.y, group=p.group)) for p in (first.train, first.vali, first.test)
    )
    return train, valid, test


def measured(fold: tuple[CheckedInputs, CheckedInputs, CheckedInputs]) -> dict[str, dict[str, Any]]:
    """Return each method's mean Spearman correlation, its difference to regression, and its rounds."""
    done = [*trainings(fold, _METHODS, SpearmanRho())]
    values: dict[str, Floats] = {}
    found: dict[str, dict[str, Any]] = {}
    for name in _METHODS:
        of_seeds = [one for one in done if one.method == name]
        own = np.mean([SpearmanRho().per_query(one.scores, fold[2].queries) for one in of_seeds], axis=0)
        rounds, values[name] = float(np.mean([one.watch.best_round for one in of_seeds])), own
        beside = None if name == "regression" else difference([own], [values["regression"]])
        found[name] = {"rho": float(np.nanmean(own)), "beside regression": beside, "rounds": rounds}
    return found


def times() -> dict[str, float]:
    """Return the milliseconds of a gradient on lists of 8,000 documents with real-valued labels, one thread."""
    rng = np.random.default_rng(0)
    queries = Queries(rng.normal(size=10 * _ROWS), group=np.full(10, _ROWS))
    scores, found = rng.normal(size=10 * _ROWS), {}
    for name, loss in _METHODS.items():
        if isinstance(loss, str):
            continue
        call = partial(loss.gradient_hessian, scores, queries)
        call()  # compiled, and what depends only on the labels computed
        found[name] = 1e3 * median(repeat(call, number=1, repeat=_CALLS)) / 10
    return found


def tables(found: dict[str, Any]) -> dict[str, list[str]]:
    """Return the table of the page."""
    body = []
    for name in found["jester"]:
        cells = []
        for row in (found["jester"][name], found["market"][name]):
            mean, interval = row["beside regression"] or (None, None)
            beside = "–" if mean is None else with_interval(mean, interval)
            cells += [decimals(row["rho"]), beside, f"{row['rounds']:.0f}"]
        body.append([name, *cells, f"{found['times'][name]:.2f}" if name in found["times"] else "–"])
    head = [f"{of}, {what}" for of in ("Jester", "markets") for what in ("ρ", "beside regression", "rounds")]
    return {"losses": markdown(["loss", *head, "ms for 8,000 documents"], body, numbers=True)}


def main(folder: str, result: str, page: str) -> None:
    """Train, keep the figures and fill the page."""
    made = market(60, 1), market(30, 2), market(60, 3)
    found = {"jester": measured(_jester(Path(folder))), "market": measured(made), "times": times()}
    publish(found, result, page, tables)


if __name__ == "__main__":
    main(*sys.argv[1:])
