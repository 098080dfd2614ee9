"""Input of both rankers: queries from ids, sizes or columns, checked before any training."""

import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import (
    check_instance,
    numbers,
    refuse_class,
    refuse_other_order,
    refuse_where,
    shown,
)
from boostplug.data.inputs import CheckedInputs, Inputs
from boostplug.data.queries import Queries
from boostplug.data.tables import Table, is_frame, read_features, table_of, without_columns
from boostplug.losses import LOSSES, Loss
from boostplug.metrics import NDCG, Metric
from boostplug.metrics.on_label import MetricOnLabel

Floats = NDArray[np.float64]
_FIELD_OF = {  # of a set, for each argument that holds an entry per validation set
    "eval_qid": "qid",
    "eval_group": "group",
    "eval_pairs": "pairs",
    "eval_labels": "labels",
    "eval_sample_weight": "weight",
    "sample_weight_eval_set": "weight",
    "eval_init_score": "start",
    "base_margin_eval_set": "start",
}
FIT = MappingProxyType({"weight": "sample_weight"})  # names of a fit's arguments, where they differ from a set's
_INFINITE = 1e38  # to LightGBM, and next to what single precision holds


def loss_of(objective: Any) -> Loss | None:
    """Return a ranker's objective if it is a loss of ours, or spells one; refuse the class in place of an instance.

    A text is ours if it is a name in our registry, or has parentheses: "qbrank", "QBRank(preference_weight=.3)". All
    others are the framework's names.
    """
    refuse_class("objective", objective, Loss)
    if isinstance(objective, str) and ("(" in objective or objective.strip().lower() in LOSSES):
        found = Loss.parse(objective)
        if len(found) > 1:
            listed = ", ".join(map(repr, found))
            raise ValueError(f"objective={objective!r} stands for several losses; pass one of them: {listed}")
        return found[0]
    return objective if isinstance(objective, Loss) else None


def metrics_of(eval_metric: Any) -> list[Any]:
    """Return a ranker's metrics as a list, refusing the class in place of an instance, and losses."""
    if eval_metric is None:
        return []
    metrics = list(eval_metric) if isinstance(eval_metric, (list, tuple)) else [eval_metric]
    for metric in metrics:
        refuse_class("eval_metric", metric, Metric)
        if isinstance(metric, Loss):
            raise ValueError(
                f"eval_metric holds the loss {metric!r}; pass it as objective, and a metric such as NDCG(10)"
            )
    return metrics


def frameworks_metrics_of(eval_metric: Any) -> list[Any]:
    """Return the metrics of a ranker that takes a framework's names, and functions, besides ours."""
    metrics = metrics_of(eval_metric)
    for metric in metrics:
        if not isinstance(metric, str) and not callable(metric):
            raise TypeError(
                f"eval_metric must hold names, metrics or functions; got {shown(metric)}; pass boostplug.NDCG(10)"
            )
    refuse_twice("eval_metric", [metric.name for metric in metrics if isinstance(metric, Metric)])
    return metrics


def refuse_twice(argument: str, names: Sequence[str]) -> None:
    """Raise where a name stands twice, since results go by name."""
    again = next((name for name, times in Counter(names).items() if times > 1), None)
    if again is not None:
        raise ValueError(f"{argument} holds {again} twice, and results go by name; leave one out")


def callbacks_of(callbacks: Any, kind: Callable[[Any], bool], example: str) -> list[Any] | None:
    """Return callbacks as a list, refusing what is none of this kind."""
    if callbacks is None:
        return None
    given = list(callbacks) if isinstance(callbacks, Iterable) else None
    wrong = callbacks if given is None else next((callback for callback in given if not kind(callback)), None)
    if given is None or wrong is not None:
        raise TypeError(f"callbacks must be a list of {example}; got {shown(wrong)}")
    return given


class CheckedSet(NamedTuple):
    """A training or validation set whose arguments fit each other."""

    X: Any
    """Features only."""
    queries: Queries
    start: Floats | None = None
    """Scores that boosting starts from."""
    where: str = ""
    """Start of the name of X in messages."""
    given: CheckedInputs | None = None

    @property
    def table(self) -> Table:
        """Names and categories of the columns."""
        return table_of(self.X)

    @property
    def columns(self) -> Mapping[str, str]:
        """Columns that are no features, by what they hold."""
        return self.given.columns if self.given is not None else {}

    def same_as(self, train: "CheckedSet") -> bool:
        """Return whether this is the training set itself, with the same scores to start from."""
        starts: Any = (self.start, train.start)
        return self.queries is train.queries and np.array_equal(*starts)


def checked_set(inputs: Inputs, start_name: str = "", start: Any = None, fitted: Table | None = None) -> CheckedSet:
    """Return a set with its checked arguments; `fitted` decides the types of its columns."""
    given = inputs.checked(fitted)
    if not given.queries.n_rows:
        raise ValueError(f"{inputs.where}X and its labels have no rows")
    start = starting_scores(start_name, start, given.queries.n_rows, inputs.X)
    return CheckedSet(given.X, given.queries, start, inputs.where, given)


def validation_sets(
    eval_set: Any, inputs: Inputs, train: CheckedSet, fitted: Table | None = None, **per_set: Any
) -> list[CheckedSet]:
    """Return the checked validation sets of a fit; the training set itself is recognised.

    Parameters
    ----------
    eval_set : pair (X, y) or list of them, or None
        A DataFrame that holds the columns named for training needs no y.
    inputs, train
        The training set before and after its checks.
    fitted : Table, optional
        What the columns must be; default: those of `train`.
    **per_set : list or None
        The arguments of `fit` that hold an entry per validation set, such as ``eval_qid``, under the framework's names.
    """
    sets = []
    for place, one in enumerate(validation_inputs(eval_set, inputs, train.columns, **per_set)):
        start_name, start = one.start
        try:
            if one.inputs is None:
                start = starting_scores(start_name, start, train.queries.n_rows, train.X)
                sets.append(train._replace(start=start, where=one.where))
            else:
                sets.append(checked_set(one.inputs, start_name, start, fitted or train.table))
        except ValueError as error:
            where = "" if one.where in str(error) or start_name in str(error).split("[", 1)[0] else one.where
            raise ValueError(f"{where and f'in the validation set {place}: '}{error}") from None
    return sets


class ValidationInputs(NamedTuple):
    """Arguments of a validation set; `inputs` is None for the training set itself."""

    inputs: Inputs | None
    start: tuple[str, Any]
    where: str


def validation_inputs(
    eval_set: Any, train: Inputs, columns: Mapping[str, str], **per_set: Any
) -> list[ValidationInputs]:
    """Return the arguments of each validation set; `columns` are those that the training set has named."""
    pairs = pairs_of(eval_set, named="y" in columns)
    entries = {name: one_per_set(name, values, len(pairs)) for name, values in per_set.items()}
    sets = []
    for place, (X, y) in enumerate(pairs):
        given = {_FIELD_OF[name]: values[place] for name, values in entries.items()}
        start_name = next((f"{name}[{place}]" for name in entries if _FIELD_OF[name] == "start"), "")
        start, where = (start_name, given.pop("start", None)), f"eval_set[{place}]'s "
        same_ids = given.get("qid") is None or given["qid"] is train.qid
        others = (value for name, value in given.items() if name != "qid")
        if X is train.X and y is train.y and same_ids and all(value is None for value in others):
            sets.append(ValidationInputs(None, start, where))
            continue
        if given.get("labels") is None and isinstance(train.labels, Mapping):
            given["labels"] = {name: value for name, value in train.labels.items() if isinstance(value, str)} or None
        arguments = {"qid": "eval_qid", "group": "eval_group", **train.arguments}
        inputs = Inputs(X=X, y=y, **given, columns=columns_to_judge(columns), where=where, arguments=arguments)
        sets.append(ValidationInputs(inputs, start, where))
    return sets


def columns_to_judge(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that a fit has named, for data to judge by, which need no positions."""
    return {"unused position" if role == "position" else role: name for role, name in columns.items()}


class ColumnPlaces(NamedTuple):
    """Places of the features among the columns of X as it was passed.

    Arguments that count columns count those, although columns of ids, labels and weights are taken out.
    """

    passed: Sequence[Any]
    taken: frozenset[str]

    @classmethod
    def from_set(cls, train: CheckedSet) -> "ColumnPlaces":
        """Return those of a training set."""
        return cls(() if train.given is None else train.given.passed, frozenset(train.columns.values()))

    def among_features(self, argument: str, given: Any) -> Any:
        """Return a place, or nested lists of places and names, counted among the features."""
        if not self.taken or given is None:
            return given
        if isinstance(given, (list, tuple, set)):
            return [self.among_features(argument, one) for one in given]
        if not isinstance(given, (int, np.integer)) or isinstance(given, bool):
            return given
        given = int(given)
        if not 0 <= given < len(self.passed) or self.passed[given] in self.taken:
            what = f"{self.passed[given]!r}, which is no feature" if 0 <= given < len(self.passed) else "no column of X"
            raise ValueError(f"{argument} names column {given}, {what}; pass places of features among X's columns")
        return given - sum(name in self.taken for name in self.passed[:given])

    def of_features(self, _argument: str, given: Any) -> Any:
        """Return a sequence with an entry per column of X without the entries of columns that are taken out."""
        if not self.taken or given is None or isinstance(given, (str, Mapping)) or len(given) != len(self.passed):
            return given
        kept = [place for place, name in enumerate(self.passed) if name not in self.taken]
        return given[kept] if isinstance(given, np.ndarray) else type(given)([given[place] for place in kept])

    def from_text(self, argument: str, given: Any, convert: Callable[[str, Any], Any]) -> Any:
        """Return an argument that may also be a text of numbers: "1,0,-1", "(1,0,-1)", "[0,1],[2]", "[[0,1],[2]]"."""
        text = given.strip() if isinstance(given, str) else ""
        if not self.taken or not text or text.startswith("name:"):
            return convert(argument, given)
        inner = text[1:-1] if text.startswith(("(", "[[")) else text
        converted = json.dumps(convert(argument, json.loads(f"[{inner}]")))[1:-1]
        return converted if inner == text else f"{text[0]}{converted}{text[-1]}"


def fitted_position_bias(
    loss: Loss | None, predict: Callable[[Any], Any], train: CheckedSet
) -> dict[str, NDArray[Any]] | None:
    """Return the loss's `position_bias` at the fitted scores of the training set; None of losses without positions."""
    if loss is None or not loss.needs_position:
        return None
    start = 0.0 if train.start is None else np.ravel(train.start)
    return loss.position_bias(np.asarray(predict(train.X), np.float64) + start, train.queries)


def pairs_of(eval_set: Any, *, named: bool = False) -> list[Any]:
    """Return fit's validation sets as a list of pairs; with `named` labels, DataFrames may stand alone."""
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
        eval_set = [eval_set]  # LightGBM takes a single pair
    if named:
        given = [eval_set] if is_frame(eval_set) else eval_set
        eval_set = None if given is None else [(one, None) if is_frame(one) else one for one in given]
    sets = _entries("eval_set", eval_set, "pairs (X, y)", "pass [(X, y)]")
    for pair in sets:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(
                f"eval_set must hold pairs (X, y), got a {type(pair).__name__} in it; pass [(X, y)]: {shown(pair)}"
            )
    return sets


def one_per_set(name: str, values: Any, n_sets: int) -> list[Any]:
    """Return fit's argument that holds an entry per validation set; None for each where it is None."""
    entries = (
        [None] * n_sets
        if values is None
        else _entries(name, values, "one entry per validation set", f"pass [{name}] for one set")
    )
    if len(entries) != n_sets:
        raise ValueError(
            f"{name} must hold one entry per validation set ({n_sets}), got {len(entries)}; pass [{name}] for one set"
        )
    return entries


def _entries(name: str, values: Any, description: str, remedy: str) -> list[Any]:
    if values is None:
        return []
    if hasattr(values, "__dask_graph__"):
        raise ValueError(f"{name} must be a list of {description}, got a {type(values).__name__}; {remedy}")
    single = getattr(values, "ndim", 1) == 0 or not isinstance(values, Iterable)
    if single or isinstance(values, (str, bytes, Mapping)):
        raise ValueError(f"{name} must be a list of {description}, got {shown(values)}; {remedy}")
    return list(values)


def starting_scores(name: str, values: Any, n_rows: int, X: Any = None) -> Any:
    """Return what training or validation starts from, one finite number per row of `X`; None where it is None."""
    if values is None:
        return None
    refuse_other_order(**{"X": X, name: values})
    column = np.shape(values) == (n_rows, 1)
    scores = numbers(name, np.ravel(values) if column else values)
    if len(scores) != n_rows:
        raise ValueError(f"{name} must hold one score per row ({n_rows}), got {len(scores)} values")
    refuse_where(
        name, ~(np.abs(scores) < _INFINITE), scores, "is not finite in single precision; pass numbers below 1e38"
    )
    return scores


def labels_in_single(queries: Queries, name: str = "labels") -> Floats:
    """Return labels that a framework can keep in single precision, refusing those beyond it."""
    refuse_where(
        name,
        np.abs(queries.labels) >= _INFINITE,
        queries.labels,
        "is beyond single precision (1e38), in which the frameworks keep labels; rescale the labels",
    )
    return queries.labels


def with_float32_labels(queries: Queries, *, warn: bool = True) -> Queries:
    """Return queries whose labels are those that the frameworks' datasets hold: rounded to single precision.

    All else of them stays. Queries whose labels single precision holds are returned as they are.

    Parameters
    ----------
    queries : Queries
    warn : bool, default True
        False where the user has been warned before.

    Warns
    -----
    UserWarning
        If labels that differ within a query no longer do.

    Raises
    ------
    ValueError
        If a label is beyond single precision.
    """
    labels = labels_in_single(queries)
    rounded = labels.astype(np.float32).astype(np.float64)
    if np.array_equal(rounded, labels):
        return queries
    if warn:
        _warn_of_merged_labels(queries, rounded)
    return Queries(
        rounded,
        group=np.diff(queries.boundaries),
        weight=queries.row_weight,
        pairs=queries.pairs,
        labelled=queries.labelled,
        labels_by_name=queries.labels_by_name,
        position=queries.position,
    )


def _warn_of_merged_labels(queries: Queries, rounded: Floats) -> None:
    """Warn where labels that differ within a query are the same once they are rounded."""
    values = np.unique(queries.labels)
    if len(np.unique(values.astype(np.float32))) == len(values):
        return
    rows = queries.labelled_rows
    query, labels, rounded = queries.query_of_row[rows], queries.labels[rows], rounded[rows]
    order = np.lexsort((labels, query))
    first, second = order[:-1], order[1:]
    merged = (query[first] == query[second]) & (labels[first] != labels[second]) & (rounded[first] == rounded[second])
    if merged.any():
        a, b = (float(labels[rows[np.argmax(merged)]]) for rows in (first, second))
        warnings.warn(
            "labels that differ within a query are equal in single precision, in which the frameworks keep them, "
            f"such as {a!r} and {b!r} ({int(np.count_nonzero(merged))} times); subtract an offset from all labels, or "
            "rescale them",
            UserWarning,
            stacklevel=4,
        )


def relative_weight(weight: Floats | None, mean: float | None = None) -> Floats | None:
    """Return weights over their mean: XGBoost places the bins of features by sums of them in single precision.

    `mean` is that of all weights, where these are some of them.
    """
    if weight is None:
        return None
    mean = float(weight.mean()) if mean is None else mean
    return weight if mean == 0.0 else weight / mean


def weight_in_single(weight: Floats | None, largest: float | None = None) -> Floats | None:
    """Return weights in a unit, a power of two, in which single precision holds them: only ratios count.

    `largest` is that of all weights, where these are some of them.
    """
    if weight is None:
        return None
    largest = float(weight.max()) if largest is None else largest
    if largest == 0.0 or 1e-30 < largest < 1e30:
        return weight
    return np.ldexp(weight, -math.frexp(largest)[1])


def has_labels(sets: list[CheckedSet]) -> bool:
    """Return whether there are validation sets, and each has a row with a label."""
    return bool(sets) and all(bool(one.queries.labelled_rows.any()) for one in sets)


def refuse_unused_pairs(objective: Any, loss: Loss | None, pairs: Any) -> None:
    """Raise for pairs that the objective could not use."""
    if pairs is not None and (loss is None or not loss.takes_pairs):
        raise ValueError(f"pairs cannot be used by objective {objective!r}; pass a loss that takes them, as MPBoost()")


def refuse_missing_labels(metrics: Iterable[Any], sets: Iterable[CheckedSet]) -> None:
    """Raise for a validation set without the label that a metric reads."""
    for metric in metrics:
        for one in sets:
            if isinstance(metric, MetricOnLabel) and metric.label not in one.queries.labels_by_name:
                raise ValueError(
                    f"{one.where}labels hold no {metric.label!r}, which {metric.name} reads; pass eval_labels, a "
                    "mapping of names to labels for each validation set"
                )


def warn_of_unused_positions(objective: Any, loss: Loss | None, position: Any) -> None:
    """Warn of positions that the objective does not read."""
    if position is not None and (loss is None or not loss.needs_position):
        warnings.warn(
            f"position is not used by objective {objective!r}, which trains as without it; take boostplug.Unbiased, or "
            "lgb.train with lgb.Dataset(position=...) for LightGBM's lambdarank",
            UserWarning,
            stacklevel=3,
        )


class RankingScore:
    """Mixin for the `score` of a ranker."""

    def score(
        self,
        X: Any,
        y: ArrayLike | str | None = None,
        sample_weight: ArrayLike | str | None = None,
        *,
        qid: ArrayLike | str | None = None,
        group: ArrayLike | None = None,
        metric: Metric | str | None = None,
        labels: Mapping[str, ArrayLike] | None = None,
    ) -> float:
        """Return a metric of the predictions.

        It is `metric`, such as "NDCG@5"; else the first of ours in `eval_metric`; else NDCG@10. A metric on one of
        several labels, such as "NDCG@5.on(sale)", needs `labels`, as `fit` takes them. Arguments may be names of
        columns of X, and those that `fit` was given by name need not be repeated.
        """
        inputs = self._inputs_to_judge(X, y, qid, group, sample_weight, labels)
        return ranking_score(self, inputs, metric or self._first_metric(), getattr(self, "_fitted_columns", None))

    _columns_by_role: Mapping[str, str] = MappingProxyType({"qid": "qid"})
    """Columns of X that are no features, by what they hold."""

    def _inputs_to_judge(self, X: Any, y: Any, qid: Any, group: Any, weight: Any, labels: Any) -> Inputs:
        """Return arguments of `score`, with the columns that `fit` has named."""
        columns = columns_to_judge(self._columns_by_role)
        return Inputs(X=X, y=y, qid=qid, group=group, weight=weight, labels=labels, columns=columns, arguments=FIT)

    def _features(self, X: Any, fitted: Table | None) -> Any:
        """Return features to predict from, without the columns that `fit` has taken out."""
        return read_features(without_columns(X, self._columns_by_role.values()), fitted=fitted)

    def _first_metric(self) -> Metric | None:
        """Return the first of our metrics among the ranker's parameters."""
        named = metrics_of(getattr(self, "eval_metric", None))
        return next((metric for metric in named if isinstance(metric, Metric)), None)


def ranking_score(model: Any, inputs: Inputs, metric: Metric | str | None, fitted: Table | None = None) -> float:
    """Return a metric of a model's predictions, NDCG@10 by default; `fitted` decides the types of the columns."""
    metric = Metric.parse(metric) if isinstance(metric, str) else metric
    metric = NDCG(10) if metric is None else check_instance("metric", metric, Metric, "NDCG(10)")
    given = inputs.checked(fitted)
    return float(metric(np.asarray(model.predict(given.X)), given.queries))
