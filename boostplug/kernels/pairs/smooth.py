r"""Sums of smooth functions of score differences over the pairs of a query.

For document i of a query and a function κ of the difference "higher grade minus lower grade":

.. math::
    \sum_{r_j < r_i} a_i b_j\, c_{ij}\, \kappa(F_i - F_j) \pm \sum_{r_j > r_i} a_j b_i\, c_{ij}\, \kappa(F_j - F_i)

with c the gap of the gains of both grades, or 1, and a and b the weights of a document as winner and as loser of a
pair. Both are the square root of the row's weight by default.

Short lists are summed pair by pair (`pair_by_pair`), long ones by boxes of scores (`boxes`). A list is long if it has
more than 160 pairs per document, or more than 16 if the function is known only by tables.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import frozen
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.views import GroupArrays
from boostplug.kernels.pairs.boxes import sum_boxes
from boostplug.kernels.pairs.pair_by_pair import (
    ndcg_by_pair,
    ranknet_by_pair,
    tabulated_by_pair,
    tabulated_value_by_pair,
)
from boostplug.kernels.pairs.pair_task import NDCG, RANKNET, TABULATED, Functions, Parts, Task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_BY_PAIR_UP_TO, _TABULATED_BY_PAIR_UP_TO = 160, 16  # pairs per document
_BY_PAIR = {NDCG: ndcg_by_pair, RANKNET: ranknet_by_pair}


class Work(NamedTuple):
    """Parts for one kernel, with the number of documents before each of them and in total."""

    parts: Parts
    starts: Ints


def _work(groups: GroupArrays, first: Ints, last: Ints, query: Ints) -> Work:
    starts = np.zeros(len(first) + 1, np.int64)
    np.cumsum(groups.group_start[last] - groups.group_start[first], out=starts[1:])
    return Work(Parts(frozen(first), frozen(last), frozen(query)), starts)


def _chosen(groups: GroupArrays, work: Work, chosen: Bools) -> Work:
    return _work(groups, *(values[chosen] for values in work.parts))


def short_and_long(groups: GroupArrays, n_pairs: Floats, kind: int) -> tuple[Work, Work]:
    """Return the short and the long lists, for functions of a kind."""
    first, last = groups.query_group[:-1], groups.query_group[1:]
    up_to = _TABULATED_BY_PAIR_UP_TO if kind == TABULATED else _BY_PAIR_UP_TO
    least = up_to * (groups.group_start[last] - groups.group_start[first])
    is_long = n_pairs > least
    every = _work(groups, first, last, np.arange(len(first)))
    return _chosen(groups, every, ~is_long), _chosen(groups, every, is_long)


def sum_pairs(task: Task, short: Work, long: Work, functions: Functions) -> None:
    """Add the sums of the queries with pairs to the outputs of their rows, on all threads.

    Parameters
    ----------
    task : Task
    short, long : Work
        See `short_and_long`.
    functions : Functions
    """
    groups = task.groups
    by_pair = short
    if len(long.parts.first):
        block_end = np.zeros(len(groups.group_grade), np.int64)
        _run(sum_boxes, task, long, functions, block_end)
        first = block_end.nonzero()[0]
        first = first[block_end[first] - first > 1]  # a block of one group has no pair
        query = long.parts.query[np.searchsorted(long.parts.first, first, side="right") - 1]
        blocks = first, block_end[first], query
        by_pair = _work(groups, *(np.concatenate(both) for both in zip(short.parts, blocks, strict=True)))
    if functions.kind in _BY_PAIR:
        wide = np.zeros(len(by_pair.parts.first), np.bool_)  # parts whose range of scores is too wide for the kernel
        _run(_BY_PAIR[functions.kind], task, by_pair, wide)
        by_pair = _chosen(groups, by_pair, wide)
    _run(tabulated_by_pair if len(task.out) > 1 else tabulated_value_by_pair, task, by_pair, functions)


def _run(kernel: Callable[..., Any], task: Task, work: Work, *arguments: Any) -> None:
    """Call ``kernel(begin, end, task, parts, *arguments)`` over all parts; without any, do not compile the kernel."""
    if len(work.parts.first):
        run_over_queries(lambda begin, end: kernel(begin, end, task, work.parts, *arguments), work.starts)
