"""The place for losses on whole lists: judged documents by query, and their order by score with ties handled."""

from itertools import pairwise, permutations

import numpy as np
import pytest

import boostplug as bp
from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.base.sorting import workspace_for
from boostplug.kernels.lists.order import average_over_ties, order_by_score
from boostplug.losses.base.lists import sums_over_lists


def test_lists_hold_the_judged_documents_of_one_grade_too():
    queries = bp.Queries(
        [1, 1, 2, 0, 5, 3],
        group=[2, 0, 2, 1, 1],
        weight=[1.0, 2.0, 0.0, 3.0, 1.0, 1.0],
        labelled=[True, True, True, True, False, True],
    )
    judged = queries.judged_lists
    assert judged.query.tolist() == [0, 2, 4]
    assert judged.start.tolist() == [0, 2, 3, 4]
    assert judged.rows.tolist() == [0, 1, 3, 5]
    assert judged.grade.tolist() == [1, 1, 0, 3]
    assert judged.weight.tolist() == [1, 2, 3, 1]
    assert bp.Queries([1, 2], group=[2]).judged_lists.weight.tolist() == [1, 1]
    assert bp.Queries([], group=[]).judged_lists.start.tolist() == [0]


@compiled()
def ranks(lists, scores, worth, first, last, sums):
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
