"""`ShownRows`: the rows of a click log as the estimators of propensities read them."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_integer
from boostplug.data.click_log import ClickLog
from boostplug.data.positions import check_no_gap


class Items(NamedTuple):
    """Documents of queries, and what became of them at each position.

    Attributes
    ----------
    query, document : ndarray of shape (n_items,)
        Numbers of the query and of the document.
    item, place : ndarray of shape (n_entries,)
        An entry is an item at a position; `place` counts from 0.
    impressions, clicks : ndarray of shape (n_entries,)
    """

    query: Ints
    document: Ints
    item: Ints
    place: Ints
    impressions: Floats
    clicks: Floats

    def by_place(self, values: Floats, n_positions: int) -> csr_array:
        """Return a value per entry as a sparse matrix of items and positions."""
        return csr_array((values, (self.item, self.place)), shape=(len(self.query), n_positions))


class ShownRows(NamedTuple):
    """The rows that were shown at the first positions.

    Attributes
    ----------
    clicks, impressions : ndarray of shape (n_rows,)
    place : ndarray of shape (n_rows,)
        Position, from 0.
    page, query : ndarray of shape (n_rows,)
        Numbers from 0.
    kept : ndarray of shape (n_kept,)
        The rows of the log that these are.
    n_positions, n_queries : int
    """

    clicks: Floats
    impressions: Floats
    place: Ints
    page: Ints
    query: Ints
    kept: Ints
    n_positions: int
    n_queries: int

    def items(self, document: Ints) -> Items:
        """Return the documents of queries, given the number of each row's document."""
        key = self.query * (document.max(initial=0) + 1) + document
        _, first, item = np.unique(key, return_index=True, return_inverse=True)
        entries, entry = np.unique(item * self.n_positions + self.place, return_inverse=True)
        return Items(
            self.query[first],
            document[first],
            *np.divmod(entries, self.n_positions),
            sums(entry, self.impressions, len(entries)),
            sums(entry, self.clicks, len(entries)),
        )


def shown_rows(log: ClickLog, max_position: int | None) -> ShownRows:
    """Return the rows of a log that were shown down to a position, checked.

    Raises
    ------
    ValueError
        If fewer than two positions are there, one is missing, or position 1 has no clicks.
    """
    if max_position is not None:
        check_integer("max_position", max_position, 2, ", or None for all positions")
    shown, deepest = log.shown, max_position or int(log.position.max(initial=0))
    kept = np.flatnonzero((log.position <= deepest) & (shown > 0))
    position, clicks = log.position[kept], log.clicked[kept]
    n_positions = check_no_gap(position)
    if not clicks[position == 1].any():
        raise ValueError("log.clicked: there are no clicks at position 1, to compare with; pass a longer log")
    query = np.unique(log.query_of_row[kept], return_inverse=True)[1]
    return ShownRows(
        clicks, shown[kept], position - 1, log.page_of_row[kept], query, kept, n_positions, int(query.max()) + 1
    )


def sums(index: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each index from 0 to size - 1."""
    return np.asarray(np.bincount(index, values, size), dtype=np.float64)
