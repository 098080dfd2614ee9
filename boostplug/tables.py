"""Tables of features as users have them: arrays, sparse matrices, DataFrames of pandas and polars, pyarrow's tables."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boostplug.checks import column_names, real_numbers, shown

__all__ = ["Table", "features_of", "is_frame", "refuse_other_columns", "split_columns", "table_of", "without_qid"]


class Table(NamedTuple):
    """What is known of features before a framework reads them."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None
    """None where the columns have no names."""


def table_of(X: Any, name: str = "X", *, least: int = 1) -> Table:
    """Return the shape of features and the names of their columns, refusing what is no table of numbers.

    `least` is how many columns there must be.
    """
    if isinstance(X, np.ma.MaskedArray) and X.mask.any():
        raise ValueError(f"{name} has {int(X.mask.sum())} masked values; pass {name}.filled(numpy.nan)")
    if isinstance(X, (list, tuple)) or (hasattr(X, "__array__") and not hasattr(X, "shape")):
        try:
            X = np.asarray(X)
        except ValueError:
            raise ValueError(f"{name} is a list of rows of different lengths; pass as many features in each") from None
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        what = f"shape {tuple(shape)}" if shape else shown(X)
        flat = f"{name}.reshape(1, -1) for a single row, {name}.reshape(-1, 1) for a single feature"
        remedy = flat if len(shape) == 1 else "an array or a DataFrame"
        raise ValueError(f"{name} must be a table of shape (n_rows, n_features), got {what}; pass {remedy}")
    if shape[1] < least:
        raise ValueError(f"{name} has no features (shape {tuple(shape)}); pass at least one column")
    if isinstance(getattr(X, "dtype", None), np.dtype) and not hasattr(X, "nnz"):
        if X.dtype.kind not in "biufO":
            raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}; convert them first")
        if X.dtype.kind == "O":
            real_numbers(name, np.ravel(X))
    names = tuple(" ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in column_names(X))
    again = next((column for column, times in Counter(names).items() if times > 1), None)
    if again is not None:
        raise ValueError(f"{name} has several columns named {again!r}; rename them")
    return Table(int(shape[0]), int(shape[1]), names or None)


def refuse_other_columns(table: Table, fitted: Table, name: str = "X") -> None:
    """Raise where features are not those of the training set, by name, number or order."""
    here, there = table.names, fitted.names
    if here and there and here != there:
        missing, new = [c for c in there if c not in set(here)], [c for c in here if c not in set(there)]
        if missing or new:
            raise ValueError(
                f"{name}'s columns are not those of the training set: missing {shown(missing)}, unknown {shown(new)}; "
                "pass the same columns in the same order"
            )
        at = next(i for i, pair in enumerate(zip(here, there, strict=True)) if pair[0] != pair[1])
        raise ValueError(
            f"{name} has the training set's columns in another order: column {at} is {here[at]!r}, in the training set "
            f"{there[at]!r}; select them in that order, {shown(list(there))}"
        )
    if table.n_columns != fitted.n_columns:
        raise ValueError(
            f"{name} has {table.n_columns} features, the training set {fitted.n_columns}; pass the same features in "
            "the same order"
        )


def is_frame(X: Any) -> bool:
    """Return whether data are a table whose columns have names: of pandas, polars or pyarrow."""
    return hasattr(X, "shape") and bool(column_names(X)) and hasattr(X, "drop")


def split_columns(X: Any, names: Sequence[str]) -> tuple[Any, list[Any]]:
    """Split a DataFrame into what is left of it without some columns, and these."""
    columns = [X[name] for name in names]
    try:
        return X.drop(columns=[*names]), columns  # pandas, pyarrow
    except TypeError:
        return X.drop([*names]), columns  # polars


def without_qid(X: Any) -> tuple[Any, Any]:
    """Split a DataFrame with a column named qid into features and that column, as XGBoost's ranker does."""
    refuse_uncomputed(X)
    if "qid" not in column_names(X):
        return X, None
    features, (qid,) = split_columns(X, ["qid"])
    return features, qid


def refuse_uncomputed(X: Any, name: str = "X") -> None:
    """Raise for polars' lazy frames."""
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise ValueError(f"{name} is a {type(X).__name__}, which is not computed yet; pass {name}.collect()")


def features_of(X: Any, name: str = "X") -> tuple[Any, Table]:
    """Return features as both frameworks take them, and what is known of them.

    Arrays, sparse matrices and pandas' DataFrames stay what they are; lists, polars' DataFrames and pyarrow's tables
    become arrays, NaN where a value is missing.
    """
    refuse_uncomputed(X, name)
    if type(X).__module__.partition(".")[0] in {"dask", "dask_expr"}:
        raise ValueError(f"{name} is a {type(X).__name__} of dask, which is not computed yet; pass {name}.compute()")
    table = table_of(X, name, least=0)  # files of rows without features are files too
    if isinstance(X, np.ndarray) and X.dtype != object:
        return np.asarray(X), table  # no matrix, no masked array
    if hasattr(X, "nnz") or hasattr(X, "iloc"):
        return X, table
    if table.names is None:
        return np.asarray(X, dtype=np.float64), table
    columns = [real_numbers(f"{name}[{column!r}]", X[column].to_numpy()) for column in column_names(X)]
    kind = np.float32 if all(column.dtype == np.float32 for column in columns) else np.float64
    return np.column_stack([column.astype(kind, copy=False) for column in columns]), table
