"""How much correction a log carries: rankers from clicks by sessions a query, judged by the true labels.

``python -m studies.log_sizes DATA STORE RESULT.json PAGE.md`` trains about an hour on two cores, fills the table of
the page and draws its figure. DATA is the folder that holds the data sets. STORE is a folder for finished parts; the
command goes on from there. The page says what was fixed before the first training.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from boostplug.adapters.attached import set_positions
from boostplug.clicks import correction, propensity, simulate
from boostplug.core.extras import imported
from boostplug.data.click_log import ClickLog
from boostplug.losses import Loss, RankNet, Unbiased
from boostplug.metrics import NDCG
from studies.choosing import production_rankers
from studies.clicks import candidates
from studies.drawing import drawn
from studies.store import all_finished
from studies.tables import line_style, markdown, publish, with_interval

__all__ = ["draw", "main", "summary", "table"]

Floats = NDArray[np.float64]

_SETS = ("yandex", "mslr", "ohsumed", "nfcorpus")
_SIZES, _ETAS, _SEEDS = (2, 6, 20, 60, 200), (0.0, 1.0, 2.0), 5
_FRAMEWORKS = ("lightgbm", "xgboost")
_PLACES = 10  # of a page
_ROUNDS, _LEAVES, _RATE, _BINS, _LEAST_ROWS = 50, 15, 0.15, 63, 50
_CLICKS, _BUILT_IN, _POSITIONS, _PRODUCTION = "clicks as labels", "built-in", "built-in with positions", "production"
_PROPOSED = ("proposed power", "proposed ridge")
_FIXED = tuple(f"power {power:g}" for power in (0.25, 0.5, 0.75, 1.0))
_DRAWN = (
    _CLICKS,
    "power 0.5",
    "power 1",
    *(f"{name}{start}" for start in ("", ", from production") for name in _PROPOSED),
    _BUILT_IN,
    _POSITIONS,
    _PRODUCTION,
)
_LISTED = {*_DRAWN[2:], "ridge 0.03", "unbiased_lambdamart"}  # the rows of the page's table
_WORST = 0.003  # behind clicks as labels, at most


class Way(NamedTuple):
    """One way to learn from a log: an objective, or the framework's own with or without positions."""

    objective: Loss | None
    from_production: bool = False
    positions: bool = False


def ways(theta: Floats, power: float, ridge: float) -> dict[str, Way]:
    """Return what learns; those that start from the production ranker's scores come last, the built-ins before."""
    by_power = {name: Unbiased(method="ips", propensity=theta, power=float(name.split()[1])) for name in _FIXED}
    by_ridge = {f"ridge {ridge:g}": Unbiased(method="additive", ridge=ridge) for ridge in (0.03, 0.3)}
    proposed: dict[str, Loss] = {
        "proposed power": Unbiased(method="ips", propensity=theta, power=power),
        "proposed ridge": Unbiased(method="additive", ridge=ridge),
    }
    estimated = Unbiased(method="unbiased_lambdamart")
    alone: dict[str, Loss] = {_CLICKS: RankNet(), **by_power, **by_ridge, "unbiased_lambdamart": estimated, **proposed}
    return {
        **{name: Way(loss) for name, loss in alone.items()},
        _BUILT_IN: Way(None),
        **{f"{name}, from production": Way(alone[name], True) for name in (_CLICKS, *_PROPOSED)},
        _POSITIONS: Way(None, positions=True),
    }


def lightgbm_scores(X: Any, log: ClickLog, start: Floats, by: Mapping[str, Way], test: Any) -> dict[str, Floats]:
    """Return each way's scores of the test rows in LightGBM, without what those start from."""
    lgb = imported("lightgbm", "training needs")
    params = {"num_leaves": _LEAVES, "learning_rate": _RATE, "num_threads": 1, "verbosity": -1, "seed": 0}
    params |= {"max_bin": _BINS, "min_data_in_leaf": _LEAST_ROWS}
    data = lgb.Dataset(X, log.clicked, group=log.group, params=params).construct()
    set_positions(data, log.position)
    found = {}
    for name, way in by.items():
        data.set_init_score(start if way.from_production else np.zeros(len(start)))
        if way.positions:
            data = lgb.Dataset(X, log.clicked, group=log.group, position=log.position - 1, params=params)
        booster = lgb.train({**params, "objective": way.objective or "lambdarank"}, data, _ROUNDS)
        found[name] = booster.predict(test)
    return found


def xgboost_scores(X: Any, log: ClickLog, start: Floats, by: Mapping[str, Way], test: Any) -> dict[str, Floats]:
    """Return each way's scores of the test rows in XGBoost, without what those start from."""
    xgb = imported("xgboost", "training needs")
    params = {"max_leaves": _LEAVES, "max_depth": 0, "grow_policy": "lossguide", "learning_rate": _RATE}
    params |= {"max_bin": _BINS, "nthread": 1, "base_score": 0.0}
    data = xgb.QuantileDMatrix(X, log.clicked, group=log.group, max_bin=_BINS, nthread=1)
    set_positions(data, log.position)
    found = {}
    for name, way in by.items():
        data.set_base_margin(start if way.from_production else np.zeros(len(start)))
        own = {} if way.objective else {"objective": "rank:ndcg", "lambdarank_unbiased": way.positions}
        booster = xgb.train({**params, **own}, data, _ROUNDS, obj=way.objective)
        found[name] = booster.inplace_predict(test, predict_type="margin")
    return found


def of_log(folder: Path, name: str, eta: float, size: int, seed: int) -> dict[str, Any]:
    """Return NDCG@10 of each test query by each way on one log, and what was proposed."""
    train, test = candidates(folder, name, seed)
    rankers = production_rankers(train, seed)
    log = simulate(
        train, eta=eta, ranker=rankers, sessions=size * train.n_queries, max_position=_PLACES, random_state=seed
    )
    rows = np.asarray(log.document)
    known, known_of_test = (np.mean([one.predict(part.X) for one in rankers], axis=0) for part in (train, test))
    theta = propensity(log, method="harvesting", smoothing="power_law", n_bootstrap=20).propensity
    proposal = correction(log, propensity=theta, scores=known[rows])
    by = ways(theta, proposal.power, proposal.ridge)
    start = proposal.prior_scale * known[rows]
    values = {_PRODUCTION: NDCG(10).per_query(known_of_test, test.queries)}
    for framework, scores_of in zip(_FRAMEWORKS, (lightgbm_scores, xgboost_scores), strict=True):
        for way, scores in scores_of(train.X[rows], log, start, by, test.X).items():
            added = proposal.prior_scale * known_of_test if by[way].from_production else 0.0
            values[f"{framework} {way}"] = NDCG(10).per_query(scores + added, test.queries)
    proposed = {key: getattr(proposal, key) for key in ("power", "ridge", "prior_scale", "spread", "order", "n_clicks")}
    return {"set": name, "eta": eta, "size": size, "seed": seed, "proposed": proposed, "values": values}


def _jobs(folder: Path) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return all logs by name, the shortest first."""
    return {
        f"{name}-{eta:g}-{size}-{seed}": partial(of_log, folder, name, eta, size, seed)
        for size in _SIZES
        for seed in range(_SEEDS)
        for name in _SETS
        for eta in _ETAS
    }


class Means(NamedTuple):
    """Mean NDCG@10 of each way, by framework: arrays of shape (sets, etas, sizes, seeds)."""

    of: dict[str, dict[str, Floats]]

    @classmethod
    def from_parts(cls, parts: list[dict[str, Any]]) -> "Means":
        """Return the means of all parts; of the production ranker too, in either framework."""
        found: dict[str, dict[str, Floats]] = {framework: {} for framework in _FRAMEWORKS}
        for part in parts:
            at = (_SETS.index(part["set"]), _ETAS.index(part["eta"]), _SIZES.index(part["size"]), part["seed"])
            for key, values in part["values"].items():
                framework, _, way = key.partition(" ")
                for one in [framework] if way else _FRAMEWORKS:
                    cells = found[one].setdefault(way or framework, np.full(tuple(map(len, _AXES)), np.nan))
                    cells[at] = np.nanmean(values)
        return cls(found)

    def beside(self, framework: str, way: str, other: str = _CLICKS) -> Floats:
        """Return how far a way is ahead of another one in each cell."""
        difference: Floats = self.of[framework][way] - self.of[framework][other]
        return difference


_AXES = (_SETS, _ETAS, _SIZES, range(_SEEDS))


def over_seeds(cells: Floats) -> list[float]:
    """Return the mean of cells, whose last axis are seeds, and its 95 % interval: Student's t over the seeds' means."""
    of_seed = cells.reshape(-1, cells.shape[-1]).mean(axis=0)
    half = stdtrit(len(of_seed) - 1, 0.975) * of_seed.std(ddof=1) / np.sqrt(len(of_seed))
    mean = float(of_seed.mean())
    return [mean, mean - half, mean + half]


def summary(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of the page."""
    means = Means.from_parts(parts)
    cells, all_ways = [], [*(way for way in means.of[_FRAMEWORKS[0]] if way != _PRODUCTION), _PRODUCTION]
    for framework in _FRAMEWORKS:
        for way in all_ways:
            for s, name in enumerate(_SETS):
                for e, eta in enumerate(_ETAS):
                    for z, size in enumerate(_SIZES):
                        value = means.of[framework][way][s, e, z].mean()
                        beside = over_seeds(means.beside(framework, way)[s, e, z])
                        row = {"framework": framework, "way": way, "set": name, "eta": eta, "size": size}
                        cells.append({**row, "NDCG@10": float(value), "beside clicks": beside})
    pooled = []
    for way in all_ways:
        both = np.stack([means.beside(framework, way) for framework in _FRAMEWORKS])
        of_eta = {f"{eta:g}": [over_seeds(both[:, :, e, z]) for z in range(len(_SIZES))] for e, eta in enumerate(_ETAS)}
        for framework, own in zip((*_FRAMEWORKS, "both"), (*both, both), strict=True):
            of_cells = (both if framework == "both" else own).mean(axis=-1)
            pooled.append(
                {
                    "framework": framework,
                    "way": way,
                    "all": over_seeds(own),
                    "worst": float(of_cells.min()),
                    "behind": int((of_cells < -_WORST).sum()),
                    "cells": int(of_cells.size),
                    **({"by eta": of_eta} if framework == "both" else {}),
                }
            )
    proposed = [{key: part[key] for key in ("set", "eta", "size", "seed", "proposed")} for part in parts]
    return {"cells": cells, "pooled": pooled, "proposed": proposed}


def table(found: Mapping[str, Any]) -> list[str]:
    """Return the page's table: how far each way is ahead of clicks as labels at η = 1, over sets and frameworks."""
    body = [
        [row["way"], *(with_interval(one[0], one[1:]) for one in row["by eta"]["1"])]
        for row in found["pooled"]
        if row["framework"] == "both" and row["way"] in _LISTED
    ]
    return markdown(["way", *(f"{size} sessions" for size in _SIZES)], body, numbers=True)


def _plot(rows: list[dict[str, Any]], axes: Any) -> None:
    for i, row in enumerate(rows):
        means = [one[0] for one in row["by eta"]["1"]]
        axes.plot(_SIZES, means, label=row["way"], **line_style(i))
    axes.set_xscale("log")
    axes.set_xticks(_SIZES, [str(size) for size in _SIZES])
    axes.minorticks_off()
    axes.set_xlabel("sessions a query (η = 1)")
    axes.set_ylabel("NDCG@10 less that of clicks as labels")


def draw(found: Mapping[str, Any], folder: Path) -> None:
    """Draw the differences to clicks as labels by the size of the log."""
    of = {row["way"]: row for row in found["pooled"] if row["framework"] == "both"}
    drawn(partial(_plot, [of[way] for way in _DRAWN]), "Correction by the size of the log", folder / "log-sizes")


def main(folder: str, store: str, result: str, page: str) -> None:
    """Train what is not in the store, keep the figures, fill the page and draw."""
    parts = [*all_finished(Path(store), _jobs(Path(folder))).values()]
    found = publish(summary(parts), result, page, lambda found: {"eta 1": table(found)})
    draw(found, Path(page).parent / "figures")


if __name__ == "__main__":
    main(*sys.argv[1:])
