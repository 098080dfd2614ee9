"""What comparisons take as data, in whatever form users have it, as folds; and what stands in several parts."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.training.frameworks import Part
from boostplug.core.checks import column_names, shown
from boostplug.data.tables import Table, align_columns, is_frame, refuse_uncomputed, split_columns, table_of
from boostplug.datasets import Fold, RankingData, load_fold, load_folds
from boostplug.datasets.letor import load_files

__all__ = [
    "PARTS",
    "Columns",
    "Content",
    "content_hashes",
    "folds_of",
    "folds_of_folder",
    "name_of_folder",
    "query_codes",
    "shared_data_warning",
]

Hashes = NDArray[np.uint64]

_ROWS = 1 << 16  # of a table at once
_SHIFT = np.uint64(32)
_MISSING = np.uint64(0x7FF8_0000_0000_0001)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_LABEL = np.uint64(0x9E3779B97F4A7C15)
_MOST_NAMED = 3

PARTS = ("train", "valid", "test")
_FORMS = (
    "a boostplug.RankingData(X, y, qid=…), (X, y, qid), a mapping with X, y and qid or group, or a DataFrame with "
    "label= naming its column of grades"
)


class Columns(NamedTuple):
    """Of DataFrames: the names of the columns that are no features."""

    label: str | None = None
    qid: str = "qid"
    weight: str | None = None

    def check(self) -> "Columns":
        """Return itself, refusing what is no name."""
        for what, name in self._asdict().items():
            if not (isinstance(name, str) or (name is None and what != "qid")):
                example = "; weights as arrays go into RankingData(X, y, weight=…)" if what == "weight" else ""
                raise ValueError(f"{what} must be the name of a DataFrame's column; got {shown(name)}{example}")
        return self


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
    return [
        _fold([_data(data, name, columns) for data, name in zip(fold, PARTS, strict=True)])
        for fold in _triples(train, valid, test)
    ]


def name_of_folder(folder: Path) -> str:
    """Return what a table calls the data of a folder: its name, and of one fold the set's too."""
    parts = folder.resolve().parts
    return "/".join(parts[-2:] if parts[-1].startswith("Fold") else parts[-1:])


def folds_of_folder(folder: Path) -> list[Fold]:
    """Return the folds of a folder that holds the files of one, or folders Fold1, Fold2 and so on."""
    if any(path.is_dir() for path in folder.glob("Fold*")):
        return load_folds(folder)
    return [load_fold(folder)]


def _triples(train: Any, valid: Any, test: Any) -> list[tuple[Any, Any, Any]]:
    if (valid is None) != (test is None):
        raise ValueError("give train, valid and test, or a list of folds alone")
    if valid is not None:
        parts = (train, valid, test)
        if all(isinstance(part, (str, PathLike)) for part in parts):
            return [Fold(*load_files([_file(part, name) for part, name in zip(parts, PARTS, strict=True)]))]
        return [parts]
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
            return _of_frame(data, columns)
        _refuse_columns(columns, data, name)
        return _of_tuple(data, columns.qid) if isinstance(data, (tuple, list)) else _of_fields(data)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _of_frame(data: Any, columns: Columns) -> RankingData:
    if columns.label is None:
        raise ValueError(
            "the column of the grades is not known: pass its name as label, or a tuple (DataFrame, grades); there are "
            f"{shown(column_names(data))}"
        )
    return RankingData.from_frame(data, label=columns.label, qid=columns.qid, weight=columns.weight)


def _of_tuple(data: Any, qid: str) -> RankingData:
    if len(data) == 2 and is_frame(data[0]) and qid in column_names(data[0]):
        features, (ids,) = split_columns(data[0], [qid])
        return RankingData(features, data[1], qid=ids)
    if len(data) != 3:
        raise ValueError(
            f"a tuple must be (X, y, qid), or (DataFrame with a column {qid!r}, y); got {len(data)} entries"
        )
    X, y, ids = data
    return RankingData(X, y, qid=ids)


def _of_fields(data: Any) -> RankingData:
    def get(key: str) -> Any:
        return data.get(key) if isinstance(data, Mapping) else getattr(data, key, None)

    X, y, qid, group, weight, other = map(get, ("X", "y", "qid", "group", "weight", "sample_weight"))
    if X is None or y is None:
        raise ValueError(f"it must be {_FORMS}; got {type(data).__name__}")
    if weight is not None and other is not None:
        raise ValueError("it has both weight and sample_weight; keep one of them")
    return RankingData(X, y, qid=qid, group=group, weight=other if weight is None else weight)


def _refuse_columns(columns: Columns, data: Any, name: str) -> None:
    """Raise where a column of a DataFrame is named that there is none of."""
    for what, column in (("label", columns.label), ("weight", columns.weight)):
        if column is not None:
            kind = type(data).__name__
            raise ValueError(f"{name} is a {kind} and no DataFrame with a column {column!r}; leave out {what}")


def _fold(parts: list[RankingData]) -> list[Part]:
    """Return a fold as comparisons train on it, refusing parts whose features are not the same."""
    first = parts[0]
    for part, name in zip(parts, PARTS, strict=True):
        if not part.n_rows:
            raise ValueError(f"{name} has no rows; pass a part with queries")
        if part.n_features != first.n_features:
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


class Content(NamedTuple):
    """Hashes of a part's documents and queries: equal where features and labels are, in whatever form and order.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), uint64
        Of the features and the label of each document.
    queries : ndarray of shape (n_queries,), uint64
        Of all documents of each query, in any order.
    ids : ndarray of shape (n_queries,)
    """

    rows: Hashes
    queries: Hashes
    ids: NDArray[Any]


def content_hashes(part: Part) -> Content:
    """Return the hashes of a part."""
    queries = part.queries
    rows = _mixed(_feature_hashes(part.X) + _LABEL * _bits(queries.labels))
    starts = queries.boundaries[:-1]
    sizes = np.diff(queries.boundaries)
    sums = np.zeros(queries.n_queries, np.uint64)
    there = sizes > 0
    if there.any():
        sums[there] = np.add.reduceat(rows, starts[there])
    return Content(rows, _mixed(sums + sizes.astype(np.uint64)), part.ids)


def query_codes(contents: Sequence[Content]) -> list[NDArray[np.int64]]:
    """Return a number for each query of several parts: the same where both id and content are."""
    codes: dict[tuple[Any, int], int] = {}
    return [
        np.array(
            [
                codes.setdefault(key, len(codes))
                for key in zip(content.ids.tolist(), content.queries.tolist(), strict=True)
            ],
            dtype=np.int64,
        )
        for content in contents
    ]


def shared_data_warning(a: Content, b: Content, name_a: str, name_b: str) -> str | None:
    """Return a warning where two parts have queries or documents in common; None where they have not.

    What stands several times in one part, such as a document without any feature, tells nothing.
    """
    same = _shared(a.queries, b.queries)
    if same.all() and len(a.queries) == len(b.queries):
        return f"{name_a} and {name_b} hold the same data: metrics on {name_b} say nothing about new queries."
    if same.any():
        return (
            f"{name_b} shares {_named(b.ids[same], 'query', 'queries')} with {name_a}, documents included: metrics on "
            f"{name_b} are too high. Split the data by query."
        )
    rows = int(_shared(a.rows, b.rows).sum())
    if rows:
        return (
            f"{name_b} shares {rows:,} of its {len(b.rows):,} documents with {name_a}, features and label included: "
            f"metrics on {name_b} may be too high. Split the data by query."
        )
    if _are_numbers(a.ids) and _are_numbers(b.ids):  # they only count the queries of each part
        return None
    known = set(a.ids.tolist())
    ids = np.array([i in known for i in b.ids.tolist()], dtype=bool)
    if ids.any():
        return (
            f"{name_b} shares {_named(b.ids[ids], 'query id', 'query ids')} with {name_a}, but not the documents. If "
            "these are the same queries, split the data by query; if not, ignore this warning."
        )
    return None


def _shared(a: Hashes, b: Hashes) -> NDArray[np.bool_]:
    """Return where the second part has hashes that occur in both, and in each of them once."""
    shared: NDArray[np.bool_] = np.isin(b, _once(a)) & np.isin(b, _once(b))
    return shared


def _once(hashes: Hashes) -> Hashes:
    """Return the hashes that occur once."""
    values, counts = np.unique(hashes, return_counts=True)
    once: Hashes = values[counts == 1]
    return once


def _are_numbers(ids: NDArray[Any]) -> bool:
    """Return whether ids only count the queries, from 0 or 1."""
    return ids.dtype.kind in "iuf" and any(np.array_equal(ids, np.arange(s, s + len(ids))) for s in (0, 1))


def _named(ids: NDArray[Any], one: str, many: str) -> str:
    """Return how many there are, and the first of them."""
    listed = ", ".join(map(str, ids[:_MOST_NAMED])) + (", …" if len(ids) > _MOST_NAMED else "")
    return f"{len(ids):,} {one if len(ids) == 1 else many} ({listed})"


def _feature_hashes(X: Any) -> Hashes:
    """Return a hash of each row's features; zeros add nothing, so that sparse and dense rows are alike."""
    factors = np.random.default_rng(0).integers(2**63, 2**64, size=X.shape[1], dtype=np.uint64) | np.uint64(1)
    if hasattr(X, "tocsr"):
        sparse = X.tocsr()
        terms = _bits(sparse.data) * factors[sparse.indices]
        hashes = np.zeros(X.shape[0], np.uint64)
        there = np.diff(sparse.indptr) > 0
        if there.any():
            hashes[there] = np.add.reduceat(terms, sparse.indptr[:-1][there])
        return hashes
    if hasattr(X, "iloc"):
        hashes = np.zeros(len(X), np.uint64)
        for i, factor in enumerate(factors):
            hashes += _of_column(X.iloc[:, i]) * factor
        return hashes
    array = np.asarray(X)
    blocks = [_bits(array[start : start + _ROWS]) @ factors for start in range(0, len(array), _ROWS)]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint64)


def _of_column(column: Any) -> Hashes:
    """Return bits of a pandas column's values; those of categories and strings are of the values themselves."""
    from pandas.api.types import is_numeric_dtype
    from pandas.util import hash_array

    if is_numeric_dtype(column.dtype):
        return _bits(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(hash_array(column.to_numpy(dtype=object)), dtype=np.uint64)


def _bits(values: Any) -> Hashes:
    """Return the bits of numbers as float64, 0 for zeros of both signs, and one value for all NaN."""
    numbers = np.asarray(values, dtype=np.float64) + 0.0
    bits = numbers.view(np.uint64)
    return np.where(np.isnan(numbers), _MISSING, bits ^ (bits >> _SHIFT))


def _mixed(hashes: Hashes) -> Hashes:
    """Return hashes of which sums no longer cancel out (the finaliser of SplitMix64, Steele et al. 2014)."""
    mixed = (hashes ^ (hashes >> np.uint64(30))) * _MIX[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
    return mixed ^ (mixed >> np.uint64(31))
