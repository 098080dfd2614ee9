"""One training run in LightGBM or XGBoost: the same trees, rounds, stopping rule and metric for every objective."""

from collections.abc import Callable, Mapping
from time import perf_counter, thread_time
from typing import Any, ClassVar

import numpy as np

from boostplug.adapters.reading import assign
from boostplug.comparison.training.plan import Setting
from boostplug.comparison.training.trees import NAMES_IN_LIGHTGBM, NAMES_IN_XGBOOST, Trees
from boostplug.core.arrays import Floats
from boostplug.core.best_round import BestRound
from boostplug.core.extras import imported
from boostplug.core.threads import threads_of_framework
from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame
from boostplug.estimators.inputs import relative_weight, with_float32_labels
from boostplug.estimators.parameter_names import without_options
from boostplug.losses import Loss
from boostplug.metrics import Metric
from boostplug.model.xgboost import first_rounds, set_categories

_LEAST_SHARE = 0.7  # least share of a training's time in which its thread had a processor
NO_FRAMEWORK = "none"
"""In place of a framework, of rows that are not trained in one."""
WITHOUT_NORM = "lambdarank(norm=False)"
"""LightGBM's lambdarank without normalisation, which harms lists of one relevant document: a default only there."""

Report = Callable[[int, float], bool]
"""Is called after each round of a training with its number and value, and ends the training if it returns True."""


class Watch:
    """Follows a run round by round: the metric on the validation part, the time of each round, and early stopping.

    The time of a round ends before the metric: it includes the update of the validation scores, but not the metric.

    Parameters
    ----------
    metric : Metric
    queries : Queries
        Queries of the validation part.
    patience : int or None
        Rounds without a better value before training stops.
    num_threads : int
    report : callable, optional
        ``report(round, value)`` is called after each round, and ends the training if it returns True.

    Attributes
    ----------
    values : list of float
        The metric after each round.
    pruned : bool
        Whether `report` ended the training.
    scores : ndarray or None
        The validation scores after `best_round` rounds.
    seconds : list of float
        The time of each round.
    model : str
        The booster of the training as its framework's text, as far as `best_round`; set by LightGBM's and XGBoost's.
    """

    def __init__(
        self, metric: Metric, queries: Queries, *, patience: int | None, num_threads: int, report: Report | None = None
    ) -> None:
        self.metric, self.queries, self.num_threads = metric, queries, num_threads
        self.report, self.pruned = report, False
        self.values, self.seconds = list[float](), list[float]()
        self.scores: Floats | None = None
        self.model = ""
        self._best = BestRound(greater_is_better=metric.greater_is_better, patience=patience)
        self._begun = self._start = perf_counter()
        self._processor = thread_time()
        self._share = 1.0  # of the time so far in which this thread had a processor

    def start_round(self) -> None:
        """Start the clock of a round."""
        self._start = perf_counter()

    def measure(self, scores: Any) -> float:
        """Stop the clock of a round, and return the metric of the validation scores."""
        self.seconds.append(perf_counter() - self._start)
        with threads_of_framework(self.num_threads):
            value = float(self.metric(scores, self.queries))
        self.values.append(value)
        self._best.add(value)
        if self.best_round == len(self.values):
            self.scores = np.array(scores, dtype=np.float64)
        self._share = (thread_time() - self._processor) / max(perf_counter() - self._begun, 1e-9)
        self.pruned = self.report is not None and self.report(len(self.values), value)
        return value

    @property
    def seconds_per_round(self) -> float | None:
        """The median time of a round; None where others used the processor for much of the training."""
        return float(np.median(self.seconds)) if self._share >= _LEAST_SHARE else None

    @property
    def best_round(self) -> int:
        """The number of rounds to use: the first with the best value, all without early stopping."""
        return len(self.values) if self._best.patience is None else self._best.number

    @property
    def best_value(self) -> float:
        """The metric after `best_round` rounds."""
        return self.values[self.best_round - 1]

    @property
    def stop(self) -> bool:
        """Whether no value of the last `patience` rounds was better, or the training was pruned."""
        return self.pruned or self._best.stops


Trainer = Any
"""LightGBM or XGBoost with the data of one fold, binned once for all methods and seeds; or a study's own."""


class LightGBMTrainer:
    """LightGBM with the data of one fold."""

    name: ClassVar[str] = "lightgbm"
    baselines: ClassVar[tuple[str, ...]] = ("lambdarank", "rank_xendcg", "regression", WITHOUT_NORM)
    """Built-in objectives; the first is the one that others are compared with."""
    tree_names: ClassVar[Mapping[str, str]] = NAMES_IN_LIGHTGBM

    def __init__(
        self, train: CheckedInputs, valid: CheckedInputs, test: CheckedInputs, trees: Trees, num_threads: int
    ) -> None:
        self.lgb = imported("lightgbm", "training needs")
        self.trees, self.num_threads = trees, num_threads
        self.params = trees.for_lightgbm(num_threads)
        self.test = test
        self.train_set = self._dataset(train)
        self.valid_set = self._dataset(valid, reference=self.train_set)

    def _dataset(self, part: CheckedInputs, reference: Any = None) -> Any:
        """Return a constructed `lgb.Dataset`, with the bins of `reference` if there is one.

        Its weights are divided by their mean: LightGBM's own objectives compare weighted Hessians with constants.
        """
        queries = with_float32_labels(part.queries, warn=False)  # `compare` warns
        weight = relative_weight(queries.row_weight)
        dataset = self.lgb.Dataset(
            part.X, queries.labels, group=part.group, weight=weight, params=dict(self.params), reference=reference
        )
        assign(dataset.construct(), queries)
        return dataset

    @staticmethod
    def params_of_run(trees: Trees, num_threads: int, setting: Setting, seed: int) -> dict[str, Any]:
        """Return the parameters of a run by LightGBM's names, without the objective."""
        # `seed` would also set data_random_seed, but the data are already binned.
        names = ("bagging_seed", "feature_fraction_seed", "extra_seed", "objective_seed", "drop_seed")
        params = {**trees.for_lightgbm(num_threads), **setting.parameters, **dict.fromkeys(names, seed)}
        if not isinstance(setting.objective, str):
            return without_options("lightgbm", params)
        return {**params, "lambdarank_norm": False} if setting.objective == WITHOUT_NORM else params

    def run(self, setting: Setting, seed: int, rounds: int, watch: Watch) -> Floats:
        """Train, following `watch`, and return the scores of the test part after `watch.best_round` rounds."""

        def begin(_: Any) -> None:
            watch.start_round()

        begin.before_iteration = True  # type: ignore[attr-defined]

        n_trees = list[int]()  # fewer than rounds if a round finds no split, which LightGBM then leaves out

        def stop(env: Any) -> None:
            n_trees.append(env.model.current_iteration())
            if watch.stop:  # LightGBM leaves out the trees after the best iteration
                raise self.lgb.callback.EarlyStopException(watch.best_round - 1, [])

        params = self.params_of_run(self.trees, self.num_threads, setting, seed)
        booster = self.lgb.train(
            {**params, "objective": framework_objective(setting.objective)},
            self.train_set,
            num_boost_round=rounds,
            valid_sets=[self.valid_set],
            valid_names=["valid"],
            feval=lambda scores, _: ("watched", watch.measure(scores), watch.metric.greater_is_better),
            callbacks=[begin, stop],
        )
        best, n_threads = n_trees[watch.best_round - 1], self.params["num_threads"]
        watch.model = booster.model_to_string(num_iteration=best)
        scores = booster.predict(self.test.X, raw_score=True, num_iteration=best, num_threads=n_threads)
        return np.asarray(scores, dtype=np.float64)


class XGBoostTrainer:
    """XGBoost with the data of one fold."""

    name: ClassVar[str] = "xgboost"
    baselines: ClassVar[tuple[str, ...]] = ("rank:ndcg", "rank:pairwise", "reg:squarederror")
    tree_names: ClassVar[Mapping[str, str]] = NAMES_IN_XGBOOST

    def __init__(
        self, train: CheckedInputs, valid: CheckedInputs, test: CheckedInputs, trees: Trees, num_threads: int
    ) -> None:
        """Bin the data; weighted data twice, because regression takes no weights of queries."""
        self.xgb = imported("xgboost", "training needs")
        self.trees, self.num_threads = trees, num_threads
        self.params, self.categories = trees.for_xgboost(num_threads), train.schema.categories
        of_all: dict[str, Any] = {"nthread": num_threads, "enable_categorical": True}
        if len({is_frame(part.X) for part in (train, valid, test)}) > 1:  # names in all parts or in none
            of_all["feature_names"] = [f"f{i}" for i in range(train.X.shape[1])]
        more = {"max_bin": self.params["max_bin"], **of_all}
        queries = with_float32_labels(train.queries, warn=False)
        weight = relative_weight(queries.query_weight)
        self.train_set = self.xgb.QuantileDMatrix(train.X, queries.labels, group=train.group, weight=weight, **more)
        assign(self.train_set, queries)  # XGBoost holds only the mean weight of each query
        self.rows_alone = self.train_set
        if weight is not None:
            row_weight = relative_weight(queries.row_weight)
            self.rows_alone = self.xgb.QuantileDMatrix(train.X, queries.labels, weight=row_weight, **more)
        self.valid_set = self.xgb.DMatrix(valid.X, valid.queries.labels, group=valid.group, **of_all)
        self.test_set = self.xgb.DMatrix(test.X, **of_all)

    @staticmethod
    def params_of_run(trees: Trees, num_threads: int, setting: Setting, seed: int) -> dict[str, Any]:
        """Return the parameters of a run by XGBoost's names, without the objective."""
        objective, params = setting.objective, {**trees.for_xgboost(num_threads), **setting.parameters, "seed": seed}
        if not isinstance(objective, str):
            params = without_options("xgboost", params)
        if not (isinstance(objective, str) and objective.startswith("reg:")):
            params["base_score"] = 0.0
        return params

    def run(self, setting: Setting, seed: int, rounds: int, watch: Watch) -> Floats:
        """Train, following `watch`, and return the scores of the test part after `watch.best_round` rounds."""
        objective, params = setting.objective, self.params_of_run(self.trees, self.num_threads, setting, seed)
        if isinstance(objective, str):
            params["objective"] = objective
        rows_alone = isinstance(objective, str) and objective.startswith("reg:")
        train_set = self.rows_alone if rows_alone else self.train_set
        booster = self.xgb.Booster(params, [train_set, self.valid_set])  # keeps the scores of both
        for number in range(rounds):
            watch.start_round()
            booster.update(train_set, number, None if isinstance(objective, str) else objective)
            watch.measure(booster.predict(self.valid_set, output_margin=True))
            if watch.stop:
                break
        kept = first_rounds(booster, watch.best_round)
        set_categories(kept, self.categories)
        watch.model = kept.save_raw("json").decode()
        scores = booster.predict(self.test_set, output_margin=True, iteration_range=(0, watch.best_round))
        return np.asarray(scores, dtype=np.float64)


def framework_objective(objective: Loss | str) -> Loss | str:
    """Return the framework's own name of an objective; its parameters are in `params_of_run`."""
    return "lambdarank" if objective == WITHOUT_NORM else objective


FRAMEWORKS: dict[str, type[LightGBMTrainer] | type[XGBoostTrainer]] = {
    kind.name: kind for kind in (LightGBMTrainer, XGBoostTrainer)
}
"""The trainer of each framework, by the name of the framework's module, which is also its extra's."""
