"""The machine that sums smooth functions of score differences over pairs: all of different grades, or listed ones.

A loss says what each function counts in each of its outputs (`SmoothSums`), what pairs weigh (`PairWeights`), and what
each query is multiplied with.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import frozen
from boostplug.core.threads import Computed
from boostplug.data.queries import Queries
from boostplug.kernels.pairs.cost_model import Costs
from boostplug.kernels.pairs.pair_task import GAINS, ONES, TABLE, PairWeights, Task
from boostplug.kernels.pairs.smooth import costs_of, plan, sum_pairs
from boostplug.kernels.pairs.tables import Functions, Kernel, tables
from boostplug.losses.loss import LARGEST_VALUE

__all__ = [
    "PairWeights",
    "SmoothSums",
    "derivatives_of_listed",
    "value_of_listed",
    "value_per_query",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Function = Callable[[Floats], Floats]

_BLOCK = 1 << 18  # differences in one call of a function
_ALL = frozen(np.zeros(0, np.bool_))


@dataclass(frozen=True, eq=False)
class SmoothSums:
    """Functions of the difference with what each counts in each output, ready to be summed."""

    functions: Functions

    @classmethod
    def value(cls, kind: int, value: Kernel, width: float, reach: int) -> "SmoothSums":
        """Return sums with one output, in which each pair counts once: in the row of the higher grade."""
        return cls(Functions(kind, _shares([1.0]), _shares([0.0]), tables((value,), width, reach)))

    @classmethod
    def derivatives(cls, kind: int, first: Kernel, second: Kernel, width: float, reach: int) -> "SmoothSums":
        """Return sums with two outputs: gradient, where the row of the lower grade counts negatively, and Hessian."""
        lower, higher = _shares([1.0, 0.0], [0.0, 1.0]), _shares([-1.0, 0.0], [0.0, 1.0])
        return cls(Functions(kind, lower, higher, tables((first, second), width, reach)))

    @classmethod
    def even(cls, kind: int, function: Kernel, width: float, reach: int) -> "SmoothSums":
        """Return sums with two outputs of one even function: minus its signed sum, and its sum."""
        return cls(Functions(kind, _shares([-1.0, 1.0]), _shares([1.0, 1.0]), tables((function,), width, reach)))

    def __call__(
        self,
        scores: Floats,
        queries: Queries,
        factor: Floats,
        *,
        weights: PairWeights = PairWeights(),  # noqa: B008 (a constant)
        multiplier: float = 1.0,
        skipped: Bools = _ALL,
    ) -> Floats:
        """Return the outputs of each row, of shape (n_outputs, n_rows): pair weights and factors multiplied in."""
        runs, functions = queries.grade_runs, self.functions
        out = np.zeros((functions.lower.shape[1], queries.n_rows))
        costs = self._costs[weights.what]
        planned = runs.remember(costs, lambda: plan(runs.view, runs.n_pairs, costs))
        task = Task(frozen(scores.view()), float(multiplier), runs.view, weights, frozen(factor.view()), out)
        sum_pairs(task, planned, functions, costs, skipped)
        return out

    @Computed
    def _costs(self) -> tuple[Costs, ...]:
        return tuple(costs_of(self.functions, what) for what in (ONES, GAINS, TABLE))


def _shares(*functions: list[float]) -> Floats:
    return frozen(np.array(functions))


def value_per_query(per_row: Floats, queries: Queries) -> Floats:
    """Return the sum over each query's rows, cut where the sum over queries might overflow."""
    runs = queries.grade_runs
    out = np.zeros(queries.n_queries)
    if len(runs.query):
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(per_row[runs.rows], runs.query_start[:-1])
        out[runs.query] = np.clip(sums, -LARGEST_VALUE, LARGEST_VALUE)
    return out


def value_of_listed(scores: Floats, queries: Queries, factor: Floats, rho: Function) -> Floats:
    """Return the value of each query over its explicit pairs."""
    runs = queries.pair_runs
    terms = np.empty(len(runs.winner))
    out = np.zeros(queries.n_queries)
    with np.errstate(over="ignore"):  # cut below
        for part in _blocks(len(runs.winner)):
            terms[part] = runs.weight[part] * rho(scores[runs.winner[part]] - scores[runs.loser[part]])
        out[runs.query] = factor * runs.sums(terms)
    return np.clip(out, -LARGEST_VALUE, LARGEST_VALUE)


def derivatives_of_listed(
    scores: Floats, queries: Queries, factor: Floats, first: Function, second: Function
) -> tuple[Floats, Floats]:
    """Return gradient and Hessian over the explicit pairs."""
    runs = queries.pair_runs
    n = queries.n_rows
    gradient, hessian = np.zeros((2, n))
    of_pair = runs.weight * np.repeat(factor, np.diff(runs.start))
    for part in _blocks(len(runs.winner)):
        winner, loser = runs.winner[part], runs.loser[part]
        d = scores[winner] - scores[loser]
        g, h = of_pair[part] * first(d), of_pair[part] * second(d)
        gradient += np.bincount(winner, g, n) - np.bincount(loser, g, n)
        hessian += np.bincount(winner, h, n) + np.bincount(loser, h, n)
    return gradient, hessian


def _blocks(n: int) -> Iterator[slice]:
    size = max(_BLOCK, n // 16)  # few of them, since each costs a pass over all rows
    for first in range(0, n, size):
        yield slice(first, min(n, first + size))
