"""Probabilities of the choice, and their log loss: against scikit-learn, a plain loop, and `ListNet`'s value."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss

import boostplug as bp

RNG = np.random.default_rng(5)


def test_probabilities_are_the_softmax_of_each_list():
    group = [3, 1, 4]
    scores = RNG.normal(size=8) * 5.0
    expected = np.concatenate([softmax(part) for part in np.split(scores, np.cumsum(group)[:-1])])
    np.testing.assert_allclose(bp.choice_probabilities(scores, group=group), expected, rtol=1e-14)
    by_id = bp.choice_probabilities(pd.Series(scores), qid=np.repeat(["x", "a", "m"], group))
    np.testing.assert_allclose(by_id, expected, rtol=1e-14)
    far = bp.choice_probabilities([1e100, -1e100, 0.0, 700.0], group=[2, 0, 2])
    np.testing.assert_array_equal(far[:2], [1.0, 0.0])
    np.testing.assert_allclose(far[2:], [0.0, 1.0], atol=1e-300)
    assert bp.choice_probabilities([], group=[]).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [1.0, math.nan], "group": [2]}, r"scores\[1\] = nan"),
        ({"scores": [1.0, 2.0]}, "exactly one of group .* and qid"),
        ({"scores": [1.0, 2.0, 3.0], "group": [2]}, "group must add up .* scores has 3 rows"),
        ({"scores": [1.0, 2.0, 3.0], "qid": [1, 2, 1]}, "qid must be contiguous"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        bp.choice_probabilities(**arguments)


def test_one_choice_of_each_list_has_scikit_learns_log_loss():
    n, size = 30, 6
    scores = RNG.normal(size=(n, size)) * 3.0
    chosen = RNG.integers(0, size, n)
    queries = bp.Queries(np.eye(size)[chosen].ravel(), group=np.full(n, size))
    p = bp.choice_probabilities(scores.ravel(), group=np.full(n, size)).reshape(n, size)
    expected = log_loss(chosen, p, labels=range(size))
    assert bp.ChoiceLogLoss()(scores.ravel(), queries) == pytest.approx(expected, rel=1e-12)
    assert bp.ChoiceLogLoss()(np.zeros(n * size), queries) == pytest.approx(math.log(size))


def test_labels_share_the_choice_and_weights_repeat_documents():
    """As in `ListNet`, whose value is this times the weight of the list; lists without a choice have no value."""
    labels = [2.0, 0.0, 1.0, 0.0, 0.0, 5.0, 1.0]
    weight = [1.0, 3.0, 2.0, 1.0, 1.0, 0.0, 2.0]
    queries = bp.Queries(labels, group=[3, 2, 0, 2], weight=weight)
    scores = np.array([0.5, -1.0, 2.0, 3.0, 0.0, 9.0, 1.0])
    found = bp.ChoiceLogLoss().per_query(scores, queries)
    total = math.exp(0.5) + 3.0 * math.exp(-1.0) + 2.0 * math.exp(2.0)
    p = [math.exp(0.5) / total, 2.0 * math.exp(2.0) / total]
    np.testing.assert_allclose(found, [-0.5 * math.log(p[0]) - 0.5 * math.log(p[1]), math.nan, math.nan, 0.0])
    value = bp.ListNet(target="labels").value(scores, queries)
    np.testing.assert_allclose(value[[0, 3]], found[[0, 3]] * [14.0 / 6.0, 2.0])


def test_what_is_not_judged_is_not_in_the_list_and_far_scores_stay_finite():
    queries = bp.Queries([1.0, 0.0, 0.0], group=[3], labelled=[True, True, False])
    assert bp.ChoiceLogLoss()([0.0, 0.0, 9.0], queries) == pytest.approx(math.log(2.0))
    assert math.isfinite(bp.ChoiceLogLoss()([-math.inf, math.inf, 0.0], queries))
    with pytest.raises(ValueError, match=r"labels\[0\] = -1.* is below 0"):
        bp.ChoiceLogLoss().score([-1.0, 1.0], [0.0, 0.0], group=[2])


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_it_stops_a_training_and_its_probabilities_are_calibrated(framework):
    """On a simulated conditional logit the log loss approaches that of the true probabilities."""
    pytest.importorskip(framework)
    n, size = 1500, 5
    X = RNG.normal(size=(n * size, 2))
    utility = (1.5 * X[:, 0] - np.abs(X[:, 1])).reshape(n, size)
    y = np.eye(size)[np.argmax(utility + RNG.gumbel(size=utility.shape), axis=1)].ravel()
    qid = np.repeat(np.arange(n), size)
    train, valid = qid < 1000, qid >= 1000
    kind, stop = (bp.LGBMRanker, {}) if framework == "lightgbm" else (bp.XGBRanker, {"early_stopping_rounds": 10})
    ranker = kind(objective=bp.ListNet(target="labels"), n_estimators=200, learning_rate=0.1, n_jobs=1, **stop)
    sets = {"eval_set": [(X[valid], y[valid])], "eval_qid": [qid[valid]]}
    if framework == "lightgbm":
        import lightgbm as lgb

        ranker.fit(
            X[train], y[train], qid=qid[train], **sets, eval_metric=bp.ChoiceLogLoss(),
            callbacks=[lgb.early_stopping(10, verbose=False)],
        )  # fmt: skip
    else:
        ranker.set_params(eval_metric=bp.ChoiceLogLoss())
        ranker.fit(X[train], y[train], qid=qid[train], **sets, verbose=False)
    queries = bp.Queries(y[valid], qid=qid[valid])
    truth, zero = (bp.ChoiceLogLoss()(scores, queries) for scores in (utility.ravel()[valid], np.zeros(valid.sum())))
    loss = bp.ChoiceLogLoss()(ranker.predict(X[valid]), queries)
    assert loss - truth < 0.2 * (zero - truth)
