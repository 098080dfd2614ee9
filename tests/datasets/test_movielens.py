"""MovieLens: the file, and the task of each user."""

import os
from pathlib import Path

import numpy as np
import pytest

from boostplug.datasets.movielens import MovieLens, load_movielens, user_tasks


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("1\t2\t3\n", "line 1: 3 fields"),
        ("1\t2\t3\t4\n1\t3\tgood\t4\n", "line 2: the rating 'good' is no finite number"),
        ("1\t2\tnan\t4\n", "the rating 'nan' is no finite number"),
        ("1.5\t2\t3\t4\n", "the user '1.5' is no whole number"),
        ("1\t2\t3\t4\n1\t2\t5\t6\n", "user 1 has rated item 2 2 times"),
    ],
)
def test_refuses_what_it_cannot_read(tmp_path, text, message):
    path = tmp_path / "u.data"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_movielens(path)


def test_names_the_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"u\.data"):
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
    assert list(mine.doc_ids) == ["1", "2", "4"]
    assert list(mine.group) == [3]
    np.testing.assert_array_equal(user_tasks(data, min_ratings=3, max_missing=2 / 3)[0].X[:, 1], [np.nan, 5, np.nan])
    assert user_tasks(data, min_ratings=3, max_missing=1.0)[0].n_features == 3


def test_exactly_half_missing_stays():
    data = ratings([(1, 1, 5), (1, 2, 3), (2, 1, 4)])
    assert user_tasks(data, min_ratings=2)[0].n_features == 1


def test_a_user_without_features_is_still_a_task():
    assert user_tasks(ratings([(1, 1, 5), (1, 2, 3)]), min_ratings=2)[0].X.shape == (2, 0)


@pytest.mark.parametrize("parameter", [{"min_ratings": 0}, {"min_ratings": 2.0}, {"max_missing": 1.5}])
def test_refuses_parameters_out_of_range(parameter):
    with pytest.raises(ValueError, match=next(iter(parameter))):
        user_tasks(ratings([(1, 1, 5), (1, 2, 3)]), **parameter)


@pytest.mark.skipif("BOOSTPLUG_DATA" not in os.environ, reason="needs real data: set BOOSTPLUG_DATA")
def test_the_real_file():
    data = load_movielens(Path(os.environ["BOOSTPLUG_DATA"], "ml-100k"))
    assert repr(data) == "MovieLens(n_ratings=100000, n_users=943, n_items=1682)"
    tasks = user_tasks(data)
    assert len(tasks) == 364
    assert min(task.n_rows for task in tasks) == 100
    assert all(np.isnan(task.X).mean(axis=0).max(initial=0.0) <= 0.5 for task in tasks)
