"""`TreeLearner`: a loss or built-in objective on LightGBM's trees, as a ranker that a protocol can name."""

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from boostplug.comparison.training.frameworks import lightgbm_dataset
from boostplug.comparison.training.trees import Trees
from boostplug.core.checks import check_number
from boostplug.core.extras import imported
from boostplug.losses import Loss
from boostplug.rankers import ReferenceRanker
from boostplug.rankers.base import Round, Rounds, Training
from boostplug.weak_rankers import Fitted

__all__ = ["TreeLearner"]


class TreeLearner(ReferenceRanker):
    """Gradient boosting in LightGBM, a tree a round, deterministic and in one thread.

    Parameters
    ----------
    objective : Loss or str, default "lambdarank"
        A loss of ours, or the name of a built-in objective.
    n_estimators : int, default 100
        Trees.
    learning_rate : float, default 0.05
    num_leaves : int, default 15
    random_state : int, RandomState or None, default None
        Draws LightGBM's seed.

    Raises
    ------
    ImportError
        By `fit`, if LightGBM cannot be imported.
    ValueError
        By `fit`, if there are pairs or rows that are not labelled, of which a built-in objective knows nothing.
    """

    def __init__(
        self,
        *,
        objective: Loss | str = "lambdarank",
        n_estimators: int = 100,
        learning_rate: float = 0.05,
        num_leaves: int = 15,
        random_state: Any = None,
    ) -> None:
        self.objective = objective
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_number("learning_rate", self.learning_rate, above=0.0, most=1.0)

    def _rounds(self, training: Training) -> Rounds:
        lgb, queries = imported("lightgbm", "the paper's trees need"), training.queries
        if queries.pairs is not None or queries.labelled is not None:
            raise ValueError("pairs and labelled are for the losses on pairs themselves; TreeLearner takes grades as y")
        loss = self.objective if isinstance(self.objective, Loss) else None
        plain = {"l2": 0.0, "row_fraction": 1.0, "column_fraction": 1.0, "lightgbm": {"feature_pre_filter": True}}
        trees = Trees.of({"learning_rate": self.learning_rate, "num_leaves": self.num_leaves, **plain})
        params = {
            **trees.for_lightgbm(num_threads=1),
            "objective": "none" if loss else self.objective,
            "seed": training.random.randint(np.iinfo(np.int32).max),
        }
        booster = lgb.Booster(params, lightgbm_dataset(training.X, queries, params))
        for i in count():
            if booster.update(fobj=loss):
                return "no tree can be split"
            yield Round(((Fitted(_TreeOf(booster, i)), 1.0),))
        raise AssertionError


class _TreeOf(RegressorMixin, BaseEstimator):
    """One tree of a booster."""

    def __init__(self, booster: Any, index: int) -> None:
        self.booster = booster
        self.index = index

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the tree's values."""
        values: NDArray[np.float64] = self.booster.predict(
            X, raw_score=True, start_iteration=self.index, num_iteration=1, num_threads=1
        )
        return values
