"""The pairs that the reference rankers learn from, in one of two forms.

Factorised (`Runs`): documents by query and grade; sums over pairs of different grades are made of products, and none is
listed. Listed (`CriticalPairs`): one by one, explicit ones or those of grades, whose weights need not factorise.
"""

import numpy as np
from numpy.typing import NDArray

from boostplug.data.grade_groups import PairRuns
from boostplug.data.queries import Queries, why_nothing_is_learnt
from boostplug.kernels.base.views import Runs
from boostplug.losses.base.pair_loss import runs_of
from boostplug.rankers import critical_pairs as kernels
from boostplug.rankers.critical_pairs import CriticalPairs

Floats = NDArray[np.float64]


def refuse_no_pairs(queries: Queries) -> None:
    """Raise where there is no pair to learn from."""
    if len(runs_of(queries).query):
        return
    cause = why_nothing_is_learnt(queries)
    if queries.pairs is not None:
        raise ValueError(
            f"pairs holds no pair of positive weight between rows of positive weight: {cause}; pass at least one"
        )
    raise ValueError(f"y holds no pair to learn from: {cause}; check y, the weights and the queries")


def listed(queries: Queries) -> CriticalPairs:
    """Return all pairs, with weights that sum to 1."""
    runs = runs_of(queries)
    if isinstance(runs, PairRuns):
        return CriticalPairs(runs.winner, runs.loser, runs.weight / runs.weight.sum())
    m = int(runs.n_pairs.sum())
    try:
        pairs = CriticalPairs(np.empty(m, np.int64), np.empty(m, np.int64), np.ones(m))
    except MemoryError:
        raise MemoryError(
            f"RankBoost+ and record_e2 list all critical pairs, {m} here; fit smaller queries, or with variant "
            "'discrete' or 'continuous' and without record_e2"
        ) from None
    done = 0
    for higher, lower in runs.pairs(np.ones(len(runs.query), bool)):
        block = slice(done, done := done + len(higher))
        pairs.winner[block], pairs.loser[block] = runs.rows[higher], runs.rows[lower]
        if len(runs.sqrt_weight):
            pairs.weight[block] = runs.sqrt_weight[higher] * runs.sqrt_weight[lower]
    pairs.weight[:] /= pairs.weight.sum()
    return pairs


def errors(pairs: Runs | CriticalPairs, scores: Floats) -> tuple[float, float]:
    """Return the weight of the pairs in the wrong order, and of those whose scores are equal."""
    if isinstance(pairs, Runs):
        wrong, tied = kernels.error_of_grades(pairs, scores).sum(axis=0)
    else:
        wrong, tied = kernels.error_of_pairs(pairs, scores)
    return float(wrong), float(tied)
