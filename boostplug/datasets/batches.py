"""`batches_by_query`: Parquet files that are larger than memory, in batches of whole queries."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_column_names, check_integer, frozen, shown
from boostplug.core.extras import needed_by
from boostplug.core.threads import Computed
from boostplug.datasets.letor import natural
from boostplug.datasets.ranking_data import RankingData

if TYPE_CHECKING:
    from boostplug.datasets.parquet import ParquetPieces, Piece

__all__ = ["QueryBatches", "batches_by_query"]

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]

_ROWS = 1 << 17
_NO_ID: Any = object()


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
    error in them comes now, not in the middle of a training. Held beside one batch and a page or two of each column
    are 8 bytes for each query, 40 while all is read.

    Parameters
    ----------
    path : str, path-like, or iterable of them
        A Parquet file, a folder of Parquet files (in the natural order of their names: ``part.2`` before ``part.10``;
        what starts with ``_`` or ``.`` is passed over). Several are read as one, in the order given: a query may go on
        in the next.
    label, qid, weight : str
        Columns; `weight` is optional. Labels are finite numbers. Ids are integers or strings of any
        length, also dates and decimals, which become strings; none is missing. Weights are per row, 0 or from 1e-100 to
        1e100.
    rows : int, default 131072
        A batch takes as many whole queries as have no more rows than this together; a longer query is a batch of its
        own.
    features : sequence of str, optional
        Columns, in the order in which the batches have them: integers, floats, decimals, booleans. Default:
        all others of the first file, but not an index that pandas or Dask has written. For a validation set pass
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
        (strings, categories, dates), a label is not finite, an id missing. The message names file, row and id.

    Notes
    -----
    Features are rounded to float32, missing ones are NaN. That a query appears again is found by 64-bit hashes of the
    ids, and then checked by the ids themselves.

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
    check_column_names(named)
    fields = [*named.values()]
    if len(set(fields)) < len(fields):
        raise ValueError(f"label, qid and weight are three columns; got {', '.join(map(repr, fields))}")
    if features is not None:
        features = _checked_features(features, fields)
    paths = _files(path)
    from boostplug.datasets.parquet import ParquetPieces

    return QueryBatches(ParquetPieces(paths, label, qid, weight, features), rows)


class QueryBatches:
    """Batches of whole queries, read from files in each pass anew; made by `batches_by_query`.

    Attributes
    ----------
    n_rows, n_queries, n_features : int
    rows : int
        The most rows of a batch, but for longer queries.
    group : ndarray of shape (n_queries,), int64
        Sizes of the queries.
    feature_names : tuple of str
    """

    def __init__(self, pieces: "ParquetPieces", rows: int) -> None:
        self._pieces = pieces
        self.rows = rows
        group, self._uneven = _scan(pieces)
        self.group: NDArray[np.int64] = frozen(group)
        self.n_rows, self.n_queries = int(self.group.sum()), len(self.group)
        self.n_features, self.feature_names = pieces.n_features, pieces.feature_names

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
        rest = _cut(self._pieces.pieces(features=True), np.cumsum(self.group)[np.array(self._cuts[1:]) - 1])
        for first, last in pairwise(self._cuts):
            group = self.group[first:last]
            n_rows = int(group.sum())
            X, y = np.zeros((n_rows, self.n_features), np.float32), np.empty(n_rows)
            weight = np.empty(n_rows) if self._pieces.weighted else None
            ids: list[Any] = []
            starts: list[int] = []
            row = 0
            while row < n_rows:
                taken = next(rest, None)
                if taken is None:
                    raise _changed()
                piece, at, stop = taken
                rows = slice(row, row + stop - at)
                piece.fill(at, stop, X[rows])
                y[rows] = piece.y[at:stop]
                if weight is not None:
                    assert piece.weight is not None
                    weight[rows] = piece.weight[at:stop]
                runs = slice(
                    int(np.searchsorted(piece.starts, at, "right")) - 1, int(np.searchsorted(piece.starts, stop))
                )
                for start, id_ in zip(piece.starts[runs].tolist(), piece.ids[runs], strict=True):
                    if not ids or ids[-1] != id_:
                        ids.append(id_)
                        starts.append(row + max(start - at, 0))
                row = rows.stop
            if not np.array_equal(np.diff([*starts, n_rows]), group):
                raise _changed()
            yield RankingData(X=X, y=y, qid=self._pieces.qids(ids, group), group=group, weight=weight)
            del X, y, weight  # before the next are made
        if next(rest, None) is not None:
            raise _changed()

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
        FileNotFoundError
            If `cache_prefix` names a folder that is not there.
        ImportError
            If XGBoost is not installed.
        ValueError
            If weights differ within a query: XGBoost has one weight for each query. LightGBM takes weights per row.
        """
        if self._uneven is not None:
            raise ValueError(
                f"the weights of query {shown(self._uneven)} differ, and a DMatrix has one weight per query; write one "
                "for all rows of a query, or train by LightGBM (sequence()), which has weights per row"
            )
        with needed_by("QueryBatches.data_iter needs", "xgboost"):
            from boostplug.datasets.xgboost_batches import BatchIter
        prefix = None if cache_prefix is None else str(cache_prefix)
        if prefix is not None and not Path(prefix).parent.is_dir():
            raise FileNotFoundError(
                f"there is no folder {Path(prefix).parent} for cache_prefix={prefix!r}; make it first"
            )
        return BatchIter(self, self.feature_names, prefix, on_host=on_host)

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
        y = np.empty(self.n_rows)
        weight = np.empty(self.n_rows) if self._pieces.weighted else None
        row = 0
        for piece in self._pieces.pieces(features=False):
            rows = slice(row, row + piece.n_rows)
            if rows.stop > self.n_rows:
                raise _changed()
            y[rows] = piece.y
            if weight is not None:
                weight[rows] = piece.weight
            row = rows.stop
        if row < self.n_rows:
            raise _changed()
        return {"label": y, "group": self.group, "weight": weight, "feature_name": list(self.feature_names)}

    @Computed
    def _cuts(self) -> list[int]:
        """The first query of each batch, and the number of queries."""
        ends = np.r_[0, np.cumsum(self.group)]
        cuts = [0]
        while cuts[-1] < self.n_queries:
            most = min(int(ends[cuts[-1]]) + self.rows, self.n_rows)
            fits = int(np.searchsorted(ends, most, "right")) - 1
            cuts.append(max(fits, cuts[-1] + 1))
        return cuts


def _cut(pieces: "Iterator[Piece]", ends: NDArray[np.int64]) -> "Iterator[tuple[Piece, int, int]]":
    """Yield each piece, and from where to where some of its rows stand, cut at the rows where batches end."""
    row = 0
    for piece in pieces:
        inside = ends[(ends > row) & (ends < row + piece.n_rows)] - row
        for start, stop in pairwise([0, *inside.tolist(), piece.n_rows]):
            yield piece, start, stop
        row += piece.n_rows


def _scan(pieces: "ParquetPieces") -> tuple[NDArray[np.int64], Any]:
    """Return the sizes of the queries, and the id of the first whose weights differ, or None; refuse repeated ids."""
    firsts, hashes = array("q"), array("q")  # row of each query, and hash of its id
    n_rows, uneven = 0, None
    last_id, last_weight = _NO_ID, np.nan
    for piece in pieces.pieces(features=False):
        begins = []
        for start, id_ in zip(piece.starts.tolist(), piece.ids, strict=True):
            if id_ != last_id:
                begins.append(start)
                hashes.append(hash(id_))
                last_id = id_
        firsts.extend(n_rows + start for start in begins)
        if piece.weight is not None and uneven is None:
            differs = np.diff(piece.weight, prepend=last_weight) != 0.0
            differs[begins] = False
            if differs.any():
                uneven = piece.ids[int(np.searchsorted(piece.starts, np.argmax(differs), "right")) - 1]
            last_weight = piece.weight[-1]
        n_rows += piece.n_rows
    if not n_rows:
        raise ValueError("the files hold no rows; check the path")
    found, times = np.unique(np.frombuffer(hashes, np.int64), return_counts=True)
    if (times > 1).any():
        _refuse_repeats(pieces, set(found[times > 1].tolist()))
    return np.diff(np.r_[np.frombuffer(firsts, np.int64), n_rows]), uneven


def _refuse_repeats(pieces: "ParquetPieces", hashes: set[int]) -> None:
    """Raise for the first id that appears again; different ids of one hash are none."""
    begun: dict[Any, str] = {}
    last = _NO_ID
    for piece in pieces.pieces(features=False):
        for run, id_ in enumerate(piece.ids):
            if id_ != last and hash(id_) in hashes:
                if id_ in begun:
                    raise ValueError(
                        f"{piece.place(run)}: query {shown(id_)} appears again after other queries (it starts at "
                        f"{begun[id_]}); sort the rows by query first (stably), or give each query an id of its own"
                    )
                begun[id_] = piece.place(run)
            last = id_


def _changed() -> ValueError:
    return ValueError("the files have changed since batches_by_query read them; call it again")


# --- Files ---------------------------------------------------------------------------------------------------------


def _files(path: Any) -> list[Path]:
    """Return the files that are meant, folders opened."""
    given = [path] if isinstance(path, (str, PathLike)) else _listed(path)
    files: list[Path] = []
    for one in given or [None]:
        if not isinstance(one, (str, PathLike)):
            raise ValueError(f"path must be a file, a folder of Parquet, or a list of one or more; got {shown(path)}")
        where = Path(one)
        if not where.exists():
            raise FileNotFoundError(f"there is no file or folder {where}; check the path")
        files += _files_of_folder(where) if where.is_dir() else [where]
    for file in files:
        with file.open("rb") as opened:
            if opened.read(4) != b"PAR1":
                raise ValueError(f"{file} is no Parquet file, or a damaged one; write it anew, or leave it out")
    return files


def _listed(values: Any) -> list[Any]:
    """Return the elements of what can be iterated over, none of what cannot."""
    try:
        return [*values]
    except TypeError:  # NumPy's arrays without a dimension say that they can be
        return []


def _files_of_folder(folder: Path) -> list[Path]:
    files = sorted((entry for entry in folder.iterdir() if entry.name[0] not in "._"), key=natural)
    if not files:
        raise FileNotFoundError(f"{folder} holds no Parquet files: it is empty, or all that it has is hidden")
    for file in files:
        if file.is_dir():
            raise ValueError(
                f"{folder} holds the folder {file.name}; pass a list of files and of folders with files alone (what "
                "names of folders say, as in day=1, is not read)"
            )
    return files


def _checked_features(features: Any, fields: list[str]) -> list[str]:
    names = [] if isinstance(features, str) else _listed(features)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"features must be a list of names of columns, each once; got {shown(features)}")
    used = next((name for name in names if name in fields), None)
    if used is not None:
        raise ValueError(f"features holds {used!r}, which is the label, the qid or the weight; leave it out")
    return names
