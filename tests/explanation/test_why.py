"""Contributions add up to the differences of scores, for models of all kinds."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import lgb, xgb
from explanation.models import (
    FRAME,
    MODELS,
    NAMED,
    OF_LIGHTGBM,
    OF_XGBOOST,
    QID,
    X,
    Y,
    fitted,
    lightgbm,
    scores_of,
    tolerance,
)
from sklearn.exceptions import NotFittedError

import boostplug as bp
from boostplug.weak_rankers import Feature, Stump

pytestmark = pytest.mark.filterwarnings(r"ignore:[\s\S]*deprecated")  # XGBoost 3.4: dart and gblinear

every_model = pytest.mark.parametrize("name", [*MODELS])


@every_model
def test_contributions_add_up_to_the_difference_of_the_scores(name):
    model, rows = fitted(name)
    scores = scores_of(name)
    assert np.ptp(scores) > 0.0
    for above, below in ((0, 7), (30, 401), (5, 5)):
        frame = bp.why(model, rows, above, below)
        assert list(frame.columns) == ["feature", "above", "below", "contribution"]
        total = frame["contribution"].sum()
        assert total == pytest.approx(scores[above] - scores[below], abs=tolerance(name, scores), rel=0)
        assert frame["contribution"].abs().is_monotonic_decreasing


@every_model
def test_contributions_of_a_document_add_up_to_its_score_less_the_base(name):
    model, rows = fitted(name)
    scores = scores_of(name)
    for row in (0, 401):
        frame = bp.why(model, rows, row)
        assert list(frame.columns) == ["feature", "above", "contribution"]
        total = frame["contribution"].sum() + frame.attrs["base"]
        assert total == pytest.approx(scores[row], abs=tolerance(name, scores), rel=0)


@every_model
def test_the_other_way_round_contributions_have_the_other_sign(name):
    model, rows = fitted(name)
    there, back = (bp.why(model, rows, *pair).set_index("feature") for pair in ((3, 100), (100, 3)))
    np.testing.assert_array_equal(there["contribution"], -back["contribution"][there.index])
    values = [one.map(str) for one in (there["above"], back["below"][there.index])]
    np.testing.assert_array_equal(*values)


def test_a_column_that_no_tree_splits_contributes_nothing():
    for name in ("lightgbm, missing values", "xgboost, missing values", "QBRank", "lightgbm, folds and linear"):
        model, rows = fitted(name)
        for frame in (bp.why(model, rows, 0, 200), bp.why(model, rows, 7)):
            constant = frame["contribution"][frame["feature"].str.contains("3")]
            assert constant.tolist() == [0.0], name


@pytest.mark.parametrize("name", ["lightgbm, categories", "lightgbm, polars", "xgboost, categories", "xgboost, polars"])
def test_values_are_those_of_the_table(name):
    model, rows = fitted(name)
    frame = bp.why(model, rows, 4, 9).set_index("feature")
    assert {*frame.index} == {*FRAME.columns}
    for column in FRAME:
        assert [frame["above"][column], frame["below"][column]] == [*FRAME[column].iloc[[4, 9]]]


def test_columns_that_are_no_features_are_left_out():
    for name in ("lightgbm, columns by name", "xgboost, columns by name"):
        model, rows = fitted(name)
        assert {*bp.why(model, rows, 0, 1)["feature"]} == {"noise", "price"}


@pytest.mark.parametrize("name", ["lightgbm, a frame", "xgboost, a frame", "lightgbm, booster from a file"])
def test_columns_are_matched_by_name(name):
    model, rows = fitted(name)
    table = rows[rows.columns[::-1]].assign(text="no feature", query=QID)
    assert bp.why(model, table, 0, 1).equals(bp.why(model, rows, 0, 1))
    assert bp.importance(model, table, qid="query").equals(bp.importance(model, rows, qid=QID))
    with pytest.raises(ValueError, match=r"columns are not those of the training set: missing .*'noise'"):
        bp.why(model, rows.drop(columns="noise"), 0, 1)


def test_arrays_go_by_place_and_get_the_names_of_the_training_set():
    model, rows = fitted("xgboost, a frame")
    expected, as_array = bp.why(model, rows, 0, 1), bp.why(model, rows.to_numpy(), 0, 1)
    assert as_array.equals(expected)


@pytest.mark.parametrize("name", ["lightgbm, mean", "xgboost, booster from a file"])
def test_a_table_names_the_columns_of_a_model_that_was_trained_on_an_array(name):
    model, rows = fitted(name)
    frame = FRAME.drop(columns="colour")
    found, expected = bp.why(model, frame, 0, 1), bp.why(model, rows, 0, 1)
    assert {*found["feature"]} == {*frame.columns}
    assert found["contribution"].tolist() == expected["contribution"].tolist()


def test_names_that_a_framework_may_have_given_are_names_too():
    frame = pd.DataFrame(X[:, :2], columns=["Column_0", "Column_1"])
    model = lightgbm(frame, plain=True)
    assert bp.why(model, frame[["Column_1", "Column_0"]], 0, 1).equals(bp.why(model, frame, 0, 1))


def test_a_name_with_a_blank_stands_for_one_column():
    frame = pd.DataFrame(X[:, :2], columns=["a b", "c"])
    model = lightgbm(frame, plain=True)
    with pytest.raises(ValueError, match="X, with blanks as LightGBM writes them, holds 'a_b' 2 times"):
        bp.why(model, frame.assign(a_b=99.0), 0, 1)


def test_a_loaded_ranker_reads_tables_as_its_predict_does(tmp_path):
    model, rows = fitted("xgboost, categories")
    model.save_model(tmp_path / "model.ubj")
    loaded = bp.XGBRanker()
    loaded.load_model(tmp_path / "model.ubj")
    for table in (
        rows,
        rows.assign(
            colour=rows["colour"]
            .astype(str)
            .astype("category")
            .cat.reorder_categories(sorted(rows["colour"].cat.categories, reverse=True))
        ),
    ):
        assert (
            bp.why(loaded, table, 0, 1)["contribution"].tolist() == bp.why(model, rows, 0, 1)["contribution"].tolist()
        )
        assert bp.importance(loaded, table, qid=QID).equals(bp.importance(model, rows, qid=QID))


def refusal_of(call):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize("name", ["lightgbm, categories", "xgboost, categories", "xgboost, sparse"])
def test_tables_are_refused_as_predict_refuses_them(name):
    model, rows = fitted(name)
    tables = [rows[rows.columns[:-1]] if hasattr(rows, "columns") else rows[:, :-1]]
    if hasattr(rows, "nnz"):
        tables.append(rows.toarray())
    if hasattr(rows, "assign"):
        tables.append(rows.assign(colour=0.0))
    for table in tables:
        assert refusal_of(lambda t=table: bp.why(model, t, 0, 1)) == refusal_of(lambda t=table: model.predict(t))


def test_reference_rankers_need_their_columns():
    model, rows = fitted("QBRank")
    with pytest.raises(ValueError, match="X has 4 features, but QBRankRanker is expecting 5 features as input"):
        bp.why(model, rows[:, :4], 0, 1)


def test_new_categories_are_missing_values_as_in_predict():
    model, rows = fitted("lightgbm, categories")
    colour = rows["colour"].cat.add_categories("grey")
    colour.iloc[3] = "grey"
    with pytest.warns(UserWarning, match=r"^in X, column 'colour' holds .*\['grey'\]"):
        frame = bp.why(model, rows.assign(colour=colour), 3, 4)
    assert frame.set_index("feature")["above"]["colour"] == "grey"
    missing = rows.assign(colour=rows["colour"].where(np.arange(len(rows)) != 3))
    assert frame["contribution"].tolist() == bp.why(model, missing, 3, 4)["contribution"].tolist()


def test_only_rows_of_the_table_are_explained():
    model, rows = fitted("lightgbm, a loss")
    for row in (-1, len(rows), 1.5, "3", True):
        with pytest.raises(ValueError, match=r"below must be an integer of at .*, a row of X; got"):
            bp.why(model, rows, 0, row)
        with pytest.raises(ValueError, match="above must be"):
            bp.why(model, rows, row)


def test_what_is_no_model_is_refused():
    for ranker in (None, "model.txt", {"model": 1}, X):
        with pytest.raises(ValueError, match=r"ranker must be a fitted ranker, a booster .* got"):
            bp.why(ranker, X, 0, 1)
    for ranker in (bp.LGBMRanker(), bp.XGBRanker(), bp.QBRankRanker(), lgb.LGBMRanker(), xgb.XGBRanker()):
        with pytest.raises(NotFittedError):
            bp.why(ranker, X, 0, 1)


def test_models_without_contributions_are_refused():
    for model in (
        lightgbm(objective=bp.QBRank(), linear_tree=True),
        lightgbm(plain=True, boosting_type="rf", bagging_freq=1, bagging_fraction=0.5),
        lgb.LGBMClassifier(**OF_LIGHTGBM).fit(X, Y),
        bp.Ensemble([[(Stump(1, 0.0), 1.0), (Feature(0), 2.0)]], n_features=X.shape[1]).to_lightgbm(),
        lgb.Booster(model_str=lgb.LGBMClassifier(**OF_LIGHTGBM).fit(X, Y).booster_.model_to_string()),
    ):
        with pytest.raises(ValueError, match="no contributions to the scores of linear trees, random forests and mod"):
            bp.why(model, X, 0, 1)
    several = xgb.XGBClassifier(**OF_XGBOOST).fit(X, Y)
    for model in (several, several.get_booster()):
        with pytest.raises(ValueError, match="the model has several scores per row, and a ranking has one"):
            bp.why(model, X, 0, 1)


@pytest.mark.ci
@pytest.mark.cluster
def test_models_of_dask_are_explained_as_those_of_one_machine():
    dask = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    frame = NAMED[NAMED["qid"] < 10]
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=None) as one,
        distributed.Client(one),
    ):
        collection = bp.dask.partition_by_query(dask.from_pandas(frame, npartitions=1), "qid")
        for ranker in (bp.dask.LGBMRanker(**OF_LIGHTGBM), bp.dask.XGBRanker(**OF_XGBOOST)):
            ranker.fit(collection, "grade", qid="qid")
            expected = bp.why(ranker.to_local(), frame, 0, 7)
            assert bp.why(ranker, frame, 0, 7).equals(expected)
            assert len(expected) == 5
            with pytest.raises(ValueError, match=r"not computed yet; pass X\.compute\(\)"):
                bp.why(ranker, collection, 0, 7)
