"""The trainings: ten settings of trees for each framework, three losses, seven sets; and CatBoost's two."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib

from boostplug.comparison.training.frameworks import FRAMEWORKS, DataPart
from boostplug.comparison.training.runs import FoldRuns, Method, Plan
from boostplug.comparison.training.trees import Trees
from boostplug.losses import CRR, QBRank
from boostplug.metrics import NDCG
from studies.quality.run import CatBoost
from studies.quality.sets import SETS
from studies.store import finished

__all__ = [
    "CATBOOST",
    "DATA_SETS",
    "DEFAULT",
    "FOLDS",
    "LAMBDAMART",
    "LOSSES",
    "OF_COMPARE",
    "SEEDS",
    "SETTINGS",
    "Job",
    "outcomes",
    "run",
    "trees_of",
]

DATA_SETS = ("mslr", "mq2008", "ohsumed", "yandex", "nfcorpus", "jester", "movielens")
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
OF_COMPARE: dict[str, dict[str, Any]] = {"compare": {}, "compare, rows": {"subsample": 0.7}}
"""Of XGBoost: the trees of `compare`, which draw 90 % of rows and columns, and the setting beside them."""
LAMBDAMART = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}
LOSSES = {"QBRank": QBRank(), "CRR": CRR()}
CATBOOST = ("YetiRank", "QueryRMSE")
FOLDS, SEEDS = {"screen": (0, 1), "confirm": (2, 3, 4)}, {"screen": (201, 202), "confirm": (301, 302, 303, 304, 305)}
_DRAWN = ("bynode", "extra", "bagging", "subsample")  # in the names of parameters by which a seed matters


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
        seed = self.seed if draws or self.setting in OF_COMPARE or self.framework == CatBoost.name else "any"
        parts = (self.data, self.fold, seed, self.framework, self.setting)
        return "_".join(map(str, parts)).replace(" ", "").replace(",", "+")

    def methods(self) -> dict[str, Any]:
        """Return objectives by name."""
        if self.framework == CatBoost.name:
            return {name: name for name in CATBOOST}
        return {"LambdaMART": LAMBDAMART[self.framework], **LOSSES}


def jobs_of(stage: str, settings: Mapping[str, tuple[str, ...]], n_seeds: int | None = None) -> Iterator[Job]:
    """Yield the jobs of a stage; `settings` are those of each framework."""
    for seed in SEEDS[stage][:n_seeds]:
        for fold in FOLDS[stage]:
            for data in DATA_SETS:
                for framework, names in settings.items():
                    for setting in names:
                        yield Job(data, fold, seed, framework, setting)


def trees_of(framework: str, setting: str) -> Trees:
    """Return a setting; CatBoost has trees of 64 leaves, its default depth."""
    common: dict[str, Any] = {"learning_rate": _RATE, "num_leaves": 31, "row_fraction": 1.0, "column_fraction": 1.0}
    if framework == CatBoost.name:
        return Trees(learning_rate=_RATE, num_leaves=64)
    if setting in OF_COMPARE:
        return Trees(xgboost=OF_COMPARE[setting])
    own = SETTINGS[framework][setting]
    if framework == "lightgbm":
        return Trees(**common, lightgbm={"lambda_l2": 0.0, **own})
    depth_wise = {"grow_policy": "depthwise", "max_depth": 6, "max_leaves": 0, "min_child_weight": 1.0}
    return Trees(**common, xgboost={**depth_wise, **own})


def outcomes(
    parts: tuple[DataPart, DataPart, DataPart],
    framework: str,
    setting: str,
    methods: Mapping[str, Any],
    seed: int,
    *,
    num_threads: int = 1,
) -> dict[str, dict[str, Any]]:
    """Train methods with a setting, and return NDCG@10 of each test query and the best round by method."""
    metric = NDCG(10)
    plan = Plan(
        metric=metric,
        metrics=(metric,),
        trees=trees_of(framework, setting),
        rounds=_ROUNDS,
        patience=_PATIENCE,
        num_threads=num_threads,
        tune=0,
        seeds=[seed],
    )
    runs = FoldRuns(plan, 0, parts, frameworks={**FRAMEWORKS, CatBoost.name: CatBoost})
    found = {}
    for name, objective in methods.items():
        outcome = runs.outcome(Method(name, framework, objective), seed)
        if outcome.error is not None:
            raise RuntimeError(f"{name} in {framework}, {setting}, seed {seed}: {outcome.error}")
        found[name] = {"values": outcome.per_query[metric.name], "rounds": outcome.rounds}
    return found


def trained(folder: Path, job: Job) -> dict[str, Any]:
    """Return the outcomes of a job by method."""
    return outcomes(SETS[job.data].load(folder, job.fold), job.framework, job.setting, job.methods(), job.seed)


def run(
    stage: str, folder: Path, store: Path, settings: Mapping[str, tuple[str, ...]], n_seeds: int | None = None
) -> dict[Job, Any]:
    """Return the outcomes of all jobs of a stage; those that are not kept yet are trained, on all cores."""
    store.mkdir(parents=True, exist_ok=True)
    jobs = list(jobs_of(stage, settings, n_seeds))
    done = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(finished)(store, job.name, partial(trained, folder, job)) for job in jobs
    )
    return dict(zip(jobs, done, strict=True))
