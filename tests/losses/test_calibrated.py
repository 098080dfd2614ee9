"""LogisticError and CalibratedSoftmax: arithmetic, the frameworks' cross entropy, and probabilities that are right."""

import math

import numpy as np
import pytest

import boostplug as bp

LOG_2 = math.log(2.0)


def test_logistic_error_by_hand():
    """Labels 4, 1, 0 of 4 at σ = ½: probabilities 1, ¼, 0, so each document costs log 2."""
    queries = bp.Queries([4, 1, 0], group=[3], weight=[1.0, 2.0, 1.0])
    loss = bp.LogisticError(max_grade=4.0)
    assert loss.value(np.zeros(3), queries) == pytest.approx([4.0 * LOG_2])
    gradient, hessian = loss.gradient_hessian(np.zeros(3), queries)
    np.testing.assert_allclose(gradient, 0.75 * np.array([-0.5, 2 * 0.25, 0.5]))
    np.testing.assert_allclose(hessian, 0.75 * np.array([0.25, 0.5, 0.25]))


def test_calibrated_softmax_by_hand():
    """Labels 1, 0 at σ = ½, ¼: shares ⅔ and ⅓."""
    queries = bp.Queries([1, 0], group=[2])
    scores = np.array([0.0, -math.log(3.0)])
    assert bp.CalibratedSoftmax(list_weight=1.0).value(scores, queries) == pytest.approx([-math.log(2.0 / 3.0)])
    logistic = LOG_2 - math.log(0.75)
    assert bp.CalibratedSoftmax(list_weight=0.25).value(scores, queries) == pytest.approx(
        [0.75 * logistic - 0.25 * math.log(2.0 / 3.0)]
    )
    gradient, _ = bp.CalibratedSoftmax(list_weight=1.0).gradient_hessian(scores, queries)
    np.testing.assert_allclose(gradient, [0.5 * (2.0 / 3.0 - 1.0), 0.75 * (1.0 / 3.0)])


def test_without_its_list_part_it_is_the_logistic_error():
    rng = np.random.default_rng(0)
    queries, scores = bp.Queries(rng.integers(0, 4, 30), group=[20, 10]), rng.normal(size=30)
    one, other = bp.CalibratedSoftmax(list_weight=0.0, max_grade=3.0), bp.LogisticError(max_grade=3.0)
    for x, y in zip(one.gradient_hessian(scores, queries), other.gradient_hessian(scores, queries), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("list_weight", [0.0, 0.5, 1.0])
def test_both_parts_are_smallest_where_probabilities_are_the_labels(list_weight):
    labels = np.array([0.9, 0.5, 0.2, 0.1, 0.4])
    queries = bp.Queries(labels, group=[3, 2])
    gradient, _ = bp.CalibratedSoftmax(list_weight=list_weight).gradient_hessian(np.log(labels / (1 - labels)), queries)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-15)


def test_a_list_without_a_positive_label_has_no_list_part():
    queries, scores = bp.Queries([0, 0, 0], group=[3]), np.array([1.0, 0.0, -2.0])
    assert bp.CalibratedSoftmax(list_weight=1.0).value(scores, queries) == [0.0]
    gradient, hessian = bp.CalibratedSoftmax(list_weight=1.0).gradient_hessian(scores, queries)
    assert not gradient.any()
    assert not hessian.any()


@pytest.mark.parametrize("loss", [bp.LogisticError(max_grade=2.0), bp.CalibratedSoftmax(max_grade=2.0)])
@pytest.mark.parametrize("label", [3.0, -1.0])
def test_labels_beyond_the_scale_are_refused(loss, label):
    queries = bp.Queries([0, label, 1], group=[3])
    with pytest.raises(ValueError, match=r"labels\[1\] = -?\d.* is not from 0 to max_grade=2; pass the top"):
        loss.value(np.zeros(3), queries)
    unlabelled = bp.Queries([0, label, 1], group=[3], labelled=[True, False, True])
    assert np.isfinite(loss.value(np.zeros(3), unlabelled)).all()


def data(n_queries=300, size=12):
    """Return features, binary labels and their true probabilities, which one feature of each document decides."""
    rng = np.random.default_rng(0)
    n = n_queries * size
    features = rng.normal(size=(n, 4))
    probability = 1.0 / (1.0 + np.exp(1.5 - 1.5 * features[:, 0]))
    return features, (rng.random(n) < probability).astype(float), probability, np.full(n_queries, size)


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("loss", [bp.LogisticError(), bp.CalibratedSoftmax()])
def test_scores_are_logits_of_the_true_probabilities(framework, loss):
    pytest.importorskip(framework)
    features, labels, probability, group = data()
    kind = {"lightgbm": bp.LGBMRanker, "xgboost": bp.XGBRanker}[framework]
    ranker = kind(objective=loss, n_estimators=60, learning_rate=0.1, max_depth=3, random_state=0)
    ranker.fit(features, labels, group=group)
    predicted = 1.0 / (1.0 + np.exp(-ranker.predict(features)))
    assert np.abs(predicted - probability).mean() < 0.06
    assert abs(predicted.mean() - labels.mean()) < 0.02


def test_for_binary_labels_it_is_the_frameworks_cross_entropy():
    lgb = pytest.importorskip("lightgbm")
    features, labels, _, group = data(60)
    trees = {"learning_rate": 0.3, "verbose": -1, "num_leaves": 7, "boost_from_average": False, "num_threads": 1}
    given = lgb.Dataset(features, labels, group=group, free_raw_data=False)
    ours, theirs = (
        lgb.train(trees | {"objective": objective}, given, 20).predict(features, raw_score=True)
        for objective in (bp.LogisticError(), "cross_entropy")
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
