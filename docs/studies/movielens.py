"""MovieLens-100k: ratings of films by users, and a ranking task for each user."""

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boostplug.datasets.ranking_data import RankingData

_COLUMNS = [("user", np.int64), ("item", np.int64), ("rating", np.float64), ("timestamp", np.int64)]


def load_movielens(path: str | PathLike[str]) -> NDArray[np.void]:
    r"""Ratings in ``u.data`` of MovieLens-100k: user, item, rating, timestamp, separated by tabs.

    Parameters
    ----------
    path : str or path-like
        The file, or the folder that holds ``u.data``.

    Returns
    -------
    structured ndarray of shape (n_ratings,)
        With the fields ``user``, ``item``, ``rating`` and ``timestamp`` (seconds since 1970).

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a line does not hold four numbers, of which ids and timestamps are whole.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "u.data")
    ...     _ = path.write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    ...     load_movielens(folder)["user"]
    array([196, 186])
    """
    file = Path(path)
    if file.is_dir():
        file /= "u.data"
    if not file.exists():
        raise FileNotFoundError(f"there is no file {file}; pass u.data of MovieLens-100k, or the folder that holds it")
    try:
        return np.loadtxt(file, _COLUMNS, delimiter="\t", ndmin=1, encoding="latin-1")
    except ValueError as error:
        raise ValueError(f"{file}: {error}; pass u.data of MovieLens-100k") from None


def user_tasks(ratings: NDArray[np.void], *, min_ratings: int = 100, max_missing: float = 0.5) -> list[RankingData]:
    """Ranking task of each user with enough ratings: order the user's films by the ratings of other users.

    From Connamacher et al., "RankBoost+" (Machine Learning 109, 2020).

    Parameters
    ----------
    ratings : structured ndarray
        Result of `load_movielens`.
    min_ratings : int, default 100
        Users with fewer ratings have no task.
    max_missing : float, default 0.5
        Another user is a feature if at most this share of the task's films has no rating by that user.

    Returns
    -------
    list of RankingData
        By ascending user id, which is `qid` of the task's only query. Rows are the films that the user rated, by
        ascending id; `y` are the user's ratings. Columns of `X` are other users by ascending id, with their ratings of
        these films, NaN for missing ones. A task may have no column.

    Examples
    --------
    >>> rows = [(1, 7, 5.0), (1, 9, 3), (2, 7, 1), (2, 9, 2), (3, 9, 4)]
    >>> tasks = user_tasks(np.array(rows, [("user", int), ("item", int), ("rating", float)]), min_ratings=2)
    >>> tasks[0].X, tasks[0].y, tasks[0].qid
    (array([[ 1., nan],
           [ 2.,  4.]], dtype=float32), array([5., 3.]), array([1, 1]))
    """
    users, row = np.unique(ratings["user"], return_inverse=True)
    items, column = np.unique(ratings["item"], return_inverse=True)
    table = np.full((len(users), len(items)), np.nan, np.float32)
    table[row, column] = ratings["rating"]
    tasks = []
    for user, own in zip(users, table, strict=True):
        films = np.flatnonzero(~np.isnan(own))
        if len(films) < min_ratings:
            continue
        others = table[:, films]
        features = (np.isnan(others).mean(axis=1) <= max_missing) & (users != user)
        X, y = np.ascontiguousarray(others[features].T), own[films].astype(np.float64)
        tasks.append(RankingData(X=X, y=y, qid=np.full(len(y), user), group=np.array([len(y)])))
    return tasks
