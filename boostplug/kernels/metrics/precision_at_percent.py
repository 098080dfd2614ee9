"""Counts of pairs of different grades by the difference of their scores, without listing the pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_over_queries
from boostplug.kernels.base.compiling import compiled
from boostplug.kernels.base.sorting import workspace_for
from boostplug.kernels.metrics.ranks import Grades, add_grade, grades_below, judged_by_score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST = 5e-324  # smallest gap above 0


class Documents(NamedTuple):
    """The judged documents by query and descending score; query q has ``start[q]:start[q + 1]``."""

    score: Floats
    code: Ints  # code of the grade, from 0 to n_grades[q] - 1
    start: Ints
    n_grades: Ints


class Apart(NamedTuple):
    """Counts of the pairs whose scores are at least some gap apart, by query or in total, and the next gaps.

    Counts (or weights) of these pairs, and of those that are not misordered; the smallest gap that counts (∞ without
    one) and the largest that does not (0 without one). These two gaps may be between documents of one grade.
    """

    n: Floats
    right: Floats
    least: Floats
    largest: Floats


@compiled()
def _documents_by_score(
    scores: Floats, grades: Grades, boundaries: Ints, first: int, last: int, out: Documents
) -> None:
    """Write the judged documents of each query in descending order of scores."""
    workspace = workspace_for(boundaries, first, last)
    for q in range(first, last):
        n = judged_by_score(scores, grades.code, boundaries[q], boundaries[q + 1], workspace)
        for j in range(n):
            out.score[out.start[q] + j], out.code[out.start[q] + j] = workspace.keys[j], grades.code[workspace.rows[j]]


@compiled()
def _pairs_apart(documents: Documents, gaps: Floats, ordered: bool, first: int, last: int, out: Apart) -> None:
    """Count the pairs of each query that are at least ``gaps[q]`` > 0 apart; `right` only with `ordered`.

    O(n) for n documents: two pointers move down the scores. Counting the misordered pairs takes O(n log K) for K
    grades.
    """
    x, code = documents.score, documents.code
    size = 1
    for q in range(first, last):
        size = max(size, documents.n_grades[q] + 1)
    of_grade, tree = np.empty(size, np.int64), np.empty(size, np.int64)
    for q in range(first, last):
        start, gap, n_grades = documents.start[q], gaps[q], documents.n_grades[q]
        of_grade[: n_grades + 1] = tree[: n_grades + 1] = 0
        n = wrong = 0
        least, largest = np.inf, 0.0
        j = start
        for i in range(start, documents.start[q + 1]):
            while x[j] - x[i] >= gap:  # ∞ - ∞ is no gap
                of_grade[code[j]] += 1
                if ordered:
                    add_grade(tree, code[j], n_grades, 1)
                j += 1
            n += j - start - of_grade[code[i]]
            if ordered:
                wrong += grades_below(tree, code[i])
            if j > start:
                least = min(least, x[j - 1] - x[i])
            if largest < x[j] - x[i] < gap:
                largest = x[j] - x[i]
        out.n[q], out.right[q], out.least[q], out.largest[q] = n, n - wrong, least, largest


def precision_at_percent(
    scores: Floats, grades: Grades, boundaries: Ints, share: float, weight: Floats | None = None
) -> Floats:
    """Return the share of pairs that are not misordered, among the `share` of pairs whose scores are farthest apart.

    With `weight`, all queries are pooled: the result has one entry, for the pairs of all queries, each with the weight
    of its query. Otherwise it has an entry for each query, NaN without pairs. If several pairs tie for the last place,
    each counts in part.
    """
    start = np.r_[0, np.cumsum(grades.n_judged)]
    documents = Documents(np.empty(start[-1]), np.empty(start[-1], np.int64), start, grades.n_grades)
    run_over_queries(lambda a, b: _documents_by_score(scores, grades, boundaries, a, b, documents), boundaries)

    def count(gap: Floats, *, ordered: bool = False) -> Apart:
        by_query = Apart(*np.empty((4, len(start) - 1)))
        gaps = np.full(len(start) - 1, gap)
        run_over_queries(lambda a, b: _pairs_apart(documents, gaps, ordered, a, b, by_query), start)
        if weight is None:
            return by_query
        n, right, least, largest = by_query
        nearest = least.min(initial=np.inf), largest.max(initial=0.0)
        return Apart(*(np.array([number]) for number in (n @ weight, right @ weight, *nearest)))

    total = grades.n_pairs if weight is None else np.array([grades.n_pairs @ weight])
    wanted = share * total
    # Bisection over floats: enough pairs are at least `low` apart, too few more than `high`; both end as gaps of pairs.
    # At most 64 steps, some 30 for millions of pairs.
    low, high, n_low = np.zeros(len(total)), np.full(len(total), np.inf), total
    while ((low < high) & (n_low > wanted)).any():
        apart = count(_halfway(low, high))
        enough = apart.n >= wanted
        low, n_low = np.where(enough, (apart.least, apart.n), (low, n_low))
        high = np.where(enough, high, apart.largest)
    beyond = count(np.nextafter(low, np.inf), ordered=True)
    reached = count(np.maximum(low, _LEAST), ordered=True)
    n = np.where(low > 0, reached.n, total)
    right = np.where(low > 0, reached.right, total - (beyond.n - beyond.right))
    part = np.divide(wanted - beyond.n, n - beyond.n, out=np.ones(len(total)), where=n > beyond.n)
    with np.errstate(invalid="ignore"):  # no pairs
        values: Floats = (beyond.right + part * (right - beyond.right)) / (beyond.n + part * (n - beyond.n))
    return np.minimum(values, 1.0)


def _halfway(low: Floats, high: Floats) -> Floats:
    """Return the middle of two arrays of floats ≥ 0, by the number of floats between them; rounded up, above 0."""
    first, last = low.view(np.int64), high.view(np.int64)
    return np.maximum((last - (last - first) // 2).view(np.float64), _LEAST)
