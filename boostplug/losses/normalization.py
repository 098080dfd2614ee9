"""Which pairs a loss learns from, what those of a query weigh together (`normalization`, see `Loss`), and scales."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.data.grade_groups import GradeRuns, PairRuns
from boostplug.data.queries import Queries

__all__ = ["factor_of", "runs_of", "scale_terms_of", "scale_terms_of_rows"]


def runs_of(queries: Queries) -> GradeRuns | PairRuns:
    """Return the pairs to learn from: the explicit ones where there are any."""
    return queries.grade_runs if queries.pairs is None else queries.pair_runs


def factor_of(normalization: str, runs: GradeRuns | PairRuns) -> NDArray[np.float64]:
    """Return c_q of each query that holds a pair, times the unit of weights that `runs` leave out of their sums.

    c_q is 1 for "none", n_q/P_q for "rows", 1/P_q for "query". The unit is a power of two, so it rounds nothing.
    """
    if normalization == "rows":
        return runs.unit * (runs.n_judged / runs.n_pairs)
    if normalization == "query":
        return runs.unit / runs.n_pairs
    return np.full(len(runs.n_pairs), runs.unit)


def scale_terms_of(
    normalization: str, runs: GradeRuns | PairRuns, weight_of_pairs: NDArray[np.floating[Any]] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Σ_q n_q and Σ_q c_q W_q over the queries that hold a pair, as `Loss.scale_terms` does.

    W_q is `weight_of_pairs`, summed with the weights of `runs`; by default what these are together.
    """
    of_query = runs.weight_of_pairs if weight_of_pairs is None else weight_of_pairs
    return np.array([runs.n_judged.sum()]), np.array([(factor_of(normalization, runs) * of_query).sum()])


def scale_terms_of_rows(queries: Queries) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return number and total weight of the rows to learn from: the judged ones, and those in explicit pairs."""
    rows = queries.judged
    if queries.pairs is not None:
        rows = rows.copy()
        rows[queries.pair_runs.winner] = rows[queries.pair_runs.loser] = True
    number = np.array([float(np.count_nonzero(rows))])
    return number, number.copy() if queries.row_weight is None else np.array([queries.row_weight[rows].sum()])
