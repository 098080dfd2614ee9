"""`batches_by_query`: Parquet files that are larger than memory, in batches of whole queries."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_column_names, check_integer, frozen, shown
from boostplug.core.extras import needed_by
from boostplug.datasets.letor import natural, texts_of
from boostplug.datasets.ranking_data import RankingData

if TYPE_CHECKING:
    from boostplug.datasets.parquet import ParquetTable, Piece

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]

_ROWS = 1 << 17


def batches_by_query(
    path: Paths,
    *,
    label: str,
    qid: str,
    weight: str | None = None,
    rows: int = _ROWS,
    features: Sequence[str] | None = None,
) -> "QueryBatches":
    """Read Parquet files in batches of whole queries, for data that do not fit into memory.

    Labels, ids and weights are read once when this is called: the sizes of the queries are known from then on, and an
    error in them comes now, not in the middle of a training. The memory holds one batch, a page or two of each column,
    and the id and size of each query.

    Parameters
    ----------
    path : str, path-like, or iterable of them
        A Parquet file, a folder of Parquet files (in the natural order of their names: ``part.2`` before ``part.10``;
        what starts with ``_`` or ``.`` is passed over). Several are read as one, in the order given: a query may go on
        in the next.
    label, qid, weight : str
        Columns; `weight` is optional. Labels are finite numbers. Ids are integers or strings of any length, also dates
        and decimals, which become strings; none is missing. If files hold ids of several types, all become strings.
        Weights are per row, 0 or from 1e-100 to 1e100.
    rows : int, default 131072
        A batch takes as many whole queries as have no more rows than this together; a longer query is a batch of its
        own.
    features : sequence of str, optional
        Columns, in the order in which the batches have them: integers, floats, decimals, booleans. Default: all others
        of the first file, but not an index that pandas or Dask has written. For a validation set pass
        ``features=train.feature_names``.

    Returns
    -------
    QueryBatches
        Each pass over it reads the files again, and yields a `RankingData` for each batch.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    ImportError
        If pyarrow is not installed.
    ValueError
        If the rows of a query do not stand together, over all files; if a column is missing, features are no numbers
        (strings, categories, dates, lists), a label is not finite, an id missing. The message names file and column.

    Notes
    -----
    Features are rounded to float32, numbers beyond it are infinite, and missing ones are NaN.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [0.5, 1, 3, 1, 2], "grade": [2, 0, 1, 0, 1], "query": [1, 1, 2, 3, 3]})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.parquet")
    ...     frame.to_parquet(path)
    ...     batches = batches_by_query(path, label="grade", qid="query", rows=3)
    ...     print(batches)
    ...     for batch in batches:
    ...         print(batch.X.tolist(), batch.qid)
    QueryBatches(n_batches=2, n_queries=3, n_rows=5, n_features=1)
    [[0.5], [1.0], [3.0]] [1 1 2]
    [[1.0], [2.0]] [3 3]
    """
    rows = check_integer("rows", rows, 1)
    named = {"label": label, "qid": qid} | ({} if weight is None else {"weight": weight})
    chosen = None if features is None else [*features] if np.iterable(features) else [features]
    named |= {f"features[{i}]": name for i, name in enumerate(chosen or ())}
    check_column_names(named)
    if len({*named.values()}) < len(named):
        raise ValueError(f"label, qid, weight and features must be different columns; got {shown([*named.values()])}")
    from boostplug.datasets.parquet import ParquetTable

    return QueryBatches(ParquetTable(_files(path), label, qid, weight, chosen), rows)


class QueryBatches:
    """Batches of whole queries, read from files in each pass anew; made by `batches_by_query`.

    Attributes
    ----------
    n_rows, n_queries, n_features : int
    rows : int
        The most rows of a batch, except for longer queries.
    group : ndarray of shape (n_queries,), int64
        Sizes of the queries.
    feature_names : tuple of str
    """

    def __init__(self, table: "ParquetTable", rows: int) -> None:
        self.rows = rows
        self._table, self._stamps = table, table.stamps()
        self._ids, group = table.queries()
        self.group: NDArray[np.int64] = frozen(group)
        self.n_rows, self.n_queries = int(group.sum()), len(group)
        self.n_features, self.feature_names = len(table.features), table.features
        self._cuts = _cuts(group, rows)

    def __repr__(self) -> str:
        return (
            f"QueryBatches(n_batches={len(self)}, n_queries={self.n_queries}, n_rows={self.n_rows}, "
            f"n_features={self.n_features})"
        )

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._cuts) - 1

    def __iter__(self) -> Iterator[RankingData]:
        """Read the files, and yield batch after batch."""
        rest = self._read(*self.feature_names)
        piece, start = next(rest), 0
        for first, last in pairwise(self._cuts):
            group = self.group[first:last]
            n_rows = int(group.sum())
            X, y, weight = np.empty((n_rows, self.n_features), np.float32), np.empty(n_rows), np.empty(n_rows)
            row = 0
            while row < n_rows:
                if start == len(piece.y):
                    piece, start = next(rest), 0
                stop = min(start + n_rows - row, len(piece.y))
                rows = slice(row, row + stop - start)
                X[rows], y[rows], weight[rows] = (values[start:stop] for values in piece[:3])
                start, row = stop, rows.stop
            ids = self._ids[first:last].to_numpy(zero_copy_only=False)
            ids = texts_of(ids, group) if ids.dtype == object else ids
            yield RankingData(X=X, y=y, qid=np.repeat(ids, group), group=group, weight=weight)
            del X, y, weight  # before the next are made

    def data_iter(self, *, cache_prefix: str | PathLike[str] | None = None, on_host: bool = True) -> Any:
        """Return the batches as XGBoost takes them: an ``xgb.DataIter``.

        Give it to ``xgb.QuantileDMatrix`` (bins in memory: a byte for each value up to 256 bins), or with a
        `cache_prefix` to ``xgb.ExtMemQuantileDMatrix`` (bins on disk) or ``xgb.DMatrix`` (values on disk too). Queries
        are handed over as sizes, so that ids may be of any type and size. The model is that of all data in memory.

        Parameters
        ----------
        cache_prefix : str or path-like, optional
            How the names of cache files start; XGBoost removes them with the matrix. Without it they are written into
            the working directory.
        on_host : bool, default True
            As in ``xgb.DataIter``; it matters with a GPU alone.

        Raises
        ------
        ImportError
            If XGBoost is not installed.
        ValueError
            If weights differ within a query, while XGBoost reads: it has one weight for each query. LightGBM takes
            weights per row.
        """
        with needed_by("QueryBatches.data_iter needs", "xgboost"):
            from boostplug.datasets.xgboost_batches import BatchIter
        return BatchIter(self, self.feature_names, None if cache_prefix is None else str(cache_prefix), on_host=on_host)

    def sequence(self) -> Any:
        """Return the features as LightGBM takes them: an ``lgb.Sequence``; `fields` returns what else it needs.

        LightGBM reads the rows twice, each time from the first on: once to choose bins by a sample of 200,000 rows
        (``bin_construct_sample_cnt``), then to put all into bins. Rows out of that order are found by reading the files
        from the start again. The model is that of all data, as float32, in memory.

        Raises
        ------
        ImportError
            If LightGBM is not installed.

        Examples
        --------
        >>> import lightgbm as lgb  # doctest: +SKIP
        >>> train = lgb.Dataset(batches.sequence(), **batches.fields(), params={"max_bin": 255})  # doctest: +SKIP
        """
        with needed_by("QueryBatches.sequence needs", "lightgbm"):
            from boostplug.datasets.lightgbm_batches import BatchSequence
        return BatchSequence(self, self.n_rows)

    def fields(self) -> dict[str, Any]:
        """Return labels, sizes of queries, and names of features, and weights if there are some, read once more.

        Returns
        -------
        dict
            Arguments of ``lgb.Dataset``: `label` (n_rows,), `group` (n_queries,), `weight` (n_rows,) or None,
            `feature_name`, a list. 8 bytes for each row, or 16 with weights.
        """
        y, weight = map(np.concatenate, zip(*((piece.y, piece.weight) for piece in self._read()), strict=True))
        weights = None if self._table.weight is None else weight
        return {"label": y, "group": self.group, "weight": weights, "feature_name": list(self.feature_names)}

    def _read(self, *features: str) -> "Iterator[Piece]":
        if self._table.stamps() != self._stamps:
            raise ValueError("the files have changed since batches_by_query read them; call it again")
        return self._table.read(*features)


def _cuts(group: NDArray[np.int64], rows: int) -> list[int]:
    """Return the first query of each batch, and the number of queries."""
    ends = np.r_[0, np.cumsum(group)]
    cuts = [0]
    while cuts[-1] < len(group):
        most = min(int(ends[cuts[-1]]) + rows, int(ends[-1]))
        cuts.append(max(int(np.searchsorted(ends, most, "right")) - 1, cuts[-1] + 1))
    return cuts


# --- Files ---------------------------------------------------------------------------------------------------------


def _files(path: Any) -> list[Path]:
    """Return the files that are meant, those of a folder in their natural order."""
    given = [*path] if np.iterable(path) and not isinstance(path, str) else [path]
    if not all(isinstance(one, (str, PathLike)) for one in given):
        raise ValueError(f"path must be a file, a folder of Parquet files, or a list of them; got {shown(path)}")
    files: list[Path] = []
    for one in map(Path, given):
        inside = [entry for entry in one.iterdir() if entry.name[0] not in "._"] if one.is_dir() else [one]
        files += sorted(inside, key=natural)
    wrong = [file for file in files if not file.is_file()]
    if wrong or not files:
        raise FileNotFoundError(f"{[*wrong, path][0]} is neither a file nor a folder of Parquet files; check the path")
    return files
