"""CSV and Parquet files as DataFrames: ids are texts as written, and a column has one type in the complete file."""

import re
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from boostplug.core.extras import imported, needed_by
from boostplug.data.inputs import refuse_absent
from boostplug.data.tables import refuse_repeated

_PARQUET = (".parquet", ".pq")
_SUFFIXES = (".csv", ".tsv", *_PARQUET)
_SEPARATORS = (",", ";", "\t", "|")
_LOOKED_AT = 100  # lines, to see how decimals are written
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_DATE = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
_INTEGER = r"0|-?[1-9]\d{0,17}"  # read as an integer and written again, it is the same text
_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")  # an index without a name, as pandas and Dask write it


def is_table_file(path: Any) -> bool:
    """Return whether a path names a CSV or a Parquet file."""
    return isinstance(path, (str, PathLike)) and _suffix(Path(path)) in _SUFFIXES


def _suffix(path: Path) -> str:
    return Path(re.sub(r"\.(gz|bz2|xz|zst)$", "", path.name.lower())).suffix


def first_row(path: str | PathLike[str]) -> int:
    """Return the number that a spreadsheet gives the first row of a file: 2 below the header of CSV; 0 in Parquet."""
    return 0 if _suffix(Path(path)) in _PARQUET else 2


def read_table_file(
    path: str | PathLike[str],
    *,
    ids: Sequence[str] = (),
    texts: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> Any:
    """Return the table of a CSV or Parquet file; columns of text are categories.

    Parameters
    ----------
    path : str or path-like
        Parquet if its name ends so (``.parquet``, ``.pq``), else CSV with a header, plain or compressed. The separator
        of CSV is found: a comma, semicolon, tab or ``|``; beside a semicolon decimals may have a comma.
    ids : sequence of str
        Columns of ids, which are texts as written, or integers where all are written as such. Only an empty cell is
        missing: NA is an id.
    texts : sequence of str
        Columns that are text, whatever they look like, since those of the training set are.
    columns : mapping of str to str, optional
        Columns to read, by the arguments that name them. Default: all.

    Returns
    -------
    pandas.DataFrame or pyarrow.Table

    Warns
    -----
    UserWarning
        If a column has no name; it is left out.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read, a name stands twice, the header is a single name, or a column is not there.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    read = _read_parquet if _suffix(path) in _PARQUET else _read_csv
    return read(path, ids, texts, columns)


def _chosen(path: Path, columns: Mapping[str, str] | None, there: Sequence[str]) -> list[str]:
    """Return the columns of a file to read, in its order."""
    refuse_repeated(there, path.name)
    if columns is None:
        return [*there]
    for argument, name in columns.items():
        refuse_absent(name, f"{argument} in {path.name}", there)
    return [name for name in there if name in columns.values()]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file in errors of pandas and pyarrow."""
    try:
        yield
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


def _left_out(path: Path, places: Sequence[int]) -> None:
    """Warn of columns without a name."""
    if places:
        numbers = ", ".join(str(place + 1) for place in places)
        warnings.warn(
            f"{path.name}: column {numbers} has no name and is left out; pandas writes its index so, unless "
            "index=False. Name it in the header to use it",
            UserWarning,
            stacklevel=4,
        )


# --- CSV -----------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, ids: Sequence[str], texts: Sequence[str], columns: Mapping[str, str] | None) -> Any:
    pandas = imported("pandas", "CSV files need")
    separator, header = _dialect(pandas, path)
    named = [name for name in header if name]
    read = _chosen(path, columns, named)
    if columns is None:
        _left_out(path, [place for place, name in enumerate(header) if not name])
    as_text = [name for name in read if name in ids or name in texts]

    def table(names: Sequence[str], **options: Any) -> Any:
        with _reading(path):
            found = pandas.read_csv(path, sep=separator, usecols=names, low_memory=False, **options)
        if len(names) and not isinstance(found.index, pandas.RangeIndex):
            raise ValueError(f"{path.name}: rows have more cells than the header has names; name each column")
        return found

    decimal = "," if separator == ";" and _has_decimal_commas(table(read, nrows=_LOOKED_AT, dtype=str)) else "."
    frame = table([name for name in read if name not in as_text], decimal=decimal)
    as_text += [name for name in frame if _holds_text(pandas, frame[name])]
    written = table(as_text, dtype=str, keep_default_na=False, na_values=[""])
    for name in as_text:
        column = written[name]
        frame[name] = _as_ids(column) if name in ids else column.astype("category") if name in texts else _typed(column)
    return frame[read]


def _dialect(pandas: Any, path: Path) -> tuple[str, list[str]]:
    """Return separator and header: the separator that makes the most columns."""
    headers = {}
    for separator in ("\t",) if _suffix(path) == ".tsv" else _SEPARATORS:
        with _reading(path):
            line = pandas.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
        headers[separator] = line.iloc[0].tolist()
    separator = max(headers, key=lambda one: len(headers[one]))
    if len(headers[separator]) == 1:
        raise ValueError(
            f"{path.name} has one column, {headers[separator][0]!r}; columns must be separated by "
            "',', ';', a tab or '|'"
        )
    return separator, headers[separator]


def _has_decimal_commas(frame: Any) -> bool:
    return any(_DECIMAL_COMMA.fullmatch(cell) for name in frame for cell in frame[name].dropna())


def _holds_text(pandas: Any, column: Any) -> bool:
    """Return whether a column holds texts, beside truth values with missing ones."""
    return not pandas.api.types.is_numeric_dtype(column.dtype) and any(isinstance(one, str) for one in column)


def _as_ids(column: Any) -> Any:
    """Return ids as written, as integers where that loses nothing."""
    codes, values = column.factorize()
    if (codes >= 0).all() and values.str.fullmatch(_INTEGER).all():
        return values.astype("int64").take(codes)
    return column.astype(object)


def _typed(column: Any) -> Any:
    """Return a column of texts as what they are: numbers too long for an integer, dates, or categories."""
    pandas = imported("pandas", "CSV files need")
    kinds = column.astype("category")
    values = kinds.cat.categories.to_series()
    if values.str.fullmatch(_DATE).all():
        return column.map(pandas.Timestamp, na_action="ignore").astype(object)
    numbers = pandas.to_numeric(values, errors="coerce")
    return column.map(numbers) if numbers.notna().all() else kinds


# --- Parquet -------------------------------------------------------------------------------------------------------


def _read_parquet(path: Path, ids: Sequence[str], texts: Sequence[str], columns: Mapping[str, str] | None) -> Any:
    with needed_by("Parquet files need", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet
    with _reading(path), parquet.ParquetFile(path) as file:
        there = file.schema_arrow.names
        named = [name for name in there if not _INDEX.fullmatch(name)]
        table = file.read(columns=_chosen(path, columns, named))
    if columns is None:
        _left_out(path, [place for place, name in enumerate(there) if name not in named])
    types = pa.types
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_text = types.is_string(kind) or types.is_large_string(kind)
        if name in ids and not (types.is_integer(kind) or types.is_floating(kind)):
            table = table.set_column(place, name, column.cast(kind).cast(pa.large_string()))
        elif name in texts or (is_text and not types.is_dictionary(column.type)):
            table = table.set_column(place, name, column.cast(kind).cast(pa.large_string()).dictionary_encode())
    return table
