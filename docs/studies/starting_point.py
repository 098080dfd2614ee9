"""A starting point for trees: settings of LightGBM and XGBoost that suit ranking losses, beside CatBoost.

``python -m studies.starting_point screen DATA STORE`` trains all settings on the first two folds, an hour on two cores.
``… confirm DATA STORE`` trains what the rule chose, and CatBoost, on the three others. Both go on from what STORE, a
folder, keeps, and print the differences. The third part of docs/results/protocol.md was written before the first
training.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.fold_runs import FoldRuns
from boostplug.comparison.training.frameworks import FRAMEWORKS
from boostplug.comparison.training.runs import Method, Plan
from boostplug.comparison.training.trees import Trees
from boostplug.losses import CRR, QBRank
from boostplug.metrics import NDCG
from studies.quality.run import CatBoost
from studies.quality.sets import SETS
from studies.store import finished

__all__ = ["SETTINGS", "Job", "chosen", "estimate", "main"]

Floats = NDArray[np.float64]

_SETS = ("mslr", "mq2008", "ohsumed", "yandex", "nfcorpus", "jester", "movielens")
_RATE, _ROUNDS, _PATIENCE = 0.08, 400, 50
DEFAULT = "default"
_LEAF_WISE = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 31}
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "lightgbm": {
        DEFAULT: {},
        "l2": {"lambda_l2": 3.0},
        "smooth": {"path_smooth": 10.0},
        "extra": {"extra_trees": True},
        "bynode": {"feature_fraction_bynode": 0.5},
        "l2, smooth, bynode": {"lambda_l2": 3.0, "path_smooth": 10.0, "feature_fraction_bynode": 0.5},
        "l2, smooth, bynode, extra": {
            "lambda_l2": 3.0, "path_smooth": 10.0, "feature_fraction_bynode": 0.5, "extra_trees": True,
        },
        "shallow": {"lambda_l2": 3.0, "feature_fraction_bynode": 0.5, "max_depth": 6, "num_leaves": 40},
        "small": {"lambda_l2": 3.0, "feature_fraction_bynode": 0.5, "num_leaves": 12},
        "rows": {"lambda_l2": 3.0, "feature_fraction_bynode": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1},
    },
    "xgboost": {
        DEFAULT: {},
        "l2": {"reg_lambda": 5.0},
        "bynode": {"colsample_bynode": 0.5},
        "rows": {"subsample": 0.7},
        "weight": {"min_child_weight": 10.0},
        "gamma": {"gamma": 1.0, "colsample_bynode": 0.5},
        "leaves": _LEAF_WISE,
        "bynode, rows": {"colsample_bynode": 0.5, "subsample": 0.7},
        "l2, bynode, rows": {"reg_lambda": 5.0, "colsample_bynode": 0.5, "subsample": 0.7},
        "leaves, l2, bynode, rows": {
            **_LEAF_WISE, "reg_lambda": 5.0, "colsample_bynode": 0.5, "subsample": 0.7,
        },
    },
}  # fmt: skip
_LAMBDAMART = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}
_LOSSES = {"QBRank": QBRank(), "CRR": CRR()}
_CATBOOST = ("YetiRank", "QueryRMSE")
_FOLDS, _SEEDS = {"screen": (0, 1), "confirm": (2, 3, 4)}, {"screen": (201, 202), "confirm": (301, 302, 303, 304, 305)}
_DRAWN = ("bynode", "extra", "bagging", "subsample")  # in the names of parameters by which a seed matters
_LEAST_Z = 2.77  # two-sided .05 over nine settings


class Job(NamedTuple):
    """The trainings of one setting on one fold of a set, with one seed."""

    data: str
    fold: int
    seed: int
    framework: str
    setting: str

    @property
    def name(self) -> str:
        """Of the file that keeps it; one for all seeds where nothing is drawn."""
        draws = any(word in key for key in SETTINGS.get(self.framework, {}).get(self.setting, ()) for word in _DRAWN)
        seed = self.seed if draws or self.framework == CatBoost.name else "any"
        parts = (self.data, self.fold, seed, self.framework, self.setting)
        return "_".join(map(str, parts)).replace(" ", "").replace(",", "+")

    def methods(self) -> dict[str, Any]:
        """Return objectives by name."""
        if self.framework == CatBoost.name:
            return {name: name for name in _CATBOOST}
        return {"LambdaMART": _LAMBDAMART[self.framework], **_LOSSES}


def jobs_of(stage: str, settings: Mapping[str, tuple[str, ...]]) -> Iterator[Job]:
    """Yield the jobs of a stage; `settings` are those of each framework."""
    for seed in _SEEDS[stage]:
        for fold in _FOLDS[stage]:
            for data in _SETS:
                for framework, names in settings.items():
                    for setting in names:
                        yield Job(data, fold, seed, framework, setting)


def trees_of(framework: str, setting: str) -> Trees:
    """Return a setting; CatBoost has trees of 64 leaves, its default depth."""
    common: dict[str, Any] = {"learning_rate": _RATE, "num_leaves": 31}
    if framework == CatBoost.name:
        return Trees(learning_rate=_RATE, num_leaves=64)
    own = SETTINGS[framework][setting]
    if framework == "lightgbm":
        return Trees(**common, lightgbm={"lambda_l2": 0.0, **own})
    depth_wise = {"grow_policy": "depthwise", "max_depth": 6, "max_leaves": 0, "min_child_weight": 1.0}
    return Trees(**common, xgboost={**depth_wise, **own})


def trained(folder: Path, job: Job) -> dict[str, Any]:
    """Return NDCG@10 of each test query, rounds and seconds per round, by method."""
    metric = NDCG(10)
    plan = Plan(
        metric=metric,
        metrics=(metric,),
        trees=trees_of(job.framework, job.setting),
        rounds=_ROUNDS,
        patience=_PATIENCE,
        num_threads=1,
        tune=0,
        seeds=[job.seed],
    )
    parts = SETS[job.data].load(folder, job.fold)
    runs = FoldRuns(plan, job.fold, parts, frameworks={**FRAMEWORKS, CatBoost.name: CatBoost})
    found = {}
    for name, objective in job.methods().items():
        outcome = runs.outcome(Method(name, job.framework, objective), job.seed)
        if outcome.error is not None:
            raise RuntimeError(f"{job}: {name}: {outcome.error}")
        values = outcome.per_query[metric.name]
        found[name] = {"values": values, "rounds": outcome.rounds, "seconds": outcome.seconds_per_round}
    return found


def estimate(gaps: Mapping[str, list[list[Floats]]]) -> tuple[float, float]:
    """Return the pooled mean of differences by set, fold and seed, and its standard error over queries and seeds.

    Every query counts the same, as the mean of its seeds.
    """
    of_folds = [np.array(seeds) for folds in gaps.values() for seeds in folds]
    of_folds = [one[:, np.isfinite(one).all(axis=0)] for one in of_folds]  # queries that have a relevant document
    of_query = [one.mean(axis=0) for one in of_folds]
    pooled, by_seed = np.concatenate(of_query), np.concatenate(of_folds, axis=1).mean(axis=1)
    of_queries = sum(float(((one - one.mean()) ** 2).sum()) for one in of_query) / len(pooled) ** 2
    of_seeds = float(by_seed.var(ddof=1)) / len(by_seed) if len(by_seed) > 1 else 0.0
    return float(pooled.mean()), float(np.sqrt(of_queries + of_seeds))


def gaps_of(stage: str, found: Mapping[Job, Any], ours: tuple[str, str, str], theirs: tuple[str, str, str]) -> Any:
    """Return the differences of two arms (framework, setting, method) by set, fold and seed."""

    def values(arm: tuple[str, str, str], data: str, fold: int, seed: int) -> Floats:
        of_query: Floats = found[Job(data, fold, seed, arm[0], arm[1])][arm[2]]["values"]
        return of_query

    return {
        data: [
            [values(ours, data, fold, seed) - values(theirs, data, fold, seed) for seed in _SEEDS[stage]]
            for fold in _FOLDS[stage]
        ]
        for data in _SETS
    }


def chosen(differences: Mapping[str, tuple[float, float]]) -> str | None:
    """Return the setting that the rule takes, by the mean and the standard error of each; None if none qualifies."""
    z = {name: mean / error for name, (mean, error) in differences.items() if error > 0.0}
    qualified = {name: differences[name][0] for name in z if z[name] >= _LEAST_Z}
    return max(qualified, key=qualified.__getitem__) if qualified else None


def screened(found: Mapping[Job, Any], framework: str) -> dict[str, tuple[float, float]]:
    """Return how far each setting is ahead of the default: the mean of both losses, with its standard error."""
    out = {}
    for setting in SETTINGS[framework]:
        if setting != DEFAULT:
            of_loss = [
                gaps_of("screen", found, (framework, setting, name), (framework, DEFAULT, name)) for name in _LOSSES
            ]
            mean = {
                data: [
                    [np.mean([one[data][f][s] for one in of_loss], axis=0) for s in range(len(of_loss[0][data][f]))]
                    for f in range(len(of_loss[0][data]))
                ]
                for data in _SETS
            }
            out[setting] = estimate(mean)
    return out


def run(stage: str, folder: Path, store: Path, settings: Mapping[str, tuple[str, ...]]) -> dict[Job, Any]:
    """Return what all jobs of a stage give; those that are not kept yet are trained, on all cores."""
    store.mkdir(parents=True, exist_ok=True)
    jobs = list(jobs_of(stage, settings))
    done = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(finished)(store, job.name, partial(trained, folder, job)) for job in jobs
    )
    return dict(zip(jobs, done, strict=True))


def main(stage: str, folder: str, store: str) -> None:
    """Train a stage, and print the differences."""
    every = {framework: tuple(settings) for framework, settings in SETTINGS.items()}
    found = run("screen", Path(folder), Path(store), every)
    taken: dict[str, str | None] = {}
    for framework in SETTINGS:
        differences = screened(found, framework)
        taken[framework] = chosen(differences)
        for setting, (mean, error) in differences.items():
            print(f"{framework} {setting}: {mean:+.4f} ± {error:.4f}, z {mean / error:.1f}")
        print(f"{framework}: {taken[framework] or 'none qualifies'}")
    if stage == "confirm":
        few = {framework: (DEFAULT, *([name] if name else [])) for framework, name in taken.items()}
        found = run("confirm", Path(folder), Path(store), few | {CatBoost.name: (DEFAULT,)})
        arms = [(one, setting, name) for one in few for setting in few[one] for name in ("LambdaMART", *_LOSSES)]
        for arm in [*arms, *((CatBoost.name, DEFAULT, name) for name in _CATBOOST)]:
            for other in [(one, DEFAULT, "LambdaMART") for one in few]:
                if arm != other:
                    mean, error = estimate(gaps_of("confirm", found, arm, other))
                    print(f"{' '.join(arm)} beside {' '.join(other)}: {mean:+.4f} ± {error:.4f}, z {mean / error:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
