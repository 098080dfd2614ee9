"""QBRank against plain sums, at and off its kinks, and squared error tree for tree."""

import math

import loops
import numpy as np
import pytest

import boostplug as bp
from boostplug import QBRank

NORMALIZATIONS = ["none", "rows", "query", "documents"]


def assert_equals(loss, scores, queries):
    """Compare with the loop: gradients and values to 1e-9, Hessians to 1e-12 of themselves."""
    loops.assert_equal(loss, scores, queries)
    hessian = loss.gradient_hessian(scores, queries)[1] / loss.scale(queries)
    np.testing.assert_allclose(hessian, loops.qbrank(loss, scores, queries)[2], rtol=1e-12)


LONG_LISTS = {
    "grades, at kinks": lambda rng, x: (rng.integers(0, 5, len(x)), np.round(2 * x)),
    "negative grades, far from 0, tied": lambda rng, x: (rng.integers(-2, 3, len(x)), 1e6 + np.round(x, 1)),
    "real": lambda rng, x: (rng.normal(size=len(x)), x),
    "tenths, at kinks that round": lambda rng, x: (rng.integers(-20, 20, len(x)) / 10, np.round(x, 1)),
    "two grades, nearly right": lambda rng, x: (rng.integers(0, 2, len(x)), 1e-3 * x),  # beside twice the grade
    "rare grades, ±1000": lambda rng, x: (np.where(rng.random(len(x)) < 0.97, 2, rng.integers(0, 5, len(x))),
                                          1000 * np.sign(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG_LISTS)
def test_long_lists_are_sorted_to_the_same_sums(name):
    rng = np.random.default_rng(3)
    group = [512, 3, 513, 1500]  # around the length from which lists are cut, and some cuts
    y, f = LONG_LISTS[name](rng, rng.normal(size=sum(group)))
    if name == "two grades, nearly right":
        f = f + 2 * y
    weight = np.where(rng.random(len(y)) < 0.9, 2 * rng.random(len(y)), 0.0)
    assert_equals(QBRank(preference_weight=1.0), f, bp.Queries(y, group=group))
    assert_equals(QBRank(margin=0.3, hessian="global"), f, bp.Queries(y, group=group, weight=weight))


@pytest.mark.parametrize("group", [[90], [1500]], ids=["short", "long"])
def test_small_losses_between_clusters_far_apart_keep_their_digits(group):
    """Nothing cancels: sums over z of a million would leave no digit of losses of 1e-6."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 6, sum(group))
    f = 1e6 * (y // 2) + y - 1e-6 * rng.random(len(y)) * (y % 2)  # grades 1, 3, 5 just miss 0, 2, 4
    loss, queries = QBRank(preference_weight=1.0), bp.Queries(y, group=group)
    assert 0 < np.abs(loops.qbrank(loss, f, queries)[1]).max() < 1e-2
    assert_equals(loss, f, queries)


def test_a_pair_at_its_margin_is_not_active():
    for margin, labels in (("grade", [3, 1]), (2.0, [1, 0])):
        for f, active in (([2.0, 0.0], False), ([np.nextafter(2.0, 0.0), 0.0], True)):
            g, h = QBRank(margin=margin, preference_weight=1.0).gradient_hessian(f, bp.Queries(labels, group=[2]))
            assert (g != 0).tolist() == [active, active]
            assert h.tolist() == [4.0 * active, 4.0 * active]  # scale 2: two documents, one pair
    # .3 - .2 < .1 in float64: the pair is active, whatever (.2 + .1) - .3 says.
    g, _ = QBRank(margin=0.1, preference_weight=1.0).gradient_hessian([0.3, 0.2], bp.Queries([1, 0], group=[2]))
    assert (0.3 - 0.2 < 0.1) == bool(g.any())


def test_formulas_as_arithmetic():
    queries = bp.Queries([3, 1], group=[2], weight=[4.0, 9.0])
    f, w, v = [0.5, 0.7], 0.25, math.sqrt(4.0 * 9.0)
    short = (3 - 1) - (0.5 - 0.7)
    scale = (w * 2 + (1 - w) * 2) / (w * v + (1 - w) * (4 + 9))  # 2 documents in the pair of weight v, and 2 labels
    value = w * v / 2 * short**2 + (1 - w) / 2 * (4 * (3 - 0.5) ** 2 + 9 * (1 - 0.7) ** 2)
    slopes = [-w * v * short - (1 - w) * 4 * (3 - 0.5), w * v * short - (1 - w) * 9 * (1 - 0.7)]
    loss = QBRank(preference_weight=w, normalization="none")
    assert loss.scale(queries) == pytest.approx(scale)
    assert loss.value(f, queries) == pytest.approx([value])
    g, h = loss.gradient_hessian(f, queries)
    assert g == pytest.approx([scale * x for x in slopes])
    assert h == pytest.approx([scale * (2 * w * v + (1 - w) * 4), scale * (2 * w * v + (1 - w) * 9)])

    targets = [-slopes[0] / (w * v + (1 - w) * 4), -slopes[1] / (w * v + (1 - w) * 9)]
    g, h = QBRank(preference_weight=w, normalization="documents").gradient_hessian(f, queries)
    scale = 2 / (4 + 9)
    assert g == pytest.approx([-4 * scale * targets[0], -9 * scale * targets[1]])
    assert h == pytest.approx([4 * scale, 9 * scale])


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_labels_teach_where_there_is_no_pair(normalization):
    queries = bp.Queries([2, 2, 1, 0], group=[2, 2], labelled=[True, True, True, False])
    g, h = QBRank(normalization=normalization).gradient_hessian(np.zeros(4), queries)
    assert (g == [-2 * h[0], -2 * h[0], -h[0], 0]).all()
    assert h[0] > 0
    assert h[3] == 0
    assert not np.any(QBRank(preference_weight=1.0, normalization=normalization).gradient_hessian(np.zeros(4), queries))


@pytest.mark.parametrize(
    "options", [{}, {"margin": 1.0}, {"hessian": "global"}, *({"normalization": x} for x in NORMALIZATIONS)]
)
def test_preference_weight_0_is_squared_error(options):
    rng, loss = np.random.default_rng(7), QBRank(preference_weight=0.0, **options)
    y, f, v = rng.normal(size=71), rng.normal(size=71), rng.random(71)
    queries = bp.Queries(y, group=[30, 1, 0, 40])
    np.testing.assert_array_equal(loss.gradient_hessian(f, queries), (f - y, np.ones(71)))
    assert loss.scale(queries) == 1.0
    queries = queries.replaced(weight=v)
    expected = (f - y) * v / v.mean(), v / v.mean()
    np.testing.assert_allclose(loss.gradient_hessian(f, queries), expected, rtol=1e-12)
    assert loss.scale(queries) == pytest.approx(1.0 / v.mean())
