"""`BestRound` against plain searches of the whole list of values."""

import math

import numpy as np
import pytest

from boostplug.core.best_round import BestRound

NAN = math.nan
VALUES = [
    [0.3, 0.5, 0.5, 0.2],
    [0.5, 0.3, 0.2, 0.2],
    [NAN, NAN, 0.4, 0.6, NAN, 0.6],
    [0.1, NAN, 0.1],
    [-math.inf, 0.0, math.inf, math.inf],
    [NAN, NAN],
    [],
    np.random.default_rng(0).integers(0, 5, 40).astype(float).tolist(),
]


def after(values, **options):
    best = BestRound(**options)
    for value in values:
        best.add(value)
    return best


@pytest.mark.parametrize("greater_is_better", [True, False])
@pytest.mark.parametrize("values", VALUES, ids=range(len(VALUES)))
def test_the_first_of_the_best_values(values, greater_is_better):
    best = after(values, greater_is_better=greater_is_better)
    defined = [value for value in values if not math.isnan(value)]
    top = (max if greater_is_better else min)(defined, default=NAN)
    assert best.number == (values.index(top) + 1 if defined else 0)
    assert best.value == top or not defined
    assert math.isnan(best.value) == (not defined)
    assert best.n_rounds == len(values)


@pytest.mark.parametrize("patience", [1, 3])
@pytest.mark.parametrize("values", VALUES, ids=range(len(VALUES)))
def test_it_stops_once_so_many_rounds_brought_nothing_better(values, patience):
    best = BestRound(greater_is_better=True, patience=patience)
    for n, value in enumerate(values, 1):
        best.add(value)
        assert best.stops == (n - after(values[:n], greater_is_better=True).number >= patience)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_better_by_no_more_than_the_tolerance_is_not_better(sign):
    values = [sign * value for value in (0.5, 0.75, 0.8125, 1.0)]
    assert after(values, greater_is_better=sign > 0, tolerance=0.25).number == 3  # each against the best so far
    assert after(values[:2], greater_is_better=sign > 0, tolerance=0.25).number == 1
