"""MovieLens-100k: ratings of films by users, and the ranking task that each user makes."""

import re
from array import array
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_integer, check_number, shown
from boostplug.datasets.ranking_data import RankingData

_COLUMNS = ("user", "item", "rating", "timestamp")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}(\.0*)?")  # float64 holds it exactly


@dataclass(frozen=True, eq=False)
class MovieLens:
    """Ratings, one a row.

    Attributes
    ----------
    user, item : ndarray of shape (n_ratings,), int64
        No pair of them stands twice.
    rating : ndarray of shape (n_ratings,), float64
    timestamp : ndarray of shape (n_ratings,), int64
        Seconds since 1970.
    """

    user: NDArray[np.int64]
    item: NDArray[np.int64]
    rating: NDArray[np.float64]
    timestamp: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.user)

    def __repr__(self) -> str:
        users, items = len(np.unique(self.user)), len(np.unique(self.item))
        return f"MovieLens(n_ratings={len(self)}, n_users={users}, n_items={items})"


def load_movielens(path: str | PathLike[str]) -> MovieLens:
    r"""Load ``u.data`` of MovieLens-100k: user, item, rating, timestamp, separated by tabs.

    Parameters
    ----------
    path : str or path-like
        The file, or the folder that holds ``u.data``.

    Returns
    -------
    MovieLens

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is empty, a line does not hold four numbers, an id or a timestamp is not whole or has more than 15
        digits, a rating is not finite, or a user has rated an item twice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "u.data")
    ...     _ = path.write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    ...     load_movielens(folder)
    MovieLens(n_ratings=2, n_users=2, n_items=2)
    """
    file = Path(path)
    if file.is_dir():
        file /= "u.data"
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}; pass u.data of MovieLens-100k, or the folder that holds it")
    rows = array("d")
    with file.open(encoding="latin-1") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                rows.extend(_row(file, number, line))
    if not rows:
        raise ValueError(f"{file} is empty; pass u.data of MovieLens-100k")
    user, item, rating, timestamp = np.array(rows).reshape(-1, len(_COLUMNS)).T
    pairs, count = np.unique(np.array([user, item]), axis=1, return_counts=True)
    if (count > 1).any():
        twice = pairs[:, np.argmax(count)].astype(np.int64)
        raise ValueError(f"{file}: user {twice[0]} has rated item {twice[1]} {count.max()} times; keep one rating")
    return MovieLens(user.astype(np.int64), item.astype(np.int64), rating.copy(), timestamp.astype(np.int64))


def _row(file: Path, number: int, line: str) -> list[float]:
    fields = line.split("\t")
    if len(fields) != len(_COLUMNS):
        raise ValueError(
            f"{file}, line {number}: {len(fields)} fields in place of {', '.join(_COLUMNS)}, separated by tabs, in "
            f"{shown(line)}; pass u.data of MovieLens-100k"
        )
    row = []
    for name, text in zip(_COLUMNS, fields, strict=True):
        written = text.strip(" \n")
        value = float(written) if (_NUMBER if name == "rating" else _WHOLE).fullmatch(written) else np.nan
        if not np.isfinite(value):
            kind = "finite number" if name == "rating" else "whole number of up to 15 digits"
            raise ValueError(
                f"{file}, line {number}: the {name} {shown(written)} is no {kind}; correct or drop the line"
            )
        row.append(value)
    return row


def user_tasks(ratings: MovieLens, *, min_ratings: int = 100, max_missing: float = 0.5) -> list[RankingData]:
    """Return the ranking task of each user who has rated enough films: order them by the ratings of other users.

    As Connamacher et al., "RankBoost+" (Machine Learning 109, 2020) have it.

    Parameters
    ----------
    ratings : MovieLens
    min_ratings : int, default 100
        Users with fewer ratings make no task; at least 1.
    max_missing : float, default 0.5
        Another user is a feature if at most this share of the task's films lacks a rating of theirs; from 0 to 1.

    Returns
    -------
    list of RankingData
        By ascending user id, which is `qid` of the task's one query. Rows are the films that the user has rated, by
        ascending id (`doc_ids`), `y` their ratings. Columns of `X` are other users by ascending id, their ratings of
        these films, NaN where there is none. A task may have no column.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> ratings = MovieLens(np.array([1, 1, 2, 2, 3]), np.array([7, 9, 7, 9, 9]), np.array([5.0, 3, 1, 2, 4]),
    ...                     np.zeros(5, np.int64))
    >>> tasks = user_tasks(ratings, min_ratings=2)
    >>> tasks[0].X, tasks[0].y, tasks[0].qid
    (array([[ 1., nan],
           [ 2.,  4.]], dtype=float32), array([5., 3.]), array([1, 1]))
    """
    from scipy.sparse import csr_matrix

    check_integer("min_ratings", min_ratings, 1)
    check_number("max_missing", max_missing, least=0, most=1, otherwise=", a share")
    users, row = np.unique(ratings.user, return_inverse=True)
    items, column = np.unique(ratings.item, return_inverse=True)
    table = csr_matrix((ratings.rating.astype(np.float32), (row, column)), shape=(len(users), len(items)))
    table.sort_indices()
    by_item = table.tocsc()
    tasks = []
    for u in np.flatnonzero(table.getnnz(axis=1) >= min_ratings):
        films = table.indices[table.indptr[u] : table.indptr[u + 1]]
        y = table.data[table.indptr[u] : table.indptr[u + 1]].astype(np.float64)
        of_films = by_item[:, films].tocsr()
        features = (len(films) - of_films.getnnz(axis=1)) / len(films) <= max_missing
        features[u] = False
        chosen = of_films[np.flatnonzero(features)].tocoo()
        X = np.full((len(films), chosen.shape[0]), np.nan, np.float32)
        X[chosen.col, chosen.row] = chosen.data
        tasks.append(
            RankingData(
                X=X,
                y=y,
                qid=np.full(len(y), users[u]),
                group=np.array([len(y)]),
                doc_ids=items[films].astype(str),
            )
        )
    return tasks
