"""Rank correlations of scores and grades: `SpearmanRho`, `KendallTau`."""

from dataclasses import KW_ONLY, dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import ranks
from boostplug.metrics.grades import grades_of
from boostplug.metrics.metric import Metric

Ties = Literal["corrected", "average", "order"]


@dataclass(frozen=True)
class SpearmanRho(Metric):
    r"""Spearman's ρ of scores and grades: the correlation of their ranks, from -1 to 1.

    .. math:: \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}{\sqrt{\sum_i (x_i - \bar x)^2 \sum_i (y_i - \bar y)^2}}

    x and y are the ranks by score and by grade. Documents of one grade share their mean rank. Ranks are those among the
    judged documents. The value is NaN for a query whose judged documents are all of one grade, and for no other. So the
    mean is over the same queries whatever the scores.

    Parameters
    ----------
    ties : {"corrected", "average", "order"}, default="corrected"
        "corrected": tied scores share their mean rank, as in `scipy.stats.spearmanr`. If all scores of a query tie, the
        value is 0 (SciPy: NaN). "average": the expected value over a random order of the tied documents, so ties bring
        the value nearer to 0. "order": documents with tied scores stay in file order.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([2, 0, 1, 0], group=[3, 1])
    >>> SpearmanRho().per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([0.5, nan])
    """

    _: KW_ONLY
    ties: Ties = "corrected"

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice("ties", self.ties, get_args(Ties))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the correlation of each query."""
        grades = grades_of(queries)
        covariance, x, y = ranks.rank_sums(scores, grades, queries.boundaries, in_order=self.ties == "order")
        if self.ties == "average":
            n = grades.n_judged.astype(np.float64)
            x = (n - 1) * n * (n + 1) / 12
        return _correlation(covariance, x, y, grades.n_grades >= 2)


@dataclass(frozen=True)
class KendallTau(Metric):
    r"""Kendall's τ of scores and grades, from -1 to 1; τ_b by default.

    .. math:: \frac{C - D}{\sqrt{(N - T_x)(N - T_y)}}

    Of the N pairs of judged documents, C are ordered as their grades and D the other way, :math:`T_x` have tied scores
    and :math:`T_y` the same grade. Rows that are not labelled take no part. NaN for a query whose judged documents are
    all of one grade, and for no other. So the mean is over the same queries whatever the scores. O(n log n) for a query
    of n documents.

    Parameters
    ----------
    ties : {"corrected", "average", "order"}, default="corrected"
        "corrected": τ_b, as above (`scipy.stats.kendalltau`); where all scores of a query tie, 0, the expected value
        of a random order (SciPy: NaN). "average": the expected value over a random order of the tied documents, which
        is the above with :math:`T_x = 0`. "order": documents with tied scores stay in file order.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([2, 0, 1, 0], group=[3, 1])
    >>> KendallTau().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.3333,    nan])
    """

    _: KW_ONLY
    ties: Ties = "corrected"

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice("ties", self.ties, get_args(Ties))

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the correlation of each query."""
        grades = grades_of(queries)
        in_order = self.ties == "order"
        wrong, tied, same_score = ranks.discordance(scores, grades, queries.boundaries, in_order=in_order)
        n = grades.n_judged.astype(np.float64)
        untied = (n - 1) * n / 2
        if self.ties == "corrected":
            untied = untied - same_score
        return _correlation(grades.n_pairs - tied - 2 * wrong, untied, grades.n_pairs, grades.n_grades >= 2)


def _correlation(covariance: Floats, x: Floats, y: Floats, defined: NDArray[np.bool_]) -> Floats:
    """Return covariance / √(x y), 0 where x is 0, NaN where not `defined`."""
    scale = np.sqrt(x * y)
    values = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    np.clip(values, -1.0, 1.0, out=values)  # the last bit of rounding
    values[~defined] = np.nan
    return values
