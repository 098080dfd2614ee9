"""`Queries`: boundaries, weights, and the documents in pairs by query and grade."""

import pickle
from itertools import pairwise

import loops
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from adapters.harness import FRAMEWORKS
from hypothesis import given, settings
from hypothesis import strategies as st

import boostplug as bp


def test_group_and_qid_say_the_same():
    labels = [2, 0, 1, 1, 3, 0]
    by_group = bp.Queries(labels, group=[3, 1, 2])
    for qid in ([7, 7, 7, 3, 9, 9], list("aaabcc"), np.array([1.5, 1.5, 1.5, 0.5, 2, 2])):
        by_qid = bp.Queries(labels, qid=qid)
        np.testing.assert_array_equal(by_qid.boundaries, by_group.boundaries)
    assert by_group.boundaries.tolist() == [0, 3, 4, 6]
    assert (by_group.n_queries, by_group.n_rows) == (3, 6)
    assert by_group.labels.dtype == np.float64
    assert by_group.query_of_row.tolist() == [0, 0, 0, 1, 2, 2]


def test_is_immutable_and_keeps_its_own_copy():
    labels = np.array([1.0, 0.0])
    weight = np.array([1.0, 2.0])
    queries = bp.Queries(labels, group=[2], weight=weight, labelled=np.array([True, False]))
    labels[0] = weight[0] = 9.0
    assert queries.labels[0] == 1.0
    assert queries.row_weight[0] == 1.0
    for array in (queries.labels, queries.boundaries, queries.row_weight, queries.labelled, queries.query_of_row):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError, match="immutable"):
        queries.labels = labels
    with pytest.raises(AttributeError, match="immutable"):
        del queries.labels


def test_weights_per_query_and_per_row():
    per_query = bp.Queries([1, 0, 2], group=[2, 1], weight=[1.0, 3.0])
    assert per_query.row_weight.tolist() == [1.0, 1.0, 3.0]
    assert per_query.query_weight.tolist() == [1.0, 3.0]
    per_row = bp.Queries([1, 0, 2], group=[2, 1], weight=[1.0, 2.0, 3.0])
    assert per_row.query_weight.tolist() == [1.5, 3.0]
    assert bp.Queries([1, 0, 2], group=[2, 1], weight=[1, 1]).row_weight is None
    empty_query = bp.Queries([1, 0, 1], group=[3, 0], weight=[2.0, 5.0])
    assert empty_query.query_weight.tolist() == [2.0, 0.0]
    as_many_rows_as_queries = bp.Queries([1, 0], group=[2, 0], weight=[2.0, 5.0])
    assert as_many_rows_as_queries.row_weight.tolist() == [2.0, 5.0]


@st.composite
def ranking_data(draw):
    group = draw(st.lists(st.integers(0, 6), max_size=5))
    n = sum(group)
    grade = draw(st.sampled_from([st.integers(-2, 3), st.floats(-1e300, 1e300), st.just(1)]))
    labels = draw(st.lists(grade, min_size=n, max_size=n))
    weight = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n, max_size=n))
    labelled = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n).map(lambda x: np.array(x, bool)))
    return bp.Queries(labels, group=group, weight=weight, labelled=labelled)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(queries=ranking_data())
def test_grade_runs_hold_the_documents_in_pairs(queries):
    """Against a plain search for each query's judged documents of different grades."""
    groups, labels = queries.grade_groups, queries.labels
    expected = []
    for q, rows in enumerate(loops.judged_rows(queries)[1]):
        grades = sorted({labels[i] for i in rows})
        if len(grades) >= 2:
            pairs = sum(labels[i] > labels[j] for i in rows for j in rows)
            expected.append((q, len(rows), pairs, [(g, [i for i in rows if labels[i] == g]) for g in grades]))
    runs = [
        (grade, groups.rows[start:stop].tolist())
        for grade, (start, stop) in zip(groups.group_grade, pairwise(groups.group_start), strict=True)
    ]
    found = [
        (groups.query[a], groups.n_judged[a], groups.n_pairs[a], runs[first:last])
        for a, (first, last) in enumerate(pairwise(groups.query_group))
    ]
    assert found == expected
    if queries.row_weight is None:
        assert len(groups.sqrt_weight) == 0
    else:
        heaviest = queries.row_weight[groups.rows].max(initial=0.0)  # of those that stand in pairs
        assert groups.unit == (heaviest or 1.0)
        np.testing.assert_array_equal(groups.sqrt_weight, np.sqrt(queries.row_weight[groups.rows] / groups.unit))


def test_huge_grades_stay_apart():
    queries = bp.Queries([1e300, -1e300, 1e300 * (1 - 2**-52), 0.0], group=[4])
    assert len(queries.grade_groups.group_grade) == 4


@pytest.mark.parametrize(("kind", "digits"), [(np.float16, 11), (np.float32, 24), (np.float64, 53)])
def test_floating_ids_that_may_be_rounded_are_refused(kind, digits):
    below, first = kind(2**digits - 1), kind(2**digits)
    assert bp.Queries([1, 0], qid=np.array([below - 1, below], kind)).n_queries == 2
    for sign in (1, -1):
        ids = np.array([1, sign * first], kind)
        with pytest.raises(ValueError, match=rf"qid\[1\] = -?{2**digits}.0 is too large .*{np.dtype(kind)}.*strings"):
            bp.Queries([1, 0], qid=ids)
    assert bp.Queries([1, 0], qid=[2**digits, 2**digits + 1]).n_queries == 2


# --- Order of rows -------------------------------------------------------------------------------------------------

ROWS = [10, 11, 12, 13]
FRAME = pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.4], "y": [0, 1, 2, 1], "q": [1, 1, 2, 2], "w": [1.0, 1, 2, 2]}, index=ROWS)
TURNED = FRAME.loc[[12, 13, 10, 11]]


def test_an_index_that_says_nothing_leaves_the_order_to_positions():
    by_position = bp.Queries(TURNED["y"].to_numpy(), qid=FRAME["q"])
    for labels in (TURNED["y"].reset_index(drop=True), TURNED["y"].tolist(), TURNED["y"].set_axis([1, 2, 10, 11])):
        np.testing.assert_array_equal(bp.Queries(labels, qid=FRAME["q"]).labels, by_position.labels)
    per_query = pd.Series([1.0, 2.0], index=["a", "b"]).reset_index(drop=True)
    assert bp.Queries(FRAME["y"], qid=FRAME["q"], weight=per_query).row_weight.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("index", "other", "refused"),
    [
        ([0, 1, 0, 1], [0, 1, 0, 1], False),
        ([0, 1, 0, 1], [0, 0, 1, 1], True),
        (["a", 1, None, 2.5], [1, "a", 2.5, None], True),
        ([(1, "a"), (1, "b"), (2, "a"), (2, "b")], [(2, "a"), (2, "b"), (1, "a"), (1, "b")], True),
        (pd.RangeIndex(4), [3, 2, 1, 0], True),
        (pd.Index([1, 2, 3, 4], dtype="Int64"), [1, 2, 3, 4], False),
    ],
    ids=str,
)
def test_indexes_of_all_kinds(index, other, refused):
    labels, qid = pd.Series([0, 1, 2, 1], index=index), pd.Series([1, 1, 2, 2], index=other)
    if refused:
        with pytest.raises(ValueError, match="in different orders"):
            bp.Queries(labels, qid=qid)
    else:
        assert bp.Queries(labels, qid=qid).n_queries == 2


X, QID, Y = FRAME[["x"]], FRAME["q"], FRAME["y"]
LOG = bp.clicks.ClickLog(FRAME["y"] > 1, qid=QID.to_numpy(), position=[1, 2, 1, 2])
LIGHTGBM, XGBOOST = FRAMEWORKS.values()
TAKERS = {
    "RankingData": ("weight", lambda y, w, q: bp.RankingData(X, Y, qid=QID, weight=w)),
    "compare": ("train: y", lambda y, w, q: bp.compare((X, y, QID), (X, Y, QID), (X, Y, QID))),
    "LGBMRanker": ("sample_weight", lambda y, w, q: LIGHTGBM.fit(x=X, y=Y, qid=QID, sample_weight=w)),
    "eval_set": ("in the validation set 0: y", lambda y, w, q: XGBOOST.fit(x=X, y=Y, qid=QID, valid=(X, y, QID))),
    "reference ranker": ("y", lambda y, w, q: bp.MPBoostRanker(n_estimators=1).fit(X, y, qid=QID)),
    "label": (
        r"labels_by_name\['sale'\]",
        lambda y, w, q: bp.Queries(Y, qid=QID, labels_by_name={"sale": y, "weight": FRAME["w"]}),
    ),
    "label of RankingData": (
        r"labels\['position'\]",
        lambda y, w, q: bp.RankingData(X, Y, qid=QID, labels={"position": y}, position=FRAME["q"]),
    ),
    "doc_ids": ("doc_ids", lambda y, w, q: bp.RankingData(X, Y, qid=QID, doc_ids=y)),
    "ClickLog": ("position", lambda y, w, q: bp.clicks.ClickLog(FRAME["x"] > 0, qid=QID, position=q)),
    "from_clicks": ("X", lambda y, w, q: bp.RankingData.from_clicks(TURNED[["x"]], LOG)),
    "pages": ("X", lambda y, w, q: bp.RankingData.from_clicks(X[1::-1], pickle.loads(pickle.dumps(LOG.pages([0]))))),
    "propensity": ("X", lambda y, w, q: bp.clicks.propensity(LOG, method="em", X=TURNED[["x"]])),
    "correction": ("scores", lambda y, w, q: bp.clicks.correction(LOG, propensity=[1, 0.5], scores=w)),
    "evaluate": ("scores", lambda y, w, q: bp.clicks.evaluate(w, LOG, propensity=[1, 0.5])),
    "rankers": ("scores", lambda y, w, q: bp.clicks.evaluate({"old": FRAME["w"], "new": w}, LOG, propensity=[1, 0.5])),
    "click_value": (
        "click_value",
        lambda y, w, q: bp.clicks.evaluate(FRAME["w"], LOG, propensity=[1, 0.5], click_value=w),
    ),
    "Pairs.from_clicks": ("row", lambda y, w, q: bp.Pairs.from_clicks(LOG, row=y)),
    "columns of clicks": (
        "row",
        lambda y, w, q: bp.Pairs.from_clicks([0, 1, 0, 1], qid=QID, position=[1, 2, 1, 2], row=y),
    ),
    "Pairs.from_implicit": ("qid", lambda y, w, q: bp.Pairs.from_implicit(Y, qid=q)),
    "simulate": ("ranker", lambda y, w, q: bp.clicks.simulate(bp.RankingData(X, Y, qid=QID), ranker=w)),
    "base_margin": ("base_margin", lambda y, w, q: XGBOOST.fit(x=X, y=Y, qid=QID).predict(X, base_margin=w)),
    "metric.score": ("qid", lambda y, w, q: bp.NDCG(10).score(Y, [1, 2, 3, 4], qid=q)),
}


@pytest.mark.parametrize(("name", "call"), TAKERS.values(), ids=TAKERS)
def test_all_that_take_columns_refuse_another_order(name, call):
    with pytest.raises(ValueError, match=rf"^{name} and [\w.]+ have the same index in different orders"):
        call(TURNED["y"], TURNED["w"], TURNED["q"])


# --- weights and propensities in a Series -------------------------------------------------------------------------

BY_ID = pd.Series([3.0, 2.0], index=[1, 2])  # of the queries 2 and 1, in this order
GIVEN = {"qid": [2, 2, 1, 1], "y": [0, 1, 1, 0]}


def trained(F, w, **params):
    """Return the scores of a ranker, whose training and validation sets have weights."""
    valid = ([X], [GIVEN["y"]], [GIVEN["qid"]], [w])
    return F.fit(bp.CRR(), X, GIVEN["y"], qid=GIVEN["qid"], sample_weight=w, valid=valid, **params).predict(X)


WEIGHTED = {
    "Queries": lambda w: bp.Queries(GIVEN["y"], qid=GIVEN["qid"], weight=w).row_weight,
    "RankingData": lambda w: bp.RankingData(X, **GIVEN, weight=w).weight,
    "from_implicit": lambda w: bp.Pairs.from_implicit(GIVEN["y"], qid=GIVEN["qid"], weight=w).weight,
    "from_clicks": lambda w: (
        bp.Pairs.from_clicks([0, 1, 0, 1], qid=GIVEN["qid"], position=[1, 2, 1, 2], weight=w).weight
    ),
    "metric": lambda w: bp.NDCG(2).score(GIVEN["y"], [1, 0, 1, 0], qid=GIVEN["qid"], weight=w),
    "XGBRanker": lambda w: trained(XGBOOST, w, min_child_weight=0),
    "LGBMRanker": lambda w: trained(LIGHTGBM, w, min_child_weight=0),
    "LinearRanker": lambda w: bp.LinearRanker().fit(np.eye(4), **GIVEN, sample_weight=w).predict(np.eye(4)),
}


@pytest.mark.parametrize("call", WEIGHTED.values(), ids=WEIGHTED)
@pytest.mark.parametrize("index", [[1, 2], range(1, 3), pd.CategoricalIndex([1, 2]), [1.0, 2.0]], ids=str)
def test_weights_by_query_id_go_by_their_index(call, index):
    by_id, by_place = call(BY_ID.set_axis(index)), call(BY_ID.to_numpy())
    np.testing.assert_array_equal(by_id, call([2.0, 3.0]))
    assert not np.array_equal(by_id, by_place)
    np.testing.assert_array_equal(call(BY_ID.reset_index(drop=True)), by_place)
    with pytest.raises(ValueError, match=r"weight is a Series .* order of the queries; pass .* weight\.to_"):
        call(BY_ID.set_axis([1, 7]))


def test_weights_by_query_id_need_ids():
    with pytest.raises(ValueError, match="order of the queries"):
        bp.Queries(GIVEN["y"], group=[2, 2], weight=BY_ID)
    assert bp.Queries(GIVEN["y"], group=[2, 2], weight=BY_ID * 0 + 2.0).row_weight.tolist() == [2.0] * 4


PROPENSITY = {
    "from_clicks": lambda p: (
        bp.Pairs.from_clicks(
            [0, 1, 0, 1], group=[2, 2], position=[1, 3, 2, 1], rule="all_unclicked", propensity=p
        ).weight
    ),
    "Unbiased": lambda p: bp.Unbiased(method="ips", propensity=p).propensity,
    "ClickLogLoss": lambda p: bp.ClickLogLoss(propensity=p).propensity,
    "evaluate": lambda p: bp.clicks.evaluate(FRAME["w"].to_numpy(), LOG, propensity=p).estimate,
}


@pytest.mark.parametrize("call", PROPENSITY.values(), ids=PROPENSITY)
def test_propensities_by_position_go_by_their_index(call):
    by_position = pd.Series([0.25, 1.0, 0.5], index=[3, 1, 2])
    np.testing.assert_array_equal(call(by_position), call([1.0, 0.5, 0.25]))
    np.testing.assert_array_equal(call(pd.Series([0.25, 0.5, 1.0], index=range(3, 0, -1))), call([1.0, 0.5, 0.25]))
    with pytest.raises(ValueError, match=r"propensity is a Series .* order of the positions"):
        call(by_position.set_axis([2, 0, 1]))


# --- missing ids ----------------------------------------------------------------------------------------------------

MISSING = {
    "None beside texts": ["a", None, "b"],
    "NaN beside texts": ["a", np.nan, "b"],
    "NaN": [1.0, np.nan, 2.0],
    "NaT": pd.to_datetime(["2026-01-01", None, "2026-01-02"]),
    "NA": pd.Series([1, None, 2], dtype="Int64"),
    "category": pd.Categorical(["a", None, "b"]),
    "pyarrow": pa.chunked_array([["a", None, "b"]]),
    "polars": pl.Series([1, None, 2]),
    "empty text": np.array(["a", "", "b"]),
    "empty text in an object": np.array(["a", "", "b"], object),
    "empty text in pyarrow, as its CSV reader returns": pa.array(["a", "", "b"]),
}
TAKE_IDS = {
    "Queries": lambda ids: bp.Queries([0, 1, 2], qid=ids),
    "RankingData": lambda ids: bp.RankingData(np.eye(3), [0, 1, 2], qid=ids, group=[1, 1, 1]),
    "split_queries": lambda ids: bp.split_queries(np.arange(3), qid=ids),
    "group_folds": lambda ids: bp.group_folds(ids, 2),
    "time_folds": lambda ids: bp.time_folds(ids, [1, 2, 3], 1),
    "page": lambda ids: bp.clicks.ClickLog([0, 1, 0], qid=ids, position=[1, 1, 1]),
    "query": lambda ids: bp.clicks.ClickLog([0, 1, 0], group=[1, 1, 1], query=ids, position=[1, 1, 1]),
    "document": lambda ids: bp.clicks.ClickLog([0, 1, 0], group=[3], document=ids, position=[1, 2, 3]),
    "metric": lambda ids: bp.NDCG(2).score([0, 1, 2], [0, 1, 2], qid=ids),
    "choice": lambda ids: bp.choice_probabilities([0, 1, 2], qid=ids),
    "fit": lambda ids: bp.XGBRanker().fit(np.eye(3), [0, 1, 2], qid=ids),
}


@pytest.mark.parametrize("take", TAKE_IDS.values(), ids=TAKE_IDS)
@pytest.mark.parametrize("ids", MISSING.values(), ids=MISSING)
def test_missing_ids_are_refused(ids, take):
    with pytest.raises(ValueError, match=r"\[1\] = \S+ is not an id; drop such rows"):
        take(ids)


# --- sizes in a Series ----------------------------------------------------------------------------------------------


def test_sizes_whose_index_holds_ids_are_refused():
    ids = pd.Series([7, 7, 7, 3, 5, 5])
    with pytest.raises(
        ValueError, match=r"group is a Series with the index \[\d, .*; pass the id of each row as qid, or gro"
    ):
        bp.Queries(np.zeros(6), group=ids.value_counts())
    in_order = ids.value_counts().loc[[7, 3, 5]]
    for right in (in_order.to_numpy(), in_order.reset_index(drop=True), list(in_order)):
        np.testing.assert_array_equal(bp.Queries(np.zeros(6), group=right).boundaries, [0, 3, 4, 6])
    assert bp.Queries(np.zeros(4), group=pd.Series(["b", "b", "a", "a"]).value_counts()).n_queries == 2  # in any order
