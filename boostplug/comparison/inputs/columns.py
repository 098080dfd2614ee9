"""A table as input of a comparison: its columns, and its split by query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import as_column_vector, as_floats, check_column_names, check_values, column_names, shown
from boostplug.data.files import read_table_file
from boostplug.data.inputs import CheckedInputs, Inputs, Source, check_has_column
from boostplug.data.tables import Schema, as_features, is_frame, without_columns
from boostplug.datasets.ranking_data import RankingData
from boostplug.selection.split import QuerySplit, part_of

TODAY = "score_in_use"  # the label that holds the score in use
PARTS = ("train", "valid", "test")
DataFolds = Sequence[Sequence[CheckedInputs]]
"""Training, validation and test part of each fold."""
_SINGLE = ("label", "qid", "weight", "position", "today")


class TableColumns(NamedTuple):
    """Columns of a DataFrame that are not features, columns that are, the score in use, and the split by query."""

    label: str | None = None
    qid: str = "qid"
    weight: str | None = None
    position: str | None = None
    labels: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    split: str | tuple[float, ...] | tuple[str, str] | None = None
    folds: int | None = None
    today: str | None = None

    @property
    def by_query(self) -> QuerySplit:
        """The split."""
        return QuerySplit(self.split, self.folds)

    def given(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults."""
        return {what: value for what, value in self._asdict().items() if value != TableColumns._field_defaults[what]}

    def check(self) -> None:
        """Raise for arguments that are not names of columns, and for an invalid split."""
        given = self.given()
        check_column_names({what: given[what] for what in _SINGLE if what in given})
        for what in ("labels", "features", "drop", "keep"):
            names = given.get(what, ())
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise ValueError(f"{what} must be a list of names of columns; got {shown(names)}")
        self.by_query.check()

    def inputs(self, frame: Any, source: Source) -> Inputs:
        """Return the features, labels, ids and weights of a DataFrame, without the columns that are left out."""
        available = column_names(frame)
        if self.label is None:
            raise ValueError(
                "label is missing: name the column that holds the labels (--label), and with qid (--qid) the one of "
                f"the query ids, of {shown(available)}; or pass boostplug.RankingData(DataFrame, labels, qid=…)"
            )
        for what in ("features", "drop", "keep"):
            for name in getattr(self, what) or ():
                check_has_column(name, what, available)
        no_features = (self.label, self.qid, self.weight, self.position, self.by_query.column, *self.labels)
        kept, left_out = available if self.features is None else self.features, {*no_features, *self.drop}
        labels: dict[str, Any] = {name: name for name in self.labels}
        if self.today is not None:
            labels[TODAY] = scores_today(self.today, frame, available)
        return Inputs(
            X=frame,
            y=self.label,
            qid=self.qid,
            weight=self.weight,
            position=self.position,
            labels=labels or None,
            features=[name for name in dict.fromkeys(available) if name in kept and name not in left_out],
            arguments={"y": "label"},
            source=source,
            keep=self.keep,
        )


def as_tuple(given: Any) -> Any:
    """Return an iterable of names or numbers as a tuple; a text, None and what is no iterable stay, to be refused."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else given


def scores_today(today: str, X: Any, names: Sequence[Any]) -> Floats:
    """Return the score in use of each row, higher is better: a column, less is better ("-COLUMN"), or the order."""
    if today in names and (today == "order" or (today.startswith("-") and today[1:] in names)):
        other = "the order of the rows" if today == "order" else f"column {today[1:]!r}, where less is better"
        raise ValueError(f"today={today!r} means the column of that name, or {other}; rename that column")
    if today == "order":
        return -np.arange(X.shape[0], dtype=np.float64)
    name = today if today in names else today.removeprefix("-")
    check_has_column(name, "today", names)
    column = X[name] if is_frame(X) else X[:, [*names].index(name)]
    column = column.toarray().ravel() if hasattr(column, "nnz") else column
    values = as_floats(title := f"today: column {name!r}", as_column_vector(title, column))
    check_values(title, np.isinf(values), values, "is infinite; write a number, or leave the cell empty")
    return values if name == today else -values


def read_table(path: Any, name: str, columns: TableColumns, train: Schema | None = None) -> Any:
    """Return the DataFrame of a CSV or Parquet file; text columns of the training set are read as text."""
    names = train.names if train is not None and train.names is not None else ()
    known = (train and train.categories) or {}
    texts = [names[k] for k, of_column in known.items() if names and all(isinstance(one, str) for one in of_column)]
    split = [columns.split] if isinstance(columns.split, str) else []
    try:
        return read_table_file(path, ids=[columns.qid, *split], texts=texts)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{name}: {error}") from None


def split_by_query(data: Any, columns: TableColumns, source: Source) -> list[list[Any]]:
    """Return the folds of one table, split by query, with adjacent rows of each query.

    With few queries, each query is a test query of one fold, and a validation query of another one; else there is one
    fold of a training, a validation and a test part.

    Parameters
    ----------
    data : DataFrame of pandas, polars or pyarrow, or the fields of a RankingData
    columns : TableColumns
        With `split`: the shares of queries, drawn with a fixed seed, a column with the name of each row's part, or a
        column of times.
    source : Source

    Returns
    -------
    list of [train, valid, test]
        `Inputs`, or `RankingData`, as `data` are.

    Raises
    ------
    ValueError
        If a column is missing or cannot be read, or a query is in several parts.
    """
    given: Any = RankingData(**data) if isinstance(data, Mapping) else columns.inputs(data, source)
    split, values = columns.by_query, None
    if split.column is not None:
        check_has_column(split.column, "split", column_names(given.X))
        values = given.X[split.column]
    if isinstance(given, Inputs):
        given = given.take_columns()
        given = replace(given, y=given.labels_of_rows(), qid=given.ids_of_rows())
        given = replace(given, X=as_features(given.X, source.file or "train"))
    elif values is not None:
        given = replace(given, X=without_columns(given.X, [split.column]), feature_names=None)
    folds = split.rows(given.qid, given.y, values, columns.qid)
    return [[given.of_rows(r) if isinstance(given, Inputs) else part_of(given, r) for r in fold] for fold in folds]
