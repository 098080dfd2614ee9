"""RBP against plain loops over all orders of the ties, and numbers worked by hand."""

from itertools import permutations, product

import numpy as np
import pytest

import boostplug as bp
from boostplug.data.queries import Queries


def rbp_by_loop(gains, p):
    total, reads = 0.0, 1.0
    for gain in gains:
        total += (1 - p) * reads * gain
        reads *= p
    return total


def test_by_hand():
    queries = Queries([1, 0, 2, 0, 1], group=[5])
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    assert bp.RBP(0.5)(scores, queries) == 0.5 * (1 + 1 / 4 + 1 / 16)
    assert bp.RBP(0.5, relevant=2)(scores, queries) == 0.5 / 4
    assert bp.RBP(0.5, max_grade=2)(scores, queries) == 0.5 * (1 / 2 + 1 / 4 + 1 / 32)
    assert bp.RBP(0.5, max_grade=4)(scores, queries) == 0.5 * (1 / 4 + 1 / 8 + 1 / 64)
    assert bp.RBP(0.5)([1.0, 1.0], Queries([1, 0], group=[2])) == 0.5 * (1 + 1 / 2) / 2
    assert bp.RBP(0.5, ties="order")([1.0, 1.0], Queries([0, 1], group=[2])) == 0.5 / 2


def test_of_the_paper():
    """Moffat & Zobel 2008: relevance 1 at all ranks adds up to 1, and at the first d to 1 - p^d."""
    for p in (0.5, 0.8, 0.95):
        value = bp.RBP(p)(-np.arange(20.0), Queries([1] * 8 + [0] * 12, group=[20]))
        assert value == pytest.approx(1 - p**8, rel=1e-14)
        assert bp.RBP(p)(np.zeros(2000), Queries(np.ones(2000), group=[2000])) == pytest.approx(1.0, rel=1e-12)


def test_queries_without_relevant_documents():
    queries = Queries([1, 0, 0, 0, 2], group=[1, 2, 0, 2])
    nan = np.nan
    np.testing.assert_array_equal(bp.RBP(0.5).per_query(np.zeros(5), queries), [0.5, nan, nan, 0.375])
    np.testing.assert_array_equal(bp.RBP(0.5, empty=0).per_query(np.zeros(5), queries), [0.5, 0, nan, 0.375])
    np.testing.assert_array_equal(bp.RBP(0.5, max_grade=2).per_query(np.zeros(5), queries), [0.25, nan, nan, 0.375])


@pytest.mark.parametrize("grades", [(1, 0, 0, 0, 0), (0, 1, 3, 0, 1), (2, 1, 0, 1, 4), (3, 3, 3, 3, 3)])
def test_ties_average_over_all_orders(grades):
    queries = Queries(grades, group=[5])
    for p, scores in product([0.2, 0.8], [(0, 0, 0, 0, 0), (1, 0, 0, 0, 1), (0, 1, 1, 1, 0), (2, 2, 0, 1, 1)]):
        orders = [o for o in permutations(range(5)) if all(scores[o[i]] >= scores[o[i + 1]] for i in range(4))]
        expected = np.mean([rbp_by_loop([grades[i] >= 1 for i in o], p) for o in orders])
        assert bp.RBP(p)(scores, queries) == pytest.approx(expected, rel=1e-13)
        expected = np.mean([rbp_by_loop([grades[i] / 4 for i in o], p) for o in orders])
        assert bp.RBP(p, max_grade=4)(scores, queries) == pytest.approx(expected, rel=1e-13)


def test_grades_beyond_the_scale():
    with pytest.raises(ValueError, match=r"labels\[1\] = 3.0 is above max_grade=2; .*RBP\(max_grade=3\)"):
        bp.RBP(max_grade=2)([1.0, 2.0], Queries([1, 3], group=[2]))
    with pytest.raises(ValueError, match=r"labels\[0\] = -1.0 is negative"):
        bp.RBP(max_grade=2)([1.0, 2.0], Queries([-1, 2], group=[2]))
    unjudged = Queries([-1, 9, 1], group=[3], labelled=[False, False, True])
    assert bp.RBP(0.5, max_grade=2)([3.0, 2.0, 1.0], unjudged) == 0.5 * 0.5 / 4
