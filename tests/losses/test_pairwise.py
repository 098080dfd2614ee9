"""PairwiseLoss and RankNet against the plain double loop; what becomes of functions of every kind."""

import copy
import math
import pickle
import warnings
from dataclasses import dataclass
from typing import ClassVar

import loops
import numpy as np
import pytest
from losses import log_cosh
from losses.functions import FUNCTIONS, gap_weight, softplus, softplus_curvature, softplus_slope

import boostplug as bp
from boostplug import testing
from boostplug.losses.base.pair_loss import PairFunction
from boostplug.losses.pairwise import PairwiseLoss
from boostplug.losses.ranknet import RankNet

ACCURACY = 5e-7
LogCosh = log_cosh.LogCosh


def bump(d):
    return np.exp(-(d**2))


def bump_slope(d):
    return -2.0 * d * np.exp(-(d**2))


def bump_curvature(d):
    return (4.0 * d**2 - 2.0) * np.exp(-(d**2))


def build(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the squared hinge says that it goes pair by pair
        return PairwiseLoss(*FUNCTIONS[name], **options)


@pytest.mark.parametrize("n", [60, 350])
def test_ranknet_equals_double_loop_whatever_the_scores_hang_on(n):
    """Grades in the right order, far apart: the gradient is tiny, and still right beside its largest."""
    rng = np.random.default_rng(2)
    queries = bp.Queries(rng.choice(4, n, p=[0.6, 0.3, 0.05, 0.05]), group=[n])
    loss = RankNet()
    for step in (-300.0, -7.0, 3.0, 6.0, 15.0):
        scores = step * queries.labels + 0.1 * rng.normal(size=n)
        value, g, _ = loops.expected(loss, scores, queries)
        found, _ = loss.gradient_hessian(scores, queries)
        np.testing.assert_allclose(found / loss.scale(queries), g, rtol=0, atol=ACCURACY * np.abs(g).max())
        np.testing.assert_allclose(loss.value(scores, queries), value, rtol=ACCURACY)


def test_ranknet_as_arithmetic():
    queries = bp.Queries([2, 0], group=[2])
    loss = RankNet(sigmoid=0.5)
    d = 0.5 - 0.1
    assert loss.value([0.5, 0.1], queries) == pytest.approx([math.log(1 + math.exp(-0.5 * d))])
    g, h = loss.gradient_hessian([0.5, 0.1], queries)
    sigma = 1 / (1 + math.exp(0.5 * d))
    assert g == pytest.approx([-2 * 0.5 * sigma, 2 * 0.5 * sigma])  # scale: 2 documents, 1 pair
    assert h == pytest.approx([2 * 0.25 * sigma * (1 - sigma)] * 2)


def test_global_hessian_is_the_largest_curvature_times_two():
    rng = np.random.default_rng(7)
    queries = bp.Queries([2, 1, 0, *rng.integers(0, 3, 60)], group=[3, 60])
    loss = build("logistic", hessian="global")
    _, h = loss.gradient_hessian(np.zeros(63), queries)
    assert h[:3] == pytest.approx([2 * 2 * 0.25 * loss.scale(queries)] * 3, rel=2e-3)
    heavy = build("logistic", hessian="global", weight=gap_weight)
    _, h = heavy.gradient_hessian(np.zeros(63), queries)
    assert h[:3] == pytest.approx(np.array([3, 2, 3]) * 2 * 0.25 * heavy.scale(queries), rel=2e-3)


def test_what_becomes_of_each_function():
    assert build("logistic").summation == "linear"
    assert build("squared softplus").summation == "linear"
    assert build("squares").summation == "linear"
    assert build("pseudo-Huber").summation == "pairs"  # its tail falls as 1/d², which no running sum follows
    assert build("logistic", weight=gap_weight).summation == "pairs"
    with pytest.warns(UserWarning, match="too rough for a grid"):
        hinge = PairwiseLoss(*FUNCTIONS["squared hinge"])
    assert hinge.summation == "pairs"
    sharp = PairwiseLoss(lambda d: softplus(20 * d), lambda d: 20 * softplus_slope(20 * d),
                         lambda d: 400 * softplus_curvature(20 * d))  # fmt: skip
    assert sharp.summation == "linear"


def test_functions_that_are_not_convex_need_the_global_hessian():
    with pytest.raises(ValueError, match=r"needs second ≥ 0, and it falls to -2; use hessian='global'"):
        PairwiseLoss(bump, bump_slope, bump_curvature)
    loss = PairwiseLoss(bump, bump_slope, bump_curvature, hessian="global")
    assert loss.summation == "linear"
    rng = np.random.default_rng(8)
    queries = bp.Queries(rng.integers(0, 5, 200), group=[200])
    scores = rng.normal(size=200)
    value, g, _ = loops.pairwise_loss(loss, scores, queries)
    found, _ = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(found, loss.scale(queries) * g, rtol=0, atol=1e-6 * np.abs(found).max())
    np.testing.assert_allclose(loss.value(scores, queries), value, rtol=1e-6)


def test_wrong_functions_are_refused():
    with pytest.raises(ValueError, match="first is not the derivative of function"):
        PairwiseLoss(softplus, lambda d: -softplus_slope(d), softplus_curvature)
    with pytest.raises(ValueError, match="second is not the derivative of first"):
        PairwiseLoss(softplus, softplus_slope, lambda d: 0.5 * softplus_curvature(d))
    with pytest.raises(ValueError, match="function must be finite"):
        PairwiseLoss(np.log, softplus_slope, softplus_curvature)
    with pytest.raises(ValueError, match="function must return one real number per difference"):
        PairwiseLoss(lambda d: 1.0, softplus_slope, softplus_curvature)
    with pytest.raises(ValueError, match="first must be a function"):
        PairwiseLoss(softplus, None, softplus_curvature)
    with pytest.raises(ValueError, match="bounded second derivative"):
        PairwiseLoss(lambda d: np.exp(-d), lambda d: -np.exp(-d), lambda d: np.exp(-d), hessian="global")
    with pytest.raises(ValueError, match="weight must be from 1e-100 to 1e\\+100"):
        build("logistic", weight=lambda high, low: low - high).value(np.zeros(2), bp.Queries([1, 0], group=[2]))


def rounded_hinge(d):
    return np.where(d < 1.5, np.where(d < 0.5, 1.0 - d, 0.5 * (1.5 - d) ** 2), 0.0)


def rounded_hinge_slope(d):
    return -np.clip(1.5 - d, 0.0, 1.0)


def rounded_hinge_curvature(d):
    return 1.0 * (np.abs(d - 1.0) <= 0.5)


HINGE = (lambda d: np.maximum(0.0, 1.0 - d), lambda d: -1.0 * (d < 1.0), np.zeros_like)
ROUNDED = (rounded_hinge, rounded_hinge_slope, rounded_hinge_curvature)


@pytest.mark.parametrize(
    ("functions", "hessian", "remedy"),
    [
        *(
            (HINGE, hessian, "round the corner, as .* or use QBRank, which")
            for hessian in ("newton", "bound", "global")
        ),
        ((np.negative, lambda d: -np.ones_like(d), np.zeros_like), "newton", "round the corner"),
        (ROUNDED, "newton", r"use hessian='global', which takes the bound 2 max\(second\)"),
        (ROUNDED, "bound", "use hessian='global'"),
    ],
)
def test_functions_on_whose_hessian_no_tree_is_grown_are_refused(functions, hessian, remedy):
    with pytest.raises(ValueError, match=f"^PairwiseLoss: second is 0 at 0, .* first is -1, .* constant; {remedy}"):
        PairwiseLoss(*functions, hessian=hessian)


def test_a_subclass_on_whose_hessian_no_tree_is_grown_is_refused():
    with pytest.raises(ValueError, match=r"^Flat: second is 0 at 0"):
        type("Flat", (LogCosh,), {"pair_function": PairFunction(*HINGE, largest_second=0.0)})()


@pytest.mark.filterwarnings("ignore:PairwiseLoss. the functions are too rough:UserWarning")
def test_a_flat_part_is_no_trouble_beside_a_bound():
    """No RankWarning of the fit of its tails, and no error of it."""
    loss, rng = PairwiseLoss(*ROUNDED, hessian="global"), np.random.default_rng(3)
    queries, scores = bp.Queries(rng.integers(0, 4, 90), group=[90]), rng.normal(size=90)
    _, g, _ = loops.pairwise_loss(loss, scores, queries)
    found, hessian = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(found, loss.scale(queries) * g, rtol=0, atol=1e-6 * np.abs(found).max())
    assert (hessian > 0.1).all()


@dataclass(frozen=True, kw_only=True)
class Shifted(LogCosh):
    """A property with a parameter, which makes new functions at each call."""

    shift: float = 0.5
    calls: ClassVar[list[float]] = []

    @property
    def pair_function(self):
        self.calls.append(self.shift)
        functions = (lambda d, f=f: f(d - self.shift) for f in (log_cosh.value, log_cosh.first, log_cosh.second))
        return PairFunction(*functions, largest_second=1.0)


def test_functions_made_for_a_parameter_are_sampled_once_a_loss():
    loss, queries = Shifted(), bp.Queries(np.arange(60) % 4, group=[60])
    Shifted.calls.clear()
    outputs = [(loss.value(np.zeros(60), queries), *loss.gradient_hessian(np.zeros(60), queries)) for _ in range(3)]
    assert not Shifted.calls
    for other in (loss, copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert other == loss
        for one, two in zip(outputs[0], (other.value(np.zeros(60), queries),
                                         *other.gradient_hessian(np.zeros(60), queries)), strict=True):  # fmt: skip
            np.testing.assert_array_equal(one, two)
    assert Shifted.calls == [0.5, 0.5]
    moved = loss.with_params(shift=2.0).gradient_hessian(np.zeros(60), queries)[0]
    assert not np.allclose(moved, outputs[0][1])
    testing.check_loss(loss)


def test_overflow_beyond_what_was_checked_names_the_difference():
    with pytest.warns(UserWarning, match="far from 0"):
        loss = PairwiseLoss(lambda d: np.exp(-d), lambda d: -np.exp(-d), lambda d: np.exp(-d))
    with pytest.raises(ValueError, match=r"first must be finite; first\(-2000\) = -inf"):
        loss.gradient_hessian([-1000.0, 1000.0], bp.Queries([1, 0], group=[2]))


def test_properties_hold():
    testing.check_loss(build("squared softplus", hessian="global", weight=gap_weight, normalization="rows"))
