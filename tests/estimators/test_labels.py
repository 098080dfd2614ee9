"""Rankers train on labels as the datasets of the frameworks hold them, in single precision, and not on all rows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from adapters.harness import GROUP, QID, VQID, VX, VY, Spy, X, Y, every_framework

import boostplug as bp

TIMES = 1.7e9 + 60_000 * Y + np.arange(len(Y))  # seconds: single precision holds every 128th


@pytest.mark.filterwarnings("ignore:labels such as .* are equal in single precision")
@every_framework
def test_the_ranker_is_the_model_of_the_same_loss_on_a_dataset(F):
    loss = bp.QBRank()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # rounding that merges no labels brings no warning
        F.fit(loss, y=Y + 0.1)
    ranker = F.fit(loss, y=TIMES)
    np.testing.assert_array_equal(ranker.predict(X), F.predict(F.train(loss, F.data(label=TIMES))[0]))


@every_framework
def test_metrics_of_validation_sets_read_labels_in_full(F):
    seen = []

    class Full(bp.Metric):
        def compute_per_query(self, scores, queries):
            seen.append(queries.labels)
            return np.zeros(queries.n_queries)

    F.fit(bp.QBRank(), valid=(VX, VY + 1e-12, VQID), metric=Full())
    np.testing.assert_array_equal(seen[0], VY + 1e-12)


@every_framework
def test_labels_in_single_precision_keep_all_else(F):
    weight, position = np.arange(len(Y)) + 1.0, np.concatenate([np.arange(n) + 1 for n in GROUP])
    Spy.log.clear()
    with pytest.warns(UserWarning, match="position is not used"):
        F.fit(Spy(), y=Y + 0.1, sample_weight=weight, labelled=Y > 0, position=position)
    seen = Spy.log.pop().queries
    Spy.log.clear()
    np.testing.assert_array_equal(seen.labels, np.float32(Y + 0.1))
    for found, expected in ((seen.row_weight, weight), (seen.labelled, Y > 0), (seen.position, position)):
        np.testing.assert_array_equal(found, expected)


# --- rows without label -------------------------------------------------------------------------------------------

LABELLED, V_LABELLED = np.arange(len(Y)) % 3 > 0, np.arange(len(VY)) % 4 > 0


def fit_labelled(F, loss, y=Y, vy=VY, **changed):
    given = {"labelled": LABELLED, "eval_labelled": [V_LABELLED], "valid": (VX, vy, VQID), **changed}
    return F.fit(loss, y=y, **given)


@every_framework
@pytest.mark.parametrize("loss", [bp.QBRank(), bp.ListNet(target="labels"), bp.LambdaRank()])
def test_rows_without_label_are_not_read(F, loss):
    ranker = fit_labelled(F, loss)
    other = fit_labelled(F, loss, np.where(LABELLED, Y, 9.0), np.where(V_LABELLED, VY, 9.0))
    np.testing.assert_array_equal(ranker.predict(X), other.predict(X))
    assert ranker.evals_result_ == other.evals_result_
    alone = loss.gradient_hessian(np.zeros(len(Y)), bp.Queries(Y, qid=QID, labelled=LABELLED))[0]
    assert not alone[~LABELLED].any()
    assert not np.array_equal(ranker.predict(X), fit_labelled(F, loss, labelled=None).predict(X))
    judged = bp.NDCG(10).score(VY, ranker.predict(VX), qid=VQID, labelled=V_LABELLED)
    (values,) = next(iter(ranker.evals_result_.values())).values()
    assert values[-1] == pytest.approx(judged, rel=1e-6)


@every_framework
def test_what_reads_every_label_is_refused_beside_rows_without(F):
    remedy = "which reads every label; pass a loss and metrics of boostplug, or leave those rows out"
    for given in ({}, {"labelled": None}, {"eval_labelled": None}):
        with pytest.raises(ValueError, match=f"labelled has no effect on '{F.objective}', {remedy}"):
            fit_labelled(F, F.objective, **given)
        with pytest.raises(ValueError, match=f"labelled has no effect on 'map', {remedy}"):
            fit_labelled(F, bp.QBRank(), metric=[bp.NDCG(3), "map"], **given)
    with pytest.raises(ValueError, match=r"labelled must hold one bool per row \(\d+\), got 3 values"):
        fit_labelled(F, bp.QBRank(), labelled=[True, False, True])
    with pytest.raises(ValueError, match="eval_labelled must be a list of one entry per validation set"):
        fit_labelled(F, bp.QBRank(), eval_labelled=V_LABELLED)


NONE = pd.Series(np.where(LABELLED, Y, np.nan)), pd.Series(np.where(V_LABELLED, VY, np.nan))
TABLES = {
    "NaN": lambda frame: frame,
    "pandas' NA": lambda frame: frame.astype({"grade": "Int64"}),
    "None": lambda frame: frame.assign(grade=frame["grade"].astype(object).where(frame["grade"].notna(), None)),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


@every_framework
@pytest.mark.parametrize("kind", TABLES)
def test_missing_labels_are_rows_that_labelled_leaves_out(F, kind):
    """In a column by name, in training and validation sets, in `score` and in arrays."""
    x, vx = (pd.DataFrame(features).add_prefix("f") for features in (X, VX))
    train, valid = (
        TABLES[kind](frame.assign(grade=grade, qid=ids))
        for frame, grade, ids in zip((x, vx), NONE, (QID, VQID), strict=True)
    )
    given = {"qid": None, "labelled": LABELLED, "eval_set": [valid], "eval_labelled": [V_LABELLED]}
    ranker = F.fit(bp.QBRank(), train, "grade", **given)
    plain = fit_labelled(F, bp.QBRank())
    np.testing.assert_array_equal(ranker.predict(valid), plain.predict(VX))
    assert ranker.evals_result_ == plain.evals_result_
    judged = bp.NDCG(10).score(VY, plain.predict(VX), qid=VQID, labelled=V_LABELLED)
    assert ranker.score(valid, labelled=V_LABELLED) == judged
    assert bp.NDCG(10).score(NONE[1], plain.predict(VX), qid=VQID, labelled=V_LABELLED) == judged
    np.testing.assert_array_equal(F.fit(bp.QBRank(), y=NONE[0], labelled=LABELLED).predict(VX), plain.predict(VX))
    masked = np.ma.masked_array(Y, mask=~LABELLED)
    with pytest.raises(ValueError, match=r"y has \d+ masked values; drop such rows, or fill them"):
        F.fit(bp.QBRank(), y=masked, labelled=LABELLED)
    np.testing.assert_array_equal(
        F.fit(bp.QBRank(), y=masked.filled(0), labelled=LABELLED).predict(VX), plain.predict(VX)
    )


@every_framework
def test_missing_labels_are_an_error_that_says_how_to_leave_them_out(F):
    frame = pd.DataFrame(X).add_prefix("f").assign(grade=NONE[0], qid=QID)
    remedy = "rop such rows, or pass labelled= with False where a row is not judged"
    with pytest.raises(ValueError, match=rf"y: column 'grade' has no value in row 0\. D{remedy}\."):
        F.fit(bp.QBRank(), frame, "grade", qid=None)
    for labelled in (None, ~LABELLED):
        with pytest.raises(ValueError, match=rf"y\[0\] = nan is not finite; d{remedy}"):
            F.fit(bp.QBRank(), y=NONE[0], labelled=labelled)
    with pytest.raises(ValueError, match="pass eval_labelled= with False where a row is not judged"):
        F.fit(bp.QBRank(), valid=(VX, NONE[1], VQID))
    # These have no such argument.
    with pytest.raises(ValueError, match=r"Drop such rows\.$"):
        bp.RankingData(frame, "grade")
    with pytest.raises(ValueError, match=r"y\[0\] = nan is not finite; drop such rows \("):
        bp.QBRankRanker(n_estimators=1).fit(X, Y, qid=QID, eval_set=[(X, NONE[0])], eval_qid=[QID])


def test_zeros_in_the_place_of_missing_labels_rank_worse():
    """By .05 to .07 in ten seeds and with three losses, on the page on what gets in."""
    differences = []
    trees = {"n_estimators": 100, "num_leaves": 15, "n_jobs": 1, "verbose": -1}
    for seed in range(3):
        train, test = (bp.datasets.make_ranking(200, random_state=number) for number in (seed, 100 + seed))
        judged = np.random.default_rng(seed).random(train.n_rows) < 0.3
        labels = np.where(judged, train.y, np.nan)
        left_out, zeros = (
            bp.LGBMRanker(objective=bp.QBRank(), **trees).fit(train.X, y, qid=train.qid, labelled=mask)
            for y, mask in ((labels, judged), (np.nan_to_num(labels), None))
        )
        values = [bp.NDCG(10)(ranker.predict(test.X), test.queries) for ranker in (left_out, zeros)]
        differences.append(values[0] - values[1])
    assert np.mean(differences) > 0.02
