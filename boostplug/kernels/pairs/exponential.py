r"""Sums of the exponential loss :math:`w_{ij} = a_i b_j e^{-d_{ij}(F_i - F_j)}` over the pairs of a query.

Document i has the higher grade, j the lower one. Their weights as winner and loser are a and b. The sum over the pairs
of two grades factorises. So a query of n documents with K grades costs O(nK) time and O(n) memory. Pairs are summed one
by one in short lists of many grades, and where a pair's exponent passes 60. See "Cost" and "Range" in
`docs/explanation/mpboost.md`.

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

from boostplug.core.arrays import Floats, Ints
from boostplug.kernels.base.arithmetic import EXP_MAX, exponential, log1p
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.simd import (
    WIDTH,
    broadcast,
    first_lanes,
    larger,
    largest_of,
    least_of,
    load,
    smaller,
    store,
    sum_of,
)

BINARY, LINEAR, LOG, LOGISTIC, STORED = 0, 1, 2, 3, 4  # distances
LARGEST_EXPONENT = 60.0  # of a pair; e^60 · 1e10 pairs still fit float32
BY_PAIR_UP_TO = 300  # documents
_EXPONENTIALS_PER_PAIR = 1.5  # exponentials of the factorised sum that take as long as a pair in the loop (measured)
_WIDEST = 400.0  # range of exponents that the factorised sum takes: e^200 times squares of distances is finite
_FARTHEST = 1e300  # a difference of scores times a distance; larger ones are clipped
_SMALLEST_HESSIAN = 1e-300  # below it a Hessian has lost digits: the row takes no step


class Curvature(NamedTuple):
    """Terms of a pair with weight w and distance d.

    A pair adds ``(squared · d² + constant) w`` to both Hessians. `beyond` is 1 for the value of the loss, which grows
    linearly where the exponent passes `LARGEST_EXPONENT`. For derivatives it is 0, and w stays constant there.
    """

    squared: float
    constant: float
    beyond: float = 0.0


class Distances(NamedTuple):
    """Distances between the grades of each query.

    Attributes
    ----------
    kind : int
    parameter : float
    longest : ndarray of shape (n_queries,)
        The largest distance of each query.
    start, values : ndarray
        The distances of a user's function (kind `STORED`): of each group of query q to each lower one, from
        ``start[q]`` on. Otherwise empty.
    """

    kind: int
    parameter: float
    longest: Floats
    start: Ints
    values: Floats


class _Query(NamedTuple):
    """Documents of one query by grade. Each array has `WIDTH` entries more than it holds."""

    score: Floats
    winner: Floats
    loser: Floats
    gradient: Floats
    hessian: Floats
    spare: Floats  # exponentials of the lower grade, or distances
    other: Floats  # exponentials of the higher grade
    edge: Ints  # of the groups: group u holds the documents edge[u]:edge[u + 1]
    grade: Floats  # of each group
    distance: Floats  # of one group to each lower one


@inlined(fastmath={"contract"}, error_model="numpy")
def _write_distances(distances: Distances, q: int, v: int, query: _Query) -> None:
    """Write the distance of group v of a query to each lower group."""
    kind, parameter, grade = distances.kind, distances.parameter, query.grade
    if kind == STORED:
        at = distances.start[q] + v * (v - 1) // 2
        for u in range(v):
            query.distance[u] = distances.values[at + u]
    else:
        for u in range(0, v, WIDTH):
            gap = first_lanes(v - u, grade[v] - load(grade, u), 1.0)
            if kind == LINEAR:
                d = gap * parameter
            elif kind == LOG:
                d = log1p(gap * parameter)
            elif kind == LOGISTIC:
                d = 1.0 / (exponential(larger(gap * -parameter, broadcast(-EXP_MAX))) + 1.0)
            else:
                d = broadcast(1.0)
            store(query.distance, u, d)


@inlined(fastmath={"contract"})
def _exponentials(query: _Query, weight: Any, first: int, last: int, d: float, out: Any) -> float:
    """Write weight · e^(d F) of a group's documents, 0 in the lanes past them, and return the sum."""
    total = broadcast(0.0)
    for k in range(first, last, WIDTH):
        x = first_lanes(last - k, exponential(d * load(query.score, k)) * load(weight, k), 0.0)
        store(out, k, x)
        total = total + x
    of_group: float = sum_of(total)
    return of_group


@inlined(fastmath={"contract"})
def _add(query: _Query, exponentials: Any, first: int, last: int, of_g: float, of_h: float) -> None:
    """Add multiples of a group's exponentials to its gradient and Hessian."""
    for k in range(first, last, WIDTH):
        x = load(exponentials, k)
        store(query.gradient, k, load(query.gradient, k) + of_g * x)
        store(query.hessian, k, load(query.hessian, k) + of_h * x)


@inlined()
def _sum_by_grade(query: _Query, q: int, n_grades: int, distances: Distances, c: Curvature, factor: float) -> None:
    """Sum all pairs of a query by factorisation."""
    edge = query.edge
    for v in range(1, n_grades):
        _write_distances(distances, q, v, query)
        for u in range(v):
            d = query.distance[u]
            below = _exponentials(query, query.loser, edge[u], edge[u + 1], d, query.spare)
            above = _exponentials(query, query.winner, edge[v], edge[v + 1], -d, query.other)
            of_g = factor * d
            of_h = c.squared * d * of_g + c.constant * factor
            _add(query, query.spare, edge[u], edge[u + 1], of_g * above, of_h * above)
            _add(query, query.other, edge[v], edge[v + 1], -of_g * below, of_h * below)


@inlined(fastmath={"contract"}, error_model="numpy")
def _sum_by_pair(query: _Query, q: int, n_grades: int, distances: Distances, c: Curvature, factor: float) -> None:
    """Sum all pairs of a query one by one."""
    edge, f, g, h, distance = query.edge, query.score, query.gradient, query.hessian, query.spare
    for v in range(1, n_grades):
        _write_distances(distances, q, v, query)
        end = edge[v]
        for u in range(v):
            for j in range(edge[u], edge[u + 1]):
                distance[j] = query.distance[u]
        for i in range(end, edge[v + 1]):
            g_i, h_i = broadcast(0.0), broadcast(0.0)
            for j in range(0, end, WIDTH):
                d = load(distance, j)
                exponent = smaller(larger(d * (load(f, j) - f[i]), broadcast(-EXP_MAX)), broadcast(_FARTHEST))
                w = exponential(smaller(exponent, broadcast(LARGEST_EXPONENT))) * (factor * query.winner[i])
                w = w * (larger(exponent - LARGEST_EXPONENT, broadcast(0.0)) * c.beyond + 1.0)
                w = first_lanes(end - j, w * load(query.loser, j), 0.0)
                x = d * w
                y = d * x * c.squared + w * c.constant
                g_i, h_i = g_i - x, h_i + y
                store(g, j, load(g, j) + x)
                store(h, j, load(h, j) + y)
            g[i] += sum_of(g_i)
            h[i] += sum_of(h_i)


@inlined()
def _lowest_and_highest(score: Any, n: int) -> tuple[float, float]:
    low = high = broadcast(score[0])
    for k in range(0, n, WIDTH):
        x = first_lanes(n - k, load(score, k), score[0])
        low, high = smaller(low, x), larger(high, x)
    return least_of(low), largest_of(high)


@inlined()
def _is_far(query: _Query, q: int, n_grades: int, distances: Distances, width: float) -> bool:
    """Return whether a pair is so far in the wrong order that its exponent passes 60, or no sum can be factorised."""
    if distances.longest[q] * width <= LARGEST_EXPONENT:
        return False
    if distances.longest[q] * width > _WIDEST:
        return True
    far = False
    for v in range(1, n_grades):
        _write_distances(distances, q, v, query)
        lowest = query.score[query.edge[v]]
        for i in range(query.edge[v], query.edge[v + 1]):
            lowest = min(lowest, query.score[i])
        for u in range(v):
            for j in range(query.edge[u], query.edge[u + 1]):
                far |= query.distance[u] * (query.score[j] - lowest) > LARGEST_EXPONENT
    return far


@inlined()
def _is_short(query: _Query, n_grades: int) -> bool:
    """Return whether a loop over all pairs is faster than the factorised sum."""
    n = query.edge[n_grades]
    if n > BY_PAIR_UP_TO:
        return False
    n_pairs = 0
    for v in range(n_grades):
        n_pairs += query.edge[v] * (query.edge[v + 1] - query.edge[v])
    return bool((n_grades - 1) * (n + 4 * n_grades) > _EXPONENTIALS_PER_PAIR * n_pairs)


@compiled()
def sum_exponentials(
    first: int, last: int, groups: Any, scores: Any, distances: Distances, c: Curvature, factor: Any, gradient: Any,
    hessian: Any,
) -> None:  # fmt: skip
    """Write gradient -Σ_j ± d w and Hessian of the rows of ``first <= q < last``, each query's times its factor."""
    n, m = groups.longest + WIDTH, groups.most_grades + WIDTH
    query = _Query(
        np.zeros(n), np.ones(n), np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros(m, np.int64), np.zeros(m), np.zeros(m),
    )  # fmt: skip
    for q in range(first, last):
        u0, n_grades = groups.query_group[q], groups.query_group[q + 1] - groups.query_group[q]
        base = groups.group_start[u0]
        for u in range(n_grades):
            query.edge[u + 1], query.grade[u] = groups.group_start[u0 + u + 1] - base, groups.group_grade[u0 + u]
        n = query.edge[n_grades]
        for k in range(n):
            query.score[k] = scores[groups.rows[base + k]]
            query.gradient[k] = query.hessian[k] = 0.0
            if len(groups.winner):
                query.winner[k], query.loser[k] = groups.winner[base + k], groups.loser[base + k]
        low, high = _lowest_and_highest(query.score, n)
        if _is_short(query, n_grades) or _is_far(query, q, n_grades, distances, high - low):
            _sum_by_pair(query, q, n_grades, distances, c, factor[q])
        else:
            middle = low + 0.5 * (high - low)
            for k in range(n):
                query.score[k] -= middle
            _sum_by_grade(query, q, n_grades, distances, c, factor[q])
        for k in range(n):
            row = groups.rows[base + k]
            kept = query.hessian[k] >= _SMALLEST_HESSIAN
            gradient[row] = query.gradient[k] if kept else 0.0
            hessian[row] = query.hessian[k] if kept else 0.0
