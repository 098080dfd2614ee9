r"""Sums of smooth functions of score differences over the pairs of a query.

For document i of a query and a function κ of the difference "higher grade minus lower grade":

.. math::
    \sum_{r_j < r_i} a_i b_j\, c_{ij}\, \kappa(F_i - F_j) \pm \sum_{r_j > r_i} a_j b_i\, c_{ij}\, \kappa(F_j - F_i)

with c the gap of the gains of both grades, or 1, and a and b the weights of a document as winner and as loser of a
pair. Both are the square root of the row's weight by default.

`plan` cuts the grades of a long list in two, near the middle of its documents. It cuts each half again, until the parts
are short. The pairs of two halves are summed on a grid of scores (`grid`). The pairs within short parts and short lists
are summed one by one: by `pair_by_pair` for the functions that it knows. The kernels read a `Task`.
"""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import frozen
from boostplug.kernels.base.views import GroupArrays


class Plan(NamedTuple):
    """Parts, whose pairs are summed one by one, and cuts between parts of long lists.

    Attributes
    ----------
    parts : ndarray of shape (n_parts, 3)
        Range ``first <= u < last`` of neighbouring grade groups, and their query.
    before_part : ndarray of shape (n_parts + 1,)
        Documents before each part.
    lists : ndarray of shape (n_lists, 3)
        A long list's query, and its range of `cuts`.
    cuts : ndarray of shape (n_cuts, 3)
        First, middle and last group: all pairs of one group below the middle and one above count.
    before_list : ndarray of shape (n_lists + 1,)
        Documents before each list.
    """

    parts: Ints
    before_part: Ints
    lists: Ints
    cuts: Ints
    before_list: Ints


def plan(groups: GroupArrays, n_pairs: Floats, most: float) -> Plan:
    """Return the parts of all queries that have at most `most` pairs a document, and the cuts between them."""
    first, last = groups.query_group[:-1], groups.query_group[1:]
    is_long = n_pairs > most * (groups.group_start[last] - groups.group_start[first])
    start, query = groups.group_start.tolist(), np.flatnonzero(is_long)
    squares = np.r_[0, np.cumsum(np.diff(groups.group_start) ** 2)].tolist()
    parts, cuts, n_cuts = [], [], [0]
    for q in query.tolist():
        stack = [(int(first[q]), int(last[q]))]
        while stack:
            u0, u1 = stack.pop()
            n = start[u1] - start[u0]
            if n * n - (squares[u1] - squares[u0]) > 2.0 * most * n:
                middle = _middle(start, u0, u1)
                cuts.append((u0, middle, u1))
                stack += [(u0, middle), (middle, u1)]
            elif u1 - u0 > 1:
                parts.append((u0, u1, q))
        n_cuts.append(len(cuts))
    short = np.c_[first, last, np.arange(len(first))][~is_long]
    every = np.r_[short, np.array(parts, np.int64).reshape(-1, 3)]
    lists = np.c_[query, n_cuts[:-1], n_cuts[1:]]
    return Plan(
        parts=frozen(every),
        before_part=_before(groups, every[:, 0], every[:, 1]),
        lists=frozen(lists),
        cuts=frozen(np.array(cuts, np.int64).reshape(-1, 3)),
        before_list=_before(groups, first[query], last[query]),
    )


def _before(groups: GroupArrays, first: Ints, last: Ints) -> Ints:
    return frozen(np.r_[0, np.cumsum(groups.group_start[last] - groups.group_start[first])])


def _middle(start: list[int], u0: int, u1: int) -> int:
    """Return the group whose first document is nearest to the middle of the documents of the groups u0..u1."""
    half = (start[u0] + start[u1]) // 2
    u = bisect_left(start, half, u0 + 1, u1 - 1)
    return u - 1 if u - 1 > u0 and half - start[u - 1] < start[u] - half else u
