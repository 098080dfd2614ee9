"""MovieLens: the file, and the task of each user."""

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from boostplug.replication.movielens import MovieLens, load_movielens, user_tasks


def ratings(rows):
    user, item, rating = np.array(rows).T
    return MovieLens(user.astype(int), item.astype(int), rating.astype(float), np.zeros(len(rows), int))


def test_reads_the_four_columns(tmp_path):
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t4.5\t891717742\n\n")
    for path in (tmp_path, str(tmp_path / "u.data")):
        data = load_movielens(path)
        assert len(data) == 2
        np.testing.assert_array_equal(data.user, [196, 186])
        np.testing.assert_array_equal(data.item, [242, 302])
        np.testing.assert_array_equal(data.rating, [3.0, 4.5])
        np.testing.assert_array_equal(data.timestamp, [881250949, 891717742])


def test_a_task_by_hand():
    """User 5 has rated films 1, 2, 4; user 7 two of them, user 8 one, user 9 none."""
    data = ratings([(5, 4, 2), (5, 1, 5), (5, 2, 3), (7, 1, 1), (7, 4, 4), (7, 9, 2), (8, 2, 5), (9, 9, 3)])
    tasks = user_tasks(data, min_ratings=3)
    assert [task.qid[0] for task in tasks] == [5, 7]
    mine = tasks[0]
    np.testing.assert_array_equal(mine.y, [5, 3, 2])
    np.testing.assert_array_equal(mine.X, np.array([[1], [np.nan], [4]]))  # user 8 lacks 2 of 3 films
    assert mine.X.dtype == np.float32
    assert list(mine.doc_ids) == ["1", "2", "4"]
    assert list(mine.group) == [3]
    np.testing.assert_array_equal(user_tasks(data, min_ratings=3, max_missing=2 / 3)[0].X[:, 1], [np.nan, 5, np.nan])
    assert user_tasks(data, min_ratings=3, max_missing=1.0)[0].n_features == 3


def test_a_user_without_features_is_still_a_task():
    assert user_tasks(ratings([(1, 1, 5), (1, 2, 3)]), min_ratings=2)[0].X.shape == (2, 0)


def test_features_are_those_that_a_table_of_all_ratings_gives():
    random = np.random.default_rng(0)
    rated = random.random((12, 15)) < random.random((12, 1))
    table = np.where(rated, random.integers(0, 6, rated.shape), np.nan).astype(np.float32)  # 0 is a rating too
    user, item = np.nonzero(rated)
    order = random.permutation(len(user))
    data = MovieLens(user[order], item[order], table[user, item][order].astype(float), np.zeros(len(user), int))
    for max_missing in (0.0, 0.3, 0.5, 1.0):
        tasks = {task.qid[0]: task for task in user_tasks(data, min_ratings=2, max_missing=max_missing)}
        assert [*tasks] == [u for u in range(12) if rated[u].sum() >= 2]
        for u, task in tasks.items():
            films = np.flatnonzero(rated[u])
            others = [o for o in range(12) if o != u and rated[o].any() and (~rated[o, films]).mean() <= max_missing]
            np.testing.assert_array_equal(task.X, table[others][:, films].T)
            np.testing.assert_array_equal(task.y, table[u, films])


def test_users_and_films_may_be_many():
    """A table of all users and films would have 10^10 cells."""
    n = 100_000
    data = MovieLens(np.arange(n), np.arange(n), np.ones(n), np.zeros(n, int))
    tracemalloc.start()
    assert user_tasks(data, min_ratings=2) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


@pytest.mark.skipif("BOOSTPLUG_DATA" not in os.environ, reason="needs real data: set BOOSTPLUG_DATA")
def test_the_real_file():
    data = load_movielens(Path(os.environ["BOOSTPLUG_DATA"], "ml-100k"))
    assert repr(data) == "MovieLens(n_ratings=100000, n_users=943, n_items=1682)"
    tasks = user_tasks(data)
    assert len(tasks) == 364
    assert min(task.n_rows for task in tasks) == 100
    assert all(np.isnan(task.X).mean(axis=0).max(initial=0.0) <= 0.5 for task in tasks)
