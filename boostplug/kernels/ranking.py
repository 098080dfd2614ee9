"""Kernels of the ranking metrics: order the documents of each query, then sum over positions, or count pairs.

Metrics of positions call `best_rows` for each query and walk the blocks of tied documents. Those of pairs and ranks
take the judged documents alone, with what `grades_by_query` says of their grades; it depends on the data alone.
"""

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.compiling import compiled

__all__ = [
    "average_precision",
    "best_rows",
    "by_score_and_grade",
    "dcg",
    "discordance",
    "expected_reciprocal_rank",
    "gaps_at_least",
    "gaps_between",
    "grades_by_query",
    "mean_ndcg",
    "mean_ndcg_weights",
    "precision",
    "precision_at_percent",
    "rank_covariance",
    "reciprocal_rank",
    "wrong_beyond",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SELECT = 64  # up to this cut-off a sorted list of the best scores beats sorting the query
_RUN = 16  # runs of this length are sorted by counting, then merged


@compiled()
def _sort(keys: Floats, rows: Ints, n: int, spare_keys: Floats, spare_rows: Ints) -> None:
    """Sort ``keys[:n]`` in descending order, stably, and ``rows[:n]`` along with it.

    Runs are sorted by counting how many keys go before each, which takes no branch, then merged.
    """
    for low in range(0, n, _RUN):
        high = min(low + _RUN, n)
        for i in range(low, high):
            spare_keys[i], spare_rows[i] = keys[i], rows[i]
        for i in range(low, high):
            key = spare_keys[i]
            to = low
            for j in range(low, i):
                to += spare_keys[j] >= key
            for j in range(i + 1, high):
                to += spare_keys[j] > key
            keys[to], rows[to] = key, spare_rows[i]
    width = _RUN
    while width < n:
        for low in range(0, n - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, n)
            if keys[middle - 1] >= keys[middle]:
                continue  # in order already
            for i in range(low, middle):
                spare_keys[i], spare_rows[i] = keys[i], rows[i]
            i, j, to = low, middle, low
            while i < middle and j < high:
                if spare_keys[i] >= keys[j]:
                    keys[to], rows[to] = spare_keys[i], spare_rows[i]
                    i += 1
                else:
                    keys[to], rows[to] = keys[j], rows[j]
                    j += 1
                to += 1
            while i < middle:
                keys[to], rows[to] = spare_keys[i], spare_rows[i]
                i += 1
                to += 1
        width *= 2


@compiled()
def best_rows(
    scores: Floats, start: int, stop: int, k: int, keys: Floats, rows: Ints, spare_keys: Floats, spare_rows: Ints
) -> int:
    """Write the best rows of one query to `rows` and their scores to `keys`; return their number.

    The rows ``start <= i < stop`` that score at least as high as the `k`-th best, best first, ties in file order: the
    block of tied documents at the cut is complete. `k` is at least 1; the buffers hold ``stop - start`` elements.
    """
    n = stop - start
    select = k <= _SELECT and 2 * k < n
    kth = -np.inf  # of the k best scores so far, kept in descending order as spare_keys[:k]
    if select:
        spare_keys[:k] = kth
        for i in range(start, stop):
            score = scores[i]
            if score > kth:
                j = k - 1
                while j > 0 and spare_keys[j - 1] < score:
                    spare_keys[j] = spare_keys[j - 1]
                    j -= 1
                spare_keys[j] = score
                kth = spare_keys[k - 1]
    m = 0
    for i in range(start, stop):
        if scores[i] > kth or not select:
            keys[m], rows[m] = scores[i], i
            m += 1
    _sort(keys, rows, m, spare_keys, spare_rows)
    if select:
        for i in range(start, stop):
            if scores[i] == kth:
                keys[m], rows[m] = kth, i
                m += 1
    else:
        m = min(k, n)
        while 0 < m < n and keys[m] == keys[m - 1]:
            m += 1
    return m


@compiled()
def _longest(boundaries: Ints, first: int, last: int) -> int:
    n = 0
    for q in range(first, last):
        n = max(n, boundaries[q + 1] - boundaries[q])
    return n


@compiled()
def dcg(
    scores: Floats,
    gains: Floats,
    boundaries: Ints,
    discount: Floats,
    average: bool,
    first: int,
    last: int,
    out: Floats,
) -> None:
    r"""Discounted cumulative gain of the queries ``first <= q < last``.

    .. math:: \sum_{j \le k} d_j\, \bar g_j

    `discount` holds :math:`d_1 … d_k`. With `average`, :math:`\bar g_j` is the mean gain of the documents that tie
    with the one at position j; otherwise its own gain, ties in file order.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        cut = min(stop - start, len(discount))
        total = 0.0
        if cut > 0:
            m = best_rows(scores, start, stop, cut, keys, rows, spare_keys, spare_rows)
            a = 0
            while a < cut:
                b = a + 1
                gain, weight = gains[rows[a]], discount[a]
                if average:
                    while b < m and keys[b] == keys[a]:
                        gain += gains[rows[b]]
                        b += 1
                    if b > a + 1:
                        for j in range(a + 1, min(b, cut)):
                            weight += discount[j]
                        weight /= b - a
                total += weight * gain
                a = b
        out[q] = total


@compiled()
def average_precision(
    scores: Floats,
    relevant: NDArray[np.bool_],
    boundaries: Ints,
    k: int,
    average: bool,
    first: int,
    last: int,
    out: Floats,
) -> None:
    r"""Average precision of the queries ``first <= q < last``; NaN for a query without relevant documents.

    .. math:: \frac1R \sum_{j \le k} \mathrm{rel}_j \frac{\#\{\text{relevant at } 1 … j\}}{j}

    With `average`, the expected value over a random order of tied documents: position j of a block of n documents,
    r of them relevant, that starts after position a with s relevant documents before it, contributes (McSherry &
    Najork, ECIR 2008, §2.3)

    .. math:: \frac rn \Bigl(s + 1 + (j - a - 1)\frac{r - 1}{n - 1}\Bigr)\frac1j .
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n_relevant = 0
        for i in range(start, stop):
            n_relevant += relevant[i]
        if n_relevant == 0:
            out[q] = np.nan
            continue
        cut = min(k, stop - start)
        m = best_rows(scores, start, stop, cut, keys, rows, spare_keys, spare_rows)
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


@compiled()
def mean_ndcg_weights(gains: Floats, boundaries: Ints, discount: Floats, first: int, last: int, out: Floats) -> None:
    r"""Weights that turn gains by position into the mean NDCG over the cut-offs 1 … n; 0 where the ideal DCG is 0.

    .. math:: \frac1n \sum_{k \le n} \frac{\mathrm{DCG}_k}{\mathrm{ideal}_k} = \sum_j g_j c_j, \qquad
              c_j = \frac{d_j}n \sum_{k \ge j} \frac1{\mathrm{ideal}_k}

    :math:`c_j` goes to row ``start + j - 1`` of the query.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n = stop - start
        for i in range(n):
            keys[i] = gains[start + i]
        _sort(keys, rows, n, spare_keys, spare_rows)
        total = 0.0
        for i in range(n):
            total += discount[i] * keys[i]
            keys[i] = total
        inverse = 0.0
        for i in range(n - 1, -1, -1):
            if total > 0.0:
                inverse += 1.0 / keys[i]
            out[start + i] = discount[i] * inverse / n


@compiled()
def mean_ndcg(
    scores: Floats,
    gains: Floats,
    boundaries: Ints,
    weights: Floats,
    average: bool,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Sum of the gains by position, weighted by `weights` of `mean_ndcg_weights`; ties as in `dcg`."""
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n = stop - start
        total = 0.0
        if n > 0:
            best_rows(scores, start, stop, n, keys, rows, spare_keys, spare_rows)
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


@compiled()
def reciprocal_rank(
    scores: Floats,
    relevant: NDArray[np.bool_],
    boundaries: Ints,
    k: int,
    average: bool,
    first: int,
    last: int,
    out: Floats,
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


@compiled()
def precision(
    scores: Floats,
    relevant: NDArray[np.bool_],
    boundaries: Ints,
    k: int,
    average: bool,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Share of relevant documents among the best k; NaN for a query without relevant documents.

    With `average`, tied documents at the cut count as often as a random order puts them above it.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n_relevant = 0
        for i in range(start, stop):
            n_relevant += 1 if relevant[i] else 0
        if n_relevant == 0:
            out[q] = np.nan
            continue
        cut = min(k, stop - start)
        m = best_rows(scores, start, stop, cut, keys, rows, spare_keys, spare_rows)
        sure = hits = 0  # relevant documents above the block at the cut, and in it
        a = 0
        for j in range(m if average else cut):
            if keys[j] > keys[cut - 1] or not average:
                sure += 1 if relevant[rows[j]] else 0
                a = j + 1
            else:
                hits += 1 if relevant[rows[j]] else 0
        out[q] = (sure + hits * (cut - a) / max(m - a, 1)) / k


@compiled()
def _tied_stop(stops: Floats, rows: Ints, a: int, b: int, cut: int, missed: Floats, passed: Floats) -> float:
    r"""Return the expected 1/rank of the first stop in a random order of the documents at the positions a ≤ · < b.

    Document i stops a user with probability :math:`R_i`, and only ranks up to `cut` count. Exact: let r of the n
    documents have :math:`R_i > 0`, let :math:`m_j` be the mean over j of these, drawn at random, of the product of
    :math:`1 - R_i` (``missed``), and :math:`P_t(j)` the probability that j of them are among the first t documents
    (``passed``, hypergeometric). The user stops at position t with probability

    .. math:: \sum_j P_{t-1}(j) \frac{r - j}{n - t + 1} (m_j - m_{j+1}) .

    Both are built up by sums of terms ≥ 0. What adds less than 1e-15 is left out, so that the cost is O((n + r) J) with
    J at most min(r, 41 / least R > 0).
    """
    r = 0
    least = 1.0
    for p in range(a, b):
        stop = stops[rows[p]]
        if stop > 0.0:
            r += 1
            least = min(least, stop)
    if r == 0:
        return 0.0
    n, ranks = b - a, min(b, cut) - a
    most = min(r, ranks)
    most = int(min(float(most), 41.0 / -np.log1p(-least) + 1.0))
    for j in range(most + 1):
        missed[j] = passed[j] = 0.0
    missed[0] = passed[0] = 1.0
    drawn = 0
    for p in range(a, b):
        stop = stops[rows[p]]
        if stop > 0.0:
            drawn += 1
            inverse = 1.0 / drawn
            for j in range(min(drawn, most), 0, -1):
                missed[j] = ((drawn - j) * missed[j] + j * (1.0 - stop) * missed[j - 1]) * inverse
    for j in range(most):
        missed[j] = (r - j) * (missed[j] - missed[j + 1])
    low, high = 0, 0  # passed is 0, or too small to matter, outside low … high
    total, alive = 0.0, 1.0
    for t in range(1, ranks + 1):
        left = n - t + 1
        found = _dot(passed, missed, low, high + 1) / left
        total += found / (a + t)
        alive -= found
        if alive < 1e-15:
            break
        if high + 1 < most and passed[high] > 1e-25:
            high += 1
        inverse = 1.0 / left
        for j in range(high, low, -1):
            passed[j] = (passed[j] * (left - r + j) + passed[j - 1] * (r - j + 1)) * inverse
        passed[low] *= (left - r + low) * inverse
        while low < high and passed[low] < 1e-25:
            passed[low] = 0.0
            low += 1
    return total


@compiled(fastmath={"reassoc", "contract"})
def _dot(x: Floats, y: Floats, low: int, high: int) -> float:
    total = 0.0
    for j in range(low, high):
        total += x[j] * y[j]
    return total


@compiled()
def expected_reciprocal_rank(
    scores: Floats, stops: Floats, boundaries: Ints, k: int, average: bool, first: int, last: int, out: Floats
) -> None:
    r"""Compute the expected 1/rank at which a user stops; NaN for a query in which no document ever stops one.

    .. math:: \sum_{j \le k} \frac1j R_j \prod_{i < j} (1 - R_i)

    With `average`, the expected value over a random order of tied documents: see `_tied_stop`. The user's chance to
    get past a whole block of them does not depend on their order.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    missed, passed = np.empty(longest + 2), np.empty(longest + 2)
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        any_stop = False
        for i in range(start, stop):
            any_stop |= stops[i] > 0.0
        if not any_stop:
            out[q] = np.nan
            continue
        cut = min(k, stop - start)
        m = best_rows(scores, start, stop, cut, keys, rows, spare_keys, spare_rows)
        total, goes_on = 0.0, 1.0
        a = 0
        while a < cut and goes_on > 1e-18:
            b = a + 1
            while average and b < m and keys[b] == keys[a]:
                b += 1
            if b == a + 1:
                total += goes_on * stops[rows[a]] / b
            else:
                total += goes_on * _tied_stop(stops, rows, a, b, cut, missed, passed)
            for p in range(a, b):
                goes_on *= 1.0 - stops[rows[p]]
            a = b
        out[q] = total


@compiled()
def grades_by_query(
    labels: Floats,
    judged: NDArray[np.bool_],
    boundaries: Ints,
    first: int,
    last: int,
    code: Ints,
    rank: Floats,
    n_judged: Ints,
    n_grades: Ints,
    n_pairs: Floats,
) -> None:
    """Describe the grades of the judged documents of each query; the other rows count for nothing.

    Writes, by row, `code`: 0 for the query's lowest grade, 1 for the next, -1 where not judged; and `rank`: the mean
    rank of the documents of this grade, from the lowest up and less the mean of all, 0 where not judged. By query,
    the numbers of judged documents, of grades among them, and of pairs of different grades.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            code[i], rank[i] = -1, 0.0
            if judged[i]:
                keys[n], rows[n] = -labels[i], i
                n += 1
        _sort(keys, rows, n, spare_keys, spare_rows)
        grades = 0
        pairs = 0.0
        a = 0
        while a < n:
            b = a + 1
            while b < n and keys[b] == keys[a]:
                b += 1
            for j in range(a, b):
                code[rows[j]] = grades
                rank[rows[j]] = 0.5 * (a + b - n)
            pairs += float(b - a) * a
            grades += 1
            a = b
        n_judged[q], n_grades[q], n_pairs[q] = n, grades, pairs


@compiled()
def _add(counts: Ints, code: int, n: int) -> None:
    """Count one more document of grade `code` in the Fenwick tree of n grades."""
    i = code + 1
    while i <= n:
        counts[i] += 1
        i += i & -i


@compiled()
def _below(counts: Ints, code: int) -> int:
    """Return the number of documents of grades below `code`."""
    i, total = code, 0
    while i > 0:
        total += counts[i]
        i -= i & -i
    return total


@compiled()
def discordance(
    scores: Floats,
    code: Ints,
    n_grades: Ints,
    boundaries: Ints,
    in_order: bool,
    first: int,
    last: int,
    wrong: Floats,
    tied: Floats,
    same_score: Floats,
) -> None:
    """Count pairs of judged documents: misordered, tied though of different grades, and tied altogether.

    O(n log K) after sorting, K grades: best first, each document counts those above it of a lower grade. With
    `in_order` tied documents are ranked in file order, and none are tied.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    codes, spare_codes = np.empty(longest, np.int64), np.empty(longest, np.int64)
    counts, inside = np.empty(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if code[i] >= 0:
                keys[n], codes[n] = scores[i], code[i]
                n += 1
        _sort(keys, codes, n, spare_keys, spare_codes)
        grades = n_grades[q]
        for u in range(grades + 1):
            counts[u] = 0
        n_wrong = n_tied = n_same = 0
        a = 0
        while a < n:
            b = a + 1
            n_wrong += _below(counts, codes[a])
            if not in_order and b < n and keys[b] == keys[a]:
                inside[codes[a]] = 1
                while b < n and keys[b] == keys[a]:
                    n_wrong += _below(counts, codes[b])
                    n_same += b - a
                    n_tied += b - a - inside[codes[b]]
                    inside[codes[b]] += 1
                    b += 1
                for j in range(a, b):
                    inside[codes[j]] = 0
            for j in range(a, b):
                _add(counts, codes[j], grades)
            a = b
        wrong[q], tied[q], same_score[q] = n_wrong, n_tied, n_same


@compiled()
def rank_covariance(
    scores: Floats,
    rank: Floats,
    code: Ints,
    boundaries: Ints,
    in_order: bool,
    first: int,
    last: int,
    covariance: Floats,
    of_scores: Floats,
    of_grades: Floats,
) -> None:
    """Sum products and squares of the centred ranks by score and by grade (`rank`) of the judged documents.

    Tied scores share their mean rank; with `in_order` they are ranked in file order.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if code[i] >= 0:
                keys[n], rows[n] = scores[i], i
                n += 1
        _sort(keys, rows, n, spare_keys, spare_rows)
        sum_xy = sum_xx = sum_yy = 0.0
        a = 0
        while a < n:
            b = a + 1
            y = rank[rows[a]]
            sum_yy += y * y
            while not in_order and b < n and keys[b] == keys[a]:
                y_b = rank[rows[b]]
                y += y_b
                sum_yy += y_b * y_b
                b += 1
            x = 0.5 * (n - a - b)
            sum_xy += x * y
            sum_xx += x * x * (b - a)
            a = b
        covariance[q], of_scores[q], of_grades[q] = sum_xy, sum_xx, sum_yy


@compiled()
def by_score_and_grade(
    scores: Floats,
    code: Ints,
    boundaries: Ints,
    starts: Ints,
    run_start: Ints,
    query_run: Ints,
    first: int,
    last: int,
    sorted_scores: Floats,
    sorted_code: Ints,
    run_scores: Floats,
) -> None:
    """Write the judged documents of each query by descending score, and again by grade and then descending score.

    Query q's go to ``starts[q]:starts[q + 1]``, its grades' to the runs ``query_run[q] … query_run[q + 1]`` of
    `run_start`.
    """
    longest = _longest(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    codes, spare_codes = np.empty(longest, np.int64), np.empty(longest, np.int64)
    at = np.empty(longest, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if code[i] >= 0:
                keys[n], codes[n] = scores[i], code[i]
                n += 1
        _sort(keys, codes, n, spare_keys, spare_codes)
        runs = query_run[q + 1] - query_run[q]
        for u in range(runs):
            at[u] = run_start[query_run[q] + u]
        for j in range(n):
            c = codes[j]
            sorted_scores[starts[q] + j] = keys[j]
            sorted_code[starts[q] + j] = c
            run_scores[at[c]] = keys[j]
            at[c] += 1


@compiled()
def _gaps(x: Floats, start: int, stop: int, gap: float) -> int:
    """Return the number of pairs of the descending ``x[start:stop]`` at least `gap` > 0 apart."""
    total = 0
    i = j = start
    while j < stop:  # no branch inside: which pointer goes on cannot be predicted
        far = x[i] - x[j] >= gap  # ∞ - ∞ is no gap
        total += (stop - j) * far
        i += far
        j += not far
    return total


@compiled()
def _gaps_and_nearest(x: Floats, start: int, stop: int, gap: float) -> tuple[int, float, float]:
    """Return `_gaps`, the least gap that counts (∞ where none does), and the largest below `gap` (or 0)."""
    total = 0
    least, largest = np.inf, 0.0
    j = start
    for i in range(start, stop):
        while j < stop and not x[i] - x[j] >= gap:
            j += 1
        if j < stop:
            least = min(least, x[i] - x[j])
            total += stop - j
        if j > start:
            d = x[i] - x[j - 1]
            if largest < d < gap:
                largest = d
    return total, least, largest


@compiled()
def _preferences_apart(
    q: int,
    sorted_scores: Floats,
    run_scores: Floats,
    starts: Ints,
    run_start: Ints,
    query_run: Ints,
    gap: float,
    nearest: bool,
) -> tuple[int, float, float]:
    """Return how many pairs of different grades have scores at least `gap` > 0 apart, and what gaps stand beside it.

    That is, bounds of the least gap that counts, and of the largest below `gap`; with `nearest` both occur (or are ∞
    and 0).
    """
    if nearest:
        n, least, largest = _gaps_and_nearest(sorted_scores, starts[q], starts[q + 1], gap)
    else:
        n, least, largest = _gaps(sorted_scores, starts[q], starts[q + 1], gap), gap, np.nextafter(gap, 0.0)
    for u in range(query_run[q], query_run[q + 1]):
        if n > 0:
            n -= _gaps(run_scores, run_start[u], run_start[u + 1], gap)
    return n, least, largest


@compiled()
def gaps_at_least(
    sorted_scores: Floats,
    run_scores: Floats,
    starts: Ints,
    run_start: Ints,
    query_run: Ints,
    gap: float,
    nearest: bool,
    first: int,
    last: int,
    n: Floats,
    least: Floats,
    largest: Floats,
) -> None:
    """Count, by query, the pairs of different grades with scores at least `gap` > 0 apart: see `_preferences_apart`."""
    for q in range(first, last):
        n[q], least[q], largest[q] = _preferences_apart(
            q, sorted_scores, run_scores, starts, run_start, query_run, gap, nearest
        )


@compiled()
def gaps_between(
    sorted_scores: Floats,
    sorted_code: Ints,
    starts: Ints,
    low: float,
    high: float,
    first: int,
    last: int,
    out: Floats,
    query: Ints,
    right: Floats,
) -> int:
    """List the pairs of different grades with scores ``low <= gap <= high`` apart, low > 0.

    Writes the gap and the query of each, and 1 where the scores order them as the grades do; returns their number.
    """
    at = 0
    for q in range(first, last):
        j_low = starts[q]
        for i in range(starts[q], starts[q + 1]):
            x = sorted_scores[i]
            while j_low < starts[q + 1] and not x - sorted_scores[j_low] >= low:
                j_low += 1
            j = j_low
            while j < starts[q + 1] and x - sorted_scores[j] <= high:
                if sorted_code[i] != sorted_code[j]:
                    out[at], query[at] = x - sorted_scores[j], q
                    right[at] = sorted_code[i] > sorted_code[j]
                    at += 1
                j += 1
    return at


@compiled()
def _wrong_beyond(
    q: int, sorted_scores: Floats, sorted_code: Ints, starts: Ints, grades: int, gap: float, counts: Ints
) -> int:
    """Return how many pairs of query q are misordered by more than `gap` ≥ 0; `counts` is scratch."""
    for u in range(grades + 1):
        counts[u] = 0
    wrong = 0
    j = starts[q]
    for i in range(starts[q], starts[q + 1]):
        while sorted_scores[j] - sorted_scores[i] > gap:
            _add(counts, sorted_code[j], grades)
            j += 1
        wrong += _below(counts, sorted_code[i])
    return wrong


@compiled()
def wrong_beyond(
    sorted_scores: Floats,
    sorted_code: Ints,
    starts: Ints,
    query_run: Ints,
    gap: float,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Count, by query, the pairs that are misordered by more than `gap` ≥ 0."""
    counts = np.empty(_longest(query_run, first, last) + 1, np.int64)
    for q in range(first, last):
        grades = query_run[q + 1] - query_run[q]
        out[q] = _wrong_beyond(q, sorted_scores, sorted_code, starts, grades, gap, counts)


_FEW = 512  # pairs; from here on the gap at the cut is found by listing them
_SNAP = 8  # steps after which bisection goes by gaps that occur: few may, each of many pairs


@compiled()
def _nth(values: Floats, spare: Floats, n: int, at: int) -> float:
    """Return what stands at `at` in ``values[:n]`` in ascending order (Hoare's selection, in `spare`)."""
    for i in range(n):
        spare[i] = values[i]
    low, high = 0, n - 1
    while low < high:
        pivot = spare[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while spare[i] < pivot:
                i += 1
            while spare[j] > pivot:
                j -= 1
            if i <= j:
                spare[i], spare[j] = spare[j], spare[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            break
    found: float = spare[at]
    return found


@compiled()
def precision_at_percent(
    sorted_scores: Floats,
    sorted_code: Ints,
    run_scores: Floats,
    starts: Ints,
    run_start: Ints,
    query_run: Ints,
    n_pairs: Floats,
    share: float,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Share of pairs that are not misordered among the `share` of a query's pairs whose scores are farthest apart.

    Bisection narrows down the gap at the cut, in steps of linear time, until the pairs left are few, or of one gap.
    """
    gaps, spare, right, query = np.empty(_FEW), np.empty(_FEW), np.empty(_FEW), np.empty(_FEW, np.int64)
    counts = np.empty(_longest(query_run, first, last) + 1, np.int64)
    for q in range(first, last):
        if n_pairs[q] == 0.0:
            out[q] = np.nan
            continue
        grades = query_run[q + 1] - query_run[q]
        wanted = share * n_pairs[q]
        low, n_low = 0.0, n_pairs[q]  # as many pairs are at least this far apart: enough
        high, n_beyond = sorted_scores[starts[q]] - sorted_scores[starts[q + 1] - 1], 0.0  # beyond it: too few
        if not high >= 0.0:
            high = 0.0  # ∞ alone
        step = 0
        listed = False
        while low < high and share < 1.0 and not listed:
            if low > 0.0 and n_low - n_beyond <= _FEW:
                listed = True
                continue
            gap = next_gap(low, high, step)
            nearest = step == 0 or step > _SNAP
            n, least, largest = _preferences_apart(
                q, sorted_scores, run_scores, starts, run_start, query_run, gap, nearest
            )
            if n >= wanted:
                low, n_low = least, float(n)
            else:
                high, n_beyond = largest, float(n)
            step += 1
        right_beyond = 0.0
        if share == 1.0:
            out[q] = 1.0 - _wrong_beyond(q, sorted_scores, sorted_code, starts, grades, 0.0, counts) / n_low
            continue
        if n_beyond > 0.0:
            right_beyond = n_beyond - _wrong_beyond(q, sorted_scores, sorted_code, starts, grades, high, counts)
        if listed:
            found = gaps_between(sorted_scores, sorted_code, starts, low, high, q, q + 1, gaps, query, right)
            at = max(found - max(int(np.ceil(wanted - n_beyond)), 1), 0)
            low = _nth(gaps, spare, found, at)
            n_low = n_beyond
            right_low = right_beyond
            for p in range(found):
                if gaps[p] >= low:
                    n_low += 1.0
                    right_low += right[p]
                    if gaps[p] > low:
                        n_beyond += 1.0
                        right_beyond += right[p]
        elif low > 0.0:
            below = np.nextafter(low, 0.0)
            right_low = n_low - _wrong_beyond(q, sorted_scores, sorted_code, starts, grades, below, counts)
        else:
            right_low = n_low - _wrong_beyond(q, sorted_scores, sorted_code, starts, grades, 0.0, counts)
        out[q] = share_at_the_cut(wanted, n_low, right_low, n_beyond, right_beyond)


@compiled()
def next_gap(low: float, high: float, step: int) -> float:
    """Return a gap in ``low < gap <= high`` to try: first the least there is, then arithmetic and geometric means."""
    if low == 0.0:
        return 5e-324
    if high == np.inf:
        return high
    gap = np.sqrt(low) * np.sqrt(high) if step % 4 == 3 else low + 0.5 * (high - low)
    return gap if low < gap <= high else high


@compiled()
def share_at_the_cut(wanted: float, n: float, right: float, n_beyond: float, right_beyond: float) -> float:
    """Return the share of right pairs among the `wanted` farthest apart; those at the cut count in equal parts."""
    part = min(max((wanted - n_beyond) / (n - n_beyond), 0.0), 1.0) if n > n_beyond else 0.0
    return min((right_beyond + part * (right - right_beyond)) / (n_beyond + part * (n - n_beyond)), 1.0)
