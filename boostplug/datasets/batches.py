"""`batches_by_query`: Parquet files that are larger than memory, in batches of complete queries."""

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.core.checks import check_column_names, check_integer, did_you_mean, shown
from boostplug.core.extras import needed_by
from boostplug.data.files import files_in
from boostplug.datasets.letor import texts_of
from boostplug.datasets.ranking_data import RankingData

_ROWS = 1 << 17
_AT_ONCE = 1 << 15  # rows read at once
_BUFFER = 1 << 16  # bytes of each column that are read ahead; the default is complete row groups
_NUMBERS = ("integer", "floating", "boolean", "decimal", "null")  # as in pyarrow.types.is_integer
# The ids of a file without rows are null, as pandas writes them.
_IDS = ("integer", "string", "large_string", "string_view", "null")
_INDEX = ("__index_level_", "__null_dask_index__")  # how names of columns begin that hold an index of pandas or Dask


def batches_by_query(
    path: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    label: str,
    qid: str,
    weight: str | None = None,
    rows: int = _ROWS,
    features: Sequence[str] | None = None,
) -> "QueryBatches":
    """Read Parquet files in batches of complete queries, for data that do not fit into memory.

    The guide on out-of-core data shows how XGBoost and LightGBM train on the batches.

    Parameters
    ----------
    path : str, path-like, or iterable of them
        A Parquet file, or a folder of Parquet files (in the natural order of their names: ``part.2`` before
        ``part.10``; names that start with ``_`` or ``.`` are skipped). Several are read as one, in the order given: a
        query may go on in the next.
    label, qid, weight : str
        Columns; `weight` is optional. Ids are integers or text; if files hold both, all become text. Weights are per
        row.
    rows : int, default 131072
        A batch takes as many complete queries as have no more rows than this together. A longer query is a batch of its
        own.
    features : sequence of str, optional
        Columns, in the order in which the batches have them: integers, floats, decimals, booleans. Default: all others
        of the first file, except an index that pandas or Dask has written. For a validation set pass
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
        If a column is missing or of another type. In a pass: if the files have changed since, the rows of a query do
        not stand together, over all files, or a label, id or weight is missing or invalid.

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
    QueryBatches(n_rows=5, n_features=1)
    [[0.5], [1.0], [3.0]] [1 1 2]
    [[1.0], [2.0]] [3 3]
    """
    fields = {"label": label, "qid": qid} | ({} if weight is None else {"weight": weight})
    chosen = None if features is None else [*features] if np.iterable(features) else [features]
    named = fields | {f"features[{i}]": name for i, name in enumerate(chosen or ())}
    check_column_names(named)
    if len({*named.values()}) < len(named):
        raise ValueError(f"label, qid, weight and features must be different columns; got {shown([*named.values()])}")
    return QueryBatches(_files(path), fields, chosen, check_integer("rows", rows, 1))


class QueryBatches:
    """Batches of complete queries, read from files in each pass anew; made by `batches_by_query`.

    Attributes
    ----------
    n_rows : int
    feature_names : tuple of str
    """

    def __init__(self, files: Sequence[Path], fields: dict[str, str], features: list[str] | None, rows: int) -> None:
        with needed_by("Parquet files are read by", "pyarrow"):
            import pyarrow as pa
        self._files, self._fields, self._rows = files, fields, rows
        opened = [_parquet_file(file) for file in files]
        schemas = [file.schema_arrow for file in opened]
        self.n_rows = sum(file.metadata.num_rows for file in opened)
        taken = [*fields.values(), *(schemas[0].pandas_metadata or {}).get("index_columns", ())]
        others = [name for name in schemas[0].names if name not in taken and not name.startswith(_INDEX)]
        self.feature_names = tuple(others if features is None else features)
        if not self.feature_names or not self.n_rows:
            raise ValueError(f"{shown([*map(str, files)])} hold no rows, or no features; check path and columns")
        for file, schema in zip(files, schemas, strict=True):
            for name in (*fields.values(), *self.feature_names):
                _check_column(file, schema, name, is_id=name == fields["qid"])
        self._stamps = [*map(_stamp, files)]
        kinds = [schema.field(fields["qid"]).type for schema in schemas]
        fits = all(pa.types.is_null(kind) or (pa.types.is_integer(kind) and kind != pa.uint64()) for kind in kinds)
        columns = [*fields.values(), *self.feature_names]
        types = {name: pa.float32() if name in self.feature_names else pa.float64() for name in columns}
        self._schema = pa.schema(types | {fields["qid"]: pa.int64() if fits else pa.large_string()})

    def __repr__(self) -> str:
        return f"QueryBatches(n_rows={self.n_rows}, n_features={len(self.feature_names)})"

    def __iter__(self) -> Iterator[RankingData]:
        """Read the files, and yield batch after batch."""
        import pyarrow as pa

        if [*map(_stamp, self._files)] != self._stamps:
            raise ValueError("the files have changed since batches_by_query read them; call it again")
        rest, seen = self._schema.empty_table(), set[Any]()
        for file in self._files:
            with _parquet_file(file) as opened:
                for piece in opened.iter_batches(_AT_ONCE, columns=self._schema.names):
                    table = pa.table(piece).select(self._schema.names).cast(self._schema, safe=False)
                    rest = pa.concat_tables([rest, table])
                    while rest.num_rows > self._rows and (cut := self._cut(rest)):
                        yield self._batch(rest[:cut], file, seen)
                        rest = rest[cut:]
        yield self._batch(rest, self._files[-1], seen)

    def _cut(self, table: Any) -> int:
        """Return how many of the first rows are a batch; 0 if the first query does not end in the table."""
        import pyarrow.compute as pc

        ids = table[self._fields["qid"]]
        starts = np.flatnonzero(pc.not_equal(ids[1:], ids[:-1]).to_numpy()) + 1
        fitting = starts[starts <= self._rows]
        return int(fitting[-1]) if len(fitting) else int(starts[0]) if len(starts) else 0

    def _batch(self, table: Any, file: Path, seen: set[Any]) -> RankingData:
        """Return some complete queries. `seen` are the ids of earlier ones."""
        X = np.empty((table.num_rows, len(self.feature_names)), np.float32)
        for j, name in enumerate(self.feature_names):
            X[:, j] = table[name]
        columns = {name: table[column].to_numpy() for name, column in self._fields.items()}
        y, ids = columns.pop("label"), columns.pop("qid")
        ids = texts_of(ids.tolist()) if ids.dtype == object and None not in ids else ids
        queries = {*ids.tolist()}
        if again := seen.intersection(queries):
            raise ValueError(f"rows up to {file}: query {shown(min(again))} appears again; sort the rows by query")
        try:
            data = RankingData(X, y, qid=ids, feature_names=self.feature_names, **columns)
        except ValueError as error:
            raise ValueError(f"rows up to {file}: {error}") from None
        seen |= queries
        return data


def _parquet_file(path: Path) -> Any:
    """Open a file; errors of a damaged one come with its name."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is not a Parquet file, or it is damaged ({shown(str(error))})") from None


def _stamp(path: Path) -> tuple[int, int]:
    """Return size and time of change of a file."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _check_column(file: Path, schema: Any, name: str, *, is_id: bool) -> None:
    """Raise for a column that is not there once, or holds something else than numbers, or integers and text as ids."""
    from pyarrow import types

    if schema.get_field_index(name) < 0:
        near = did_you_mean(name, schema.names)
        raise ValueError(f"{file} must have one column {name!r}; it has {shown(schema.names)}{near}")
    kind = schema.field(name).type
    held = kind.value_type if is_id and types.is_dictionary(kind) else kind
    if not any(getattr(types, f"is_{known}")(held) for known in (_IDS if is_id else _NUMBERS)):
        remedy = "convert the ids to integers or text" if is_id else "make it numbers, or choose others by features=[…]"
        raise ValueError(f"{file}: column {name!r} holds {kind}; {remedy}")


def _files(path: Any) -> list[Path]:
    """Return the files that are meant, those of a folder in their natural order."""
    given = [*path] if np.iterable(path) and not isinstance(path, str) else [path]
    if not all(isinstance(one, (str, PathLike)) for one in given):
        raise ValueError(f"path must be a file, a folder of Parquet files, or a list of them; got {shown(path)}")
    files: list[Path] = []
    for one in map(Path, given):
        files += files_in(one) if one.is_dir() else [one]
    wrong = [file for file in files if not file.is_file()]
    if wrong or not files:
        raise FileNotFoundError(f"{[*wrong, path][0]} is neither a file nor a folder of Parquet files; check the path")
    return files
