"""`split_queries`: a table divided by query into a training, a validation and a test part, or into folds of them."""

from collections.abc import Mapping
from math import isclose
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import as_column_vector, as_floats, as_vector, check_integer, column_names, shown
from boostplug.data.boundaries import ids_of
from boostplug.data.inputs import check_has_column
from boostplug.data.tables import check_computed, is_frame, rows_of
from boostplug.datasets.ranking_data import RankingData
from boostplug.selection.folds import blocks_by_time, times_of_queries

DEFAULT_SPLIT = (0.6, 0.2, 0.2)
FOLDS, FEW_FOR_FOLDS = 5, 1000  # by default, for one table with fewer queries that hold a pair
_NAMES = {"train": 0, "training": 0, "valid": 1, "vali": 1, "validation": 1, "dev": 1, "test": 2}
_SEED = 0  # of the random order of queries


class QuerySplit(NamedTuple):
    """Division of a table by query, by the arguments of `compare`. Without any, the number of queries decides."""

    split: Any = None
    folds: int | None = None

    @property
    def time(self) -> str | None:
        """The column of times by which the table is split, if any."""
        match self.split:
            case ("time", str(column)) if column:
                return column
        return None

    @property
    def column(self) -> str | None:
        """The column that decides, if any."""
        return self.time or (self.split if isinstance(self.split, str) else None)

    def check(self) -> None:
        """Raise for invalid arguments."""
        split = DEFAULT_SPLIT if self.split is None else self.split
        if self.column is None and not _are_shares(split):
            raise ValueError(
                "split must be three shares above 0 that sum to 1, such as (0.6, 0.2, 0.2), the name of a column that "
                f"holds 'train', 'valid' and 'test', or ('time', column), --split time,COLUMN; got {shown(split)}"
            )
        if self.folds is not None:
            check_integer("folds", self.folds, 3, remedy="5 is the default for few queries; for one split pass split")
            if self.split is not None:
                raise ValueError("folds and split both divide the table; leave one out")

    def rows(self, ids: NDArray[Any], y: Floats, values: Any, qid: str = "qid") -> list[list[Ints]]:
        """Return the rows of the three parts of each fold, those of a query together.

        Parameters
        ----------
        ids, y : ndarray of shape (n_rows,)
        values : ndarray of shape (n_rows,), or None
            Of the column that decides.
        qid : str
            Name of the column of ids, in messages.
        """
        _, first, query = np.unique(ids.astype(str), return_index=True, return_inverse=True)
        order = np.argsort(first[query], kind="stable")  # queries by first row, their rows adjacent
        if self.split is None and (block := _drawn_blocks(y, query, self.folds)) is not None:
            blocks = [order[block[query][order] == k] for k in range(block.max() + 1)]
            turned = [[*blocks[f:], *blocks[:f]] for f in range(len(blocks))]
            return [[np.concatenate(training), valid, test] for test, valid, *training in turned]
        if values is None:
            part = _drawn_parts(len(first), DEFAULT_SPLIT if self.split is None else self.split, qid)[query]
        elif self.time is not None:
            times = times_of_queries(self.time, values, first, query)
            part = blocks_by_time(times, DEFAULT_SPLIT, "a training, validation and test part by time")[query]
        else:
            part = _named_parts(as_vector("split", values), query, first, self.split)
        return [[order[part[order] == k] for k in range(3)]]


def _are_shares(split: Any) -> bool:
    return (
        isinstance(split, tuple)
        and len(split) == len(DEFAULT_SPLIT)
        and all(isinstance(share, Real) and float(share) > 0.0 for share in split)
        and isclose(sum(split), 1.0)
    )


def _drawn_blocks(y: Floats, query: Ints, folds: int | None) -> Ints | None:
    """Return the block of each query, None if one split is to do.

    The blocks have equally many queries that hold a pair, as far as possible.
    """
    n_queries = query.max(initial=-1) + 1
    low, high = np.full(n_queries, np.inf), np.full(n_queries, -np.inf)
    np.minimum.at(low, query, y)
    np.maximum.at(high, query, y)
    n_pairs = int((low < high).sum())
    if folds is None:
        folds = FOLDS if 2 * FOLDS <= n_pairs < FEW_FOR_FOLDS else 1
    elif folds > n_pairs:
        raise ValueError(f"folds={folds}, but only {n_pairs} queries hold two different labels; pass fewer folds")
    if folds == 1:
        return None
    drawn = np.random.default_rng(_SEED).permutation(n_queries)
    drawn = drawn[np.argsort((low == high)[drawn], kind="stable")]
    block = np.empty(n_queries, np.int64)
    block[drawn] = np.arange(n_queries) % folds
    return block


def _drawn_parts(n_queries: int, shares: Any, qid: str) -> Ints:
    """Return the part of each query, drawn by shares."""
    if n_queries < len(DEFAULT_SPLIT):
        raise ValueError(
            f"a split into three parts needs at least 3 queries; train has {n_queries}. Is {qid!r} the column of query "
            "ids? Pass qid= (--qid)."
        )
    edges = np.clip(np.round(np.cumsum(shares)[:2] * n_queries).astype(int), [1, 2], [n_queries - 2, n_queries - 1])
    return np.searchsorted(edges, np.random.default_rng(_SEED).permutation(n_queries), side="right")


def _named_parts(names: NDArray[Any], query: Ints, first: Ints, column: str) -> Ints:
    """Return the part of each row from its name. `first` is the first row of each query."""
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


def part_of(data: Any, rows: Ints) -> Any:
    """Return some rows of a table or a `RankingData`, those of a query together."""
    if not isinstance(data, RankingData):
        return rows_of(data, rows)
    names = ("y", "qid", "doc_ids", "weight", "position")
    taken: dict[str, Any] = {name: data[name][rows] for name in names if data[name] is not None}
    labels = {name: values[rows] for name, values in data.labels.items()}
    return RankingData(rows_of(data.X, rows), labels=labels, feature_names=data.feature_names, **taken)


def split_queries(
    data: Any, *, qid: Any = "qid", split: Any = None, folds: int | None = None, label: Any = None
) -> Any:
    """Return the training, validation and test part of a table or an array, as `compare` splits one table.

    The rows of a query stay together, in the order of the queries' first rows.

    Parameters
    ----------
    data : DataFrame of pandas, polars or pyarrow, array-like of shape (n_rows, ...), or RankingData
    qid : str or array-like of shape (n_rows,), default "qid"
        The column of the query ids, or the ids. Arrays that are split by the same ids fit each other. A `RankingData`
        has its own.
    split : three shares, str or ("time", column), optional
        As for `compare`: the shares of the queries, drawn with a fixed seed; a column that holds "train", "valid" or
        "test"; or a column of times, by which the first 60 % of the queries train and the last 20 % test. Default: the
        shares (.6, .2, .2).
    folds : int, optional
        Number of folds, from 3, in place of `split`. Each query is in the test part of one fold, and in the validation
        part of another one. They are the folds of ``compare(data, folds=…)``.
    label : str or array-like of shape (n_rows,), optional
        The column of the labels, or the labels, for `folds`, which share the queries with different labels evenly.

    Returns
    -------
    train, valid, test : of the type of `data`
        With all columns; or, with `folds`, a list of such triples.

    Raises
    ------
    ValueError
        If a column is missing, ids do not fit the data, there are fewer than three queries, or `folds` come without
        `label`.

    Examples
    --------
    >>> import numpy as np
    >>> train, valid, test = split_queries(np.arange(10), qid=np.repeat(range(5), 2))
    >>> len(train), len(valid), len(test)
    (6, 2, 2)
    """
    split = split.tolist() if isinstance(split, np.ndarray) else split
    split = DEFAULT_SPLIT if split is None and folds is None else split
    by_query = QuerySplit(split if isinstance(split, str) or not np.iterable(split) else tuple(split), folds)
    by_query.check()
    check_computed(data, "data")
    if isinstance(data, Mapping):
        data = RankingData(**data)
        table, qid, label = data.X, data.qid, data.y
    else:
        table = data = data if is_frame(data) or hasattr(data, "nnz") else np.asarray(data)
    there, column = column_names(table), by_query.column
    for name, argument in ((qid, "qid"), (label, "label"), (column, "split")):
        if isinstance(name, str):
            check_has_column(name, argument, there)
    if folds is not None and label is None:
        raise ValueError("folds share the queries with different labels evenly, and label is missing; pass label=")
    ids = ids_of("qid", table[qid] if isinstance(qid, str) else qid)
    labels = np.zeros(len(ids)) if folds is None else table[label] if isinstance(label, str) else label
    y = as_floats("label", as_column_vector("label", labels))
    for given, what in ((ids, "qid must have one id"), (y, "label must have one value")):
        if (len(given),) != table.shape[:1]:
            raise ValueError(f"{what} per row of data; got {len(given)}, and data of shape {table.shape}")
    values = None if column is None else np.asarray(table[column])
    parts = [tuple(part_of(data, rows) for rows in fold) for fold in by_query.rows(ids, y, values)]
    return parts if folds else parts[0]
