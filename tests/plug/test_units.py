"""The units of weights and labels mean nothing to a training, or what the loss says of them."""

import numpy as np
import pytest
from plug.harness import FRAMEWORKS, GROUP, X, Y

import boostplug as bp
from boostplug.losses import LOSSES
from boostplug.losses.logistic import curvature, slope, softplus

every_framework = pytest.mark.parametrize("F", FRAMEWORKS.values(), ids=FRAMEWORKS)


class Squares(bp.Loss):
    """A user's loss that says nothing of its scale."""

    hessian_kind = "exact"
    shift_invariant = False

    def compute_value(self, scores, queries):
        off = (scores - queries.labels) ** 2
        return np.bincount(queries.query_of_row, 0.5 * self._weight(queries) * off, queries.n_queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        weight = scale * self._weight(queries)
        return weight * (scores - queries.labels), weight

    def _weight(self, queries):
        return queries.judged * (1.0 if queries.row_weight is None else queries.row_weight)


EVERY_LOSS = [
    *(loss for variants in LOSSES.values() for loss in variants),
    bp.PairwiseLoss(softplus, slope, curvature),
    Squares(),
]
every_loss = pytest.mark.parametrize("loss", EVERY_LOSS, ids=lambda loss: loss.name)


@every_loss
@every_framework
def test_all_weights_times_a_number_train_the_same_model(F, loss):
    """Weights of 1e-4 or 1e30, and those that sum to 1: what XGBoost's `min_child_weight` and gains would not bear."""
    rng = np.random.default_rng(5)
    uniform, some = np.ones(len(GROUP)), rng.integers(1, 6, len(GROUP)).astype(float)
    for weight, numbers in ((uniform, (1e-4, 1e30, 1.0 / len(GROUP))), (some, (2.0**-30, 2.0**40, 1e-4))):
        expected = F.predict(F.train(loss, F.data(weight=weight))[0])
        assert np.ptp(expected) > 0.1
        for c in numbers:
            found = F.predict(F.train(loss, F.data(weight=c * weight))[0])
            if np.log2(c).is_integer():
                np.testing.assert_array_equal(found, expected)
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@every_loss
@every_framework
def test_all_row_weights_of_a_ranker_times_a_number_train_the_same_model(F, loss):
    rng = np.random.default_rng(6)
    weight = rng.integers(1, 6, len(Y)).astype(float)
    expected = F.fit(loss, sample_weight=weight).predict(X)
    assert np.ptp(expected) > 0.1
    np.testing.assert_array_equal(F.fit(loss, sample_weight=2.0**-30 * weight).predict(X), expected)
    for c in (1e30, 1.0 / weight.sum()):
        found = F.fit(loss, sample_weight=c * weight).predict(X)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
