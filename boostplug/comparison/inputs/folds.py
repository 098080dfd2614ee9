"""`LoadedData`: the folds of a comparison, and warnings about them, such as queries in several parts."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.clicks import clicked_parts, notes_on_clicks, shown_order, weighed_by_propensity
from boostplug.comparison.inputs.contents import content_of_queries
from boostplug.comparison.inputs.data import code_that_reads, folds_of, is_one_table, name_of_folder
from boostplug.comparison.inputs.frames import PARTS, Columns
from boostplug.comparison.inputs.ids import doubts_on_columns, n_repeated_places
from boostplug.comparison.summary import FEWEST_QUERIES
from boostplug.comparison.training.frameworks import DataPart
from boostplug.core.cached import cached_property
from boostplug.core.checks import column_names
from boostplug.data.positions import propensities_of
from boostplug.data.tables import schema_of
from boostplug.estimators.inputs import with_float32_labels
from boostplug.selection.starting import has_one_chosen

_MOST_NAMED = 3
_FEW_SHARED = 0.02  # share of the test queries that moves no verdict


class Shared(NamedTuple):
    """Queries of a part that are queries of an earlier part too."""

    earlier: str
    of: str
    ids: list[Any]
    n_same: int  # with the same rows and labels

    @property
    def what(self) -> str:
        """The parts, and how many queries they share."""
        n, listed = len(self.ids), ", ".join(map(str, self.ids[:_MOST_NAMED])) + ", …" * (len(self.ids) > _MOST_NAMED)
        copies = f", {self.n_same:,} with the same rows and labels" * bool(self.n_same)
        return f"{self.of} shares {n:,} quer{'y' if n == 1 else 'ies'} with {self.earlier} (ids {listed}){copies}"

    @property
    def remedy(self) -> str:
        """What to do besides splitting the data by query."""
        return "remove the copies" if self.n_same else "if the ids are of other queries, give each part ids of its own"


@dataclass(eq=False)
class LoadedData:
    """The data of a comparison.

    Parameters
    ----------
    folds : sequence of (train, valid, test)
    name : str
        Name of the data in the table.
    paths : sequence of str
        Of the data, or of train, valid and test; empty if the data are not files.
    columns : Columns
        Columns of DataFrames.
    warnings : sequence of str
        Warnings of the readers.
    propensity : tuple of float, optional
        Propensity by position, if clicks are weighted by it.
    crossed : bool
        Whether the folds are those of one table, each query a test query once.
    name_in_code : str
        "frame" or, for a RankingData, "data" for one table; else "folds" or "train, valid, test".
    reading : str
        The line of code that reads the files, for three of them the first one; empty if the data are not files.
    of_score : sequence of str
        Reasons not to rely on a comparison with the score in use, as clauses.
    """

    folds: Sequence[Sequence[DataPart]]
    name: str = ""
    paths: Sequence[str] = ()
    columns: Columns = field(default_factory=Columns)
    warnings: Sequence[str] = ()
    propensity: tuple[float, ...] | None = None
    crossed: bool = False
    name_in_code: str = "train, valid, test"
    reading: str = ""
    of_score: Sequence[str] = ()

    @classmethod
    def from_arguments(cls, train: Any, valid: Any, test: Any, columns: Columns, name: str | None) -> "LoadedData":
        """Return the checked data from the arguments of `compare`."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            folds = folds_of(train, valid, test, columns)
            for fold in folds:
                with_float32_labels(fold[0].queries)
        given = (train,) if valid is None else (train, valid, test)
        one_table = valid is None and is_one_table(train)
        code = "folds" if len(folds) > 1 else "train, valid, test"
        code = ("data" if columns.label is None else "frame") if one_table else code
        paths, reading = list[str](), ""
        if all(isinstance(path, (str, PathLike)) for path in given):
            paths = [*map(str, given)]
            name = name or (name_of_folder(Path(train)) if valid is None else None)
            reading = f"{code if valid is None else 'train'} = {code_that_reads(train, columns.qid, folds[0][0].X)}\n"
        crossed = len(folds) > 1 and one_table
        found = list(dict.fromkeys(str(w.message) for w in caught))
        return cls(folds, str(name or ""), paths, columns, found, crossed=crossed, name_in_code=code, reading=reading)

    def weighed(self, propensity: Any) -> tuple["LoadedData", list[str]]:
        """Return the data with clicks weighted by propensities, and notes on them."""
        theta = propensities_of(propensity)
        folds = weighed_by_propensity(self.folds, theta)
        return replace(self, folds=folds, propensity=tuple(theta.tolist())), notes_on_clicks(folds, theta)

    @property
    def weighed_clicks(self) -> tuple[str, ...]:
        """The parts whose labels are clicks, weighted by propensities."""
        return () if self.propensity is None else clicked_parts(self.folds)

    @cached_property
    def has_one_chosen(self) -> bool:
        """Whether no query has more than one relevant document, as where one was bought; False for weighted clicks."""
        return self.propensity is None and has_one_chosen(*(part.queries for fold in self.folds for part in fold))

    @property
    def tests(self) -> list[DataPart]:
        """The test part of each fold."""
        return [test for _, _, test in self.folds]

    @property
    def features(self) -> list[Any] | None:
        """Names of the features; None unless columns are left out that a fit on the table would take."""
        left_out = self.columns.given().keys() & {"features", "drop", "labels", "weight", "position"}
        return column_names(self.folds[0][0].X) if left_out or self.columns.by_query.column else None

    @property
    def has_categories(self) -> bool:
        """Whether a column of the features is categorical."""
        return bool(schema_of(self.folds[0][0].X).categories)

    @cached_property
    def codes(self) -> list[NDArray[np.int64]]:
        """For each fold, a number for each test query; equal numbers are the same query.

        All are different in a single fold, or where ids only number the queries of each part.
        """
        sizes, known = [test.queries.n_queries for test in self.tests], [_known_ids(test) for test in self.tests]
        ids = [of_fold[0] for of_fold in known if of_fold is not None]
        is_known = 1 < len(ids) == len(known)
        codes = np.unique(np.concatenate(ids), return_inverse=True)[1] if is_known else np.arange(sum(sizes))
        return np.split(codes, np.cumsum(sizes)[:-1])

    @cached_property
    def _shared(self) -> list[Shared]:
        """The queries that two parts share, by their ids, or by their rows and labels."""
        found, of_folds = [], [[content_of_queries(part) for part in fold] for fold in self.folds]
        for (i, a), (j, b) in combinations(enumerate(PARTS), 2):
            ids, n_same = list[Any](), 0
            for fold, contents in zip(self.folds, of_folds, strict=True):
                same = np.isin(contents[j], contents[i][contents[i] > 0])
                known = _known_ids(fold[j], fold[i])
                shared = same if known is None else same | np.isin(known[0], known[1])
                ids += fold[j].ids[shared].tolist()
                n_same += int(same.sum())
            if ids:
                found.append(Shared(a, b, ids, n_same))
        return found

    @property
    def reasons(self) -> list[str]:
        """Why nothing can be relied on: the score in use, or another part has more than 2 % of the test queries too."""
        least = _FEW_SHARED * sum(test.queries.n_queries for test in self.tests)
        shared = [one for one in self._shared if one.of == PARTS[2] and len(one.ids) > least]
        return [*self.of_score, *(f"{one.what}: split the data by query, and {one.remedy}" for one in shared)]

    def doubts(self) -> list[str]:
        """Return warnings about columns, labels (places, lists that were shown), weights, and too few test queries."""
        train, queries = self.folds[0][0], self.folds[0][0].queries
        found = doubts_on_columns(train, from_file=bool(self.paths))
        if n_repeated_places(queries.labels, queries.query_of_row) is not None and queries.labels.min() == 1.0:
            found.append(
                "The labels number the rows of each query from 1, as places do, and a larger label counts as better. "
                "If 1 is the best place, pass label = largest place - place."
            )
        found += [
            f"{name} has {'no ' * (weights is None)}weights, and train has {'some' if weights is None else 'none'}: "
            "give all parts weights, or none."
            for name, weights in zip(PARTS, [part.queries.row_weight for part in self.folds[0]], strict=True)
            if (weights is None) != (queries.row_weight is None)
        ]
        if self.propensity is None and (clicked := clicked_parts(self.folds)):
            found.append(shown_order(clicked))
        n = sum(test.queries.n_queries for test in self.tests)
        if n < FEWEST_QUERIES:
            found.append(
                f"The test part has {n} quer{'y' if n == 1 else 'ies'}: too few to tell methods apart. Take at least "
                f"{FEWEST_QUERIES}; some hundreds are better."
            )
        return found

    @property
    def all_warnings(self) -> list[str]:
        """The warnings of the readers, those about the data, and one for each two parts with common queries."""
        shared = [
            f"{one.what}: metrics on {one.of} are too high. Split the data by query. {one.remedy.capitalize()}."
            for one in self._shared
        ]
        return [*self.warnings, *self.doubts(), *shared]

    def summary(self) -> dict[str, Any]:
        """Return the name and the sizes of the data; those of the parts are of all folds together."""
        sizes = {
            name: {"queries": sum(p.queries.n_queries for p in own), "documents": sum(p.queries.n_rows for p in own)}
            for name, own in zip(PARTS, zip(*self.folds, strict=True), strict=True)
        }
        n_features = int(self.folds[0][0].X.shape[1])
        weighted = any(part.queries.row_weight is not None for fold in self.folds for part in fold)
        return {
            "name": self.name, "folds": len(self.folds), "crossed": self.crossed, "features": n_features, **sizes,
            "weighted": weighted,
        }  # fmt: skip


def _known_ids(*parts: DataPart) -> list[NDArray[Any]] | None:
    """Return the ids of the queries of each part as text.

    None if they say nothing about other parts: there are none, they number the queries of each of the parts from 0 or
    1, or the queries are pages, which may be shown again.
    """
    ids = [part.ids for part in parts]
    all_ids = [part.ids if part.taken_from is None else part.taken_from for part in parts]
    counts = [i.dtype.kind in "iuf" and any(np.array_equal(i - s, np.arange(len(i))) for s in (0, 1)) for i in all_ids]
    is_unknown = all(counts) or any(part.qid is None or part.queries.position is not None for part in parts)
    return None if is_unknown else [of_part.astype(str) for of_part in ids]
