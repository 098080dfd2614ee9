"""Input of both rankers: queries from `qid`, `group` or a DataFrame's qid column, checked before any training."""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import (
    check_instance,
    column_names,
    numbers,
    refuse_class,
    refuse_other_order,
    refuse_where,
    shown,
)
from boostplug.data.queries import Queries
from boostplug.data.tables import (
    Table,
    align_columns,
    columns_equal_to,
    refuse_unreadable_columns,
    table_of,
    without_qid,
)
from boostplug.losses import LOSSES, Loss
from boostplug.metrics import NDCG, Metric
from boostplug.metrics.on_label import MetricOnLabel

__all__ = [
    "CheckedSet",
    "DataSet",
    "RankingScore",
    "callbacks_of",
    "checked_validation_sets",
    "fitted_position_bias",
    "frameworks_metrics_of",
    "has_labels",
    "labels_in_single",
    "loss_of",
    "metrics_of",
    "one_per_set",
    "pairs_of",
    "ranking_score",
    "refuse_twice",
    "refuse_unused_pairs",
    "relative_weight",
    "starting_scores",
    "validation_sets",
    "weight_in_single",
    "with_float32_labels",
]

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


class DataSet(NamedTuple):
    """Arguments of `fit` for the training set or one validation set."""

    X: Any
    y: Any
    qid: Any = None
    group: Any = None
    weight: Any = None
    pairs: Any = None
    labelled: Any = None
    labels: Any = None
    """More labels, by name."""
    position: Any = None
    start: Any = None
    """Scores that boosting starts from."""
    start_name: str = ""
    """The name of that argument."""
    place: int | None = None
    """The place in eval_set; None for the training set."""
    is_training: bool = False
    """Whether this validation set is the training set itself."""

    @property
    def where(self) -> str:
        """Name of the set in errors."""
        return "" if self.place is None else f"eval_set[{self.place}]'s "

    def checked(self, fitted: Table | None = None) -> "CheckedSet":
        """Return features and `Queries`; `fitted` is what the columns must be, and the categories that they get."""
        eval_ = "" if self.place is None else "eval_"
        named = isinstance(self.qid, str)
        X, column = without_qid(self.X, self.qid if named else "qid")
        if named and column is None:
            there = shown(column_names(self.X)) if column_names(self.X) else "none: pass a DataFrame"
            raise ValueError(f"{eval_}qid={self.qid!r} names no column of {self.where}X; its columns are {there}")
        if column is not None and ((self.qid is not None and not named) or self.group is not None):
            given = f"{eval_}qid" if self.qid is not None else f"{eval_}group"
            raise ValueError(f"the queries are given twice: by X's column 'qid' and by {given}; leave one out")
        qid = self.qid if column is None else column  # by name or as an array
        if qid is None and self.group is None:
            raise ValueError(
                f"{eval_}qid or {eval_}group is missing: pass the query id of each row, the sizes of the queries, "
                "or a DataFrame with a column 'qid'"
            )
        refuse_unreadable_columns(
            X, lambda names: f"drop them from {self.where}X; if {names[0]!r} holds the query ids, pass qid={names[0]!r}"
        )
        table = table_of(X, f"{self.where}X")
        try:
            labels = self.labels if isinstance(self.labels, Mapping) else {}
            refuse_other_order(
                X=X,
                y=self.y,
                qid=qid,
                sample_weight=self.weight,
                labelled=self.labelled,
                position=self.position,
                **labels,
            )
            queries = Queries(
                self.y,
                qid=qid,
                group=self.group,
                weight=self.weight,
                pairs=self.pairs,
                labelled=self.labelled,
                labels_by_name=self.labels,
                position=self.position,
            )
        except ValueError as error:
            if self.place is not None:
                raise ValueError(f"in the validation set {self.place}: {error}") from None
            raise
        if queries.n_rows == 0:
            raise ValueError(f"{self.where}X and its labels have no rows")
        if table.n_rows != queries.n_rows:
            what = "its labels" if self.y is not None else "its queries"
            raise ValueError(f"{self.where}X has {table.n_rows} rows, {what} {queries.n_rows}; pass one label per row")
        for name in columns_equal_to(X, self.y):
            warnings.warn(
                f"column {name!r} of {self.where}X equals y, so the model sees the labels; drop it from X",
                UserWarning,
                stacklevel=3,
            )
        if fitted is not None:
            X = align_columns(X, table, fitted, f"{self.where}X")
        start = starting_scores(self.start_name, self.start, queries.n_rows, X)
        return CheckedSet(X, queries, start, self.where)


class CheckedSet(NamedTuple):
    """A set whose arguments fit each other."""

    X: Any
    """Without the column of query ids."""
    queries: Queries
    start: Floats | None = None
    where: str = ""

    @property
    def table(self) -> Table:
        """Names and types of the columns."""
        return table_of(self.X)

    def same_as(self, train: "CheckedSet") -> bool:
        """Return whether this is the training set itself, with the same scores to start from."""
        starts: Any = (self.start, train.start)
        return self.queries is train.queries and np.array_equal(*starts)


def validation_sets(eval_set: Any, train: DataSet, **per_set: Any) -> list[DataSet]:
    """Return what a `fit` got of each validation set; the training set itself is recognised.

    Parameters
    ----------
    eval_set : pair (X, y) or list of them, or None
    train : DataSet
    **per_set : list or None
        The arguments of `fit` that hold an entry per validation set, such as ``eval_qid``, under the framework's names.
    """
    pairs = pairs_of(eval_set)
    entries = {name: one_per_set(name, values, len(pairs)) for name, values in per_set.items()}
    sets = []
    for place, (X, y) in enumerate(pairs):
        given = {_FIELD_OF[name]: values[place] for name, values in entries.items()}
        if isinstance(train.qid, str) and given.get("qid") is None and given.get("group") is None:
            given["qid"] = train.qid  # the same column
        named = next((f"{name}[{place}]" for name in entries if _FIELD_OF[name] == "start"), "")
        same_queries = given.get("qid") is None or (isinstance(train.qid, str) and given["qid"] is train.qid)
        rest = (value for field, value in given.items() if field not in {"start", "qid"})
        if X is train.X and y is train.y and same_queries and all(value is None for value in rest):
            sets.append(train._replace(start=given.get("start"), start_name=named, place=place, is_training=True))
        else:
            sets.append(DataSet(X, y, **given, start_name=named, place=place))
    return sets


def checked_validation_sets(eval_set: Any, given: DataSet, train: CheckedSet, **per_set: Any) -> list[CheckedSet]:
    """Return the checked sets of `validation_sets`; their columns must be those of the training set.

    `given` and `train` are the training set before and after its checks.
    """
    sets = validation_sets(eval_set, given, **per_set)
    fitted = train.table if sets else None
    return [
        train._replace(start=starting_scores(one.start_name, one.start, train.queries.n_rows, train.X), where=one.where)
        if one.is_training
        else one.checked(fitted)
        for one in sets
    ]


def fitted_position_bias(
    loss: Loss | None, predict: Callable[[Any], Any], train: CheckedSet
) -> dict[str, NDArray[Any]] | None:
    """Return the loss's `position_bias` at the fitted scores of the training set; None of losses without positions."""
    if loss is None or not loss.needs_position:
        return None
    start = 0.0 if train.start is None else np.ravel(train.start)
    return loss.position_bias(np.asarray(predict(train.X), np.float64) + start, train.queries)


def pairs_of(eval_set: Any) -> list[Any]:
    """Return fit's validation sets as a list of pairs."""
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
        eval_set = [eval_set]  # LightGBM takes a single pair
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
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        metric: Metric | str | None = None,
        labels: Mapping[str, ArrayLike] | None = None,
    ) -> float:
        """Return a metric of the predictions.

        It is `metric`, such as "NDCG@5"; else the first of ours in `eval_metric`; else NDCG@10. A metric on one of
        several labels, such as "NDCG@5.on(sale)", needs `labels`, as `fit` takes them.
        """
        metric = metric or self._first_metric()
        return ranking_score(self, X, y, qid, group, metric, sample_weight, labels)

    def _first_metric(self) -> Metric | None:
        """Return the first of our metrics among the ranker's parameters."""
        named = metrics_of(getattr(self, "eval_metric", None))
        return next((metric for metric in named if isinstance(metric, Metric)), None)


def ranking_score(
    model: Any, X: Any, y: ArrayLike, qid: Any, group: Any, metric: Metric | str | None, weight: Any, labels: Any = None
) -> float:
    """Return a metric of a model's predictions, NDCG@10 by default."""
    metric = Metric.parse(metric) if isinstance(metric, str) else metric
    metric = NDCG(10) if metric is None else check_instance("metric", metric, Metric, "NDCG(10)")
    given = DataSet(X, y, qid, group, weight, labels=labels).checked()
    return float(metric(np.asarray(model.predict(given.X)), given.queries))
