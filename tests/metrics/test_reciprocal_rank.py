"""MRR and ERR: numbers worked by hand, and ties to the last digit, however long they are."""

from fractions import Fraction

import numpy as np
import pytest

import boostplug as bp
from boostplug.data.queries import Queries


def test_err_by_hand():
    queries = Queries([0, 4, 1, 2], group=[4])
    scores = [4.0, 3.0, 2.0, 1.0]
    first = 15 / 16 / 2
    second = 1 / 16 * 1 / 16 / 3
    third = 1 / 16 * 15 / 16 * 3 / 16 / 4
    assert bp.ERR()(scores, queries) == pytest.approx(first + second + third, rel=1e-15)
    assert bp.ERR(2)(scores, queries) == pytest.approx(first, rel=1e-15)
    assert bp.ERR(1)(scores, queries) == 0.0
    halves = 31 / 64 / 1 + 33 / 64 * 1 / 64 / 2
    assert bp.ERR(max_grade=6)([2, 1], Queries([5, 1], group=[2])) == pytest.approx(halves, rel=1e-15)
    tied = (15 / 16 + 15 / 16 / 2) / 2
    assert bp.ERR()([1, 1], Queries([4, 0], group=[2])) == pytest.approx(tied, rel=1e-15)
    assert bp.ERR(ties="order")([1, 1], Queries([4, 0], group=[2])) == 15 / 16


def test_mrr_by_hand():
    queries = Queries([0, 1, 2, 0], group=[4])
    assert bp.MRR()([4, 3, 2, 1], queries) == 1 / 2
    assert bp.MRR(relevant=2)([4, 3, 2, 1], queries) == 1 / 3
    assert bp.MRR(1)([4, 3, 2, 1], queries) == 0.0
    assert bp.MRR()([1, 1, 1, 1], queries) == pytest.approx(1 / 2 + 2 / 4 * 2 / 3 / 2 + 2 / 4 * 1 / 3 / 3, rel=1e-15)
    assert bp.MRR(1)([1, 1, 1, 1], queries) == 1 / 2
    assert bp.MRR(ties="order")([1, 1, 1, 1], queries) == 1 / 2
    assert bp.MRR(ties="order")([1, 2, 1, 2], Queries([1, 0, 0, 0], group=[4])) == 1 / 3


def err_of_a_tie_in_fractions(stops, before, ranks):
    """Return Σ_t (p_{t-1} - p_t) / (before + t) with p_t = e_t(1 - R) / C(n, t): no rounding, nothing cut short."""
    p = [Fraction(1)] + [Fraction(0)] * len(stops)
    for m, stop in enumerate(stops, start=1):
        for t in range(m, 0, -1):
            p[t] = ((m - t) * p[t] + t * (1 - Fraction(float(stop))) * p[t - 1]) / m
    return float(sum((p[t - 1] - p[t]) / (before + t) for t in range(1, ranks + 1)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("max_grade", [4, 60])
def test_err_of_a_tie_is_exact(seed, max_grade):
    """To the last digits, also where hardly anything stops a user (max_grade=60), below other documents, and cut."""
    rng = np.random.default_rng(seed)
    n, before = rng.integers(2, 40), rng.choice([0, 1, 200])
    grades = np.where(rng.random(n) < rng.choice([0.1, 0.5, 0.9, 1.0]), rng.integers(0, 5, n), 0)
    if seed % 5 == 0:
        grades = np.where(grades > 0, rng.uniform(0, 4, n), 0)
    grades[0] = 3
    ranks = rng.integers(1, n + 1) if seed % 2 else n
    queries = Queries(np.r_[np.zeros(before), grades], group=[before + n])
    expected = err_of_a_tie_in_fractions((2.0**grades - 1) / 2.0**max_grade, before, ranks)
    scores = np.r_[np.ones(before), np.zeros(n)]
    assert bp.ERR(before + ranks, max_grade=max_grade)(scores, queries) == pytest.approx(expected, rel=2e-14, abs=0)


@pytest.mark.parametrize("grades", [[0, 0, 0, 0, 1], [1, 2, 3, 4, 0]])
def test_err_of_an_endless_tie(grades):
    """Its cost is that of the documents times the ranks which a user reaches: a part of a second for 2e5 documents."""
    n = 200_000
    labels = np.resize(grades, n)
    stop = ((2.0**labels - 1) / 16).mean()  # at each rank, as hardly any rank is reached beside so many documents
    expected = stop * -np.log(stop) / (1.0 - stop)  # Σ (1 - stop)^(t-1) stop / t
    assert bp.ERR()(np.zeros(n), Queries(labels, group=[n])) == pytest.approx(expected, rel=1e-4)
