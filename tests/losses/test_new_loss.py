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
from boostplug.testing import check_loss


@pytest.mark.parametrize("loss", [LogCosh(), LogCosh(sigmoid=2.0, normalization="rows")], ids=repr)
def test_log_cosh_has_all_properties(loss):
    check_loss(loss)


@pytest.mark.parametrize("n", [7, 1500])
def test_it_is_the_double_loop(n):
    rng = np.random.default_rng(n)
    labels, scores = rng.integers(0, 5, n).astype(float), 2.0 * rng.normal(size=n)
    queries = bp.Queries(labels, group=[n])
    d = scores[:, None] - scores
    above = labels[:, None] > labels
    pulls = np.where(above, first(d), 0.0)
    curvatures = np.where(above, second(d), 0.0)
    gradient, hessian = LogCosh().gradient_hessian(scores, queries)
    scale = LogCosh().scale(queries)
    expected = scale * (pulls.sum(1) - pulls.sum(0))
    np.testing.assert_allclose(gradient, expected, atol=5e-7 * np.abs(expected).max())
    np.testing.assert_allclose(hessian, scale * (curvatures.sum(1) + curvatures.sum(0)), rtol=5e-7)
    np.testing.assert_allclose(LogCosh().value(scores, queries), [np.where(above, value(d), 0.0).sum()], rtol=5e-7)


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
    worth = np.array([1.0, 0.7, 0.2, 0.0])
    orders = [p for p in permutations(range(4)) if all(scores[a] >= scores[b] for a, b in pairwise(p))]
    of_rows = np.array([[worth[order.index(i)] for i in range(4)] for order in orders])
    apart = np.abs(of_rows[:, :, None] - of_rows[:, None, :]).mean(axis=0)
    value, mean, block = sums_over_lists(ranks, np.array(scores, float), bp.Queries([0, 1, 1, 3], group=[4]), worth)
    assert value == pytest.approx([sum(j * s for j, s in enumerate(sorted(scores, reverse=True)))])
    np.testing.assert_allclose(mean, of_rows.mean(axis=0))
    for i in range(4):
        for j in range(4):
            if i != j:
                tied = scores[i] == scores[j]
                assert (block[i] if tied else abs(mean[i] - mean[j])) == pytest.approx(apart[i, j]), (i, j)
