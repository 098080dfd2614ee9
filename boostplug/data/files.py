"""CSV and Parquet files as DataFrames: ids are texts as written, and a column has one type in the complete file."""

import lzma
import re
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from boostplug.core.checks import shown
from boostplug.core.extras import imported, needed_by
from boostplug.data.inputs import refuse_absent
from boostplug.data.tables import refuse_repeated

_PARQUET = (".parquet", ".pq")
_SUFFIXES = (".csv", ".tsv", *_PARQUET)
_SEPARATORS = (",", ";", "\t", "|")
_COMMA_OF_DECIMALS = r".*,(?!\d{3}\s*$).*|\s*[-+]?(0\d*|\d{4,})?,.*"  # of a number; 1,234 may have one of thousands
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
    """Return the DataFrame of a CSV or Parquet file; columns of text are categories.

    Parameters
    ----------
    path : str or path-like
        Parquet if its name ends so (``.parquet``, ``.pq``), else CSV with a header, plain or compressed. The separator
        of CSV is found: a comma, semicolon, tab or ``|``. Decimals may have a comma where no column has a point, and
        where one holds numbers such as 1,5, in which the comma can mean nothing else.
    ids : sequence of str
        Columns of ids, which are texts as written, or integers where all are written as such. Only an empty cell is
        missing: NA is an id.
    texts : sequence of str
        Columns that are text, whatever they look like, since those of the training set are.
    columns : mapping of str to str, optional
        Columns to read, by the arguments that name them, which see to their types. Default: all.

    Returns
    -------
    pandas.DataFrame

    Warns
    -----
    UserWarning
        If decimals have a comma.

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
    except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


# --- CSV -----------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, ids: Sequence[str], texts: Sequence[str], columns: Mapping[str, str] | None) -> Any:
    pandas = imported("pandas", "CSV files need")
    separator, header, first_line = _dialect(pandas, path)
    read = _chosen(path, columns, [name for name in header if name])
    names = [name or f"{place} without a name" for place, name in enumerate(header)]
    as_text = [name for name in read if name in ids or name in texts]
    common = {"sep": separator, "names": names, "header": first_line, "low_memory": False}
    with _reading(path):  # all columns: pandas sees rows that are too long only then
        frame = pandas.read_csv(path, **common, dtype=dict.fromkeys(as_text, str))
        if not isinstance(frame.index, pandas.RangeIndex):
            raise ValueError(f"its rows have more cells than the {len(header)} names of the header; name each column")
        new = [name for name in read if columns is None and name not in as_text and _holds_text(frame[name])]
        as_written = {**common, "dtype": str, "keep_default_na": False, "na_values": [""]}
        written = pandas.read_csv(path, **as_written, usecols=[*as_text, *new])
        if new and separator != ",":
            with_comma = pandas.read_csv(path, **common, dtype=dict.fromkeys(as_text, str), decimal=",")
            frame = with_comma if _has_decimal_commas(path, frame[read], with_comma[read], written) else frame
    frame = frame[read]
    for name in [*as_text, *(name for name in new if _holds_text(frame[name]))]:
        frame[name] = _as_ids(written[name]) if name in ids else written[name].astype("category")
        if name in new and frame[name].cat.categories.str.fullmatch(_DATE).all():
            frame[name] = pandas.to_datetime(written[name], errors="coerce", format="ISO8601", utc=True)
    return frame


def _dialect(pandas: Any, path: Path) -> tuple[str, list[str], int]:
    """Return separator, header, and the header's line: the separator that makes the most columns.

    One that cuts a quoted name, or cuts the first row into another number of cells, is unlikely. The first line may
    declare it as Excel does: ``sep=;``.
    """
    declared = re.fullmatch(r"sep=(.)", "".join(_cells(pandas, path, "\x01", 0)))
    known = declared[1] if declared else "\t" if _suffix(path) == ".tsv" else _SEPARATORS
    line = int(bool(declared))
    headers = {separator: _cells(pandas, path, separator, line) for separator in known}
    widths = {separator: len(_cells(pandas, path, separator, line + 1)) for separator in known}
    likely = [one for one, names in headers.items() if '"' not in "".join(names) and widths[one] in (0, len(names))]
    separator = max(likely or headers, key=lambda one: len(headers[one]))
    if len(headers[separator]) < 2:
        raise ValueError(f"{path} has one column or none; columns must be separated by ',', ';', a tab or '|'")
    return separator, headers[separator], line


def _cells(pandas: Any, path: Path, separator: str, row: int) -> list[str]:
    """Return the cells of a row, as pandas cuts it; none where it cannot."""
    with _reading(path):
        try:
            found = pandas.read_csv(
                path, sep=separator, header=None, skiprows=row, nrows=1, dtype=str, keep_default_na=False
            )
        except (pandas.errors.EmptyDataError, pandas.errors.ParserError):
            return []
    return [*found.iloc[0]]


def _holds_text(column: Any) -> bool:
    """Return whether a column holds texts, beside truth values with missing ones."""
    return column.dtype.kind not in "biuf" and any(isinstance(one, str) for one in column)


def _as_ids(column: Any) -> Any:
    """Return ids as written, as integers where that loses nothing."""
    codes, values = column.factorize()
    if (codes >= 0).all() and values.str.fullmatch(_INTEGER).all():
        return values.astype("int64").take(codes)
    return column.astype(object)


def _has_decimal_commas(path: Path, frame: Any, with_comma: Any, written: Any) -> bool:
    """Return whether decimals have a comma in a file that is read in both ways, and say so."""
    kinds = zip(frame.items(), with_comma.items(), strict=True)
    changed = {name: of_texts for (name, a), (_, b) in kinds if (of_texts := _holds_text(a)) != _holds_text(b)}
    if not all(changed.values()):  # a number with a point
        return False
    commas = {name: written[name][written[name].str.contains(",", na=False)] for name in changed}
    found = any(values.str.fullmatch(_COMMA_OF_DECIMALS).any() for values in commas.values())
    if found:
        samples = ", ".join(f"{name}: {shown(values.iloc[0])}" for name, values in commas.items())
        warnings.warn(f"{path.name}: the comma is read as a decimal point: {samples}", UserWarning, stacklevel=2)
    return found


# --- Parquet -------------------------------------------------------------------------------------------------------


def _read_parquet(path: Path, ids: Sequence[str], texts: Sequence[str], columns: Mapping[str, str] | None) -> Any:
    pandas = imported("pandas", "Parquet files need")
    with needed_by("Parquet files need", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet
    with _reading(path), parquet.ParquetFile(path) as file:
        there = file.schema_arrow.names
        named = [name for name in there if not _INDEX.fullmatch(name)]
        table = file.read(columns=_chosen(path, columns, named))
    types = pa.types
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        is_id = name in ids and not (types.is_integer(kind) or types.is_floating(kind))
        if not (is_id or name in texts or (is_text and not types.is_dictionary(column.type))):
            continue
        try:
            text = column.cast(kind).cast(pa.large_string())
        except pa.ArrowException as error:
            raise ValueError(f"{path.name}: column {name!r} holds {kind}; convert it ({error})") from None
        table = table.set_column(place, name, text if is_id else text.dictionary_encode())

    def type_in_pandas(kind: Any) -> Any:
        return None if types.is_dictionary(kind) else pandas.ArrowDtype(kind)  # as written; dictionaries are categories

    return table.to_pandas(types_mapper=type_in_pandas, ignore_metadata=True)
