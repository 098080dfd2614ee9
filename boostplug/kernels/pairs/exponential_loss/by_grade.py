"""Sums of :math:`w_{ij} = a_i b_j e^{-d_{ij}(F_i - F_j)}` over the pairs of a query, grade by grade.

Documents come by query and grade (`boostplug.kernels.base.views.GroupArrays`). Document i has the higher grade, j the
lower one; a and b are their weights as winner and loser. The sum over the pairs of two grades factorises, so a query of
n documents with K grades costs O(nK) time and O(n) memory, and O(n) if all distances are 1. Queries whose exponents may
pass ±60 are left to `far`, which is slower. See "Cost" and "Range" in `docs/explanation/mpboost.md`.

In NumPy, for the labels y, scores f and distances of one query::

    def exponential_sums(y, f, distance):
        grades = np.unique(y)
        gradient, hessian = np.zeros(len(y)), np.zeros(len(y))
        for high in grades:
            for low in grades[grades < high]:
                d, above, below = distance(high - low), y == high, y == low
                winners, losers = np.exp(-d * f[above]), np.exp(d * f[below])
                gradient[above] -= d * winners * losers.sum()
                gradient[below] += d * losers * winners.sum()
                hessian[above] += d**2 * winners * losers.sum()
                hessian[below] += d**2 * losers * winners.sum()
        return gradient, hessian
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.arithmetic import exponential
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import WIDTH, broadcast, first_lanes, load, store, sum_of
from boostplug.kernels.base.views import GroupArrays
from boostplug.kernels.pairs.exponential_loss.by_pair import sum_by_pair
from boostplug.kernels.pairs.exponential_loss.far import sum_far
from boostplug.kernels.pairs.exponential_loss.query import (
    BY_PAIR,
    FACTORISED,
    LARGEST_EXPONENT,
    RUNNING,
    Curvature,
    Method,
    Sums,
    centre,
    distances_below,
    gather,
    padded,
    scatter,
    workspace_for,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Plan(NamedTuple):
    """Methods of the queries, and their cost in exponentials up to each query, to share the work among threads."""

    cost: Ints
    methods: frozenset[int]


@inlined(fastmath={"contract"})
def _exponentials(workspace: Any, weight: Any, first: int, last: int, d: float) -> float:
    """Write weight · e^(d f) of a group's documents, 0 in the lanes past them, and return the sum."""
    f, e = workspace.f, workspace.e
    total = broadcast(0.0)
    for k in range(first, last, WIDTH):
        x = exponential(d * load(f, k))
        if weight.shape[0] > 0:
            x = x * load(weight, k)
        x = first_lanes(last - k, x, 0.0)
        store(e, k, x)
        total = total + x
    of_group: float = sum_of(total)
    return of_group


@inlined(fastmath={"contract"})
def _add(workspace: Any, first: int, last: int, of_g: float, of_h: float) -> None:
    """Add multiples of a group's exponentials to its gradient and Hessian."""
    e, g, h = workspace.e, workspace.g, workspace.h
    for k in range(first, last, WIDTH):
        x = load(e, k)
        store(g, k, load(g, k) + of_g * x)
        store(h, k, load(h, k) + of_h * x)


@inlined()
def _factorised(workspace: Any, groups: Any, method: Any, q: int, c: Any, factor: float, distances: Any) -> None:
    """Sum all pairs of a query by factorisation; `distances` is workspace with a number for each group."""
    start, u0, u1 = groups.group_start, groups.query_group[q], groups.query_group[q + 1]
    at = method.start[q]
    v_first = padded(start[u0 + 1] - start[u0])
    for v in range(u0 + 1, u1):
        distances_below(method, q, groups, v, at, distances)
        at += v - u0
        v_last = v_first + start[v + 1] - start[v]
        u_first = 0
        for u in range(u0, v):
            u_last, d = u_first + start[u + 1] - start[u], distances[u - u0]
            below = _exponentials(workspace, workspace.loser, u_first, u_last, d)
            above = _exponentials(workspace, workspace.winner, v_first, v_last, -d)
            of_g = factor * d
            of_h = c.squared * d * of_g + c.constant * factor
            _add(workspace, u_first, u_last, of_g * above, of_h * above)
            _add(workspace, v_first, v_last, -of_g * below, of_h * below)
            u_first += padded(u_last - u_first)
        v_first += padded(v_last - v_first)


@inlined(fastmath={"contract"})
def _running(workspace: Any, groups: Any, q: int, c: Any, factor: float) -> None:
    """Sum all pairs of a query whose distances are 1, by running sums over the grades, upwards and downwards."""
    f, _, g, h, winner, loser = workspace
    start, u0, u1 = groups.group_start, groups.query_group[q], groups.query_group[q + 1]
    curvature = c.squared + c.constant
    for sign in (1.0, -1.0):
        passed = 0.0
        own, other = (loser, winner) if sign > 0.0 else (winner, loser)  # own weights, and those summed in `passed`
        for k in range(u1 - u0):
            u = u0 + k if sign > 0.0 else u1 - 1 - k
            last, total = start[u + 1] - start[u0], broadcast(0.0)
            for i in range(start[u] - start[u0], last, WIDTH):
                x = load(f, i) * sign
                mine, theirs = exponential(x), (factor * passed) * exponential(0.0 - x)
                if own.shape[0] > 0:
                    mine, theirs = mine * load(own, i), theirs * load(other, i)
                theirs = first_lanes(last - i, theirs, 0.0)
                store(g, i, load(g, i) - sign * theirs)
                store(h, i, load(h, i) + curvature * theirs)
                total = total + first_lanes(last - i, mine, 0.0)
            passed += sum_of(total)


@compiled()
def _sum_factorised(
    first: int, last: int, scores: Any, groups: Any, method: Any, c: Any, factor: Any, out: Any, workspace: Any
) -> None:
    """Sum the FACTORISED queries among ``first <= q < last``, except those that are far."""
    distances = np.empty(groups.most_grades)
    for q in range(first, last):
        if method.how[q] != FACTORISED:
            continue
        low, high, n = gather(q, scores, groups, workspace, True)
        out.far[q] = method.largest_distance[q] * (high - low) > LARGEST_EXPONENT
        if not out.far[q]:
            centre(workspace, n, low, high)
            _factorised(workspace, groups, method, q, c, factor[q], distances)
            scatter(q, workspace, groups, out, True)


@compiled()
def _sum_running(
    first: int, last: int, scores: Any, groups: Any, method: Any, c: Any, factor: Any, out: Any, workspace: Any
) -> None:
    """Sum the queries ``first <= q < last``, where all distances are 1, except those that are far."""
    for q in range(first, last):
        low, high, n = gather(q, scores, groups, workspace, False)
        out.far[q] = method.largest_distance[q] * (high - low) > LARGEST_EXPONENT
        if not out.far[q]:
            centre(workspace, n, low, high)
            _running(workspace, groups, q, c, factor[q])
            scatter(q, workspace, groups, out, False)


def sum_over_pairs(
    scores: Floats,
    groups: GroupArrays,
    method: Method,
    plan: Plan,
    curvature: Curvature,
    factor: Floats,
    out: Sums,
) -> None:
    """Write gradient -Σ_j ± d w and Hessian of all rows in pairs, each query's times its factor.

    `plan_of` makes the plan.
    """

    def run(kernel: Any) -> None:
        run_over_queries(
            lambda first, last: kernel(
                first, last, scores, groups, method, curvature, factor, out, workspace_for(groups)
            ),
            plan.cost,
        )  # fmt: skip

    for how, kernel in ((FACTORISED, _sum_factorised), (RUNNING, _sum_running), (BY_PAIR, sum_by_pair)):
        if how in plan.methods:
            run(kernel)
    if out.far.any():
        run(sum_far)


def plan_of(groups: GroupArrays, how: Ints) -> Plan:
    """Return the plan for queries with these methods; it does not depend on scores."""
    n_documents, n_grades = np.diff(groups.group_start[groups.query_group]), np.diff(groups.query_group)
    per_document = np.select([how == FACTORISED, how == RUNNING], [n_grades - 1, 1], n_documents // 2)
    cost: Ints = np.r_[0, np.cumsum(n_documents * per_document)].astype(np.int64)
    return Plan(cost, frozenset(np.unique(how).tolist()))
