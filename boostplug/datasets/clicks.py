"""`load_clicks`: click logs as CSV and Parquet files."""

from os import PathLike
from typing import Any

from boostplug.core.checks import check_column_names, shown
from boostplug.core.extras import imported
from boostplug.data.click_log import ClickLog
from boostplug.data.files import read_table_file

_IDS = ("qid", "query", "document", "ranker")


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

    The log has the rows of the file in its order. So the rows of a page must stand together there.

    Parameters
    ----------
    path : str or path-like
        A Parquet file if the name ends in ``.parquet`` or ``.pq``, else CSV with a header. CSV may be compressed
        (``.csv.gz``), and its separator is found. Other columns are left out. Ids are texts as written, or integers
        where all are written as such.
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
        If the file cannot be read, a column is missing, an id is missing, a number is impossible, or other rows stand
        between those of a page. The message names file, argument, column and row; rows count from 0, without the
        header.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"session": ["a", "a", "b"], "rank": [1, 2, 1], "click": [0, 1, 1]})
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
    table = read_table_file(path, ids=[column for name, column in named.items() if name in _IDS], columns=named)
    try:
        return ClickLog(**{name: _as_ids_or_numbers(name, table[column]) for name, column in named.items()})
    except (TypeError, ValueError) as error:  # the first for ids that are lists
        columns = ", ".join(f"{name}={column!r}" for name, column in named.items())
        raise ValueError(f"{path}: {error} (rows count from 0; columns: {columns})") from None


def _as_ids_or_numbers(name: str, column: Any) -> Any:
    """Return a column of ids, or of numbers."""
    if name in _IDS:
        return column
    pandas = imported("pandas", "files of clicks need")
    is_text = pandas.api.types.infer_dtype(column, skipna=True) == "string"
    return pandas.to_numeric(column, errors="coerce") if is_text else column
