"""Which pairs a loss learns from, and what those of a query weigh together."""

import numpy as np
from numpy.typing import NDArray

from boostplug.queries import GradeRuns, PairRuns, Queries

__all__ = ["factor_of", "runs_of"]


def runs_of(queries: Queries) -> GradeRuns | PairRuns:
    """Return the pairs to learn from: the explicit ones where there are any."""
    return queries.grade_runs if queries.pairs is None else queries.pair_runs


def factor_of(normalization: str, runs: GradeRuns | PairRuns) -> NDArray[np.float64]:
    """Return c_q of each query that holds a pair: 1 for "none", n_q/P_q for "rows", 1/P_q for "query"."""
    if normalization == "rows":
        return runs.n_judged / runs.n_pairs
    if normalization == "query":
        return 1.0 / runs.n_pairs
    return np.ones(len(runs.n_pairs))
