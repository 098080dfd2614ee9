"""Leaves estimated anew by our losses, as LightGBM does it by its own."""

from dataclasses import dataclass

import numpy as np
import pytest
from adapters.harness import QID, VGROUP, VQID, VX, VY, X, Y

import boostplug as bp

lgb = pytest.importorskip("lightgbm")

SMALL = {"n_estimators": 12, "verbose": -1, "n_jobs": 1, "num_leaves": 6, "min_child_samples": 2}


@dataclass(frozen=True)
class Squares(bp.Loss):
    """Half the squared errors: LightGBM's regression."""

    @property
    def hessian_kind(self):
        return "exact"

    def compute_value(self, scores, queries):
        return 0.5 * np.add.reduceat((scores - queries.labels) ** 2, queries.boundaries[:-1])

    def compute_gradient_hessian(self, scores, queries, scale):
        return scores - queries.labels, np.ones(len(scores))


def fit(loss=None, **params):
    return bp.LGBMRanker(objective=loss or bp.MPBoost(), **{**SMALL, **params}).fit(X, Y, qid=QID)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"reg_alpha": 0.3, "reg_lambda": 0.7, "learning_rate": 0.3},
        {"max_delta_step": 0.4},
        {"boosting_type": "dart"},
        {"num_leaves": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("decay_rate", [0.0, 0.6])
def test_equals_lightgbms_refit_of_its_own_objective(params, decay_rate, tmp_path):
    """On few rows, so that leaves are empty."""
    rows, labels, group = VX[: VGROUP[:4].sum()], VY[: VGROUP[:4].sum()], VGROUP[:4]
    ours = fit(Squares(), **params)
    text = ours.export().booster_.model_to_string().replace("lambdarank", "regression")
    text = text.replace("[boost_from_average: 1]", "[boost_from_average: 0]")
    (tmp_path / "model.txt").write_text(text)  # whose parameters every version of LightGBM reads
    theirs = lgb.Booster(model_file=tmp_path / "model.txt").refit(rows, labels, decay_rate=decay_rate)
    refitted = ours.refit(rows, labels, group=group, decay_rate=decay_rate)
    single = {"rtol": 1e-5, "atol": 1e-6}  # its gradients
    np.testing.assert_allclose(refitted.predict(X), theirs.predict(X), **single)
    assert not np.allclose(refitted.predict(X), ours.predict(X), rtol=1e-3)


@pytest.mark.parametrize("loss", [bp.MPBoost(), bp.QBRank(), bp.NDCGBoost()])
def test_lowers_the_loss_on_the_new_data(loss):
    ranker = fit(loss)
    queries = bp.Queries(VY, group=VGROUP)
    values = [loss.value(ranker.refit(VX, VY, qid=VQID, decay_rate=d).predict(VX), queries).sum() for d in (1, 0.5, 0)]
    assert values[0] > values[1] > values[2]
    np.testing.assert_array_equal(ranker.refit(VX, VY, qid=VQID, decay_rate=1).predict(X), ranker.predict(X))


def test_leaves_are_those_beside_the_starting_scores():
    start = np.linspace(-3.0, 3.0, len(Y))
    ranker = bp.LGBMRanker(objective=bp.MPBoost(), **SMALL).fit(X, Y, qid=QID, init_score=start)
    again = ranker.refit(X, Y, qid=QID, init_score=start, decay_rate=0.0)
    np.testing.assert_allclose(again.predict(X), ranker.predict(X), rtol=1e-5, atol=1e-6)
    assert not np.allclose(ranker.refit(X, Y, qid=QID, decay_rate=0.0).predict(X), ranker.predict(X), rtol=1e-2)
    with pytest.raises(ValueError, match=r"init_score must hold one score per row \(\d+\), got 2 values"):
        ranker.refit(X, Y, qid=QID, init_score=[1.0, 2.0])


def test_a_ranker_that_stopped_early():
    stop = lgb.early_stopping(2, verbose=False)
    ranker = bp.LGBMRanker(objective=bp.MPBoost(), **SMALL | {"n_estimators": 40})
    ranker.fit(X, Y, qid=QID, eval_set=[(VX, VY)], eval_qid=[VQID], eval_metric=bp.NDCG(3), callbacks=[stop])
    refitted = ranker.refit(VX, VY, qid=VQID)
    assert refitted.best_iteration_ == ranker.best_iteration_ == refitted.booster_.num_trees() < 40
    np.testing.assert_array_equal(refitted.export().predict(X), refitted.predict(X))


@pytest.mark.parametrize(("labels", "weight"), [(np.ones(len(VY)), None), (VY, np.zeros(len(VY)))])
def test_nothing_to_learn_from_shrinks_no_leaf_in_silence(labels, weight):
    with pytest.raises(ValueError, match="refit has nothing to learn from"):
        fit().refit(VX, labels, qid=VQID, sample_weight=weight)
