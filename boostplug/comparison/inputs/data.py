"""Data of comparisons in any form that users have, as folds of training, validation and test."""

import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from boostplug.comparison.inputs.checks import Source, check_table, refuse_unusable
from boostplug.comparison.inputs.frames import Columns, features_only, first_row, is_table_file, parts_of, read_table
from boostplug.comparison.training.frameworks import Part
from boostplug.core.checks import column_names, shown
from boostplug.data.tables import Table, align_columns, is_frame, refuse_uncomputed, split_columns, table_of
from boostplug.datasets import Fold, RankingData, load_fold, load_folds
from boostplug.datasets.letor import load_files

__all__ = ["PARTS", "Columns", "folds_of", "folds_of_folder", "name_of_folder"]

PARTS = ("train", "valid", "test")
_FEW = 0.1  # of the queries
_FORMS = (
    "a boostplug.RankingData(X, y, qid=…), (X, y, qid), a mapping with X, y and qid or group, or a DataFrame with "
    "label= naming its column of grades"
)


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
    folds = [
        _fold([_data(data, name, columns) for data, name in zip(fold, PARTS, strict=True)])
        for fold in _triples(train, valid, test, columns)
    ]
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


def _triples(train: Any, valid: Any, test: Any, columns: Columns) -> list[tuple[Any, Any, Any]]:
    if (valid is None) != (test is None):
        raise ValueError("give train, valid and test; or only train: one DataFrame or file, a fold, or a list of folds")
    if valid is not None:
        if columns.split is not None:
            raise ValueError("split divides one DataFrame into three parts; leave it out beside valid and test")
        train, valid, test = (
            _read(part, name, columns) if is_table_file(part) else part
            for part, name in zip((train, valid, test), PARTS, strict=True)
        )
        parts = (train, valid, test)
        if all(isinstance(part, (str, PathLike)) for part in parts):
            return [Fold(*load_files([_file(part, name) for part, name in zip(parts, PARTS, strict=True)]))]
        return [parts]
    if is_table_file(train):
        return [tuple(parts_of(_read(train, "train", columns), columns))]
    refuse_uncomputed(train, "train")
    if is_frame(train):
        check_table(train, columns, Source(), "train")
        return [tuple(parts_of(train, columns))]
    if columns.split is not None:
        raise ValueError(f"split divides one DataFrame by query; train is {shown(train)}: leave out split")
    if isinstance(train, (str, PathLike)):
        folder = Path(train)
        if not folder.is_dir():
            what = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
            raise FileNotFoundError(f"train: {what}; name the folder of a fold or of Fold*, or three files")
        return [*folds_of_folder(folder)]
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


def _read(path: Any, name: str, columns: Columns) -> Any:
    """Return a CSV or Parquet file as a DataFrame, checked."""
    frame = read_table(path, name)
    check_table(frame, columns, Source(Path(path).name, first_row(path)), name)
    return frame


def _file(path: Any, name: str) -> Path:
    if not Path(path).is_file():
        raise FileNotFoundError(f"{name}: there is no file {path}; check the path")
    return Path(path)


def _is_part(data: Any) -> bool:
    """Return whether something is one part, whether or not it is a whole one."""
    return (
        isinstance(data, Mapping)
        or is_frame(data)
        or (isinstance(data, tuple) and bool(data) and (is_frame(data[0]) or hasattr(data[0], "shape")))
    )


def _data(data: Any, name: str, columns: Columns) -> RankingData:
    """Return a part as `RankingData`; what is wrong with it is said of the part by name."""
    if isinstance(data, RankingData):
        _refuse_columns(columns, data, name)
        return data
    try:
        refuse_uncomputed(data, name)
        if is_frame(data):
            return _from_frame(data, columns, name)
        _refuse_columns(columns, data, name)
        return _from_tuple(data, columns.qid) if isinstance(data, (tuple, list)) else _from_fields(data)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _from_frame(data: Any, columns: Columns, name: str) -> RankingData:
    check_table(data, columns._replace(split=None), Source(), name)
    assert columns.label is not None
    return RankingData.from_frame(
        features_only(data, columns),
        label=columns.label,
        qid=columns.qid,
        weight=columns.weight,
        labels=columns.labels,
        position=columns.position,
    )


def _from_tuple(data: Any, qid: str) -> RankingData:
    if len(data) == 2 and is_frame(data[0]) and qid in column_names(data[0]):
        features, (ids,) = split_columns(data[0], [qid])
        refuse_unusable(features)
        return RankingData(features, data[1], qid=ids)
    if len(data) != 3:
        raise ValueError(
            f"a tuple must be (X, y, qid), or (DataFrame with a column {qid!r}, y); got {len(data)} entries"
        )
    X, y, ids = data
    if len(ids) < len(y) and sum(ids) == len(y):
        raise ValueError(
            f"qid must have one id per row: got {len(ids)} ids for {len(y)} labels. For sizes of queries, pass "
            "bp.RankingData(X, y, group=sizes)."
        )
    return RankingData(X, y, qid=ids)


def _from_fields(data: Any) -> RankingData:
    def get(key: str) -> Any:
        return data.get(key) if isinstance(data, Mapping) else getattr(data, key, None)

    X, y, qid, group, weight, other = map(get, ("X", "y", "qid", "group", "weight", "sample_weight"))
    labels, position = get("labels"), get("position")
    if X is None or y is None:
        raise ValueError(f"it must be {_FORMS}; got {type(data).__name__}")
    if weight is not None and other is not None:
        raise ValueError("it has both weight and sample_weight; keep one of them")
    weight = other if weight is None else weight
    return RankingData(X, y, qid=qid, group=group, weight=weight, labels=labels, position=position)


def _refuse_columns(columns: Columns, data: Any, name: str) -> None:
    """Raise where a column of a DataFrame is named that there is none of."""
    for what, column in (("label", columns.label), ("weight", columns.weight), ("position", columns.position)):
        if column is not None:
            kind = type(data).__name__
            raise ValueError(f"{name} is a {kind} and no DataFrame with a column {column!r}; leave out {what}")
    for what in ("labels", "features", "drop"):
        if getattr(columns, what):
            raise ValueError(f"{name} is a {type(data).__name__} and no DataFrame with named columns; leave out {what}")


def _fold(parts: list[RankingData]) -> list[Part]:
    """Return a fold as comparisons train on it, refusing parts whose features are not the same."""
    first = parts[0]
    for part, name in zip(parts, PARTS, strict=True):
        if not part.n_rows:
            raise ValueError(f"{name} has no rows; pass a part with queries")
        if part.n_features != first.n_features:
            here, there = set(part.feature_names or ()), set(first.feature_names or ())
            if here and there:
                lacks = (
                    f"{name} lacks {sorted(there - here)!r}"
                    if there - here
                    else f"train lacks {sorted(here - there)!r}"
                )
                raise ValueError(f"{lacks}: pass parts with the same columns, or name those to use with features=")
            listed = ", ".join(map(str, sorted({other.n_features for other in parts})))
            raise ValueError(
                f"train, valid and test differ in their number of features ({listed}); load them together with "
                "boostplug.datasets.load_fold, or give load_letor the same n_features"
            )
    features = [
        align_columns(part.X, _table(part), _table(first), name) for part, name in zip(parts, PARTS, strict=True)
    ]
    return [Part(X, part.queries, part.qid, part.feature_names) for X, part in zip(features, parts, strict=True)]


def _table(part: RankingData) -> Table:
    return table_of(part.X, least=0)._replace(names=part.feature_names)
