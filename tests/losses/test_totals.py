"""Losses over several machines: with the totals of all machines, each part's gradients are those of the whole."""

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
KINDS = [
    "plain", "weights", "weights of two sizes", "far out", "one half far out", "nothing in one half",
    "no rows in one half",
]  # fmt: skip


def problem(kind):
    """Return scores, queries and which rows are the first machine's; the other has other lists, grades and scores."""
    rng = np.random.default_rng(0)
    group = np.r_[rng.integers(1, 9, 12), rng.integers(30, 60, 4)]
    n = group.sum()
    first = np.arange(n) < group[:12].sum()
    labels = np.where(first, rng.integers(0, 2, n), rng.integers(0, 5, n))
    scores, weight = rng.normal(size=n), rng.random(n) + 0.5
    if kind == "one half far out":  # past float64's range in one half alone
        scores[~first] *= 1000.0
    elif kind == "weights of two sizes":  # each half has another unit of them
        weight *= np.where(first, 1e-12, 1e5)
    elif kind == "far out":
        scores *= 30.0
    elif kind == "nothing in one half":
        labels[first] = 1.0
    queries = bp.Queries(labels, group=group, weight=weight if "weights" in kind else None)
    return scores, queries, first & (kind != "no rows in one half")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES_TO_TRY)
def test_halves_get_the_gradients_of_the_whole(loss, kind):
    scores, queries, first = problem(kind)
    queries = suited(loss, queries)
    halves = [(scores[rows], queries.of_rows(rows, keep_empty=False)) for rows in (first, ~first)]
    totals = sum(loss.totals(*half) for half in halves)
    assert totals.shape == (loss.traits.n_totals,)
    found = np.concatenate([loss.gradient_hessian(*half, totals=totals) for half in halves], axis=1)
    for one, other in zip(found, loss.gradient_hessian(scores, queries), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * np.abs(other).max())
