"""Which pairs a loss learns from, and what those of a query weigh together (`normalization`, see `Loss`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.queries import Queries
from boostplug.runs import GradeRuns, PairRuns

__all__ = ["factor_of", "runs_of", "scale_terms_of"]


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


def scale_terms_of(
    normalization: str, runs: GradeRuns | PairRuns, weight_of_pairs: NDArray[np.floating[Any]] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Σ_q n_q and Σ_q c_q W_q over the queries that hold a pair, as `Loss.scale_terms` does.

    W_q is `weight_of_pairs`; by default the number of the query's pairs.
    """
    of_query = runs.n_pairs if weight_of_pairs is None else weight_of_pairs
    return np.array([runs.n_judged.sum()]), np.array([(factor_of(normalization, runs) * of_query).sum()])
