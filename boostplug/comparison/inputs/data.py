"""Data of comparisons in any form that users have, as folds of training, validation and test."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from boostplug.comparison.inputs.columns import PARTS, TODAY, TableColumns, read_table, scores_today, split_by_query
from boostplug.core.checks import column_names, shown
from boostplug.core.warning import warn_user
from boostplug.data.files import code_of_reading, first_row, is_table_file
from boostplug.data.inputs import CheckedInputs, Inputs, Source, check_has_column, is_missing
from boostplug.data.tables import Schema, align, check_computed, is_frame, schema_of, with_used_categories
from boostplug.datasets import RankingData, load_fold, load_folds, load_letor
from boostplug.datasets.letor import load_files

_FEW_OF_QUERIES = 0.1  # share of the queries that have two documents


def folds_of(train: Any, valid: Any, test: Any, columns: TableColumns) -> list[list[CheckedInputs]]:
    """Return folds of three checked parts.

    Parameters
    ----------
    train, valid, test
        Arguments of `boostplug.compare`.
    columns : TableColumns

    Raises
    ------
    ValueError
        If something is missing or invalid.
    """
    read = _read_folds(train, valid, test, columns)
    folds = [_fold(fold, columns, crossed=len(read) > 1 and is_one_table(train)) for fold in read]
    for first, *_ in folds:
        _check_sizes(first, columns)
    return folds


def _check_sizes(train: CheckedInputs, columns: TableColumns) -> None:
    """Raise if no query has two documents, and warn if few have: the query ids may be another column."""
    sizes = train.queries.group
    n = int((sizes > 1).sum())
    if n < _FEW_OF_QUERIES * len(sizes):
        is_it = "" if columns.label is None else f" Is {columns.qid!r} the column of query ids? Pass qid= (--qid)."
        if n == 0:
            raise ValueError(f"No query of train has two documents, so there is nothing to rank.{is_it}")
        warn_user(f"Hardly any query has two documents: {n:,} of {len(sizes):,} in train.{is_it}")


def name_of_folder(folder: Path) -> str:
    """Return the name of a folder's data in tables: the folder's name, with the data set's for a fold."""
    parts = folder.resolve().parts
    return "/".join(parts[-2:] if parts[-1].startswith("Fold") else parts[-1:])


def _read_folds(train: Any, valid: Any, test: Any, columns: TableColumns) -> Sequence[Sequence[Any]]:
    """Return train, valid and test of each fold: a single table is read and split, folders are loaded."""
    check_computed(train, "train")
    parts, alone = (train, valid, test), valid is None and test is None
    if alone and is_one_table(train):
        source = _source_of(train)
        if isinstance(train, (str, PathLike)):
            train = read_table(train, PARTS[0], columns) if source.file else load_letor(train)
        return split_by_query(train, columns, source)
    for what in ("split", "folds"):
        if getattr(columns, what) is not None:
            raise ValueError(f"{what} divides one table or file; pass only that as train, or leave out {what}")
    if alone:
        return _folds(train)
    if valid is None or test is None:
        raise ValueError("give train, valid and test; or only train: one table or file, a fold, or a list of folds")
    if all(isinstance(part, (str, PathLike)) and not is_table_file(part) for part in parts):
        return [load_files(parts)]
    return [parts]


def is_one_table(data: Any) -> bool:
    """Return whether data are one table, which is split by query: a DataFrame, a RankingData, or a file."""
    is_file = isinstance(data, (str, PathLike)) and Path(data).is_file()
    return is_file or is_table_file(data) or is_frame(data) or (isinstance(data, Mapping) and "X" in data)


def _folds(train: Any) -> Sequence[Sequence[Any]]:
    """Return the folds of a folder (of files, or of folders Fold1, Fold2, …), of a fold, or of a list of folds."""
    if isinstance(train, (str, PathLike)):
        has_folds = any(path.is_dir() for path in Path(train).glob("Fold*"))
        return load_folds(train) if has_folds else [load_fold(train)]
    is_fold = isinstance(train, tuple) and len(train) == len(PARTS) and not isinstance(train[0], (tuple, list))
    try:
        folds = [tuple(fold) for fold in ([train] if is_fold else train)]
    except TypeError:
        folds = []
    if not folds or any(len(fold) != len(PARTS) for fold in folds):
        raise ValueError(
            "without valid and test, train must be one DataFrame, RankingData or file, a fold (train, valid, test), a "
            f"list of folds, or a folder of LETOR files; got {shown(train)}"
        )
    return folds


def code_that_reads(path: Any, qid: str, X: Any) -> str:
    """Return the code that reads a file or folder as a comparison does; `X` are the features of its training part."""
    path = Path(path)
    if is_table_file(path):
        return code_of_reading(path, qid, X)
    if path.is_file():
        return f"bp.datasets.load_letor({str(path)!r}, n_features={X.shape[1]})"
    inner = [*path.glob("Fold*")]
    return f"bp.datasets.load_fold{'s' * (len(inner) > 1)}({str(inner[0] if len(inner) == 1 else path)!r})"


def _source_of(data: Any) -> Source:
    if isinstance(data, Inputs):
        return data.source
    return Source(Path(data).name, first_row(data)) if is_table_file(data) else Source()


def _fold(parts: Sequence[Any], columns: TableColumns, *, crossed: bool) -> list[CheckedInputs]:
    """Return a fold of data parts; the rows of the training part decide the type and the categories of each column.

    With `crossed` all folds keep the categories of the table, so that the mean of their models is a model.
    """
    fold: list[CheckedInputs] = []
    for data, name in zip(parts, PARTS, strict=True):
        train = fold[0].schema if fold else None
        source = _source_of(data)
        title = f"{name} ({source.file})" if source.file else name
        table = read_table(data, name, columns, train) if is_table_file(data) else data
        try:
            part = _part(table, source, title, columns if name == PARTS[0] else _judged_columns(table, columns), train)
        except ValueError as error:
            raise ValueError(str(error) if title in str(error) else f"{title}: {error}") from None
        if not part.queries.n_rows:
            raise ValueError(f"{name} has no rows; pass a part with queries")
        if not fold and not crossed:
            part = part._replace(X=with_used_categories(part.X))
        fold.append(part)
    return fold


def _judged_columns(table: Any, columns: TableColumns) -> TableColumns:
    """Return the columns of a validation or test part: without positions if it has none, as judges see no page."""
    name = columns.position
    if name is None or not is_frame(table):
        return columns
    if name not in column_names(table):
        return columns._replace(position=None)
    return columns._replace(position=None, drop=(*columns.drop, name)) if is_missing(table[name]).all() else columns


def _part(data: Any, source: Source, title: str, columns: TableColumns, train: Schema | None) -> CheckedInputs:
    """Return a part from a RankingData, its arguments, a DataFrame, or a part of one."""
    check_computed(data, title)
    if isinstance(data, tuple) and len(data) == 3:
        data = dict(zip(("X", "y", "qid"), data, strict=True))
    if isinstance(data, Mapping):
        data = RankingData(**data)
        if given := columns._replace(qid="qid", keep=(), split=None, folds=None, today=None).given():
            what = "a RankingData, as a LETOR file is read, has no columns of labels, weights and the like"
            raise ValueError(f"{what}; leave out {next(iter(given))}, or pass tables as RankingData.from_frame(…), too")
        schema = schema_of(data.X)._replace(names=data.feature_names)
        X = data.X if train is None else align(data.X, train, title, schema=schema)
        queries, names = data.queries, column_names(data.X) or data.feature_names or ()
        for name in columns.keep:
            check_has_column(name, "keep", names)
        if columns.today is not None:
            labels = {**queries.labels_by_name, TODAY: scores_today(columns.today, data.X, names)}
            queries = queries.replaced(labels_by_name=labels)
        return CheckedInputs(X, queries, data.qid, feature_names=data.feature_names)
    if is_frame(data):
        data = columns.inputs(data, source)
    elif not isinstance(data, Inputs):
        raise ValueError(
            "it must be a boostplug.RankingData(X, y, qid=…), (X, y, qid), or a DataFrame or file with label= naming "
            f"its column of grades; got {type(data).__name__}"
        )
    inputs: Inputs = replace(data, name=title)
    return inputs.check(train)
