"""`load_clicks`: click logs as CSV and Parquet files."""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_column_names, refuse_rounded_ids, refuse_where, shown
from boostplug.core.extras import needed_by
from boostplug.data.click_log import ClickLog

__all__ = ["load_clicks"]


def load_clicks(
    path: str | PathLike[str],
    *,
    clicked: str = "clicked",
    position: str = "position",
    qid: str = "qid",
    query: str | None = None,
    document: str | None = None,
    ranker: str | None = None,
    impressions: str | None = None,
) -> ClickLog:
    """Read a click log from a CSV or Parquet file.

    The rows of a page need not stand together: pages come in the order of their first rows, and the rows of a page in
    the order of the file.

    Parameters
    ----------
    path : str or path-like
        A Parquet file if the name ends in ``.parquet`` or ``.pq``, else CSV with a header, which may be compressed
        (``.csv.gz``). Other columns are not read.
    clicked, position, qid : str, default "clicked", "position", "qid"
        Names of columns: whether, or with `impressions` how often, the row was clicked; its place on the page, from 1;
        the id of its page.
    query, document, ranker, impressions : str, optional
        Names of columns that the `ClickLog` holds too.

    Returns
    -------
    ClickLog

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If pandas is not installed, or for a Parquet file pyarrow.
    ValueError
        If the file cannot be read, a column is missing, an id is missing, or a number is impossible. The message names
        file, argument, column and row; rows count from 0, without the header.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"session": ["a", "b", "a"], "rank": [1, 1, 2], "click": [0, 1, 1]})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.csv")
    ...     frame.to_csv(path, index=False)
    ...     load_clicks(path, clicked="click", position="rank", qid="session")
    ClickLog(n_pages=2, n_rows=3, n_clicks=2)
    """
    named: dict[str, Any] = {"clicked": clicked, "position": position, "qid": qid}
    optional = {"query": query, "document": document, "ranker": ranker, "impressions": impressions}
    named |= {name: column for name, column in optional.items() if column is not None}
    check_column_names(named)
    if not isinstance(path, (str, PathLike)):
        raise ValueError(f"path must be a CSV or Parquet file; got {shown(path)}")
    frame = _read(Path(path), named)
    try:
        return _log_of({name: frame[column] for name, column in named.items()})
    except (TypeError, ValueError) as error:  # the first for ids that are lists
        said = ", ".join(f"{name}={column!r}" for name, column in named.items())
        raise ValueError(f"{path}: {error} (rows count from 0; columns: {said})") from None


def _read(path: Path, named: Mapping[str, str]) -> Any:
    """Return the named columns as a pandas DataFrame."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    with needed_by("click logs need", "pandas"):
        import pandas as pd
    is_parquet = path.suffix.lower() in (".parquet", ".pq")
    if is_parquet:
        with needed_by("Parquet files need", "pyarrow"):
            from pyarrow.parquet import read_schema
    with _reading(path):
        there = read_schema(path).names if is_parquet else list(pd.read_csv(path, nrows=0).columns)
    for name, column in named.items():
        if column not in there:
            raise ValueError(f"{path} has no column {column!r} for {name}; its columns are {shown(there)}")
    read = list(dict.fromkeys(named.values()))
    with _reading(path):
        if is_parquet:
            return pd.read_parquet(path, columns=read)
        # An id may read "NA" or "null"; only empty cells are missing.
        return pd.read_csv(path, usecols=read, keep_default_na=False, na_values=[""], low_memory=False)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file in errors of pandas and pyarrow."""
    try:
        yield
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None


def _log_of(columns: Mapping[str, Any]) -> ClickLog:
    """Return the log of pandas columns, checked in the order of the file, then sorted by page."""
    ids = {name: _ids(name, columns[name]) for name in ("qid", "query", "document", "ranker") if name in columns}
    counts = {name: _numbers(name, columns[name]) for name in ("clicked", "position", "impressions") if name in columns}
    del ids["qid"]
    page = columns["qid"].factorize()[0]
    clicked = counts.pop("clicked")
    ClickLog(clicked, group=[len(page)], **counts, **ids)
    order = np.argsort(page, kind="stable")
    taken: dict[str, Any] = {name: values[order] for name, values in (counts | ids).items()}
    return ClickLog(clicked[order], group=np.bincount(page), **taken)


def _ids(name: str, column: Any) -> NDArray[Any]:
    ids: NDArray[Any] = column.to_numpy()
    refuse_where(name, column.isna().to_numpy(), ids, "is not an id")
    refuse_rounded_ids(name, ids)
    return ids


def _numbers(name: str, column: Any) -> NDArray[np.float64]:
    import pandas as pd

    values = pd.to_numeric(column, errors="coerce")
    refuse_where(name, values.isna().to_numpy(), column.to_numpy(), "is no number")
    found: NDArray[np.float64] = values.to_numpy(np.float64)
    return found
