"""Sums over pairs (i preferred to j) for RankBoost: masses of a cut, potentials of documents, misordered pairs.

Functions on grades take documents by query and grade (`boostplug.queries.GradeRuns`) and never list a pair; functions
on pairs take winner and loser of each. A cut is given by which documents are above it: it ranks a pair right if i is
above and j is not, wrong if j is above and i is not, and else ties it.
"""

import math
from typing import Any

import numba
import numpy as np

from boostplug.kernels.compiling import compiled

__all__ = [
    "cut_mass",
    "error_of_grades",
    "error_of_pairs",
    "exponential_weights",
    "list_pairs",
    "masses_of_grades",
    "masses_of_pairs",
    "potentials",
    "reweigh",
    "tilted",
]

unsigned = numba.uint64  # a loop over unsigned indices needs no test for negative ones


@compiled()
def masses_of_grades(
    scores: Any, rows: Any, root: Any, run_start: Any, query_run: Any, above: Any, first: int, last: int, out: Any
) -> None:
    r"""Write for each query the masses of pairs that a cut ranks right, wrong, and ties, relative to ``e^out[q, 3]``.

    A pair's mass is :math:`s_i s_j e^{-(F_i - F_j)}`, a product of what i and j bring: running sums over the grades
    from the lowest up give all pairs. Each side's sums are kept relative to their own largest exponent.
    """
    for q in range(first, last):
        peak = np.full(2, -np.inf)  # of F over the documents of lower grades: below the cut, above it
        lower = np.zeros(2)
        masses = np.zeros((2, 2))  # [side of i, side of j], relative to e^shift
        shift = -np.inf
        for u in range(query_run[q], query_run[q + 1]):
            top = np.full(2, -np.inf)  # of -F over this grade's documents
            for d in range(run_start[u], run_start[u + 1]):
                side = above[rows[d]]
                top[side] = max(top[side], -scores[rows[d]])
            upper = np.zeros(2)
            for d in range(run_start[u], run_start[u + 1]):
                side = above[rows[d]]
                weight = root[d] if len(root) else 1.0
                upper[side] += weight * math.exp(-scores[rows[d]] - top[side])
            largest = top.max() + peak.max()
            if largest > shift:
                masses *= math.exp(shift - largest)
                shift = largest
            for i in range(2):
                for j in range(2):
                    if top[i] + peak[j] > -np.inf:
                        masses[i, j] += upper[i] * lower[j] * math.exp(top[i] + peak[j] - shift)
            for d in range(run_start[u], run_start[u + 1]):
                row = rows[d]
                side = above[row]
                weight = root[d] if len(root) else 1.0
                if scores[row] > peak[side]:
                    lower[side] = lower[side] * math.exp(peak[side] - scores[row]) + weight
                    peak[side] = scores[row]
                else:
                    lower[side] += weight * math.exp(scores[row] - peak[side])
        out[q, 0], out[q, 1], out[q, 2], out[q, 3] = masses[1, 0], masses[0, 1], masses[0, 0] + masses[1, 1], shift


@compiled()
def masses_of_pairs(mass: Any, winner: Any, loser: Any, above: Any) -> tuple[float, float, float]:
    """Return the masses of pairs that a cut ranks right, wrong, and ties."""
    masses = np.zeros(4)
    for p in range(unsigned(len(mass))):
        masses[2 * above[winner[p]] + above[loser[p]]] += mass[p]
    return masses[2], masses[1], masses[0] + masses[3]


@compiled(error_model="numpy")
def cut_mass(mass: Any, winner: Any, loser: Any, sides: Any, first: int, last: int, out: Any) -> None:
    """Write, for the cuts ``sides[:, first:last]``, the mass of the pairs that they do not tie."""
    n_cuts = unsigned(last - first)
    total = np.zeros(n_cuts)
    for p in range(unsigned(len(mass))):
        i, j = sides[winner[p], first:last], sides[loser[p], first:last]
        for s in range(n_cuts):
            total[s] += mass[p] * float(i[s] ^ j[s])
    out[first:last] = total


@compiled()
def potentials(mass: Any, winner: Any, loser: Any, out: Any) -> None:
    """Write what each row wins less what it loses."""
    out[:] = 0.0
    for p in range(unsigned(len(mass))):
        out[winner[p]] += mass[p]
        out[loser[p]] -= mass[p]


@compiled()
def reweigh(mass: Any, winner: Any, loser: Any, above: Any, right: float, wrong: float, tied: float) -> None:
    """Multiply each pair's mass by what its side of the cut says."""
    factor = np.array([tied, wrong, right, tied])
    for p in range(unsigned(len(mass))):
        mass[p] *= factor[2 * above[winner[p]] + above[loser[p]]]


@compiled()
def exponential_weights(weight: Any, winner: Any, loser: Any, scores: Any, out: Any) -> float:
    """Write weight · e^{-(F_i - F_j)} of each pair, relative to e^shift; return the shift."""
    shift = -np.inf
    for p in range(len(weight)):
        shift = max(shift, scores[loser[p]] - scores[winner[p]])
    for p in range(len(weight)):
        out[p] = weight[p] * math.exp(scores[loser[p]] - scores[winner[p]] - shift)
    return shift


@compiled()
def tilted(
    mass: Any, winner: Any, loser: Any, sides: Any, eta: Any, beta: Any, step: float, out: Any
) -> tuple[float, float, float]:
    r"""Return RankBoost+'s loss and its derivative at ``eta + step · beta``, relative to `mass`, the pairs at ``eta``.

    A pair's factor is the product over the cuts s of :math:`e^{\mp\alpha\beta_s}` where s ranks it right or wrong, and
    of :math:`\cosh(\eta_s + \alpha\beta_s) / \cosh\eta_s` where s ties it. `out` gets the pairs' new masses. All three
    are relative to e^shift, the third result: weights may be large where they cancel.
    """
    n_cuts = len(eta)
    tie, slope = np.empty(n_cuts), np.empty(n_cuts)
    for s in range(n_cuts):
        x, y = abs(eta[s] + step * beta[s]), abs(eta[s])
        tie[s] = (x + math.log1p(math.exp(-2.0 * x))) - (y + math.log1p(math.exp(-2.0 * y)))
        slope[s] = beta[s] * math.tanh(eta[s] + step * beta[s])
    rates = np.empty(len(mass))
    shift = -np.inf
    for p in range(len(mass)):
        i, j = winner[p], loser[p]
        exponent, rate = 0.0, 0.0
        for s in range(unsigned(n_cuts)):
            order = float(sides[i, s]) - float(sides[j, s])
            exponent += tie[s] if order == 0.0 else -step * beta[s] * order
            rate += slope[s] if order == 0.0 else -beta[s] * order
        out[p], rates[p] = exponent, rate
        shift = max(shift, exponent)
    value, derivative = 0.0, 0.0
    for p in range(len(mass)):
        out[p] = mass[p] * math.exp(out[p] - shift)
        value += out[p]
        derivative += out[p] * rates[p]
    return value, derivative, shift


@compiled()
def list_pairs(rows: Any, root: Any, run_start: Any, query_run: Any, winner: Any, loser: Any, weight: Any) -> None:
    """Write all pairs of different grades, by query."""
    p = 0
    for q in range(len(query_run) - 1):
        base = run_start[query_run[q]]
        for u in range(query_run[q] + 1, query_run[q + 1]):
            for i in range(run_start[u], run_start[u + 1]):
                for j in range(base, run_start[u]):
                    winner[p], loser[p] = rows[i], rows[j]
                    weight[p] = root[i] * root[j] if len(root) else 1.0
                    p += 1


@compiled()
def error_of_grades(
    scores: Any, rows: Any, root: Any, run_start: Any, query_run: Any, first: int, last: int, out: Any
) -> None:
    """Write for each query the weight of its misordered pairs, and of its tied pairs, in O(n log n)."""
    for q in range(first, last):
        u0, u1 = query_run[q], query_run[q + 1]
        base, n, n_runs = run_start[u0], run_start[u1] - run_start[u0], u1 - u0
        f = np.empty(n)
        run = np.empty(n, np.int64)
        for u in range(u0, u1):
            for d in range(run_start[u], run_start[u + 1]):
                f[d - base] = scores[rows[d]]
                run[d - base] = u1 - u  # 1 for the highest grade
        order = np.argsort(f)
        tree = np.zeros(n_runs + 1)  # weights of documents of lower scores, summed by grade from the highest down
        wrong, tied = 0.0, 0.0
        a = 0
        while a < n:
            b = a
            while b < n and f[order[b]] == f[order[a]]:
                b += 1
            for k in range(a, b):
                i = order[k]
                weight = root[base + i] if len(root) else 1.0
                place = run[i] - 1
                while place > 0:
                    wrong += weight * tree[place]
                    place -= place & -place
            for k in range(a, b):
                i = order[k]
                weight = root[base + i] if len(root) else 1.0
                place = run[i]
                while place <= n_runs:
                    tree[place] += weight
                    place += place & -place
            if b - a > 1:
                tied += _tied(order[a:b], run, root, base)
            a = b
        out[q, 0], out[q, 1] = wrong, tied


@compiled()
def _tied(group: Any, run: Any, root: Any, base: int) -> float:
    """Return the weight of the pairs of different grades within a group of equal scores."""
    runs = np.empty(len(group), np.int64)
    for k in range(len(group)):
        runs[k] = run[group[k]]
    order = np.argsort(runs)
    total, before, same = 0.0, 0.0, 0.0
    for k in range(len(order)):
        i = group[order[k]]
        if k and run[i] != run[group[order[k - 1]]]:
            before += same
            same = 0.0
        weight = root[base + i] if len(root) else 1.0
        total += weight * before
        same += weight
    return total


@compiled()
def error_of_pairs(weight: Any, winner: Any, loser: Any, scores: Any) -> tuple[float, float]:
    """Return the weight of the misordered pairs, and of the tied ones."""
    wrong, tied = 0.0, 0.0
    for p in range(unsigned(len(weight))):
        i, j = scores[winner[p]], scores[loser[p]]
        wrong += weight[p] if i < j else 0.0
        tied += weight[p] if i == j else 0.0
    return wrong, tied
