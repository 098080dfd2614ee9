"""CSV and Parquet files as DataFrames: ids are texts as written, and a column has one type in the complete file."""

import lzma
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from boostplug.core.checks import shown
from boostplug.core.extras import imported, needed_by
from boostplug.data.inputs import check_has_column
from boostplug.data.tables import check_unique

_PARQUET = (".parquet", ".pq")
_SUFFIXES = (".csv", ".tsv", *_PARQUET)
_INTEGER = r"0|-?[1-9]\d{0,17}"  # read as an integer and written again, it is the same text
_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")  # an index without a name, as pandas and Dask write it


def is_table_file(path: Any) -> bool:
    """Return whether a path names a CSV or a Parquet file, or a folder that holds only such files."""
    if not isinstance(path, (str, PathLike)):
        return False
    files = files_in(Path(path))
    return _suffix(path) in _SUFFIXES or (bool(files) and all(_suffix(file) in _SUFFIXES for file in files))


def _suffix(path: str | PathLike[str]) -> str:
    return Path(re.sub(r"\.(gz|bz2|xz|zst|zip)$", "", Path(path).name.lower())).suffix


def files_in(path: Path) -> list[Path]:
    """Return the entries of a folder in their natural order, without hidden ones and marks such as _SUCCESS."""
    return sorted((one for one in (path.iterdir() if path.is_dir() else ()) if one.name[0] not in "._"), key=natural)


def natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return what sorts files by the numbers in their names."""
    parts = re.findall(r"(\d+)|(\D+)", path.name)
    return [(int(digits or 0), text) for digits, text in parts], path.name


def first_row(path: str | PathLike[str]) -> int:
    """Return the number that a spreadsheet gives the first row of a file: 2 below the header of CSV, 0 in Parquet."""
    return 0 if Path(path).is_dir() or _suffix(path) in _PARQUET else 2


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
        Parquet if its name ends so (``.parquet``, ``.pq``), else CSV with a header, as pandas reads it. Its separator
        is found: a comma, semicolon, tab or ``|``. Decimals have a point. Or a folder of Parquet files with the same
        columns, as Spark writes it. Their rows come in the natural order of the files' names.
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

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file cannot be read, a name stands twice, the header is a single name, or a column is not there. If a
        folder holds other files than Parquet, or training, validation and test files.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    read = _read_parquet if path.is_dir() or _suffix(path) in _PARQUET else _read_csv
    return read(path, ids, texts, columns)


def code_of_reading(path: Path, id_column: str, frame: Any) -> str:
    """Return a line of pandas' code that reads a file as `read_table_file` has. `frame` has its categories."""
    texts = [name for name, kind in frame.dtypes.items() if hasattr(kind, "categories")]
    if path.is_dir() or _suffix(path) in _PARQUET:
        return f"pd.read_parquet({str(path)!r}{f', read_dictionary={texts}' if texts else ''})"
    dtype = {id_column: "str", **dict.fromkeys(texts, "category")}
    return f"pd.read_csv({str(path)!r}, {f'sep={sep!r}, ' if (sep := _separator(path)) != ',' else ''}dtype={dtype})"


def _chosen(path: Path, columns: Mapping[str, str] | None, there: Sequence[str]) -> list[str]:
    """Return the columns of a file to read, in its order."""
    check_unique(there, path.name)
    if columns is None:
        return [*there]
    for argument, name in columns.items():
        check_has_column(name, f"{argument} in {path.name}", there)
    return [name for name in there if name in columns.values()]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file in errors of pandas and pyarrow."""
    try:
        yield
    except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, BadZipFile) as error:
        remedy = "; save it as UTF-8" * isinstance(error, UnicodeDecodeError)
        raise ValueError(f"{path} cannot be read: {error}{remedy}") from None


# --- CSV -----------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, ids: Sequence[str], texts: Sequence[str], columns: Mapping[str, str] | None) -> Any:
    pandas = imported("pandas", "CSV files need")
    with _reading(path):
        separator = _separator(path)
        first = pandas.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
        header = [*first.iloc[0]]
        if header[0].startswith("sep="):
            raise ValueError("its first line is for Excel only, sep=; remove that line")
    read = _chosen(path, columns, [name for name in header if name])
    with _reading(path):
        dtype = {name: str for name in read if name in ids or name in texts}
        options = {"sep": separator, "low_memory": False, "dtype": dtype}
        frame = pandas.read_csv(path, **options)  # all columns: pandas sees rows that are too long only then
        if not isinstance(frame.index, pandas.RangeIndex):
            raise ValueError(f"its rows have more cells than the {len(header)} names of the header; name each column")
        # No word stands for a missing id.
        options |= {"dtype": str, "keep_default_na": False, "na_values": [""]}
        written = pandas.read_csv(path, **options, usecols=[name for name in read if name in ids])
    frame = frame[read]
    for name in read:
        if name in ids:
            frame[name] = _as_ids(written[name])
        elif columns is None and (name in texts or _holds_text(frame[name])):
            frame[name] = frame[name].astype("category")
    return frame


def _separator(path: Path) -> str:
    """Return the separator that fills the most cells of the first rows."""
    pandas, filled = imported("pandas", "CSV files need"), dict[tuple[int, int], str]()
    for separator in (",", ";", "\t", "|"):
        try:
            first = pandas.read_csv(path, sep=separator, nrows=20, dtype=str, on_bad_lines="skip")
        except (pandas.errors.EmptyDataError, pandas.errors.ParserError):
            continue
        filled[int(first.notna().to_numpy().sum()), first.shape[1]] = separator
    if max(filled, default=(0, 0))[1] < 2:
        raise ValueError("it has one column or none; columns must be separated by ',', ';', a tab or '|'")
    return filled[max(filled)]


def _holds_text(column: Any) -> bool:
    """Return whether a column holds texts, beside truth values with missing ones."""
    return column.dtype.kind not in "biuf" and any(isinstance(one, str) for one in column)


def _as_ids(column: Any) -> Any:
    """Return ids as written, as integers where that loses nothing."""
    codes, values = column.factorize()
    if (codes >= 0).all() and values.str.fullmatch(_INTEGER).all():
        return values.astype("int64").take(codes)
    return column.astype(object)


# --- Parquet -------------------------------------------------------------------------------------------------------


def _is_part_of_table(path: Path) -> bool:
    return path.is_file() and _suffix(path) in _PARQUET and not re.match("(?i)train|vali|dev|test", path.name)


def _read_parquet(path: Path, ids: Sequence[str], texts: Sequence[str], columns: Mapping[str, str] | None) -> Any:
    pandas = imported("pandas", "Parquet files need")
    with needed_by("Parquet files need", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet, types
    files = files_in(path) or [path]
    if path.is_dir() and not all(map(_is_part_of_table, files)):
        raise ValueError(
            f"{path} is a folder of {shown([one.name for one in files_in(path)])}, and only Parquet files are read as "
            "parts of one table; join them into one file, or pass train, valid and test (--train, --valid, --test)"
        )
    with _reading(path):
        there = [name for name in parquet.read_schema(files[0]).names if not _INDEX.fullmatch(name)]
    read = _chosen(path, columns, there)
    with _reading(path):
        table = pa.concat_tables([parquet.ParquetFile(one).read(columns=read) for one in files])
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_text = any(getattr(types, f"is_{text}")(column.type) for text in ("string", "large_string", "string_view"))
        is_id = name in ids and not (types.is_integer(kind) or types.is_floating(kind))
        if is_id or is_text or name in texts:
            try:
                text = column.cast(kind).cast(pa.large_string())
            except pa.ArrowException as error:
                raise ValueError(f"{path.name}: column {name!r} holds {kind}; convert it ({error})") from None
            table = table.set_column(place, name, text if is_id else text.dictionary_encode())

    def type_in_pandas(kind: Any) -> Any:
        return None if types.is_dictionary(kind) else pandas.ArrowDtype(kind)  # as written; dictionaries are categories

    return table.to_pandas(types_mapper=type_in_pandas, ignore_metadata=True)
