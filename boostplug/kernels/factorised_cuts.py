r"""What each cut of each feature parts of :math:`w_{ij} = e^{-d_{ij}(F_i - F_j)}`, over the pairs of different grades.

Documents come query by query. For grades a and b the distance is one number, so that :math:`w_{ij} = e_{ib} e_{ja}`:
a document has one factor for each other grade of its query. A sweep takes a query's documents in descending order of a
feature. When document i comes above the cut, the pairs with those above are no longer parted, those with the rest are:

.. math:: \Delta = \sum_b e_{ib} \Big(\sum_{j \in b,\ \text{below}} e_{ja} - \sum_{j \in b,\ \text{above}} e_{ja}\Big)

which is O(K) with the difference of the two sums held for each (b, a). Δ goes to the bin of i's code, and a running sum
over the bins of all queries gives every cut. Documents of equal code may come in any order: their Δ add up to the same.

Rounding. Each difference is wrong by at most a rounding error of the total of its grades, and factors multiply to
weights: the error of a cut is a rounding error of the weight of all pairs, which the running sum over queries costs in
any case. Sums above times sums below, without a difference, were not measurably better after that sum.

Range. Factors are relative to the largest of their grades, and both factors of a pair share what is left of the
exponent: none exceeds 1, whatever the scores. All weights of a call are relative to e^shift, shift the largest log w.
"""

import math
from typing import Any

import numba
import numpy as np

from boostplug.kernels.compiling import compiled
from boostplug.kernels.ranking import longest_query, sort

# compiled in: ranking.py 1a161b2ce626

__all__ = [
    "add_listed",
    "add_swept",
    "decreases",
    "factorise",
    "largest_factors",
    "misordered",
    "order_in_queries",
    "weigh_listed",
]

unsigned = numba.uint64  # an unsigned index needs no test for being negative


@compiled()
def order_in_queries(codes: Any, start: Any, query: Any, doc_start: Any, first: int, last: int, order: Any) -> None:
    """Write each query's documents, counted within the query, by descending code of each of the features."""
    n = codes.shape[1]
    by_code = np.empty(n, np.int64)
    for k in range(first, last):
        code = codes[k]
        n_cuts = start[k + 1] - start[k]
        place = np.zeros(n_cuts + 2, np.int64)
        for p in range(n):
            place[n_cuts - code[p] + 1] += 1
        for c in range(n_cuts):
            place[c + 1] += place[c]
        for p in range(n):
            c = n_cuts - code[p]
            by_code[place[c]] = p
            place[c] += 1
        free = doc_start.copy()
        for p in by_code:
            q = query[p]
            order[k, free[q]] = p - doc_start[q]
            free[q] += 1


@compiled()
def largest_factors(
    scores: Any,
    log_root: Any,
    doc_start: Any,
    grade: Any,
    cell_start: Any,
    distance: Any,
    first: int,
    last: int,
    top: Any,
    largest: Any,
) -> None:
    """Write the largest exponent of a factor for each (a, b), and of a pair of each query ``first <= q < last``.

    Parameters
    ----------
    log_root : ndarray of shape (n_docs,)
        Half the logarithm of each document's weight.
    grade : ndarray of shape (n_docs,)
        0, 1, …, K - 1 within the query.
    cell_start : ndarray of shape (n_queries + 1,)
        The K² pairs of grades (a, b) of each query.
    distance, top : ndarray of shape (n_cells,)
        From b to a: positive where a is the higher grade, 0 for a = b.
    """
    for q in range(first, last):
        cells = cell_start[q]
        n_grades = round(math.sqrt(cell_start[q + 1] - cells))
        top[cells : cell_start[q + 1]] = -np.inf
        for p in range(doc_start[q], doc_start[q + 1]):
            row = cells + grade[p] * n_grades
            for b in range(n_grades):
                if b != grade[p]:
                    top[row + b] = max(top[row + b], log_root[p] - distance[row + b] * scores[p])
        largest[q] = -np.inf
        for a in range(n_grades):
            for b in range(a):
                largest[q] = max(largest[q], top[cells + a * n_grades + b] + top[cells + b * n_grades + a])


@compiled()
def factorise(
    scores: Any,
    log_root: Any,
    doc_start: Any,
    grade: Any,
    cell_start: Any,
    distance: Any,
    factor_start: Any,
    top: Any,
    shift: float,
    squared: bool,
    first: int,
    last: int,
    factor: Any,
    total: Any,
    slope: Any,
    weight: Any,
    mass: Any,
) -> None:
    """Write the factors of each document, relative to e^shift, and what follows from them.

    Parameters
    ----------
    squared : bool
        The factors multiply to d² w in place of w.
    factor : ndarray of shape (Σ n_q K_q,)
        Out: for each document of a query K factors, that of its own grade 0.
    total : ndarray of shape (n_cells,)
        Out: at (a, b) the sum over the documents of grade b of their factors for a.
    slope : ndarray of shape (n_docs,)
        Out: Σ_j w_ij d_ij.
    weight, mass : ndarray of shape (n_queries,)
        Out: the sum of w over a query's pairs, and of what the factors multiply to.
    """
    for q in range(first, last):
        cells = cell_start[q]
        n_grades = round(math.sqrt(cell_start[q + 1] - cells))
        total[cells : cell_start[q + 1]] = 0.0
        e = factor_start[q]
        for p in range(doc_start[q], doc_start[q + 1]):
            a = grade[p]
            for b in range(n_grades):
                factor[e] = 0.0
                if b != a:
                    there, back = cells + a * n_grades + b, cells + b * n_grades + a
                    own = log_root[p] - distance[there] * scores[p] - top[there]
                    factor[e] = math.exp(own + 0.5 * (top[there] + top[back] - shift))  # neither is above 0
                    total[back] += factor[e]
                e += 1
        weight[q] = _pairs_of(total, cells, n_grades)
        e = factor_start[q]
        for p in range(doc_start[q], doc_start[q + 1]):
            row = cells + grade[p] * n_grades
            slope[p] = 0.0
            for b in range(n_grades):
                slope[p] += distance[row + b] * factor[e] * total[row + b]
                if squared:
                    factor[e] *= abs(distance[row + b])
                e += 1
        if squared:
            for cell in range(cells, cell_start[q + 1]):
                total[cell] *= abs(distance[cell])
        mass[q] = _pairs_of(total, cells, n_grades)


@compiled()
def _pairs_of(total: Any, cells: int, n_grades: int) -> float:
    """Return the sum over all pairs of a query of the products of their factors."""
    out = 0.0
    for a in range(n_grades):
        for b in range(a):
            out += total[cells + a * n_grades + b] * total[cells + b * n_grades + a]
    return out


@compiled(fastmath={"contract"})
def add_swept(
    codes: Any,
    order: Any,
    doc_start: Any,
    grade: Any,
    cell_start: Any,
    factor_start: Any,
    factor: Any,
    total: Any,
    start: Any,
    first: int,
    last: int,
    bins: Any,
) -> None:
    """Add the Δ of every document (see above) to the bins of the features ``first <= k < last``.

    Feature k has the bins ``start[k] + k`` and following, one for each code.
    """
    difference = np.empty(np.max(np.diff(cell_start)))
    for k in range(first, last):
        code = codes[k]
        places = order[k]
        bins_of_feature = bins[start[k] + k : start[k + 1] + k + 1]
        for q in range(len(doc_start) - 1):
            cells = cell_start[q]
            n_cells = cell_start[q + 1] - cells
            for cell in range(n_cells):
                difference[cell] = total[cells + cell]
            n_grades = unsigned(round(math.sqrt(n_cells)))
            first_doc, first_factor = unsigned(doc_start[q]), unsigned(factor_start[q])
            for place in range(first_doc, unsigned(doc_start[q + 1])):
                i = unsigned(places[place])
                c = unsigned(code[first_doc + i])
                if c == 0:  # below all cuts, as the rest of the query
                    break
                a = unsigned(grade[first_doc + i])
                e = first_factor + i * n_grades
                own, other = a * n_grades, a
                change = 0.0
                for b in range(e, e + n_grades):
                    change += factor[b] * difference[own]
                    difference[other] -= 2.0 * factor[b]
                    own += unsigned(1)
                    other += n_grades
                bins_of_feature[c] += change


@compiled()
def weigh_listed(
    scores: Any,
    winner: Any,
    loser: Any,
    distance: Any,
    log_weight: Any,
    shift: float,
    squared: bool,
    mass: Any,
    slope: Any,
) -> float:
    """Write what each listed pair weighs (d² w if `squared`), add its d w to `slope`, and return the sum of w."""
    total = 0.0
    for m in range(len(winner)):
        i, j, d = winner[m], loser[m], distance[m]
        w = math.exp(log_weight[m] - d * (scores[i] - scores[j]) - shift)
        total += w
        slope[i] += d * w
        slope[j] -= d * w
        mass[m] = d * d * w if squared else w
    return total


@compiled()
def add_listed(codes: Any, winner: Any, loser: Any, mass: Any, start: Any, first: int, last: int, bins: Any) -> None:
    """Add listed pairs to the bins of the features: a cut parts a pair if it lies between the two codes.

    The pairs of one winner stand together, best by far: its own bin is added to once.
    """
    for k in range(first, last):
        code = codes[k]
        bins_of_feature = bins[start[k] + k : start[k + 1] + k + 1]
        i, own = winner[0], 0.0
        for m in range(len(winner)):
            if winner[m] != i:
                bins_of_feature[code[i]] += own
                i, own = winner[m], 0.0
            a, b = code[i], code[loser[m]]
            signed = mass[m] * (int(a > b) - int(a < b))  # no branch: neither outcome is the rule
            own += signed
            bins_of_feature[b] -= signed
        bins_of_feature[code[i]] += own


@compiled()
def decreases(
    slope: Any, bins: Any, smallest: float, start: Any, first: int, last: int, mass: Any, decrease: Any
) -> None:
    """Write the mass of each cut and slope² / mass, 0 where the mass is below `smallest`."""
    for k in range(first, last):
        total = 0.0
        for cut in range(start[k + 1] - 1, start[k] - 1, -1):
            total += bins[cut + k + 1]
            mass[cut] = total
            decrease[cut] = slope[cut] * (slope[cut] / total) if total >= smallest else 0.0


@compiled()
def misordered(scores: Any, root: Any, doc_start: Any, grade: Any, first: int, last: int, out: Any) -> None:
    """Write the weight of each query's pairs in which the higher grade scores at most as high as the lower one.

    `root` is the square root of each document's weight, `grade` 0, 1, … within the query. O(n log n) a query.
    """
    size = longest_query(doc_start, first, last)
    keys, docs, spare_keys, spare_docs = (
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size, np.int64),
    )
    tree = np.zeros(size + 1)  # Fenwick's: sums of root by grade
    for q in range(first, last):
        n = doc_start[q + 1] - doc_start[q]
        for i in range(n):
            keys[i], docs[i] = scores[doc_start[q] + i], doc_start[q] + i
        sort(keys, docs, n, spare_keys, spare_docs)
        tree[: n + 1] = 0.0
        out[q] = 0.0
        done = 0
        while done < n:
            tied = done
            while tied < n and keys[tied] == keys[done]:
                node = grade[docs[tied]] + 1
                while node <= n:
                    tree[node] += root[docs[tied]]
                    node += node & -node
                tied += 1
            for i in range(done, tied):
                node = grade[docs[i]]
                while node > 0:
                    out[q] += root[docs[i]] * tree[node]
                    node -= node & -node
            done = tied
