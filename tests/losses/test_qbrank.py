"""QBRank against plain sums, at and off its kinks, and squared error tree for tree."""

import math

import loops
import numpy as np
import pytest

import boostplug as bp
from boostplug import testing
from boostplug.losses.qbrank import QBRank

LABELS = {
    "grades": lambda rng, n: rng.integers(0, 5, n),
    "negative grades": lambda rng, n: rng.integers(-2, 3, n),
    "real": lambda rng, n: rng.normal(size=n),
    "tenths": lambda rng, n: rng.integers(-20, 20, n) / 10,
    "two grades": lambda rng, n: rng.integers(0, 2, n),
    "rare grades": lambda rng, n: np.where(rng.random(n) < 0.97, 2, rng.integers(0, 5, n)),
}
SCORES = {
    "normal": lambda rng, labels: rng.normal(size=len(labels)),
    "all equal": lambda rng, labels: np.zeros(len(labels)),
    "integers: kinks": lambda rng, labels: np.round(2 * rng.normal(size=len(labels))),
    "tenths: kinks that round": lambda rng, labels: np.round(rng.normal(size=len(labels)), 1),
    "far from 0": lambda rng, labels: 1e6 + rng.normal(size=len(labels)),
    "far from 0, tied": lambda rng, labels: 1e6 + np.round(rng.normal(size=len(labels)), 1),
    "±1000": lambda rng, labels: 1000 * np.sign(rng.normal(size=len(labels))),
    "nearly right": lambda rng, labels: 2 * labels + 1e-3 * rng.normal(size=len(labels)),
}
MARGINS = ["grade", 1.0, 0.3, 0.0]
GROUP = [7, 1, 0, 30, 3]
NORMALIZATIONS = ["none", "rows", "query", "documents"]


def assert_equals(loss, scores, queries):
    """Compare gradients to 1e-9 of each query's largest; Hessians and values to 1e-12 and 1e-9 of themselves."""
    value, g, h = loops.qbrank(loss, scores, queries)
    scale = loss.scale(queries)
    gradient, hessian = loss.gradient_hessian(scores, queries)
    for first, last in zip(queries.boundaries[:-1], queries.boundaries[1:], strict=True):
        largest = np.abs(g[first:last]).max(initial=0.0)
        np.testing.assert_allclose(gradient[first:last] / scale, g[first:last], rtol=0, atol=1e-9 * largest)
    np.testing.assert_allclose(hessian / scale, h, rtol=1e-12)
    np.testing.assert_allclose(loss.value(scores, queries), value, rtol=1e-9)


# Each kind of labels meets two kinds of scores, at one margin or the other.
@pytest.mark.parametrize(
    ("margin", "labels", "scores"),
    [
        (("grade", 0.3)[(i + j // 4) % 2], labels, scores)
        for i, labels in enumerate(LABELS)
        for j, scores in enumerate(SCORES)
        if (i + j) % 4 == 0
    ],
)
def test_long_lists_are_sorted_to_the_same_sums(margin, labels, scores):
    rng = np.random.default_rng(3)
    group = [512, 3, 513, 1500]  # around the length from which lists are cut, and some cuts
    y = LABELS[labels](rng, sum(group))
    f = SCORES[scores](rng, y)
    weight = np.where(rng.random(len(y)) < 0.9, 2 * rng.random(len(y)), 0.0)
    for loss, v in (
        (QBRank(margin=margin, preference_weight=1.0), None),
        (QBRank(margin=margin, hessian="global", normalization="rows"), weight),
    ):
        assert_equals(loss, f, bp.Queries(y, group=group, weight=v))


@pytest.mark.parametrize("group", [[90], [1500]], ids=["short", "long"])
def test_small_losses_between_clusters_far_apart_keep_their_digits(group):
    """Nothing cancels: sums over z of a million would leave no digit of losses of 1e-6."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 6, sum(group))
    f = 1e6 * (y // 2) + y - 1e-6 * rng.random(len(y)) * (y % 2)  # grades 1, 3, 5 just miss 0, 2, 4
    loss = QBRank(preference_weight=1.0)
    queries = bp.Queries(y, group=group)
    assert 0 < np.abs(loops.qbrank(loss, f, queries)[1]).max() < 1e-2
    assert_equals(loss, f, queries)


def test_a_pair_at_its_margin_is_not_active():
    for margin, labels in (("grade", [3, 1]), (2.0, [1, 0])):
        for f, active in (([2.0, 0.0], False), ([np.nextafter(2.0, 0.0), 0.0], True)):
            queries = bp.Queries(labels, group=[2])
            g, h = QBRank(margin=margin, preference_weight=1.0).gradient_hessian(f, queries)
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


def test_labels_teach_where_there_is_no_pair():
    queries = bp.Queries([2, 2, 1, 0], group=[2, 2], labelled=[True, True, True, False])
    for normalization in NORMALIZATIONS:
        g, h = QBRank(normalization=normalization).gradient_hessian(np.zeros(4), queries)
        assert (g == [-2 * h[0], -2 * h[0], -h[0], 0]).all()
        assert h[0] > 0
        assert h[3] == 0
        g, h = QBRank(preference_weight=1.0, normalization=normalization).gradient_hessian(np.zeros(4), queries)
        assert not g.any()
        assert not h.any()


OPTIONS = [  # each value of a parameter with each of any other
    QBRank(
        margin=("grade", 0.7)[(i + j) % 2],
        preference_weight=w,
        hessian=("bound", "global")[(i + j // 2) % 2],
        normalization=normalization,
    )
    for i, w in enumerate((0.0, 0.5, 1.0))
    for j, normalization in enumerate(NORMALIZATIONS)
]


@pytest.mark.parametrize("loss", OPTIONS)
def test_properties_hold_off_the_kinks(loss, monkeypatch):
    """Finite differences across a kink are not derivatives, so grades with pairs near one are moved as a whole.

    "documents" is no gradient of a value: that one prop is not for it.
    """
    example_data = testing.example_data

    def off_kinks(rng):
        for what, scores, queries in example_data(rng):
            if queries.n_rows > 100:  # always near a kink
                continue
            grade = np.unique(queries.labels, return_inverse=True)[1]
            moved = scores
            while near_a_kink(moved, queries, loss.margin):
                moved = scores + 0.1 * rng.normal(size=len(scores))[grade]
            yield what, moved, queries

    def near_a_kink(scores, queries, margin):
        z, tau = (queries.labels - scores, 0.0) if margin == "grade" else (-scores, margin)
        pair = (queries.query_of_row[:, None] == queries.query_of_row) & (queries.labels[:, None] > queries.labels)
        return (np.abs(z[:, None] - z + tau)[pair] < 4.1e-3).any()  # differences take steps of 2e-3, in two rows

    monkeypatch.setattr(testing, "example_data", off_kinks)
    if loss.normalization == "documents":
        properties = tuple(prop for prop in testing.PROPERTIES if prop.__name__ != "gradient_is_the_values")
        monkeypatch.setattr(testing, "PROPERTIES", properties)
    testing.check_loss(loss)


@pytest.mark.parametrize("loss", OPTIONS[:4])
def test_other_properties_hold_at_the_kinks(loss, monkeypatch):
    differences = ("gradient_is_the_values", "hessian_is_its_kind", "threads_do_not_matter")
    monkeypatch.setattr(
        testing, "PROPERTIES", tuple(prop for prop in testing.PROPERTIES if prop.__name__ not in differences)
    )
    testing.check_loss(loss)


@pytest.mark.parametrize("normalization", ["none", "rows", "query"])
@pytest.mark.parametrize("margin", ["grade", 1.0])
def test_global_hessian_bounds_every_step(margin, normalization):
    rng = np.random.default_rng(6)
    group = [20, 40, 600]
    queries = bp.Queries(rng.integers(0, 5, sum(group)), group=group, weight=rng.random(sum(group)))
    for w in (0.3, 1.0):
        loss = QBRank(margin=margin, preference_weight=w, hessian="global", normalization=normalization)
        scale = loss.scale(queries)
        for trial in range(40):
            scores = np.round(rng.normal(size=queries.n_rows), trial % 3)
            g, h = loss.gradient_hessian(scores, queries)
            step = 10.0 ** rng.uniform(-3, 3) * rng.normal(size=queries.n_rows)
            here, there = loss.value(scores, queries), loss.value(scores + step, queries)
            bound = here + np.add.reduceat(g * step + h * step**2 / 2, queries.boundaries[:-1]) / scale
            assert (there <= bound + 1e-9 * np.abs(bound)).all()


def test_preference_weight_0_is_squared_error():
    rng = np.random.default_rng(7)
    group = [30, 1, 0, 40]
    y, f, v = rng.normal(size=71), rng.normal(size=71), rng.random(71)
    for options in ({}, {"margin": 1.0}, {"hessian": "global"}, *({"normalization": x} for x in NORMALIZATIONS)):
        loss = QBRank(preference_weight=0.0, **options)
        queries = bp.Queries(y, group=group)
        g, h = loss.gradient_hessian(f, queries)
        np.testing.assert_array_equal(g, f - y)
        np.testing.assert_array_equal(h, np.ones(71))
        assert loss.scale(queries) == 1.0
        queries = bp.Queries(y, group=group, weight=v)
        g, h = loss.gradient_hessian(f, queries)
        np.testing.assert_allclose(g, (f - y) * v / v.mean(), rtol=1e-12)
        np.testing.assert_allclose(h, v / v.mean(), rtol=1e-12)
        assert loss.scale(queries) == pytest.approx(1.0 / v.mean())


@pytest.mark.parametrize("w", [0.5, 1.0])
def test_check_loss_passes_where_all_pairs_stand_at_their_margin(w):
    """At equal scores and a margin of 0 no pair is active, and the gradient has a kink: no property speaks of it."""
    testing.check_loss(QBRank(margin=0.0, preference_weight=w))
