"""`group_folds`, `time_folds`: folds for cross-validation that never split a query."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Ints
from boostplug.core.checks import as_vector, check_flag, check_integer, check_order, check_values, shown
from boostplug.core.randomness import RandomState, generator
from boostplug.data.queries import Queries


class GroupSizes(NamedTuple):
    """Sizes of the queries on both sides of a fold, in row order: `group` for LightGBM and XGBoost."""

    train: Ints
    test: Ints


class Folds(list[tuple[Ints, Ints]]):
    """The folds: a list of ``(train rows, test rows)``, which is also a scikit-learn splitter.

    Attributes
    ----------
    groups : list of GroupSizes
        Per fold ``(train sizes, test sizes)``.
    n_rows : int
    """

    def __init__(self, folds: list[tuple[Ints, Ints]], groups: list[GroupSizes], n_rows: int) -> None:
        super().__init__(folds)
        self.groups = groups
        self.n_rows = n_rows

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self), self.groups, self.n_rows)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:  # noqa: ARG002
        """Yield the folds, after a check that `X` has the rows they were made for."""
        n_rows = self.n_rows if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != self.n_rows:
            raise ValueError(
                f"the folds were made for {self.n_rows} rows, the data has {n_rows}; make them from its qid"
            )
        yield from self

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds."""
        return len(self)


def group_folds(
    qid_or_queries: ArrayLike | Queries, n_splits: int = 5, *, shuffle: bool = False, random_state: RandomState = None
) -> Folds:
    """Return folds that never split a query, balanced in queries and in documents.

    Over scikit-learn's ``GroupKFold``: the sizes of the queries come along, and shuffled folds are balanced too.
    Between any two folds the numbers of test queries differ by at most one. The numbers of test documents differ by at
    most the longest query. Shuffled folds of `Queries` also share those with different labels evenly. The numbers of
    documents then differ by at most twice the longest query.

    Parameters
    ----------
    qid_or_queries : array-like of shape (n_rows,) or Queries
        Query id of each row, the rows of a query together; or the `Queries`. Queries without rows are in no fold.
    n_splits : int, default=5
        Number of folds: at least 2, at most the number of queries.
    shuffle : bool, default=False
        Draw the folds at random. Otherwise each query goes to the fold with the fewest documents, longest first.
    random_state : int, numpy Generator or RandomState, optional
        Seed, only with ``shuffle=True``.

    Returns
    -------
    Folds
        A list of ``(train rows, test rows)``, row indices ascending, with the sizes of the queries as ``groups``.

    Raises
    ------
    ValueError
        If `n_splits` is below 2 or above the number of queries, if `random_state` comes without `shuffle`, or if the
        rows of a query do not stand together.

    Notes
    -----
    - ``lgb.cv(params, dataset, folds=folds)`` (LightGBM's own folds split queries unless the objective is a built-in
      ranking one), ``GridSearchCV(estimator, grid, cv=folds)``, ``cross_validate(…, cv=folds)``.
    - ``xgb.cv`` refuses ``folds=`` for a DMatrix with queries. It makes folds of complete queries by itself, so pass it
      ``nfold=`` and ``seed=`` only. To train on these very folds, slice the matrix::

          for (train, test), groups in zip(folds, folds.groups):
              dtrain = dmatrix.slice(train, allow_groups=True)
              dtrain.set_group(groups.train)

      Weights then have to be set as well: XGBoost's are one per query, and ``slice`` cuts them by rows.

    Examples
    --------
    >>> folds = group_folds([7, 7, 7, 8, 9, 9], n_splits=2)
    >>> for train, test in folds:
    ...     print(train, test)
    [3 4 5] [0 1 2]
    [0 1 2] [3 4 5]
    >>> folds.groups[0].train
    array([1, 2])
    """
    queries = qid_or_queries
    if not isinstance(queries, Queries):
        queries = _queries_of("qid_or_queries", qid_or_queries, ", or be a Queries")
    sizes = queries.group
    present = np.flatnonzero(sizes > 0)
    n_splits, shuffle = check_integer("n_splits", n_splits, 2), check_flag("shuffle", shuffle)
    if n_splits > len(present):
        raise ValueError(
            f"n_splits={n_splits} folds need as many queries, but only {len(present)} have rows; pass fewer folds"
        )
    if random_state is not None and not shuffle:
        raise ValueError(f"random_state={shown(random_state)} has no effect without shuffle=True; pass both or neither")

    first = np.isin(present, queries.grade_groups.query) & shuffle
    fold = _fold_of(sizes[present], first, n_splits, generator(random_state) if shuffle else None)
    fold_of_query = np.full(queries.n_queries, -1)
    fold_of_query[present] = fold
    fold_of_row = fold_of_query[queries.query_of_row]
    folds = [(np.flatnonzero(fold_of_row != f), np.flatnonzero(fold_of_row == f)) for f in range(n_splits)]
    groups = [GroupSizes(sizes[present[fold != f]], sizes[present[fold == f]]) for f in range(n_splits)]
    return Folds(folds, groups, queries.n_rows)


def time_folds(qid: ArrayLike, time: ArrayLike, n_splits: int = 5) -> Folds:
    """Return folds that train on what came before, and test on what came after, in whole queries.

    The queries are cut by their time into n_splits + 1 blocks of about as many queries each. Each fold tests on one
    block, from the second on. It trains on all blocks before it, as scikit-learn's ``TimeSeriesSplit`` does by rows.
    Queries of the same time are in the same block.

    Parameters
    ----------
    qid : array-like of shape (n_rows,)
        Query id of each row, the rows of a query together.
    time : array-like of shape (n_rows,)
        Time of each row: numbers, dates, or strings in ISO 8601 such as "2026-07-01T12:00". All rows of a query have
        the same.
    n_splits : int, default=5
        Number of folds, at least 1.

    Returns
    -------
    Folds
        As `group_folds` returns them, the earliest first.

    Raises
    ------
    ValueError
        If a time is missing or cannot be read, the rows of a query have several, or there are too few different times.

    Examples
    --------
    >>> folds = time_folds([7, 7, 8, 9, 9], ["2026-03-01", "2026-03-01", "2026-01-01", "2026-02-01", "2026-02-01"], 2)
    >>> for train, test in folds:
    ...     print(train, test)
    [2] [3 4]
    [2 3 4] [0 1]
    """
    n_splits = check_integer("n_splits", n_splits, 1)
    check_order(qid=qid, time=time)
    queries = _queries_of("qid", qid)
    times = times_of_queries("time", time, queries.boundaries[:-1], queries.query_of_row)
    block = blocks_by_time(times, [1.0] * (n_splits + 1), f"n_splits={n_splits} folds")
    of_row, sizes = block[queries.query_of_row], queries.group
    after = range(1, n_splits + 1)
    folds = [(np.flatnonzero(of_row < b), np.flatnonzero(of_row == b)) for b in after]
    return Folds(folds, [GroupSizes(sizes[block < b], sizes[block == b]) for b in after], queries.n_rows)


def times_of_queries(name: str, time: ArrayLike, first: Ints, query: Ints) -> NDArray[Any]:
    """Return the time of each query, which all of its rows must have.

    Parameters
    ----------
    name : str
        Of `time`, for messages.
    time : array-like of shape (n_rows,)
    first : ndarray of shape (n_queries,)
        The first row of each query.
    query : ndarray of shape (n_rows,)
        The query of each row.
    """
    times = as_vector(name, time)
    if len(times) != len(query):
        raise ValueError(f"{name} has {len(times)} values, and qid {len(query)}; pass one for each row")
    if times.dtype.kind not in "biufM":
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # times with a zone become UTC
                times = times.astype("datetime64[us]")
        except (TypeError, ValueError, OverflowError):
            why = 'numbers, dates, or strings in ISO 8601 such as "2026-07-01T12:00"'
            raise ValueError(f"{name} must hold {why}; got {shown(times[0])}") from None
    check_values(
        name, np.isnat(times) if times.dtype.kind == "M" else np.isnan(times), times, "is not a time; drop the row"
    )
    of_query = times[first]
    why = "is another time than that of the query's first row; give all rows of a query one time, such as the earliest"
    check_values(name, times != of_query[query], times, why)
    return of_query


def blocks_by_time(times: NDArray[Any], shares: Sequence[float], what: str) -> Ints:
    """Return the block of each query, from 0: cut where the time changes, as near to the shares as can be."""
    different, of_query, count = np.unique(times, return_inverse=True, return_counts=True)
    n_blocks, before = len(shares), np.r_[0, np.cumsum(count)]
    if len(different) < n_blocks:
        raise ValueError(f"{what} need at least {n_blocks} different times of queries; there are {len(different)}")
    cuts = [0]
    for b, share in enumerate(np.cumsum(shares)[:-1] / np.sum(shares), 1):
        nearest = int(np.argmin(np.abs(before - share * len(times))))
        cuts.append(min(max(nearest, cuts[-1] + 1), len(different) - (n_blocks - b)))
    return np.searchsorted(cuts, of_query, side="right") - 1


def _fold_of(sizes: Ints, first: NDArray[np.bool_], n_splits: int, random: np.random.Generator | None) -> Ints:
    """Return the fold of each query. Those that come `first` are divided first.

    Longest first, each block of `n_splits` queries gives one query to each fold. So whatever the order within a block,
    the documents of two folds differ by the sum over blocks of (longest − shortest) at most. That sum telescopes.
    """
    order = np.arange(len(sizes)) if random is None else random.permutation(len(sizes))
    order = order[np.lexsort((-sizes[order], ~first[order]))]
    fold = np.empty(len(sizes), np.int64)
    load = np.zeros(n_splits, np.int64)
    for low in range(0, len(sizes), n_splits):
        block = order[low : low + n_splits]
        to = np.argsort(load, kind="stable") if random is None else random.permutation(n_splits)
        to = to[: len(block)]
        fold[block] = to
        load[to] += sizes[block]
    return fold


def _queries_of(name: str, qid: Any, otherwise: str = "") -> Queries:
    if not hasattr(qid, "__len__") or getattr(qid, "ndim", 1) == 0:
        raise ValueError(f"{name} must hold the query id of each row{otherwise}; got {shown(qid)}")
    return Queries(np.zeros(len(qid)), qid=qid)
