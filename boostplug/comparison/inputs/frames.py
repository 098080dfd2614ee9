"""A table as input of a comparison: its columns, and its split by query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isclose
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import (
    check_column_names,
    check_integer,
    column_as_vector,
    column_names,
    numbers,
    refuse_where,
    shown,
    vector,
)
from boostplug.data.boundaries import ids_of
from boostplug.data.files import read_table_file
from boostplug.data.inputs import Inputs, Source, refuse_absent
from boostplug.data.tables import (
    Schema,
    is_frame,
    read_features,
    refuse_uncomputed,
    rows_of,
    split_columns,
    without_columns,
)
from boostplug.datasets.ranking_data import RankingData
from boostplug.selection.folds import blocks_by_time, times_of_queries

TODAY = "score_in_use"  # the label that holds the score in use
FOLDS, FEW_FOR_FOLDS = 5, 1000  # by default, for one table with fewer queries that hold a pair
PARTS = ("train", "valid", "test")
DEFAULT_SPLIT = (0.6, 0.2, 0.2)
_NAMES = {"train": 0, "training": 0, "valid": 1, "vali": 1, "validation": 1, "dev": 1, "test": 2}
_SEED = 0  # of the random order of queries
_SINGLE = ("label", "qid", "weight", "position", "today")


class Columns(NamedTuple):
    """Columns of a DataFrame that are not features, columns that are, the score in use, and the split by query."""

    label: str | None = None
    qid: str = "qid"
    weight: str | None = None
    position: str | None = None
    labels: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    split: str | tuple[float, ...] | tuple[str, str] | None = None
    folds: int | None = None
    today: str | None = None

    @property
    def time(self) -> str | None:
        """The column of times by which the table is split, if any."""
        match self.split:
            case ("time", str(column)) if column:
                return column
        return None

    def given(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults."""
        return {what: value for what, value in self._asdict().items() if value != Columns._field_defaults[what]}

    def check(self) -> None:
        """Raise for arguments that are not names of columns, and for an invalid split."""
        given = self.given()
        check_column_names({what: given[what] for what in _SINGLE if what in given})
        for what in ("labels", "features", "drop", "keep"):
            names = given.get(what, ())
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise ValueError(f"{what} must be a list of names of columns; got {shown(names)}")
        split = DEFAULT_SPLIT if self.split is None else self.split
        if not isinstance(split, str) and self.time is None and not _are_shares(split):
            raise ValueError(
                "split must be three shares above 0 that sum to 1, such as (0.6, 0.2, 0.2), the name of a column that "
                f"holds 'train', 'valid' and 'test', or ('time', column), --split time,COLUMN; got {shown(split)}"
            )
        if self.folds is not None:
            check_integer("folds", self.folds, 3, remedy="5 is the default for few queries; for one split pass split")
            if self.split is not None:
                raise ValueError("folds and split both divide the table; leave one out")

    def inputs(self, frame: Any, source: Source) -> Inputs:
        """Return the features, labels, ids and weights of a DataFrame, without the columns that are left out."""
        available = column_names(frame)
        if self.label is None:
            raise ValueError(
                "label is missing: name the column that holds the labels (--label), and with qid (--qid) the one of "
                f"the query ids, of {shown(available)}; or pass boostplug.RankingData(DataFrame, labels, qid=…)"
            )
        for what in ("features", "drop", "keep"):
            for name in getattr(self, what) or ():
                refuse_absent(name, what, available)
        no_features = (self.label, self.qid, self.weight, self.position, self.time or self.split, *self.labels)
        kept = available if self.features is None else (*self.features, *no_features)
        split = self.time or self.split  # never a feature, also if it is in `drop`
        left_out = [name for name in available if name not in kept or (name in self.drop and name != split)]
        labels: dict[str, Any] = {name: name for name in self.labels}
        if self.today is not None:
            labels[TODAY] = scores_today(self.today, frame, available)
        return Inputs(
            X=split_columns(frame, left_out)[0],
            y=self.label,
            qid=self.qid,
            weight=self.weight,
            position=self.position,
            labels=labels or None,
            arguments={"y": "label"},
            source=source,
            keep=self.keep,
        )


def as_tuple(given: Any) -> Any:
    """Return an iterable of names or numbers as a tuple; a text, None and what is no iterable stay, to be refused."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else given


def scores_today(today: str, X: Any, names: Sequence[Any]) -> Floats:
    """Return the score in use of each row, higher is better: a column, less is better ("-COLUMN"), or the order."""
    if today in names and (today == "order" or (today.startswith("-") and today[1:] in names)):
        other = "the order of the rows" if today == "order" else f"column {today[1:]!r}, where less is better"
        raise ValueError(f"today={today!r} means the column of that name, or {other}; rename that column")
    if today == "order":
        return -np.arange(X.shape[0], dtype=np.float64)
    name = today if today in names else today.removeprefix("-")
    refuse_absent(name, "today", names)
    column = X[name] if is_frame(X) else X[:, [*names].index(name)]
    column = column.toarray().ravel() if hasattr(column, "nnz") else column
    values = numbers(title := f"today: column {name!r}", column_as_vector(title, column))
    refuse_where(title, np.isinf(values), values, "is infinite; write a number, or leave the cell empty")
    return values if name == today else -values


def read_table(path: Any, name: str, columns: Columns, train: Schema | None = None) -> Any:
    """Return the DataFrame of a CSV or Parquet file; text columns of the training set are read as text."""
    names = train.names if train is not None and train.names is not None else ()
    known = (train and train.categories) or {}
    texts = [names[k] for k, of_column in known.items() if names and all(isinstance(one, str) for one in of_column)]
    split = [columns.split] if isinstance(columns.split, str) else []
    try:
        return read_table_file(path, ids=[columns.qid, *split], texts=texts)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{name}: {error}") from None


def _are_shares(split: Any) -> bool:
    return (
        isinstance(split, tuple)
        and len(split) == len(PARTS)
        and all(isinstance(share, Real) and float(share) > 0.0 for share in split)
        and isclose(sum(split), 1.0)
    )


def split_by_query(data: Any, columns: Columns, source: Source) -> list[list[Any]]:
    """Return the folds of one table, split by query, with adjacent rows of each query.

    With few queries, each query is a test query of one fold, and a validation query of another one; else there is one
    fold of a training, a validation and a test part.

    Parameters
    ----------
    data : DataFrame of pandas, polars or pyarrow, or the fields of a RankingData
    columns : Columns
        With `split`: the shares of queries, drawn with a fixed seed, a column with the name of each row's part, or a
        column of times.
    source : Source

    Returns
    -------
    list of [train, valid, test]
        `Inputs`, or `RankingData`, as `data` are.

    Raises
    ------
    ValueError
        If a column is missing or cannot be read, or a query is in several parts.
    """
    given: Any = RankingData(**data) if isinstance(data, Mapping) else columns.inputs(data, source)
    column, values = columns.time or columns.split, None
    if isinstance(column, str):
        refuse_absent(column, "split", column_names(given.X))
        values = given.X[column]
    if isinstance(given, Inputs):
        given = given.take_columns()
        given = replace(given, y=given.labels_of_rows(), qid=given.ids_of_rows())
        given = replace(given, X=read_features(without_columns(given.X, [column]), source.file or "train"))
    elif values is not None:
        given = replace(given, X=without_columns(given.X, [column]), feature_names=None)
    if columns.split is None and (blocks := _blocks(given.y, given.qid, columns.folds)):
        turned = [[*blocks[f:], *blocks[:f]] for f in range(len(blocks))]
        rows = [[np.concatenate(training), valid, test] for test, valid, *training in turned]
    else:
        rows = [_rows_of_parts(given.qid, values, columns)]
    return [[_of_rows(given, part) for part in fold] for fold in rows]


def _of_rows(data: Any, rows: Ints) -> Any:
    """Return some rows of `Inputs` or a `RankingData`, those of a query together."""
    if isinstance(data, Inputs):
        return data.of_rows(rows)
    taken = {n: data[n][rows] for n in ("y", "qid", "doc_ids", "weight", "position") if data[n] is not None}
    labels = {name: values[rows] for name, values in data.labels.items()}
    return replace(data, X=rows_of(data.X, rows), group=None, labels=labels, **taken)


def _blocks(y: Floats, ids: NDArray[Any], folds: int | None) -> list[Ints]:
    """Return the rows of each block of queries, those of a query together; none if one split is to do.

    The blocks have equally many queries that hold a pair, as far as possible.
    """
    _, first, query = np.unique(ids.astype(str), return_index=True, return_inverse=True)
    low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    np.minimum.at(low, query, y)
    np.maximum.at(high, query, y)
    n_pairs = int((low < high).sum())
    if folds is None:
        folds = FOLDS if 2 * FOLDS <= n_pairs < FEW_FOR_FOLDS else 1
    elif folds > n_pairs:
        raise ValueError(f"folds={folds}, but only {n_pairs} queries hold two different labels; pass fewer folds")
    if folds == 1:
        return []
    drawn = np.random.default_rng(_SEED).permutation(len(first))
    drawn = drawn[np.argsort((low == high)[drawn], kind="stable")]
    block = np.empty(len(first), np.int64)
    block[drawn] = np.arange(len(first)) % folds
    order = np.argsort(first[query], kind="stable")
    return [order[block[query][order] == k] for k in range(folds)]


def split_queries(data: Any, *, qid: Any = "qid", split: Any = DEFAULT_SPLIT) -> tuple[Any, Any, Any]:
    """Return the training, validation and test part of a table or an array, as `compare` splits one table.

    The rows of a query stay together, in the order of the queries' first rows.

    Parameters
    ----------
    data : DataFrame of pandas, polars or pyarrow, or array-like of shape (n_rows, ...)
    qid : str or array-like of shape (n_rows,), default "qid"
        The column of the query ids, or the ids. Arrays that are split by the same ids fit each other.
    split : three shares, str or ("time", column), default (.6, .2, .2)
        As for `compare`: the shares of the queries, drawn with a fixed seed; a column that holds "train", "valid" or
        "test"; or a column of times, by which the first 60 % of the queries train and the last 20 % test.

    Returns
    -------
    train, valid, test : of the type of `data`
        With all columns.

    Raises
    ------
    ValueError
        If a column is missing, ids do not fit the data, or there are fewer than three queries.

    Examples
    --------
    >>> import numpy as np
    >>> train, valid, test = split_queries(np.arange(10), qid=np.repeat(range(5), 2))
    >>> len(train), len(valid), len(test)
    (6, 2, 2)
    """
    columns = Columns(split=as_tuple(split.tolist() if isinstance(split, np.ndarray) else split))
    columns.check()
    refuse_uncomputed(data, "data")
    data = data if is_frame(data) or hasattr(data, "nnz") else np.asarray(data)
    there, column = column_names(data), columns.time or columns.split
    for name, argument in ((qid, "qid"), (column, "split")):
        if isinstance(name, str):
            refuse_absent(name, argument, there)
    ids = ids_of("qid", data[qid] if isinstance(qid, str) else qid)
    if (len(ids),) != data.shape[:1]:
        raise ValueError(f"qid must have one id per row of data; got {len(ids)}, and data of shape {data.shape}")
    values = np.asarray(data[column]) if isinstance(column, str) else None
    train, valid, test = (rows_of(data, rows) for rows in _rows_of_parts(ids, values, columns))
    return train, valid, test


def _rows_of_parts(ids: NDArray[Any], values: Any, columns: Columns) -> list[Ints]:
    """Return the rows of each part, those of a query together; `values` are those of the column that `split` names."""
    _, first, query = np.unique(ids.astype(str), return_index=True, return_inverse=True)
    if values is None:
        part = _drawn_parts(len(first), columns)[query]
    elif columns.time is not None:
        times = times_of_queries(columns.time, values, first, query)
        part = blocks_by_time(times, DEFAULT_SPLIT, "a training, validation and test part by time")[query]
    else:
        part = _named_parts(vector("split", values), query, first, columns.split)
    order = np.argsort(first[query], kind="stable")  # queries by first row, their rows adjacent
    return [order[part[order] == k] for k in range(3)]


def _drawn_parts(n_queries: int, columns: Columns) -> Ints:
    """Return the part of each query, drawn by shares."""
    if n_queries < len(PARTS):
        raise ValueError(
            f"a split into three parts needs at least 3 queries; train has {n_queries}. Is {columns.qid!r} the column "
            "of query ids? Pass qid= (--qid)."
        )
    split = DEFAULT_SPLIT if columns.split is None else columns.split
    edges = np.clip(np.round(np.cumsum(split)[:2] * n_queries).astype(int), [1, 2], [n_queries - 2, n_queries - 1])
    return np.searchsorted(edges, np.random.default_rng(_SEED).permutation(n_queries), side="right")


def _named_parts(names: NDArray[Any], query: Ints, first: Ints, column: Any) -> Ints:
    """Return the part of each row from its name; `first` is the first row of each query."""
    part = np.array([_NAMES.get(str(name).strip().lower(), -1) for name in names])
    if (part < 0).any():
        wrong = shown(str(names[np.argmin(part)]))
        raise ValueError(f"split: column {column!r} must hold 'train', 'valid' and 'test'; got {wrong}")
    n_split = len(np.unique(query[part != part[first][query]]))
    if n_split:
        raise ValueError(
            f"column {column!r} puts {n_split} queries into several parts; give all rows of a query the same part"
        )
    return part
