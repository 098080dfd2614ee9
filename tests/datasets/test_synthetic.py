"""`make_ranking` has the properties it promises; `load_bundled` is what the comparisons were made for."""

import numpy as np
import pytest

from boostplug.datasets import load_bundled, make_ranking


def top_grades(data):
    return np.maximum.reduceat(data.y, data.queries.boundaries[:-1])


def test_a_seed_always_gives_the_same_data():
    one, two, other = (make_ranking(30, random_state=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert one.X.shape != other.X.shape or not np.array_equal(one.X, other.X, equal_nan=True)
    generator = make_ranking(30, random_state=np.random.Generator(np.random.PCG64(5)))
    np.testing.assert_array_equal(one.X, generator.X)
    legacy = [make_ranking(30, random_state=np.random.RandomState(5)) for _ in range(2)]
    np.testing.assert_array_equal(legacy[0].X, legacy[1].X)
    assert make_ranking(3).n_queries == 3


def test_list_sizes_have_the_mean_and_a_long_tail():
    group = make_ranking(4000, n_features=1, mean_list_size=25, random_state=1).group
    assert group.mean() == pytest.approx(25, rel=0.1)  # the cut at 8 times the mean takes some
    assert group.min() >= 1
    assert group.max() == 200
    assert np.median(group) < 0.8 * group.mean()
    assert make_ranking(50, mean_list_size=1, random_state=1).group.tolist() == [1] * 50


@pytest.mark.parametrize("n_grades", [2, 3, 5, 8])
def test_each_grade_is_rarer_than_the_one_below(n_grades):
    y = make_ranking(1000, n_features=1, n_grades=n_grades, random_state=2).y
    counts = np.unique(y, return_counts=True)[1]
    assert len(counts) == n_grades
    assert (np.diff(counts) < 0).all()
    assert counts[0] > len(y) / 2


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_share_of_queries_without_relevant_documents(share):
    data = make_ranking(200, n_features=1, empty_queries=share, random_state=2)
    assert (top_grades(data) == 0).sum() == 200 * share


def test_the_bundled_set():
    fold = load_bundled()
    assert [(part.n_queries, part.n_rows, part.n_features) for part in fold] == [
        (250, 8384, 30),
        (90, 3149, 30),
        (150, 5579, 30),
    ]
    qids = [np.unique(part.qid) for part in fold]
    np.testing.assert_array_equal(np.concatenate(qids), np.arange(1, 491))
    shares = np.bincount(fold.train.y.astype(int)) / fold.train.n_rows
    np.testing.assert_allclose(shares, [0.686, 0.227, 0.061, 0.019, 0.007], atol=1e-3)
    assert np.mean(top_grades(fold.test) == 0) == pytest.approx(12 / 150)
    # Sums of integers that no rounding touches: the same data on every platform.
    assert [int(part.y.sum()) for part in fold] == [3636, 1403, 2983]
    assert [int(np.isnan(part.X).sum()) for part in fold] == [12775, 4570, 8565]
    assert [int(np.nansum(part.X[:, 1], dtype=np.float64)) for part in fold] == [24524, 8791, 15887]
    again = load_bundled()
    assert all(np.array_equal(a.X, b.X, equal_nan=True) for a, b in zip(fold, again, strict=True))
