"""`ParquetPieces`: Parquet files, read by pyarrow some rows at a time, each of them a `Piece`."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import refuse_rounded_ids, refuse_weights, refuse_where, shown
from boostplug.core.extras import needed_by

with needed_by("Parquet files are read by", "pyarrow"):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

__all__ = ["ParquetPieces", "Piece"]

_ROWS = 1 << 15  # of a piece
_WIDEST = 64  # characters of an id that each row holds itself
_BUFFER = 1 << 16  # bytes of each column that are read ahead; without it, whole row groups are
_IS_NUMBER = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_decimal,
    pa.types.is_null,
)
_IS_TEXT = (  # or becomes one
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_timestamp,
)
_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")  # what other tools make of it
_NUMBERS = "numbers (integers, floats, decimals, booleans)"


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows that stand together in a file.

    Attributes
    ----------
    path : Path
    row : int
        Of the file, the first of these.
    y : ndarray of shape (n_rows,), float64
        Finite.
    weight : ndarray of shape (n_rows,), float64, or None
    starts : ndarray of shape (n_runs,)
        The row at which each run of one query starts; the first is 0, even if its query has begun in the piece before.
    ids : list
        Of each run: an int or a str.
    features : list of (str, pyarrow.Array)
        Columns by name; none where they were not asked for.
    """

    path: Path
    row: int
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    starts: NDArray[np.int64]
    ids: list[Any]
    features: list[tuple[str, Any]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def place(self, run: int) -> str:
        """Say where a run starts, for messages."""
        return f"{self.path}, row {self.row + int(self.starts[run])}"

    def fill(self, start: int, stop: int, X: NDArray[np.float32]) -> None:
        """Write the features of some rows."""
        for j, (name, values) in enumerate(self.features):
            column = _as_numpy(values.slice(start, stop - start))
            with np.errstate(over="ignore"):
                X[:, j] = column
            if column.dtype.kind == "f" and column.dtype.itemsize > 4:
                beyond = np.isinf(X[:, j]) & np.isfinite(column)
                if beyond.any():
                    at = int(np.argmax(beyond))
                    what = f"{name!r} is {column[at]}, beyond float32"
                    raise ValueError(f"{self.path}, row {self.row + start + at}: {what}; rescale it, or write inf")


class ParquetPieces:
    """Parquet files as one table, in the order given.

    Parameters
    ----------
    paths : sequence of Path
    label, qid, weight
        Names of columns.
    features : sequence of str, optional
        Default: all other columns of the first file, without a pandas index.
    """

    def __init__(
        self, paths: Sequence[Path], label: str, qid: str, weight: str | None, features: Sequence[str] | None
    ) -> None:
        self._paths, self._label, self._qid, self._weight = paths, label, qid, weight
        self.weighted = weight is not None
        self._fields = [name for name in (label, qid, weight) if name is not None]
        names = _names_of(paths[0]) if features is None else [*features]
        self.feature_names: tuple[str, ...] = tuple(
            name for name in names if features is not None or name not in self._fields
        )
        if not self.feature_names:
            raise ValueError(f"{paths[0]} has no column beside {', '.join(map(repr, self._fields))}; it needs features")
        self.n_features = len(self.feature_names)
        self._id_type: Any = None
        for path in paths:
            self._check_schema(path, whole=features is None)

    def pieces(self, *, features: bool) -> Iterator[Piece]:
        """Yield all rows in order."""
        names = self.feature_names if features else ()
        for path in self._paths:
            row = 0
            with _opened(path) as file:
                for batch in file.iter_batches(_ROWS, columns=[*self._fields, *names]):
                    if batch.num_rows:
                        yield self._piece(path, row, batch, names)
                        row += batch.num_rows

    def qids(self, ids: list[Any], group: NDArray[np.int64]) -> NDArray[Any]:
        """Return the id of each row of some queries."""
        long = self._id_type is str and max(map(len, ids)) > _WIDEST
        return np.repeat(np.array(ids, object if long else self._id_type), group)

    def _piece(self, path: Path, row: int, batch: Any, names: Sequence[str]) -> Piece:
        starts, ids = _runs(f"{path}, counted from row {row}: {self._qid}", batch.column(self._qid), self._id_type)
        y = _floats(batch.column(self._label))
        finite = np.isfinite(y)
        if not finite.all():
            at = int(np.argmin(finite))
            raise ValueError(
                f"{path}, row {row + at}: the label {self._label!r} is {y[at]}, which is not finite; drop such rows"
            )
        weight = None if self._weight is None else _floats(batch.column(self._weight))
        if weight is not None:
            refuse_weights(f"{path}, counted from row {row}: {self._weight}", weight)
        return Piece(path, row, y, weight, starts, ids, [(name, batch.column(name)) for name in names])

    def _check_schema(self, path: Path, *, whole: bool) -> None:
        with _opened(path) as file:
            schema = file.schema_arrow
        twice = [name for name, times in Counter(schema.names).items() if times > 1]
        if twice:
            raise ValueError(f"{path} has several columns named {twice[0]!r}; rename them")
        for what, name in zip(("label", "qid", "weight"), (self._label, self._qid, self._weight), strict=True):
            if name is not None and name not in schema.names:
                raise ValueError(f"{path} has no column {name!r} for {what}; it has {_listed(schema.names)}")
        for name in self.feature_names:
            if name not in schema.names:
                raise ValueError(
                    f"{path} has no column {name!r}, a feature{f' of {self._paths[0].name}' if whole else ''}; it has "
                    f"{_listed(schema.names)}"
                )
            if not _is_number(schema.field(name).type):
                raise ValueError(
                    f"{path}: the column {name!r} holds {schema.field(name).type}, and features are {_NUMBERS}; write "
                    "numbers in its place (codes of categories, say), or name the features that you want, features=[…]"
                )
        more = set(_without_index(schema)) - {*self._fields, *self.feature_names}
        if whole and more:
            raise ValueError(
                f"{path} has a column {min(more)!r}, which {self._paths[0].name} has not; name the features that you "
                "want, features=[…]"
            )
        for what, name in (("label", self._label), ("weight", self._weight)):
            if name is not None and not _is_number(schema.field(name).type):
                raise ValueError(
                    f"{path}: the {what} {name!r} holds {schema.field(name).type}; it must hold {_NUMBERS}"
                )
        self._check_ids(path, schema.field(self._qid).type)

    def _check_ids(self, path: Path, kind: Any) -> None:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        types = pa.types
        if types.is_null(kind):  # a file without rows, as pandas writes it
            return
        if types.is_integer(kind) or types.is_floating(kind):
            id_type: Any = np.uint64 if kind == pa.uint64() else np.int64
        elif any(is_text(kind) for is_text in _IS_TEXT):
            id_type = str
        else:
            raise ValueError(
                f"{path}: the qid {self._qid!r} holds {kind}; ids are integers or strings, so write them as such"
            )
        if self._id_type not in (None, id_type):
            raise ValueError(
                f"{path}: the qid {self._qid!r} holds {kind}, and in other files another type; write all of them as "
                "one type"
            )
        self._id_type = id_type


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file; what pyarrow says of a damaged one comes with its name."""
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
            yield file
    except (pa.lib.ArrowException, OSError) as error:
        raise ValueError(f"{path} is damaged or cut short ({shown(str(error))}); write it again") from None


def _names_of(path: Path) -> list[str]:
    with _opened(path) as file:
        return _without_index(file.schema_arrow)


def _without_index(schema: Any) -> list[str]:
    """Return the names of columns but those of an index of pandas, which it writes as columns too."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return [name for name in schema.names if name not in index and not _INDEX.fullmatch(name)]


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:10])}{', …' if len(names) > 10 else ''}"


def _is_number(kind: Any) -> bool:
    return any(is_number(kind) for is_number in _IS_NUMBER)


def _as_numpy(column: Any) -> NDArray[Any]:
    """Return numbers, NaN where there is none."""
    types = pa.types
    if types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    elif types.is_decimal(column.type) or types.is_null(column.type):
        column = column.cast(pa.float64())
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def _floats(column: Any) -> NDArray[np.float64]:
    return np.array(_as_numpy(column), dtype=np.float64)


def _runs(name: str, column: Any, id_type: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Return where runs of one id start, and their ids."""
    if column.null_count:
        at = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(f"{name}[{at}] is missing; give each row the id of its query, or drop it")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if id_type is str:
        column = column.cast(pa.large_string())
        changes = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)).to_numpy(zero_copy_only=False)
        starts = np.r_[0, np.flatnonzero(changes) + 1]
        return starts, column.take(pa.array(starts)).to_pylist()
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        refuse_where(name, values != np.floor(values), values, "is no whole number; write ids as integers or text")
        refuse_rounded_ids(name, values)
    values = values.astype(id_type)
    starts = np.r_[0, np.flatnonzero(values[1:] != values[:-1]) + 1]
    return starts, values[starts].tolist()
