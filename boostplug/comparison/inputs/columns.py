"""The columns of the features by themselves: what each ranks alone, and which ones look like ids, places or leaks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from boostplug.comparison.report.formats import short
from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.arrays import Floats
from boostplug.core.checks import column_names, refuse_where, shown
from boostplug.data.queries import Queries
from boostplug.data.tables import is_frame, is_number, is_whole, schema_of
from boostplug.metrics import Metric

_LEAST_ROWS = 50  # smallest number of rows in which different numbers are no accident
_MOST_GAPS = 10  # a column of row numbers spans at most as many times the rows
_DENSE = 0.9  # share of the places of the queries that rows must have
_ID_SHARE = 0.5  # values of an id's column, as a share of the queries
_ID_NAME = re.compile(r"(^|[_ .-])(id|Id|ID)$|[a-z]I[dD]$")
_MOST_VALUES = 20_000_000  # of features, from which columns are chosen
_CLOSE = 0.02  # to the best model
_MOST_NAMED = 5
_MOST_NUMBERS = 0.5  # share of a text column's values
_QUANTITY = re.compile(r"(?:[^\W\d_]{1,4}\.?\s+|[^\W\d_]{0,3}[€$£¥₹.]\s?)?[-+]?\d[\d.,'\s]*(?:[€$£¥₹%]|[^\W\d_]{1,4})?")
_LEAST_RELEVANT, _MOST_RELEVANT = 20, 0.95
_MOST_OTHERS = 0.5  # share of the other rows that a leak may mark
_TAIL = 0.05  # share of the rows of a part that may lie beyond the next part's


def _names(part: DataPart) -> Sequence[Any]:
    """Return the names of the features, if they have some."""
    return part.feature_names or column_names(part.X)


def columns_of(part: DataPart) -> Iterator[tuple[str, Floats]]:
    """Yield the name and the numbers of each column that is no category; nothing for sparse features."""
    if hasattr(part.X, "nnz"):
        return
    names = _names(part)
    for j in range(part.X.shape[1]):
        column = part.X.iloc[:, j] if is_frame(part.X) else part.X[:, j]
        name = str(names[j]) if names else f"number {j + 1}"
        if not hasattr(column, "cat"):
            yield name, np.asarray(column, np.float64)


def orders_as_labels(values: Floats, queries: Queries) -> bool:
    """Return whether scores put the judged rows of each query into the order of their labels, without a fault.

    Rows of equal labels may have different scores; rows of different labels may not be level. False where fewer than 20
    steps from one label to the next were ordered: scores of any kind may be right there.
    """
    query, labels = queries.query_of_row[queries.judged], queries.labels[queries.judged]
    values = last_where_missing(values)[queries.judged]
    order = np.lexsort((values, labels, query))  # so that the best of a label is next to the worst of the one above it
    is_step = (np.diff(query[order]) == 0) & (np.diff(labels[order]) > 0.0)
    return int(is_step.sum()) >= _LEAST_RELEVANT and bool((values[order][1:] > values[order][:-1])[is_step].all())


def refuse_infinite(part: DataPart, part_name: str) -> None:
    """Raise for a feature that is infinite as float32: XGBoost refuses it, and names neither column nor value."""
    for name, values in columns_of(part):
        with np.errstate(over="ignore"):
            infinite = np.isinf(values.astype(np.float32))
        why = "is infinite in float32, which XGBoost refuses; write a number or NaN, or pass frameworks='lightgbm'"
        refuse_where(f"{part_name}: column {name!r}", infinite, values, why)


def score_of(name: str, part: DataPart) -> Floats:
    """Return the scores of a column, or of "-COLUMN": less is better; missing values are last."""
    signs = {one: 1.0 if one == name else -1.0 for one in (name.removeprefix("-"), name)}
    return next(last_where_missing(signs[one] * values) for one, values in columns_of(part) if one in signs)


def last_where_missing(scores: Floats) -> Floats:
    """Return scores that are lowest where they were missing."""
    return np.where(np.isnan(scores), -np.inf, scores)


def values_alone(part: DataPart, metric: Metric) -> dict[str, float]:
    """Return the metric of each column as a score, and of "-COLUMN", on as many of the queries as a second allows."""
    queries, n_columns = part.queries, part.X.shape[1]
    if queries.n_rows * n_columns > _MOST_VALUES:
        n = max(1, int(np.searchsorted(queries.boundaries, _MOST_VALUES // n_columns)))
        queries = queries.of_rows(np.arange(queries.boundaries[n]), keep_empty=False)
    found = {}
    for name, values in columns_of(part):
        for key, sign in ((name, 1.0), (f"-{name}", -1.0)):
            found[key] = float(metric(last_where_missing(sign * values[: queries.n_rows]), queries))
    return {name: value for name, value in found.items() if not np.isnan(value)}


def doubts_on_columns(train: DataPart, *, from_file: bool) -> list[str]:
    """Return a warning about each column of places or row numbers, and one about categories and ids.

    Categories of a DataFrame are the user's own; those of a file, with `from_file`, were text.
    """
    found, numbers = list[str](), _row_numbers(train)
    for name in numbers:
        found.append(
            f"Column {name!r} numbers the rows of the table, as an index does that was written with it. If it is not a "
            f"measurement, drop=[{name!r}] (--drop {name})."
        )
    for name, n_repeated in _places(train).items():
        repeated = f" In {n_repeated:,} rows the number stands in its query twice: are these rows repeated?" * bool(
            n_repeated
        )
        found.append(
            f"Column {name!r} numbers the rows of each query, as the places where users saw them do. If they are, pass "
            f"position={name!r} (--position {name}); else, if it is not a measurement, drop=[{name!r}] (--drop {name})."
            f"{repeated}"
        )
    categories, ids, samples = schema_of(train.X).categories or {}, list[str](), list[str]()
    least = _ID_SHARE * train.queries.n_queries
    for place, known in categories.items():
        name, sample = train.X.columns[place], shown(min(known, key=is_number, default=None))
        if sum(isinstance(one, str) and bool(_QUANTITY.fullmatch(one)) for one in known) > _MOST_NUMBERS * len(known):
            found.append(
                f"Column {name!r} is text ({sample}), and most of it are numbers. As a category they have no order: "
                "write them as 1234.5, without units."
            )
            continue
        many = len(known) > least
        ids += [str(name)] * many
        samples += [f"{name} ({sample}{f', {len(known):,} values' * many})"] * from_file
    for name, values in columns_of(train):
        if _ID_NAME.search(name) and name not in numbers and is_whole(values) and len(np.unique(values)) > least:
            ids.append(name)
    said = [f"Read as categories: {', '.join(samples)}."] * bool(samples)
    if ids:
        like, kind = ", ".join(map(repr, ids)), "looks like an id" if len(ids) == 1 else "look like ids"
        said.append(f"{like} {kind}: drop=[{like}] (--drop {','.join(ids)}).")
    return [*found, " ".join(said)] if said else found


def leaks(
    folds: Sequence[Sequence[DataPart]],
    alone: Mapping[str, float],
    best: float | None,
    metric: Metric,
    *,
    by_time: bool,
) -> tuple[list[str], list[str]]:
    """Return warnings about columns that may not be known before a list is shown, and notes on those that rank well.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    alone : mapping of str to float
        Validation value of each column, and of "-COLUMN".
    best : float or None
        That of the best trained method.
    metric : Metric
    by_time : bool
        Whether the parts follow each other in time.
    """
    found, strong, sign = list[str](), list[str](), 1.0 if metric.greater_is_better else -1.0
    for of_parts in zip(*map(columns_of, folds[0]), strict=True):
        name, values = of_parts[0]
        reasons = _marks_labels(values, folds[0][0])
        if by_time and _grows([of_part[1] for of_part in of_parts]):
            reasons.append("grows with the time of the rows, which later rows exceed")
        value = max((alone[n] for n in (name, f"-{name}") if n in alone), key=lambda v: sign * v, default=None)
        if reasons:
            remedy = f": drop=[{name!r}] (--drop {name})" * bool(_names(folds[0][0]))
            figure = "" if value is None else f"; alone it has {metric.name} {short(value)} on validation"
            what = f"Column {name!r} {' and '.join(reasons)}{figure}"
            found.append(f"{what}. Is it known before the list is shown? If not, leave it out{remedy}.")
        elif best is not None and value is not None and sign * (best - value) <= _CLOSE:
            strong.append(f"{name!r} ({short(value)})")
    if strong and best is not None:
        more = f" and {len(strong) - _MOST_NAMED} more" * (len(strong) > _MOST_NAMED)
        note = (
            f"Alone within {_CLOSE:g} of the best model (validation {metric.name} {short(best)}): column "
            f"{', '.join(strong[:_MOST_NAMED])}{more}. Is it known before the list is shown, as a text match is and "
            "clicks are not?"
        )
        strong = [note]
    return found, strong


def _marks_labels(values: Floats, train: DataPart) -> list[str]:
    """Return a reason where a column is nonzero in almost all rows with a label above 0, and in few others."""
    queries = train.queries
    relevant, others = queries.judged & (queries.labels > 0.0), queries.judged & (queries.labels <= 0.0)
    marked = np.nan_to_num(values) != 0.0
    n, of_relevant = int(relevant.sum()), float(marked[relevant].mean()) if relevant.any() else 0.0
    if n < _LEAST_RELEVANT or not others.any() or of_relevant < _MOST_RELEVANT:
        return []
    share = float(marked[others].mean())
    if share > _MOST_OTHERS:
        return []
    where = f"{100 * of_relevant:.3g} % of the {n:,} rows of train with a label above 0"
    return [f"is nonzero in {where}, and in {100 * share:.2g} % of the others"]


def _grows(parts: Sequence[Floats]) -> bool:
    """Return whether almost all values of each part are above those of the part before."""
    ends = [np.nanquantile(values, (_TAIL, 1.0 - _TAIL)) for values in parts if not np.isnan(values).all()]
    return len(ends) == len(parts) and all(low[1] < high[0] for low, high in pairwise(ends))


def _row_numbers(part: DataPart) -> list[str]:
    """Return the columns of whole numbers, another in each row, that are dense, or sorted in each query.

    Rows that were left out, or went to another part, leave gaps.
    """
    query, n, found = part.queries.query_of_row, part.queries.n_rows, list[str]()
    for name, values in columns_of(part) if n >= _LEAST_ROWS else ():
        span = float(values.max()) - float(values.min()) + 1.0
        if not n <= span <= _MOST_GAPS * n or not is_whole(values) or len(np.unique(values)) < n:
            continue
        steps = np.diff(values)[query[1:] == query[:-1]]
        if span <= 2 * n or (steps > 0).all() or (steps < 0).all():
            found.append(name)
    return found


def _places(part: DataPart) -> dict[str, int]:
    """Return the columns that number the rows of each query from 0 or 1, and how many rows repeat a number."""
    repeated = {name: n_repeated_places(values, part) for name, values in columns_of(part) if is_frame(part.X)}
    return {name: n for name, n in repeated.items() if n is not None}


def n_repeated_places(values: Floats, part: DataPart) -> int | None:
    """Return how many rows repeat a number where values number the rows of each query from 0 or 1, else None."""
    query, lowest = part.queries.query_of_row, values.min(initial=np.inf)
    if len(query) < _LEAST_ROWS or lowest not in (0, 1) or not 1 < values.max() < np.inf or not is_whole(values):
        return None
    places = np.unique(np.column_stack([query, values]), axis=0)
    is_last = np.r_[places[1:, 0] != places[:-1, 0], True]
    n_places = (places[is_last, 1] - lowest + 1).sum()
    return len(query) - len(places) if len(places) > _DENSE * max(n_places, len(query)) else None
