"""The units of weights and labels mean nothing to a training, or what the loss makes of them."""

import numpy as np
import pytest
from adapters.harness import FRAMEWORKS, GROUP, make

import boostplug as bp
from boostplug.losses import LOSSES
from boostplug.losses.base.logistic import curvature, slope, softplus

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
    *(variants[0] for variants in LOSSES.values() if not variants[0].needs_position),
    bp.PairwiseLoss(softplus, slope, curvature),
    Squares(),
]


# The frameworks take turns.
@pytest.mark.parametrize(
    ("F", "loss"),
    [([*FRAMEWORKS.values()][i % 2], loss) for i, loss in enumerate(EVERY_LOSS)],
    ids=[loss.name for loss in EVERY_LOSS],
)
def test_all_weights_times_a_number_train_the_same_model(F, loss):
    """Weights of 1e-4 or 1e30, and those that sum to 1: what XGBoost's `min_child_weight` and gains would not bear."""
    rng = np.random.default_rng(6)  # by which no two splits gain the same: rounding would decide between them
    uniform, some = np.ones(len(GROUP)), rng.integers(1, 6, len(GROUP)).astype(float)
    for weight, numbers in ((uniform, (1e30, 1.0 / len(GROUP))), (some, (2.0**-30, 1e-4))):
        expected = F.predict(F.train(loss, F.data(weight=weight))[0])
        assert np.ptp(expected) > 0.1
        for c in numbers:
            found = F.predict(F.train(loss, F.data(weight=c * weight))[0])
            if np.frexp(c)[0] == 0.5:
                np.testing.assert_array_equal(found, expected)
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


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
