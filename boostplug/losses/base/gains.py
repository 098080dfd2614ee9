"""Gains of the grades of queries that hold pairs, and what an ideal order of them is worth."""

import numpy as np
from numpy.typing import NDArray

from boostplug.data.grade_groups import GradeRuns
from boostplug.data.queries import Queries
from boostplug.metrics.dcg import Convention, Gain, discounts, gains_in_units

Floats = NDArray[np.float64]


def rising_gains(loss: str, queries: Queries, gain: Gain) -> Floats:
    """Return the gain of each run of `Queries.grade_runs`, ascending within a query, in a unit of the query's.

    Raises
    ------
    ValueError
        If gains fall as grades rise; `loss` is whose they are.
    """
    runs = queries.grade_runs
    query_of_run = runs.query_of_run
    level = gains_in_units(queries, gain)[runs.rows[runs.run_start[:-1]]]
    falls = (np.diff(level) < 0) & (query_of_run[1:] == query_of_run[:-1])
    if falls.any() and callable(gain):
        at = int(np.argmax(falls))
        raise ValueError(
            f"{loss}: gain must not fall as the grade rises: it is {level[at]!s} for grade "
            f"{runs.run_grade[at]!s} and {level[at + 1]!s} for grade {runs.run_grade[at + 1]!s}"
        )
    for q in np.unique(query_of_run[1:][falls]):  # gains of neighbouring floats may fall by rounding
        of_query = slice(runs.query_run[q], runs.query_run[q + 1])
        level[of_query] = np.maximum.accumulate(level[of_query])
    return level


def ideal_dcg(runs: GradeRuns, level: Floats, k: int | None = None, convention: Convention = "standard") -> Floats:
    """Return the ideal DCG@k of each query that holds a pair: its documents stand in pairs all, by ascending gain."""
    if not len(level):
        return np.zeros(0)
    n = runs.n_documents
    discount = discounts(int(n.max()), convention).copy()
    discount[len(discount) if k is None else k :] = 0.0
    rank = np.repeat(runs.query_start[1:], n) - 1 - np.arange(len(runs.rows))
    of_documents = np.repeat(level, np.diff(runs.run_start)) * discount[rank]
    ideal: Floats = np.add.reduceat(of_documents, runs.query_start[:-1])
    return ideal
