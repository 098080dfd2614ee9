"""Rankers train on labels as the datasets of the frameworks hold them, in single precision, and not on all rows."""

import warnings

import numpy as np
import pytest
from adapters.harness import GROUP, QID, VQID, VX, VY, X, Y, every_framework

import boostplug as bp
from boostplug.estimators.inputs import with_float32_labels

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


def test_queries_in_single_precision_keep_all_else():
    pairs = bp.Pairs([0, 3], [1, 4])
    queries = bp.Queries(Y + 0.1, group=GROUP, weight=np.arange(len(Y)) + 1.0, pairs=pairs, labelled=Y > 0)
    queries = queries.with_positions(np.arange(len(Y)) + 1, is_rank=False)
    rounded = with_float32_labels(queries)
    np.testing.assert_array_equal(rounded.labels, np.float32(Y + 0.1))
    for name in ("boundaries", "row_weight", "labelled", "position", "position_is_rank"):
        np.testing.assert_array_equal(getattr(rounded, name), getattr(queries, name))
    assert rounded.pairs is pairs
    assert with_float32_labels(rounded) is rounded


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
