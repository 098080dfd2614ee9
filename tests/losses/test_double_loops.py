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
from boostplug.testing import suited

KINDS = {
    "grades": lambda rng, n: rng.integers(0, 5, n),
    "real": lambda rng, n: 4.0 * rng.random(n),
    "real with ties": lambda rng, n: np.round(3.0 * rng.random(n), 1),
    "negative grades": lambda rng, n: rng.integers(-2, 3, n),
}
DISTANCES = [bp.BinaryDistance(), bp.LinearDistance(alpha=0.3), bp.LogDistance(), bp.LogisticDistance(), root_distance]
SHORT, MANY_GRADES, LONG = [7, 1, 0, 30, 3], [90, 2], [250]
SPREADS = (0.0, 1.0, 1000.0)
HESSIANS = ("bound", "global")


pytestmark = pytest.mark.filterwarnings("ignore:PairwiseLoss. the functions are too rough for a grid")


def pairwise_loss(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the squared hinge, as above
        return bp.PairwiseLoss(*FUNCTIONS[name], **options)


CALIBRATED = [
    bp.LogisticError(max_grade=4.0),
    *(bp.CalibratedSoftmax(list_weight=list_weight, max_grade=5.0) for list_weight in (0.0, 0.3, 1.0)),
]


# Losses, to which share of the largest derivative they equal the loop, the queries' sizes, and spreads of scores.
CASES = [
    *(
        (bp.MPBoost(distance=distance, hessian=hessian), 1e-9, [SHORT, MANY_GRADES], (0.0, 0.01, 1.0, 10.0))
        for i, distance in enumerate(DISTANCES)
        for hessian in (("newton", "gentle", "bound") if i == 2 else (("newton", "gentle", "bound", "newton")[i % 4],))
    ),
    *(
        (bp.QBRank(margin=margin, preference_weight=share, hessian=HESSIANS[(i + j) % 2]), 1e-9, [SHORT], SPREADS)
        for i, margin in enumerate(("grade", 0.3, 0.0))
        for j, share in enumerate((0.4, 1.0))
    ),
    (bp.QBRank(margin=0.3, normalization="documents"), 1e-9, [SHORT, MANY_GRADES], SPREADS),
    *((bp.NDCGBoost(hessian=hessian), 2e-7, [SHORT, LONG], SPREADS) for hessian in ("newton", "bound", "global")),
    *((bp.NDCGBoost(gain=gain), 2e-7, [SHORT, [150]], (1.0,)) for gain in ("linear", np.square, np.sign)),
    (bp.RankNet(), 5e-7, [SHORT, LONG], SPREADS),
    (bp.RankNet(sigmoid=2.0), 5e-7, [SHORT], SPREADS),
    *((pairwise_loss(name), 5e-7, [[3, 7, 60]], SPREADS) for name in FUNCTIONS),
    *(
        (pairwise_loss(name, weight=np.subtract, hessian="bound"), 5e-7, [[4, 60]], (1.0,))
        for name in ("logistic", "squared hinge")
    ),
    *(
        (bp.LambdaRank(metric=metric), 1e-9, [[7, 1, 0, 23, 31]], SPREADS)
        for metric in (
            bp.NDCG(10),
            bp.NDCG(None, gain="linear"),
            bp.NDCG(8, convention="letor"),
            bp.MAP(),
            bp.MAP(5, 2),
        )
    ),
    *(
        (bp.LambdaRank(metric=metric, truncation=6, norm=norm, sigmoid=0.5), 1e-9, [[7, 1, 0, 23, 40]], SPREADS)
        for metric in (bp.NDCG(30), bp.MAP(4))
        for norm in (False, True)
    ),
    (bp.ListNet(), 1e-9, [[9, 1, 0, 2, 40]], (0.0, 1.0, 5.0)),
    (bp.ListNet(target="labels"), 1e-9, [[9, 1, 0, 2, 40]], (0.0, 1.0, 5.0)),
    *((bp.SquaredError(centred=centred), 1e-11, [[9, 1, 0, 4, 30]], SPREADS) for centred in (False, True)),
    *((loss, 1e-9, [[9, 1, 0, 4, 30]], (0.0, 1.0, 5.0)) for loss in CALIBRATED),
    *((bp.Correlation(epsilon=epsilon), 1e-9, [[9, 1, 0, 4, 30]], SPREADS) for epsilon in (1.0, 1e-3)),
]


# The kinds of labels take turns.
@pytest.mark.parametrize(
    ("loss", "accuracy", "groups", "spreads", "kind"),
    [(*case, [*KINDS][i % 4]) for i, case in enumerate(CASES)],
)
def test_equals_the_double_loop(loss, accuracy, groups, spreads, kind):
    if kind == "negative grades" and isinstance(
        loss, (bp.NDCGBoost, bp.LambdaRank, bp.LogisticError, bp.CalibratedSoftmax)
    ):
        kind = "grades"
    rng = np.random.default_rng(1)
    for group in groups:
        n = sum(group)
        labels = KINDS[kind](rng, n)
        for spread in spreads if n < 120 else (1.0,):
            scores = spread * rng.normal(size=n)
            loops.assert_equal(loss, scores, suited(loss, bp.Queries(labels, group=group)), accuracy)
        ties = np.round(2.0 * rng.normal(size=n), 1)
        loops.assert_equal(loss, ties, suited(loss, bp.Queries(labels, group=group)), accuracy)


@pytest.mark.parametrize(
    ("loss", "accuracy", "groups", "_", "kind"), [(*case, ("grades", "real")[i % 2]) for i, case in enumerate(CASES)]
)
def test_equals_the_double_loop_with_weights_and_unlabelled_rows(loss, accuracy, groups, _, kind):
    rng = np.random.default_rng(2)
    for group in [group for group in groups if sum(group) < 200]:
        n = sum(group)
        weights = (None, rng.random(n) * (rng.random(n) < 0.8), rng.random(len(group)))
        for weight, normalization in zip(weights, ("none", "rows", "query"), strict=True):
            queries = bp.Queries(KINDS[kind](rng, n), group=group, weight=weight, labelled=rng.random(n) < 0.8)
            one = replace(loss, normalization=normalization) if hasattr(loss, "normalization") else loss
            loops.assert_equal(one, rng.normal(size=n), suited(one, queries), accuracy)


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
