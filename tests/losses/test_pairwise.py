"""PairwiseLoss and RankNet: arithmetic, what becomes of functions of every kind; `test_double_loops` has the loops."""

import copy
import math
import pickle
from dataclasses import dataclass
from typing import ClassVar

import loops
import numpy as np
import pytest
from losses import log_cosh
from losses.functions import FUNCTIONS, softplus, softplus_curvature, softplus_slope

import boostplug as bp
from boostplug import PairwiseLoss, RankNet, testing
from boostplug.losses.base.pair_loss import PairFunction

LOGISTIC = FUNCTIONS["logistic"]
HINGE = (lambda d: np.maximum(0.0, 1.0 - d), lambda d: -1.0 * (d < 1.0), np.zeros_like)
ROUNDED_HINGE = (
    lambda d: np.where(d < 1.5, np.where(d < 0.5, 1.0 - d, 0.5 * (1.5 - d) ** 2), 0.0),
    lambda d: -np.clip(1.5 - d, 0.0, 1.0),
    lambda d: 1.0 * (np.abs(d - 1.0) <= 0.5),
)
BUMP = (
    lambda d: np.exp(-(d**2)),
    lambda d: -2.0 * d * np.exp(-(d**2)),
    lambda d: (4.0 * d**2 - 2.0) * np.exp(-(d**2)),
)
FALLING = (lambda d: np.exp(-d), lambda d: -np.exp(-d), lambda d: np.exp(-d))


def test_ranknet_as_arithmetic():
    queries, loss, d = bp.Queries([2, 0], group=[2]), RankNet(sigmoid=0.5), 0.5 - 0.1
    assert loss.value([0.5, 0.1], queries) == pytest.approx([math.log(1 + math.exp(-0.5 * d))])
    g, h = loss.gradient_hessian([0.5, 0.1], queries)
    sigma = 1 / (1 + math.exp(0.5 * d))
    assert g == pytest.approx([-2 * 0.5 * sigma, 2 * 0.5 * sigma])  # scale: 2 documents, 1 pair
    assert h == pytest.approx([2 * 0.25 * sigma * (1 - sigma)] * 2)


def test_global_hessian_is_the_largest_curvature_times_two():
    rng = np.random.default_rng(7)
    queries = bp.Queries([2, 1, 0, *rng.integers(0, 3, 60)], group=[3, 60])
    for weight, of_pairs in ((None, [2, 2, 2]), (np.subtract, [3, 2, 3])):
        loss = PairwiseLoss(*LOGISTIC, hessian="global", weight=weight)
        _, h = loss.gradient_hessian(np.zeros(63), queries)
        assert h[:3] == pytest.approx(np.array(of_pairs) * 2 * 0.25 * loss.scale(queries), rel=2e-3)


def test_what_becomes_of_each_function():
    sharp = [lambda d, k=k, f=f: 20.0**k * f(20 * d) for k, f in enumerate(LOGISTIC)]
    for functions in (LOGISTIC, FUNCTIONS["squared softplus"], FUNCTIONS["squares"], sharp):
        assert PairwiseLoss(*functions).summation == "linear"
    assert PairwiseLoss(*LOGISTIC, weight=np.subtract).summation == "pairs"
    for name in ("squared hinge", "pseudo-Huber"):  # no running sum follows the tail of the second, 1/d²
        with pytest.warns(UserWarning, match="too rough for a grid"):
            assert PairwiseLoss(*FUNCTIONS[name]).summation == "pairs"


@pytest.mark.filterwarnings("ignore:PairwiseLoss. the functions are too rough:UserWarning")
@pytest.mark.parametrize("functions", [BUMP, ROUNDED_HINGE], ids=["not convex", "flat in part"])
def test_the_global_hessian_serves_functions_that_have_no_other(functions):
    """No RankWarning of the fit of its tails comes with a flat part, and no error of it."""
    if functions is BUMP:
        with pytest.raises(ValueError, match=r"needs second ≥ 0, and it falls to -2; use hessian='global'"):
            PairwiseLoss(*functions)
    loss, rng = PairwiseLoss(*functions, hessian="global"), np.random.default_rng(8)
    assert loss.summation == ("linear" if functions is BUMP else "pairs")
    queries, scores = bp.Queries(rng.integers(0, 5, 200), group=[200]), rng.normal(size=200)
    value, g, _ = loops.pairwise_loss(loss, scores, queries)
    found, hessian = loss.gradient_hessian(scores, queries)
    np.testing.assert_allclose(found, loss.scale(queries) * g, rtol=0, atol=1e-6 * np.abs(found).max())
    np.testing.assert_allclose(loss.value(scores, queries), value, rtol=1e-6)
    assert (hessian > 0.1).all()


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ((softplus, lambda d: -softplus_slope(d), softplus_curvature), "first is not the derivative of function"),
        ((softplus, softplus_slope, lambda d: 0.5 * softplus_curvature(d)), "second is not the derivative of first"),
        ((np.log, softplus_slope, softplus_curvature), "function must be finite"),
        ((lambda d: 1.0, softplus_slope, softplus_curvature), "function must return one real number per difference"),
        ((softplus, None, softplus_curvature), "first must be a function"),
    ],
)
def test_wrong_functions_are_refused(functions, message):
    with pytest.raises(ValueError, match=message):
        PairwiseLoss(*functions)


def test_unbounded_curvature_wrong_weights_and_overflow_are_refused():
    with pytest.raises(ValueError, match="bounded second derivative"):
        PairwiseLoss(*FALLING, hessian="global")
    with pytest.warns(UserWarning, match="far from 0"):
        loss = PairwiseLoss(*FALLING)
    queries = bp.Queries([1, 0], group=[2])
    with pytest.raises(ValueError, match=r"first must be finite; first\(-2000\) = -inf"):
        loss.gradient_hessian([-1000.0, 1000.0], queries)
    with pytest.raises(ValueError, match="weight must be from 1e-100 to 1e\\+100"):
        PairwiseLoss(*LOGISTIC, weight=lambda high, low: low - high).value(np.zeros(2), queries)


@pytest.mark.parametrize(
    ("functions", "hessian", "remedy"),
    [
        *(
            (HINGE, hessian, "round the corner, as .* or use QBRank, which")
            for hessian in ("newton", "bound", "global")
        ),
        ((np.negative, lambda d: -np.ones_like(d), np.zeros_like), "newton", "round the corner"),
        (ROUNDED_HINGE, "newton", r"use hessian='global', which takes the bound 2 max\(second\)"),
        (ROUNDED_HINGE, "bound", "use hessian='global'"),
    ],
)
def test_functions_on_whose_hessian_no_tree_is_grown_are_refused(functions, hessian, remedy):
    with pytest.raises(ValueError, match=f"^PairwiseLoss: second is 0 at 0, .* first is -1, .* constant; {remedy}"):
        PairwiseLoss(*functions, hessian=hessian)
    flat = type("Flat", (log_cosh.LogCosh,), {"pair_function": PairFunction(*HINGE, largest_second=0.0)})
    with pytest.raises(ValueError, match=r"^Flat: second is 0 at 0"):
        flat()


@dataclass(frozen=True, kw_only=True)
class Shifted(log_cosh.LogCosh):
    """A property with a parameter, which makes new functions at each call."""

    shift: float = 0.5
    calls: ClassVar[list[float]] = []

    @property
    def pair_function(self):
        self.calls.append(self.shift)
        functions = (lambda d, f=f: f(d - self.shift) for f in (log_cosh.value, log_cosh.first, log_cosh.second))
        return PairFunction(*functions, largest_second=1.0)


def test_functions_made_for_a_parameter_are_sampled_once_a_loss():
    def outputs(loss):
        return np.r_[loss.value(np.zeros(60), queries), *loss.gradient_hessian(np.zeros(60), queries)]

    loss, queries = Shifted(), bp.Queries(np.arange(60) % 4, group=[60])
    Shifted.calls.clear()
    expected, again = outputs(loss), outputs(loss)
    assert not Shifted.calls
    np.testing.assert_array_equal(again, expected)
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert other == loss
        np.testing.assert_array_equal(outputs(other), expected)
    assert Shifted.calls == [0.5, 0.5]
    assert not np.allclose(outputs(loss.with_params(shift=2.0)), expected)
    testing.check_loss(loss)
