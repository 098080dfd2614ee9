"""MovieLens: the file, and the task of each user."""

import os
from pathlib import Path

import numpy as np
import pytest

from boostplug.replication.movielens import load_movielens, user_tasks


def ratings(rows):
    return np.array(rows, [("user", int), ("item", int), ("rating", float)])


def test_reads_the_four_columns(tmp_path):
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t4.5\t891717742\n\n")
    for path in (tmp_path, str(tmp_path / "u.data")):
        data = load_movielens(path)
        assert data.tolist() == [(196, 242, 3.0, 881250949), (186, 302, 4.5, 891717742)]
        assert data["user"].tolist() == [196, 186]


def test_a_file_that_is_not_movielens(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*u\.data; pass u\.data of MovieLens-100k"):
        load_movielens(tmp_path / "u.data")
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\tfilm\t4\t891717742\n")
    with pytest.raises(ValueError, match=r"u\.data: .*'film'.*; pass u\.data of MovieLens-100k"):
        load_movielens(tmp_path)


def test_a_task_by_hand():
    """User 5 has rated films 1, 2, 4; user 7 two of them, user 8 one, user 9 none."""
    data = ratings([(5, 4, 2), (5, 1, 5), (5, 2, 3), (7, 1, 1), (7, 4, 4), (7, 9, 2), (8, 2, 5), (9, 9, 3)])
    tasks = user_tasks(data, min_ratings=3)
    assert [task.qid[0] for task in tasks] == [5, 7]
    mine = tasks[0]
    np.testing.assert_array_equal(mine.y, [5, 3, 2])
    np.testing.assert_array_equal(mine.X, np.array([[1], [np.nan], [4]]))  # user 8 lacks 2 of 3 films
    assert mine.X.dtype == np.float32
    assert list(mine.group) == [3]
    np.testing.assert_array_equal(user_tasks(data, min_ratings=3, max_missing=2 / 3)[0].X[:, 1], [np.nan, 5, np.nan])
    assert user_tasks(data, min_ratings=3, max_missing=1.0)[0].n_features == 3


def test_a_user_without_features_is_still_a_task():
    assert user_tasks(ratings([(1, 1, 5), (1, 2, 3)]), min_ratings=2)[0].X.shape == (2, 0)


@pytest.mark.skipif("BOOSTPLUG_DATA" not in os.environ, reason="needs real data: set BOOSTPLUG_DATA")
def test_the_real_file():
    data = load_movielens(Path(os.environ["BOOSTPLUG_DATA"], "ml-100k"))
    assert (len(data), len(np.unique(data["user"])), len(np.unique(data["item"]))) == (100_000, 943, 1682)
    tasks = user_tasks(data)
    assert len(tasks) == 364
    assert min(task.n_rows for task in tasks) == 100
    assert all(np.isnan(task.X).mean(axis=0).max(initial=0.0) <= 0.5 for task in tasks)
