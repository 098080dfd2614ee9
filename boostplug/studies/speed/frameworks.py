"""LightGBM and XGBoost as benchmarks drive them: data that are binned once, and boosters that make a round per call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostplug.data.queries import Queries

__all__ = ["Boosting", "Objective", "Step", "lightgbm", "lightgbm_data", "lightgbm_rounds", "xgboost", "xgboost_rounds"]

Objective = Callable[[Any, Any], Any]
Step = Callable[[], object]


@dataclass(frozen=True)
class Boosting:
    """A framework with binned data.

    Attributes
    ----------
    title : str
    built_in, squared_errors : str
        Objectives of its own.
    rounds : callable
        Takes an objective, a name or a function, and returns a new booster's step: one round.
    """

    title: str
    built_in: str
    squared_errors: str
    rounds: Callable[..., Step]


def lightgbm(X: Any, queries: Queries, params: Mapping[str, Any], scores: Any = None) -> Boosting:
    """Return LightGBM with these data, and scores to start from."""
    return Boosting(
        "LightGBM", "lambdarank", "regression", lightgbm_rounds(lightgbm_data(X, queries, params, scores), params)
    )


def lightgbm_data(X: Any, queries: Queries, params: Mapping[str, Any], scores: Any = None) -> Any:
    """Return a constructed Dataset."""
    import lightgbm as lgb

    group, quiet = np.diff(queries.boundaries), {"verbose": -1, **params}
    return lgb.Dataset(X, queries.labels, group=group, init_score=scores, params=quiet).construct()


def lightgbm_rounds(data: Any, params: Mapping[str, Any]) -> Callable[..., Step]:
    """Return what makes new boosters on a Dataset."""
    import lightgbm as lgb

    shared = {"learning_rate": 0.1, "metric": "none", "verbose": -1, **params}

    def rounds(objective: str | Objective) -> Step:
        if isinstance(objective, str):
            built_in: Step = lgb.Booster({**shared, "objective": objective}, data).update
            return built_in
        booster = lgb.Booster({**shared, "objective": "none"}, data)
        return lambda: booster.update(fobj=objective)

    return rounds


def xgboost(X: Any, queries: Queries, params: Mapping[str, Any], scores: Any = None) -> Boosting:
    """Return XGBoost with these data, and scores to start from."""
    import xgboost as xgb

    group = np.diff(queries.boundaries)
    data = xgb.QuantileDMatrix(X, queries.labels, group=group, base_margin=scores, nthread=params["nthread"])
    return Boosting("XGBoost", "rank:ndcg", "reg:squarederror", xgboost_rounds(data, params))


def xgboost_rounds(data: Any, params: Mapping[str, Any]) -> Callable[..., Step]:
    """Return what makes new boosters on a DMatrix, with more parameters of a built-in objective."""
    import xgboost as xgb

    shared = {"eta": 0.1, "tree_method": "hist", **params}

    def rounds(objective: str | Objective, **more: Any) -> Step:
        built_in = isinstance(objective, str)
        own = {"objective": objective, **more} if built_in else {"objective": "rank:pairwise", "base_score": 0.0}
        booster, fobj = xgb.Booster({**shared, **own}, [data]), None if built_in else objective
        return lambda: booster.update(data, booster.num_boosted_rounds(), fobj=fobj)

    return rounds
