"""`Pairs`: explicit preferences between rows, as clicks or judges give them."""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import frozen, numbers, refuse_weights, refuse_where, vector

__all__ = ["Pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LAST_ROW = 2**62  # products of row numbers with small ones stay within int64


@final
class Pairs:
    """Explicit preferences: row ``winner[k]`` should rank above row ``loser[k]``. Immutable, checked once.

    Parameters
    ----------
    winner, loser : array-like of int of shape (n_pairs,)
        Row indices from 0 (CatBoost's order: winner, loser). A pair may stand several times, and may cross queries: it
        counts in its winner's query.
    weight : array-like of shape (n_pairs,), optional
        Weights, each 0 or from 1e-100 to 1e100, times √(w_i w_j) of the rows. Default: 1.
    margin : array-like of shape (n_pairs,), optional
        The pair's grade gap, from 1e-100 to 1e100: how strong the preference is (`MPBoost` takes its distance, `QBRank`
        takes it as τ). Default: 1.

    Raises
    ------
    ValueError
        If lengths differ, an index is negative or no integer, a row is paired with itself, or a weight or margin is
        impossible.

    Examples
    --------
    >>> pairs = Pairs([0, 2], [1, 1], margin=[1.0, 2.0])
    >>> pairs
    Pairs(n_pairs=2)
    >>> len(pairs)
    2
    """

    winner: Ints
    loser: Ints
    weight: Floats | None
    margin: Floats | None

    def __init__(
        self, winner: ArrayLike, loser: ArrayLike, *, weight: ArrayLike | None = None, margin: ArrayLike | None = None
    ) -> None:
        rows = {"winner": _rows("winner", winner), "loser": _rows("loser", loser)}
        n = len(rows["winner"])
        if len(rows["loser"]) != n:
            raise ValueError(f"winner and loser must have one row per pair each; got {n} and {len(rows['loser'])}")
        same = rows["winner"] == rows["loser"]
        refuse_where("winner", same, rows["winner"], "is its own loser; a pair needs two rows")
        self.__dict__.update(rows)
        for name, values in (("weight", weight), ("margin", margin)):
            array = None if values is None else numbers(name, values)
            if array is not None:
                if len(array) != n:
                    raise ValueError(f"{name} must have one value per pair ({n}), got {len(array)} values")
                refuse_weights(name, array, zero=name == "weight")
                frozen(array)
            self.__dict__[name] = array

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Pairs is immutable; build a new one to change {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Pairs is immutable; {name} cannot be deleted")

    def __len__(self) -> int:
        return len(self.winner)

    def __repr__(self) -> str:
        return f"Pairs(n_pairs={len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.winner, self.loser, self.weight, self.margin)

    def refuse_beyond(self, n_rows: int) -> None:
        """Raise if a row index is not below `n_rows`."""
        for name in ("winner", "loser"):
            rows = getattr(self, name)
            refuse_where(name, rows >= n_rows, rows, f"is beyond the last of {n_rows} rows; rows count from 0")

    def of_rows(self, rows: Ints, n_rows: int) -> tuple["Pairs", int]:
        """Return the pairs within the chosen `rows`, numbered by their places there, and how many pairs that cuts.

        A pair is cut if one of its rows is chosen and the other is not. A row chosen twice is refused: which of its
        places a pair should take is not known.
        """
        self.refuse_beyond(n_rows)
        again = np.ones(len(rows), bool)
        again[np.unique(rows, return_index=True)[1]] = False
        refuse_where("rows", again, rows, "is chosen a second time; pairs can follow each row to one place alone")
        place = np.full(n_rows, -1)
        place[rows] = np.arange(len(rows))
        winner, loser = place[self.winner], place[self.loser]
        inside = (winner >= 0) & (loser >= 0)
        kept = Pairs(
            winner[inside],
            loser[inside],
            weight=None if self.weight is None else self.weight[inside],
            margin=None if self.margin is None else self.margin[inside],
        )
        return kept, int(((winner >= 0) != (loser >= 0)).sum())


def _rebuild(winner: Ints, loser: Ints, weight: Floats | None, margin: Floats | None) -> Pairs:
    return Pairs(winner, loser, weight=weight, margin=margin)


def _rows(name: str, values: ArrayLike) -> Ints:
    array = vector(name, values)
    if array.size == 0:
        return frozen(np.zeros(0, np.int64))
    if array.dtype.kind == "O":
        array = _of_integers(name, array)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold row indices, got dtype {array.dtype}; convert them to integers")
    refuse_where(name, array < 0, array, "is negative; rows count from 0")
    refuse_where(name, array > _LAST_ROW, array, "is beyond the last row there can be; rows count from 0")
    return frozen(array.astype(np.int64))


def _of_integers(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return objects as int64, refusing those that it does not hold."""
    fits = np.array([type(value) is int and abs(value) <= _LAST_ROW for value in values])
    refuse_where(name, ~fits, values, "is no row index; rows count from 0")
    return values.astype(np.int64)
