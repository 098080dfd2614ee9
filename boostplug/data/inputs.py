"""Features, labels, ids and weights as a user passes them: as arrays, or as columns of a table by name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import (
    as_column_vector,
    as_vector,
    check_order,
    column_names,
    did_you_mean,
    shown,
)
from boostplug.core.extras import imported
from boostplug.core.warning import warn_user
from boostplug.data.boundaries import ids_of
from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries, as_labelled, as_labels, or_unjudged
from boostplug.data.tables import (
    Schema,
    as_features,
    check_computed,
    check_unique,
    columns_equal_to,
    columns_of_ids,
    rows_of,
    schema_of,
    split_columns,
    with_columns,
)

FIT = MappingProxyType({"weight": "sample_weight"})
"""Names of a fit's arguments, where they differ from the fields of `Inputs`."""
LABEL = "label "
"""Start of the role of a column that holds one of several labels, before the label's name."""
_ROLES = ("y", "qid", "weight", "position")


class Source(NamedTuple):
    """Source of a table, and the number of its first row there."""

    file: str = ""
    first_row: int = 0

    def row(self, place: int) -> str:
        """Return a row as messages call it."""
        return f"row {self.first_row + place}" + f" of {self.file}" * bool(self.file)


_IN_MEMORY = Source()


class CheckedInputs(NamedTuple):
    """Features and queries whose arguments fit each other."""

    X: Any
    """As `as_features` returns them, without the columns that are no features."""
    queries: Queries
    qid: NDArray[Any] | None = None
    """Query id of each row; None where sizes were given."""
    columns: Mapping[str, str] = MappingProxyType({})
    """Columns that are no features, by what they hold: {"qid": "query_id"}."""
    where: str = ""
    """Start of the name of X in messages."""
    start: Floats | None = None
    """Scores that boosting starts from."""
    feature_names: tuple[str, ...] | None = None
    """Names of the features, if X is an array with names beside it."""

    @property
    def schema(self) -> Schema:
        """Names and categories of the features."""
        schema = schema_of(self.X)
        return schema if self.feature_names is None else schema._replace(names=self.feature_names)

    @property
    def group(self) -> Ints:
        """Sizes of the queries."""
        return self.queries.group

    @property
    def ids(self) -> NDArray[Any]:
        """The id of each query; its index if there are no ids."""
        starts = self.queries.boundaries[:-1]
        return np.arange(len(starts)) if self.qid is None else self.qid[np.minimum(starts, len(self.qid) - 1)]

    def take_queries(self, numbers: Any) -> "CheckedInputs":
        """Return some queries, by their numbers. They stay in their order."""
        rows = np.flatnonzero(np.isin(self.queries.query_of_row, numbers))
        qid, queries = None if self.qid is None else self.qid[rows], self.queries.of_rows(rows, keep_empty=False)
        return self._replace(X=rows_of(self.X, rows), queries=queries, qid=qid)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Arguments of a fit, of `RankingData` or of a part of a comparison.

    Each of `y`, `qid`, `weight`, `position` and the values of `labels` is an array, or the name of a column of `X`.
    """

    X: Any
    y: Any = None
    qid: Any = None
    group: Any = None
    weight: Any = None
    position: Any = None
    labels: Any = None
    """More labels, by name."""
    features: Any = None
    """Names of the columns that are features; None: all that have no other use."""
    pairs: Pairs | None = None
    labelled: Any = None
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Columns that an earlier fit named, taken out of X where it has them."""
    unused: Sequence[str] = ()
    """Columns that are neither features nor read, taken out of X where it has them."""
    where: str = ""
    """Start of the name of X in messages: "eval_set[0]'s "."""
    name: str = ""
    """Name of X in messages, in place of `where`: "valid"."""
    arguments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Names of the arguments in messages, where they differ: {"weight": "sample_weight"}."""
    source: Source = _IN_MEMORY
    keep: Sequence[str] = ()
    """Columns of X that may equal labels, weights or positions."""
    least_columns: int = 1

    @property
    def table_name(self) -> str:
        """Name of X in messages."""
        return self.name or f"{self.where}X"

    def argument(self, role: str) -> str:
        """Return what messages call an argument."""
        if role.startswith(LABEL):
            return f"labels[{role.removeprefix(LABEL)!r}]"
        return self.arguments.get(role, role)

    def take_columns(self) -> "Inputs":
        """Return the same inputs with arrays in place of names, and `X` without these columns."""
        if not hasattr(self.X, "__dask_graph__"):  # columns may be taken out of a collection that is not computed
            check_computed(self.X, self.table_name)
        there = column_names(self.X)
        columns = {role: name for role, name in self.columns.items() if name in there}
        columns |= {role: getattr(self, role) for role in _ROLES if isinstance(getattr(self, role), str)}
        labels = {role.removeprefix(LABEL): name for role, name in columns.items() if role.startswith(LABEL)}
        labels |= self.labels if isinstance(self.labels, Mapping) else {}
        columns |= {f"{LABEL}{name}": value for name, value in labels.items() if isinstance(value, str)}
        if "qid" in there and not isinstance(self.qid, str):
            columns.setdefault("qid", "qid")
        for role, name in columns.items():
            check_has_column(name, self.argument(role), there)
        self._check_unambiguous(columns)
        taken = list(dict.fromkeys([*columns.values(), *(name for name in self.unused if name in there)]))
        X, values = split_columns(self.X, taken)
        by_name = dict(zip(taken, values, strict=True))
        parts: dict[str, Any] = {
            role: by_name[columns[role]]
            for role in _ROLES
            if role in columns and (getattr(self, role) is None or isinstance(getattr(self, role), str))
        }
        parts["labels"] = {n: by_name[v] if isinstance(v, str) else v for n, v in labels.items()} or self.labels
        return replace(self, X=selected(X, self.features, taken), columns=columns, features=None, **parts)

    def _check_unambiguous(self, columns: Mapping[str, str]) -> None:
        """Raise where queries are given twice or not at all, or a column has two uses."""
        qid = self.argument("qid")
        if isinstance(self.group, str):
            raise ValueError(f"{self.argument('group')} must hold sizes; got {self.group!r}; pass a column as {qid}=")
        arrays = [n for n in ("qid", "group") if not (getattr(self, n) is None or isinstance(getattr(self, n), str))]
        if "qid" in columns and arrays:
            both = f"by X's column {columns['qid']!r} and by {self.argument(arrays[0])}"
            raise ValueError(f"the queries are given twice: {both}; leave one out")
        if "qid" not in columns and not arrays:
            what = "pass the query id of each row, the name of their column, or the sizes of the queries"
            raise ValueError(f"{qid} or {self.argument('group')} is missing: {what}")
        used = [columns[role] for role in _ROLES if role in columns]
        if len(set(used)) < len(used):
            titles = " and ".join(self.argument(role) for role in _ROLES if role in columns)
            raise ValueError(f"{titles} must be different columns; got {shown(used)}")

    def check(self, fitted: Schema | None = None) -> CheckedInputs:
        """Return features and `Queries`.

        Parameters
        ----------
        fitted : Schema, optional
            Schema of the training set, which the columns must match and whose categories they get.

        Raises
        ------
        ValueError
            If an argument has the wrong shape or an impossible value, or two do not fit each other.
        """
        given = self.take_columns()
        X = as_features(given.X, self.table_name, fitted=fitted, least=self.least_columns)
        check_order(
            X=given.X,
            y=given.y,
            **{self.argument("qid"): given.qid, self.argument("weight"): given.weight},
            labelled=given.labelled,
            position=given.position,
            labels=given.labels,
        )
        y = None if given.y is None else given.labels_of_rows()
        qid = given.ids_of_rows()
        queries = Queries(
            y,
            qid=qid,
            group=given.group,
            weight=given.weight,
            pairs=given.pairs,
            labelled=given.labelled,
            labels_by_name=given.labels,
            position=given.position,
        )
        if X.shape[0] != queries.n_rows:
            what = f"{self.argument('y')} has" if self.y is not None else "the queries have"
            raise ValueError(
                f"{self.table_name} has {X.shape[0]} rows, but {what} {queries.n_rows}; pass one label per row"
            )
        if fitted is None:
            self._warn_of_copies(X, y, queries)
        return CheckedInputs(X, queries, qid, given.columns, self.where)

    def _warn_of_copies(self, X: Any, y: Floats | None, queries: Queries) -> None:
        """Warn of features that are labels, query ids, weights or positions, as one column too many may be."""
        arrays = {"y": y, "weight": queries.row_weight, "position": queries.position}
        equal = {role: columns_equal_to(X, values) for role, values in arrays.items()}
        copies = {name: f"equals {self.argument(role)}" for role, names in equal.items() for name in names}
        copies |= dict.fromkeys(columns_of_ids(X, queries.query_of_row), "tells the queries apart, as ids do")
        copies = {name: what for name, what in copies.items() if name not in self.keep}
        if copies:
            listed = ", ".join(f"column {name!r} of {self.table_name} {what}" for name, what in copies.items())
            warn_user(f"{listed}: a model learns from it what it must not know; drop it")

    def labels_of_rows(self) -> Floats:
        """Return `y` as finite numbers, 0 where `labelled` is False."""
        title, argument = self.title("y"), self.arguments.get("labelled", "")
        y = as_column_vector(title, self.y)
        if "y" in self.columns:
            mask = as_labelled(self.labelled, len(y))
            missing = is_missing(y) & (True if mask is None else mask)
            self._check_present(missing, title, f"Drop such rows{or_unjudged(argument)}.")
        return as_labels(title, y, self.labelled, argument)

    def ids_of_rows(self) -> NDArray[Any] | None:
        """Return the query id of each row; None where sizes were given."""
        if self.qid is None:
            return None
        if "qid" in self.columns:
            missing = is_missing(self.qid)
            self._check_present(missing, self.title("qid"), "Drop such rows, or give the query an id.")
        return ids_of(self.argument("qid"), self.qid)

    def of_rows(self, rows: NDArray[Any]) -> "Inputs":
        """Return some rows of inputs that are split, those of a query together."""
        labels = {name: np.asarray(values)[rows] for name, values in (self.labels or {}).items()} or None
        arrays = {name: getattr(self, name) for name in ("y", "qid", "weight", "position", "labelled")}
        taken: dict[str, Any] = {
            name: None if values is None else as_vector(name, values)[rows] for name, values in arrays.items()
        }
        return replace(self, X=rows_of(self.X, rows), labels=labels, columns={}, **taken)

    def title(self, role: str) -> str:
        """Return what messages call the values of an argument: with their column, if they come from one."""
        column = self.columns.get(role)
        return self.argument(role) + (f": column {column!r}" if column is not None and column != role else "")

    def _check_present(self, missing: NDArray[np.bool_], title: str, remedy: str) -> None:
        if missing.any():
            raise ValueError(f"{title} has no value in {self.source.row(int(np.argmax(missing)))}. {remedy}")


def columns_to_judge(columns: Mapping[str, str]) -> dict[str, Any]:
    """Return, as fields of `Inputs`, the columns that a fit has named, for data to judge by: positions are not read."""
    read = {role: name for role, name in columns.items() if role != "position"}
    return {"columns": read, "unused": tuple(name for role, name in columns.items() if role == "position")}


def selected(X: Any, features: Any, taken: Iterable[Any] = ()) -> Any:
    """Return a table of the named features, in their order, without those that are `taken`; None: as it is."""
    if features is None:
        return X
    if isinstance(features, str) or not np.iterable(features):
        raise ValueError(f"features must be a list of names of columns; got {shown(features)}")
    kept = [name for name in features if name not in [*taken]]
    for name in kept:
        check_has_column(name, "features", column_names(X))
    check_unique(kept, "features")
    return with_columns(X, kept)


def check_has_column(name: str, argument: str, there: Sequence[Any]) -> None:
    """Raise where an argument names a column that is not there."""
    if name not in there:
        columns = f"the columns are {shown([*there])}" if there else "X has no named columns; pass a DataFrame"
        raise ValueError(f"there is no column {name!r} for {argument}; {columns}{did_you_mean(name, there)}")


def is_missing(values: Any) -> NDArray[np.bool_]:
    """Return where a column has no value, or NaN."""
    missing: NDArray[np.bool_] = imported("pandas", "columns of tables need").isna(np.asarray(values))
    return missing
