"""`group_folds` and `time_folds`: no query is split, folds are balanced, and every framework takes them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate

import boostplug as bp

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")


def letor_like(seed, n_queries=30):
    rng = np.random.default_rng(seed)
    group = np.maximum(1, rng.geometric(0.1, n_queries))
    X = rng.normal(size=(group.sum(), 3))
    y = np.clip(np.round(X[:, 0] + 1), 0, 4)
    return X, y, group, np.repeat(np.arange(n_queries), group)


quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(
    group=st.lists(st.integers(0, 12), min_size=2, max_size=25).filter(lambda g: sum(n > 0 for n in g) >= 2),
    data=st.data(),
)
def test_partition_of_queries_balanced_in_queries_and_documents(group, data):
    n_splits = data.draw(st.integers(2, sum(n > 0 for n in group)))
    shuffle = data.draw(st.booleans())
    queries = bp.Queries(np.zeros(sum(group)), group=group)
    folds = bp.group_folds(queries, n_splits, shuffle=shuffle, random_state=3 if shuffle else None)
    assert len(folds) == folds.get_n_splits() == len(folds.groups) == n_splits
    for (train, test), groups in zip(folds, folds.groups, strict=True):
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(queries.n_rows))
        assert len(train) + len(test) == queries.n_rows
        for rows, sizes in ((train, groups.train), (test, groups.test)):
            assert (np.diff(rows) > 0).all()
            ids, counts = np.unique(queries.query_of_row[rows], return_counts=True)
            np.testing.assert_array_equal(sizes, counts)
            np.testing.assert_array_equal(counts, np.array(group)[ids])  # whole queries
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(queries.n_rows))
    n_queries = [len(groups.test) for groups in folds.groups]
    assert max(n_queries) - min(n_queries) <= 1
    n_rows = [len(test) for _, test in folds]
    assert max(n_rows) - min(n_rows) <= max(group)


def test_ids_and_queries_give_the_same_folds():
    _, y, group, qid = letor_like(0)
    expected = bp.group_folds(bp.Queries(y, group=group), 4)
    names = np.array([f"q{i}" for i in qid])
    for ids in (qid, list(qid), names, bp.Queries(y, qid=qid)):
        folds = bp.group_folds(ids, 4)
        for (a, b), (c, d) in zip(folds, expected, strict=True):
            np.testing.assert_array_equal(a, c)
            np.testing.assert_array_equal(b, d)


def rows_of_tests(folds):
    return [tuple(test) for _, test in folds]


def test_shuffle_is_seeded_and_random_even_where_all_sizes_differ():
    group = np.arange(1, 13)
    qid = np.repeat(group, group)
    one = rows_of_tests(bp.group_folds(qid, 3, shuffle=True, random_state=1))
    assert one == rows_of_tests(bp.group_folds(qid, 3, shuffle=True, random_state=1))
    partitions = {frozenset(rows_of_tests(bp.group_folds(qid, 3, shuffle=True, random_state=i))) for i in range(20)}
    assert len(partitions) == 20
    for other in (np.random.default_rng(1), np.random.RandomState(1), None):
        assert len(bp.group_folds(qid, 3, shuffle=True, random_state=other)) == 3
    assert rows_of_tests(bp.group_folds(qid, 3)) == rows_of_tests(bp.group_folds(qid, 3))


def test_scikit_learn_takes_them():
    X, y, _, qid = letor_like(1)
    folds = bp.group_folds(qid, 3, shuffle=True, random_state=0)
    seen = cross_validate(LinearRegression(), X, y, cv=folds, return_indices=True)["indices"]
    assert [tuple(test) for test in seen["test"]] == rows_of_tests(folds)
    search = clone(GridSearchCV(LinearRegression(), {"fit_intercept": [True, False]}, cv=folds)).fit(X, y)
    assert search.n_splits_ == 3
    with pytest.raises(ValueError, match=r"the folds were made for .* rows, the data has 5"):
        cross_validate(LinearRegression(), X[:5], y[:5], cv=folds)


def test_lightgbm_takes_them_and_splits_no_query():
    X, y, group, qid = letor_like(2)
    # The first label of a query says how long it is, so that a fold shows whether its queries are whole.
    starts = np.cumsum(group) - group
    label = np.zeros(len(y))
    label[starts] = group
    dataset = lgb.Dataset(X, label, group=group, free_raw_data=False)
    folds = bp.group_folds(qid, 3, shuffle=True, random_state=5)
    seen = []

    def objective(scores, data):
        sizes = data.get_group()
        np.testing.assert_array_equal(data.get_label()[np.cumsum(sizes) - sizes], sizes)
        return scores - data.get_label(), np.ones_like(scores)

    def metric(_, data):
        sizes = data.get_group()
        np.testing.assert_array_equal(data.get_label()[np.cumsum(sizes) - sizes], sizes)
        seen.append(tuple(sizes))
        return "seen", 0.0, True

    params = {"objective": objective, "metric": "None", "num_threads": 1, "verbose": -1, "min_data_in_leaf": 1}
    lgb.cv(params, dataset, num_boost_round=2, folds=folds, feval=metric)
    assert sorted(set(seen)) == sorted(tuple(groups.test) for groups in folds.groups)


def test_xgboost_by_slicing():
    """As the docstring says: xgb.cv refuses folds for a DMatrix with queries."""
    X, y, _, qid = letor_like(3)
    dmatrix = xgb.DMatrix(X, y, qid=qid, nthread=1)
    folds = bp.group_folds(qid, 3)
    params = {"objective": "rank:pairwise", "nthread": 1}
    with pytest.raises(xgb.core.XGBoostError):
        xgb.cv(params, dmatrix, num_boost_round=1, folds=folds)
    for (train, _), groups in zip(folds, folds.groups, strict=True):
        dtrain = dmatrix.slice(train, allow_groups=True)
        dtrain.set_group(groups.train)
        np.testing.assert_array_equal(np.diff(dtrain.get_uint_info("group_ptr")), groups.train)
        np.testing.assert_array_equal(dtrain.get_label(), y[train].astype(np.float32))
        xgb.train(params, dtrain, num_boost_round=1)


@quick
@given(
    rows=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=30), n_splits=st.integers(1, 4)
)
def test_time_folds_train_before_and_test_after_in_whole_queries(rows, n_splits):
    group, time = np.array(rows).T
    qid, time = np.repeat(np.arange(len(group)), group), np.repeat(time, group)
    if len(np.unique(time)) <= n_splits:
        with pytest.raises(ValueError, match="different times"):
            bp.time_folds(qid, time, n_splits)
        return
    folds = bp.time_folds(qid, time, n_splits)
    assert len(folds) == n_splits
    seen = folds[0][0]
    for (train, test), groups in zip(folds, folds.groups, strict=True):
        assert time[train].max() < time[test].min()
        np.testing.assert_array_equal(np.sort(train), np.sort(seen))
        seen = np.concatenate([seen, test])
        for side, sizes in ((train, groups.train), (test, groups.test)):
            assert (np.diff(side) > 0).all()
            np.testing.assert_array_equal(sizes, group[np.unique(qid[side])])
    np.testing.assert_array_equal(np.sort(seen), np.arange(len(qid)))


def test_time_folds_cut_where_the_shares_say():
    order = np.random.default_rng(0).permutation(23)
    for n_splits in (1, 4, 7):
        ours = [
            (np.sort(order[train]), np.sort(order[test])) for train, test in bp.time_folds(range(23), order, n_splits)
        ]
        for (train, test), before in zip(ours, np.arange(1, n_splits + 1) * 23 / (n_splits + 1), strict=True):
            np.testing.assert_array_equal(np.r_[train, test], np.arange(len(train) + len(test)))
            assert abs(len(train) - before) <= 0.5


DAYS = ["2026-01-03", "2026-01-03", "2026-01-01", "2026-01-02", "2026-01-02", "2026-01-05"]


@pytest.mark.parametrize(
    "time",
    [
        DAYS,
        np.array(DAYS, "datetime64[D]"),
        pd.to_datetime(pd.Series(DAYS)),
        pd.to_datetime(pd.Series(DAYS), utc=True),
        [f"{day}T10:00:00+01:00" for day in DAYS],
        [3, 3, 1, 2, 2, 5],
    ],
    ids=["texts", "NumPy", "pandas", "UTC", "with a zone", "numbers"],
)
@pytest.mark.filterwarnings("error")
def test_time_folds_take_times_of_any_kind(time):
    folds = bp.time_folds([1, 1, 2, 3, 3, 4], time, 3)
    assert [(train.tolist(), test.tolist()) for train, test in folds] == [
        ([2], [3, 4]),
        ([2, 3, 4], [0, 1]),
        ([0, 1, 2, 3, 4], [5]),
    ]


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ([1, 2, 3, 4, 4, 5], r"time\[1\] = 2 is another time"),
        ([1, 1, 2, np.nan, np.nan, 3], r"time\[3\] = nan is not a time"),
        (["Monday"] * 6, "got 'Monday'"),
        ([1, 2], "time has 2 values, and qid 6"),
    ],
)
def test_time_folds_refuse(time, words):
    with pytest.raises(ValueError, match=words):
        bp.time_folds([1, 1, 2, 3, 3, 4], time, 2)
