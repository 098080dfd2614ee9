"""Stumps, features, and the cuts of a training set, against one comparison per row and threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boostplug.weak_rankers import Cuts, Feature, Stump
from boostplug.weak_rankers.stump import rounding_edges

LARGEST = float(np.finfo(np.float32).max)
TINY = float(np.nextafter(np.float32(0), np.float32(1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_stump_puts_missing_below_and_known_above_minus_infinity(dtype):
    X = np.array([[np.nan], [-LARGEST], [0.0], [0.5], [1.0]], dtype)
    assert Stump(0, -np.inf).predict(X).tolist() == [0, 1, 1, 1, 1]
    assert Stump(0, 0.5, below=-2.0, above=3.0).predict(X).tolist() == [-2, -2, -2, -2, 3]


def test_stump_compares_singles_with_its_double_threshold():
    x = np.float32(0.1)  # 0.10000000149…
    assert Stump(0, 0.1).predict(np.array([[x]])).tolist() == [1.0]
    assert Stump(0, float(x)).predict(np.array([[x]])).tolist() == [0.0]


def test_feature_counts_missing_as_zero():
    assert Feature(1).predict(np.array([[1.0, np.nan], [2.0, -3.5]])).tolist() == [0.0, -3.5]


singles = st.floats(-LARGEST, LARGEST, width=32, allow_subnormal=True)


@given(st.one_of(singles, st.floats(-LARGEST, LARGEST), st.sampled_from([0.0, -0.0, LARGEST, -LARGEST, TINY, -TINY])))
def test_rounding_edge_is_the_last_double_that_rounds_below(threshold):
    edge = rounding_edges(np.array([threshold]))
    after = np.nextafter(edge, np.inf)
    with np.errstate(over="ignore"):
        low, high = (float(x.astype(np.float32)[0]) for x in (edge, after))
    assert low <= threshold < high


def test_rounding_edges_keep_infinities():
    assert rounding_edges(np.array([-np.inf, np.inf])).tolist() == [-np.inf, np.inf]


def columns():
    random = np.random.default_rng(0)
    yield "normal", random.normal(size=60)
    yield "ties", random.integers(0, 4, 60)
    yield "neighbours", np.nextafter(np.float32(1), np.float32(2)) * (random.integers(0, 2, 60)) + 0.0
    yield "constant", np.ones(60)
    yield "zeros", np.where(random.random(60) < 0.5, -0.0, 0.0)
    yield "tiny", TINY * random.integers(-3, 4, 60)
    yield "largest", LARGEST * random.integers(-1, 2, 60)
    yield "missing", np.full(60, np.nan)


@pytest.fixture(name="X")
def features():
    random = np.random.default_rng(1)
    X = np.column_stack([column for _, column in columns()]).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 1] = np.nan_to_num(X[:, 1])  # one without missing values
    return X


def test_cuts_part_all_neighbouring_values_and_nothing_else(X):
    cuts = Cuts(X, None, np.random.RandomState(0))
    expected = 0
    for k, column in enumerate(X.T):
        known = np.unique(column[~np.isnan(column)] + np.float32(0))
        parts = {
            tuple(cuts.stump(c).predict(X)) for c in range(cuts.start[k], cuts.start[k + 1]) if cuts.feature(c) == k
        }
        wanted = {tuple(np.where(column > low, 1.0, 0.0)) for low in known[:-1]}
        if len(known) and np.isnan(column).any():
            wanted.add(tuple(np.where(np.isnan(column), 0.0, 1.0)))
        assert parts == wanted
        expected += len(wanted)
    assert len(cuts) == expected
    assert all((np.diff(cuts.threshold[a:b]) > 0).all() for a, b in zip(cuts.start[:-1], cuts.start[1:], strict=True))


def test_codes_sums_and_sides_agree_with_the_stumps(X):
    cuts = Cuts(X, None, np.random.RandomState(0))
    above = np.array([cuts.stump(c).predict(X) for c in range(len(cuts))])
    assert np.array_equal(above, [cuts.above(c) for c in range(len(cuts))])
    values = np.random.default_rng(2).normal(size=len(X))
    np.testing.assert_allclose(cuts.sums_above(values), above @ values, rtol=0, atol=1e-13)


def test_thresholds_are_thinned_at_random(X):
    few = Cuts(X, 3, np.random.RandomState(0))
    assert np.diff(few.start).max() == 3
    assert set(few.threshold) < set(Cuts(X, None, np.random.RandomState(0)).threshold)
    assert not np.array_equal(few.threshold, Cuts(X, 3, np.random.RandomState(1)).threshold)
    assert np.array_equal(few.threshold, Cuts(X, 3, np.random.RandomState(0)).threshold)


def test_distinct_keeps_the_first_cut_of_each_split(X):
    cuts = Cuts(np.column_stack([X, X[:, 0], -X[:, 0]]), None, np.random.RandomState(0))
    rows = np.arange(5, 40)
    seen, expected = set(), []
    for cut in range(len(cuts)):
        side = cuts.above(cut)[rows]
        key = tuple(side if side[0] else ~side)
        if not all(key) and key not in seen:
            seen.add(key)
            expected.append(cut)
    assert cuts.distinct(rows).tolist() == expected
