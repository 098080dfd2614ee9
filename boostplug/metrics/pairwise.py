"""`PairError`: the share of misordered pairs of documents of different grades."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice, check_flag
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import ranks
from boostplug.metrics.grades import grades_of
from boostplug.metrics.metric import Metric


@dataclass(frozen=True)
class PairError(Metric):
    r"""Share of misordered pairs among the pairs of different grades of a query; lower is better.

    .. math:: \frac1m \sum_{r_i > r_j} \bigl([F_i < F_j] + c\,[F_i = F_j]\bigr)

    With c = 1 this is :math:`\hat R_1`, with c = ½ :math:`\hat R_2` of Freund et al. (2003) and of the RankBoost+
    paper (Connamacher et al. 2020, Eq. 3 and 4). On two grades 1 - :math:`\hat R_2` is the query's AUC. Rows that are
    not labelled take no part. NaN for a query without such a pair. O(n log n) for a query of n documents.

    Parameters
    ----------
    ties : {"full", "half", "order"}, default="full"
        "full": a tied pair is an error. "half": it is half an error, the expected value over a random order of the
        tied documents. "order": documents with tied scores stay in file order.
    pooled : bool, default=False
        False: the metric's value is the mean over queries. True: the share among the pairs of all queries together, as
        the paper has it for a task of many queries. A pair counts with its query's weight. `per_query` is the same.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([2, 1, 0, 1, 0], group=[3, 2])
    >>> PairError().per_query([3.0, 1.0, 1.0, 0.0, 1.0], queries).round(4)
    array([0.3333, 1.    ])
    >>> PairError(ties="half").per_query([3.0, 1.0, 1.0, 0.0, 1.0], queries).round(4)
    array([0.1667, 1.    ])
    >>> PairError(pooled=True)([3.0, 1.0, 1.0, 0.0, 1.0], queries)
    0.5
    """

    greater_is_better: ClassVar[bool] = False

    ties: Literal["full", "half", "order"] = "full"
    _: KW_ONLY
    pooled: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice("ties", self.ties, ("full", "half", "order"))
        object.__setattr__(self, "pooled", check_flag("pooled", self.pooled))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the share of each query."""
        grades = grades_of(queries)
        in_order = self.ties == "order"
        wrong, tied, _ = ranks.discordance(scores, grades, queries.boundaries, in_order=in_order)
        errors = wrong + (tied if self.ties == "full" else 0.5 * tied)
        values: Floats = np.divide(
            errors, grades.n_pairs, out=np.full(queries.n_queries, np.nan), where=grades.n_pairs > 0
        )
        return values

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the sum over queries, or over pairs if `pooled`, and the weight of these; see `Metric`."""
        if not self.pooled:
            return super().sum_and_count(scores, queries)
        shares = self.per_query(scores, queries)
        pairs = grades_of(queries).n_pairs
        weight = pairs if queries.query_weight is None else pairs * queries.query_weight
        return float(weight @ np.where(pairs > 0, shares, 0.0)), float(weight.sum())
