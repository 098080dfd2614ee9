"""The columns of the features by themselves: what each ranks alone, and whether it orders rows as labels do."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_values, column_names
from boostplug.data.inputs import CheckedInputs
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame
from boostplug.metrics import Metric

_MOST_VALUES = 20_000_000  # of features, from which columns are judged
_STEPS_BY_ACCIDENT = 20  # from one label to the next, that are ordered by accident


def names_of_features(part: CheckedInputs) -> Sequence[Any]:
    """Return the names of the features, if they have some."""
    return part.feature_names or column_names(part.X)


def numbers_of_columns(part: CheckedInputs, *, codes: bool = False) -> Iterator[tuple[str, Floats]]:
    """Yield the name and numbers of each column, without categories or with their codes.

    Of sparse features nothing, or with `codes` the rows of the first queries, 0 where absent.
    """
    X, names = part.X, names_of_features(part)
    if hasattr(X, "nnz"):
        if not codes:
            return
        X = X.tocsr()[: first_queries(part).n_rows].toarray()
    for j in range(part.X.shape[1]):
        column = X.iloc[:, j] if is_frame(X) else X[:, j]
        name = str(names[j]) if names else f"number {j + 1}"
        if not hasattr(column, "cat"):
            yield name, np.asarray(column, np.float64)
        elif codes:
            yield name, np.where(column.isna(), np.nan, column.cat.codes)


def check_finite(part: CheckedInputs, part_name: str) -> None:
    """Raise for a feature that is infinite as float32: XGBoost refuses it, and names neither column nor value."""
    for name, values in numbers_of_columns(part):
        with np.errstate(over="ignore"):
            infinite = np.isinf(values.astype(np.float32))
        why = "is infinite in float32, which XGBoost refuses; write a number or NaN, or pass frameworks='lightgbm'"
        check_values(f"{part_name}: column {name!r}", infinite, values, why)


def score_of(name: str, part: CheckedInputs) -> Floats:
    """Return the scores of a column, or of "-COLUMN": less is better; missing values are last."""
    signs = {one: 1.0 if one == name else -1.0 for one in (name.removeprefix("-"), name)}
    return next(last_where_missing(signs[one] * values) for one, values in numbers_of_columns(part) if one in signs)


def last_where_missing(scores: Floats) -> Floats:
    """Return scores that are lowest where they were missing."""
    return np.where(np.isnan(scores), -np.inf, scores)


def first_queries(part: CheckedInputs, share: float = 1.0) -> Queries:
    """Return as many of the first queries as can be judged by all columns in a few seconds, or in a share of them."""
    queries, n_columns = part.queries, part.X.shape[1]
    if queries.n_rows * n_columns <= share * _MOST_VALUES:
        return queries
    n = max(1, int(np.searchsorted(queries.boundaries, share * _MOST_VALUES // n_columns)))
    return queries.of_rows(np.arange(queries.boundaries[n]), keep_empty=False)


def values_alone(part: CheckedInputs, metric: Metric) -> dict[str, float]:
    """Return the metric of each column as a score, and of "-COLUMN", on as many of the queries as a second allows."""
    queries = first_queries(part)
    found = {}
    for name, values in numbers_of_columns(part):
        for key, sign in ((name, 1.0), (f"-{name}", -1.0)):
            found[key] = float(metric(last_where_missing(sign * values[: queries.n_rows]), queries))
    return {name: value for name, value in found.items() if not np.isnan(value)}


def share_in_order(values: Floats, queries: Queries, least: int = 1) -> float:
    """Return the share of the steps at which all judged rows of the higher label have higher values.

    A step leads from one label of a query to the next. NaN if there are fewer than `least`.
    """
    groups = queries.grade_groups
    is_step = np.diff(groups.query_of_group) == 0
    if is_step.sum() < least:
        return float("nan")
    values, starts = last_where_missing(values)[groups.rows], groups.group_start[:-1]
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return float((low[1:] > high[:-1])[is_step].mean())


def orders_as_labels(values: Floats, queries: Queries) -> bool:
    """Return whether scores put the judged rows of each query into the order of their labels, without a fault.

    Rows of equal labels may have different scores; rows of different labels may not be level. False where fewer than 20
    steps from one label of a query to the next were ordered: scores of any kind may be right there.
    """
    return share_in_order(values, queries, _STEPS_BY_ACCIDENT) == 1.0
