"""Losses over several machines: with the sums of all machines, each part's gradients are those of the whole."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.losses import LOSSES
from boostplug.losses.base.logistic import curvature, slope, softplus
from boostplug.testing import suited


def steep_gain(grade):
    """Gain by which DCG is so large that e^-DCG is 0 in float64."""
    return 1e3 * (1.0 + grade)


def far_gain(grade):
    """Gain by which e^-DCG leaves float64 on every machine, and their ratios do not."""
    return 400.0 + grade


LOSSES_TO_TRY = [
    *(loss for variants in LOSSES.values() for loss in variants),
    bp.AdaRank(base=bp.MPBoost()),
    bp.AdaRank(metric=bp.DCG(5, gain=steep_gain), base=bp.MPBoost()),
    bp.AdaRank(metric=bp.DCG(1, gain=far_gain)),
    bp.MPBoost(hessian="bound", normalization="rows"),
    bp.NDCGBoost(hessian="global"),
    bp.PairwiseLoss(softplus, slope, curvature, normalization="rows"),
    0.5 * bp.AdaRank(base=bp.MPBoost()) + bp.AdaRank(metric=bp.DCG(1, gain=far_gain)) + 1e-3 * bp.QBRank(),
]


def on_two_machines(loss, halves):
    """Return gradient and Hessian of (scores, queries) of two machines, with the sums of both."""
    sums = np.sum([loss.totals(*half) for half in halves], axis=0)
    assert sums.shape == (loss.traits.n_totals,)
    return np.concatenate([loss.gradient_hessian(*half, totals=sums) for half in halves], axis=1)


def problem(kind):
    """Return (scores, queries) of the whole, and of each half: the second has other lists, grades and scores."""
    rng = np.random.default_rng(0)
    group = np.r_[rng.integers(1, 9, 12), rng.integers(30, 60, 4)]
    first = int(group[:12].sum())
    n = int(group.sum())
    labels = np.r_[rng.integers(0, 2, first), rng.integers(0, 5, n - first)].astype(float)
    scores = rng.normal(size=n)
    weight = rng.random(n) + 0.5 if "weights" in kind else None
    if kind == "one half far out":  # past float64's range in one half alone
        scores[first:] *= 1000.0
    elif kind == "weights of two sizes":  # each half has another unit of them
        weight[:first] *= 1e-12
        weight[first:] *= 1e5
    elif kind == "far out":
        scores *= 30.0
    elif kind == "nothing in one half":
        labels[:first] = 1.0
    whole = bp.Queries(labels, group=group, weight=weight)
    cuts = [(slice(0, first), group[:12]), (slice(first, n), group[12:])]
    if kind == "no rows in one half":
        cuts = [(slice(0, 0), group[:0]), (slice(0, n), group)]
    halves = [
        (scores[rows], bp.Queries(labels[rows], group=sizes, weight=None if weight is None else weight[rows]))
        for rows, sizes in cuts
    ]
    return scores, whole, halves


KINDS = [
    "plain",
    "weights",
    "weights of two sizes",
    "far out",
    "one half far out",
    "nothing in one half",
    "no rows in one half",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES_TO_TRY)
def test_halves_get_the_gradients_of_the_whole(loss, kind):
    scores, whole, halves = problem(kind)
    whole, halves = suited(loss, whole), [(own, suited(loss, half)) for own, half in halves]
    found = on_two_machines(loss, halves)
    expected = loss.gradient_hessian(scores, whole)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * np.abs(other).max())
