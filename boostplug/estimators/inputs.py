"""What both rankers share: queries from `qid`, `group` or a DataFrame's qid column, checked before any training."""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import check_instance, numbers, refuse_class, refuse_other_order, refuse_where, shown
from boostplug.data.queries import Queries
from boostplug.data.tables import Table, align_columns, table_of, without_qid
from boostplug.losses import Loss
from boostplug.metrics import NDCG, Metric

__all__ = [
    "callbacks_of",
    "checked",
    "evaluation_sets",
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
    "weight_in_single",
    "with_float32_labels",
]

Floats = NDArray[np.float64]
_INFINITE = 1e38  # to LightGBM, and next to what single precision holds


def loss_of(objective: Any) -> Loss | None:
    """Return a ranker's objective if it is a loss of ours, refusing the class in place of an instance."""
    refuse_class("objective", objective, Loss)
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


def checked(
    X: Any,
    y: ArrayLike | None,
    qid: Any,
    group: Any,
    weight: Any,
    pairs: Any = None,
    *,
    labelled: ArrayLike | None = None,
    of_set: int | None = None,
    fitted: Table | None = None,
) -> tuple[Any, Queries]:
    """Return features and `Queries`.

    `of_set` is the place in eval_set of what is no training set, for errors; `fitted` is what its columns must be, and
    the categories that it gets.
    """
    where, eval_ = ("", "") if of_set is None else (f"eval_set[{of_set}]'s ", "eval_")
    X, column = without_qid(X)
    if column is not None:
        if qid is not None or group is not None:
            given = f"{eval_}qid" if qid is not None else f"{eval_}group"
            raise ValueError(f"the queries are given twice: by X's column 'qid' and by {given}; leave one out")
        qid = column
    if qid is None and group is None:
        raise ValueError(
            f"{eval_}qid or {eval_}group is missing: pass the query id of each row, the sizes of the queries, "
            "or a DataFrame with a column 'qid'"
        )
    table = table_of(X, f"{where}X")
    try:
        refuse_other_order(X=X, y=y, qid=qid, sample_weight=weight, labelled=labelled)
        queries = Queries(y, qid=qid, group=group, weight=weight, pairs=pairs, labelled=labelled)
    except ValueError as error:
        if of_set is not None:
            raise ValueError(f"in the validation set {of_set}: {error}") from None
        raise
    if queries.n_rows == 0:
        raise ValueError(f"{where}X and its labels have no rows")
    if table.n_rows != queries.n_rows:
        what = "its labels" if y is not None else "its queries"
        raise ValueError(f"{where}X has {table.n_rows} rows, {what} {queries.n_rows}; pass one label per row")
    if fitted is not None:
        X = align_columns(X, table, fitted, f"{where}X")
    return X, queries


def evaluation_sets(
    eval_set: Any,
    train: tuple[Any, Any, Any, Queries],
    *,
    eval_qid: Any,
    eval_group: Any,
    eval_pairs: Any = None,
    **eval_weight: Any,
) -> list[tuple[Any, Queries]]:
    """Return features and queries of each validation set; the training set itself is recognised.

    `eval_weight` is fit's argument for their weights, under the framework's name for it.
    """
    sets = pairs_of(eval_set)
    arguments = {"eval_qid": eval_qid, "eval_group": eval_group, "eval_pairs": eval_pairs, **eval_weight}
    lists = [one_per_set(name, values, len(sets)) for name, values in arguments.items()]
    weights = lists[3] if eval_weight else [None] * len(sets)
    train_X, train_y, features, train_queries = train
    fitted = table_of(features) if sets else None
    out = []
    for i, ((X, y), qid, group, weight, pairs) in enumerate(zip(sets, *lists[:2], weights, lists[2], strict=True)):
        given = any(value is not None for value in (qid, group, weight, pairs))
        if X is train_X and y is train_y and not given:
            out.append((features, train_queries))
        else:
            out.append(checked(X, y, qid, group, weight, pairs, of_set=i, fitted=fitted))
    return out


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


def _entries(name: str, values: Any, of_what: str, remedy: str) -> list[Any]:
    if values is None:
        return []
    single = getattr(values, "ndim", 1) == 0 or not isinstance(values, Iterable)
    if single or isinstance(values, (str, bytes, Mapping)):
        raise ValueError(f"{name} must be a list of {of_what}, got {shown(values)}; {remedy}")
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


def has_labels(sets: list[tuple[Any, Queries]]) -> bool:
    """Return whether there are validation sets, and each has a row with a label."""
    return bool(sets) and all(bool(q.labelled_rows.any()) for _, q in sets)


def refuse_unused_pairs(objective: Any, loss: Loss | None, pairs: Any) -> None:
    """Raise for pairs that the objective could not use."""
    if pairs is not None and (loss is None or not loss.takes_pairs):
        raise ValueError(f"pairs cannot be used by objective {objective!r}; pass a loss that takes them, as MPBoost()")


def ranking_score(model: Any, X: Any, y: ArrayLike, qid: Any, group: Any, metric: Metric | None, weight: Any) -> float:
    """Return a metric of a model's predictions, NDCG@10 by default."""
    metric = NDCG(10) if metric is None else check_instance("metric", metric, Metric, "NDCG(10)")
    features, queries = checked(X, y, qid, group, weight)
    return float(metric(np.asarray(model.predict(features)), queries))
