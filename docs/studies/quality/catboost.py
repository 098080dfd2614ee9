"""CatBoost as a framework that the studies train beside LightGBM and XGBoost."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import Watch
from boostplug.comparison.training.plan import Setting
from boostplug.comparison.training.trees import Trees
from boostplug.core.extras import imported
from boostplug.data.inputs import CheckedInputs

__all__ = ["CatBoost"]

Floats = NDArray[np.float64]


class CatBoost:
    """CatBoost: symmetric trees of as many leaves (the next power of 2), the same rate, rounds and stopping rule.

    Its sampling, its l2 and the rest are its own defaults. All rounds are trained, and the best one found afterwards.
    """

    name: ClassVar[str] = "catboost"
    baselines: ClassVar[tuple[str, ...]] = ("YetiRank", "QueryRMSE", "PairLogit")
    tree_names: ClassVar[Mapping[str, str]] = {
        "learning_rate": "learning_rate",
        "num_leaves": "num_leaves",  # of which `run` makes a depth
        "l2": "l2_leaf_reg",
        "column_fraction": "rsm",
    }

    def __init__(
        self, train: CheckedInputs, valid: CheckedInputs, test: CheckedInputs, trees: Trees, num_threads: int
    ) -> None:
        self.catboost = imported("catboost", "training needs")
        self.trees, self.num_threads = trees, num_threads
        self.train, self.valid, self.test = map(self._pool, (train, valid, test))

    def _pool(self, part: CheckedInputs) -> Any:
        return self.catboost.Pool(
            part.X, part.queries.labels, group_id=part.queries.query_of_row, thread_count=self.num_threads
        )

    def run(self, setting: Setting, seed: int, rounds: int, watch: Watch) -> Floats:
        """Train, and return the scores of the test part after the round that is best on the validation part."""
        given = dict(setting.parameters)
        leaves = given.pop("num_leaves", self.trees.num_leaves)
        booster = self.catboost.CatBoost(
            {
                "loss_function": setting.objective,
                "iterations": rounds,
                "learning_rate": self.trees.learning_rate,
                "depth": int(np.ceil(np.log2(leaves))),
                "random_seed": seed,
                "thread_count": self.num_threads,
                "allow_writing_files": False,
                "logging_level": "Silent",
                **given,
            }
        )
        watch.start_round()
        booster.fit(self.train)
        for scores in booster.staged_predict(self.valid, prediction_type="RawFormulaVal"):
            watch.measure(scores)
            if watch.stop:
                break
        scores = booster.predict(self.test, prediction_type="RawFormulaVal", ntree_end=watch.best_round)
        return np.asarray(scores, dtype=np.float64)
