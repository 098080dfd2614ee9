"""`ClickLog`: shown documents with their positions and clicks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import as_floats, check_order, check_values, frozen, shown
from boostplug.data.boundaries import boundaries_of, ids_of, numbers_of_rows
from boostplug.data.positions import as_positions
from boostplug.data.tables import as_features


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ClickLog:
    """Result pages with their clicks: one row per document shown, the rows of a page together. Immutable.

    Parameters
    ----------
    clicked : array-like of shape (n_rows,)
        1 where the document was clicked, else 0. With `impressions`: how often it was clicked.
    qid : array-like of shape (n_rows,), optional
        Id of each row's result page. Exactly one of `qid` and `group` is given.
    group : array-like of shape (n_pages,), optional
        Sizes of the pages, in row order.
    position : array-like of int of shape (n_rows,)
        Place on the page, from 1; of one row only, unless `impressions` counts the rows.
    query : array-like of shape (n_rows,), optional
        Id of the query that a page answers; pages of one query share it. Default: each page is a query of its own.
    document : array-like of shape (n_rows,), optional
        Id of each row's document.
    ranker : array-like of shape (n_rows,), optional
        Id of the ranker that made the page.
    impressions : array-like of int of shape (n_rows,), optional
        How often the row was shown, for an aggregated log. Default: once.

    Attributes
    ----------
    clicked : ndarray of shape (n_rows,), float64
    boundaries : ndarray of shape (n_pages + 1,), int64
        Page k holds the rows ``boundaries[k]:boundaries[k + 1]``.
    position : ndarray of shape (n_rows,), int64
    query, document, ranker : ndarray of shape (n_rows,), or None
        As given.
    impressions : ndarray of shape (n_rows,), float64, or None
    index : pandas.Index, or None
        Of the columns, if they come from pandas. Features and scores of the rows that have the same index in another
        order are refused.

    Raises
    ------
    ValueError
        If a column has the wrong length or an invalid value: a position below 1, a click count that is negative, not
        an integer or above the impressions. The message names column and row.

    Examples
    --------
    >>> log = ClickLog([1, 0, 0, 1], group=[2, 2], position=[1, 2, 1, 2])
    >>> log
    ClickLog(n_pages=2, n_rows=4, n_clicks=2)
    >>> log.group
    array([2, 2])
    """

    clicked: Floats
    boundaries: Ints
    position: Ints
    query: NDArray[Any] | None
    document: NDArray[Any] | None
    ranker: NDArray[Any] | None
    impressions: Floats | None
    index: Any

    def __init__(
        self,
        clicked: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        position: ArrayLike,
        query: ArrayLike | None = None,
        document: ArrayLike | None = None,
        ranker: ArrayLike | None = None,
        impressions: ArrayLike | None = None,
    ) -> None:
        ids: dict[str, Any] = {"query": query, "document": document, "ranker": ranker}
        index = check_order(clicked=clicked, qid=qid, position=position, impressions=impressions, **ids)
        clicks = as_floats("clicked", clicked)
        boundaries = boundaries_of(group, qid, len(clicks), rows_of="clicked")
        shown_times = None if impressions is None else numbers_of_rows("impressions", impressions, len(clicks))
        _check_clicks(clicks, shown_times)
        columns = {name: None if values is None else ids_of(name, values).copy() for name, values in ids.items()}
        for name, values in columns.items():
            if values is not None and len(values) != len(clicks):
                raise ValueError(f"{name} must hold one id per row ({len(clicks)}), got {len(values)}")
        columns |= {"clicked": clicks, "boundaries": boundaries, "impressions": shown_times}
        self.__setstate__({**columns, "position": as_positions(position, len(clicks)), "index": index})
        if shown_times is None:
            self._check_one_row_a_position()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: frozen(v) if isinstance(v, np.ndarray) else v for name, v in state.items()})

    def __repr__(self) -> str:
        return f"ClickLog(n_pages={self.n_pages}, n_rows={self.n_rows}, n_clicks={self.clicked.sum():.0f})"

    def __len__(self) -> int:
        return self.n_rows

    def _check_one_row_a_position(self) -> None:
        place = self.page_of_row * (self.position.max(initial=0) + 1) + self.position
        order = np.argsort(place, kind="stable")
        again = np.zeros(self.n_rows, bool)
        again[order[1:]] = place[order[1:]] == place[order[:-1]]
        why = "occurs twice on a page; give each of its documents its own position, or pass impressions"
        check_values("position", again, self.position, why)

    @property
    def n_rows(self) -> int:
        """Number of documents shown."""
        return len(self.clicked)

    @property
    def n_pages(self) -> int:
        """Number of result pages."""
        return len(self.boundaries) - 1

    @property
    def group(self) -> Ints:
        """Sizes of the pages, of shape (n_pages,)."""
        return np.diff(self.boundaries)

    @property
    def shown(self) -> Floats:
        """Number of impressions of each row, of shape (n_rows,); 1 if `impressions` is None."""
        return np.ones(self.n_rows) if self.impressions is None else self.impressions

    @property
    def page_of_row(self) -> Ints:
        """Index of each row's page, of shape (n_rows,)."""
        return np.repeat(np.arange(self.n_pages), self.group)

    @property
    def query_of_row(self) -> Ints:
        """Number of each row's query, from 0, of shape (n_rows,). It is the page if `query` is None."""
        return self.page_of_row if self.query is None else np.unique(self.query, return_inverse=True)[1]

    def pages(self, chosen: ArrayLike) -> "ClickLog":
        """Return the log of the chosen pages, given by their numbers or as one bool per page, in the log's order."""
        kept = np.zeros(self.n_pages, bool)
        kept[np.asarray(chosen)] = True
        rows = np.repeat(kept, self.group)
        taken = {name: v[rows] for name, v in self.__dict__.items() if v is not None and name != "boundaries"}
        out = object.__new__(ClickLog)
        out.__setstate__({**self.__dict__, **taken, "boundaries": np.r_[0, np.cumsum(self.group[kept])]})
        return out


def features_of_log(X: Any, log: ClickLog) -> tuple[Any, Ints]:
    """Return features, and which row of them belongs to each row of the log.

    X has one row per row of the log, or is a mapping of documents to their features.
    """
    if isinstance(X, Mapping):
        documents, of_row = np.unique(np.asarray(log.document), return_inverse=True)
        absent = [document for document in documents.tolist() if document not in X]
        if absent:
            raise ValueError(f"X has no features of log.document {shown(absent[0])} ({len(absent) - 1} more); add them")
        return as_features([X[document] for document in documents.tolist()]), of_row
    check_order(log=log, X=X)
    features = as_features(X)
    if features.shape[0] != log.n_rows:
        what = f"X has {features.shape[0]} rows and the log {log.n_rows}; pass one row per row of the log"
        raise ValueError(f"{what}, such as X[log.document] for row numbers, or a mapping of documents to features")
    return features, np.arange(log.n_rows)


def _check_clicks(clicks: Floats, impressions: Floats | None) -> None:
    """Raise for invalid clicks or impressions."""
    if impressions is None:
        why = "is neither 0 nor 1; for counts pass impressions too"
        check_values("clicked", (clicks != 0) & (clicks != 1), clicks, why)
        return
    for name, counts in (("impressions", impressions), ("clicked", clicks)):
        bad = ~(np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts)))
        check_values(name, bad, counts, "is not a count; pass integers from 0")
    check_values("clicked", clicks > impressions, clicks, "is more than the row's impressions; correct one of them")
