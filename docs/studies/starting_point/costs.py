"""The time of a training to its best round, and learning curves on synthetic lists of up to two million documents."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.extras import imported
from boostplug.data.queries import Queries
from boostplug.datasets import RankingData, make_ranking
from boostplug.estimators.lightgbm import LGBMRanker
from boostplug.estimators.xgboost import XGBRanker
from studies.quality.run import CatBoost
from studies.quality.sets import SETS
from studies.starting_point.rule import Arm
from studies.starting_point.trainings import (
    DATA_SETS,
    FOLDS,
    LAMBDAMART,
    LOSSES,
    SEEDS,
    outcomes,
    trees_of,
)

__all__ = ["SHARES", "curve", "times"]

_FEATURES, _LIST = 40, 50.0
_TRAIN, _TEST = 40_000, 4_000  # queries: two million and 200,000 documents
SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)
_REPEATED = 3


def _seconds(arm: Arm, parts: tuple[DataPart, ...], rounds: int, seed: int) -> float:
    """Return the time of one training of some rounds, without validation, on all cores."""
    train, trees = parts[0], trees_of(arm.framework, arm.setting)
    objective = LOSSES.get(arm.method, LAMBDAMART.get(arm.framework, ""))
    start = perf_counter()
    if arm.framework == CatBoost.name:
        catboost = imported("catboost", "the timing needs")
        pool = catboost.Pool(train.X, train.queries.labels, group_id=train.queries.query_of_row)
        options = {"iterations": rounds, "learning_rate": trees.learning_rate, "random_seed": seed, "verbose": False}
        catboost.CatBoost({"loss_function": arm.method, "allow_writing_files": False, **options}).fit(pool)
    else:
        kind, own = (
            (LGBMRanker, trees.for_lightgbm(2)) if arm.framework == "lightgbm" else (XGBRanker, trees.for_xgboost(2))
        )
        ranker = kind(objective=objective, n_estimators=rounds, random_state=seed, **own)
        ranker.fit(train.X, train.queries.labels, group=train.group)
    return perf_counter() - start


def times(folder: Path, rounds: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the seconds of trainings to given rounds, the fastest of three, on the first fold of the confirmation."""
    fold, seed = FOLDS["confirm"][0], SEEDS["confirm"][0]
    rows = []
    for data in DATA_SETS:
        parts = SETS[data].load(folder, fold)
        for row in rounds:
            arm, best = Arm(*row["arm"]), row["sets"][data]
            seconds = min(_seconds(arm, parts, best, seed) for _ in range(_REPEATED))
            rows.append({"arm": [*arm], "set": data, "rounds": best, "seconds": seconds})
    return rows


def _part(data: RankingData, queries: int) -> DataPart:
    rows = int(data.group[:queries].sum())
    return DataPart(data.X[:rows], Queries(data.y[:rows], group=data.group[:queries]))


def curve(share: float, arm: Arm) -> dict[str, Any]:
    """Return an arm's mean NDCG@10 on test queries, trained on a share of two million documents, and its rounds."""
    train = make_ranking(_TRAIN, n_features=_FEATURES, mean_list_size=_LIST, random_state=1)
    valid, test = (
        make_ranking(_TEST, n_features=_FEATURES, mean_list_size=_LIST, random_state=state) for state in (2, 3)
    )
    parts = (_part(train, round(share * _TRAIN)), _part(valid, _TEST), _part(test, _TEST))
    objective = LOSSES.get(arm.method, LAMBDAMART[arm.framework])
    seed = SEEDS["confirm"][0]
    one = outcomes(parts, arm.framework, arm.setting, {arm.method: objective}, seed, num_threads=2)[arm.method]
    documents = int(parts[0].group.sum())
    return {"arm": [*arm], "documents": documents, "NDCG@10": float(np.nanmean(one["values"])), "rounds": one["rounds"]}
