"""`RankingData`: what every loader returns and comparisons take; `Fold`: three of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import as_vector, check_order, frozen, shown
from boostplug.data.boundaries import ids_of
from boostplug.data.click_log import ClickLog, features_of_log
from boostplug.data.inputs import Inputs
from boostplug.data.queries import Queries
from boostplug.data.tables import Schema, check_unique, rows_of


@dataclass(frozen=True, eq=False, repr=False, init=False)
class RankingData(Mapping[str, Any]):
    """A ranking data set, checked: features, grades, queries, weights.

    What `boostplug.compare` takes and all loaders return. Its fields are read as attributes or as keys, like those of
    scikit-learn's ``Bunch``. All arrays but `X` are read-only copies: ``dataclasses.replace(data, y=…)`` has others.

    Parameters
    ----------
    X : array, sparse matrix, or DataFrame of pandas, polars or pyarrow, of shape (n_rows, n_features)
        Features, NaN where a value is missing. A column named ``qid`` is taken as `qid`. The arguments below may be
        names of columns of X, which then are no features.
    y : array-like of shape (n_rows,) or str
        Grades: finite real numbers, higher is better.
    qid : array-like of shape (n_rows,) or str, optional
        Query of each row (numbers or strings). The rows of a query stand together.
    group : array-like of shape (n_queries,), optional
        Sizes of the queries, in row order. One of `qid` and `group` is enough; both must say the same.
    weight : array-like of shape (n_queries,) or (n_rows,), optional
        Weights per query or per row (per row where both fit), each 0 or from 1e-100 to 1e100. Default: all 1.
    feature_names : sequence of str, optional
        Default: the names of a DataFrame's columns.
    doc_ids : array-like of shape (n_rows,), optional
        Names of the documents.
    labels : mapping of str to array-like of shape (n_rows,), optional
        More labels by name, for losses and metrics that read one of them: ``bp.QBRank().on("sale")``. NaN where a row
        has no such label.
    position : array-like of int of shape (n_rows,), optional
        Where users saw each row, from 1; for losses that learn from clicks (`Unbiased`).

    Attributes
    ----------
    X : ndarray, sparse matrix or pandas.DataFrame of shape (n_rows, n_features)
        As given, float32 if a loader has read it. Lists become arrays, and tables of polars and pyarrow pandas
        DataFrames.
    y : ndarray of shape (n_rows,), float64
    qid : ndarray of shape (n_rows,)
        Given by `group` alone: 0, 1, 2, …
    group : ndarray of shape (n_queries,), int64
    doc_ids : ndarray of shape (n_rows,), str, or None
        Empty for a row without a name; None where no row has one.
    weight : ndarray of shape (n_rows,), float64, or None
        Weights of the rows; None where all are 1.
    feature_names : tuple of str, or None
    labels : mapping of str to ndarray of shape (n_rows,), float64
    position : ndarray of shape (n_rows,), int64, or None
    queries : Queries
        Grades, queries and weights, for losses and metrics. It is no key.

    Raises
    ------
    ValueError
        If an argument has the wrong shape or an impossible value; the message names argument, value and remedy.

    Examples
    --------
    >>> data = RankingData([[0.5, 1], [0.1, 0], [0.9, 1]], [2, 0, 1], qid=[7, 7, 9])
    >>> data
    RankingData(n_queries=2, n_rows=3, n_features=2)
    >>> data.group
    array([2, 1])
    >>> data["group"] is data.group
    True
    >>> data.queries
    Queries(n_queries=2, n_rows=3)
    """

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[Any]
    group: NDArray[np.int64]
    doc_ids: NDArray[np.str_] | None = None
    weight: NDArray[np.float64] | None = None
    feature_names: tuple[str, ...] | None = None
    labels: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    position: NDArray[np.int64] | None = None
    queries: Queries = field(init=False)

    def __init__(
        self,
        X: Any,
        y: ArrayLike | str,
        *,
        qid: ArrayLike | str | None = None,
        group: ArrayLike | None = None,
        weight: ArrayLike | str | None = None,
        feature_names: Sequence[str] | None = None,
        doc_ids: ArrayLike | None = None,
        labels: Mapping[str, ArrayLike | str] | None = None,
        position: ArrayLike | str | None = None,
    ) -> None:
        if y is None:
            raise ValueError("y is None; pass the grade of each row")
        both = qid is not None and group is not None
        given = Inputs(
            X=X,
            y=y,
            qid=None if both else qid,
            group=group,
            weight=weight,
            labels=labels,
            position=position,
            least_columns=0,  # a file may have rows without features
        ).check()
        queries = given.queries
        ids = _agreed(qid, queries) if both else given.qid
        documents = None if doc_ids is None else as_vector("doc_ids", doc_ids)
        if documents is not None and len(documents) != queries.n_rows:
            raise ValueError(f"doc_ids must have one name per row ({queries.n_rows}); got {len(documents)}")
        check_order(X=X, y=y, doc_ids=doc_ids)
        self.__dict__.update(
            X=given.X,
            y=queries.labels,
            qid=queries.query_of_row if ids is None else frozen(ids.copy()),
            group=queries.group,
            doc_ids=None if documents is None else frozen(documents.copy()),
            weight=queries.row_weight,
            feature_names=_names(feature_names, given.schema),
            labels=queries.labels_by_name,
            position=queries.position,
            queries=queries,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(RankingData, **{**self, "labels": dict(self.labels)}), ()

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        qid: str = "qid",
        weight: str | None = None,
        labels: Sequence[str] = (),
        position: str | None = None,
    ) -> "RankingData":
        """Return the data of a DataFrame of pandas or polars, or of a table of pyarrow.

        Parameters
        ----------
        frame : DataFrame
            All columns but those named are features.
        label, qid : str
            Columns of the grades, and of each row's query.
        weight : str, optional
            Column of weights.
        labels : sequence of str, optional
            Columns of more labels, which keep their names.
        position : str, optional
            Column of positions.

        Raises
        ------
        ValueError
            If there is no such column, or what is in it makes no sense.
        """
        named = {str(name): name for name in labels}
        return cls(frame, label, qid=qid, weight=weight, labels=named, position=position)

    @classmethod
    def from_clicks(cls, X: Any, log: ClickLog) -> "RankingData":
        """Return the pages of a click log as queries, with clicks as labels and the positions: for `Unbiased`.

        Parameters
        ----------
        X : features of shape (n_rows, n_features), or mapping of documents to features
            Features of each row of the log, such as ``X[log.document]`` if `log.document` holds row numbers. Or those
            of each document, by its id in `log.document`.
        log : ClickLog
            Of single impressions.

        Raises
        ------
        ValueError
            If the log counts impressions, X has another number of rows, the log's index in another order, or lacks a
            document.

        Examples
        --------
        >>> import boostplug as bp
        >>> log = bp.datasets.ClickLog([0, 1, 1], group=[2, 1], position=[1, 2, 1], document=[1, 0, 1])
        >>> pages = bp.RankingData.from_clicks({0: [0.5], 1: [0.1]}, log)
        >>> pages.X.ravel(), pages.y, pages.position
        (array([0.1, 0.5, 0.1]), array([0., 1., 1.]), array([1, 2, 1]))
        """
        if log.impressions is not None:
            raise ValueError("log counts impressions; pass a row for each, or make pairs with Pairs.from_clicks")
        features, of_row = features_of_log(X, log)
        return cls(rows_of(features, of_row), log.clicked, group=log.group, position=log.position)

    __eq__ = object.__eq__  # a mapping's would compare arrays with ==
    __hash__ = object.__hash__

    def __getitem__(self, key: str) -> Any:
        if key not in {*self}:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self) if field.init)

    def __len__(self) -> int:
        return len([*self])

    def __repr__(self) -> str:
        return f"RankingData(n_queries={self.n_queries}, n_rows={self.n_rows}, n_features={self.n_features})"

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.group)

    @property
    def n_rows(self) -> int:
        """Number of documents."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of columns of `X`."""
        return int(self.X.shape[1])


class Fold(NamedTuple):
    """Training, validation and test data of equal width: ``train, vali, test = fold``."""

    train: RankingData
    vali: RankingData
    test: RankingData


def _agreed(qid: Any, queries: Queries) -> NDArray[Any]:
    """Return ids that are given beside sizes, refusing those that say something else."""
    ids = ids_of("qid", qid)
    sizes = queries.group
    lengths = np.diff(Queries(queries.labels, qid=ids).boundaries)
    if not np.array_equal(lengths, sizes[sizes > 0]):
        both = f"{shown(lengths.tolist())} and {shown(sizes.tolist())}"
        raise ValueError(f"qid and group disagree: the sizes are {both}; leave one out")
    return ids


def _names(given: Sequence[str] | None, schema: Schema) -> tuple[str, ...] | None:
    """Return the names of features: those given, else those of a DataFrame's columns."""
    if given is None:
        return schema.names
    names = tuple(given)
    check_unique(names, "feature_names")
    if len(names) != schema.n_columns or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names must be {schema.n_columns} strings, one per feature; got {shown([*names])}")
    if schema.names is not None and names != schema.names:
        raise ValueError(f"feature_names {shown([*names])} are not the names of X's columns; leave them out")
    return names
