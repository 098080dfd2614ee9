"""Data of comparisons in any form that users have, as folds of training, validation and test."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.comparison.inputs.frames import Columns, how_to_drop, parts_of
from boostplug.comparison.training.frameworks import Part
from boostplug.core.checks import column_names, shown
from boostplug.data.files import first_row, is_table_file, read_table_file
from boostplug.data.inputs import Inputs, Source
from boostplug.data.tables import Table, align, is_frame, refuse_uncomputed, table_of
from boostplug.datasets import Fold, RankingData, load_fold, load_folds
from boostplug.datasets.letor import load_files

PARTS = ("train", "valid", "test")
_FEW = 0.1  # of the queries
_FORMS = (
    "a boostplug.RankingData(X, y, qid=…), (X, y, qid), a mapping with X, y and qid or group, or a DataFrame with "
    "label= naming its column of grades"
)
_FIELDS = ("X", "y", "qid", "group", "weight", "labels", "position")


def folds_of(train: Any, valid: Any, test: Any, columns: Columns) -> list[list[Part]]:
    """Return folds of three parts, checked.

    Parameters
    ----------
    train, valid, test
        As `boostplug.compare` takes them.
    columns : Columns

    Raises
    ------
    ValueError
        If something is missing, or makes no sense.
    """
    columns.check()
    folds = [_fold(fold, columns) for fold in _triples(train, valid, test, columns)]
    for first, *_ in folds:
        _check_sizes(first, columns)
    return folds


def _check_sizes(train: Part, columns: Columns) -> None:
    """Raise where no query has two documents, and warn where hardly any has: the ids may be of another column."""
    sizes = np.diff(train.queries.boundaries)
    n = int((sizes > 1).sum())
    if n < _FEW * len(sizes):
        is_it = "" if columns.label is None else f" Is {columns.qid!r} the column of query ids? Pass qid= (--qid)."
        if n == 0:
            raise ValueError(f"No query of train has two documents, so there is nothing to rank.{is_it}")
        warnings.warn(f"Hardly any query has two documents: {n:,} of {len(sizes):,} in train.{is_it}", stacklevel=2)


def name_of_folder(folder: Path) -> str:
    """Return what a table calls the data of a folder: its name, and of one fold the set's too."""
    parts = folder.resolve().parts
    return "/".join(parts[-2:] if parts[-1].startswith("Fold") else parts[-1:])


def folds_of_folder(folder: Path) -> list[Fold]:
    """Return the folds of a folder that holds the files of one, or folders Fold1, Fold2 and so on."""
    if any(path.is_dir() for path in folder.glob("Fold*")):
        return load_folds(folder)
    return [load_fold(folder)]


def _triples(train: Any, valid: Any, test: Any, columns: Columns) -> Sequence[Sequence[Any]]:
    """Return train, valid and test of each fold, as they were passed; of one table as `Inputs`."""
    if (valid is None) != (test is None):
        raise ValueError("give train, valid and test; or only train: one DataFrame or file, a fold, or a list of folds")
    if valid is not None:
        if columns.split is not None:
            raise ValueError("split divides one DataFrame into three parts; leave it out beside valid and test")
        parts = (train, valid, test)
        if all(isinstance(part, (str, PathLike)) and not is_table_file(part) for part in parts):
            return [load_files([_file(part, name) for part, name in zip(parts, PARTS, strict=True)])]
        return [parts]
    if is_table_file(train):
        return [parts_of(_read(train, "train", columns), columns, Source(Path(train).name, first_row(train)))]
    refuse_uncomputed(train, "train")
    if is_frame(train):
        return [parts_of(train, columns, Source())]
    if columns.split is not None:
        raise ValueError(f"split divides one DataFrame by query; train is {shown(train)}: leave out split")
    if isinstance(train, (str, PathLike)):
        folder = Path(train)
        if not folder.is_dir():
            what = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
            raise FileNotFoundError(f"train: {what}; name the folder of a fold or of Fold*, or three files")
        return folds_of_folder(folder)
    if (hasattr(train, "train") and hasattr(train, "test")) or (
        isinstance(train, tuple) and len(train) == len(PARTS) and all(map(_is_part, train))
    ):
        train = [train]
    try:
        folds = [] if _is_part(train) else [tuple(fold) for fold in train]
    except TypeError:
        folds = [()]
    if not folds or any(len(fold) != len(PARTS) for fold in folds):
        raise ValueError(
            "without valid and test, train must be a fold (train, valid, test), a list of folds, or a folder of LETOR "
            f"files; got {shown(train)}"
        )
    return folds


def _read(path: Any, name: str, columns: Columns, train: Table | None = None) -> Any:
    """Return the table of a CSV or Parquet file; what is text in the training set is text in the others."""
    categories = {} if train is None or train.names is None else train.categories or {}
    texts = [train.names[k] for k, known in categories.items() if all(isinstance(one, str) for one in known)]  # type: ignore[union-attr, index]
    split = [columns.split] if isinstance(columns.split, str) else []
    try:
        return read_table_file(path, ids=[columns.qid, *split], texts=texts)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{name}: {error}") from None


def _file(path: Any, name: str) -> Path:
    if not Path(path).is_file():
        raise FileNotFoundError(f"{name}: there is no file {path}; check the path")
    return Path(path)


def _is_part(data: Any) -> bool:
    """Return whether something is one part, whether or not it is a complete one."""
    return (
        isinstance(data, Mapping)
        or is_frame(data)
        or (isinstance(data, tuple) and bool(data) and (is_frame(data[0]) or hasattr(data[0], "shape")))
    )


def _fold(parts: Sequence[Any], columns: Columns) -> list[Part]:
    """Return a fold as comparisons train on it; the training part decides the type of each column."""
    fold: list[Part] = []
    for data, name in zip(parts, PARTS, strict=True):
        train = None if not fold else table_of(fold[0].X)._replace(names=fold[0].feature_names)
        title = f"{name} ({Path(data).name})" if is_table_file(data) else name
        try:
            part = _part(
                _read(data, name, columns, train) if is_table_file(data) else data, data, title, columns, train
            )
        except ValueError as error:
            raise ValueError(str(error) if title in str(error) else f"{title}: {error}") from None
        if not part.queries.n_rows:
            raise ValueError(f"{name} has no rows; pass a part with queries")
        fold.append(part)
    return fold


def _part(data: Any, passed: Any, name: str, columns: Columns, train: Table | None) -> Part:
    """Return a part from any form of data; `passed` is what the user gave, such as the path of the table `data`."""
    if isinstance(data, RankingData):
        _refuse_columns(columns, data)
        table = table_of(data.X)._replace(names=data.feature_names)
        X = data.X if train is None else align(data.X, train, name, table=table)
        return Part(X, data.queries, data.qid, data.feature_names)
    given = data if isinstance(data, Inputs) else _inputs(data, passed, columns)
    checked = replace(given, name=name).checked(train)
    return Part(checked.X, checked.queries, checked.qid, checked.table.names)


def _inputs(data: Any, passed: Any, columns: Columns) -> Inputs:
    refuse_uncomputed(data, "it")
    if is_frame(data):
        source = Source(Path(passed).name, first_row(passed)) if is_table_file(passed) else Source()
        return columns.inputs(data, source)
    _refuse_columns(columns, data)
    if isinstance(data, (tuple, list)):
        return _from_tuple(data, columns)
    fields: dict[str, Any] = {
        name: data.get(name) if isinstance(data, Mapping) else getattr(data, name, None) for name in _FIELDS
    }
    if fields["X"] is None or fields["y"] is None:
        raise ValueError(f"it must be {_FORMS}; got {type(data).__name__}")
    if fields["qid"] is not None:
        fields["group"] = None  # both say the same
    return Inputs(**fields)


def _from_tuple(data: Sequence[Any], columns: Columns) -> Inputs:
    if len(data) == 2 and is_frame(data[0]) and columns.qid in column_names(data[0]):
        return Inputs(X=data[0], y=data[1], qid=columns.qid, how_to_drop=how_to_drop)
    if len(data) != 3:
        raise ValueError(
            f"a tuple must be (X, y, qid), or (DataFrame with a column {columns.qid!r}, y); got {len(data)} entries"
        )
    X, y, ids = data
    if not isinstance(ids, str) and len(ids) < len(y) and sum(ids) == len(y):
        raise ValueError(
            f"qid must have one id per row: got {len(ids)} ids for {len(y)} labels. For sizes of queries, pass "
            "bp.RankingData(X, y, group=sizes)."
        )
    return Inputs(X=X, y=y, qid=ids)


def _refuse_columns(columns: Columns, data: Any) -> None:
    """Raise where columns are named of data that have none."""
    named = {"qid", "split"}
    what = next((what for what in columns.given() if what not in named), None)
    if what is not None:
        raise ValueError(f"a {type(data).__name__} is no DataFrame with named columns; leave out {what}")
