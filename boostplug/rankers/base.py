"""Base class of the reference rankers: input, rounds, validation, early stopping, prediction."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from boostplug.core.best_round import BestRound
from boostplug.core.checks import check_integer
from boostplug.data.inputs import Inputs
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame, read_features, schema_of, without_columns
from boostplug.estimators.inputs import (
    FIT,
    RankingScore,
    checked_set,
    metrics_of,
    validation_sets,
)
from boostplug.estimators.parameters import nested, resolved
from boostplug.metrics import NDCG, Metric
from boostplug.model.ensemble import Ensemble
from boostplug.weak_rankers import WeakRanker

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Training:
    """The training data as a ranker's algorithm reads them.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), float32
        NaN where missing.
    queries : Queries
    random : numpy.random.RandomState
    validation : list of (ndarray, Queries)
        The validation sets.
    """

    X: NDArray[np.float32]
    queries: Queries
    random: np.random.RandomState
    validation: list[tuple[NDArray[np.float32], Queries]]


@dataclass(frozen=True)
class Round:
    """The weak ranker, weight and history of one round.

    Attributes
    ----------
    terms : tuple of (weak ranker, weight)
    record : dict
        What the paper tracks; becomes a row of `history_`, so every round has the same keys.
    keep : int, optional
        How many rounds the model keeps by the algorithm's own rule should it end here, unless the user's metric chooses
        (see `ReferenceRanker.fit`); default: it has no such rule.
    """

    terms: tuple[tuple[WeakRanker, float], ...]
    record: dict[str, float] = field(default_factory=dict)
    keep: int | None = None


Rounds = Generator[Round, None, str]  # returns why it ended by itself


class ObservedRounds:
    """The rounds of an algorithm, for a loop that watches or changes them.

    Attributes
    ----------
    reason : str
        After the loop: why the algorithm ended by itself.
    """

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self.reason = ""

    def __iter__(self) -> Iterator[Round]:
        self.reason = yield from self._rounds


class ReferenceRanker(RankingScore, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the reference rankers: `fit` runs the rounds of `_rounds`; see a ranker's own class for the algorithm.

    A ranker is a generator of rounds. All the rest is here: checks, weights, validation after each round, early
    stopping, what is recorded, Ctrl-C.
    """

    n_estimators: int
    random_state: Any = None

    @abstractmethod
    def _rounds(self, training: Training) -> Rounds:
        """Yield the rounds of the algorithm; return why it ended by itself."""

    def _check(self) -> None:
        """Refuse parameters that cannot be: ranker by ranker, at the start of `fit`."""
        check_integer("n_estimators", self.n_estimators, 1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with `deep` those of losses, metrics, distances and estimators too.

        Names of these are such as ``distance__lam``.
        """
        parameters: dict[str, Any] = super().get_params(deep=False)
        return nested(parameters) if deep else parameters

    def set_params(self, /, **params: Any) -> Self:
        """Set parameters, those of values by names such as ``distance__lam``: the ranker then has a new value.

        Raises
        ------
        ValueError
            If there is no such parameter, or a value cannot have it; the ranker is then as it was.
        """
        super().set_params(**resolved(self, params, any_name=False))
        return self

    def fit(
        self,
        X: Any,
        y: ArrayLike | str | None,
        *,
        qid: ArrayLike | str | None = None,
        group: ArrayLike | None = None,
        pairs: Pairs | None = None,
        labelled: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        verbose: bool | int = False,
    ) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Real numbers within single precision, NaN where missing. A DataFrame may hold the query ids as column
            ``qid``. `y`, `qid` and `sample_weight` may be names of its columns, which then are no features.
        y : array-like of shape (n_rows,), str or None
            Grades, any finite numbers, higher is better. None: there are `pairs` alone.
        qid, group : array-like, optional
            Query id of each row (the rows of a query stand together), or sizes of the queries in row order.
        pairs : Pairs, optional
            Explicit preferences between rows; they take the place of the pairs from grades.
        labelled : array-like of bool of shape (n_rows,), optional
            False where a row's label means nothing.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            Weights per query or per row, each 0 or from 1e-100 to 1e100; a pair weighs √(w_i w_j).
        eval_set : list of (X, y), optional
            Validation sets, judged after every round. The last metric on the last of them chooses the best round, the
            first of equals: `best_iteration_` counts the rounds up to it, and `model_`, `predict`, `staged_predict`
            and `score` have these alone. Training goes on all the same, and ``history_`` and ``evals_result_`` hold
            every round. A set that is the training set chooses as any other.
        eval_qid, eval_group : list, optional
            Query ids or sizes of each validation set.
        eval_metric : Metric or list of Metric, optional
            Default: NDCG(10). Where the last one is undefined (NaN) after every round, it chooses none, and a warning
            says so; with `early_stopping_rounds` that is an error.
        early_stopping_rounds : int, optional
            Stop when the last metric on the last validation set has not improved for so many rounds (XGBoost's rule).
        verbose : bool or int, default False
            Print the validation results after each round, or after each `verbose` rounds.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an argument is wrong; before any training.

        Notes
        -----
        AdaRank chooses a round by its own `metric`, without an `eval_set` on the training set, unless `eval_metric` or
        `early_stopping_rounds` is given (see `AdaRankRanker`).

        Ctrl-C ends the training with `KeyboardInterrupt`; the ranker is then fitted with the rounds that are complete,
        up to the best of them.
        """
        self._check()
        inputs = Inputs(
            X=X, y=y, qid=qid, group=group, weight=sample_weight, pairs=pairs, labelled=labelled, arguments=FIT
        )
        features = self._features(inputs.take_columns().X, reset=True)
        train = checked_set(inputs)
        queries = train.queries
        _check_weights(queries)
        self._columns_by_role = dict(train.columns)
        check = partial(checked_set, fitted=train.schema)
        validation = validation_sets(eval_set, inputs, train, check, qid=eval_qid, group=eval_group)
        sets = [(features if one is train else self._features(one.X), one.queries) for one in validation]
        watch = _Watch(sets, eval_metric, early_stopping_rounds, verbose)
        generator = self._rounds(Training(features, queries, check_random_state(self.random_state), sets))
        rounds: list[Round] = []
        stop_reason = "n_estimators"
        try:
            while len(rounds) < self.n_estimators:
                try:
                    rounds.append(next(generator))
                except StopIteration as stop:
                    stop_reason = stop.value
                    break
                if watch.stops_after(rounds[-1]):
                    stop_reason = f"no better validation result in {early_stopping_rounds} rounds"
                    break
        except KeyboardInterrupt:
            self._finish(rounds, watch, "interrupted")
            raise
        if watch.cannot_choose and (watch.user_chooses or rounds[-1].keep is None):
            warnings.warn(
                f"eval_set's last entry holds no query on which {watch.metrics[-1].name} is defined, so that it cannot "
                "choose the best round; pass queries with relevant documents, or no eval_set",
                UserWarning,
                stacklevel=2,
            )
        self._finish(rounds, watch, stop_reason)
        return self

    def _features(self, X: Any, dtype: Any = np.float32, *, reset: bool = False) -> NDArray[Any]:
        """Return checked features, of the columns known from `fit` unless `reset`."""
        X = X if reset else without_columns(X, {"qid": "qid", **self._columns_by_role}.values())
        if is_frame(X) or isinstance(X, list) or getattr(getattr(X, "dtype", None), "kind", "") in ("O", "U"):
            X = _numbers_of(X)  # of all else scikit-learn has its own errors
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums X up to see whether it is finite
            features: NDArray[Any] = validate_data(
                self, X, reset=reset, dtype=dtype, order="C", ensure_all_finite="allow-nan"
            )
        return features

    def _finish(self, rounds: list[Round], watch: "_Watch", stop_reason: str) -> None:
        """Set the fitted attributes; a round in whose validation Ctrl-C came is not complete."""
        self.stop_reason_ = stop_reason
        rounds = rounds[: watch.n_rounds]
        keep = rounds[-1].keep if rounds else None
        if watch.best.number and (keep is None or watch.user_chooses):
            keep = watch.best.number
        self.best_iteration_ = len(rounds) if keep is None else keep
        names = rounds[0].record if rounds else ("alpha",)
        self.history_ = {name: np.array([done.record[name] for done in rounds]) for name in names}
        self.evals_result_ = {
            name: {metric: values[: len(rounds)] for metric, values in results.items()}
            for name, results in watch.results.items()
        }
        kept = [done.terms for done in rounds[: self.best_iteration_]]
        self.model_ = Ensemble(
            kept, n_features=self.n_features_in_, feature_names=getattr(self, "feature_names_in_", None)
        )

    def predict(self, X: Any) -> Floats:
        """Return scores, higher is better.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            NaN where missing.

        Returns
        -------
        ndarray of shape (n_rows,), float64
        """
        features = self._checked(X)
        return self.model_.predict(features)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the scores after each round of `model_`, each of shape (n_rows,)."""
        features = self._checked(X)
        return self.model_.staged_predict(features)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each feature: the summed ranges of its weak rankers, as shares of 1."""
        check_is_fitted(self)
        return self.model_.feature_importances

    def _checked(self, X: Any) -> NDArray[np.floating]:
        check_is_fitted(self)
        return self._features(X, (np.float64, np.float32))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # a fit that failed may have left n_features_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _numbers_of(X: Any) -> Any:
    """Return a table of numbers, refusing text and categories by name."""
    X = read_features(X)
    schema = schema_of(X)
    if schema.categories:
        names = [schema.column(place) for place in schema.categories]
        raise ValueError(
            f"X: {', '.join(names)}: a reference ranker reads numbers, and no categories; drop the column, or make it "
            "numbers, such as a column of 0 and 1 for each category (pandas.get_dummies)"
        )
    return X


def _check_weights(queries: Queries) -> None:
    """Refuse weights that are all zero."""
    weights = {"sample_weight": queries.row_weight}
    if queries.pairs is not None and len(queries.pairs):
        weights["pairs' weight"] = queries.pairs.weight
    for name, weight in weights.items():
        if weight is not None and not weight.any():
            raise ValueError(f"{name} is zero everywhere; give at least something a weight")


class _Watch:
    """The validation sets during training: scores, results, the best round.

    Attributes
    ----------
    user_chooses : bool
        Whether the user wants the last metric to choose, by naming it or by stopping early: it then has precedence over
        an algorithm's own choice.
    best : BestRound
        By the last metric on the last set.
    """

    def __init__(
        self,
        sets: Sequence[tuple[NDArray[np.float32], Queries]],
        eval_metric: Any,
        patience: int | None,
        verbose: bool | int,
    ) -> None:
        if patience is not None:
            check_integer("early_stopping_rounds", patience, 1, ", or None")
            if not sets:
                raise ValueError(
                    "early_stopping_rounds needs a validation set; pass eval_set=[(X, y)] and eval_qid=[qid]"
                )
        flag = isinstance(verbose, (bool, np.bool_))
        self.every = int(verbose) if flag else check_integer("verbose", verbose, 0, ", True or False")
        self.metrics = metrics_of(eval_metric, (Metric,)) or ([NDCG(10)] if sets else [])
        self.sets, self.patience = sets, patience
        self.scores = [np.zeros(queries.n_rows) for _, queries in sets]
        self.results: dict[str, dict[str, list[float]]] = {
            f"validation_{i}": {metric.name: [] for metric in self.metrics} for i in range(len(sets))
        }
        self.n_rounds = 0
        watched = self.metrics[-1].greater_is_better if self.metrics else True
        self.best = BestRound(greater_is_better=watched, patience=patience)
        self.user_chooses = bool(metrics_of(eval_metric)) or patience is not None

    @property
    def cannot_choose(self) -> bool:
        """Whether there is a validation set, and no round at which it could judge."""
        return bool(self.sets) and self.n_rounds > 0 and not self.best.number

    def stops_after(self, done: Round) -> bool:
        """Judge a round; return whether training stops early."""
        value = np.nan
        for i, ((X, queries), results) in enumerate(zip(self.sets, self.results.values(), strict=True)):
            for weak, weight in done.terms:
                self.scores[i] += weight * weak.predict(X)
            for metric in self.metrics:
                value = float(metric(self.scores[i], queries))
                results[metric.name].append(value)
        self.n_rounds += 1
        if self.every and (self.n_rounds - 1) % self.every == 0:
            self._print(done)
        if self.patience is not None and np.isnan(value):
            raise ValueError(
                f"eval_set's last entry holds no query on which {self.metrics[-1].name} is defined, and "
                "early_stopping_rounds goes by it; pass queries with relevant documents, or no early_stopping_rounds"
            )
        self.best.add(value)
        return self.best.stops

    def _print(self, done: Round) -> None:
        results = [
            f"{name}-{metric}:{values[-1]:.5f}"
            for name, by_metric in self.results.items()
            for metric, values in by_metric.items()
        ]
        recorded = [f"{name}:{value:.5g}" for name, value in done.record.items()]
        print(f"[{self.n_rounds - 1}]", *(results or recorded), sep="\t", flush=True)  # noqa: T201
