"""`Piece`: some rows of files that are read in order, and what a reader of such files says of itself."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Again", "Piece", "Pieces", "ids_of_rows"]

_WIDEST = 64  # characters of an id that each row holds itself


class Again(Exception):  # noqa: N818 (no fault: nobody beyond the room sees it)
    """What was read says how ids are to be read, and earlier ones were read otherwise: start again."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows that stand together in a file, as many as its reader has read at once.

    Attributes
    ----------
    y : ndarray of shape (n_rows,), float64
        Finite.
    weight : ndarray of shape (n_rows,), float64, or None
    starts : ndarray of shape (n_runs,)
        The row at which each run of one query starts; the first is 0, even if its query has begun in the piece before,
        or ended with it: then the second is 0 too.
    ids : list
        Of each run: an int or a str.
    place : callable
        Says where a run starts, for messages: file and line or row.
    fill : callable
        ``fill(start, stop, X)`` writes the features of some rows into zeros.
    """

    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    starts: NDArray[Any]
    ids: list[Any]
    place: Callable[[int], str]
    fill: Callable[[int, int, NDArray[np.float32]], None]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)


class Pieces(Protocol):
    """Files that are read piece by piece, as often as one likes."""

    @property
    def n_features(self) -> int:
        """Number of columns, known once all pieces were read, if not before."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Their names, None where they have none."""

    def pieces(self, *, features: bool) -> Iterator[Piece]:
        """Yield all rows in order; `fill` may be called where `features` is True, once all was read without them.

        Raises
        ------
        Again
        """

    def qids(self, ids: list[Any], group: NDArray[np.int64]) -> NDArray[Any]:
        """Return the id of each row of some queries."""


def ids_of_rows(ids: list[Any], group: NDArray[np.int64], kind: Any) -> NDArray[Any]:
    """Return the id of each row, of a kind of integers or str; long texts are objects that rows share."""
    dtype = object if kind is str and max(map(len, ids)) > _WIDEST else kind
    return np.repeat(np.array(ids, dtype), group)
