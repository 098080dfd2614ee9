"""The units of weights and labels mean nothing to a training, or what the loss makes of them."""

import numpy as np
import pytest
from adapters.harness import FRAMEWORKS, GROUP, X, Y, make

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
    *(loss for variants in LOSSES.values() for loss in variants if not loss.needs_position),
    bp.PairwiseLoss(softplus, slope, curvature),
    Squares(),
]
every_loss = pytest.mark.parametrize("loss", EVERY_LOSS, ids=lambda loss: loss.name)


@every_loss
@every_framework
def test_all_weights_times_a_number_train_the_same_model(F, loss):
    """Weights of 1e-4 or 1e30, and those that sum to 1: what XGBoost's `min_child_weight` and gains would not bear."""
    rng = np.random.default_rng(6)  # by which no two splits gain the same: rounding would decide between them
    uniform, some = np.ones(len(GROUP)), rng.integers(1, 6, len(GROUP)).astype(float)
    for weight, numbers in ((uniform, (1e-4, 1e30, 1.0 / len(GROUP))), (some, (2.0**-30, 2.0**40, 1e-4))):
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


# (loss, labels times, what is wrong in each framework)
TOO_SMALL, TOO_LARGE = "gains 1e-06 or less", r"up to 3.4e\+38"
SPOILT = [
    (bp.QBRank(), 1e-5, {"xgboost": TOO_SMALL}),
    (bp.QBRank(normalization="documents"), 1e-8, {"xgboost": TOO_SMALL}),
    (bp.QBRank(preference_weight=0.0), 1e-17, {"xgboost": TOO_SMALL}),
    (bp.QBRank(), 1e-36, {"xgboost": TOO_SMALL, "lightgbm": "leaves of 1e-35 and less"}),
    (bp.MPBoost(distance=bp.LinearDistance()), 1e6, {"xgboost": TOO_SMALL}),
    (bp.MPBoost(distance=bp.LinearDistance()), 1e-20, {"xgboost": TOO_LARGE}),
    (bp.MPBoost(), 1e-20, {"xgboost": TOO_LARGE}),
    (bp.MPBoost(), 1e-35, {"xgboost": TOO_LARGE, "lightgbm": "gradients"}),
]


@pytest.mark.parametrize(("loss", "c", "faults"), SPOILT)
@every_framework
def test_labels_of_a_unit_that_the_framework_cannot_follow_are_warned_about_once(F, loss, c, faults):
    expected = trained(F, loss, 1.0)[1]
    if F.name not in faults:
        assert trained(F, loss, c)[1] == expected
        return
    name = loss.name.split("(")[0]
    with pytest.warns(UserWarning, match=f"{name}.* size: .*{faults[F.name]}.* rescale the labels") as seen:
        trained(F, loss, c)
    assert len(seen) == 1


@every_loss
@every_framework
def test_no_warning_where_as_much_is_learnt(F, loss):
    """Labels of .01 to 1000; a warning is an error here."""
    if isinstance(loss, bp.NDCGBoost | bp.AdaRank | bp.CRR | bp.LambdaRank | bp.LogisticError | bp.CalibratedSoftmax):
        return  # gains are of one unit, as are grades from which on a document is relevant, and the top of a scale
    expected = trained(F, loss, 1.0)[1]
    for c in (0.01, 30.0, 1e3):
        assert trained(F, loss, c)[1] >= 0.9 * expected


@every_framework
def test_a_training_that_goes_on_from_what_fits_the_labels_warns_of_nothing(F):
    x, _, group = LABELS
    start = {F.start: x[:, 0] + 1e-6 * x[:, 1]}
    model = F.train(bp.QBRank(preference_weight=0.0), F.data(data=x, label=x[:, 0], group=group, **start))[0]
    assert n_splits(F, model) == (0 if F.name == "xgboost" else 15)  # XGBoost's threshold, and rightly so


@pytest.mark.parametrize("loss", [bp.RankNet(), bp.QBRank()], ids=lambda loss: loss.name)
@every_framework
def test_labels_below_what_float32_can_tell_apart_are_warned_about_once(F, loss):
    x, y, group = LABELS
    with pytest.warns(UserWarning, match=r"label\[\d+\] = .*float32 loses digits.* rescale the labels") as seen:
        F.train(loss, F.data(data=x, label=1e-44 * y, group=group))
    assert len(seen) == 1


@every_framework
def test_a_ranker_has_labels_in_single_precision_too(F):
    expected = F.fit(bp.RankNet()).predict(X)
    np.testing.assert_array_equal(F.fit(bp.RankNet(), y=1e-36 * Y).predict(X), expected)
    with pytest.warns(UserWarning, match="float32 loses digits"):
        ranker = F.fit(bp.RankNet(), y=1e-40 * Y)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    with (
        pytest.warns(UserWarning, match="nothing to learn"),
        pytest.warns(UserWarning, match="^labels such as .* are equal in single precision"),
    ):
        F.fit(bp.RankNet(), y=1e-60 * Y)


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
    for c in (2.0**-6, 2.0**9, 0.01, 1000.0):
        found, n_found = trained(F, loss, c)
        found /= c**degree
        assert n_found == n
        if np.frexp(c)[0] == 0.5:
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("loss", [bp.RankNet(sigmoid=1e-4), bp.NDCGBoost(sigmoid=1e-4)], ids=lambda loss: loss.name)
@every_framework
def test_hessians_that_sum_to_less_than_a_leaf_needs_are_warned_about(F, loss):
    name = "min_child_weight" if F.name == "xgboost" else "min_sum_hessian_in_leaf"
    with pytest.warns(UserWarning, match=f"learns nothing while {name} is .*lower {name}, or raise .*sigmoid") as seen:
        assert trained(F, loss, 1.0)[1] == 0
    assert len(seen) == 1


class Counted(Squares):
    """Counts its calls, whatever copies are made of it."""

    calls = []  # noqa: RUF012 (shared on purpose)

    def compute_gradient_hessian(self, scores, queries, scale):
        self.calls.append(scores)
        return super().compute_gradient_hessian(scores, queries, scale)

    def __repr__(self):
        return "Counted()"


@every_framework
def test_a_training_looks_at_each_loss_once_however_its_objective_is_written(F):
    """Losses that are built anew in each round, or asked in turn, cost no look at scores of 0 in each."""
    x, y, group = LABELS
    others = [bp.RankNet(sigmoid=0.1 + 0.1 * i) for i in range(20)]
    data = F.data(data=x, label=y, group=group)
    for n in (0, 1, 20):

        def objective(*call, n=n):
            for other in others[:n]:
                other(*call)
            return Counted()(*call)

        Counted.calls.clear()
        F.train(objective, data, 6, **({"base_score": 0.5} if F.name == "xgboost" else {}))
        assert len(Counted.calls) <= 7


@every_framework
def test_a_training_with_other_parameters_is_looked_at_anew(F):
    x, y, group = LABELS
    data, loss = F.data(data=x, label=y, group=group), bp.RankNet(sigmoid=1e-4)
    name = "min_child_weight" if F.name == "xgboost" else "min_sum_hessian_in_leaf"
    F.train(loss, data, **{name: 0.0})
    with pytest.warns(UserWarning, match="learns nothing while"):
        F.train(loss, data)
