r"""Sums of smooth functions of score differences over the pairs of a query, in linear time.

For document i of a query and a function κ of the difference "higher grade minus lower grade":

.. math::
    \sum_{r_j < r_i} a_i b_j\, c_{ij}\, \kappa(F_i - F_j) \pm \sum_{r_j > r_i} a_j b_i\, c_{ij}\, \kappa(F_j - F_i)

with c the weight of the two grades, and a and b what a document weighs as the winner and as the loser of a pair
(`PairWeights`): both the square root of its row's weight by default.

Documents come by query and grade. Three ways: short lists pair by pair (`pair_by_pair`); longer ones
block by block, each of a few neighbouring grades (`blocks`), which leaves the pairs within a block to
be summed in turn, so that many grades cost O(n log n) at most; where a table weighs each pair of grades, cell by cell
(`cells`). The fastest method is chosen by documents, pairs and the range of the scores
(`cost_model`).
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import frozen
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.base.views import Runs
from boostplug.kernels.pairs.blocks import by_blocks
from boostplug.kernels.pairs.cells import by_cells
from boostplug.kernels.pairs.cost_model import Costs, limits, sizes_by_boxes
from boostplug.kernels.pairs.pair_by_pair import (
    ndcg_by_pair,
    ndcg_far_by_pair,
    ndcg_value_by_pair,
    ranknet_by_pair,
    ranknet_far_by_pair,
    ranknet_value_by_pair,
    tabulated_by_pair,
    tabulated_value_by_pair,
)
from boostplug.kernels.pairs.pair_task import DONE, GAINS, TABLE, Parts, Task
from boostplug.kernels.pairs.tables import GENERAL, NDCG, NDCG_VALUE, RANKNET, RANKNET_VALUE, Functions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Costs of a pair in ns, near and far: fitted by hand on lists of 40 to 1,000 documents on an AMD EPYC (Zen 5).
_PAIR = {NDCG: (0.5, 2.5), RANKNET: (0.6, 2.5), NDCG_VALUE: (2.0, 2.0), RANKNET_VALUE: (2.0, 2.0)}
_OF_FUNCTION = 3.0  # of those known by tables
_BY_PAIR = {
    NDCG: ndcg_by_pair,
    RANKNET: ranknet_by_pair,
    NDCG_VALUE: ndcg_value_by_pair,
    RANKNET_VALUE: ranknet_value_by_pair,
}
_FAR_BY_PAIR = {NDCG: ndcg_far_by_pair, RANKNET: ranknet_far_by_pair}
_A_FEW = 3.0  # boxes
_SMALL = 128  # documents of a block in which pairs are near their best


def costs_of(functions: Functions, what: int) -> Costs:
    """Return what the sums of these functions cost where grades weigh by `what`."""
    general = _OF_FUNCTION * len(functions.lower)
    near, far = _PAIR.get(functions.kind, (general, general))
    n_fields = int(functions.lower.any(axis=1).sum() + functions.higher.any(axis=1).sum())
    n_fields *= 2 if what == GAINS else 1
    return Costs(near, far, functions.tables.width, functions.tables.reach, n_fields, what == TABLE)


class Work(NamedTuple):
    """Parts that one kernel sums, and the number of documents before each and of all."""

    parts: Parts
    starts: Ints


class MethodSplit(NamedTuple):
    """The queries that hold a pair, by the way that is tried first."""

    by_pair: Work
    in_boxes: Work


def split_by_method(runs: Runs, n_pairs: Floats, costs: Costs) -> MethodSplit:
    """Return which way is tried first for each query: boxes where they win for scores that range over a few."""
    first, last = runs.query_run[:-1], runs.query_run[1:]
    limit = limits(runs.run_start[last] - runs.run_start[first], last - first, n_pairs, costs)
    work = _work(runs, first, last, limit, np.arange(len(first)))
    boxes = limit >= _A_FEW * costs.width
    return MethodSplit(_chosen(runs, work, ~boxes), _chosen(runs, work, boxes))


def sum_pairs(
    task: Task, division: MethodSplit, functions: Functions, costs: Costs, skipped: NDArray[np.bool_]
) -> None:
    """Add the sums of queries that hold a pair to the outputs of their rows, on all threads.

    Parameters
    ----------
    task : Task
        Weights by `TABLE` need functions of kind `GENERAL`.
    division : MethodSplit
    functions : Functions
        For kind `GENERAL` the caller ensures that no query's scores span 2^50 boxes, or `reach` where there are no
        tails.
    costs : Costs
    skipped : ndarray of bool
        Queries to leave alone; empty for none.
    """
    runs, (by_pair, in_boxes) = task.runs, division
    if len(skipped) and skipped.any():
        by_pair, in_boxes = (_chosen(runs, work, ~skipped[work.parts.query]) for work in division)
    while True:
        for more in _sum_in_boxes(task, in_boxes, functions, costs):
            by_pair = _joined(by_pair, more)
        if not len(by_pair.parts.first):
            return
        in_boxes = _sum_by_pair(task, by_pair, functions)
        if not len(in_boxes.parts.first):
            return
        by_pair = _NONE


def _sum_in_boxes(task: Task, work: Work, functions: Functions, costs: Costs) -> Iterator[Work]:
    """Sum in boxes and yield what is to be summed by pair: what ranges too far, and the blocks that hold pairs."""
    parts = work.parts
    if not len(parts.first):
        return
    ranges = np.empty(len(parts.first))
    if costs.by_table:
        left = _run(by_cells, task, work, functions, ranges)
    else:
        block_end = np.zeros(len(task.runs.run_grade), np.int64)
        left = _run(by_blocks, task, work, functions, sizes_by_boxes(costs), block_end, ranges)
        first = block_end.nonzero()[0]
        last = block_end[first]
        several = last - first > 1
        if several.any():
            yield _blocks(task.runs, parts, first[several], last[several], costs)
    if left:
        yield _limited(_chosen(task.runs, work, ranges != DONE), -1.0)


def _sum_by_pair(task: Task, work: Work, functions: Functions) -> Work:
    """Sum pair by pair and return what is to be summed in boxes."""
    kind, ranges = functions.kind, np.empty(len(work.parts.first))
    if kind == GENERAL:
        kernel = tabulated_by_pair if len(task.out) > 1 else tabulated_value_by_pair
        left = _run(kernel, task, work, functions, ranges)
    else:
        left = _run(_BY_PAIR[kind], task, work, ranges)
    if not left:
        return _NONE
    work, ranges = _chosen(task.runs, work, ranges != DONE), ranges[ranges != DONE]
    far = ~(ranges <= work.parts.limit)
    if far.any():
        _run(_FAR_BY_PAIR[kind], task, _chosen(task.runs, work, far), ranges)
        work = _chosen(task.runs, work, ~far)
    return _limited(work, np.inf)


def _run(kernel: Callable[..., Any], task: Task, work: Work, *arguments: Any) -> int:
    """Call ``kernel(begin, end, task, parts, *arguments)`` over all parts and return the sum of what it returns."""
    left = []

    def of_parts(begin: int, end: int) -> None:
        left.append(kernel(begin, end, task, work.parts, *arguments))

    run_over_queries(of_parts, work.starts)
    return sum(left)


def _work(runs: Runs, first: Ints, last: Ints, limit: Floats, query: Ints) -> Work:
    starts = np.zeros(len(first) + 1, np.int64)
    np.cumsum(runs.run_start[last] - runs.run_start[first], out=starts[1:])
    return Work(Parts(frozen(first), frozen(last), frozen(limit), frozen(query)), starts)


_NOTHING = np.zeros(0, np.int64)
_NONE = Work(Parts(frozen(_NOTHING), frozen(_NOTHING), frozen(np.zeros(0)), frozen(_NOTHING)), np.zeros(1, np.int64))


def _chosen(runs: Runs, work: Work, chosen: NDArray[np.bool_]) -> Work:
    first, last, limit, query = work.parts
    return _work(runs, first[chosen], last[chosen], limit[chosen], query[chosen])


def _joined(one: Work, other: Work) -> Work:
    parts = Parts(*(frozen(np.concatenate(both)) for both in zip(one.parts, other.parts, strict=True)))
    return Work(parts, np.r_[one.starts, one.starts[-1] + other.starts[1:]])


def _limited(work: Work, limit: float) -> Work:
    return Work(work.parts._replace(limit=frozen(np.full(len(work.parts.first), limit))), work.starts)


def _blocks(runs: Runs, parts: Parts, first: Ints, last: Ints, costs: Costs) -> Work:
    """Return blocks of the parts, to be summed in turn."""
    query = parts.query[np.searchsorted(parts.first, first, side="right") - 1]
    n = runs.run_start[last] - runs.run_start[first]
    limit, large = np.full(len(n), -1.0), n > _SMALL
    if large.any():
        limit[large] = limits(n[large], (last - first)[large], _all_pairs(n[large]), costs)
    return _work(runs, first, last, limit, query)


def _all_pairs(n: Ints) -> Floats:
    return 0.5 * n.astype(np.float64) ** 2


@compiled()
def gap_sums(query_run: Any, level: Any, mass: Any, out: Any) -> None:
    """Write, for each run, the sum over the query's runs of their mass times the gap of levels, which ascend."""
    for q in range(query_run.shape[0] - 1):
        for step in (1, -1):
            u = query_run[q] if step > 0 else query_run[q + 1] - 1
            passed = total = 0.0
            before = level[u]
            for _ in range(query_run[q + 1] - query_run[q]):
                total += passed * abs(level[u] - before)
                before = level[u]
                passed += mass[u]
                out[u] = total if step > 0 else out[u] + total
                u += step
