"""Tables of features: arrays, sparse matrices, DataFrames of pandas and polars, tables of pyarrow."""

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from boostplug.core.checks import column_names, real_numbers, shown

__all__ = [
    "Table",
    "align_columns",
    "align_to_model",
    "columns_equal_to",
    "features_of",
    "is_frame",
    "refuse_categories_beyond_pandas",
    "refuse_infinite",
    "refuse_other_columns",
    "refuse_sparse_beside_dense",
    "refuse_unknown_categories",
    "refuse_unreadable_columns",
    "rows_of",
    "split_columns",
    "table_of",
    "without_qid",
]

_LARGEST = float(np.finfo(np.float32).max)
_SHOWN_CATEGORIES = 3


class Table(NamedTuple):
    """Shape, column names and categories of a table of features."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None
    """None if the columns have no names."""
    categories: Mapping[int, tuple[Any, ...]] | None = None
    """Categories of each categorical column of a pandas DataFrame, by the column's index; None if not known."""
    sparse: bool | None = None
    """True for a sparse matrix; None if not known."""


def table_of(X: Any, name: str = "X", *, least: int = 1) -> Table:
    """Return shape and column names of features, refusing objects that are not tables of numbers.

    `least` is the smallest allowed number of columns.
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
    return Table(int(shape[0]), int(shape[1]), names or None, _categories(X), hasattr(X, "nnz"))


def _categories(X: Any) -> dict[int, tuple[Any, ...]]:
    """Return the categories of each categorical column of a pandas DataFrame, by the column's index."""
    kinds = X.dtypes if hasattr(X, "iloc") else ()
    return {place: tuple(kind.categories) for place, kind in enumerate(kinds) if hasattr(kind, "categories")}


def align_columns(X: Any, table: Table, fitted: Table, name: str = "X") -> Any:
    """Return features whose categorical columns have the training set's categories in the same order.

    A framework trains on the codes of categories, and a code is the index among the column's categories.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame
    table, fitted : Table
        Tables of X and of the training set.
    name : str, default "X"
        Name of X in messages.

    Warns
    -----
    UserWarning
        If X holds categories that the training set does not have: they become missing values.

    Raises
    ------
    ValueError
        If columns differ in name, number or order, or a column is categorical in only one of the two.
    """
    refuse_other_columns(table, fitted, name)
    if fitted.categories is None or table.categories is None:
        return X
    _refuse_other_types(X, table, fitted, name)
    recoded = X
    for place, known in fitted.categories.items():
        if table.categories[place] == known:
            continue
        column = X.iloc[:, place]
        _warn_of_new_categories(column, known, f"in {name}, column {_column(table, place)}")
        recoded = X.copy(deep=False) if recoded is X else recoded
        recoded[X.columns[place]] = column.cat.set_categories(list(known))
    return recoded


def align_to_model(X: Any, table: Table, fitted: Table, name: str = "X", *, extends: bool) -> Any:
    """Return features for a training that continues a model: the model's categories come first, in its order.

    Parameters
    ----------
    X, table, fitted, name
        As for `align_columns`.
    extends : bool
        If True, new categories get the next codes; else they are refused.

    Raises
    ------
    ValueError
        As `align_columns`, and if X has categories and those of the model are not known.
    """
    refuse_unknown_categories(table, fitted, name)
    refuse_categories_beyond_pandas(X, name)
    here = table.categories or {}
    widened = {}
    for place, known in (fitted.categories or {}).items():
        old = set(known)
        new = [category for category in here.get(place, ()) if category not in old]
        used = [] if extends or not new else list(X.iloc[:, place][X.iloc[:, place].isin(new)].unique())
        if used:
            raise ValueError(
                f"in {name}, column {_column(table, place)} has categories that the model does not know, "
                f"{shown(used)}; make them missing values, or fit again without the model"
            )
        widened[place] = (*known, *(new if extends else ()))
    return align_columns(X, table, fitted._replace(categories=None if fitted.categories is None else widened), name)


def refuse_unreadable_columns(X: Any, how_to_drop: Callable[[list[str]], str]) -> None:
    """Raise for columns of pandas that hold dates or text, or numbers as objects, which the frameworks cannot read.

    `how_to_drop` returns the first remedy for columns of these names.
    """
    if not is_frame(X) or not hasattr(X, "iloc"):
        return
    kinds: dict[str, list[str]] = {}
    for name, dtype in zip(column_names(X), X.dtypes, strict=True):
        if getattr(dtype, "kind", "") in "Mm" or str(dtype).startswith(("datetime", "timedelta", "period")):
            kinds.setdefault("dates", []).append(name)
        elif str(dtype) == "object" and all(isinstance(value, Real) for value in X[name].dropna()):
            raise ValueError(f"Column {name!r} has dtype object: convert it, frame.astype({{{name!r}: float}}).")
        elif str(dtype) in ("object", "string", "str"):
            kinds.setdefault("text", []).append(name)
    if kinds:
        listed = " and ".join(f"{shown(names)} hold{'s' * (len(names) == 1)} {what}" for what, names in kinds.items())
        every = [name for names in kinds.values() for name in names]
        raise ValueError(
            f"{listed}, which the frameworks cannot read: {how_to_drop(every)}, or turn dates into numbers and text "
            "into categories (astype('category'))"
        )


def columns_equal_to(X: Any, y: Any) -> list[str]:
    """Return the names of a DataFrame's columns that hold the labels themselves; of arrays none."""
    if y is None or not is_frame(X) or not hasattr(X, "iloc") or len(np.unique(y)) < 2:
        return []
    return [
        name
        for name, dtype in zip(column_names(X), X.dtypes, strict=True)
        if getattr(dtype, "kind", "") in "iuf" and np.array_equal(np.asarray(X[name]), np.asarray(y))
    ]


def refuse_categories_beyond_pandas(X: Any, name: str = "X") -> None:
    """Raise for categorical columns of polars and pyarrow, whose categories cannot be reordered.

    LightGBM crashes the process if it gets one.
    """
    for column in () if hasattr(X, "iloc") else column_names(X):
        kind = str(getattr(X[column], "dtype", getattr(X[column], "type", "")))
        if kind.startswith(("Categorical", "Enum", "dictionary")):
            raise ValueError(
                f"in {name}, column {column!r} is categorical, which works only in pandas DataFrames; convert the "
                "table with to_pandas()"
            )


def refuse_unknown_categories(table: Table, fitted: Table, name: str) -> None:
    """Raise if X has categories and those of the continued model are not known."""
    if table.categories and fitted.categories is None:
        raise ValueError(
            f"{name} has categorical columns ({_column(table, min(table.categories))}), and the model does not know "
            "the categories that it was trained on; pass the ranker itself as the model, or fit again without one"
        )


def _column(table: Table, place: int) -> str:
    return str(place) if table.names is None else repr(table.names[place])


def _refuse_other_types(X: Any, table: Table, fitted: Table, name: str) -> None:
    """Raise if a column is categorical only in X or only in the training set."""
    here, there = table.categories or {}, fitted.categories or {}
    for place in sorted(here.keys() ^ there.keys()):
        column = _column(table if table.names else fitted, place)
        kind = str(X.dtypes.iloc[place]) if hasattr(X, "iloc") else f"of a {type(X).__name__}"
        if place in there and hasattr(X, "iloc"):
            remedy = "make it categorical too, with astype('category')"
        elif place in there:
            remedy = "pass a DataFrame, whose columns have categories"
        else:
            remedy = "make it numbers, or make it categorical in the training set too"
        raise ValueError(
            f"in {name}, column {column} is {'not ' if place in there else ''}categorical ({kind}), and in the "
            f"training set it is{'' if place in there else ' not'}; {remedy}"
        )


def _warn_of_new_categories(column: Any, known: Sequence[Any], what: str) -> None:
    """Warn of values that are not in the known categories."""
    counts = column.value_counts()
    counts = counts[(counts > 0) & ~counts.index.isin(list(known))]
    if len(counts):
        listed = ", ".join(map(shown, list(counts.index[:_SHOWN_CATEGORIES])))
        more = ", …" if len(counts) > _SHOWN_CATEGORIES else ""
        warnings.warn(
            f"{what} holds categories that the training set does not have ({listed}{more}), in {int(counts.sum())} "
            "rows; they become missing values",
            UserWarning,
            stacklevel=4,
        )


def refuse_sparse_beside_dense(table: Table, fitted: Table, name: str = "X") -> None:
    """Raise if only one of X and the training set is sparse.

    XGBoost treats absent entries of a sparse matrix as missing, and zeros of an array as numbers.
    """
    if table.sparse is None or fitted.sparse is None or table.sparse == fitted.sparse:
        return
    kinds = ("sparse", "dense") if table.sparse else ("dense", "sparse")
    remedy = f"{name}.toarray()" if table.sparse else f"scipy.sparse.csr_matrix({name})"
    raise ValueError(
        f"{name} is {kinds[0]} and the training set is {kinds[1]}: to XGBoost the absent entries of a sparse matrix "
        f"are missing, and the zeros of a dense table are numbers; pass {remedy}, or missing=0 for training too"
    )


def refuse_infinite(X: Any, name: str = "X") -> None:
    """Raise for the first number that is infinite in float32, in which XGBoost reads features."""
    if hasattr(X, "nnz"):
        entries = X.tocoo()
        at = _infinite(entries.data)
        found = None if at is None else (entries.row[at], entries.col[at], entries.data[at])
    elif isinstance(X, np.ndarray):
        at = _infinite(np.ravel(X))
        found = None if at is None else (*np.unravel_index(at, X.shape), np.ravel(X)[at])
    else:
        found = _infinite_in_columns(X)
    if found is not None:
        row, place, value = found
        names = column_names(X)
        raise ValueError(
            f"{name} holds {value:g} in row {row}, column {repr(names[place]) if names else place}, which is infinite "
            "to XGBoost (beyond 3.4e38); replace it by NaN, which means missing, or by a smaller number"
        )


def _infinite(values: Any) -> int | None:
    """Return the index of the first infinite value of a vector, None if there is none."""
    if values.dtype.kind not in "fO":
        return None
    with np.errstate(over="ignore"):
        infinite = np.isinf(values.astype(np.float32, copy=False))
    return int(np.argmax(infinite)) if infinite.any() else None


def _infinite_in_columns(X: Any) -> tuple[int, int, Any] | None:
    """Return row, column and value of the first infinite value in the columns of a DataFrame that hold floats."""
    for place, name in enumerate(column_names(X)):
        column = X[name]
        if hasattr(column, "iloc"):  # pandas, whose nullable float types have NA
            floats = getattr(column.dtype, "kind", "") == "f"
            values = column.to_numpy(np.float64, na_value=np.nan) if floats else np.empty(0)
        else:
            values = column.to_numpy()
        at = _infinite(values) if values.dtype.kind == "f" else None
        if at is not None:
            return at, place, values[at]
    return None


def refuse_other_columns(table: Table, fitted: Table, name: str = "X") -> None:
    """Raise if the columns differ from the training set's in name, number or order."""
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
    """Return whether data are a table with column names, of pandas, polars or pyarrow."""
    return hasattr(X, "shape") and bool(column_names(X)) and hasattr(X, "drop")


def rows_of(X: Any, rows: Any) -> Any:
    """Return the given rows of an array, a sparse matrix or a pandas DataFrame."""
    return X.iloc[rows] if hasattr(X, "iloc") else (X.tocsr() if hasattr(X, "nnz") else X)[rows]


def split_columns(X: Any, names: Sequence[str]) -> tuple[Any, list[Any]]:
    """Split a DataFrame into the table without the named columns, and these columns."""
    columns = [X[name] for name in names]
    try:
        return X.drop(columns=[*names]), columns  # pandas, pyarrow
    except TypeError:
        return X.drop([*names]), columns  # polars


def without_qid(X: Any, name: str = "qid") -> tuple[Any, Any]:
    """Split a DataFrame with a column of query ids into features and that column, as XGBoost's ranker does."""
    refuse_uncomputed(X)
    if name not in column_names(X):
        return X, None
    features, (qid,) = split_columns(X, [name])
    return features, qid


def refuse_uncomputed(X: Any, name: str = "X") -> None:
    """Raise for polars' lazy frames."""
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise ValueError(f"{name} is a {type(X).__name__}, which is not computed yet; pass {name}.collect()")


def features_of(X: Any, name: str = "X") -> tuple[Any, Table]:
    """Return features in a format for both frameworks, and their `Table`.

    Arrays, sparse matrices and pandas DataFrames are returned unchanged. Lists, polars DataFrames and pyarrow tables
    become arrays, with NaN for missing values.
    """
    refuse_uncomputed(X, name)
    if type(X).__module__.partition(".")[0] in {"dask", "dask_expr"}:
        raise ValueError(f"{name} is a {type(X).__name__} of dask, which is not computed yet; pass {name}.compute()")
    table = table_of(X, name, least=0)  # a file may have rows without features
    if isinstance(X, np.ndarray) and X.dtype != object:
        return np.asarray(X), table  # converts np.matrix and masked arrays
    if hasattr(X, "nnz") or hasattr(X, "iloc"):
        return X, table
    if table.names is None:
        return np.asarray(X, dtype=np.float64), table
    columns = [real_numbers(f"{name}[{column!r}]", X[column].to_numpy()) for column in column_names(X)]
    kind = np.float32 if all(column.dtype == np.float32 for column in columns) else np.float64
    return np.column_stack([column.astype(kind, copy=False) for column in columns]), table
