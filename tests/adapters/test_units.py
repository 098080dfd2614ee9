"""The unit of labels means nothing to a training. That of weights: see losses/test_weights.py."""

import numpy as np
import pytest
from adapters.harness import every_framework, make

import boostplug as bp
from boostplug.losses.base.logistic import curvature, slope, softplus


def n_splits(F, model):
    """Return how many splits all trees of a model have."""
    if F.name == "lightgbm":
        return sum(tree["num_leaves"] - 1 for tree in model.dump_model()["tree_info"])
    return sum(tree.count("[") for tree in model.get_dump())


LABELS = make(3, 60)  # enough of them for a tree to lose splits little by little


def trained(F, loss, c, rounds=5, **parameters):
    """Return predictions and number of splits of a training on labels times c."""
    x, y, group = LABELS
    model = F.train(loss, F.data(data=x, label=c * y, group=group), rounds, **parameters)[0]
    return F.predict(model, x), n_splits(F, model)


# (loss, power of c with which predictions go where labels are times c)
LAWFUL = [
    (bp.RankNet(), 0), (bp.MPBoost(distance=bp.BinaryDistance()), 0), (bp.NDCGBoost(gain="linear"), 0),
    (bp.PairwiseLoss(softplus, slope, curvature), 0), (bp.QBRank(), 1),
    (bp.QBRank(preference_weight=0.0, margin=1.0), 1), (bp.QBRank(normalization="documents"), 1),
    (bp.MPBoost(distance=bp.LinearDistance()), -1), (bp.MPBoost(distance=bp.LinearDistance(), hessian="bound"), -1),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "degree"), LAWFUL)
@every_framework
def test_labels_times_a_number_train_the_same_trees(F, loss, degree):
    """The same trees, and predictions times c^degree."""
    expected, n = trained(F, loss, 1.0)
    for c in (2.0**9, 0.01):
        found, n_found = trained(F, loss, c)
        found /= c**degree
        assert n_found == n
        if np.frexp(c)[0] == 0.5:
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
