"""Where data are found, MovieLens among them, and how tasks and folds are made of them."""

import gzip
from itertools import combinations

import numpy as np

from boostplug.datasets import make_ranking
from studies.movielens import load_movielens, user_tasks
from studies.sources import Fifths, split_rows


def test_rows_are_split_three_to_one_to_one_and_rotate():
    data = make_ranking(1, n_features=3, mean_list_size=60, missing=0.0, random_state=0)
    splits = split_rows(data, "t", (0, 7))
    own = [[{tuple(row) for row in getattr(split, part).X} for part in ("train", "vali", "test")] for split in splits]
    everything = {tuple(row) for row in data.X}
    assert len(everything) == data.n_rows  # rows can be told apart
    for train, vali, test in own:
        assert train | vali | test == everything
        assert len(train) + len(vali) + len(test) == data.n_rows
        assert abs(len(test) - data.n_rows / 5) <= 1
    assert set.union(*(test for _, _, test in own)) == everything
    for f in range(5):  # what is tested in a fold is validated on in the next, as in LETOR
        assert own[f][2] == own[(f + 1) % 5][1]
    again = split_rows(data, "t", (0, 7))
    assert all(np.array_equal(a.test.X, b.test.X) for a, b in zip(splits, again, strict=True))
    assert not np.array_equal(splits[0].test.X, split_rows(data, "t", (0, 8))[0].test.X)
    row = {tuple(x): y for x, y in zip(data.X, data.y, strict=True)}
    assert all(row[tuple(x)] == y for x, y in zip(splits[0].train.X, splits[0].train.y, strict=True))


def assert_folds(loaded):
    """All queries are tested once, and no query is in two parts."""
    assert [split.fold for split in loaded.splits] == [1, 2, 3, 4, 5]
    tested = np.concatenate([np.unique(split.test.qid) for split in loaded.splits])
    assert len(tested) == len(np.unique(tested))
    for split in loaded.splits:
        parts = [set(part.qid.tolist()) for part in (split.train, split.vali, split.test)]
        assert all(a.isdisjoint(b) for a, b in combinations(parts, 2))
        assert set.union(*parts) == set(tested.tolist())


def write_fifths(folder):
    """Write five files of two queries, of judgements .0, .1, .2, …; the third and the fourth use a feature more."""
    folder.mkdir()
    for k in range(1, 6):
        lines = [f"{0.1 * i} qid:{10 * k + i // 2} 1:{k}" + " 3:1" * (k in {3, 4}) for i in range(4)]
        (folder / f"S{k}.txt.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))


def test_a_set_in_fifths(tmp_path):
    write_fifths(tmp_path / "Yandex")
    (tmp_path / "Yandex" / "S6.txt").write_text("0 qid:1 1:1\n")
    source = Fifths(("yandex",), scale=10.0)
    loaded = source.load(tmp_path)
    assert_folds(loaded)
    assert [split.test.X[0, 0] for split in loaded.splits] == [5, 1, 2, 3, 4]
    assert [split.vali.X[0, 0] for split in loaded.splits] == [4, 5, 1, 2, 3]
    assert np.unique(loaded.splits[0].train.X[:, 0]).tolist() == [1, 2, 3]
    assert loaded.splits[0].test.X.shape == (4, 3)
    np.testing.assert_allclose(loaded.splits[0].test.y, [0.0, 1.0, 2.0, 3.0])
    assert loaded.notes == ("10 queries, 20 documents, 4 different grades from 0 to 3.",)
    assert not loaded.as_published
    five = Fifths(("yandex",), edges=(0.05, 0.2)).load(tmp_path)
    assert five.splits[0].test.y.tolist() == [0.0, 1.0, 2.0, 2.0]
    assert source.load(None) is None
    assert Fifths(("other",)).load(tmp_path) is None
    (tmp_path / "Yandex" / "S3.txt.gz").unlink()
    assert source.load(tmp_path) is None


def test_reads_the_four_columns(tmp_path):
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t4.5\t891717742\n\n")
    for path in (tmp_path, str(tmp_path / "u.data")):
        data = load_movielens(path)
        assert data.tolist() == [(196, 242, 3.0, 881250949), (186, 302, 4.5, 891717742)]
        assert data["user"].tolist() == [196, 186]


def test_a_task_by_hand():
    """User 5 has rated films 1, 2, 4; user 7 two of them, user 8 one, user 9 none."""
    ratings = [(5, 4, 2), (5, 1, 5), (5, 2, 3), (7, 1, 1), (7, 4, 4), (7, 9, 2), (8, 2, 5), (9, 9, 3)]
    data = np.array(ratings, [("user", int), ("item", int), ("rating", float)])
    tasks = user_tasks(data, min_ratings=3)
    assert [task.qid[0] for task in tasks] == [5, 7]
    mine = tasks[0]
    np.testing.assert_array_equal(mine.y, [5, 3, 2])
    np.testing.assert_array_equal(mine.X, np.array([[1], [np.nan], [4]]))  # user 8 lacks 2 of 3 films
    assert mine.X.dtype == np.float32
    assert list(mine.group) == [3]
    np.testing.assert_array_equal(user_tasks(data, min_ratings=3, max_missing=2 / 3)[0].X[:, 1], [np.nan, 5, np.nan])
    assert user_tasks(data, min_ratings=3, max_missing=1.0)[0].n_features == 3
