"""Counts of pairs and sums of ranks over the judged documents of each query.

`grades_by_query` computes what depends only on the labels.
"""

from typing import Any, NamedTuple

import numpy as np

from boostplug.core.arrays import Bools, Floats, Ints
from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import Workspace, sort, workspace_for


class Grades(NamedTuple):
    """Grades of the judged documents of each query, as codes and ranks.

    Attributes
    ----------
    code : ndarray of shape (n_rows,), int64
        0 for a query's lowest grade, 1 for the next; -1 where not judged.
    rank : ndarray of shape (n_rows,)
        Mean rank of the grade's documents, less the mean rank of all; 0 where not judged.
    n_judged, n_grades : ndarray of shape (n_queries,), int64
        Number of judged documents, and of different grades among them.
    n_pairs : ndarray of shape (n_queries,)
        Number of pairs of judged documents of different grades.
    """

    code: Ints
    rank: Floats
    n_judged: Ints
    n_grades: Ints
    n_pairs: Floats


@compiled()
def _grades_by_query(first: int, last: int, labels: Floats, judged: Bools, boundaries: Ints, out: Grades) -> None:
    """Write the fields of `Grades` for the queries ``first <= q < last``."""
    code, rank, n_judged, n_grades, n_pairs = out
    workspace = workspace_for(boundaries, first, last)
    keys, rows = workspace.keys, workspace.rows
    for q in range(first, last):
        n = 0
        for i in range(boundaries[q], boundaries[q + 1]):
            code[i], rank[i] = -1, 0.0
            if judged[i]:
                keys[n], rows[n] = -labels[i], i
                n += 1
        sort(workspace, n)
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


def grades_by_query(labels: Floats, judged: Bools, boundaries: Ints) -> Grades:
    """Return the grades of the judged documents."""
    n_rows, n_queries = len(labels), len(boundaries) - 1
    grades = Grades(
        code=np.empty(n_rows, np.int64),
        rank=np.empty(n_rows),
        n_judged=np.empty(n_queries, np.int64),
        n_grades=np.empty(n_queries, np.int64),
        n_pairs=np.empty(n_queries),
    )
    run_over_queries(_grades_by_query, boundaries, labels, judged, boundaries, grades)
    for array in grades:
        array.setflags(write=False)
    return grades


@inlined()
def add_grade(sums: Any, code: int, n: int, amount: Any) -> None:
    """Add an amount to the entry of grade `code` in a Fenwick tree of n grades."""
    i = code + 1
    while i <= n:
        sums[i] += amount
        i += i & -i


@inlined()
def grades_below(sums: Any, code: int) -> Any:
    """Return the sum over the grades below `code`."""
    i, total = code, sums[0]  # the root is always 0
    while i > 0:
        total += sums[i]
        i -= i & -i
    return total


@inlined()
def judged_by_score(scores: Floats, code: Ints, start: int, stop: int, workspace: Workspace) -> int:
    """Write the judged documents among the rows ``start:stop`` and their scores to `workspace`, best first.

    Returns their number. `code` is that of `Grades`.
    """
    n = 0
    for i in range(start, stop):
        if code[i] >= 0:
            workspace.keys[n], workspace.rows[n] = scores[i], i
            n += 1
    sort(workspace, n)
    return n


@compiled()
def _discordance(
    first: int, last: int, scores: Floats, grades: Grades, boundaries: Ints, in_order: bool, out: Floats
) -> None:
    """Count the pairs of judged documents of each query: misordered, tied despite different grades, and all tied ones.

    Takes O(n log K) after sorting, for K grades. From the best score down, each document counts the documents of lower
    grades above it. With `in_order` tied documents keep their file order and do not count as ties.
    """
    code = grades.code
    workspace = workspace_for(boundaries, first, last)
    keys, rows = workspace.keys, workspace.rows
    counts, inside = np.empty(len(keys) + 1, np.int64), np.zeros(len(keys) + 1, np.int64)
    for q in range(first, last):
        n = judged_by_score(scores, code, boundaries[q], boundaries[q + 1], workspace)
        n_grades = grades.n_grades[q]
        counts[: n_grades + 1] = 0
        n_wrong = n_tied = n_same = 0
        a = 0
        while a < n:
            b = a
            while b == a or (not in_order and b < n and keys[b] == keys[a]):
                of_grade = code[rows[b]]
                n_wrong += grades_below(counts, of_grade)
                n_same += b - a
                n_tied += b - a - inside[of_grade]
                inside[of_grade] += 1
                b += 1
            for j in range(a, b):
                inside[code[rows[j]]] = 0
                add_grade(counts, code[rows[j]], n_grades, 1)
            a = b
        out[0, q], out[1, q], out[2, q] = n_wrong, n_tied, n_same


def discordance(scores: Floats, grades: Grades, boundaries: Ints, *, in_order: bool) -> Floats:
    """Return counts of pairs of judged documents by query: misordered, tied despite different grades, all tied ones.

    Returns
    -------
    ndarray of shape (3, n_queries)
    """
    out = np.empty((3, len(boundaries) - 1))
    run_over_queries(_discordance, boundaries, scores, grades, boundaries, in_order, out)
    return out


@compiled()
def _rank_sums(
    first: int, last: int, scores: Floats, grades: Grades, boundaries: Ints, in_order: bool, out: Floats
) -> None:
    """Sum the products and squares of the centred ranks of the judged documents, x by score and y by grade.

    Tied scores share their mean rank; with `in_order` they are ranked in file order.
    """
    code, rank = grades.code, grades.rank
    workspace = workspace_for(boundaries, first, last)
    keys, rows = workspace.keys, workspace.rows
    for q in range(first, last):
        n = judged_by_score(scores, code, boundaries[q], boundaries[q + 1], workspace)
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
        out[0, q], out[1, q], out[2, q] = sum_xy, sum_xx, sum_yy


def rank_sums(scores: Floats, grades: Grades, boundaries: Ints, *, in_order: bool) -> Floats:
    """Return sums over centred ranks by query, x by score and y by grade: of x y, of x² and of y².

    Returns
    -------
    ndarray of shape (3, n_queries)
    """
    out = np.empty((3, len(boundaries) - 1))
    run_over_queries(_rank_sums, boundaries, scores, grades, boundaries, in_order, out)
    return out


@compiled()
def binary_preference(
    first: int, last: int, scores: Floats, relevant: Floats, n_relevant: Floats, code: Ints, boundaries: Ints,
    average: bool, out: Floats,
) -> None:  # fmt: skip
    r"""Write the binary preference (bpref) of each query over its judged documents (`code` ≥ 0).

    .. math:: \frac1R \sum_i 1 - \frac{\min(n_i, M)}M, \qquad M = \min(N, R)

    NaN for a query without relevant documents. A relevant document with the score -inf counts as not retrieved and adds
    nothing.

    With `average`, the value is the expected one over a random order of tied documents. Take a block with s
    non-relevant documents, and c above it. Each relevant one of the block has c … c + s above it, all equally likely.
    """
    workspace = workspace_for(boundaries, first, last)
    keys, rows = workspace.keys, workspace.rows
    for q in range(first, last):
        if n_relevant[q] == 0:
            out[q] = np.nan
            continue
        n = judged_by_score(scores, code, boundaries[q], boundaries[q + 1], workspace)
        most = max(min(n - n_relevant[q], n_relevant[q]), 1.0)  # with N = 0 each relevant document adds 1
        total = 0.0
        above = 0.0  # non-relevant documents above the block
        a = 0
        while a < n and keys[a] > -np.inf:
            b = a + 1
            hits = relevant[rows[a]]
            while average and b < n and keys[b] == keys[a]:
                hits += relevant[rows[b]]
                b += 1
            last_above = above + (b - a - hits)
            if hits > 0:
                # The sum of M - min(t, M) over t from `above` to `last_above`: a falling series, cut off at 0.
                high = max(most - above, 0.0)
                terms = min(last_above - above + 1, high)
                missing = 0.5 * terms * (2 * high - terms + 1)
                total += hits * (missing / (last_above - above + 1))
            above = last_above
            a = b
        out[q] = total / most / n_relevant[q]
