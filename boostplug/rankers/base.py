"""Base class of the reference rankers: input, rounds, validation, early stopping, prediction."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from boostplug.core.arrays import Floats
from boostplug.core.best_round import BestRound
from boostplug.core.checks import check_integer
from boostplug.core.warning import warn_user
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.data.tables import as_features, is_frame, schema_of
from boostplug.estimators.inputs import (
    RankingScore,
    check_set,
    inputs_of,
    metrics_of,
    validation_sets,
)
from boostplug.estimators.parameters import nested, resolved
from boostplug.metrics import NDCG
from boostplug.model.ensemble import Ensemble
from boostplug.selection.cut_queries import TrainingSummary, query_sizes
from boostplug.weak_rankers import WeakRanker


@dataclass(frozen=True)
class Training:
    """Training data in the form that the algorithms read.

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
    """The weak rankers, weights and history of one round.

    Attributes
    ----------
    terms : tuple of (weak ranker, weight)
    record : dict
        Values that the paper tracks. They become a row of `history_`, so every round has the same keys.
    keep : int, optional
        Number of rounds that the algorithm's own rule would keep if training ended now. None: the algorithm has no
        rule. The user's metric has precedence (see `ReferenceRanker.fit`).
    """

    terms: tuple[tuple[WeakRanker, float], ...]
    record: dict[str, float] = field(default_factory=dict)
    keep: int | None = None


Rounds = Generator[Round, None, str]  # returns the reason for its end


class ReferenceRanker(RankingScore, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the reference rankers: `fit` runs the rounds of `_rounds`; see a ranker's own class for the algorithm.

    An algorithm is a generator of rounds. This class does the rest: checks, weights, validation after each round, early
    stopping, records, Ctrl-C.
    """

    n_estimators: int
    random_state: Any = None

    @abstractmethod
    def _rounds(self, training: Training) -> Rounds:
        """Yield the rounds of the algorithm. Return the reason for its end."""

    def _check(self) -> None:
        """Raise for invalid parameters; rankers extend it, and `fit` calls it first."""
        check_integer("n_estimators", self.n_estimators, 1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        With `deep` also those of losses, metrics, distances and estimators, named like ``distance__lam``.
        """
        parameters: dict[str, Any] = super().get_params(deep=False)
        return nested(parameters) if deep else parameters

    def set_params(self, /, **params: Any) -> Self:
        """Set parameters. A name like ``distance__lam`` replaces `distance` by a copy with another `lam`.

        Raises
        ------
        ValueError
            If a parameter does not exist, or a loss, metric or distance cannot have the value; the ranker is then
            unchanged. `fit` checks all other values.
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
            ``qid``. `y`, `qid` and `sample_weight` may be names of its columns, which then are not features.
        y : array-like of shape (n_rows,), str or None
            Grades: finite numbers, higher is better. None: learn only from `pairs`.
        qid, group : array-like, optional
            Query id of each row (the rows of a query must be adjacent), or sizes of the queries in row order.
        pairs : Pairs, optional
            Explicit preferences between rows; they replace the pairs from grades.
        labelled : array-like of bool of shape (n_rows,), optional
            False for rows whose label is to be ignored; it may be NaN.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            Weights per query or per row, each 0 or from 1e-100 to 1e100. A pair has the weight √(w_i w_j).
        eval_set : list of (X, y), optional
            Validation sets, evaluated after every round. The last metric on the last set chooses the best round, the
            first one of ties. `best_iteration_` is the number of rounds up to it; `model_`, `predict`,
            `staged_predict` and `score` use only these. Training continues after it, and ``history_`` and
            ``evals_result_`` hold every round. The training set may be a validation set.
        eval_qid, eval_group : list, optional
            Query ids or sizes of each validation set.
        eval_metric : Metric or list of Metric, optional
            Default: NDCG(10). If the last metric is undefined (NaN) after every round, no round is best, and a warning
            says so. With `early_stopping_rounds` this is an error.
        early_stopping_rounds : int, optional
            Stop when the last metric on the last validation set has not improved in this number of rounds, as XGBoost
            does.
        verbose : bool or int, default False
            Print the validation results after each round, or after each `verbose` rounds.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an argument is invalid; raised before any training.

        Notes
        -----
        AdaRank chooses a round by its own `metric` unless you pass `eval_metric` or `early_stopping_rounds`. Without an
        `eval_set` it uses the training set (see `AdaRankRanker`).

        Ctrl-C ends the training with `KeyboardInterrupt`. The ranker is then fitted with its complete rounds, up to the
        best of them.
        """
        self._check()
        inputs = inputs_of(self, X=X, y=y, qid=qid, group=group, weight=sample_weight, pairs=pairs, labelled=labelled)
        features = self._features_of(inputs.take_columns().X, reset=True)
        self._missing_features = tuple(np.flatnonzero(np.isnan(features).any(axis=0)).tolist())
        train = check_set(inputs)
        queries = train.queries
        _check_weights(queries)
        sizes = query_sizes(X, train.qid, queries.boundaries)
        self.training_summary_ = TrainingSummary(None, {"qid": "qid", **train.columns}, sizes)
        check = partial(check_set, fitted=train.schema)
        validation = validation_sets(eval_set, inputs, train, check, qid=eval_qid, group=eval_group)
        sets = [(features if one is train else self._features_of(one.X), one.queries) for one in validation]
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
        self._finish(rounds, watch, stop_reason)
        return self

    def _features_of(self, X: Any, dtype: Any = np.float32, *, reset: bool = False) -> NDArray[Any]:
        """Return checked features; unless `reset`, their columns must be those of `fit`."""
        X = X if reset else self.select_features(X)
        if is_frame(X) or isinstance(X, list) or getattr(getattr(X, "dtype", None), "kind", "") in ("O", "U"):
            X = _numbers_of(X)  # scikit-learn raises for all other types
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums X to check that it is finite
            options = {"ensure_all_finite": "allow-nan", "ensure_min_samples": int(reset)}  # no documents, no scores
            features: NDArray[Any] = validate_data(self, X, reset=reset, dtype=dtype, order="C", **options)
        return features

    def _finish(self, rounds: list[Round], watch: "_Watch", stop_reason: str) -> None:
        """Set the fitted attributes, without a round whose validation Ctrl-C interrupted."""
        self.stop_reason_ = stop_reason
        rounds = rounds[: watch.n_rounds]
        keep = rounds[-1].keep if rounds else None
        if watch.sets and rounds and not watch.best.number:
            what = f"{watch.metrics[-1].name} is undefined (NaN) on eval_set's last entry after every round"
            remedy = "so it chooses no round; pass queries with relevant documents"
            warn_user(f"{what}, {remedy}")
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
            kept,
            n_features=self.n_features_in_,
            feature_names=getattr(self, "feature_names_in_", None),
            missing_features=self._missing_features,
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
        """Importance of each feature: the sum of the ranges of its weak rankers. All importances sum to 1."""
        check_is_fitted(self)
        return self.model_.feature_importances

    def _checked(self, X: Any) -> NDArray[np.floating]:
        check_is_fitted(self)
        return self._features_of(X, (np.float64, np.float32))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # a failed fit may have set n_features_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def seeded_clone(tree: Any, random: np.random.RandomState) -> Any:
    """Return an unfitted clone of a scikit-learn tree. A ``random_state`` of None is drawn from `random`."""
    again = clone(tree)
    if again.random_state is None:
        again.random_state = random.randint(np.iinfo(np.int32).max)
    return again


def _numbers_of(X: Any) -> Any:
    """Return a table of numbers. Raise for columns of text or categories, by name."""
    X = as_features(X)
    schema = schema_of(X)
    if schema.categories:
        names = [schema.column(place) for place in schema.categories]
        raise ValueError(
            f"X: {', '.join(names)}: a reference ranker reads numbers, and no categories; drop the column, or make it "
            "numbers, such as a column of 0 and 1 for each category (pandas.get_dummies)"
        )
    return X


def _check_weights(queries: Queries) -> None:
    """Raise for weights that are all zero."""
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
        Whether the last metric chooses the round even if the algorithm has its own rule: the user named a metric or
        stops early.
    best : BestRound
        The best round by the last metric on the last set.
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
        self.metrics = metrics_of(eval_metric) or ([NDCG(10)] if sets else [])
        self.sets, self.patience = sets, patience
        self.scores = [np.zeros(queries.n_rows) for _, queries in sets]
        self.results: dict[str, dict[str, list[float]]] = {
            f"validation_{i}": {metric.name: [] for metric in self.metrics} for i in range(len(sets))
        }
        self.n_rounds = 0
        watched = self.metrics[-1].greater_is_better if self.metrics else True
        self.best = BestRound(greater_is_better=watched, patience=patience)
        self.user_chooses = bool(eval_metric) or patience is not None

    def stops_after(self, done: Round) -> bool:
        """Evaluate a round; return whether training stops early."""
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
