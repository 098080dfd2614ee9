"""Sums over the ranks of a list: sort the documents of each query, then walk the blocks of tied documents."""

import numpy as np

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import frozen
from boostplug.core.threads import numbers_by_query, run_over_queries
from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.base.sorting import best_rows, sort, workspace_for

_NONE = frozen(np.zeros(0))


@compiled()
def _dcg(
    first: int, last: int, scores: Floats, gains: Floats, ideal: Floats, boundaries: Ints, discount: Floats,
    places: Ints, cutoffs: Ints, average: bool, out: Floats,
) -> None:  # fmt: skip
    r"""Write the DCG of each query, over its `ideal` DCG unless that is empty: NaN if it is 0.

    .. math:: \sum_{j \le k} d_j\, \bar g_j

    The discounts :math:`d_1 … d_k` of query q start at ``discount[places[q]]``; k is ``cutoffs[q]``, at most the number
    of documents. With `average`, :math:`\bar g_j` is the mean gain of the documents that tie with the one at rank j.
    Otherwise it is its own gain, ties in file order.
    """
    workspace = workspace_for(boundaries, first, last)
    keys, rows = workspace.keys, workspace.rows
    for q in range(first, last):
        place, k = places[q], cutoffs[q]
        m = best_rows(scores, boundaries[q], boundaries[q + 1], k, average, workspace) if k > 0 else 0
        total = 0.0
        a = 0
        while a < k:
            b = a + 1
            gain, weight = gains[rows[a]], discount[place + a]
            while average and b < m and keys[b] == keys[a]:
                gain += gains[rows[b]]
                weight += discount[place + b] if b < k else 0.0
                b += 1
            total += weight * gain / (b - a)
            a = b
        if len(ideal) > 0:
            total = min(total / ideal[q], 1.0) if ideal[q] > 0.0 else np.nan
        out[q] = total


def dcg(
    scores: Floats,
    gains: Floats,
    boundaries: Ints,
    discount: Floats,
    *,
    average: bool,
    ideal: Floats = _NONE,
    cutoffs: Ints | None = None,
    by_row: bool = False,
) -> Floats:
    """Return the DCG of each query, over its `ideal` DCG if that is passed: NaN if it is 0.

    `discount` has an entry for each rank down to the cut-off. With `cutoffs` each query has its own cut-off. With
    `by_row` each query has its own discounts: an entry for each row, in the order of ranks. All arrays are
    read-only, so that the kernel is compiled for one type.
    """
    places = boundaries[:-1] if by_row else frozen(np.zeros(len(boundaries) - 1, np.int64))
    cutoffs = np.minimum(np.diff(boundaries), len(discount) if cutoffs is None else cutoffs)
    return numbers_by_query(
        _dcg, boundaries, scores, gains, ideal, boundaries, discount, places, frozen(cutoffs), average
    )


def precision(
    scores: Floats, relevant: Floats, n_relevant: Floats, boundaries: Ints, k: int, *, average: bool
) -> Floats:
    """Return the precision at k of each query."""
    ideal = frozen(np.where(n_relevant > 0, float(k), 0.0))
    return dcg(scores, relevant, boundaries, _ones(boundaries, k), average=average, ideal=ideal)


def recall(scores: Floats, relevant: Floats, n_relevant: Floats, boundaries: Ints, k: int, *, average: bool) -> Floats:
    """Return the recall at k of each query."""
    return dcg(scores, relevant, boundaries, _ones(boundaries, k), average=average, ideal=n_relevant)


def r_precision(
    scores: Floats, relevant: Floats, n_relevant: Floats, boundaries: Ints, k: int, *, average: bool
) -> Floats:
    """Return the R-precision of each query: its precision at the number of its relevant documents."""
    cutoffs = n_relevant.astype(np.int64)
    return dcg(scores, relevant, boundaries, _ones(boundaries, k), average=average, ideal=n_relevant, cutoffs=cutoffs)


def _ones(boundaries: Ints, k: int) -> Floats:
    return frozen(np.ones(min(k, int(np.diff(boundaries).max(initial=0)))))


@compiled()
def _average_precision(
    first: int, last: int, scores: Floats, relevant: Floats, n_relevant: Floats, boundaries: Ints, k: int,
    average: bool, out: Floats,
) -> None:  # fmt: skip
    r"""Write the average precision of the queries ``first <= q < last``; NaN for a query without relevant documents.

    .. math:: \frac1R \sum_{j \le k} \mathrm{rel}_j \frac{\#\{\text{relevant at } 1 … j\}}{j}

    With `average`, write the expected value over a random order of tied documents. Take a block of n documents, r of
    them relevant, that starts after rank a with s relevant documents before it. Its rank j contributes
    (McSherry & Najork, ECIR 2008, §2.3)

    .. math:: \frac rn \Bigl(s + 1 + (j - a - 1)\frac{r - 1}{n - 1}\Bigr)\frac1j .
    """
    workspace = workspace_for(boundaries, first, last)
    keys, rows = workspace.keys, workspace.rows
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        if n_relevant[q] == 0:
            out[q] = np.nan
            continue
        cut = min(k, stop - start)
        m = best_rows(scores, start, stop, cut, average, workspace)
        total = 0.0
        before = 0.0  # relevant documents above the block
        a = 0
        while a < cut:
            b = a + 1
            inside = relevant[rows[a]]  # relevant documents in the block
            while average and b < m and keys[b] == keys[a]:
                inside += relevant[rows[b]]
                b += 1
            if inside > 0:
                share = inside / (b - a)
                slope = (inside - 1) / max(b - a - 1, 1)
                for j in range(a, min(b, cut)):
                    total += share * (before + 1 + (j - a) * slope) / (j + 1)
            before += inside
            a = b
        out[q] = min(total / n_relevant[q], 1.0)


def average_precision(
    scores: Floats, relevant: Floats, n_relevant: Floats, boundaries: Ints, k: int, *, average: bool
) -> Floats:
    """Return the average precision of each query."""
    return numbers_by_query(_average_precision, boundaries, scores, relevant, n_relevant, boundaries, k, average)


@compiled()
def _mean_ndcg_weights(first: int, last: int, gains: Floats, boundaries: Ints, discount: Floats, out: Floats) -> None:
    r"""Write the weights of gains by rank in the mean NDCG over the cut-offs 1 … n; 0 if the ideal DCG is 0.

    .. math:: \frac1n \sum_{k \le n} \frac{\mathrm{DCG}_k}{\mathrm{ideal}_k} = \sum_j g_j c_j, \qquad
        c_j = \frac{d_j}n \sum_{k \ge j} \frac1{\mathrm{ideal}_k}

    :math:`c_j` is written to row ``start + j - 1`` of the query.
    """
    workspace = workspace_for(boundaries, first, last)
    keys = workspace.keys
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n = stop - start
        for i in range(n):
            keys[i] = gains[start + i]
        sort(workspace, n)
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
    """Return the discounts, an entry per row, with which `dcg` is the mean NDCG over all cut-offs."""
    out = np.empty(len(gains))
    run_over_queries(_mean_ndcg_weights, boundaries, gains, boundaries, discount, out)
    return frozen(out)


@compiled()
def _reciprocal_rank(
    first: int, last: int, scores: Floats, relevant: Floats, n_relevant: Floats, boundaries: Ints, k: int,
    average: bool, out: Floats,
) -> None:  # fmt: skip
    r"""Write the reciprocal rank of the first relevant document, 0 below rank k; NaN for a query without relevant ones.

    With `average`, write the expected value over a random order of tied documents. Take the block with the first
    relevant document: r of its n documents are relevant. The first of them is the block's t-th document with
    probability

    .. math:: p_t = \binom{n - t}{r - 1} \Big/ \binom nr, \qquad
        p_1 = \frac rn, \quad p_{t+1} = p_t \frac{n - t - r + 1}{n - t} .
    """
    for q in range(first, last):
        if n_relevant[q] == 0:
            out[q] = np.nan
            continue
        start, stop = boundaries[q], boundaries[q + 1]
        best, at = -np.inf, -1
        for i in range(start, stop):
            if relevant[i] > 0.0 and (at < 0 or scores[i] > best):
                best, at = scores[i], i
        above = tied = earlier = 0
        hits = 0.0
        for i in range(start, stop):
            if scores[i] > best:
                above += 1
            elif scores[i] == best:
                tied += 1
                hits += relevant[i]
                earlier += 1 if i < at else 0
        if not average:
            above, tied, hits = above + earlier, 1, 1.0
        total, chance = 0.0, hits / tied
        for t in range(1, int(min(tied - hits + 1, k - above)) + 1):
            total += chance / (above + t)
            chance *= (tied - t - hits + 1) / max(tied - t, 1)
        out[q] = total


def reciprocal_rank(
    scores: Floats, relevant: Floats, n_relevant: Floats, boundaries: Ints, k: int, *, average: bool
) -> Floats:
    """Return the reciprocal rank of each query."""
    return numbers_by_query(_reciprocal_rank, boundaries, scores, relevant, n_relevant, boundaries, k, average)
