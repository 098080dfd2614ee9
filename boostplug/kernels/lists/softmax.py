"""Softmax over lists, and cross entropies between a target distribution and that of the scores.

A document of weight v counts as v documents: its share is v e^F / Σ v e^F. Shares are precise at any range of scores: 1
less the largest share is summed from the other documents.

In NumPy, for one list and the softmax of its grades as target:

.. code-block:: python

    def list_net(scores, grades, weight):
        def shares(x):
            e = weight * np.exp(x - x.max())
            return e / e.sum()

        p, target = shares(scores), shares(grades)
        list_weight = (weight**2).sum() / weight.sum()
        value = -list_weight * (target * np.log(p)).sum()
        return value, list_weight * (p - target), list_weight * p * (1 - p)
"""

import math
from typing import Any, NamedTuple

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.kernels.base.arithmetic import EXP_MAX, exponential, unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, first_lanes, larger, largest_of, load, store, sum_of
from boostplug.kernels.base.sorting import longest_list


class _Workspace(NamedTuple):
    """Documents of a list: exponentials relative to the best (0 for the largest), shares, shares less the target."""

    e: Floats
    p: Floats
    t: Floats


class _Whole(NamedTuple):
    """Sum of a list's exponentials, the index and share of the largest, and the total share of the others."""

    total: float
    most: int
    share: float
    others: float


@inlined(_nrt=True)
def _workspace_for(start: Any, first: int, last: int) -> Any:
    n = longest_list(start, first, last) + WIDTH
    return _Workspace(np.empty(n), np.empty(n), np.empty(n))


@inlined()
def _sum(x: Any, n: int) -> float:
    """Return the sum of the first n elements; lanes past them must be 0."""
    total = broadcast(0.0)
    for k in range(0, n, WIDTH):
        total = total + load(x, k)
    out: float = sum_of(total)
    return out


@inlined()
def _exponentials(e: Any, weight: Any, a: int, n: int) -> None:
    """Replace the first n scores x by v e^(x - their maximum), and the lanes past them by 0."""
    top = broadcast(-np.inf)
    for k in range(0, n, WIDTH):
        top = larger(top, first_lanes(n - k, load(e, k), -np.inf))
    best = largest_of(top)
    for k in range(0, n, WIDTH):
        store(e, k, first_lanes(n - k, exponential(larger(load(e, k) - best, broadcast(-EXP_MAX))), 0.0))
    for i in range(unsigned(n)):
        e[i] *= weight[unsigned(a) + i]


@inlined()
def _take_out_the_largest(e: Any, n: int) -> _Whole:
    """Return the sums with and without the largest exponential, and set that one to 0."""
    total = _sum(e, n)
    top = broadcast(0.0)
    for k in range(0, n, WIDTH):
        top = larger(top, load(e, k))
    largest = largest_of(top)
    most = 0
    while e[most] != largest:
        most += 1
    e[most] = 0.0
    return _Whole(total, most, largest / total, _sum(e, n) / total)


@inlined(fastmath={"contract"})
def _less_target(n: int, whole: _Whole, a: int, target: Any, workspace: _Workspace) -> float:
    """Write p and p - P, both 0 for the document of the largest share. Return its p - P, minus the sum of the others'.

    So all p - P sum to 0, even if most of them are only rounding errors.
    """
    e, p, t = workspace
    for i in range(unsigned(n)):
        t[i] = target[unsigned(a) + i]
    per_unit = 1.0 / whole.total
    total = broadcast(0.0)
    for k in range(0, n, WIDTH):
        share = load(e, k) * per_unit
        store(p, k, share)
        store(t, k, first_lanes(n - k, share - load(t, k), 0.0))
    t[whole.most] = 0.0
    for k in range(0, n, WIDTH):
        total = total + load(t, k)
    rest: float = 0.0 - sum_of(total)
    return rest


@compiled()
def derivatives(first: int, last: int, lists: Any, scores: Any, target: Any, factor: Any, sums: Any) -> None:
    """Write p - P and p (1 - p) of each document, times the factor of its list."""
    workspace = _workspace_for(lists.start, first, last)
    e, p, t = workspace
    for q in range(first, last):
        a = lists.start[q]
        n = lists.start[q + 1] - a
        if n == 1:
            continue
        for i in range(unsigned(n)):
            e[i] = scores[unsigned(lists.rows[unsigned(a) + i])]
        _exponentials(e, lists.weight, a, n)
        whole = _take_out_the_largest(e, n)
        of_largest = _less_target(n, whole, a, target, workspace)
        c = factor[q]
        for i in range(unsigned(n)):
            row = unsigned(lists.rows[unsigned(a) + i])
            sums.gradient[row] = c * t[i]
            sums.hessian[row] = c * p[i] * (1.0 - p[i])
        row = unsigned(lists.rows[a + whole.most])
        sums.gradient[row] = c * of_largest
        sums.hessian[row] = c * whole.share * whole.others


@compiled()
def values(first: int, last: int, lists: Any, scores: Any, target: Any, factor: Any, sums: Any) -> None:
    """Write factor times -Σ P ln p of each list."""
    workspace = _workspace_for(lists.start, first, last)
    e = workspace.e
    for q in range(first, last):
        a = lists.start[q]
        n = lists.start[q + 1] - a
        for i in range(n):
            e[i] = scores[lists.rows[a + i]]
        _exponentials(e, lists.weight, a, n)
        whole = _take_out_the_largest(e, n)
        behind, most = math.log1p(whole.others / whole.share), whole.most
        best, heaviest = scores[lists.rows[a + most]], lists.weight[a + most]
        total = 0.0
        for i in range(n):
            if target[a + i] > 0.0:
                gap = (best - scores[lists.rows[a + i]]) + math.log(heaviest / lists.weight[a + i])
                total += target[a + i] * min(behind + gap, np.finfo(np.float64).max)
        sums.value[q] = factor[q] * total
