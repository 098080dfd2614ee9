"""`LoadedData`: the folds of a comparison, and warnings about them, such as queries in several parts."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.clicks import clicked_parts, notes_on_clicks, weighed_by_propensity
from boostplug.comparison.inputs.data import folds_of, name_of_folder
from boostplug.comparison.inputs.frames import PARTS, Columns
from boostplug.comparison.summary import FEWEST_QUERIES, Data, PartDigest, Size
from boostplug.comparison.training.digests import fingerprints_of_part
from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.extras import imported
from boostplug.core.threads import Computed
from boostplug.data.positions import propensities_of
from boostplug.data.tables import is_whole, schema_of
from boostplug.estimators.inputs import with_float32_labels

Hashes = NDArray[np.uint64]

_ROWS = 1 << 16  # rows of a table per block
_MOST_NAMED = 3
_LEAST_ROWS = 50  # smallest number of rows in which different numbers are no accident
_UNIQUE = 0.95
_DENSE = 0.9  # share of the places of the queries that rows must have
_DIGITS = 16  # of a digest; enough to distinguish data


@dataclass(eq=False)
class LoadedData:
    """The data of a comparison.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    name : str
        Name of the data in the table.
    paths : mapping, optional
        Paths by the options of ``boostplug compare``: data, or train, valid and test; empty for the bundled set; None
        if the data are not files.
    columns : Columns
        Columns of DataFrames.
    warnings : sequence of str
        Warnings of the readers.
    propensity : tuple of float, optional
        Propensity by position, if clicks are weighted by it.
    """

    folds: Sequence[Sequence[DataPart]]
    name: str = ""
    paths: Mapping[str, str] | None = None
    columns: Columns = field(default_factory=Columns)
    warnings: Sequence[str] = ()
    propensity: tuple[float, ...] | None = None

    @classmethod
    def from_arguments(cls, train: Any, valid: Any, test: Any, columns: Columns, name: str | None) -> "LoadedData":
        """Return the checked data from the arguments of `compare`."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            folds = folds_of(train, valid, test, columns)
            for fold in folds:
                with_float32_labels(fold[0].queries)
        given = {"data": train} if valid is None else dict(zip(PARTS, (train, valid, test), strict=True))
        paths = None
        if all(isinstance(path, (str, PathLike)) for path in given.values()):
            paths = {option: str(path) for option, path in given.items()}
            name = name or (name_of_folder(Path(train)) if valid is None else None)
        return cls(folds, str(name or ""), paths, columns, list(dict.fromkeys(str(w.message) for w in caught)))

    def weighed(self, propensity: Any) -> tuple["LoadedData", list[str]]:
        """Return the data with clicks weighted by propensities, and notes on them."""
        theta = propensities_of(propensity)
        folds = weighed_by_propensity(self.folds, theta)
        return replace(self, folds=folds, propensity=tuple(theta.tolist())), notes_on_clicks(folds, theta)

    @Computed
    def _clicked(self) -> tuple[str, ...]:
        return clicked_parts(self.folds)

    @property
    def biased_clicks(self) -> tuple[str, ...]:
        """The parts whose labels are clicks, without propensities."""
        return self._clicked if self.propensity is None else ()

    @property
    def weighed_clicks(self) -> tuple[str, ...]:
        """The parts whose labels are clicks, weighted by propensities."""
        return () if self.propensity is None else self._clicked

    @property
    def tests(self) -> list[DataPart]:
        """The test part of each fold."""
        return [test for _, _, test in self.folds]

    @property
    def has_categories(self) -> bool:
        """Whether a column of the features is categorical."""
        return bool(schema_of(self.folds[0][0].X).categories)

    @Computed
    def fingerprints(self) -> list[list[dict[str, str]]]:
        """Digests of each part of each fold."""
        return [[fingerprints_of_part(part) for part in fold] for fold in self.folds]

    @Computed
    def contents(self) -> list[list["Content"]]:
        """The hashes of each part of each fold."""
        return [[_content(part) for part in fold] for fold in self.folds]

    def codes(self, part: int) -> list[NDArray[np.int64]] | None:
        """Return, for each fold, a number for each query of a part; equal numbers are the same query.

        None: all queries are different, as in a single fold.
        """
        if len(self.folds) == 1:
            return None
        pandas = imported("pandas", "comparisons need")
        contents = [fold[part] for fold in self.contents]
        both = pandas.concat([pandas.DataFrame({"id": one.ids, "queries": one.queries}) for one in contents])
        codes = both.groupby(["id", "queries"], sort=False).ngroup().to_numpy()
        return np.split(codes, np.cumsum([len(one.ids) for one in contents])[:-1])

    def shared_data(self) -> list[str]:
        """Return a warning for each two parts of a fold with common data."""
        found = []
        for f, fold in enumerate(self.contents):
            where = f"Fold {f + 1}: " if len(self.folds) > 1 else ""
            for (a, name_a), (b, name_b) in combinations(zip(fold, PARTS, strict=True), 2):
                warning = _shared_data(a, b, name_a, name_b)
                found += [] if warning is None else [f"{where}{warning[0].upper()}{warning[1:]}"]
        return found

    def doubts(self) -> list[str]:
        """Return warnings about columns that look like ids, and about too few test queries."""
        train, *_ = self.folds[0]
        repeated = dict(zip(PARTS, map(_repeated, self.folds[0], self.contents[0]), strict=True))
        found = [
            f"Column {name!r} has another value in nearly every row of train, as an id or a row number has: a "
            f"model can learn the rows by heart. If it is not a measurement, pass drop=[{name!r}]."
            for name in _ids(train)
        ]
        found += [
            f"Column {name!r} numbers the rows of each query, as the places where users saw them do. If they are, pass "
            f"position={name!r}; else, if it is not a measurement, drop=[{name!r}]."
            for name in _places(train, ~repeated["train"][0])
        ]
        twice = ", ".join(f"{n:,} in {name}" for name, (_, n) in repeated.items() if n)
        if twice:
            found.append(
                f"Rows stand twice or more in a query ({twice}), with the same features and label, and count as often. "
                "If each is one document, remove them, with drop_duplicates() in pandas."
            )
        found += [
            f"{name} has {'weights' if weighted else 'no weights'}, and train has {'none' if weighted else 'some'}: "
            "give all parts weights, or none."
            for name, weighted in self._weighted_otherwise().items()
        ]
        n = sum(test.queries.n_queries for test in self.tests)
        if n < FEWEST_QUERIES:
            found.append(
                f"The test part has {n} quer{'y' if n == 1 else 'ies'}: too few to tell methods apart. Take at least "
                f"{FEWEST_QUERIES}; some hundreds are better."
            )
        return found

    def _weighted_otherwise(self) -> dict[str, bool]:
        """Return the parts of the first fold that, unlike train, have weights, or have none."""
        weighted = {
            name: part.queries.row_weight is not None
            for fold in self.folds[:1]
            for name, part in zip(PARTS, fold, strict=True)
        }
        return {name: has for name, has in weighted.items() if has != weighted["train"]}

    def summary(self) -> Data:
        """Return the names and sizes of the data."""
        train, valid, test = (
            Size(queries=sum(p.queries.n_queries for p in parts), documents=sum(p.queries.n_rows for p in parts))
            for parts in zip(*self.folds, strict=True)
        )
        return Data(
            name=self.name,
            folds=len(self.folds),
            features=int(self.folds[0][0].X.shape[1]),
            train=train,
            valid=valid,
            test=test,
            weighted=any(part.queries.row_weight is not None for fold in self.folds for part in fold),
        )

    def parts(self) -> list[PartDigest]:
        """Return each part of each fold, with a digest of its values."""
        return [
            PartDigest(
                part=name,
                fold=f,
                queries=part.queries.n_queries,
                documents=part.queries.n_rows,
                fingerprint=joblib.hash(found)[:_DIGITS],
            )
            for f, (fold, prints) in enumerate(zip(self.folds, self.fingerprints, strict=True))
            for name, part, found in zip(PARTS, fold, prints, strict=True)
        ]


def _ids(part: DataPart) -> list[str]:
    """Return the columns of whole numbers or categories in which nearly every row has its own value."""
    n = part.queries.n_rows
    if not hasattr(part.X, "iloc") or n < _LEAST_ROWS:
        return []
    return [str(name) for name, column in part.X.items() if is_whole(column) and column.nunique() > _UNIQUE * n]


def _repeated(part: DataPart, content: "Content") -> tuple[NDArray[np.bool_], int]:
    """Return a mask of rows that repeat an earlier one of their query, and their number in a table; 0 if by accident.

    Equal rows are an accident where as many are equal in different queries.
    """
    queries = part.queries
    columns = {"row": content.rows, "query": queries.query_of_row, "position": queries.position}
    rows = imported("pandas", "comparisons need").DataFrame({**columns, "weight": queries.row_weight})
    again = rows.duplicated().to_numpy()
    is_accident = again.sum() <= rows["row"][~again].duplicated().sum() or not hasattr(part.X, "iloc")
    return again, 0 if is_accident else int(again.sum())


def _places(part: DataPart, kept: NDArray[np.bool_]) -> list[str]:
    """Return the columns that number the rows of each query from 0 or 1, with few gaps, among those `kept`."""
    query = part.queries.query_of_row[kept]
    if not hasattr(part.X, "iloc") or len(query) < _LEAST_ROWS:
        return []
    is_last = np.r_[query[1:] != query[:-1], True]
    found = []
    for name, column in part.X.items():
        lowest = column.min() if column.dtype.kind in "iuf" else None
        if lowest in (0, 1) and column.max() > 1 and is_whole(column):
            values = column.to_numpy(np.float64)[kept]
            values = values[np.lexsort((values, query))]
            n_places = (values[is_last] - lowest + 1).sum()
            if (np.diff(values)[~is_last[:-1]] > 0).all() and len(query) > _DENSE * n_places:
                found.append(str(name))
    return found


class Content(NamedTuple):
    """Hashes of a part's documents and queries, equal for equal features and labels in any form and order.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), uint64
        Hash of the features and the label of each document.
    queries : ndarray of shape (n_queries,), uint64
        Hash of the documents of each query, in any order.
    ids : ndarray of shape (n_queries,)
    are_pages : bool
        Whether the queries are pages shown to users, with positions.
    """

    rows: Hashes
    queries: Hashes
    ids: NDArray[Any]
    are_pages: bool


def _content(part: DataPart) -> Content:
    """Return the hashes of a part; all sums are modulo 2^64."""
    rng, one = np.random.default_rng(0), np.uint64(1)
    label, *features = rng.integers(2**63, size=1 + part.X.shape[1], dtype=np.uint64) | one
    sums = _row_sums(part.X, np.array(features, np.uint64)) + label * _hashes(part.queries.labels)
    rows = imported("pandas", "comparisons need").util.hash_array(sums + one)
    of_queries = np.diff(np.cumsum(np.r_[np.uint64(0), rows])[part.queries.boundaries])
    return Content(rows, of_queries, part.ids, part.queries.position is not None)


def _row_sums(X: Any, factors: Hashes) -> Hashes:
    """Return each row's sum of hashes times factors; zeros hash to 0, so sparse and dense rows are equal."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        return np.asarray(type(X)((_hashes(X.data), X.indices, X.indptr), X.shape) @ factors)
    sums = np.zeros(X.shape[0], np.uint64)
    if hasattr(X, "iloc"):
        for k, factor in enumerate(factors):
            sums += _hashes(X.iloc[:, k]) * factor
        return sums
    for start in range(0, len(X), _ROWS):
        block = X[start : start + _ROWS]
        sums[start : start + _ROWS] = _hashes(block.ravel()).reshape(block.shape) @ factors
    return sums


def _hashes(values: Any) -> Hashes:
    """Return a hash of each value: of numbers as float64, of categories by their names."""
    hash_array = imported("pandas", "comparisons need").util.hash_array
    return np.asarray(hash_array(values.array if hasattr(values, "cat") else np.asarray(values, np.float64) + 0.0))


def _shared_data(a: Content, b: Content, name_a: str, name_b: str) -> str | None:
    """Return a warning if two parts have queries or documents in common, else None.

    Documents and queries that occur several times in one part, such as a document without features, are ignored.
    """
    same = _shared(a.queries, b.queries)
    if same.all() and len(a.queries) == len(b.queries):
        return f"{name_a} and {name_b} hold the same data: metrics on {name_b} say nothing about new queries."
    if a.are_pages and b.are_pages:
        return None  # a page shown twice is not a leak
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
    if _are_numbers(a.ids) and _are_numbers(b.ids):  # ids that number the queries of each part
        return None
    ids = imported("pandas", "comparisons need").Series(b.ids.astype(str)).isin(a.ids.astype(str))
    if ids.any():
        return (
            f"{name_b} shares {_named(b.ids[ids], 'query id', 'query ids')} with {name_a}, but not the documents. If "
            "these are the same queries, split the data by query; if not, ignore this warning."
        )
    return None


def _shared(a: Hashes, b: Hashes) -> NDArray[np.bool_]:
    """Return a mask of the second part's hashes that occur in both parts, once in each."""
    pandas = imported("pandas", "comparisons need")
    once = [pandas.Series(hashes).drop_duplicates(keep=False) for hashes in (a, b)]
    return np.isin(b, once[0]) & np.isin(b, once[1])


def _are_numbers(ids: NDArray[Any]) -> bool:
    """Return whether ids number the queries from 0 or 1."""
    return ids.dtype.kind in "iuf" and any(np.array_equal(ids, np.arange(s, s + len(ids))) for s in (0, 1))


def _named(ids: NDArray[Any], one: str, many: str) -> str:
    """Return the number of ids and the first of them, as text."""
    listed = ", ".join(map(str, ids[:_MOST_NAMED])) + (", …" if len(ids) > _MOST_NAMED else "")
    return f"{len(ids):,} {one if len(ids) == 1 else many} ({listed})"
