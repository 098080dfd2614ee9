"""Short examples of new losses: a smooth pairwise loss in one file, and a kernel that walks lists in order."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from losses.log_cosh import LogCosh, first, second, value

import boostplug as bp
from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.base.sorting import workspace_for
from boostplug.kernels.lists.order import average_over_ties, order_by_score
from boostplug.losses.base.lists import sums_over_lists


@pytest.mark.parametrize("n", [7, 1500])
def test_log_cosh_is_the_sum_over_all_pairs(n):
    rng = np.random.default_rng(n)
    labels, scores = rng.integers(0, 5, n).astype(float), 2.0 * rng.normal(size=n)
    queries, loss, d = bp.Queries(labels, group=[n]), LogCosh(), scores[:, None] - scores
    values, slopes, curvatures = (np.where(labels[:, None] > labels, f(d), 0.0) for f in (value, first, second))
    gradient, hessian = np.array(loss.gradient_hessian(scores, queries)) / loss.scale(queries)
    expected = slopes.sum(1) - slopes.sum(0)
    np.testing.assert_allclose(gradient, expected, atol=5e-7 * np.abs(expected).max())
    np.testing.assert_allclose(hessian, curvatures.sum(1) + curvatures.sum(0), rtol=5e-7)
    np.testing.assert_allclose(loss.value(scores, queries), [values.sum()], rtol=5e-7)


@compiled()
def ranks(first, last, lists, scores, worth, sums):
    """Write each document's mean worth over ties to the gradient, the mean distance in its block to the Hessian."""
    room = workspace_for(lists.start, first, last)
    place, mean, apart = room.rows, np.empty(len(room.keys)), np.empty(len(room.keys))
    for q in range(first, last):
        m = order_by_score(scores, lists, q, room)
        average_over_ties(room.keys, m, worth, mean, apart)
        for j in range(m):
            sums.value[q] += j * scores[lists.rows[place[j]]]
            sums.gradient[lists.rows[place[j]]] = mean[j]
            sums.hessian[lists.rows[place[j]]] = apart[j]


@pytest.mark.parametrize("scores", [[3, 1, 2, 0], [1, 1, 0, 2], [0, 0, 0, 0], [2, 1, 2, 1], [0, 1, 1, 1]])
def test_ties_count_as_a_random_order_of_them(scores):
    worth, scores = np.array([1.0, 0.7, 0.2, 0.0]), np.array(scores, float)
    orders = [p for p in permutations(range(4)) if all(scores[a] >= scores[b] for a, b in pairwise(p))]
    of_rows = np.array([[worth[order.index(i)] for i in range(4)] for order in orders])
    value, mean, block = sums_over_lists(ranks, scores, bp.Queries([0, 1, 1, 3], group=[4]), worth)
    assert value == pytest.approx([sum(j * s for j, s in enumerate(sorted(scores, reverse=True)))])
    np.testing.assert_allclose(mean, of_rows.mean(axis=0))
    apart = np.abs(of_rows[:, :, None] - of_rows[:, None, :]).mean(axis=0)
    found = np.where(scores[:, None] == scores, block[:, None], np.abs(mean[:, None] - mean))
    np.testing.assert_allclose(found[~np.eye(4, dtype=bool)], apart[~np.eye(4, dtype=bool)])
