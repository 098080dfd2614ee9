"""Sums over the positions of a ranking: order the documents of each query, then walk the blocks of tied ones."""

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import frozen
from boostplug.core.threads import numbers_by_query, run_over_queries
from boostplug.kernels.base.compiling import compiled, inner
from boostplug.kernels.base.sorting import SHORT, best_rows, room_for, sort, top_rows

__all__ = [
    "average_precision",
    "dcg",
    "mean_ndcg",
    "mean_ndcg_weights",
    "precision",
    "recall",
    "reciprocal_rank",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_NONE = frozen(np.zeros(0))


@inner()
def _discounted(
    scores: Floats, gains: Floats, discount: Floats, average: bool, start: int, stop: int,
    keys: Floats, rows: Ints, m: int, tied: int,
) -> float:  # fmt: skip
    r"""Return the discounted cumulative gain of one query, of which `rows` are the best m, and `keys` their scores.

    .. math:: \sum_{j \le k} d_j\, \bar g_j

    `discount` holds :math:`d_1 … d_k`. With `average`, :math:`\bar g_j` is the mean gain of the documents that tie
    with the one at position j; otherwise its own gain, ties in file order. `tied` more of the query's rows tie with
    the last of the m.
    """
    total = 0.0
    cut = min(m, len(discount))
    a = 0
    while a < cut:
        b = a + 1
        gain, weight = gains[rows[a]], discount[a]
        if average:
            while b < m and keys[b] == keys[a]:
                gain += gains[rows[b]]
                b += 1
            n = b - a
            if b == m and tied > 0:
                n += tied
                gain = 0.0
                for i in range(start, stop):
                    if scores[i] == keys[a]:
                        gain += gains[i]
            if n > 1:
                for j in range(a + 1, min(b, cut)):
                    weight += discount[j]
                weight /= n
        total += weight * gain
        a = b
    return total


@inner()
def _normalised(dcg: float, ideal: Floats, q: int) -> float:
    """Return a query's DCG over the ideal one, at most 1 but for rounding; NaN where that is 0."""
    if len(ideal) == 0:
        return dcg
    return min(dcg / ideal[q], 1.0) if ideal[q] > 0.0 else np.nan


@compiled()
def _dcg_of_top(
    scores: Floats, gains: Floats, ideal: Floats, boundaries: Ints, discount: Floats, average: bool,
    first: int, last: int, out: Floats,
) -> None:  # fmt: skip
    """Write the DCG of the queries ``first <= q < last``, for a small cut-off: no list is sorted."""
    k = len(discount)
    keys, rows = np.empty(k), np.empty(k, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        m, tied = top_rows(scores, start, stop, k, keys, rows) if k > 0 else (0, 0)
        total = _discounted(scores, gains, discount, average, start, stop, keys, rows, m, tied)
        out[q] = _normalised(total, ideal, q)


@compiled()
def _dcg(
    scores: Floats, gains: Floats, ideal: Floats, boundaries: Ints, discount: Floats, average: bool,
    first: int, last: int, out: Floats,
) -> None:  # fmt: skip
    """Write the DCG of the queries ``first <= q < last``."""
    room = room_for(boundaries, first, last)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        for i in range(start, stop):
            room.keys[i - start], room.rows[i - start] = scores[i], i
        sort(room, stop - start)
        total = _discounted(scores, gains, discount, average, start, stop, room.keys, room.rows, stop - start, 0)
        out[q] = _normalised(total, ideal, q)


def dcg(
    scores: Floats, gains: Floats, boundaries: Ints, discount: Floats, *, average: bool, ideal: Floats = _NONE
) -> Floats:
    """Return the DCG of each query, over `ideal` where that is given; NaN where it is 0.

    All arrays are read-only, so that the kernel is compiled for one type.
    """
    kernel = _dcg_of_top if len(discount) <= SHORT else _dcg
    return numbers_by_query(kernel, boundaries, scores, gains, ideal, boundaries, discount, average)


@compiled()
def _average_precision(
    scores: Floats, relevant: Bools, boundaries: Ints, k: int, average: bool, first: int, last: int, out: Floats
) -> None:
    r"""Average precision of the queries ``first <= q < last``; NaN for a query without relevant documents.

    .. math:: \frac1R \sum_{j \le k} \mathrm{rel}_j \frac{\#\{\text{relevant at } 1 … j\}}{j}

    With `average`, the expected value over a random order of tied documents: position j of a block of n documents,
    r of them relevant, that starts after position a with s relevant documents before it, contributes (McSherry &
    Najork, ECIR 2008, §2.3)

    .. math:: \frac rn \Bigl(s + 1 + (j - a - 1)\frac{r - 1}{n - 1}\Bigr)\frac1j .
    """
    room = room_for(boundaries, first, last)
    keys, rows = room.keys, room.rows
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n_relevant = 0
        for i in range(start, stop):
            n_relevant += relevant[i]
        if n_relevant == 0:
            out[q] = np.nan
            continue
        cut = min(k, stop - start)
        m = best_rows(scores, start, stop, cut, room)
        total = 0.0
        before = 0  # relevant documents above the block
        a = 0
        while a < cut:
            b = a + 1
            inside = 1 if relevant[rows[a]] else 0  # relevant documents in the block
            if average:
                while b < m and keys[b] == keys[a]:
                    inside += 1 if relevant[rows[b]] else 0
                    b += 1
            if inside > 0:
                share = inside / (b - a)
                slope = (inside - 1) / max(b - a - 1, 1)
                for j in range(a, min(b, cut)):
                    total += share * (before + 1 + (j - a) * slope) / (j + 1)
            before += inside
            a = b
        out[q] = min(total / n_relevant, 1.0)


def average_precision(scores: Floats, relevant: Bools, boundaries: Ints, k: int, *, average: bool) -> Floats:
    """Return the average precision of each query."""
    return numbers_by_query(_average_precision, boundaries, scores, relevant, boundaries, k, average)


@compiled()
def _mean_ndcg_weights(gains: Floats, boundaries: Ints, discount: Floats, first: int, last: int, out: Floats) -> None:
    r"""Weights that turn gains by position into the mean NDCG over the cut-offs 1 … n; 0 where the ideal DCG is 0.

    .. math:: \frac1n \sum_{k \le n} \frac{\mathrm{DCG}_k}{\mathrm{ideal}_k} = \sum_j g_j c_j, \qquad
              c_j = \frac{d_j}n \sum_{k \ge j} \frac1{\mathrm{ideal}_k}

    :math:`c_j` goes to row ``start + j - 1`` of the query.
    """
    room = room_for(boundaries, first, last)
    keys = room.keys
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n = stop - start
        for i in range(n):
            keys[i] = gains[start + i]
        sort(room, n)
        total = 0.0
        for i in range(n):
            total += discount[i] * keys[i]
            keys[i] = total
        inverse = 0.0
        for i in range(n - 1, -1, -1):
            if total > 0.0:
                inverse += 1.0 / keys[i]
            out[start + i] = discount[i] * inverse / n


def mean_ndcg_weights(gains: Floats, boundaries: Ints, discount: Floats) -> Floats:
    """Return the weights of `mean_ndcg`, an entry per row."""
    out = np.empty(len(gains))
    run_over_queries(lambda a, b: _mean_ndcg_weights(gains, boundaries, discount, a, b, out), boundaries)
    return frozen(out)


@compiled()
def _mean_ndcg(
    scores: Floats, gains: Floats, boundaries: Ints, weights: Floats, average: bool, first: int, last: int, out: Floats
) -> None:
    """Sum of the gains by position, weighted by `weights` of `mean_ndcg_weights`; ties as in `dcg`."""
    room = room_for(boundaries, first, last)
    keys, rows = room.keys, room.rows
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n = stop - start
        total = 0.0
        if n > 0:
            best_rows(scores, start, stop, n, room)
        a = 0
        while a < n:
            b = a + 1
            gain, weight = gains[rows[a]], weights[start + a]
            while average and b < n and keys[b] == keys[a]:
                gain += gains[rows[b]]
                weight += weights[start + b]
                b += 1
            total += weight * gain / (b - a)
            a = b
        out[q] = total


def mean_ndcg(scores: Floats, gains: Floats, boundaries: Ints, weights: Floats, *, average: bool) -> Floats:
    """Return the mean NDCG of each query."""
    return numbers_by_query(_mean_ndcg, boundaries, scores, gains, boundaries, weights, average)


@compiled()
def _reciprocal_rank(
    scores: Floats, relevant: Bools, boundaries: Ints, k: int, average: bool, first: int, last: int, out: Floats
) -> None:
    r"""Reciprocal rank of the first relevant document, 0 below rank k; NaN for a query without relevant documents.

    With `average`, the expected value over a random order of tied documents: if r of the n documents of the block that
    holds the first relevant one are relevant, it is the block's t-th with probability

    .. math:: p_t = \binom{n - t}{r - 1} \Big/ \binom nr, \qquad
              p_1 = \frac rn, \quad p_{t+1} = p_t \frac{n - t - r + 1}{n - t} .
    """
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        best, at = -np.inf, -1
        for i in range(start, stop):
            if relevant[i] and (at < 0 or scores[i] > best):
                best, at = scores[i], i
        if at < 0:
            out[q] = np.nan
            continue
        above = tied = hits = earlier = 0
        for i in range(start, stop):
            if scores[i] > best:
                above += 1
            elif scores[i] == best:
                tied += 1
                hits += 1 if relevant[i] else 0
                earlier += 1 if i < at else 0
        if not average:
            above, tied, hits = above + earlier, 1, 1
        total, chance = 0.0, hits / tied
        for t in range(1, min(tied - hits + 1, k - above) + 1):
            total += chance / (above + t)
            chance *= (tied - t - hits + 1) / max(tied - t, 1)
        out[q] = total


def reciprocal_rank(scores: Floats, relevant: Bools, boundaries: Ints, k: int, *, average: bool) -> Floats:
    """Return the reciprocal rank of each query."""
    return numbers_by_query(_reciprocal_rank, boundaries, scores, relevant, boundaries, k, average)


@compiled()
def _hits(
    scores: Floats, relevant: Bools, boundaries: Ints, k: int, of_relevant: bool, average: bool,
    first: int, last: int, out: Floats,
) -> None:  # fmt: skip
    """Relevant documents among the best k, or, where `k` is 0, among as many as are relevant; NaN without any of these.

    As a share of k, or of all relevant ones with `of_relevant`. With `average`, tied documents at the cut count as
    often as a random order puts them above it.
    """
    room = room_for(boundaries, first, last)
    keys, rows = room.keys, room.rows
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n_relevant = 0
        for i in range(start, stop):
            n_relevant += 1 if relevant[i] else 0
        if n_relevant == 0:
            out[q] = np.nan
            continue
        cut = min(k, stop - start) if k > 0 else n_relevant
        m = best_rows(scores, start, stop, cut, room)
        sure = hits = 0  # relevant documents above the block at the cut, and in it
        a = 0
        for j in range(m if average else cut):
            if keys[j] > keys[cut - 1] or not average:
                sure += 1 if relevant[rows[j]] else 0
                a = j + 1
            else:
                hits += 1 if relevant[rows[j]] else 0
        out[q] = (sure + hits * (cut - a) / max(m - a, 1)) / (n_relevant if of_relevant else k)


def precision(scores: Floats, relevant: Bools, boundaries: Ints, k: int, *, average: bool) -> Floats:
    """Return the precision at k of each query."""
    return numbers_by_query(_hits, boundaries, scores, relevant, boundaries, k, False, average)


def recall(scores: Floats, relevant: Bools, boundaries: Ints, k: int, *, average: bool) -> Floats:
    """Return the recall of each query at k, or, where that is 0, at the number of its relevant documents."""
    return numbers_by_query(_hits, boundaries, scores, relevant, boundaries, k, True, average)
