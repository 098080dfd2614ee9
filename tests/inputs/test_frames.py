"""Tables in memory: categories, byte orders, columns by name, parameters that count columns, leaks among features."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from adapters.harness import FRAMEWORKS, every_framework
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV

import boostplug as bp

LIGHTGBM, XGBOOST = FRAMEWORKS.values()
RNG = np.random.default_rng(0)
N_QUERIES, N_DOCUMENTS = 40, 5
N = N_QUERIES * N_DOCUMENTS
QUERY = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
A = RNG.normal(size=N)
B = RNG.integers(0, 5, N)
GRADE = ((A > 0) + (B > 2)).astype(float)
KIND = np.array(["red", "green", "blue", "grey", "pink"])[B]
TABLE = pd.DataFrame({"a": A, "k": pd.Categorical(KIND)})
FRAME = pd.DataFrame({"a": A, "b": RNG.normal(size=N)})
NAMED = FRAME.assign(
    query_id=[f"q{query}" for query in QUERY],
    weight=1.0 + QUERY % 3,
    position=np.tile(np.arange(1, N_DOCUMENTS + 1), N_QUERIES),
    grade=GRADE,
)
PLAIN = NAMED[["query_id", "a", "b", "grade"]]


def fit(F, X, y=GRADE, loss=bp.QBRank(), **more):  # noqa: B008 (a value)
    return F.fit(loss, X, y, **{"qid": QUERY, **F.categories, **more})


# --- categories ---------------------------------------------------------------------------------------------------


@every_framework
def test_text_and_missing_values_follow_the_training_sets_categories(F):
    model = fit(F, TABLE)
    for other in (
        pa.table({"a": A, "k": KIND.tolist()}),
        pd.DataFrame({"a": A, "k": pd.Series(KIND, dtype=pd.ArrowDtype(pa.string()))}),
        pl.DataFrame({"a": A, "k": KIND.tolist()}),
        pd.DataFrame({"a": A, "k": KIND.astype(object)}),
    ):
        np.testing.assert_array_equal(model.predict(other), model.predict(TABLE))
    fit(F, TABLE, valid=(other, GRADE, QUERY))
    expected = model.predict(TABLE[:1].assign(k=pd.Categorical([None], categories=TABLE["k"].cat.categories)))
    for missing in (pd.DataFrame({"a": A[:1], "k": [None]}), pa.table({"a": A[:1], "k": pa.nulls(1)})):
        np.testing.assert_array_equal(model.predict(missing), expected)


@every_framework
def test_categories_of_every_type_of_number_train(F):
    for codes in (
        pd.Series(pd.array(B, dtype="Int64")).astype("category"),
        pd.Series(B, dtype=pd.ArrowDtype(pa.int64())).astype("category"),
        pd.Series(B.tolist(), dtype=object),
        B.astype(np.uint64),
        B / 2,
        B > 2,
        [1, "1"] * (N // 2),
        [None] * N,
    ):
        table = pd.DataFrame({"a": A, "k": pd.Categorical(codes)})
        assert np.ptp(fit(F, table).predict(table)) > 0


@every_framework
def test_a_query_without_documents_has_no_scores(F):
    mixed, numbers = fit(F, TABLE), fit(F, np.c_[A, B])
    kinds = {"a": [], "k": []}
    for model, tables in (
        (mixed, [TABLE[:0], pd.DataFrame([], columns=["a", "k"]), pl.DataFrame(TABLE)[:0], pa.table(kinds)]),
        (numbers, [np.empty((0, 2)), pd.DataFrame({"a": [], "b": []}), pl.DataFrame({"a": [], "b": []})]),
    ):
        for none in tables:
            scores = model.predict(none)
            assert scores.shape == (0,)
            assert scores.dtype == model.predict(TABLE if model is mixed else np.c_[A, B]).dtype
    with pytest.raises(ValueError, match="1 features, but"):
        numbers.predict(np.empty((0, 1)))


def test_a_query_without_documents_has_a_table_of_lightgbms_leaves_and_contributions():
    model = fit(LIGHTGBM, FRAME)
    for options in ({"pred_leaf": True}, {"pred_contrib": True}, {"pred_leaf": True, "num_iteration": 2}):
        assert model.predict(FRAME[:0], **options).shape == (0, model.predict(FRAME, **options).shape[1])
    assert model.predict(FRAME[:0], False, 0, 2, True).shape == (0, 2)


# --- byte order ---------------------------------------------------------------------------------------------------


def swapped(values):
    """Return the same numbers in the other byte order, as HDF5, FITS and network formats hold them."""
    values = np.asarray(values)
    return values.astype(values.dtype.newbyteorder("S"))


@every_framework
def test_the_other_byte_order_gives_the_same_numbers(F):

    def trained(order, kind):
        table = kind(order(np.c_[A, B].astype(float)))
        given = {F.start: order(A / 9), F.start_of_sets: [order(A / 9)], "sample_weight": order(1.0 + B)}
        if F is XGBOOST:
            given |= {"feature_weights": order([0.9, 0.1]), "colsample_bynode": 0.5}
        valid = (table, order(GRADE[::-1]), order(QUERY))
        ranker = F.fit(bp.QBRank(), table, order(GRADE), qid=order(QUERY), valid=valid, random_state=0, **given)
        return [*ranker.predict(table), ranker.score(table, order(GRADE), qid=order(QUERY))], ranker.evals_result_

    for kind in (np.asarray, pd.DataFrame):
        assert trained(np.asarray, kind) == trained(swapped, kind)


# --- columns by name ----------------------------------------------------------------------------------------------


@every_framework
def test_labels_ids_weights_and_positions_by_name(F):
    names = {"sample_weight": "weight", "position": "position"}
    model = fit(F, NAMED, "grade", bp.Unbiased(), qid="query_id", **names)
    arrays = {argument: NAMED[column] for argument, column in names.items()}
    plain = fit(F, FRAME, loss=bp.Unbiased(), **arrays)
    np.testing.assert_array_equal(model.predict(NAMED), plain.predict(FRAME))
    assert np.ptp(plain.predict(FRAME)) > 0


@every_framework
def test_score_and_validation_sets_take_the_labels_by_name(F):
    model = fit(F, PLAIN, "grade", qid="query_id", eval_set=[(PLAIN[150:], "grade")])
    arrays = {"eval_set": [(FRAME[150:], GRADE[150:])], "eval_qid": [QUERY[150:]]}
    plain = fit(F, FRAME, **arrays)
    assert model.evals_result_ == plain.evals_result_
    assert model.score(PLAIN, y="grade") == model.score(PLAIN, GRADE) == plain.score(FRAME, GRADE, qid=QUERY)
    two = fit(F, PLAIN, "grade", eval_set=(PLAIN[:100], PLAIN[100:]), qid="query_id")
    assert len(two.evals_result_) == 2


@every_framework
@pytest.mark.parametrize("name", ["sale", r"sale\net"])
def test_labels_by_name_need_not_be_repeated(F, name):
    table, metric = PLAIN.assign(sale=(A > 0.5).astype(float)), bp.NDCG(5).on(name)
    model = fit(F, table, "grade", labels={name: "sale"}, qid="query_id")
    expected = model.score(table, metric=metric, labels={name: table["sale"]})
    assert model.score(table, metric=metric) == expected
    assert bp.make_scorer(metric)(model, table, GRADE) == expected


@every_framework
def test_judging_reads_no_positions(F):
    table = NAMED.assign(position=np.nan)
    model = fit(F, NAMED, "grade", bp.Unbiased(), qid="query_id", position="position", eval_set=[(table, "grade")])
    expected = model.score(NAMED, GRADE)
    for data in (table, table.drop(columns="position")):
        assert model.score(data, GRADE) == bp.make_scorer(bp.NDCG(10))(model, data, GRADE) == expected


@every_framework
def test_scikit_learn_takes_the_name_of_the_column_of_ids(F):
    scorer, features = bp.make_scorer(bp.NDCG(5)), PLAIN.drop(columns="grade")
    model = fit(F, PLAIN, "grade", qid="query_id")
    expected = model.score(PLAIN, GRADE, metric=bp.NDCG(5))
    assert scorer(model, PLAIN, GRADE) == scorer(model, features, GRADE) == expected
    found = permutation_importance(model, features, GRADE, scoring=scorer, n_repeats=2, random_state=0)
    importance = dict(zip(features.columns, found.importances_mean, strict=True))
    assert importance["query_id"] == 0
    assert importance["a"] > 0
    search = GridSearchCV(F.ranker(bp.QBRank()), {"n_estimators": [1, 3]}, cv=bp.group_folds(QUERY, 3), scoring=scorer)
    assert search.fit(features, GRADE, qid="query_id", **F.quiet).best_score_ > 0.5


COUNTED = {
    "monotone_constraints": (LIGHTGBM, {"monotone_constraints": [1, 0, -1]}),
    "monotone_constraints of XGBoost": (XGBOOST, {"monotone_constraints": (1, 0, -1)}),
    "feature_weights": (XGBOOST, {"colsample_bynode": 0.5, "feature_weights": [1.0, 0.0, 1.0]}),
}


@pytest.mark.parametrize("parameter", COUNTED)
def test_sequences_with_an_entry_per_feature_leave_out_the_ids(parameter):
    F, given = COUNTED[parameter]
    X = pd.DataFrame({"query_id": QUERY, "a": A, "code": B, "b": FRAME["b"]})
    features = X.drop(columns="query_id")
    plain = fit(F, features, **given).predict(features)
    assert not np.array_equal(plain, fit(F, features).predict(features))
    np.testing.assert_array_equal(fit(F, X, **given, qid="query_id").predict(X), plain)


# --- leaks --------------------------------------------------------------------------------------------------------


def test_a_truth_value_that_equals_the_labels_is_warned_of():
    y = (A > 0).astype(float)
    for copy in (y > 0, y.astype(np.float32), y.astype(int)):
        with pytest.warns(UserWarning, match="column 'leak' of X equals y"):
            bp.RankingData(pd.DataFrame({"a": A, "leak": copy}), y, qid=QUERY)


def test_ids_weights_and_positions_among_the_features_are_warned_of_once():
    position = np.tile([2, 1, 3, 5, 4], N_QUERIES)
    copies = {
        "id": (QUERY, "tells the queries apart"),
        "id as a number": (QUERY * 7.0, "tells the queries apart"),
        "id as a category": (pd.Categorical([f"q{k % 7}{k}" for k in QUERY]), "tells the queries apart"),
        "w": (1.0 + B, "equals weight"),
        "place": (position, "equals position"),
    }
    given = pd.DataFrame({name: values for name, (values, _) in copies.items()})
    given = given.assign(a=A, query_feature=np.repeat(A[:N_QUERIES], N_DOCUMENTS), flag=QUERY % 2 == 0, y=GRADE)
    given = given.assign(qid=[f"q{k}" for k in QUERY], weight=1.0 + B, position=position)
    with pytest.warns(UserWarning, match="tells the queries apart") as caught:
        bp.RankingData(given, "y", qid="qid", weight="weight", position="position")
    (line,) = (str(one.message) for one in caught)
    assert all(f"column {name!r} of X {what}" in line for name, (_, what) in copies.items())
    assert not any(f"'{name}'" in line for name in ("a", "query_feature", "flag"))
    assert line.endswith("what it must not know; drop it")
