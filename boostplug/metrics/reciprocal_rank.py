"""Metrics of a user who reads from the top: `MRR` and `ERR`."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_number, frozen
from boostplug.core.threads import numbers_by_query
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import dcg_ap
from boostplug.kernels.metrics.err import expected_reciprocal_rank
from boostplug.metrics.by_rank import ABOVE_0, Empty, RankMetric, Ties, relevance, whole
from boostplug.metrics.grades import exp2_less_one, grades_up_to


@dataclass(frozen=True)
class MRR(RankMetric):
    r"""Reciprocal rank of the first relevant document.

    .. math:: 1 / \min\{j : \mathrm{rel}_j\}, \text{ or 0 if it exceeds } k

    Parameters
    ----------
    k, relevant, ties, empty
        See `Metric`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 2, 1, 0], group=[3, 1])
    >>> MRR().per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([0.5, nan])
    >>> round(MRR()([2.0, 2.0, 1.0, 0.5], queries), 4)  # first or second, by chance
    0.75
    """

    k: int | None = None
    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the reciprocal rank of each query."""
        return self.by_relevance(dcg_ap.reciprocal_rank, scores, queries)


@dataclass(frozen=True)
class ERR(RankMetric):
    r"""Expected reciprocal rank: 1/rank at which a user stops who reads from the top and stops at what satisfies.

    .. math:: \sum_{j \le \min(k, n)} \frac1j R_j \prod_{i < j} (1 - R_i), \qquad
              R_j = \frac{2^{r_{(j)}} - 1}{2^{\mathrm{max\_grade}}}

    Chapelle, Metzler, Zhang & Grinspan, "Expected reciprocal rank for graded relevance" (CIKM 2009), Algorithm 2.
    A perfect ranking scores below 1: ERR is not divided by its ideal.

    Parameters
    ----------
    k, ties, empty
        See `Metric`. A document with a grade above 0 is relevant. The formula and TREC's ``gdeval.pl`` give 0 for a
        query without one, too. The expected value over tied documents is a recurrence, no sampling.
    max_grade : float, default=4
        The highest grade of the scale (not of the data). Grades below 0 or above it are refused.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 4, 1, 0], group=[3, 1])
    >>> ERR().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)  # 15/16 / 2 + 1/16 · 1/16 / 3
    array([0.4701,    nan])
    """

    k: int | None = None
    _: KW_ONLY
    max_grade: float = 4
    ties: Ties = "average"
    empty: Empty = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        most = check_number("max_grade", self.max_grade, above=0, most=1000, otherwise=", the highest of the scale")
        object.__setattr__(self, "max_grade", whole(most))  # 2^1000 is finite
        super().__post_init__()

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the ERR of each query."""
        chances = queries.remember(
            ("chances to stop", self.max_grade), lambda: _chances_to_stop(queries, self.max_grade), limit=4
        )
        _, n_relevant = relevance(queries, ABOVE_0)
        bounds, k = queries.boundaries, self.cutoff(queries)
        return self.filled(
            numbers_by_query(expected_reciprocal_rank, bounds, scores, chances, n_relevant, bounds, k, self.average)
        )


def _chances_to_stop(queries: Queries, max_grade: float) -> Floats:
    """Return the chance of each row to stop a user who reads it."""
    grades = grades_up_to(max_grade, queries, "ERR", "chance (2^r − 1)/2^max_grade")
    return frozen(exp2_less_one(grades) / np.exp2(float(max_grade)))
