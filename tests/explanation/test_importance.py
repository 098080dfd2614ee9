"""Importance: contributions apart from their mean in the query, and what a metric loses when a column is shuffled."""

import numpy as np
import pandas as pd
import pytest
from adapters.harness import Misses, lgb
from explanation.models import (
    FRAME,
    GROUP,
    MODELS,
    NAMED,
    OF_LIGHTGBM,
    OF_XGBOOST,
    QID,
    X,
    Y,
    fitted,
    lightgbm,
    xgboost,
)
from scipy import sparse

import boostplug as bp
from boostplug.weak_rankers import Feature, Stump

pytestmark = pytest.mark.filterwarnings(r"ignore:[\s\S]*deprecated")  # XGBoost 3.4: dart and gblinear


def by_definition(model, X, qid):
    """Return the importance of each feature, document by document."""
    frames = [bp.why(model, X, row).set_index("feature")["contribution"] for row in range(len(qid))]
    contributions = pd.DataFrame(frames).reset_index(drop=True)
    of_queries = [(group - group.mean()).abs().mean() for _, group in contributions.groupby(np.asarray(qid))]
    return sum(of_queries) / len(of_queries)


@pytest.mark.parametrize("name", ["lightgbm, missing values", "xgboost, missing values", "lightgbm, categories"])
def test_importance_is_the_mean_distance_from_the_mean_of_the_query(name):
    model, rows = fitted(name)
    sizes = [1, 2, 20, 7]
    some = rows[: sum(sizes)]
    frame = bp.importance(model, some, group=sizes)
    assert list(frame.columns) == ["feature", "importance"]
    assert frame["importance"].is_monotonic_decreasing
    expected = by_definition(model, some, np.repeat(range(4), sizes))
    found = frame.set_index("feature")["importance"]
    np.testing.assert_allclose(found, expected[found.index], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", [*MODELS])
def test_models_of_all_kinds_have_importances(name):
    model, rows = fitted(name)
    frame = bp.importance(model, rows, **({} if "by name" in name else {"qid": QID}))
    known = bp.why(model, rows, 0)["feature"]
    assert sorted(frame["feature"]) == sorted(known)
    assert frame["importance"].max() > 0.0
    assert np.isfinite(frame["importance"]).all()


def test_what_is_the_same_for_all_documents_of_a_query_orders_nothing():
    """In trees of one split nothing depends on two columns: shares of the season, which a query has, are 0."""
    by_season = np.clip(Y + 3.0 * X[:, 2], 0, None)
    model = lightgbm(y=by_season, objective=bp.SquaredError(), num_leaves=2, n_estimators=30)
    assert model.feature_importances_[2] > 0
    frame = bp.importance(model, X, Y, qid=QID).set_index("feature")
    assert bp.why(model, X, 0, 300).set_index("feature")["contribution"]["Column_2"] != 0.0
    assert frame["importance"]["Column_2"] == pytest.approx(0.0, abs=1e-12)
    assert frame["permutation_mean"]["Column_2"] == 0.0
    assert frame["importance"].idxmax() == "Column_0"


def test_each_query_counts_the_same():
    model = bp.Ensemble([[(Feature(0), 1.0)]], n_features=1)
    X = np.r_[0.0, 2.0, np.full(50, 7.0)][:, None]
    assert bp.importance(model, X, group=[2, 50])["importance"].tolist() == [0.5]
    assert bp.importance(model, X, group=[2, 0, 50])["importance"].tolist() == [0.5]


def test_many_rows_are_read_in_parts_of_complete_queries():
    rng = np.random.default_rng(0)
    sizes = np.array([40_000, 30_000, 1, 70_000, *np.full(20, 3000)])
    X = rng.normal(size=(sizes.sum(), 2))
    model = bp.Ensemble([[(Feature(0), 1.0), (Stump(1, 0.0), 2.0)]], n_features=2)
    query = np.repeat(np.arange(len(sizes)), sizes)
    expected = []
    for values in (X[:, 0], 2.0 * (X[:, 1] > 0.0)):
        distance = np.abs(values - (np.bincount(query, values) / sizes)[query])
        expected.append((np.bincount(query, distance) / sizes).mean())
    found = bp.importance(model, X, qid=query).sort_values("feature")["importance"]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_ids_and_labels_may_be_columns():
    table = NAMED.rename(columns={"qid": "query_id"})
    features = table.drop(columns=["query_id", "grade"])
    for ranker in (bp.LGBMRanker(**OF_LIGHTGBM), bp.XGBRanker(**OF_XGBOOST), bp.LinearRanker()):
        ranker.fit(table, "grade", qid="query_id")
        expected = bp.importance(ranker, features, Y, group=GROUP)
        assert bp.importance(ranker, table, "grade").equals(expected)
        assert bp.importance(ranker, table).equals(expected[["feature", "importance"]])
        assert bp.importance(ranker, table.drop(columns="grade"), Y).equals(expected)
        without_labels = table.assign(grade=np.nan)
        assert bp.importance(ranker, without_labels).equals(expected[["feature", "importance"]])
    plain = lgb.LGBMRanker(**OF_LIGHTGBM).fit(features, Y, group=GROUP)
    expected = bp.importance(plain, features, Y, group=GROUP)
    assert bp.importance(plain, table, "grade", qid="query_id").equals(expected)


def test_labels_that_equal_a_feature_are_no_mistake_here(recwarn):
    table = NAMED.drop(columns="grade").assign(stars=Y[::-1])
    model = lgb.LGBMRanker(**OF_LIGHTGBM).fit(table.drop(columns="qid"), Y, group=GROUP)
    bp.importance(model, table, Y[::-1], qid="qid")
    assert [*recwarn] == []


def plain_permutation(model, X, y, metric, n_repeats, column):
    """Return losses of the metric with other shuffles of a column within queries."""
    rng, losses = np.random.default_rng(1), []
    for _ in range(n_repeats):
        shuffled = X.copy()
        for query in np.unique(QID):
            rows = np.flatnonzero(query == QID)
            shuffled[rows, column] = X[rng.permutation(rows), column]
        losses.append(metric.score(y, model.predict(X), qid=QID) - metric.score(y, model.predict(shuffled), qid=QID))
    return losses


def test_permutation_is_the_loss_of_the_metric_when_a_column_is_shuffled_within_queries():
    model = lightgbm(objective=bp.QBRank())
    frame = bp.importance(model, X, Y, qid=QID, metric="NDCG@5", n_repeats=40).set_index("feature")
    for column in (0, 1, 4):
        losses = plain_permutation(model, X, Y, bp.NDCG(5), 40, column)
        found = frame.loc[f"Column_{column}"]
        assert found["permutation_mean"] == pytest.approx(np.mean(losses), abs=4 * np.std(losses) / np.sqrt(20))
        assert found["permutation_std"] == pytest.approx(np.std(losses), rel=0.5)
    assert frame["permutation_mean"]["Column_0"] > 0.1
    for unchanged in ("Column_2", "Column_3"):  # the same for all documents of a query; not used
        assert frame.loc[unchanged, ["permutation_mean", "permutation_std"]].tolist() == [0.0, 0.0]


def test_shuffles_come_from_the_seed():
    model = lightgbm(objective=bp.QBRank())
    first, again, other = (bp.importance(model, X, Y, qid=QID, random_state=seed) for seed in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)


def test_an_error_that_grows_is_a_loss():
    model = lightgbm(objective=bp.QBRank())
    gain, error = (bp.importance(model, X, Y, qid=QID, metric=metric) for metric in (bp.NDCG(5), Misses(5)))
    np.testing.assert_allclose(gain["permutation_mean"], error["permutation_mean"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("fit", [lightgbm, xgboost])
def test_tables_of_all_kinds_are_shuffled_alike_and_stay_as_they_are(fit):
    frame = FRAME.drop(columns="colour")
    model, of_sparse = fit(frame), fit(sparse.csr_matrix(X))
    before = frame.copy()
    expected = bp.importance(model, frame, Y, qid=QID)
    assert frame.equals(before)
    polars = pytest.importorskip("polars").DataFrame(frame)
    assert bp.importance(model, polars, Y, qid=QID).equals(expected)
    rows = sparse.csr_matrix(X)
    found = bp.importance(of_sparse, rows, Y, qid=QID)
    assert (rows != sparse.csr_matrix(X)).nnz == 0
    if fit is lightgbm:  # to XGBoost a zero in a sparse matrix is missing
        np.testing.assert_array_equal(found.iloc[:, 1:], expected.iloc[:, 1:])


def test_categories_are_shuffled():
    for name in ("lightgbm, categories", "xgboost, categories"):
        model, rows = fitted(name)
        of_colour = Y + 2.0 * (rows["colour"] == "green")
        frame = bp.importance(model, rows, of_colour, qid=QID).set_index("feature")
        assert frame["permutation_mean"]["colour"] > 0.1, name


def test_wrong_arguments_are_refused():
    model = lightgbm(objective=bp.QBRank())
    with pytest.raises(ValueError, match="qid or group is missing"):
        bp.importance(model, X)
    with pytest.raises(ValueError, match="n_repeats must be an integer of at least 1"):
        bp.importance(model, X, Y, qid=QID, n_repeats=0)
    with pytest.raises(ValueError, match="pass one label per row"):
        bp.importance(model, X, Y[:-12], qid=QID[:-12])
    with pytest.raises(ValueError, match="metric"):
        bp.importance(model, X, Y, qid=QID, metric="no metric")
    with pytest.raises(ValueError, match="ranker must be a fitted ranker"):
        bp.importance("model.txt", X, qid=QID)


def test_texts_are_the_categories_of_the_training_set():
    model, rows = fitted("lightgbm, categories")
    as_text = rows.assign(colour=rows["colour"].astype(object))
    assert bp.importance(model, as_text, qid=QID).equals(bp.importance(model, rows, qid=QID))
    assert bp.why(model, as_text, 0, 5)["contribution"].equals(bp.why(model, rows, 0, 5)["contribution"])


def test_rows_that_are_not_judged_take_no_part_in_what_shuffling_loses():
    model, rows = fitted("lightgbm, a loss")
    judged = np.arange(len(Y)) % 3 > 0
    found = bp.importance(model, rows, np.where(judged, Y, np.nan), qid=QID, labelled=judged)
    expected = bp.importance(model, rows, Y, qid=QID, labelled=judged)
    assert found.equals(expected)
    assert not found["permutation_mean"].equals(bp.importance(model, rows, Y, qid=QID)["permutation_mean"])
    with pytest.raises(ValueError, match="pass labelled="):
        bp.importance(model, rows, np.where(judged, Y, np.nan), qid=QID)
