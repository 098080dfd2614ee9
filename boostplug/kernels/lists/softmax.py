"""Softmax over lists, and cross entropies between a target distribution and that of the scores.

A document of weight v counts as v documents: its share is v e^F / Σ v e^F. Shares are precise at any range of scores: 1
less the largest share is summed from the other documents, and if these underflow, their own shares are taken relative
to the best of them.

In NumPy, for one list and the softmax of its grades as target (`derivatives`, without Bruch's terms, and `values`):

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
from numpy.typing import NDArray

from boostplug.kernels.base.arithmetic import EXP_MAX, SPLITMIX_STEP, exponential, mixed, unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, first_lanes, larger, largest_of, load, store, sum_of
from boostplug.kernels.base.sorting import longest_list

Floats = NDArray[np.float64]

_HALF = 0.5
_VANISHED = 1e-250  # total share of the other documents below which cut exponents and rounding spoil their own shares
_UNIT = 2.0**-53
_NEGATIVE_ZERO = np.uint64(1 << 63)  # bits of -0.0, treated as 0.0


class _Workspace(NamedTuple):
    """Documents of a list: exponentials relative to the best (0 for the largest), shares, first-order terms."""

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


@inlined()
def _among_the_others(scores: Any, lists: Any, a: int, n: int, most: int, e: Any) -> None:
    """Write the exponentials of all documents except `most`, relative to the best of these."""
    best = -np.inf
    for i in range(n):
        if i != most:
            best = max(best, scores[lists.rows[a + i]])
    for i in range(n):
        x = scores[lists.rows[a + i]] - best
        e[i] = 0.0 if i == most else lists.weight[a + i] * math.exp(x)


@inlined(fastmath={"contract"})
def _first_order(n: int, whole: _Whole, a: int, target: Any, workspace: _Workspace) -> float:
    """Write p and p - P, both 0 for the document of the largest share; return its p - P, minus the sum of the others'.

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


@inlined(fastmath={"contract"})
def _next_order(n: int, workspace: _Workspace, terms: Any, to_add: Any, of_one: float, per_other: float) -> float:
    """Add p_i Σ_(j≠i) x_j/(1 - p_j) to the gradient, and write it in place of x; return Σ x/(1 - p).

    `terms` holds x of all documents except m, the one of the largest share, whose x is `of_one`. Its part of the sums
    is added separately: p_i/(1 - p_m) is i's share among the others.
    """
    e, p, _ = workspace
    total = broadcast(0.0)
    for k in range(0, n, WIDTH):
        x = load(terms, k) / (1.0 - load(p, k))
        store(terms, k, x)
        total = total + x
    s = sum_of(total)
    shared = of_one * per_other
    for k in range(0, n, WIDTH):
        x = load(p, k) * (s - load(terms, k)) + load(e, k) * shared
        store(terms, k, x)
        store(to_add, k, load(to_add, k) + x)
    out: float = s
    return out


@compiled()
def derivatives(
    lists: Any, scores: Any, target: Any, factor: Any, three_terms: bool, first: int, last: int, sums: Any
) -> None:
    """Write p - P (or Bruch's three terms) and p (1 - p) of each document, times the factor of its list."""
    workspace = _workspace_for(lists.start, first, last)
    e, p, t = workspace
    gradient = np.empty(len(t))
    for q in range(first, last):
        a = lists.start[q]
        n = lists.start[q + 1] - a
        if n == 1:
            continue
        for i in range(unsigned(n)):
            e[i] = scores[unsigned(lists.rows[unsigned(a) + i])]
        _exponentials(e, lists.weight, a, n)
        whole = _take_out_the_largest(e, n)
        of_one = _first_order(n, whole, a, target, workspace)
        own, g = of_one, t
        if three_terms:
            for k in range(0, n, WIDTH):
                store(gradient, k, load(t, k))
            g = gradient
            if whole.others < _VANISHED:
                _among_the_others(scores, lists, a, n, whole.most, e)
            per_other = 1.0 / _sum(e, n)
            for _ in range(2):
                of_one = whole.share * _next_order(n, workspace, t, g, of_one, per_other)
                own += of_one
        c = factor[q]
        for i in range(unsigned(n)):
            row = unsigned(lists.rows[unsigned(a) + i])
            sums.gradient[row] = c * g[i]
            sums.hessian[row] = c * p[i] * (1.0 - p[i])
        row = unsigned(lists.rows[a + whole.most])
        sums.gradient[row] = c * own
        sums.hessian[row] = c * whole.share * whole.others


@compiled()
def values(lists: Any, scores: Any, target: Any, factor: Any, first: int, last: int, sums: Any) -> None:
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


@inlined()
def _write_shares(e: Any, n: int, a: int, out: Any) -> None:
    """Write the shares, bit by bit those that `derivatives` computes from the same exponentials."""
    per_unit = 1.0 / _sum(e, n)
    for i in range(unsigned(n)):
        out[unsigned(a) + i] = e[i] * per_unit


@compiled()
def targets(lists: Any, first: int, last: int, out: Any) -> None:
    """Write the softmax of the grades of each list."""
    e = _workspace_for(lists.start, first, last).e
    for q in range(first, last):
        a = lists.start[q]
        n = lists.start[q + 1] - a
        for i in range(n):
            e[i] = lists.grade[a + i]
        _exponentials(e, lists.weight, a, n)
        _write_shares(e, n, a, out)


@inlined()
def _noise(bits: Any, row: Any, seed: Any) -> float:
    """Return a uniform number in [0, 1), a hash of the seed, the row and the bits of its score (SplitMix64)."""
    x = seed
    for part in (row, bits if bits != _NEGATIVE_ZERO else unsigned(0)):
        x = mixed((x ^ part) + SPLITMIX_STEP)
    return float(x >> unsigned(11)) * _UNIT


@compiled()
def exp2_targets(lists: Any, gains: Any, units: Any, bits: Any, seed: Any, first: int, last: int, out: Any) -> None:
    """Write the shares of 2^r - γ in each list; γ is noise from the bits of the scores, or ½ without them.

    `gains` holds 2^(r - r') of each document, with r' the list's largest grade, and `units` 2^-r' of each list.
    """
    e = _workspace_for(lists.start, first, last).e
    noisy = bits.shape[0] > 0
    for q in range(first, last):
        a = lists.start[q]
        n = lists.start[q + 1] - a
        for i in range(unsigned(n)):
            at = unsigned(a) + i
            noise = _HALF
            if noisy:
                row = unsigned(lists.rows[at])
                noise = _noise(bits[row], row, seed)
            e[i] = lists.weight[at] * (gains[at] - noise * units[q])
        for i in range(n, n + WIDTH):
            e[i] = 0.0
        _write_shares(e, n, a, out)
