"""Bpref: numbers worked by hand, and long lists."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.data.queries import Queries


def bpref_by_loop(grades, relevant=1):
    """From the best document down; None is not judged."""
    n_relevant = sum(grade is not None and grade >= relevant for grade in grades)
    n_other = sum(grade is not None and grade < relevant for grade in grades)
    above, total = 0, 0.0
    for grade in grades:
        if grade is None:
            continue
        if grade < relevant:
            above += 1
        else:
            total += 1 - (min(above, n_relevant) / min(n_other, n_relevant) if above else 0)
    return total / n_relevant


def test_by_hand():
    scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    queries = Queries([0, 1, 0, 2, 1], group=[5])
    assert bp.Bpref()(scores, queries) == pytest.approx((1 / 2 + 0 + 0) / 3, rel=1e-15)
    assert bp.Bpref(2)(scores, queries) == 0.0
    judged = Queries([0, 1, 0, 2, 1], group=[5], labelled=[False, True, True, True, True])
    assert bp.Bpref()(scores, judged) == pytest.approx((1 + 0 + 0) / 3, rel=1e-15)
    assert bp.MAP()(scores, judged) < 1 / 3 + 2 / 4  # which counts the first document as non-relevant
    none_wrong = Queries([0, 1, 0, 2, 1], group=[5], labelled=[False, True, False, True, True])
    assert bp.Bpref()(scores, none_wrong) == 1.0
    assert bp.Bpref()([5.0, -np.inf, 3.0, 2.0, -np.inf], none_wrong) == pytest.approx(1 / 3, rel=1e-15)  # not retrieved
    assert bp.Bpref()([-np.inf, 2.0, 1.0], Queries([0, 1, 1], group=[3])) == 1.0
    assert bp.Bpref()([-np.inf, 2.0, -np.inf], Queries([0, 1, 1], group=[3])) == 0.5
    assert bp.Bpref()([1.0, 1.0], Queries([1, 0], group=[2])) == 0.5
    assert bp.Bpref(ties="order")([1.0, 1.0], Queries([1, 0], group=[2])) == 1.0
    assert bp.Bpref(ties="order")([1.0, 1.0], Queries([0, 1], group=[2])) == 0.0


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_long_lists(share):
    rng = np.random.default_rng(9)
    labelled = rng.random(3000) < 0.5
    queries = Queries(rng.random(3000) < share, group=[3000], labelled=labelled)
    scores = np.round(rng.normal(size=3000), 1)
    order = np.argsort(-scores, kind="stable")
    expected = bpref_by_loop([int(queries.labels[i]) if labelled[i] else None for i in order])
    assert bp.Bpref(ties="order")(scores, queries) == pytest.approx(expected, rel=1e-12)
