"""Features of any kind of table, as both frameworks read them.

Arrays, sparse matrices and lists of lists hold numbers. DataFrames of pandas and polars and tables of pyarrow become
pandas DataFrames of numbers and categories. A column that neither framework can read is refused by its name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import as_native, as_real_numbers, column_names, shown
from boostplug.core.extras import imported
from boostplug.core.warning import warn_user

_FEWEST_IDS = 10  # smallest number of queries in which different numbers are no accident
_FEW_ROWS = 1000  # looked at first, as they tell most columns from ids
# What columns and categories hold, in pandas' words.
_NUMBERS = ("integer", "floating", "boolean", "decimal", "mixed-integer-float", "empty")
_TEXTS = ("string", "mixed-integer", "mixed")
_CATEGORIES = ("string", "integer", "floating", "boolean", "mixed-integer", "mixed-integer-float", "empty")


class Schema(NamedTuple):
    """Number, names and categories of the columns of a table of features."""

    n_columns: int
    names: tuple[str, ...] | None
    """None if the columns have no names."""
    categories: Mapping[int, tuple[Any, ...]] | None = None
    """Categories of each categorical column, by the column's index; None if not known."""
    sparse: bool | None = None
    """True for a sparse matrix; None if not known."""
    reader: str = "the model"
    """What expects these columns, in messages: the class of the fitted ranker."""

    def column(self, place: int) -> str:
        """Return a column as messages call it."""
        return str(place) if self.names is None else repr(self.names[place])


def is_frame(X: Any) -> bool:
    """Return whether data are a table with column names, of pandas, polars or pyarrow."""
    return hasattr(X, "shape") and bool(column_names(X)) and hasattr(X, "drop")


def rows_of(X: Any, rows: Any) -> Any:
    """Return the given rows of an array, a sparse matrix or a DataFrame."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "nnz"):
        return X.tocsr()[rows]
    return X.take(rows) if is_frame(X) and hasattr(X, "take") else X[rows]


def split_columns(X: Any, names: Sequence[str]) -> tuple[Any, list[Any]]:
    """Split a DataFrame into the table without the named columns, and these columns."""
    columns = [X[name] for name in names]
    return without_columns(X, names), columns


def with_columns(X: Any, names: Sequence[str]) -> Any:
    """Return a DataFrame with only the named columns, in their order."""
    return X[[*names]] if hasattr(X, "iloc") else X.select([*names])


def without_columns(X: Any, names: Iterable[Any]) -> Any:
    """Return a table without the named columns, where it has them."""
    there = column_names(X)
    absent = [name for name in dict.fromkeys(names) if name in there]
    if not absent or hasattr(X, "drop_duplicates"):  # pandas, dask
        return X.drop(columns=absent) if absent else X
    return with_columns(X, [name for name in there if name not in absent])


def with_column(X: Any, name: str, values: NDArray[np.float64]) -> Any:
    """Return features with one more column, the last; single precision stays so, and integers become double."""
    if hasattr(X, "iloc"):
        return X.assign(**{name: values})
    column = values.astype(np.result_type(X.dtype, np.float32 if X.dtype.kind == "f" else np.float64))
    if not hasattr(X, "nnz"):
        return np.column_stack([X, column])
    from scipy.sparse import csr_matrix, hstack

    # Zeros are written, since XGBoost takes absent entries for missing.
    return hstack([X, csr_matrix((column, (np.arange(len(column)), np.zeros(len(column), int))))], "csr")


def check_computed(X: Any, name: str = "X") -> None:
    """Raise for polars' lazy frames and Dask's collections."""
    is_lazy = hasattr(X, "collect_schema") and not hasattr(X, "shape")
    if is_lazy or type(X).__module__.partition(".")[0] in {"dask", "dask_expr"}:
        remedy = f"pass {name}.{'collect' if is_lazy else 'compute'}()"
        raise ValueError(f"{name} is a {type(X).__name__}, which is not computed yet; {remedy}")
    if type(X).__name__ == "RecordBatch":
        raise ValueError(f"{name} is a RecordBatch; pass pyarrow.Table.from_batches([{name}])")


def check_unique(names: Iterable[Any], what: str) -> None:
    """Raise where two columns, or other things that go by name, have one name."""
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{what} holds {name!r} {times} times; rename or remove one")


def schema_of(X: Any) -> Schema:
    """Return number, names and categories of features that `as_features` has returned."""
    names = tuple(" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in column_names(X))
    kinds = X.dtypes if hasattr(X, "iloc") else ()
    categories = {place: tuple(kind.categories) for place, kind in enumerate(kinds) if hasattr(kind, "categories")}
    return Schema(int(X.shape[1]), names or None, categories, hasattr(X, "nnz"))


def as_features(
    X: Any,
    name: str = "X",
    *,
    fitted: Schema | None = None,
    least: int = 1,
) -> Any:
    """Return features as both frameworks read them.

    Arrays, sparse matrices and pandas DataFrames that need no change are returned as they are. Lists become arrays, and
    tables of polars and pyarrow pandas DataFrames.

    Parameters
    ----------
    X : array, sparse matrix, list of lists, or DataFrame of pandas, polars or pyarrow
    name : str, default "X"
        Name of X in messages.
    fitted : Schema, optional
        Schema of the training set, which decides the type of each column: see `align`.
    least : int, default 1
        Smallest allowed number of columns.

    Warns
    -----
    UserWarning
        If a column holds categories that the training set does not have.

    Raises
    ------
    ValueError
        If X is no table, or holds something else than numbers and categories; the message names the columns.
    """
    check_computed(X, name)
    X = as_native(X)
    if is_frame(X):
        check_unique(column_names(X), name)
        _check_shape(X, name, least)
        if fitted is not None:
            check_same_columns(schema_of(X), fitted, name)
        X = _as_frame(X, name, (fitted and fitted.categories) or {})
    elif not hasattr(X, "nnz"):
        X = _as_array(X, name, least)
    else:
        _check_shape(X, name, least)
    return X if fitted is None else align(X, fitted, name)


def _check_shape(X: Any, name: str, least: int) -> None:
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        what = f"shape {tuple(shape)}" if shape else shown(X)
        raise ValueError(f"{name} must be a table of shape (n_rows, n_features); got {what}. Reshape your data.")
    if shape[1] < least:
        raise ValueError(f"{name} has 0 feature(s) (shape={tuple(shape)}) while a minimum of {least} is required.")


def _as_array(X: Any, name: str, least: int) -> NDArray[Any]:
    """Return an array of numbers from an array or a list of rows."""
    if isinstance(X, np.ma.MaskedArray) and X.mask.any():
        raise ValueError(f"{name} has {int(X.mask.sum())} masked values; pass {name}.filled(numpy.nan)")
    try:
        array = np.asarray(X)
        array = np.asarray(X, object) if array.dtype.kind in "SU" else array  # numbers as they were, beside a text
    except ValueError:
        raise ValueError(f"{name} is a list of rows of different lengths; pass as many features in each") from None
    _check_shape(array if array.shape else X, name, least)
    numbers = as_real_numbers(name, array)
    return np.asarray(numbers, np.float64) if isinstance(X, (list, tuple)) else numbers


# --- DataFrames ----------------------------------------------------------------------------------------------------


def _as_frame(X: Any, name: str, categories: Mapping[int, tuple[Any, ...]]) -> Any:
    """Return a pandas DataFrame of numbers and categories; texts are categories where training had `categories`."""
    pandas = imported("pandas", "DataFrames need")
    X = X if hasattr(X, "iloc") else _as_pandas(X)
    changed: dict[int, Any] = {}
    unreadable: dict[str, list[str]] = {}
    for place, title in enumerate(X.columns):
        column = X.iloc[:, place]
        if str(column.dtype).startswith("dictionary"):  # Arrow's categories
            column = column.array.__arrow_array__().unify_dictionaries().to_pandas()
            changed[place] = column.array
        content, kind = _content_of(pandas, column), column.dtype
        if place in categories and content in (*_TEXTS, "empty"):
            changed[place] = _categorical(pandas, column, categories[place])
        elif content in _NUMBERS:
            if not isinstance(kind, np.dtype) or kind.kind not in "biuf" or kind.itemsize > 8 or not kind.isnative:
                changed[place] = column.to_numpy(np.float64, na_value=np.nan)
        elif content != "categories":
            if content == "mixed":
                content = f"{type(column.dropna().iloc[0]).__name__} objects"
            unreadable.setdefault("text" if content == "string" else content, []).append(str(title))
    for content, columns in unreadable.items():
        listed = f"{', '.join(map(repr, columns))} hold{'s' * (len(columns) == 1)} {content}"
        is_time = re.search("date|time|duration|period", content)
        remedy = "a number of days or seconds" if is_time else "columns of numbers"
        remedy = "numbers, or a category with astype('category')" if content == "text" else remedy
        raise ValueError(f"{name}: {listed}, which no framework reads; make it {remedy}, or drop it")
    X = X.copy(deep=False) if changed else X
    for place, values in changed.items():
        X.isetitem(place, values)
    return X


def _as_pandas(X: Any) -> Any:
    """Return a table of polars or pyarrow as a pandas DataFrame."""
    in_polars = hasattr(X, "to_series")
    frame = X.to_pandas()
    for place, kind in enumerate(frame.dtypes):
        if in_polars and hasattr(kind, "categories") and not kind.ordered:  # those of all frames, in no order
            frame.isetitem(place, frame.iloc[:, place].astype(object).astype("category"))
    return frame


def _content_of(pandas: Any, column: Any) -> str:
    """Return what a column holds: "categories", if frameworks read them, else in pandas' words."""
    if not hasattr(column.dtype, "categories"):
        content: str = "empty" if column.isna().all() else pandas.api.types.infer_dtype(column, skipna=True)
        return content if content != "unknown-array" else str(column.dtype)
    content = column.cat.categories.inferred_type
    return "categories" if content in _CATEGORIES else f"categories of {content}"


def _categorical(pandas: Any, column: Any, known: tuple[Any, ...]) -> Any:
    """Return texts as categories, in the order of the `known` ones of the training set, others after them."""
    values = [None if missing else value for value, missing in zip(column.tolist(), column.isna(), strict=True)]
    new = {value for value in values if value is not None} - {*known}
    return pandas.Categorical(values, categories=pandas.Index([*known, *sorted(new, key=str)], dtype=object))


# --- Two tables ----------------------------------------------------------------------------------------------------


def check_same_columns(schema: Schema, fitted: Schema, name: str = "X") -> None:
    """Raise if the columns differ from the training set's in name, number or order."""
    here, there = schema.names, fitted.names
    if here and there and here != there:
        missing, new = [c for c in there if c not in set(here)], [c for c in here if c not in set(there)]
        if missing or new:
            what = f"missing {shown(missing)}, unknown {shown(new)}; pass the same columns in the same order"
            raise ValueError(f"{name}'s columns are not those of the training set: {what}")
        raise ValueError(f"{name} has the training set's columns in another order; select them as {shown([*there])}")
    if schema.n_columns != fitted.n_columns:
        expected = f"{fitted.reader} is expecting {fitted.n_columns} features as input"  # in scikit-learn's words
        raise ValueError(f"{name} has {schema.n_columns} features, but {expected}; pass the same features")


def align(
    X: Any,
    fitted: Schema,
    name: str = "X",
    *,
    schema: Schema | None = None,
    new: Literal["missing", "appended", "refused"] = "missing",
) -> Any:
    """Return features whose categorical columns have the training set's categories in the same order.

    A framework trains on the codes of categories, and a code is the index among the column's categories.

    Parameters
    ----------
    X : array, sparse matrix or pandas DataFrame
        As `as_features` returns it.
    fitted : Schema
        Schema of the training set.
    name : str, default "X"
        Name of X in messages.
    schema : Schema, optional
        Schema of X, where the model has other names for its columns. Default: ``schema_of(X)``.
    new : {"missing", "appended", "refused"}
        What categories become that the training set does not have: missing values, with a warning; codes after those of
        the training set; or an error.

    Warns
    -----
    UserWarning
        If X holds categories that become missing values.

    Raises
    ------
    ValueError
        If columns differ in name, number or order, or a column is categorical in only one of the two; with
        ``new="refused"`` also if X holds new categories.
    """
    schema = schema_of(X) if schema is None else schema
    check_same_columns(schema, fitted, name)
    if fitted.categories is None:
        return X
    _check_same_types(schema, fitted, name)
    aligned = X
    for place, known in fitted.categories.items():
        here = (schema.categories or {})[place]
        if here == known:
            continue
        column = X.iloc[:, place]
        added = [*dict.fromkeys(column[~column.isin(known)].dropna())]
        what = f"column {schema.column(place)} holds categories that the training set does not have, {shown(added)}"
        if added and new == "refused":
            raise ValueError(f"in {name}, {what}; train on the data of both, or drop these rows")
        if added and new == "missing":
            warn_user(f"in {name}, {what}; they become missing values")
        aligned = X.copy(deep=False) if aligned is X else aligned
        aligned.isetitem(place, column.cat.set_categories([*known, *(added if new == "appended" else ())]))
    return aligned


def _check_same_types(schema: Schema, fitted: Schema, name: str) -> None:
    """Raise if a column is categorical only in X or only in the training set."""
    here, there = schema.categories or {}, fitted.categories or {}
    for place in sorted(here.keys() ^ there.keys()):
        column = (schema if schema.names else fitted).column(place)
        if place in there:
            what = "is not categorical and in the training set it is; make it so, with astype('category')"
        else:
            categories = sorted(here[place], key=is_number)  # texts first
            what = f"is categorical, {shown(categories)}, and in the training set it is not; make it numbers"
        raise ValueError(f"in {name}, column {column} {what}")


def is_number(value: Any) -> bool:
    """Return whether a value, such as a text, can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def check_same_categories(schema: Schema, fitted: Schema, name: str, other: str) -> None:
    """Raise where categorical columns have not the same categories in the same order as those of `fitted`."""
    here, there = schema.categories or {}, fitted.categories
    if there is None or here == there:
        return
    columns = [schema.column(place) for place in sorted({*here, *there}) if here.get(place) != there.get(place)]
    raise ValueError(f"{name}: the columns {', '.join(columns)} have other categories than in {other}")


def check_known_categories(schema: Schema, fitted: Schema, name: str) -> None:
    """Raise if features have categories and those of the continued model are not known."""
    if schema.categories and fitted.categories is None:
        column = schema.column(min(schema.categories))
        raise ValueError(f"{name} has the categorical column {column}, and the model no categories; pass the ranker")


def check_same_sparsity(schema: Schema, fitted: Schema, name: str = "X") -> None:
    """Raise if only one of X and the training set is sparse.

    XGBoost treats absent entries of a sparse matrix as missing, and zeros of an array as numbers.
    """
    if schema.sparse is None or fitted.sparse is None or schema.sparse == fitted.sparse:
        return
    kinds = "sparse and the training set is dense" if schema.sparse else "dense and the training set is sparse"
    why = "to XGBoost absent entries are missing, and zeros are not"
    raise ValueError(f"{name} is {kinds}: {why}; pass tables of one kind, or train the ranker with missing=0")


# --- Values --------------------------------------------------------------------------------------------------------


def columns_equal_to(X: Any, values: Any) -> list[str]:
    """Return the names of a DataFrame's columns that hold given numbers themselves; none of arrays."""
    if values is None or not hasattr(X, "iloc") or len(np.unique(values)) < 2:
        return []
    return [
        str(name)
        for place, (name, kind) in enumerate(X.dtypes.items())
        if getattr(kind, "kind", "") in "biuf"
        and np.array_equal(X.iloc[:, place].to_numpy(), values.astype(np.float32) if kind == np.float32 else values)
    ]


def columns_of_ids(X: Any, query_of_row: NDArray[np.int64]) -> list[str]:
    """Return the names of a DataFrame's columns that tell the queries apart: whole numbers or categories."""
    n_queries = query_of_row[-1] + 1 if len(query_of_row) else 0
    if not hasattr(X, "iloc") or n_queries < _FEWEST_IDS:
        return []
    return [
        str(name)
        for name, column in X.items()
        if all(np.array_equal(column[:n].factorize()[0], query_of_row[:n]) for n in (_FEW_ROWS, len(column)))
        and is_whole(column)
    ]


def is_whole(column: Any) -> bool:
    """Return whether a column of a DataFrame holds whole numbers or categories, as ids do."""
    return column.dtype.kind not in "fc" or bool((column % 1 == 0).all())


def with_used_categories(X: Any) -> Any:
    """Return features without categories that no row has."""
    for place in schema_of(X).categories or ():
        column = X.iloc[:, place].cat.remove_unused_categories()
        X = X.copy(deep=False)
        X.isetitem(place, column)
    return X


def with_text_categories(X: Any) -> Any:
    """Return features whose categories XGBoost can read: text, or integers of 64 bits.

    Other numbers and mixtures become text. XGBoost keeps categories by content, so the model stays the same.
    """
    for place, kind in enumerate(X.dtypes if hasattr(X, "iloc") else ()):
        known = getattr(kind, "categories", None)
        if known is None or known.inferred_type == "string" or known.dtype == np.int64:
            continue
        names: Any = np.array(known, np.int64) if known.inferred_type == "integer" else [*map(str, known)]
        names = names if len({*names}) == len(names) else [*map(repr, known)]
        X = X.copy(deep=False)
        X.isetitem(place, X.iloc[:, place].cat.rename_categories(names) if len(names) else np.full(len(X), np.nan))
    return X
