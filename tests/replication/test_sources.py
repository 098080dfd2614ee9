"""Where data are found, MovieLens among them, and how tasks and folds are made of them."""

import gzip
import os
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from boostplug.datasets import make_ranking
from boostplug.replication.movielens import load_movielens, user_tasks
from boostplug.replication.sources import (
    BundledFolds,
    Fifths,
    LetorFolds,
    OwnSplit,
    QueryFolds,
    SingleQueries,
    most_pairs,
    split_rows,
)

LINES = "1 qid:{q} 1:0.5 2:1\n0 qid:{q} 1:0.1 2:0\n"


def write_fold(folder, n_queries=1):
    folder.mkdir(parents=True)
    for part in ("train", "vali", "test"):
        (folder / f"{part}.txt").write_text("".join(LINES.format(q=q) for q in range(n_queries)))


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


def test_the_files_of_a_set_without_folds(tmp_path):
    """Not the sizes in side files, nor what stands there plain and compressed twice."""
    folder = tmp_path / "imat2009"
    folder.mkdir()
    source = QueryFolds(("imat2009",), n_queries=6)
    assert source.load(tmp_path) is None
    (folder / "a.txt").write_text("1 1:1\n0 1:0\n" * 4)
    (folder / "a.txt.query").write_text("2\n" * 4)
    (folder / "a.txt.gz").write_bytes(b"not read")
    (folder / "c.txt").mkdir()
    with pytest.raises(ValueError, match=r"imat2009 holds 4 queries, too few for 5 folds; pass the whole set"):
        source.load(tmp_path)
    (folder / "b.txt.gz").write_bytes(gzip.compress(b"1 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:0\n"))
    loaded = source.load(tmp_path)
    assert loaded.as_published
    assert sum(split.test.n_rows for split in loaded.splits) == 11


def test_queries_with_the_most_pairs():
    data = make_ranking(30, n_features=3, mean_list_size=20, random_state=1)

    def n_pairs(y):
        return sum(a > b for a in y for b in y)

    starts = data.queries.boundaries
    counts = [n_pairs(data.y[a:b]) for a, b in pairwise(starts)]
    below = sorted(counts)[-3]
    expected = sorted((c for c in counts if c < below), reverse=True)[:5]
    assert [n_pairs(query.y) for query in most_pairs([data], 5, below)] == expected


def test_letor_sets_are_found_by_name_at_and_below_a_folder(tmp_path):
    for name in ("OHSUMED/QueryLevelNorm", "ohsumed_null", "letor4/MQ-2008"):
        for f in (1, 2):
            write_fold(tmp_path / name / f"Fold{f}", n_queries=f)
    source = LetorFolds(("ohsumed",), n_queries=3)
    for folder in (tmp_path, tmp_path / "OHSUMED", tmp_path / "OHSUMED" / "QueryLevelNorm"):
        loaded = source.load(folder)
        assert [(split.task, split.fold) for split in loaded.splits] == [("", 1), ("", 2)]
        assert loaded.as_published
    assert source.load(tmp_path / "letor4") is None
    assert source.load(tmp_path / "ohsumed_null") is None
    assert source.load(None) is None
    other = LetorFolds(("mq2008",), n_queries=784).load(tmp_path)
    assert not other.as_published
    assert other.notes == ("3 queries; the published figures are of 784, and do not apply.",)


def test_single_queries_are_a_quarter_of_a_small_set(tmp_path):
    write_fold(tmp_path / "MSLR-WEB10K" / "Fold1", n_queries=4)
    source = SingleQueries(("mslrweb10k",))
    loaded = source.load(tmp_path)
    assert len(loaded.splits) == 5 * 3  # of 12 queries
    assert not loaded.as_published
    assert source.load(tmp_path / "MSLR-WEB10K") is not None
    assert source.load(None) is None


def test_the_digest_sees_every_value():
    data = make_ranking(1, n_features=3, mean_list_size=30, random_state=0)

    def digest(data):
        return type(BundledFolds().load(None))(split_rows(data, "t", (0,))).digest

    before = digest(data)
    assert before == digest(data)
    data = replace(data, y=data.y + (np.arange(len(data.y)) == 3))
    assert digest(data) != before


def assert_folds(loaded):
    """All queries are tested once, and no query is in two parts."""
    assert [split.fold for split in loaded.splits] == [1, 2, 3, 4, 5]
    tested = np.concatenate([np.unique(split.test.qid) for split in loaded.splits])
    assert len(tested) == len(np.unique(tested))
    for split in loaded.splits:
        parts = [set(part.qid.tolist()) for part in (split.train, split.vali, split.test)]
        assert all(a.isdisjoint(b) for a, b in combinations(parts, 2))
        assert set.union(*parts) == set(tested.tolist())


def write_fifths(folder, suffix=".txt"):
    """Write five files of two queries, of judgements .0, .1, .2, …; the third and the fourth use a feature more."""
    folder.mkdir()
    for k in range(1, 6):
        lines = [f"{0.1 * i} qid:{10 * k + i // 2} 1:{k}" + " 3:1" * (k in {3, 4}) for i in range(4)]
        text = "\n".join(lines) + "\n"
        if suffix == ".txt":
            (folder / f"S{k}.txt").write_text(text)
        else:
            (folder / f"S{k}.txt.gz").write_bytes(gzip.compress(text.encode()))


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_a_set_in_fifths(tmp_path, suffix):
    write_fifths(tmp_path / "Yandex", suffix)
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
    (tmp_path / "Yandex" / f"S3{suffix}").unlink()
    assert source.load(tmp_path) is None


def test_a_split_of_its_own(tmp_path):
    (tmp_path / "mslr").mkdir()
    for q, part in enumerate(("train", "vali", "test")):
        (tmp_path / "mslr" / f"{part}.txt").write_text(f"1 qid:{q} 1:0.5\n0 qid:{q} 1:1\n")
    (split,) = OwnSplit(("mslr",)).load(tmp_path).splits
    assert [int(part.qid[0]) for part in (split.train, split.vali, split.test)] == [0, 1, 2]
    assert OwnSplit(("mslr",)).load(None) is None
    assert OwnSplit(("other",)).load(tmp_path) is None


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
