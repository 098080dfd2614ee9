"""Kinds of feature columns and of tables: what each holds, and what becomes of a column in a table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import csr_matrix

N_QUERIES, N_DOCUMENTS = 12, 6
_RNG = np.random.default_rng(0)
N_ROWS = N_QUERIES * N_DOCUMENTS
LEVEL = _RNG.integers(0, 4, N_ROWS)  # decides what the column c holds in each row
LEVEL[:4] = range(4)
NUMBERS = {name: np.round(_RNG.normal(size=N_ROWS), 6) for name in "ab"}
# The grades do not grow with the level, so that a model of codes differs from one of categories.
GRADE = ((LEVEL % 2 == 0) ^ (NUMBERS["a"] > 0.9)).astype(float)
QUERY = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)


@dataclass(frozen=True)
class Kind:
    """One kind of column: its value at each of the four levels, and its type in each kind of table."""

    levels: tuple
    becomes: str
    """"number", "category" or "refused"."""
    arrow: pa.DataType | None = None
    """None: pyarrow has no such column."""
    numpy: str = "object"
    nullable: str | None = None
    in_arrays: bool = False
    in_csv: bool = True
    ordered: bool | None = None
    """Whether the categories have an order; None: the column is no categorical one."""
    becomes_in_files: str = ""
    """Where that is something else."""

    def values(self):
        return [self.levels[level] for level in LEVEL]

    def categorical(self):
        """Return the column as a categorical one of pandas."""
        return pd.Categorical(self.values(), categories=pd.Index(self.levels), ordered=bool(self.ordered))

    def reference(self):
        """Return what the plain table holds that each outcome is compared with."""
        if self.ordered is not None:
            return self.categorical()
        if self.becomes == "number":
            return np.array([np.nan if value is None else float(value) for value in self.values()])
        return pd.Categorical(self.values())


def _categories(levels, *, ordered=False, becomes="category", arrow=None):
    if arrow is not None:
        arrow = pa.dictionary(pa.int32(), arrow, ordered=ordered)
    return Kind(tuple(levels), becomes, arrow, in_csv=False, ordered=ordered)


FOUR = ("red", "green", "blue", "grey")
MOMENTS = [datetime(2024, 5, day, 12, tzinfo=UTC) for day in range(1, 5)]

# The table of docs/guides/what_gets_in.md.
KINDS = {
    "float": Kind((0.5, -1.25, 3.0, None), "number", pa.float64(), "float64", "Float64", in_arrays=True),
    "int": Kind((5, -1, 3, 0), "number", pa.int64(), "int64", "Int64", in_arrays=True),
    "bool": Kind((True, False, True, False), "number", pa.bool_(), "bool", "boolean", in_arrays=True),
    "bool with missing values": Kind(
        (True, False, None, False), "number", pa.bool_(), "object", "boolean", in_arrays=True
    ),
    "decimal": Kind(
        tuple(map(Decimal, ("0.50", "-1.25", "3.00", "0.00"))), "number", pa.decimal128(6, 2), in_arrays=True
    ),
    "nothing but missing values": Kind((None,) * 4, "number", pa.null(), "object", "Int64", in_arrays=True),
    "Python numbers, dtype object": Kind((5, 0.5, None, -1), "number", in_arrays=True, in_csv=False),
    "integers beyond 2^53": Kind(
        tuple((k + 1) * 2**54 + 1 for k in (2, 0, 3, 1)), "number", pa.int64(), "int64", "Int64"
    ),
    "categories of texts": _categories(FOUR, arrow=pa.string()),
    "categories of texts in an order": _categories(FOUR, arrow=pa.string(), ordered=True),
    "categories of integers": replace(_categories((7, 3, 12, 5), arrow=pa.int64()), becomes_in_files="number"),
    "categories of intervals": _categories(pd.cut(np.arange(4), 4).categories, becomes="refused"),
    "categories of timestamps": _categories(
        [moment.replace(tzinfo=None) for moment in MOMENTS], becomes="refused", arrow=pa.timestamp("us")
    ),
    "date": Kind(tuple(moment.date() for moment in MOMENTS), "refused", pa.date32(), "datetime64[us]", in_csv=False),
    "timestamp with time zone": Kind(
        tuple(MOMENTS), "refused", pa.timestamp("us", tz="UTC"), "datetime64[us, UTC]", in_csv=False
    ),
    "text": Kind(FOUR, "refused", pa.string(), "str", "string", in_arrays=True, becomes_in_files="category"),
    "list": Kind(([1.0], [2.0, 3.0], [], [4.0]), "refused", pa.list_(pa.float64()), in_csv=False),
    "struct": Kind(tuple({"x": float(k)} for k in range(4)), "refused", pa.struct({"x": pa.float64()}), in_csv=False),
}


@dataclass(frozen=True)
class Table:
    """A kind of table. `build` gets a kind of column; the builder of a file gets a folder too, and returns a path."""

    build: Callable[..., Any]
    holds: Callable[[Kind], bool]
    named: bool = True
    is_file: bool = False


def _frame(column):
    return pd.DataFrame({**NUMBERS, "c": column})


def _pandas(kind):
    return _frame(kind.categorical() if kind.ordered is not None else pd.Series(kind.values(), dtype=kind.numpy))


def _nullable(kind):
    return _frame(pd.array(kind.values(), dtype=kind.nullable))


def _pyarrow(kind):
    if kind.ordered is None:
        column = pa.array(kind.values(), type=kind.arrow)
    else:
        codes = pa.array(kind.categorical().codes, type=kind.arrow.index_type)
        levels = pa.array(list(kind.levels), type=kind.arrow.value_type)
        column = pa.DictionaryArray.from_arrays(codes, levels, ordered=kind.ordered)
    return pa.table({**NUMBERS, "c": column})


def _polars(kind):
    if kind.ordered is None:
        return pl.from_arrow(_pyarrow(kind))
    column = pl.Series(kind.values(), dtype=pl.Enum(kind.levels) if kind.ordered else pl.Categorical)
    return pl.DataFrame({**NUMBERS, "c": column})


def _array(kind):
    """Return an array of objects where some are no numbers."""
    dtype = float if kind.numpy != "object" and kind.becomes == "number" else object
    return np.array([*map(list, zip(*NUMBERS.values(), kind.values(), strict=True))], dtype)


def _list(kind):
    return [[*map(float, row[:-1]), row[-1]] for row in _array(kind).astype(object).tolist()]


def _sparse(kind):
    """Return a matrix that holds its zeros, which are missing values to XGBoost where it does not."""
    X = np.column_stack([*NUMBERS.values(), kind.reference()])
    at = np.indices(X.shape).reshape(2, -1)
    return csr_matrix((X.ravel(), (at[0], at[1])), shape=X.shape)


def _csv(kind, folder):
    path = folder / "table.csv"
    _pandas(kind).to_csv(path, index=False)
    return path


def _parquet(kind, folder):
    path = folder / "table.parquet"
    pq.write_table(_pyarrow(kind), path)
    return path


TABLES = {
    "list of lists": Table(_list, lambda kind: kind.in_arrays, named=False),
    "NumPy array": Table(_array, lambda kind: kind.in_arrays, named=False),
    "SciPy sparse matrix": Table(_sparse, lambda kind: kind.in_arrays and kind.becomes == "number", named=False),
    "pandas": Table(_pandas, lambda kind: True),
    "pandas, nullable types": Table(_nullable, lambda kind: kind.nullable is not None),
    "pandas, Arrow types": Table(
        lambda kind: _pyarrow(kind).to_pandas(types_mapper=pd.ArrowDtype), lambda kind: kind.arrow is not None
    ),
    "polars": Table(
        _polars, lambda kind: kind.arrow is not None and (kind.ordered is None or isinstance(kind.levels[0], str))
    ),
    "pyarrow": Table(_pyarrow, lambda kind: kind.arrow is not None),
    "CSV file": Table(_csv, lambda kind: kind.in_csv, is_file=True),
    "Parquet file": Table(_parquet, lambda kind: kind.arrow is not None, is_file=True),
}
