"""Losses over several machines: each part's gradients are those of the whole, with two questions to all at most."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

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
    *(bp.AdaRank(base=base) for base in (bp.MPBoost(), bp.QBRank(), bp.RankNet(normalization="query"))),
    bp.AdaRank(metric=bp.DCG(5, gain=steep_gain), base=bp.MPBoost()),
    bp.AdaRank(metric=bp.DCG(1, gain=far_gain)),
    *(bp.MPBoost(hessian=hessian, normalization="rows") for hessian in ("gentle", "bound")),
    bp.NDCGBoost(hessian="global"),
    bp.PairwiseLoss(softplus, slope, curvature, normalization="rows"),
    bp.QBRank(preference_weight=0.0),
    2 * bp.MPBoost() + 0.5 * bp.MPBoost(distance=bp.LinearDistance()) + bp.NDCGBoost(),
    0.5 * bp.AdaRank(base=bp.MPBoost()) + bp.AdaRank(metric=bp.DCG(1, gain=far_gain)) + 1e-3 * bp.QBRank(),
    bp.AdaRank(base=bp.MPBoost() + 0.3 * bp.QBRank(preference_weight=0.0)),
]


class Half:
    """One of two machines in threads of their own: what one says, the other waits for."""

    def __init__(self, said, meet, place):
        self.said, self.meet, self.place, self.asked = said, meet, place, []

    def _both(self, value):
        self.said[self.place] = value
        self.meet.wait()
        both = list(self.said)
        self.meet.wait()
        return both

    def gather(self, values):
        self.asked.append("gather")
        return np.array(self._both(values))

    def largest(self, value):
        self.asked.append("largest")
        return max(self._both(value))


def on_two_machines(loss, parts):
    """Return gradient and Hessian of (scores, queries) of two machines, and what each machine asked."""
    meet, said = Barrier(2, timeout=20), [None, None]  # one that fails lets the other run into the timeout
    halves = [Half(said, meet, place) for place in range(2)]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(loss.gradient_hessian, *part, totals=half) for part, half in zip(parts, halves, strict=True)
        ]
        found = [job.result() for job in jobs]
    return np.concatenate(found, axis=1), [half.asked for half in halves]


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
    found, asked = on_two_machines(loss, halves)
    expected = loss.gradient_hessian(scores, whole)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * np.abs(other).max())
    assert asked[0] == asked[1]  # or the job would hang
    assert asked[0] in (["gather"], ["gather", "largest"])


def test_a_machine_alone_would_get_others():
    scores, whole, halves = problem("plain")
    for loss in (bp.MPBoost(), bp.NDCGBoost(), bp.RankNet(), bp.AdaRank()):
        alone = np.concatenate([loss.gradient_hessian(*half)[0] for half in halves])
        expected = loss.gradient_hessian(scores, whole)[0]
        assert np.abs(alone - expected).max() > 0.01 * np.abs(expected).max()


@pytest.mark.parametrize(
    "loss",
    [bp.NDCGBoost(hessian="global"), bp.PairwiseLoss(softplus, slope, curvature, hessian="global")],
    ids=["NDCGBoost", "PairwiseLoss"],
)
def test_a_global_hessian_has_the_scale_of_each_call(loss):
    class Other(Half):
        """The sums of one machine and of another, which has other numbers of rows and of pairs."""

        def gather(self, values):
            return np.array([values, [5.0, 1.0] * values])

    queries, scores = bp.Queries([2, 1, 0, 0, 1], group=[3, 2]), np.array([0.5, 0.0, 1.0, 0.0, 2.0])
    gradient, hessian = loss.gradient_hessian(scores, queries)
    theirs = loss.gradient_hessian(scores, queries, totals=Other(None, None, 0))
    np.testing.assert_allclose(theirs[0], 3.0 * gradient, rtol=1e-9)
    np.testing.assert_allclose(theirs[1], 3.0 * hessian, rtol=1e-9)
