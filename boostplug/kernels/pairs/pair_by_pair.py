"""Derivatives of RankNet and NDCGBoost pair by pair, for short lists and for parts of long ones.

In NumPy, for a function with derivatives `first` and `second`::

    def gradient_and_hessian(scores, labels, winner, loser, first, second):
        d = scores[:, None] - scores  # of i and j
        w = np.where(labels[:, None] > labels, winner[:, None] * loser, 0.0)
        g, h = w * first(d), w * second(d)
        return g.sum(axis=1) - g.sum(axis=0), h.sum(axis=1) + h.sum(axis=0)

The loop visits each pair once, i of the higher grade outside and j inside. It adds the pair's terms to both documents.
LLVM vectorises it over j. It takes one exponential per document, if all scores are within `SAFE_RANGE` of each other.
"""

from typing import Any, NamedTuple

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.kernels.base.arithmetic import exponential, unsigned
from boostplug.kernels.base.compiling import compiled, inlined
from boostplug.kernels.pairs.pair_task import Task

RANKNET, NDCG = 0, 1  # kinds of functions
SAFE_RANGE = 600.0  # of scores: products of two numbers up to e^300 are finite


class _Documents(NamedTuple):
    """Documents by ascending grade."""

    e: Floats  # score, then e^(score - middle of the scores)
    winner: Floats
    loser: Floats  # weight as a loser, times e
    weight: Floats  # the same, times the gap of gains
    first: Floats  # sums of first derivatives
    second: Floats


@inlined()
def _read(task: Task, u0: int, u1: int, documents: _Documents) -> tuple[float, float]:
    """Read the documents of the groups u0..u1. Return their lowest and their highest score."""
    groups, low, high = task.groups, np.inf, -np.inf
    base, weighted = unsigned(groups.group_start[u0]), len(groups.winner) > 0
    for i in range(unsigned(groups.group_start[u1]) - base):
        x = task.steepness * task.scores[unsigned(groups.rows[base + i])]
        low, high = min(low, x), max(high, x)
        documents.e[i], documents.first[i], documents.second[i] = x, 0.0, 0.0
        documents.winner[i] = groups.winner[base + i] if weighted else 1.0
        documents.loser[i] = groups.loser[base + i] if weighted else 1.0
    return low, high


@inlined(fastmath={"contract", "reassoc"})
def _exponentiate(documents: _Documents, n: int, middle: float) -> None:
    for i in range(unsigned(n)):
        documents.e[i] = exponential(documents.e[i] - middle)
        documents.loser[i] *= documents.e[i]


@inlined()
def _weigh(task: Task, u0: int, u: int, documents: _Documents) -> None:
    """Write the weights of the documents below group u, times the gaps of gains to it."""
    start = task.groups.group_start
    for v in range(u0, u):
        gap = task.gain[u] - task.gain[v]
        for j in range(unsigned(start[v] - start[u0]), unsigned(start[v + 1] - start[u0])):
            documents.weight[j] = documents.loser[j] * gap


@inlined(fastmath={"contract", "reassoc"}, error_model="numpy")
def _add_below(documents: _Documents, weight: Floats, i: int, end: int, kind: int) -> None:
    """Add the pairs of document i with those before `end`: σ(-d), or γ for NDCG, and γ = σ(d) σ(-d), from e^F."""
    e, first, second = documents.e, documents.first, documents.second
    e_i, s, g, h = e[i], documents.winner[i], 0.0, 0.0
    for j in range(end):
        x = 1.0 / (e_i + e[j])
        wrong = weight[j] * x
        b = wrong * x * e_i
        a = b if kind == NDCG else wrong
        g += a
        h += b
        first[j] += s * a
        second[j] += s * b
    first[i], second[i] = -s * g, s * h


@compiled()
def sum_by_pair(begin: int, end: int, task: Task, parts: Any, kind: int, wide: Any) -> None:
    """Add the pairs of the parts ``begin <= p < end``, except those whose scores range too widely, which are marked."""
    start, rows = task.groups.group_start, task.groups.rows
    x = np.empty((6, max(start[parts[begin:end, 1]] - start[parts[begin:end, 0]])))
    documents = _Documents(x[0], x[1], x[2], x[3], x[4], x[5])
    for p in range(begin, end):
        u0, u1, factor = parts[p, 0], parts[p, 1], task.factor[parts[p, 2]]
        low, high = _read(task, u0, u1, documents)
        if not high - low <= SAFE_RANGE:
            wide[p] = True
            continue
        _exponentiate(documents, start[u1] - start[u0], low + 0.5 * (high - low))
        weight = documents.weight if len(task.gain) else documents.loser
        for u in range(u0 + 1, u1):
            if len(task.gain):
                _weigh(task, u0, u, documents)
            for i in range(start[u] - start[u0], start[u + 1] - start[u0]):
                _add_below(documents, weight, unsigned(i), unsigned(start[u] - start[u0]), kind)
        for i in range(start[u1] - start[u0]):
            task.out[0, rows[start[u0] + i]] += factor * documents.first[i]
            task.out[1, rows[start[u0] + i]] += factor * documents.second[i]
