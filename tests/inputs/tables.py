"""The kinds of tables: for each a function that builds it from named columns, and which kinds of columns it holds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from inputs.columns import GRADE, KINDS, NUMBERS, POSITION, QUERY, Kind
from scipy.sparse import csr_matrix

PARTS = {"train": slice(0, 42), "valid": slice(42, 54), "test": slice(54, None)}  # rows of complete queries
ALL = slice(None)


@dataclass(frozen=True)
class Table:
    """A kind of table. `build` gets a kind of column, rows, whether to add the labels and ids, and a folder."""

    build: Callable[..., Any]
    holds: Callable[[Kind], bool]
    named: bool = True
    is_file: bool = False
    in_parts: bool = False
    """Whether `bp.compare` gets training, validation and test data apart."""


@dataclass(frozen=True)
class Input:
    """A kind of table with a kind of column in it."""

    table: Table
    kind: Kind
    folder: Path | None = None

    def features(self, rows=ALL):
        """Return the table of the features."""
        return self.table.build(self.kind, rows, whole=False, folder=self.folder)

    def whole(self, rows=ALL):
        """Return the table of the features, the labels and the query ids, or the path of its file."""
        return self.table.build(self.kind, rows, whole=True, folder=self.folder)

    def plain(self):
        """Return the same kind of table with a column of integers."""
        return Input(self.table, KINDS["int"], self.folder)


def _numbers(rows, whole):
    """Return the columns beside c, as arrays."""
    more = {"grade": GRADE[rows], "query_id": QUERY[rows], "position": POSITION[rows]} if whole else {}
    return {name: values[rows] for name, values in NUMBERS.items()}, more


def _frame(column, rows, whole):
    first, last = _numbers(rows, whole)
    return pd.DataFrame({**first, "c": column, **last})


def _pandas(kind, rows=ALL, whole=False, **_):
    column = kind.categorical(rows) if kind.ordered is not None else pd.Series(kind.values(rows), dtype=kind.numpy)
    return _frame(column, rows, whole)


def _nullable(kind, rows=ALL, whole=False, **_):
    return _frame(pd.array(kind.values(rows), dtype=kind.nullable), rows, whole)


def _pyarrow(kind, rows=ALL, whole=False, **_):
    if kind.ordered is None:
        column = pa.array(kind.values(rows), type=kind.arrow)
    else:
        codes = pa.array(kind.categorical(rows).codes, type=kind.arrow.index_type)
        levels = pa.array(list(kind.levels), type=kind.arrow.value_type)
        column = pa.DictionaryArray.from_arrays(codes, levels, ordered=kind.ordered)
    first, last = _numbers(rows, whole)
    return pa.table({**first, "c": column, **last})


def _pandas_arrow(kind, rows=ALL, whole=False, **_):
    return _pyarrow(kind, rows, whole).to_pandas(types_mapper=pd.ArrowDtype)


def _polars(kind, rows=ALL, whole=False, **_):
    if kind.ordered is None:
        return pl.from_arrow(_pyarrow(kind, rows, whole))
    column = pl.Series(kind.values(rows), dtype=pl.Enum(kind.levels) if kind.ordered else pl.Categorical)
    first, last = _numbers(rows, whole)
    return pl.DataFrame({**first, "c": column, **last})


def _array(kind, rows=ALL, **_):
    """Return an array of objects where some are no numbers."""
    dtype = float if kind.numpy != "object" and kind.becomes == "number" else object
    columns = [*NUMBERS.values()]
    return np.array([*([*row] for row in zip(*(c[rows] for c in columns), kind.values(rows), strict=True))], dtype)


def _list(kind, rows=ALL, **_):
    return [[*map(float, row[:-1]), row[-1]] for row in _array(kind, rows).astype(object).tolist()]


def _sparse(kind, rows=ALL, **_):
    """Return a matrix that holds its zeros, which are missing values to XGBoost where it does not."""
    X = reference_array(kind, rows)
    at = np.indices(X.shape).reshape(2, -1)
    return csr_matrix((X.ravel(), (at[0], at[1])), shape=X.shape)


def _csv(kind, rows=ALL, *, whole, folder):
    path = folder / "table.csv"
    _pandas(kind, rows, whole).to_csv(path, index=False)
    return path


def _parquet(kind, rows=ALL, *, whole, folder):
    path = folder / "table.parquet"
    pq.write_table(_pyarrow(kind, rows, whole), path)
    return path


def _letor(kind, rows=ALL, *, folder, **_):
    path = folder / f"{rows.start}.txt"
    lines = zip(GRADE[rows], QUERY[rows], reference_array(kind, rows), strict=True)
    texts = [f"{y:g} qid:{q} " + " ".join(f"{i}:{v!r}" for i, v in enumerate(x.tolist(), 1)) for y, q, x in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


def reference_array(kind, rows=ALL, **_):
    """Return the plain array of the features."""
    return np.column_stack([*(values[rows] for values in NUMBERS.values()), kind.reference(rows)])


def _reference_frame(kind, rows=ALL, whole=False, **_):
    return _frame(kind.reference(rows), rows, whole)


def _in_arrays(kind):
    return kind.in_arrays


def _numbers_only(kind):
    return kind.in_arrays and kind.becomes == "number"


def _in_letor(kind):
    return _numbers_only(kind) and kind.numpy in ("float64", "int64")


TABLES = {
    "list of lists": Table(_list, _in_arrays, named=False, in_parts=True),
    "NumPy array": Table(_array, _in_arrays, named=False, in_parts=True),
    "SciPy sparse matrix": Table(_sparse, _numbers_only, named=False, in_parts=True),
    "pandas": Table(_pandas, lambda kind: True),
    "pandas, nullable types": Table(_nullable, lambda kind: kind.nullable is not None),
    "pandas, Arrow types": Table(_pandas_arrow, lambda kind: kind.arrow is not None),
    "polars": Table(
        _polars, lambda kind: kind.arrow is not None and (kind.ordered is None or isinstance(kind.levels[0], str))
    ),
    "pyarrow": Table(_pyarrow, lambda kind: kind.arrow is not None),
    "CSV file": Table(_csv, lambda kind: kind.in_csv, is_file=True),
    "Parquet file": Table(_parquet, lambda kind: kind.arrow is not None, is_file=True),
    "LETOR file": Table(_letor, _in_letor, named=False, is_file=True, in_parts=True),
}
REFERENCE = {
    True: Table(_reference_frame, lambda kind: True),
    False: Table(reference_array, lambda kind: True, named=False, in_parts=True),
}
