"""Trainings in LightGBM that studies of losses have in common: the same trees and stopping rule for every objective."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import LightGBMTrainer, Watch
from boostplug.comparison.training.plan import Setting
from boostplug.comparison.training.trees import Trees
from boostplug.data.inputs import CheckedInputs
from boostplug.losses import Loss
from boostplug.metrics import Metric

__all__ = ["N_SEEDS", "PATIENCE", "ROUNDS", "Training", "trainings"]

N_SEEDS, ROUNDS, PATIENCE = 3, 300, 50
_TREES = Trees(learning_rate=0.1, num_leaves=31, row_fraction=0.8, column_fraction=0.5)


@dataclass(frozen=True, eq=False)
class Training:
    """A finished training: the scores of the test part after the best round, and what was seen round by round."""

    method: str
    scores: NDArray[np.float64]
    watch: Watch


def trainings(
    fold: tuple[CheckedInputs, CheckedInputs, CheckedInputs],
    objectives: Mapping[str, Loss | str],
    metric: Metric,
    *,
    rounds: int = ROUNDS,
    num_threads: int = 1,
) -> Iterator[Training]:
    """Train every objective with each seed, stopped by the metric on the validation part; seed by seed."""
    framework = LightGBMTrainer(*fold, _TREES, num_threads)
    for seed in range(N_SEEDS):
        for method, objective in objectives.items():
            watch = Watch(metric, fold[1].queries, patience=PATIENCE, num_threads=num_threads)
            yield Training(method, framework.run(Setting(objective), seed, rounds, watch), watch)
