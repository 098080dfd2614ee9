"""MPBoost: the paper's arithmetic, distances, and the traps of its numerics; `test_double_loops` has its loop."""

import math
import warnings

import loops
import numpy as np
import pytest
from losses.functions import root_distance

import boostplug as bp

DISTANCES = [bp.BinaryDistance(), bp.LinearDistance(alpha=0.3), bp.LogDistance(), bp.LogisticDistance(), root_distance]


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
        loops.assert_equal(bp.MPBoost(), rng.normal(size=len(labels)), bp.Queries(labels, group=[len(labels)]))


def test_distances_of_a_function_are_computed_once_and_gaps_that_rounding_parts_are_one():
    assert 0.3 - 0.2 != 0.2 - 0.1
    for labels, gaps in (([0, 1, 3], [1.0, 2.0, 3.0]), ([0.1, 0.2, 0.3], [0.1, 0.2])):
        calls = []

        def distance(gap, calls=calls):
            calls.append(gap.tolist())
            return np.sqrt(gap)

        loss, queries = bp.MPBoost(distance=distance), bp.Queries(labels, group=[3])
        for scores in ([0.0, 0.0, 0.0], [1.0, 0.0, 2.0]):
            loss.gradient_hessian(scores, queries)
        assert calls == [pytest.approx(gaps)]


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


@pytest.mark.parametrize(
    ("labels", "alpha", "message"),
    [
        ([0.0, 1e-100], 0.2, "grade gap is 2e-101, beyond 1e-90 to 1e90"),
        ([0.0, 1e100], 0.2, "grade gap is 2e\\+99, beyond"),
        ([-1.7e308, 1.7e308], 0.2, "grade gap is inf, beyond"),
        (None, 1e300, "beyond 1e-90 to 1e90"),
    ],
)
def test_grades_and_distances_out_of_range_are_refused(labels, alpha, message):
    """No warning of NumPy's comes with the error."""
    queries = bp.Queries(labels, group=[2], pairs=bp.Pairs([0], [1]) if labels is None else None)
    with pytest.raises(ValueError, match=message):
        bp.MPBoost(distance=bp.LinearDistance(alpha=alpha)).gradient_hessian(np.zeros(2), queries)


def test_a_gap_of_1e_200_takes_no_step():
    """It has a gradient and no Hessian."""
    queries = bp.Queries([2e100, 0, 1e-200, 0], group=[4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g, h = bp.MPBoost().gradient_hessian(np.array([2.25, 0.5, -1.0, 0.0]), queries)
    assert (h[g != 0] > 0).all()
