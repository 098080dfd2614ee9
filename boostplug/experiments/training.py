"""One training run in LightGBM or XGBoost: the same trees, rounds, stopping rule and metric for every objective."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from time import perf_counter
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from boostplug.best_round import BestRound
from boostplug.checks import check_integer, check_number
from boostplug.losses import Loss
from boostplug.metrics import Metric
from boostplug.queries import Queries
from boostplug.threads import threads_of_framework

__all__ = ["FRAMEWORKS", "Framework", "Part", "Trees", "Watch", "missing"]

Floats = NDArray[np.float64]

_NONE: Mapping[str, Any] = MappingProxyType({})
# What a comparison sets itself, by every name that LightGBM or XGBoost has for it.
_OURS: dict[str, tuple[str, ...]] = {
    "objective": ("objective", "objective_type", "app", "application", "loss"),
    "metric": ("metric", "metrics", "metric_types", "eval_metric", "disable_default_eval_metric"),
    "rounds": (
        *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds"),
        *("num_boost_round", "n_estimators", "max_iter"),
    ),
    "early_stopping_rounds": ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change"),
    "seeds": (
        *("seed", "random_seed", "random_state", "bagging_seed", "bagging_fraction_seed", "feature_fraction_seed"),
        *("extra_seed", "objective_seed", "drop_seed", "seed_per_iteration"),
    ),
    "num_threads": ("num_threads", "num_thread", "nthread", "nthreads", "n_jobs"),
    "": ("num_class", "num_classes", "base_score", "device", "device_type", "gpu_id"),
}
_TAKEN = {name: ours for ours, names in _OURS.items() for name in names}

# The parameters of `Trees` by their further names in a framework: a given one takes the place of ours.
_OTHER_NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "lightgbm": {
        "learning_rate": ("shrinkage_rate", "eta"),
        "num_leaves": ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
        "max_bin": ("max_bins",),
        "min_data_in_leaf": ("min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
        "min_sum_hessian_in_leaf": ("min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight"),
        "lambda_l2": ("reg_lambda", "lambda", "l2_regularization"),
        "bagging_fraction": ("sub_row", "subsample", "bagging"),
        "bagging_freq": ("subsample_freq",),
        "feature_fraction": ("sub_feature", "colsample_bytree"),
        "force_col_wise": ("force_row_wise",),
        "verbosity": ("verbose",),
    },
    "xgboost": {"learning_rate": ("eta",), "reg_lambda": ("lambda",)},
}


def _with_others(framework: str, ours: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return our parameters and the given ones, which win under whichever name."""
    names = _OTHER_NAMES[framework]
    return {k: v for k, v in ours.items() if not given.keys() & names.get(k, ())} | dict(given)


@dataclass(frozen=True, eq=False)
class Part:
    """The training, validation or test part of a data set."""

    X: Any
    queries: Queries
    qid: NDArray[Any] | None = None

    @property
    def group(self) -> NDArray[np.int64]:
        """Sizes of the queries."""
        return np.diff(self.queries.boundaries)


@dataclass(frozen=True, kw_only=True)
class Trees:
    """What every method grows its trees by, and what that is called in each framework.

    ================  ==========================  ========================================
    here              LightGBM                    XGBoost (``tree_method="hist"``)
    ================  ==========================  ========================================
    learning_rate     learning_rate               learning_rate
    num_leaves        num_leaves                  max_leaves, ``grow_policy="lossguide"``
    max_depth         max_depth (-1 for none)     max_depth (0 for none)
    max_bin           max_bin                     max_bin
    min_rows          min_data_in_leaf            (there is none)
    min_hessian       min_sum_hessian_in_leaf     min_child_weight
    l2                lambda_l2                   reg_lambda
    row_fraction      bagging_fraction, every 1   subsample
    column_fraction   feature_fraction            colsample_bytree
    ================  ==========================  ========================================

    The two fractions are what a seed acts on; with both at 1 all seeds of a method give one model. ``rank_xendcg``
    draws besides. Ranking objectives start at a score of 0; regression starts at the mean grade.

    Parameters
    ----------
    learning_rate : float
        Above 0.
    num_leaves, max_bin : int
        From 2.
    max_depth : int
        0: no limit.
    min_rows : int
        From 0.
    min_hessian, l2 : float
        From 0.
    row_fraction, column_fraction : float
        Above 0, at most 1.
    lightgbm, xgboost : mapping, optional
        Further parameters of one framework alone; they win over the above. What `compare` sets for all methods
        (objective, metric, rounds, early stopping, seeds, threads) is refused, under each of its names.

    Raises
    ------
    ValueError
        If a value is out of its range.
    """

    learning_rate: float = 0.1
    num_leaves: int = 15
    max_depth: int = 0
    max_bin: int = 255
    min_rows: int = 20
    min_hessian: float = 1e-3
    l2: float = 1.0
    row_fraction: float = 0.9
    column_fraction: float = 0.9
    lightgbm: Mapping[str, Any] = field(default_factory=dict)
    xgboost: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("num_leaves", 2), ("max_depth", 0), ("max_bin", 2), ("min_rows", 0)):
            remedy = "0 is for no limit" if name == "max_depth" else f"the default is {getattr(Trees, name)}"
            object.__setattr__(self, name, check_integer(name, getattr(self, name), least, remedy=remedy))
        for name, above, least_number, most in (
            ("learning_rate", 0.0, None, None),
            ("min_hessian", None, 0.0, None),
            ("l2", None, 0.0, None),
            ("row_fraction", 0.0, None, 1.0),
            ("column_fraction", 0.0, None, 1.0),
        ):
            remedy = f"the default is {getattr(Trees, name)}"
            number = check_number(name, getattr(self, name), above=above, least=least_number, most=most, remedy=remedy)
            object.__setattr__(self, name, number)
        for name in _OTHER_NAMES:
            given = getattr(self, name)
            if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
                raise ValueError(
                    f"params[{name!r}] must be a dict of further parameters of {name}, got {given!r}; leave it out for "
                    "none"
                )
            taken = sorted(_TAKEN.keys() & given)
            if taken:
                owners = sorted({_TAKEN[key] for key in taken} - {""})
                remedy = f"; use the argument {', '.join(owners)} of compare" if owners else ""
                remedy = "; use losses and baselines" if owners == ["objective"] else remedy
                raise ValueError(
                    f"params[{name!r}] may not set {', '.join(taken)}: compare sets it for all methods{remedy}"
                )
            object.__setattr__(self, name, dict(given))

    @classmethod
    def of(cls, params: Mapping[str, Any] | None) -> "Trees":
        """Return the trees that `params` describe, refusing unknown names."""
        names = [f.name for f in fields(cls)]
        if params is not None and not isinstance(params, Mapping):
            raise ValueError(f"params must be a dict with keys of {', '.join(names)}; got {params!r}")
        unknown = sorted(set(params or {}).difference(names), key=str)
        if unknown:
            raise ValueError(
                f"params has no {', '.join(map(repr, unknown))}; it takes {', '.join(names)} "
                '(the last two: dicts of further parameters of that framework, as {"lightgbm": {"extra_trees": True}})'
            )
        return cls(**(params or {}))


class Watch:
    """Follows a run round by round: our metric on the validation part, the time of each round, and when to stop.

    A round's time ends where the metric is asked for: the metric's own time is not in it, the update of the validation
    scores by the new tree is.

    Attributes
    ----------
    values : list of float
        The metric after each round.
    seconds : list of float
        The time of each round.
    """

    def __init__(self, metric: Metric, queries: Queries, *, patience: int | None, num_threads: int) -> None:
        self.metric, self.queries, self.num_threads = metric, queries, num_threads
        self.values: list[float] = []
        self.seconds: list[float] = []
        self._best = BestRound(greater_is_better=metric.greater_is_better, patience=patience)
        self._start = perf_counter()

    def start_round(self) -> None:
        """Start the clock of a round."""
        self._start = perf_counter()

    def measure(self, scores: Any) -> float:
        """Stop the clock, and return the metric of the validation scores."""
        self.seconds.append(perf_counter() - self._start)
        with threads_of_framework(self.num_threads):
            value = float(self.metric(scores, self.queries))
        self.values.append(value)
        self._best.add(value)
        return value

    @property
    def best_round(self) -> int:
        """The number of rounds to use: the first with the best value, all without early stopping."""
        return len(self.values) if self._best.patience is None else self._best.number

    @property
    def stop(self) -> bool:
        """Whether the last `patience` rounds have brought nothing better."""
        return self._best.stops


class Framework(Protocol):
    """A framework with one fold's data in it, binned once for all methods and seeds."""

    name: ClassVar[str]
    baselines: ClassVar[tuple[str, ...]]
    """Built-in objectives; the first is the one that others are compared with."""
    leaves: ClassVar[str]
    """What the framework calls the number of leaves."""

    def __init__(self, train: Part, valid: Part, test: Part, trees: Trees, num_threads: int) -> None: ...

    def run(
        self, objective: Loss | str, seed: int, rounds: int, watch: Watch, parameters: Mapping[str, Any] = _NONE
    ) -> Floats:
        """Train, following `watch`, and return the scores of the test part after `watch.best_round` rounds."""


class LightGBM:
    """LightGBM."""

    name: ClassVar[str] = "lightgbm"
    baselines: ClassVar[tuple[str, ...]] = ("lambdarank", "rank_xendcg", "regression")
    leaves: ClassVar[str] = "num_leaves"

    def __init__(self, train: Part, valid: Part, test: Part, trees: Trees, num_threads: int) -> None:
        self.lgb = importlib.import_module("lightgbm")
        ours = {
            "metric": "None",
            "learning_rate": trees.learning_rate,
            "num_leaves": trees.num_leaves,
            "max_depth": trees.max_depth or -1,
            "max_bin": trees.max_bin,
            "min_data_in_leaf": trees.min_rows,
            "min_sum_hessian_in_leaf": trees.min_hessian,
            "lambda_l2": trees.l2,
            "bagging_fraction": trees.row_fraction,
            "bagging_freq": 1,
            "feature_fraction": trees.column_fraction,
            "feature_pre_filter": False,
            "deterministic": True,
            "force_col_wise": True,
            "num_threads": num_threads,
            "verbosity": -1,
        }
        self.params = _with_others(self.name, ours, trees.lightgbm)
        self.test = test
        self.train_set = self._dataset(train)
        self.valid_set = self._dataset(valid, reference=self.train_set)

    def _dataset(self, part: Part, **more: Any) -> Any:
        dataset = self.lgb.Dataset(part.X, part.queries.labels, group=part.group, params=dict(self.params), **more)
        return dataset.construct()

    def run(
        self, objective: Loss | str, seed: int, rounds: int, watch: Watch, parameters: Mapping[str, Any] = _NONE
    ) -> Floats:
        """Train, following `watch`, and return the scores of the test part after `watch.best_round` rounds."""

        def start(_: Any) -> None:
            watch.start_round()

        start.before_iteration = True  # type: ignore[attr-defined]

        def stop(_: Any) -> None:
            if watch.stop:
                raise self.lgb.callback.EarlyStopException(watch.best_round - 1, [])

        # Not `seed`: it would also set data_random_seed, by which the data are already binned.
        names = ("bagging_seed", "feature_fraction_seed", "extra_seed", "objective_seed", "drop_seed")
        booster = self.lgb.train(
            {**self.params, **parameters, "objective": objective, **dict.fromkeys(names, seed)},
            self.train_set,
            num_boost_round=rounds,
            valid_sets=[self.valid_set],
            valid_names=["valid"],
            feval=lambda scores, _: ("watched", watch.measure(scores), watch.metric.greater_is_better),
            callbacks=[start, stop],
        )
        scores = booster.predict(
            self.test.X, raw_score=True, num_iteration=watch.best_round, num_threads=self.params["num_threads"]
        )
        return np.asarray(scores, dtype=np.float64)


class XGBoost:
    """XGBoost."""

    name: ClassVar[str] = "xgboost"
    baselines: ClassVar[tuple[str, ...]] = ("rank:ndcg", "rank:pairwise", "reg:squarederror")
    leaves: ClassVar[str] = "max_leaves"

    def __init__(self, train: Part, valid: Part, test: Part, trees: Trees, num_threads: int) -> None:
        self.xgb = importlib.import_module("xgboost")
        ours = {
            "disable_default_eval_metric": True,
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "learning_rate": trees.learning_rate,
            "max_leaves": trees.num_leaves,
            "max_depth": trees.max_depth,
            "max_bin": trees.max_bin,
            "min_child_weight": trees.min_hessian,
            "reg_lambda": trees.l2,
            "subsample": trees.row_fraction,
            "colsample_bytree": trees.column_fraction,
            "nthread": num_threads,
            "verbosity": 0,
        }
        self.params = _with_others(self.name, ours, trees.xgboost)
        more = {"max_bin": self.params["max_bin"], "nthread": num_threads}
        self.train_set = self.xgb.QuantileDMatrix(train.X, train.queries.labels, group=train.group, **more)
        self.valid_set = self.xgb.DMatrix(valid.X, valid.queries.labels, group=valid.group, nthread=num_threads)
        self.test_set = self.xgb.DMatrix(test.X, nthread=num_threads)

    def run(
        self, objective: Loss | str, seed: int, rounds: int, watch: Watch, parameters: Mapping[str, Any] = _NONE
    ) -> Floats:
        """Train, following `watch`, and return the scores of the test part after `watch.best_round` rounds."""

        class Callback(self.xgb.callback.TrainingCallback):  # type: ignore[name-defined]
            def before_iteration(self, *_: Any) -> bool:
                watch.start_round()
                return False

            def after_iteration(self, *_: Any) -> bool:
                return watch.stop

        params: dict[str, Any] = {**self.params, **parameters, "seed": seed}
        if isinstance(objective, str):
            params["objective"] = objective
        if not (isinstance(objective, str) and objective.startswith("reg:")):
            params["base_score"] = 0.0
        booster = self.xgb.train(
            params,
            self.train_set,
            num_boost_round=rounds,
            evals=[(self.valid_set, "valid")],
            obj=None if isinstance(objective, str) else objective,
            custom_metric=lambda scores, _: ("watched", watch.measure(scores)),
            callbacks=[Callback()],
            verbose_eval=False,
        )
        scores = booster.predict(self.test_set, output_margin=True, iteration_range=(0, watch.best_round))
        return np.asarray(scores, dtype=np.float64)


FRAMEWORKS: dict[str, type[Framework]] = {kind.name: kind for kind in (LightGBM, XGBoost)}
"""Each framework by its module's name, which is also its extra's."""


def missing(names: Sequence[str]) -> dict[str, str]:
    """Return why each of `names` that cannot be imported cannot; empty where all can."""
    reasons = {}
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            reasons[name] = str(error)
    return reasons
