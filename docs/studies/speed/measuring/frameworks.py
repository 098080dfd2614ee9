"""LightGBM and XGBoost as benchmarks drive them, a round per call; and what their own objectives cost without trees."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.data.queries import Queries
from studies.speed.measuring.clock import in_turns

__all__ = [
    "Boosting",
    "Objective",
    "Own",
    "Step",
    "lightgbm",
    "lightgbm_data",
    "lightgbm_own",
    "lightgbm_rounds",
    "xgboost",
    "xgboost_own",
    "xgboost_rounds",
]

Objective = Callable[[Any, Any], Any]
Step = Callable[[], object]  # one round

_LEAST = 0.02  # of a round of squared errors: less is noise


class Boosting(NamedTuple):
    """A framework with binned data, and two objectives of its own.

    `rounds` takes an objective, a name or a function, and returns a new booster's step.
    """

    title: str
    built_in: str
    squared_errors: str
    rounds: Callable[..., Step]


def lightgbm(X: Any, queries: Queries, params: Mapping[str, Any], scores: Any = None) -> Boosting:
    """Return LightGBM with these data, and scores to start from."""
    rounds = lightgbm_rounds(lightgbm_data(X, queries, params, scores), params)
    return Boosting("LightGBM", "lambdarank", "regression", rounds)


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


class Own:
    """A built-in's own gradient: its round less one of squared errors, on one trivial feature, with trees of 2 leaves.

    `calls` has both steps, to be measured in turns with others.
    """

    def __init__(self, ranks: Step, regresses: Step) -> None:
        self._ranks, self._regresses = f"{id(self)} ranks", f"{id(self)} regresses"
        self.calls = {self._ranks: ranks, self._regresses: regresses}

    def seconds(self, number: int) -> float | None:
        """Return it by the medians of `number` rounds; None where they differ by no more than chance."""
        return self.taken_from(in_turns(self.calls, number))

    def taken_from(self, seconds: dict[str, float]) -> float | None:
        """Return it by what its calls took in turns with others, which are left in `seconds`."""
        ranks, regresses = seconds.pop(self._ranks), seconds.pop(self._regresses)
        own = ranks - regresses
        return own if own > _LEAST * regresses else None


def lightgbm_own(queries: Queries, threads: int, scores: Any = None) -> Own:
    """Return that of LightGBM's lambdarank; with scores, which its rounds then leave as they are."""
    rate = 0.1 if scores is None else 1e-6
    params = {"num_leaves": 2, "num_threads": threads, "learning_rate": rate}
    rounds = lightgbm(_trivial(queries), queries, params, scores).rounds
    return Own(rounds("lambdarank"), rounds("regression"))


def xgboost_own(queries: Queries, threads: int, objective: str, scores: Any, **params: Any) -> Own:
    """Return that of an XGBoost objective with its parameters, on scores that its rounds leave as they are."""
    rounds = xgboost(_trivial(queries), queries, {"max_depth": 1, "nthread": threads, "eta": 1e-6}, scores).rounds
    return Own(rounds(objective, **params), rounds("reg:squarederror"))


def _trivial(queries: Queries) -> NDArray[np.float32]:
    """Return one feature of two values."""
    return np.random.default_rng(3).integers(0, 2, (queries.n_rows, 1)).astype(np.float32)
