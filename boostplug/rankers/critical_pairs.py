"""Sums over pairs (i preferred to j) for rankers: masses of a cut, potentials of documents, misordered pairs.

Functions on grades take documents by query and grade (`Runs`) and never list a pair; functions
on pairs take each one (`CriticalPairs`). A cut is given by which documents are above it: it ranks a pair right if i is
above and j is not, wrong if j is above and i is not, and else ties it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostplug.core.threads import run_evenly, run_over_queries
from boostplug.kernels.base.arithmetic import unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.base.sorting import sort, workspace_for
from boostplug.kernels.base.views import Runs
from boostplug.kernels.metrics.ranks import add_grade, grades_below

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sides = NDArray[np.uint8]

_CUTS_AT_ONCE = 8  # take hardly longer than one: 4.0 against 3.3 ns a pair (400,000 pairs, one core); 16 take 6.7 ns


class CriticalPairs(NamedTuple):
    """Pairs one by one: rows of winner and loser, and weight."""

    winner: Ints
    loser: Ints
    weight: Floats


def masses_of_grades(runs: Runs, scores: Floats, above: Sides) -> Floats:
    r"""Return for each query the masses of pairs that a cut ranks right, wrong, and ties, relative to ``e^out[q, 3]``.

    A pair's mass is :math:`s_i s_j e^{-(F_i - F_j)}`, a product of what i and j bring: running sums over the grades
    from the lowest up give all pairs. Each side's sums are kept relative to their own largest exponent.
    """
    out = np.empty((len(runs.query_run) - 1, 4))
    run_over_queries(lambda a, b: _masses_of_grades(runs, scores, above, a, b, out), runs.run_start[runs.query_run])
    return out


def error_of_grades(runs: Runs, scores: Floats) -> Floats:
    """Return for each query the weight of its misordered pairs, and of its tied pairs, in O(n log n)."""
    out = np.empty((len(runs.query_run) - 1, 2))
    run_over_queries(lambda a, b: _error_of_grades(runs, scores, a, b, out), runs.run_start[runs.query_run])
    return out


def cut_mass(pairs: CriticalPairs, mass: Floats, sides: Sides, n_cuts: int) -> Floats:
    """Return, for each of the first cuts (columns of `sides`), the mass of the pairs that it does not tie."""
    out = np.empty(n_cuts)
    run_evenly(lambda a, b: _cut_mass(pairs, mass, sides, a, b, out), n_cuts, work_of_a_cut(len(mass)))
    return out


def work_of_a_cut(n_pairs: int) -> int:
    """Return what a thread's work on one cut is counted as, in pairs of a single cut."""
    return n_pairs // _CUTS_AT_ONCE


@compiled()
def _masses_of_grades(runs: Any, scores: Any, above: Any, first: int, last: int, out: Any) -> None:
    rows, root, run_start, query_run = runs.rows, runs.winner, runs.run_start, runs.query_run
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
def masses_of_pairs(pairs: Any, mass: Any, above: Any) -> tuple[float, float, float]:
    """Return the masses of pairs that a cut ranks right, wrong, and ties."""
    winner, loser = pairs.winner, pairs.loser
    masses = np.zeros(4)
    for p in range(unsigned(len(mass))):
        masses[2 * above[winner[p]] + above[loser[p]]] += mass[p]
    return masses[2], masses[1], masses[0] + masses[3]


@compiled(error_model="numpy")
def _cut_mass(pairs: Any, mass: Any, sides: Any, first: int, last: int, out: Any) -> None:
    winner, loser = pairs.winner, pairs.loser
    n_cuts = unsigned(last - first)
    total = np.zeros(n_cuts)
    for p in range(unsigned(len(mass))):
        i, j = sides[winner[p], first:last], sides[loser[p], first:last]
        for s in range(n_cuts):
            total[s] += mass[p] * float(i[s] ^ j[s])
    out[first:last] = total


@compiled()
def potentials(pairs: Any, mass: Any, out: Any) -> None:
    """Write what each row wins less what it loses."""
    winner, loser = pairs.winner, pairs.loser
    out[:] = 0.0
    for p in range(unsigned(len(mass))):
        out[winner[p]] += mass[p]
        out[loser[p]] -= mass[p]


@compiled()
def reweigh(pairs: Any, mass: Any, above: Any, right: float, wrong: float, tied: float) -> None:
    """Multiply each pair's mass by what its side of the cut says."""
    winner, loser = pairs.winner, pairs.loser
    factor = np.array([tied, wrong, right, tied])
    for p in range(unsigned(len(mass))):
        mass[p] *= factor[2 * above[winner[p]] + above[loser[p]]]


@compiled()
def exponential_weights(pairs: Any, scores: Any, out: Any) -> float:
    """Write weight · e^{-(F_i - F_j)} of each pair, relative to e^shift; return the shift."""
    winner, loser, weight = pairs.winner, pairs.loser, pairs.weight
    shift = -np.inf
    for p in range(len(weight)):
        shift = max(shift, scores[loser[p]] - scores[winner[p]])
    for p in range(len(weight)):
        out[p] = weight[p] * math.exp(scores[loser[p]] - scores[winner[p]] - shift)
    return shift


@compiled()
def tilted(pairs: Any, mass: Any, sides: Any, eta: Any, beta: Any, step: float, out: Any) -> tuple[float, float, float]:
    r"""Return RankBoost+'s loss and its derivative at ``eta + step · beta``, relative to `mass`, the pairs at ``eta``.

    A pair's factor is the product over the cuts s of :math:`e^{\mp\alpha\beta_s}` where s ranks it right or wrong, and
    of :math:`\cosh(\eta_s + \alpha\beta_s) / \cosh\eta_s` where s ties it. `out` gets the pairs' new masses. All three
    are relative to e^shift, the third result: weights may be large where they cancel.
    """
    winner, loser = pairs.winner, pairs.loser
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
def _error_of_grades(runs: Any, scores: Any, first: int, last: int, out: Any) -> None:
    rows, root, run_start, query_run = runs.rows, runs.winner, runs.run_start, runs.query_run
    workspace = workspace_for(run_start[query_run], first, last)
    keys, docs = workspace.keys, workspace.rows
    grade = np.empty(len(keys), np.int64)  # 0, 1, … from the lowest up
    tree = np.zeros(len(keys) + 1)  # Fenwick's: sums of weights by grade, of the documents that score as high or higher
    for q in range(first, last):
        u0, n_runs = query_run[q], query_run[q + 1] - query_run[q]
        base = run_start[u0]
        n = run_start[u0 + n_runs] - base
        for u in range(n_runs):
            for d in range(run_start[u0 + u] - base, run_start[u0 + u + 1] - base):
                keys[d], docs[d], grade[d] = scores[rows[base + d]], d, u
        sort(workspace, n)
        tree[: n_runs + 1] = 0.0
        wrong, wrong_or_tied = 0.0, 0.0
        done = 0
        while done < n:
            after = done
            while after < n and keys[after] == keys[done]:
                after += 1
            if after - done > 1:
                for i in range(done, after):
                    wrong += _weight(root, base + docs[i]) * grades_below(tree, grade[docs[i]])
            for i in range(done, after):
                add_grade(tree, grade[docs[i]], n_runs, _weight(root, base + docs[i]))
            for i in range(done, after):
                weight = _weight(root, base + docs[i]) * grades_below(tree, grade[docs[i]])
                wrong_or_tied += weight
                if after - done == 1:
                    wrong += weight
            done = after
        out[q, 0], out[q, 1] = wrong, wrong_or_tied - wrong


@inlined()
def _weight(root: Any, d: int) -> float:
    return root[d] if len(root) else 1.0


@compiled()
def error_of_pairs(pairs: Any, scores: Any) -> tuple[float, float]:
    """Return the weight of the misordered pairs, and of the tied ones."""
    winner, loser, weight = pairs.winner, pairs.loser, pairs.weight
    wrong, tied = 0.0, 0.0
    for p in range(unsigned(len(weight))):
        i, j = scores[winner[p]], scores[loser[p]]
        wrong += weight[p] if i < j else 0.0
        tied += weight[p] if i == j else 0.0
    return wrong, tied
