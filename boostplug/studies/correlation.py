"""Losses for cross-sections: Spearman's correlation per query, on Jester's real-valued ratings and on made-up markets.

``python -m boostplug.studies.correlation DATA PAGE.md`` trains in some minutes, and fills the tables of the page. DATA
is the folder that holds ``jester``.
"""

import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.document import filled
from boostplug.comparison.significance import bootstrap_interval
from boostplug.comparison.training.frameworks import LightGBM, Part, Watch
from boostplug.comparison.training.trees import Trees
from boostplug.core.files import write_file
from boostplug.data.queries import Queries
from boostplug.losses import Correlation, Loss, MPBoost, RankNet, SquaredError
from boostplug.metrics import SpearmanRho
from boostplug.studies.sources import Fifths
from boostplug.studies.tables import markdown

__all__ = ["main", "market"]

Floats = NDArray[np.float64]

_METHODS: dict[str, Loss | str] = {
    "regression": "regression",
    "SquaredError(centred=True)": SquaredError(centred=True),
    "RankNet": RankNet(),
    "MPBoost": MPBoost(),
    "Correlation": Correlation(),
}
_SEEDS, _ROUNDS, _PATIENCE = 3, 300, 50
_ROWS, _CALLS = 8_000, 20  # of a query, and calls of a gradient


def market(n_dates: int, seed: int, n_rows: int = 2_000, n_features: int = 20) -> Part:
    """Return days of returns: a weak signal, a move of the market and a volatility that differ from day to day."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_dates * n_rows, n_features)).astype(np.float32)
    signal = 0.08 * X[:, 0] - 0.05 * X[:, 1] * (X[:, 2] > 0) + 0.04 * np.tanh(X[:, 3] * X[:, 4])
    volatility = np.repeat(np.exp(rng.normal(scale=0.7, size=n_dates)), n_rows)
    moves = np.repeat(rng.normal(size=n_dates), n_rows)
    noise = rng.standard_t(4, size=len(X))
    return Part(X, Queries(volatility * (signal + noise) + moves, group=np.full(n_dates, n_rows)))


def _jester(folder: Path) -> tuple[Part, Part, Part]:
    """Return the first fold of Jester, with real-valued ratings as labels."""
    loaded = Fifths(("jester",)).load(folder)
    if loaded is None:
        raise FileNotFoundError(f"{folder} holds no folder jester; name the folder that holds the data sets")
    first = loaded.splits[0]
    train, valid, test = (Part(p.X, Queries(p.y, group=p.group)) for p in (first.train, first.vali, first.test))
    return train, valid, test


def table(fold: tuple[Part, Part, Part]) -> list[str]:
    """Return each method's mean Spearman correlation, its difference to regression, and its rounds."""
    trees = Trees(learning_rate=0.1, num_leaves=31, row_fraction=0.8, column_fraction=0.5)
    framework, queries = LightGBM(*fold, trees, 1), fold[2].queries
    values: dict[str, Floats] = {}
    rounds: dict[str, float] = {}
    for name, objective in _METHODS.items():
        of_seeds, of_rounds = [], []
        for seed in range(_SEEDS):
            watch = Watch(SpearmanRho(), fold[1].queries, patience=_PATIENCE, num_threads=1)
            of_seeds.append(SpearmanRho().per_query(framework.run(objective, seed, _ROUNDS, watch), queries))
            of_rounds.append(watch.best_round)
        values[name], rounds[name] = np.mean(of_seeds, axis=0), float(np.mean(of_rounds))
    rows = []
    for name, own in values.items():
        difference = own - values["regression"]
        low, high = bootstrap_interval(difference)
        beside = "–" if name == "regression" else f"{np.nanmean(difference):+.4f} [{low:+.4f}, {high:+.4f}]"
        cells = [f"{np.nanmean(own):.4f}", beside.replace("-", "−"), f"{rounds[name]:.0f}"]
        rows.append([name, *(cell.replace("0.", ".") for cell in cells)])
    return markdown(["loss", "Spearman's ρ", "beside regression", "rounds"], rows)


def times() -> list[str]:
    """Return the time of a gradient on lists of 8,000 documents with real-valued labels, one thread."""
    rng = np.random.default_rng(0)
    queries = Queries(rng.normal(size=10 * _ROWS), group=np.full(10, _ROWS))
    scores, rows = rng.normal(size=10 * _ROWS), []
    for name, loss in _METHODS.items():
        if isinstance(loss, str):
            continue
        loss.gradient_hessian(scores, queries)  # compiled, and what depends on the labels alone computed
        seconds = []
        for _ in range(_CALLS):
            start = perf_counter()
            loss.gradient_hessian(scores, queries)
            seconds.append(perf_counter() - start)
        rows.append([name, f"{1e3 * median(seconds) / 10:.2f}"])
    return markdown(["loss", "ms for a list of 8,000"], rows, numbers=True)


def main(folder: str, page: str) -> None:
    """Train, and fill a page."""
    made = market(60, 1), market(30, 2), market(60, 3)
    tables = {"table: jester": table(_jester(Path(folder))), "table: market": table(made), "table: times": times()}
    write_file(Path(page), filled(Path(page).read_text(encoding="utf-8"), tables))


if __name__ == "__main__":
    main(*sys.argv[1:])
