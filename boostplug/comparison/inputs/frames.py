"""DataFrames, and CSV and Parquet files of them: which columns are features, and which query stands in which part."""

import re
from collections import Counter
from collections.abc import Sequence
from math import isclose
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import column_names, shown
from boostplug.core.extras import needed_by
from boostplug.data.tables import split_columns

__all__ = ["Columns", "features_only", "first_row", "is_table_file", "parts_of", "read_table", "refuse_repeated"]

Ints = NDArray[np.int64]
Split = str | Sequence[float]

DEFAULT_SPLIT = (0.6, 0.2, 0.2)
_PARTS = ("train", "valid", "test")
_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq")
_NAMES = {"train": 0, "training": 0, "valid": 1, "vali": 1, "validation": 1, "dev": 1, "test": 2}
_SEED = 0  # of the queries' order
_LOOKED_AT = 100  # texts of a column, to see whether they are dates


class Columns(NamedTuple):
    """Columns of a DataFrame that are no features, those that are, and the split by query."""

    label: str | None = None
    qid: str = "qid"
    weight: str | None = None
    position: str | None = None
    labels: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    split: str | tuple[float, ...] | None = None

    def given(self) -> dict[str, Any]:
        """Return what differs from the defaults."""
        return {what: value for what, value in self._asdict().items() if value != Columns._field_defaults[what]}

    @property
    def named(self) -> list[str]:
        """The names of columns that are no features."""
        split = self.split if isinstance(self.split, str) else None
        return [
            name for name in (self.label, self.qid, self.weight, self.position, split, *self.labels) if name is not None
        ]

    def check(self) -> "Columns":
        """Return itself, refusing what is no name, and no split."""
        for what in ("label", "qid", "weight", "position"):
            name = getattr(self, what)
            if not (isinstance(name, str) or (name is None and what != "qid")):
                example = "; weights as arrays go into RankingData(X, y, weight=…)" if what == "weight" else ""
                raise ValueError(f"{what} must be the name of a DataFrame's column; got {shown(name)}{example}")
        for what in ("labels", "features", "drop"):
            names = getattr(self, what)
            if names is not None and (isinstance(names, str) or not all(isinstance(name, str) for name in names)):
                raise ValueError(f"{what} must be a list of names of columns; got {shown(names)}")
        if self.split is not None and not isinstance(self.split, str):
            _check_shares(self.split)
        return self


def _check_shares(split: Any) -> None:
    """Raise for what is no three shares above 0 that sum to 1."""
    try:
        shares = [float(share) for share in split]
    except (TypeError, ValueError):
        raise ValueError(
            "split must be the shares of queries for train, valid and test, such as (0.6, 0.2, 0.2), or the name of a "
            f"column that holds 'train', 'valid' and 'test'; got {shown(split)}"
        ) from None
    if len(shares) != len(_PARTS):
        raise ValueError(f"split: give three shares, such as 0.6, 0.2 and 0.2; got {len(shares)}.")
    for name, share in zip(_PARTS, shares, strict=True):
        if not share > 0.0:
            raise ValueError(f"split: each share must be above 0; {name} has {share:g}.")
    if not isclose(sum(shares), 1.0):
        raise ValueError(f"split: the three shares must sum to 1; got {sum(shares):g}.")


def is_table_file(path: Any) -> bool:
    """Return whether a path names a CSV or a Parquet file."""
    return isinstance(path, (str, PathLike)) and _suffix(Path(path)) in _SUFFIXES


def _suffix(path: Path) -> str:
    return Path(re.sub(r"\.(gz|bz2|xz|zst)$", "", path.name.lower())).suffix


def read_table(path: str | PathLike[str], name: str) -> Any:
    """Return the pandas DataFrame of a CSV or Parquet file, its text columns as categories."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{name}: there is no file {path}; check the path")
    with needed_by("CSV and Parquet files need", "pandas"):
        import pandas as pd
    suffix = _suffix(path)
    header: Sequence[str] = ()
    try:
        if suffix in (".parquet", ".pq"):
            with needed_by("Parquet files need", "pyarrow"):
                frame = pd.read_parquet(path)
        else:
            separator = "\t" if suffix == ".tsv" else ","
            header = pd.read_csv(path, sep=separator, header=None, nrows=1, dtype=str).iloc[0].dropna().tolist()
            frame = pd.read_csv(path, sep=separator)
    except (ValueError, OSError) as error:
        raise ValueError(f"{name}: {path} cannot be read: {error}") from None
    refuse_repeated(header, path.name)
    text = [column for column in frame if frame[column].dtype.kind == "O" or str(frame[column].dtype).startswith("str")]
    dates = [column for column in text if _are_dates(frame[column])]
    for column in dates:  # which are refused in words, if they are features
        frame[column] = pd.to_datetime(frame[column], errors="coerce")
    return frame.astype(dict.fromkeys([column for column in text if column not in dates], "category"))


def first_row(path: str | PathLike[str]) -> int:
    """Return the number that a spreadsheet gives the first row of a file: 2 below the header of CSV; 0 in Parquet."""
    return 0 if _suffix(Path(path)) in (".parquet", ".pq") else 2


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """Raise where two columns have one name; pandas renames the second when it reads CSV."""
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{what} has {times} columns named {name!r}; rename or remove one.")


def _are_dates(column: Any) -> bool:
    """Return whether all of the first texts of a column begin as dates of ISO 8601 do."""
    first = column.dropna().astype(str).head(_LOOKED_AT)
    return bool(len(first)) and bool(first.str.match(r"\d{4}-\d{2}-\d{2}($|[ T])").all())


def parts_of(frame: Any, columns: Columns) -> list[Any]:
    """Return the training, validation and test part of one DataFrame, split by query; a query's rows stand together.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or pyarrow
        Checked by `check_table`.
    columns : Columns
        With `split`: the shares of queries, drawn with a fixed seed, or a column that names each row's part.

    Raises
    ------
    ValueError
        If a part would be empty, or a query stands in several parts.
    """
    ids = np.asarray(frame[columns.qid]).astype(str)
    _, first, query = np.unique(ids, return_index=True, return_inverse=True)
    n_queries = len(first)
    split = DEFAULT_SPLIT if columns.split is None else columns.split
    if isinstance(split, str):
        part = _parts_by_name(np.asarray(frame[split]), query, split)
        frame = split_columns(frame, [split])[0]
    else:
        if n_queries < 3:
            found = "1 query" if n_queries == 1 else f"{n_queries} queries"
            raise ValueError(
                f"train holds {found}, and a split into three parts needs at least 3; is {columns.qid!r} the column of "
                "query ids? Pass qid= (--qid)."
            )
        edges = np.clip(np.round(np.cumsum(split)[:2] * n_queries).astype(int), [1, 2], [n_queries - 2, n_queries - 1])
        place = np.random.default_rng(_SEED).permutation(n_queries)
        part = np.searchsorted(edges, place, side="right")[query]
    order = np.argsort(first[query], kind="stable")  # queries as they come, their rows together
    return [_rows(frame, order[part[order] == k]) for k in range(3)]


def _parts_by_name(names: NDArray[Any], query: Ints, column: str) -> Ints:
    part = np.array([_NAMES.get(str(name).strip().lower(), -1) for name in names])
    if (part < 0).any():
        wrong = names[np.argmin(part)]
        raise ValueError(f"column {column!r} must hold 'train', 'valid' and 'test'; got {shown(str(wrong))}")
    missing = [name for k, name in enumerate(_PARTS) if not (part == k).any()]
    if missing:
        raise ValueError(f"column {column!r} names no row for {' and '.join(missing)}; give each part some queries")
    n_parts = np.bincount(np.unique(3 * query + part) // 3)  # of each query
    if (n_parts > 1).any():
        raise ValueError(
            f"column {column!r} puts {int((n_parts > 1).sum())} queries into several parts; give all rows of a query "
            "the same part"
        )
    return part


def _rows(frame: Any, rows: Ints) -> Any:
    if hasattr(frame, "iloc"):
        return frame.iloc[rows].reset_index(drop=True)
    return frame.take(rows) if hasattr(frame, "take") else frame[rows]


def features_only(frame: Any, columns: Columns) -> Any:
    """Return a DataFrame without the columns that `features` and `drop` leave out."""
    there = column_names(frame)
    kept = there if columns.features is None else [*columns.features, *columns.named]
    left_out = [name for name in there if name not in kept or name in columns.drop]
    return split_columns(frame, left_out)[0] if left_out else frame
