"""`LoadedData`: the folds of a comparison, and warnings about them, such as queries in several parts."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.clicks import clicked_parts, notes_on_clicks, shown_order, weighed_by_propensity
from boostplug.comparison.inputs.columns import PARTS, DataFolds, TableColumns
from boostplug.comparison.inputs.contents import have_known_ids, shared_queries
from boostplug.comparison.inputs.data import code_that_reads, folds_of, is_one_table, name_of_folder
from boostplug.comparison.inputs.features import values_alone
from boostplug.comparison.inputs.ids import doubts_on_columns, n_repeated_places
from boostplug.comparison.inputs.leaks import Leaks, find_leaks
from boostplug.comparison.summary import FEWEST_QUERIES
from boostplug.core.cached import cached_property
from boostplug.core.checks import column_names
from boostplug.data.inputs import CheckedInputs
from boostplug.data.positions import as_propensities
from boostplug.data.tables import schema_of
from boostplug.estimators.inputs import with_float32_labels
from boostplug.metrics import Metric
from boostplug.selection.starting import has_one_chosen

_FEW_OF_TEST_QUERIES = 0.02  # share of the test queries that moves no verdict


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
    columns : TableColumns
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
    doubts_on_score : sequence of str
        Reasons not to rely on a comparison with the score in use, as clauses.
    alone : sequence of mapping
        The value of each single column on the validation part of each fold.
    leaks : Leaks
        What to say of columns that may not be known before a list is shown.
    read : sequence of (train, valid, test)
        The folds before test queries without the score in use were left out; empty if none were.
    """

    folds: DataFolds
    name: str = ""
    paths: Sequence[str] = ()
    columns: TableColumns = field(default_factory=TableColumns)
    warnings: Sequence[str] = ()
    propensity: tuple[float, ...] | None = None
    crossed: bool = False
    name_in_code: str = "train, valid, test"
    reading: str = ""
    doubts_on_score: Sequence[str] = ()
    alone: Sequence[Mapping[str, float]] = ()
    leaks: Leaks = field(default_factory=Leaks)
    read: DataFolds = ()

    @classmethod
    def from_arguments(cls, train: Any, valid: Any, test: Any, columns: TableColumns, name: str | None) -> "LoadedData":
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
        theta = as_propensities(propensity)
        folds = weighed_by_propensity(self.folds, theta)
        return replace(self, folds=folds, propensity=tuple(theta.tolist())), notes_on_clicks(folds, theta)

    def judged_alone(self, metric: Metric) -> "LoadedData":
        """Return the data with the value of each column by a metric, and what to say of those that leak labels."""
        alone = [values_alone(valid, metric) for _, valid, _ in self.folds]
        by_name: dict[str, list[float]] = {}
        for name, value in chain.from_iterable(of_fold.items() for of_fold in alone):
            by_name.setdefault(name, []).append(value)
        means = {name: sum(values) / len(values) for name, values in by_name.items()}
        looked_at = self.folds[: 1 if self.crossed else None]
        return replace(self, alone=alone, leaks=find_leaks(looked_at, means, metric, self.columns))

    @property
    def weighed_clicks(self) -> tuple[str, ...]:
        """The parts whose labels are clicks, weighted by propensities."""
        return () if self.propensity is None else clicked_parts(self.folds)

    @cached_property
    def has_one_chosen(self) -> bool:
        """Whether no query has more than one relevant document, as where one was bought; False for weighted clicks."""
        read = self.read or self.folds
        return self.propensity is None and has_one_chosen(*(part.queries for fold in read for part in fold))

    @property
    def tests(self) -> list[CheckedInputs]:
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
        sizes, read = [test.queries.n_queries for test in self.tests], [test for _, _, test in self.read or self.folds]
        is_known = len(read) > 1 and all(have_known_ids([test]) for test in read)
        ids = np.concatenate([test.ids.astype(str) for test in self.tests])
        codes = np.unique(ids, return_inverse=True)[1] if is_known else np.arange(sum(sizes))
        return np.split(codes, np.cumsum(sizes)[:-1])

    @cached_property
    def _shared(self) -> list[tuple[str, int, str, str]]:
        """The queries that two parts share: the later part, their number, and what they are and what to do in words."""
        return shared_queries(self.folds, self.read or self.folds)

    @property
    def reasons(self) -> list[str]:
        """Why nothing can be relied on: leaks, the score in use, or more than 2 % of the test queries shared."""
        least = _FEW_OF_TEST_QUERIES * sum(test.queries.n_queries for test in self.tests)
        shared = [
            f"{what}: split the data by query, and {remedy}"
            for part, n, what, remedy in self._shared
            if part == PARTS[2] and n > least
        ]
        return [*self.leaks.reasons, *self.doubts_on_score, *shared]

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
        """The warnings of the readers, about the data, about each two parts with common queries, and about leaks."""
        shared = [
            f"{what}: metrics on {part} are too high. Split the data by query. {remedy.capitalize()}."
            for part, _, what, remedy in self._shared
        ]
        return [*self.warnings, *self.doubts(), *shared, *self.leaks.warnings]

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
