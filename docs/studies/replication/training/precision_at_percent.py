"""`PrecisionAtPercent`: the measure of QBRank's Table 1."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats, Ints
from boostplug.core.checks import check_number, scores_of_rows
from boostplug.data.queries import Queries
from boostplug.metrics import Metric


@dataclass(frozen=True)
class PrecisionAtPercent(Metric):
    r"""Share of pairs that are not contradicted among the p% whose scores are farthest apart.

    Zheng et al., "A general boosting method and its application to learning ranking functions for web search" (QBRank,
    NIPS 2007), "precision at K%": the pairs of different grades are sorted by :math:`|F_i - F_j|`; the scores
    contradict a pair if they put the lower grade first. A tie contradicts nothing.

    The pairs of all queries are sorted together, so that the metric's value is no mean over queries: it is the share
    among the first p% of all pairs, each with its query's weight. `per_query` gives each query's share among the first
    p% of its own pairs, NaN where it has none.

    p% of m pairs need be no whole number, and pairs equally far apart have no order: the pairs exactly as far apart as
    the last one count in equal parts, so that p% of the weight is counted (the expected value over their order).

    Parameters
    ----------
    p : float, default=100
        Percentage, 0 < p ≤ 100.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([2, 1, 0, 1, 0], group=[3, 2])
    >>> scores = [3.0, 0.5, 1.0, 0.0, 9.0]  # pairs 2.5, 2 right; .5, 9 wrong
    >>> PrecisionAtPercent(50)(scores, queries)
    0.5
    >>> PrecisionAtPercent(50).per_query(scores, queries)
    array([1., 0.])
    """

    couples_queries: ClassVar[bool] = True

    p: float = 100

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_number("p", self.p, above=0.0, most=100, otherwise=", a percentage")

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the share of each query among its own pairs."""
        gap, query = _gaps(scores, queries)
        starts = np.searchsorted(query, np.arange(1, queries.n_queries))
        return np.array([self._share(of_query, np.ones(len(of_query))) for of_query in np.split(gap, starts)])

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the share among the pairs of all queries, or what a framework expects of a metric; see `Metric`."""
        if not isinstance(data, Queries):
            return super().__call__(scores, data)
        gap, query = _gaps(scores_of_rows(scores, data.n_rows, finite=False), data)
        return self._share(gap, np.ones(len(gap)) if data.query_weight is None else data.query_weight[query])

    def _share(self, gap: Floats, weight: Floats) -> float:
        """Return the weighted share of gaps that are not negative among the p% farthest from 0."""
        wanted = self.p / 100 * weight.sum()
        if not wanted:
            return np.nan
        size = np.abs(gap)
        order = np.argsort(-size)
        last = min(int(np.searchsorted(np.cumsum(weight[order]), wanted)), len(order) - 1)
        beyond, tied, right = size > size[order[last]], size == size[order[last]], gap >= 0.0
        part = (wanted - weight[beyond].sum()) / weight[tied].sum()
        return float((weight[beyond & right].sum() + part * weight[tied & right].sum()) / wanted)


def _gaps(scores: Floats, queries: Queries) -> tuple[Floats, Ints]:
    """Return the difference of scores of all pairs of different grades, the higher grade's first, and their queries."""
    groups = queries.grade_groups
    pairs = [np.array(block) for block in groups.pairs()]
    higher, lower = groups.rows[np.hstack([np.zeros((2, 0), np.int64), *pairs])]
    return scores[higher] - scores[lower], queries.query_of_row[higher]
