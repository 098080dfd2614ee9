"""RBP: numbers worked by hand and those of the paper."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.data.queries import Queries


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


def test_grades_beyond_the_scale():
    with pytest.raises(ValueError, match=r"labels\[1\] = 3.0 is above max_grade=2; .*RBP\(max_grade=3\)"):
        bp.RBP(max_grade=2)([1.0, 2.0], Queries([1, 3], group=[2]))
    with pytest.raises(ValueError, match=r"labels\[0\] = -1.0 is negative"):
        bp.RBP(max_grade=2)([1.0, 2.0], Queries([-1, 2], group=[2]))
    unjudged = Queries([-1, 9, 1], group=[3], labelled=[False, False, True])
    assert bp.RBP(0.5, max_grade=2)([3.0, 2.0, 1.0], unjudged) == 0.5 * 0.5 / 4
