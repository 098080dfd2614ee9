"""MPBoost against the plain double loop, the paper's arithmetic, and the traps of its numerics."""

import math
import warnings

import loops
import numpy as np
import pytest
from losses.functions import root_distance

import boostplug as bp

DISTANCES = [bp.BinaryDistance(), bp.LinearDistance(alpha=0.3), bp.LogDistance(), bp.LogisticDistance(), root_distance]
LABELS = {
    "grades": lambda rng, n: rng.integers(0, 5, n),
    "negative grades": lambda rng, n: rng.integers(-2, 3, n),
    "real": lambda rng, n: rng.normal(size=n),
    "real with ties": lambda rng, n: np.round(2 * rng.normal(size=n), 1),
    "two grades": lambda rng, n: rng.integers(0, 2, n),
}
GROUPS = [[7, 1, 0, 12, 3], [90, 2]]  # 90 real labels: more grades than the table of distances may hold


@pytest.mark.parametrize(("distance", "labels"), list(zip(DISTANCES, LABELS, strict=True)))
def test_equals_double_loop_where_exponents_pass_60(distance, labels):
    # Exponents pass 60 in the right order, and reach far into the wrong one.
    rng = np.random.default_rng(3)
    for group in GROUPS:
        n = sum(group)
        queries = bp.Queries(LABELS[labels](rng, n), group=group)
        scores = rng.normal(size=n) + 200.0 * queries.labels
        loops.assert_equal(bp.MPBoost(distance=distance), scores, queries)
        loops.assert_equal(bp.MPBoost(distance=distance), rng.permutation(scores) / 10.0, queries)


def rounded(labels):
    """Labels of one list on 256 levels of its range, each with the mean of its labels."""
    low, high = labels.min(), labels.max()
    level = np.minimum(np.floor((labels - low) / (high - low) * 256), 255).astype(int)
    return (np.bincount(level, labels) / np.maximum(np.bincount(level), 1))[level]


@pytest.mark.parametrize(
    ("distance", "hessian"), [(d, ("newton", "gentle", "bound")[i % 3]) for i, d in enumerate(DISTANCES)]
)
def test_many_grades_of_a_long_list_are_rounded_to_256_levels(distance, hessian):
    rng = np.random.default_rng(8)
    labels, weight = rng.normal(size=320), rng.random(320) + 0.1
    loss = bp.MPBoost(distance=distance, hessian=hessian, normalization="none")
    for spread in (1.0, 30.0):  # near, and with exponents beyond 60
        scores = spread * rng.normal(size=320)
        exact, levels = (bp.Queries(y, group=[320], weight=weight) for y in (labels, rounded(labels)))
        found, expected = (loss.compute_gradient_hessian(scores, queries, 1.0) for queries in (exact, levels))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_allclose(loss.value(scores, exact), loss.value(scores, levels), rtol=1e-9)
        loops.assert_equal(loss, scores, levels)


def test_256_grades_are_exact_in_lists_of_any_length():
    rng = np.random.default_rng(9)
    for labels in (rng.integers(0, 256, 400) / 7.0, rng.normal(size=300)):
        queries = bp.Queries(labels, group=[len(labels)])
        loops.assert_equal(bp.MPBoost(), rng.normal(size=len(labels)), queries)


def test_distances_of_a_function_are_computed_once():
    calls = []

    def distance(gap):
        calls.append(gap.tolist())
        return np.sqrt(gap)

    loss, queries = bp.MPBoost(distance=distance), bp.Queries([0, 1, 3], group=[3])
    for scores in ([0.0, 0.0, 0.0], [1.0, 0.0, 2.0]):
        loss.gradient_hessian(scores, queries)
    assert calls == [[1.0, 2.0, 3.0]]


def test_two_far_below_the_third_are_still_a_pair():
    """The digest's trap: F = -1000, -1000, 1000, first two a pair; a query-wide reference makes inf · 0."""
    queries = bp.Queries([1, 0, 0], group=[3], labelled=[True, True, False])
    loss = bp.MPBoost(distance=bp.BinaryDistance())
    g, h = loss.gradient_hessian([-1000.0, -1000.0, 1000.0], queries)
    np.testing.assert_array_equal(g, [-2.0, 2.0, 0.0])  # scale: 2 documents, 1 pair
    np.testing.assert_array_equal(h, [2.0, 2.0, 0.0])
    queries = bp.Queries([1, 0, 2], group=[3])
    g, _ = loss.gradient_hessian([-1000.0, -1000.0, 1000.0], queries)
    np.testing.assert_allclose(g, [-1.0, 1.0, 0.0])


def test_values_of_the_paper_as_arithmetic():
    queries = bp.Queries([2, 0], group=[2])
    scores = [0.5, 0.1]
    for distance, d in [
        (bp.BinaryDistance(), 1.0),
        (bp.LinearDistance(alpha=0.2), 0.2 * 2),
        (bp.LogDistance(lam=3.0), math.log(1 + 3 * 2)),
        (bp.LogisticDistance(beta=0.5), 1 / (1 + math.exp(-0.5 * 2))),
    ]:
        assert distance(np.array([2.0])) == pytest.approx([d])
        w = math.exp(-d * (0.5 - 0.1))
        loss = bp.MPBoost(distance=distance, hessian="gentle", normalization="none")
        assert loss.value(scores, queries) == pytest.approx([w])
        g, h = loss.gradient_hessian(scores, queries)
        assert loss.scale(queries) == 2.0
        assert g == pytest.approx([-2 * d * w, 2 * d * w])
        assert h == pytest.approx([2 * w, 2 * w])


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_the_grades_does_not_matter_to_linear_steps(unit):
    """Scores in other units, the same Newton steps: none trains a constant model where grades are small."""
    rng = np.random.default_rng(5)
    labels, group = rng.integers(0, 5, 60).astype(float), [40, 20]
    scores = rng.normal(size=60)
    loss = bp.MPBoost(distance=bp.LinearDistance())
    g, h = loss.gradient_hessian(scores, bp.Queries(labels, group=group))
    other_g, other_h = loss.gradient_hessian(scores / unit, bp.Queries(unit * labels, group=group))
    np.testing.assert_allclose(other_h, h, rtol=1e-9)
    np.testing.assert_allclose(other_g * unit, g, rtol=1e-9, atol=1e-12)


def test_grades_out_of_range_are_refused():
    for labels, message in (
        ([0.0, 1e-100], "grade gap is 2e-101, beyond 1e-90 to 1e90"),
        ([0.0, 1e100], "grade gap is 2e\\+99, beyond"),
        ([-1.7e308, 1.7e308], "grade gap is inf, beyond"),
    ):
        with pytest.raises(ValueError, match=message):
            bp.MPBoost(distance=bp.LinearDistance()).gradient_hessian(np.zeros(2), bp.Queries(labels, group=[2]))
    with pytest.raises(ValueError, match="is not a number within"):
        bp.MPBoost().gradient_hessian([1.7e308, -1.7e308], bp.Queries([0, 1], group=[2]))


def test_gaps_that_differ_by_rounding_alone_are_one_gap():
    assert 0.3 - 0.2 != 0.2 - 0.1
    queries = bp.Queries([0.1, 0.2, 0.3], group=[3])
    seen = []

    def distance(gap):
        seen.append(gap)
        return gap

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bp.MPBoost(distance=distance).gradient_hessian(np.zeros(3), queries)
    assert [len(gap) for gap in seen] == [2]


def test_distances_whose_squares_leave_the_range_of_floats():
    """A gap of 1e-200 has a gradient and no Hessian: no step. Past the range, an error and no warning of NumPy's."""
    queries = bp.Queries([2e100, 0, 1e-200, 0], group=[4])
    g, h = bp.MPBoost().gradient_hessian(np.array([2.25, 0.5, -1.0, 0.0]), queries)
    assert (h[g != 0] > 0).all()
    pairs = bp.Queries(None, group=[2], pairs=bp.Pairs([0], [1]))
    with pytest.raises(ValueError, match="beyond 1e-90 to 1e90"):
        bp.MPBoost(distance=bp.LinearDistance(alpha=1e300)).gradient_hessian(np.zeros(2), pairs)
