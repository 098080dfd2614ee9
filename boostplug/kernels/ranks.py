"""Counts of pairs and sums of ranks of the judged documents alone.

`grades_by_query` says of their grades what depends on the data alone.
"""

import numpy as np
from numpy.typing import NDArray

from boostplug.kernels.compiling import compiled
from boostplug.kernels.ranking import longest_query, sort

# compiled in: ranking.py 1a161b2ce626

__all__ = [
    "add_grade",
    "discordance",
    "grades_below",
    "grades_by_query",
    "rank_covariance",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    longest = longest_query(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            code[i], rank[i] = -1, 0.0
            if judged[i]:
                keys[n], rows[n] = -labels[i], i
                n += 1
        sort(keys, rows, n, spare_keys, spare_rows)
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
def add_grade(counts: Ints, code: int, n: int) -> None:
    """Count one more document of grade `code` in the Fenwick tree of n grades."""
    i = code + 1
    while i <= n:
        counts[i] += 1
        i += i & -i


@compiled()
def grades_below(counts: Ints, code: int) -> int:
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
    longest = longest_query(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    codes, spare_codes = np.empty(longest, np.int64), np.empty(longest, np.int64)
    counts, inside = np.empty(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if code[i] >= 0:
                keys[n], codes[n] = scores[i], code[i]
                n += 1
        sort(keys, codes, n, spare_keys, spare_codes)
        grades = n_grades[q]
        for u in range(grades + 1):
            counts[u] = 0
        n_wrong = n_tied = n_same = 0
        a = 0
        while a < n:
            b = a + 1
            n_wrong += grades_below(counts, codes[a])
            if not in_order and b < n and keys[b] == keys[a]:
                inside[codes[a]] = 1
                while b < n and keys[b] == keys[a]:
                    n_wrong += grades_below(counts, codes[b])
                    n_same += b - a
                    n_tied += b - a - inside[codes[b]]
                    inside[codes[b]] += 1
                    b += 1
                for j in range(a, b):
                    inside[codes[j]] = 0
            for j in range(a, b):
                add_grade(counts, codes[j], grades)
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
    longest = longest_query(boundaries, first, last)
    keys, spare_keys = np.empty(longest), np.empty(longest)
    rows, spare_rows = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            if code[i] >= 0:
                keys[n], rows[n] = scores[i], i
                n += 1
        sort(keys, rows, n, spare_keys, spare_rows)
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
