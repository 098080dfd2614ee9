"""`LoadedData`: the folds of a comparison, and warnings about them, such as queries in several parts."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.clicks import clicked_parts, notes_on_clicks, shown_order, weighed_by_propensity
from boostplug.comparison.inputs.columns import doubts_on_columns
from boostplug.comparison.inputs.data import folds_of, name_of_folder
from boostplug.comparison.inputs.frames import PARTS, Columns
from boostplug.comparison.summary import FEWEST_QUERIES
from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.cached import cached_property
from boostplug.data.files import is_table_file
from boostplug.data.positions import propensities_of
from boostplug.data.tables import is_frame, schema_of
from boostplug.estimators.inputs import with_float32_labels

_MOST_NAMED = 3


@dataclass(eq=False)
class LoadedData:
    """The data of a comparison.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    name : str
        Name of the data in the table.
    paths : mapping, optional
        Paths by name: data, or train, valid and test; None if the data are not files.
    columns : Columns
        Columns of DataFrames.
    warnings : sequence of str
        Warnings of the readers.
    propensity : tuple of float, optional
        Propensity by position, if clicks are weighted by it.
    crossed : bool
        Whether the folds are those of one table, each query a test query once.
    """

    folds: Sequence[Sequence[DataPart]]
    name: str = ""
    paths: Mapping[str, str] | None = None
    columns: Columns = field(default_factory=Columns)
    warnings: Sequence[str] = ()
    propensity: tuple[float, ...] | None = None
    crossed: bool = False

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
        found = list(dict.fromkeys(str(w.message) for w in caught))
        crossed = len(folds) > 1 and (is_frame(train) or is_table_file(train))
        return cls(folds, str(name or ""), paths, columns, found, crossed=crossed)

    def weighed(self, propensity: Any) -> tuple["LoadedData", list[str]]:
        """Return the data with clicks weighted by propensities, and notes on them."""
        theta = propensities_of(propensity)
        folds = weighed_by_propensity(self.folds, theta)
        return replace(self, folds=folds, propensity=tuple(theta.tolist())), notes_on_clicks(folds, theta)

    @cached_property
    def _clicked(self) -> tuple[str, ...]:
        return clicked_parts(self.folds)

    @property
    def weighed_clicks(self) -> tuple[str, ...]:
        """The parts whose labels are clicks, weighted by propensities."""
        return () if self.propensity is None else self._clicked

    @property
    def has_one_chosen(self) -> bool:
        """Whether no query has more than one relevant document, as where one was bought; False for weighted clicks."""
        queries = [part.queries for fold in self.folds for part in fold]
        n_relevant = [np.bincount(q.query_of_row, q.labels > 0.0).max(initial=0.0) for q in queries]
        least = min(q.labels.min(initial=0.0) for q in queries)
        return self.propensity is None and bool(least == 0.0 and max(n_relevant) == 1.0)

    @property
    def tests(self) -> list[DataPart]:
        """The test part of each fold."""
        return [test for _, _, test in self.folds]

    @property
    def has_categories(self) -> bool:
        """Whether a column of the features is categorical."""
        return bool(schema_of(self.folds[0][0].X).categories)

    @cached_property
    def digests(self) -> list[str]:
        """A digest of the values of each part, fold by fold."""
        return [digest_of_part(part) for fold in self.folds for part in fold]

    def codes(self, part: int) -> list[NDArray[np.int64]] | None:
        """Return, for each fold, a number for each query of a part; equal numbers are the same query.

        None: all queries are different, as in a single fold, or where ids only number the queries of each part.
        """
        ids = [known for fold in self.folds if (known := _known_ids(fold[part])) is not None]
        if len(ids) == 1 or len(ids) < len(self.folds):
            return None
        codes = np.unique(np.concatenate(ids), return_inverse=True)[1]
        return np.split(codes, np.cumsum([len(of_fold) for of_fold in ids])[:-1])

    def shared_data(self) -> list[str]:
        """Return a warning for each two parts of a fold with queries of the same id."""
        found = []
        for f, fold in enumerate(self.folds):
            where = f"Fold {f + 1}: " if len(self.folds) > 1 else ""
            for (part_a, a), (part_b, b) in combinations(zip(fold, PARTS, strict=True), 2):
                ids_a, ids_b = _known_ids(part_a), _known_ids(part_b)
                if ids_a is None or ids_b is None or not (shared := np.intersect1d(ids_a, ids_b)).size:
                    continue
                listed = ", ".join(map(str, shared[:_MOST_NAMED])) + ", …" * (len(shared) > _MOST_NAMED)
                found.append(
                    f"{where}{b} shares {len(shared):,} quer{'y' if len(shared) == 1 else 'ies'} with {a} (ids "
                    f"{listed}): metrics on {b} are too high. Split the data by query. If the ids are of other "
                    "queries, ignore this warning."
                )
        return found

    def doubts(self) -> list[str]:
        """Return warnings about columns, labels of lists that were shown, weights, and too few test queries."""
        found = doubts_on_columns(self.folds[0][0])
        found += [
            f"{name} has {'weights' if weighted else 'no weights'}, and train has {'none' if weighted else 'some'}: "
            "give all parts weights, or none."
            for name, weighted in self._weighted_otherwise().items()
        ]
        if self._clicked and self.propensity is None:
            found.append(shown_order(self._clicked))
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

    @property
    def is_weighted(self) -> bool:
        """Whether a part has weights."""
        return any(part.queries.row_weight is not None for fold in self.folds for part in fold)

    @property
    def all_warnings(self) -> list[str]:
        """The warnings of the readers, and those about the data."""
        return [*self.warnings, *self.doubts(), *self.shared_data()]

    def summary(self) -> dict[str, Any]:
        """Return the name and the sizes of the data; those of the parts are of all folds together."""
        sizes = {
            name: {
                "queries": sum(p.queries.n_queries for p in parts),
                "documents": sum(p.queries.n_rows for p in parts),
            }
            for name, parts in zip(PARTS, zip(*self.folds, strict=True), strict=True)
        }
        n_features = int(self.folds[0][0].X.shape[1])
        return {
            "name": self.name, "folds": len(self.folds), "crossed": self.crossed, "features": n_features, **sizes,
            "weighted": self.is_weighted,
        }  # fmt: skip


def _known_ids(part: DataPart) -> NDArray[Any] | None:
    """Return the ids of the queries as text.

    None if they say nothing about other parts: there are none, they number the queries from 0 or 1, or the queries are
    pages, which may be shown again.
    """
    ids, queries = part.ids, part.queries
    counts = ids.dtype.kind in "iuf" and any(np.array_equal(ids, np.arange(s, s + len(ids))) for s in (0, 1))
    return None if part.qid is None or counts or queries.position is not None else ids.astype(str)


def digest_of_part(part: DataPart) -> str:
    """Return a digest of a part's features, labels, queries and weights; parts with other values differ."""
    queries = part.queries
    content = (queries.labels, queries.boundaries, queries.row_weight, dict(queries.labels_by_name), queries.position)
    return str(joblib.hash(([joblib.hash(piece) for piece in _pieces(part.X)], content)))


def _pieces(X: Any) -> Iterator[Any]:
    """Yield all values of features, equal for equal features in any memory layout."""
    if hasattr(X, "tocsr"):
        sparse = X.tocsr()
        yield (sparse.dtype, sparse.shape, sparse.indptr, sparse.indices, sparse.data)
    elif hasattr(X, "iloc"):
        for i, name in enumerate(X.columns):
            column = X.iloc[:, i]
            if hasattr(column, "cat"):
                yield (name, column.cat.ordered, column.cat.categories.tolist(), column.cat.codes.to_numpy())
            else:
                yield (name, str(column.dtype), np.ascontiguousarray(column.to_numpy()))
    else:
        yield np.ascontiguousarray(X)
