"""What both rankers share: queries from `qid`, `group` or a DataFrame's qid column, checked before any training."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostplug.checks import column_names, refuse_class
from boostplug.losses import Loss
from boostplug.metrics import NDCG, Metric
from boostplug.queries import Queries

__all__ = [
    "checked",
    "evaluation_sets",
    "has_labels",
    "loss_of",
    "metrics_of",
    "ranking_score",
    "refuse_unused_pairs",
    "without_qid",
]


def loss_of(objective: Any) -> Loss | None:
    """Return a ranker's objective if it is a loss of ours, refusing the class in place of an instance."""
    refuse_class("objective", objective, Loss)
    return objective if isinstance(objective, Loss) else None


def metrics_of(eval_metric: Any) -> list[Any]:
    """Return a ranker's metrics as a list, refusing the class in place of an instance."""
    if eval_metric is None:
        return []
    metrics = list(eval_metric) if isinstance(eval_metric, (list, tuple)) else [eval_metric]
    for metric in metrics:
        refuse_class("eval_metric", metric, Metric)
    return metrics


def without_qid(X: Any) -> tuple[Any, Any]:
    """Split a DataFrame with a column named qid into features and that column, as XGBoost's ranker does."""
    if "qid" not in column_names(X):
        return X, None
    qid = X["qid"]
    try:
        return X.drop(columns=["qid"]), qid  # pandas, pyarrow
    except TypeError:
        return X.drop("qid"), qid  # polars


def checked(
    X: Any,
    y: ArrayLike | None,
    qid: Any,
    group: Any,
    weight: Any,
    pairs: Any = None,
    where: str = "",
    *,
    labelled: ArrayLike | None = None,
) -> tuple[Any, Queries]:
    """Return features and `Queries`; `where` is put before argument names in errors ("eval_" for validation sets)."""
    X, column = without_qid(X)
    if column is not None:
        if qid is not None or group is not None:
            given = f"{where}qid" if qid is not None else f"{where}group"
            raise ValueError(f"the queries are given twice: by X's column 'qid' and by {given}; leave one out")
        qid = column
    if qid is None and group is None:
        raise ValueError(
            f"{where}qid or {where}group is missing: pass the query id of each row, the sizes of the queries, "
            "or a DataFrame with a column 'qid'"
        )
    try:
        queries = Queries(y, qid=qid, group=group, weight=weight, pairs=pairs, labelled=labelled)
    except ValueError as error:
        if where:
            raise ValueError(f"in the validation set: {error}") from None
        raise
    if queries.n_rows == 0:
        raise ValueError(f"{where}X and its labels have no rows")
    rows = getattr(X, "shape", (queries.n_rows,))[0]
    if rows != queries.n_rows:
        what = "its labels" if y is not None else "its queries"
        raise ValueError(f"{where}X has {rows} rows, {what} {queries.n_rows}; pass one label per row")
    return X, queries


def evaluation_sets(
    eval_set: Any, eval_qid: Any, eval_group: Any, weights: Any, eval_pairs: Any, train: tuple[Any, Any, Any, Queries]
) -> list[tuple[Any, Queries]]:
    """Return features and queries of each validation set; the training set itself is recognised."""
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
        eval_set = [eval_set]  # LightGBM takes a single pair
    sets = list(() if eval_set is None else eval_set)
    for pair in sets:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"eval_set must hold pairs (X, y), got a {type(pair).__name__} in it; pass [(X, y)]")
    lists: list[Any] = []
    arguments = {
        "eval_qid": eval_qid,
        "eval_group": eval_group,
        "the validation sets' weights": weights,
        "eval_pairs": eval_pairs,
    }
    for name, values in arguments.items():
        if values is not None and len(values) != len(sets):
            raise ValueError(f"{name} must hold one entry per validation set ({len(sets)}), got {len(values)}")
        lists.append([None] * len(sets) if values is None else values)
    train_X, train_y, features, train_queries = train
    out = []
    for (X, y), qid, group, weight, pairs in zip(sets, *lists, strict=True):
        given = any(value is not None for value in (qid, group, weight, pairs))
        if X is train_X and y is train_y and not given:
            out.append((features, train_queries))
        else:
            out.append(checked(X, y, qid, group, weight, pairs, "eval_"))
    return out


def has_labels(sets: list[tuple[Any, Queries]]) -> bool:
    """Return whether there are validation sets, and each has a row with a label."""
    return bool(sets) and all(bool(q.labelled_rows.any()) for _, q in sets)


def refuse_unused_pairs(objective: Any, loss: Loss | None, pairs: Any) -> None:
    """Raise for pairs that the objective could not use."""
    if pairs is not None and (loss is None or not loss.takes_pairs):
        raise ValueError(f"pairs cannot be used by objective {objective!r}; pass a loss that takes them, as MPBoost()")


def ranking_score(model: Any, X: Any, y: ArrayLike, qid: Any, group: Any, metric: Metric | None, weight: Any) -> float:
    """Return a metric of a model's predictions, NDCG@10 by default."""
    features, queries = checked(X, y, qid, group, weight)
    return float((metric or NDCG(10))(np.asarray(model.predict(features)), queries))
