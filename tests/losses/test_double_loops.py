"""Every loss equals the plain double loop straight from its equations, and the loops are the derivatives they claim."""

import tracemalloc
import warnings
from dataclasses import replace

import loops
import numpy as np
import pytest
from losses.functions import FUNCTIONS, root_distance

import boostplug as bp
from boostplug.core.threads import forced_threads
from boostplug.losses import LOSSES
from boostplug.losses.base.smooth_pair_loss import SmoothPairLoss
from boostplug.testing import suited

KINDS = {
    "grades": lambda rng, n: rng.integers(0, 5, n),
    "real": lambda rng, n: 4.0 * rng.random(n),
    "real with ties": lambda rng, n: np.round(3.0 * rng.random(n), 1),
    "negative grades": lambda rng, n: rng.integers(-2, 3, n),
}
DISTANCES = [bp.BinaryDistance(), bp.LinearDistance(alpha=0.3), bp.LogDistance(), bp.LogisticDistance(), root_distance]
SHORT, MANY_GRADES, LONG = [7, 1, 0, 30, 3], [90, 2], [250]


def tied(rng, n):
    return np.round(2.0 * rng.normal(size=n), 1)


pytestmark = pytest.mark.filterwarnings("ignore:PairwiseLoss. the functions are too rough for a grid")


def pairwise_loss(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        return bp.PairwiseLoss(*FUNCTIONS[name], **options)


CASES = [
    *(
        bp.MPBoost(distance=distance, hessian=hessian)
        for i, distance in enumerate(DISTANCES)
        for hessian in (("newton", "gentle", "bound") if i == 2 else (("newton", "gentle", "bound", "newton")[i % 4],))
    ),
    *(
        bp.QBRank(margin=margin, preference_weight=share, hessian=("bound", "global")[(i + j) % 2])
        for i, margin in enumerate(("grade", 0.3, 0.0))
        for j, share in enumerate((0.4, 1.0))
    ),
    bp.QBRank(margin=0.3, normalization="documents"),
    *(bp.NDCGBoost(hessian=hessian) for hessian in ("newton", "bound", "global")),
    *(bp.NDCGBoost(gain=gain) for gain in ("linear", np.square, np.sign)),
    *(bp.RankNet(sigmoid=sigmoid) for sigmoid in (1.0, 2.0)),
    *(pairwise_loss(name) for name in FUNCTIONS),
    *(pairwise_loss(name, weight=np.subtract, hessian="bound") for name in ("logistic", "squared hinge")),
    bp.LambdaRank(metric=bp.NDCG(None, gain="linear")),
    *(bp.LambdaRank(metric=metric) for metric in (bp.NDCG(10), bp.NDCG(8, convention="letor"), bp.MAP(), bp.MAP(5, 2))),
    *(
        bp.LambdaRank(metric=metric, truncation=6, norm=norm, sigmoid=0.5)
        for metric in (bp.NDCG(30), bp.MAP(4))
        for norm in (False, True)
    ),
    *(bp.ListNet(target=target) for target in ("softmax", "labels")),
    *(bp.SquaredError(centred=centred) for centred in (False, True)),
    bp.LogisticError(max_grade=4.0),
    *(bp.CalibratedSoftmax(list_weight=list_weight, max_grade=5.0) for list_weight in (0.0, 0.3, 1.0)),
    *(bp.Correlation(epsilon=epsilon) for epsilon in (1.0, 1e-3)),
]


# The kinds of labels take turns.
@pytest.mark.parametrize(
    ("loss", "kind"),
    [(loss, [*KINDS][i % (3 if isinstance(loss, bp.NDCGBoost) else 4)]) for i, loss in enumerate(CASES)],
)
def test_equals_the_double_loop(loss, kind):
    """At scores near and far, with ties, and with weights, unlabelled rows and each normalization."""
    rng, smooth = np.random.default_rng(1), isinstance(loss, SmoothPairLoss)
    spreads = (0.0, 0.01, 1.0, 10.0) if isinstance(loss, bp.MPBoost) else (0.0, 1.0, 5.0)
    far = () if isinstance(loss, (bp.MPBoost, bp.ListNet, bp.LogisticError, bp.CalibratedSoftmax)) else (1000.0,)
    for group in (SHORT, MANY_GRADES, LONG) if isinstance(loss, (bp.NDCGBoost, bp.RankNet)) else (SHORT, MANY_GRADES):
        n = sum(group)
        labels = KINDS[kind](rng, n)
        weights = (None, rng.random(n) * (rng.random(n) < 0.8), rng.random(len(group)))
        for scores in (*(spread * rng.normal(size=n) for spread in (*spreads, *far)), tied(rng, n)):
            loops.assert_equal(loss, scores, suited(loss, bp.Queries(labels, group=group)), 5e-7 if smooth else 1e-9)
        for weight, normalization in zip(weights, ("none", "rows", "query"), strict=True):
            one = replace(loss, normalization=normalization) if hasattr(loss, "normalization") else loss
            queries = suited(one, bp.Queries(labels, group=group, weight=weight, labelled=rng.random(n) < 0.8))
            loops.assert_equal(one, rng.normal(size=n), queries, 5e-7 if smooth else 1e-9)


# Scores that follow the grades, in the right order or in the wrong one, near or far: most terms are tiny, and right
# beside the largest.
FAR = [
    *((bp.MPBoost(distance=distance), 1e-9, [*KINDS][i % 4]) for i, distance in enumerate(DISTANCES)),
    (bp.NDCGBoost(), 2e-7, "rare"),
    (bp.RankNet(), 5e-7, "rare"),
]


@pytest.mark.parametrize(("loss", "accuracy", "kind"), FAR)
def test_equals_the_double_loop_whatever_the_scores_follow(loss, accuracy, kind):
    rng = np.random.default_rng(2)
    for group in ([40], [350]) if kind == "rare" else (SHORT, MANY_GRADES):
        n = sum(group)
        labels = rng.choice(4, n, p=[0.6, 0.3, 0.05, 0.05]) if kind == "rare" else KINDS[kind](rng, n)
        queries = bp.Queries(labels, group=group)
        for step in (-30.0, -7.0, 3.0, 6.0, 40.0, 200.0):
            loops.assert_equal(loss, step * labels + 0.1 * rng.normal(size=n), queries, accuracy)


@pytest.mark.parametrize("size", [30.0, 1e13, 1e100])
@pytest.mark.parametrize("distance", [bp.BinaryDistance(), bp.LinearDistance(alpha=50.0), bp.LogDistance(), np.sqrt])
def test_mpboost_at_wide_scores_equals_the_double_loop(distance, size):
    rng, loss = np.random.default_rng(0), bp.MPBoost(distance=distance)
    for group, labels in (([12, 40, 350], rng.integers(0, 4, 402)), ([12, 40], rng.normal(size=52))):
        n = sum(group)
        scores = size * rng.choice([-1.0, 0.0, 0.7, 1.0], n) + (size < 1e50) * rng.normal(size=n)
        queries = bp.Queries(labels, group=group, weight=rng.random(n) + 0.1)
        gradient, hessian = loss.gradient_hessian(scores, queries)
        assert (hessian[gradient != 0] > 0).all()
        assert np.isfinite(hessian.astype(np.float32)).all()
        loops.assert_equal(loss, scores, queries)


@pytest.mark.parametrize("kind", ["grades", "real"])
def test_bit_equal_for_any_number_of_threads(kind):
    rng = np.random.default_rng(3)
    group = np.r_[rng.integers(1, 60, 600), 700]
    n = int(group.sum())
    queries = bp.Queries(KINDS[kind](rng, n), group=group, weight=rng.random(n))
    scores = np.round(rng.normal(size=n), 2)
    losses = [*(variants[0] for variants in LOSSES.values()), *(bp.MPBoost(distance=d) for d in DISTANCES)]
    for loss in [*losses, *(pairwise_loss(name, weight=np.subtract) for name in ("logistic", "pseudo-Huber"))]:
        found = []
        for n_threads in (1, 5):
            with forced_threads(n_threads):
                found.append(loss.gradient_hessian(scores, suited(loss, queries)))
        np.testing.assert_array_equal(found[0], found[1], err_msg=repr(loss))


LONG_LISTS = [
    *((variants[0], "grades") for variants in LOSSES.values()),
    (bp.QBRank(preference_weight=1.0), "real"),
    (bp.NDCGBoost(), "real"),
    (pairwise_loss("squared softplus"), "real"),
]


@pytest.mark.parametrize(("loss", "labels"), LONG_LISTS)
def test_a_long_list_takes_memory_of_its_length(loss, labels):
    rng = np.random.default_rng(4)
    n = 20_000
    queries, scores = suited(loss, bp.Queries(KINDS[labels](rng, n), group=[n])), rng.normal(size=n)
    loss.gradient_hessian(scores, queries)  # compiles, and keeps what belongs to the queries
    tracemalloc.start()
    g, h = loss.gradient_hessian(scores, queries)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e7  # bytes; a matrix of pairs would take 3e9
    assert not loss.traits.shift_invariant or abs(g.sum()) <= 1e-6 * np.abs(g).sum()
    assert (h[g != 0] > 0).all()
