"""Checks of a DataFrame's columns, in the names and rows of its user; one table is checked before it is split."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.frames import Columns, features_only, refuse_repeated
from boostplug.core.checks import column_names
from boostplug.data.tables import refuse_unreadable_columns, split_columns

__all__ = ["Source", "check_table", "refuse_unusable"]

_MOST_LISTED = 20  # names of columns


class Source(NamedTuple):
    """Source of a DataFrame, and the number of its first row there."""

    file: str = ""
    first_row: int = 0

    def row(self, place: int) -> str:
        """Return what messages call a row."""
        return f"row {self.first_row + place}" + f" of {self.file}" * bool(self.file)


def check_table(frame: Any, columns: Columns, source: Source, name: str) -> None:
    """Raise for columns that are not there, labels and query ids without a value, and features that no framework reads.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or pyarrow
    columns : Columns
    source : Source
    name : str
        What messages call a DataFrame that comes from no file.
    """
    refuse_repeated(column_names(frame), source.file or name)
    _refuse_absent(frame, columns)
    _check_labels(frame[columns.label], f"label: column {columns.label!r}", source)
    _refuse_missing(
        frame[columns.qid], f"qid: column {columns.qid!r}", source, "Drop such rows, or give the query an id."
    )
    no_features = [name for name in dict.fromkeys(columns.named) if name not in columns.drop]
    refuse_unusable(split_columns(features_only(frame, columns), no_features)[0])


def _refuse_absent(frame: Any, columns: Columns) -> None:
    there = column_names(frame)
    if columns.label is None:
        if columns.qid not in there:
            which, options = "Which columns hold the labels and the query ids?", "label= and qid= (--label, --qid)"
        else:
            which, options = "Which column holds the labels?", "label= (--label)"
        raise ValueError(f"{which} Pass {options}, of {_listed(there)}; or a tuple (DataFrame, labels).")
    for what, name in _asked(columns):
        if name not in there:
            close = get_close_matches(name, there, n=1)
            raise ValueError(
                f"there is no column {name!r} for {what}"
                + (f"; did you mean {close[0]!r}? " if close else "; ")
                + f"the columns are {_listed(there)}"
            )


def _asked(columns: Columns) -> Iterator[tuple[str, str]]:
    """Yield each argument that names a column, with the name."""
    for what, value in columns._asdict().items():
        if isinstance(value, str):
            yield what, value
        elif value is not None and what != "split":
            yield from ((what, name) for name in value)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(map(repr, names[:_MOST_LISTED])) + more


def _check_labels(column: Any, what: str, source: Source) -> None:
    """Raise for labels that are text or missing."""
    values = np.asarray(column)
    if values.dtype.kind in "OU" and (text := next((v for v in values if isinstance(v, str)), None)) is not None:
        raise ValueError(f"{what} holds text ({text!r}, …). Map it to numbers, such as 0 to 4.")
    _refuse_missing(column, what, source, "Drop such rows.")


def _refuse_missing(column: Any, what: str, source: Source, remedy: str) -> None:
    missing = _is_missing(column)
    if missing.any():
        n, place = int(missing.sum()), source.row(int(np.argmax(missing)))
        more = f" and {n - 1} more" if n > 1 else ""
        raise ValueError(f"{what} has no value in {place}{more}. {remedy}")


def _is_missing(column: Any) -> NDArray[np.bool_]:
    """Return where a column has no value, or NaN."""
    if hasattr(column, "isna"):  # of pandas
        return np.asarray(column.isna(), dtype=bool)
    values = np.asarray(column)
    if values.dtype.kind == "O":
        return np.array([value is None for value in values], dtype=bool)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def refuse_unusable(X: Any) -> None:
    """Raise for columns of pandas that hold dates or text, or numbers as objects, with the remedy."""
    refuse_unreadable_columns(X, lambda names: f"pass drop={names!r} (--drop {','.join(names)})")
