r"""Sums of :math:`w_{ij} = e^{-d_{ij}(F_i - F_j)}` over the pairs of different grades that each cut separates.

Documents come query by query. For grades a and b the distance is one number, so that :math:`w_{ij} = e_{ib} e_{ja}`:
a document has one factor for each other grade of its query. A sweep takes a query's documents in descending order of a
feature. When document i comes above the cut, its pairs with those above are no longer separated, and those with the
rest are:

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_evenly, run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled
from boostplug.weak_rankers.cuts import CutCodes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Documents(NamedTuple):
    """The documents of some queries, query by query, with their grades 0, 1, …, K - 1.

    Attributes
    ----------
    start, cell_start, factor_start : ndarray of shape (n_queries + 1,)
        The n documents of each query, the K² pairs (a, b) of its grades, and the n · K factors of its documents.
    query, grade, log_root : ndarray of shape (n_docs,)
        `log_root` is half the logarithm of each document's weight.
    distance : ndarray of shape (n_cells,)
        From b to a: positive where a is the higher grade, 0 for a = b.
    """

    start: Ints
    cell_start: Ints
    factor_start: Ints
    query: Ints
    grade: NDArray[np.int32]
    log_root: Floats
    distance: Floats


class Factors(NamedTuple):
    """Factors of the pair weights, written by `largest_factors` and `factorise`.

    Attributes
    ----------
    top, total : ndarray of shape (n_cells,)
        At (a, b) the largest exponent of a factor, and the sum over the documents of grade b of their factors for a.
    factor : ndarray of shape (Σ n_q K_q,)
        For each document of a query K factors, that of its own grade 0; relative to e^shift.
    """

    top: Floats
    total: Floats
    factor: Floats


class DirectedPairs(NamedTuple):
    """Pairs one by one: rows, distance, and the logarithm of the initial weight."""

    winner: Ints
    loser: Ints
    distance: Floats
    log_weight: Floats


def order_in_queries(docs: Documents, cuts: CutCodes) -> NDArray[np.unsignedinteger]:
    """Return each query's documents, counted within the query, by descending code of each of the features."""
    order = np.empty(cuts.codes.shape, np.uint16 if np.diff(docs.start).max() <= 2**16 else np.uint32)
    run_evenly(lambda a, b: _order_in_queries(docs, cuts, a, b, order), *cuts.codes.shape)
    return order


def largest_factors(docs: Documents, scores: Floats, factors: Factors) -> float:
    """Write the largest exponents of factors; return that of a pair."""
    largest = np.empty(len(docs.start) - 1)
    run_over_queries(lambda a, b: _largest_factors(docs, scores, factors, a, b, largest), docs.factor_start)
    return float(largest.max())


def factorise(
    docs: Documents, scores: Floats, shift: float, factors: Factors, *, squared: bool
) -> tuple[Floats, float, float]:
    """Write the factors of each document, relative to e^shift; return what follows from them.

    That is the slope of each document, Σ_j w_ij d_ij, the sum of w over all pairs, and the sum of what the factors
    multiply to: w, or d² w if `squared`.
    """
    slope = np.empty(len(docs.query))
    sums = np.empty((2, len(docs.start) - 1))
    run_over_queries(
        lambda a, b: _factorise(docs, scores, shift, squared, factors, a, b, slope, sums), docs.factor_start
    )
    return slope, float(sums[0].sum()), float(sums[1].sum())


def add_swept(docs: Documents, factors: Factors, cuts: CutCodes, order: NDArray[Any], bins: Floats) -> None:
    """Add the Δ of every document (see above) to the bins of its codes.

    Feature k has the bins ``start[k] + k`` and following, one for each code.
    """
    run_evenly(lambda a, b: _add_swept(docs, factors, cuts, order, a, b, bins), len(cuts.codes), len(factors.factor))


def add_listed(pairs: DirectedPairs, mass: Floats, cuts: CutCodes, bins: Floats) -> None:
    """Add listed pairs to the bins of the features: a cut parts a pair if it lies between the two codes.

    The pairs of one winner stand together, best by far: its own bin is added to once.
    """
    run_evenly(lambda a, b: _add_listed(pairs, mass, cuts, a, b, bins), len(cuts.codes), len(mass))


def decreases(cuts: CutCodes, slope: Floats, bins: Floats, smallest: float, mass: Floats, decrease: Floats) -> None:
    """Write the mass of each cut and slope² / mass, 0 where the mass is below `smallest`."""
    run_evenly(lambda a, b: _decreases(cuts, slope, bins, smallest, a, b, mass, decrease), *cuts.codes.shape)


@compiled()
def _order_in_queries(docs: Any, cuts: Any, first: int, last: int, order: Any) -> None:
    codes, start, query = cuts.codes, cuts.start, docs.query
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
        free = docs.start.copy()
        for p in by_code:
            q = query[p]
            order[k, free[q]] = p - docs.start[q]
            free[q] += 1


@compiled()
def _largest_factors(docs: Any, scores: Any, factors: Any, first: int, last: int, largest: Any) -> None:
    doc_start, cell_start, grade = docs.start, docs.cell_start, docs.grade
    log_root, distance, top = docs.log_root, docs.distance, factors.top
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
def _factorise(
    docs: Any, scores: Any, shift: float, squared: bool, factors: Any, first: int, last: int, slope: Any, sums: Any
) -> None:
    doc_start, cell_start, factor_start, grade = docs.start, docs.cell_start, docs.factor_start, docs.grade
    log_root, distance = docs.log_root, docs.distance
    top, total, factor = factors.top, factors.total, factors.factor
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
        sums[0, q] = _pairs_of(total, cells, n_grades)
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
        sums[1, q] = _pairs_of(total, cells, n_grades)


@compiled()
def _pairs_of(total: Any, cells: int, n_grades: int) -> float:
    """Return the sum over all pairs of a query of the products of their factors."""
    out = 0.0
    for a in range(n_grades):
        for b in range(a):
            out += total[cells + a * n_grades + b] * total[cells + b * n_grades + a]
    return out


@compiled(fastmath={"contract"})
def _add_swept(docs: Any, factors: Any, cuts: Any, order: Any, first: int, last: int, bins: Any) -> None:
    doc_start, cell_start, factor_start, grade = docs.start, docs.cell_start, docs.factor_start, docs.grade
    total, factor, start = factors.total, factors.factor, cuts.start
    difference = np.empty(np.max(np.diff(cell_start)))
    for k in range(first, last):
        code = cuts.codes[k]
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
def weigh_listed(pairs: Any, scores: Any, shift: float, squared: bool, mass: Any, slope: Any) -> float:
    """Write what each listed pair weighs (d² w if `squared`), add its d w to `slope`, and return the sum of w."""
    winner, loser, distance, log_weight = pairs.winner, pairs.loser, pairs.distance, pairs.log_weight
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
def _add_listed(pairs: Any, mass: Any, cuts: Any, first: int, last: int, bins: Any) -> None:
    winner, loser, codes, start = pairs.winner, pairs.loser, cuts.codes, cuts.start
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
def _decreases(
    cuts: Any, slope: Any, bins: Any, smallest: float, first: int, last: int, mass: Any, decrease: Any
) -> None:
    start = cuts.start
    for k in range(first, last):
        total = 0.0
        for cut in range(start[k + 1] - 1, start[k] - 1, -1):
            total += bins[cut + k + 1]
            mass[cut] = total
            decrease[cut] = slope[cut] * (slope[cut] / total) if total >= smallest else 0.0
