"""`ParquetTable`: Parquet files as one table, read by pyarrow a few rows at a time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import refuse_rounded_ids, refuse_weights, refuse_where, shown
from boostplug.core.extras import needed_by

with needed_by("Parquet files are read by", "pyarrow"):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

_ROWS = 1 << 15  # that are read at once
_BUFFER = 1 << 16  # bytes of each column that are read ahead; the default is complete row groups
_INDEX = ("__index_level_", "__null_dask_index__")  # how names of columns begin that hold an index of pandas or Dask
_NUMBERS = ("integer", "floating", "boolean", "decimal", "null")  # as in pyarrow.types.is_integer
_INTEGERS = ("integer", "floating", "null")  # pandas writes the ids of a file without rows as null
_IDS = (*_INTEGERS, "string", "large_string", "string_view", "dictionary", "decimal", "date", "timestamp")


class Piece(NamedTuple):
    """Rows that stand together in a file; `runs` are their ids as a pyarrow.RunEndEncodedArray."""

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    weight: NDArray[np.float64]
    runs: Any


class ParquetTable:
    """Parquet files as one table, in the order given.

    Parameters
    ----------
    paths : sequence of Path
    label, qid, weight : str
        Columns.
    features : sequence of str, optional
        Columns. Default: all others of the first file, except an index of pandas.
    """

    def __init__(
        self, paths: Sequence[Path], label: str, qid: str, weight: str | None, features: Sequence[str] | None
    ) -> None:
        self._paths, self._label, self._qid, self.weight = paths, label, qid, weight
        self._fields = [label, qid] if weight is None else [label, qid, weight]
        schemas = []
        for path in paths:
            with _opened(path) as file:
                schemas.append(file.schema_arrow)
        index = (schemas[0].pandas_metadata or {}).get("index_columns", ())
        others = [one for one in schemas[0].names if one not in [*self._fields, *index] and not one.startswith(_INDEX)]
        self.features = tuple(others if features is None else features)
        if not self.features:
            raise ValueError(f"{paths[0]} has no column beside {', '.join(map(repr, self._fields))}; it needs features")
        for path, schema in zip(paths, schemas, strict=True):
            for name in (*self._fields, *self.features):
                _check_column(path, schema, name, _IDS if name == qid else _NUMBERS)
        types = [schema.field(qid).type for schema in schemas]
        self._id_type = pa.uint64() if pa.uint64() in types else pa.int64()
        if not all(_is_any(kind, _INTEGERS) for kind in types):
            self._id_type = pa.large_string()

    def read(self, *features: str) -> Iterator[Piece]:
        """Yield all rows in order, read anew, with these features."""
        for path in self._paths:
            row = 0
            with _opened(path) as file:
                for batch in file.iter_batches(_ROWS, columns=[*self._fields, *features]):
                    place = f"{path}, counted from row {row}: "
                    y = _floats(batch, self._label).astype(np.float64)
                    refuse_where(f"{place}{self._label}", ~np.isfinite(y), y, "is not a finite label; drop such rows")
                    weight = np.ones(len(y)) if self.weight is None else _floats(batch, self.weight).astype(np.float64)
                    refuse_weights(f"{place}{self.weight}", weight)
                    X = np.empty((len(y), len(features)), np.float32)
                    with np.errstate(over="ignore"):
                        for j, name in enumerate(features):
                            X[:, j] = _floats(batch, name)
                    yield Piece(X, y, weight, self._runs(f"{place}{self._qid}", batch.column(self._qid)))
                    row += len(y)

    def queries(self) -> tuple[Any, NDArray[np.int64]]:
        """Return id and size of each query; check labels and weights, and refuse a query that appears again."""
        pieces = [piece.runs for piece in self.read()]
        if not pieces:
            raise ValueError(f"{self._paths[0]} holds no rows, nor do other files; check the path")
        lengths = np.concatenate([np.diff(piece.run_ends.to_numpy(), prepend=0) for piece in pieces])
        runs = pc.run_end_encode(pa.concat_arrays([piece.values for piece in pieces]))  # a query may go on in a piece
        group = np.add.reduceat(lengths, np.r_[0, runs.run_ends.to_numpy()[:-1]], dtype=np.int64)
        numbers = runs.values.dictionary_encode().indices.to_numpy()  # 0, 1, 2, … as ids appear first
        again = np.flatnonzero(numbers != np.arange(len(numbers)))
        if len(again):
            name = shown(runs.values[again[0]].as_py())
            what = f"query {name} appears again after other queries"
            raise ValueError(f"{self._place(group[: again[0]].sum())}: {what}; sort the rows by query first (stably)")
        return runs.values, group

    def stamps(self) -> list[tuple[int, int]]:
        """Return size and time of change of each file."""
        return [(path.stat().st_size, path.stat().st_mtime_ns) for path in self._paths]

    def _place(self, row: int) -> str:
        """Return the file of a row, and its number there."""
        ends = np.cumsum([0, *(pq.read_metadata(path).num_rows for path in self._paths)])
        file = int(np.searchsorted(ends, row, "right")) - 1
        return f"{self._paths[file]}, row {row - ends[file]}"

    def _runs(self, place: str, ids: Any) -> Any:
        """Return ids as runs of rows with one id."""
        if ids.null_count:
            raise ValueError(f"{place} has {ids.null_count} missing ids; give each row the id of its query, or drop it")
        if pa.types.is_floating(ids.type):
            refuse_rounded_ids(place, ids.to_numpy(zero_copy_only=False))
        try:
            return pc.run_end_encode(ids.cast(self._id_type))
        except pa.ArrowInvalid as error:
            raise ValueError(f"{place}: {error}; write ids as integers or as text") from None


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file; errors of a damaged one come with its name."""
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        what = f"{path} is not a Parquet file, or it is damaged"
        raise ValueError(f"{what} ({shown(str(error))}); write it again, or leave it out") from None


def _check_column(path: Path, schema: Any, name: str, kinds: Sequence[str]) -> None:
    """Refuse a column that is not there once, or is of another kind."""
    if schema.get_field_index(name) < 0:
        raise ValueError(f"{path} must have one column {name!r}; it has {shown(schema.names)}")
    kind = schema.field(name).type
    if not _is_any(kind, kinds):
        what = f"{path}: the column {name!r} holds {kind}, not one of {', '.join(kinds)}"
        raise ValueError(f"{what}; convert it (text to codes, say), or choose other columns (features=[…])")


def _is_any(kind: Any, names: Sequence[str]) -> bool:
    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)


def _floats(batch: Any, name: str) -> NDArray[np.floating[Any]]:
    """Return a column of numbers of any type as floats, NaN where one is missing."""
    column = batch.column(name)
    numbers = column if pa.types.is_floating(column.type) else column.cast(pa.float64(), safe=False)
    values: NDArray[np.floating[Any]] = numbers.to_numpy(zero_copy_only=False)
    return values
