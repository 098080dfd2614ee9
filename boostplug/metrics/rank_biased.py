"""Rank-biased precision: `RBP`."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_number, frozen
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import dcg_ap
from boostplug.metrics.by_rank import ABOVE_0, Empty, RankMetric, Ties, relevance, whole
from boostplug.metrics.grades import grades_up_to


@dataclass(frozen=True)
class RBP(RankMetric):
    r"""Rank-biased precision: what a reader finds who goes on from each document to the next with probability p.

    .. math:: (1 - p) \sum_{j \le n} p^{j-1} g_j

    Moffat & Zobel, "Rank-biased precision for measurement of retrieval effectiveness" (TOIS 2008). g is 1 for relevant
    documents and 0 for others, or, with `max_grade`, the grade over the highest. It is not divided by its ideal. A list
    of n documents has at most :math:`1 - p^n`, and with few relevant ones far less.

    Parameters
    ----------
    p : float, default=0.8
        The reader's persistence, above 0 and below 1: 1 / (1 - p) documents are read on average.
    relevant, ties, empty
        See `Metric`.
    max_grade : float, optional
        The highest grade of the scale, not of the data. Documents then count in parts,
        :math:`g_j = r_{(j)} / \mathrm{max\_grade}`. A document with a grade above 0 is relevant. Grades below 0 or
        above it are refused. Default: `relevant` decides.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> RBP(0.5).per_query([3.0, 2.0, 1.0, 0.5], queries)  # 0.5 · (1 + 0.25)
    array([0.625,   nan])
    >>> RBP(0.5, max_grade=2)([3.0, 2.0, 1.0, 0.5], queries)  # 0.5 · (0.5 + 0.25)
    0.375
    """

    p: float = 0.8
    _: KW_ONLY
    relevant: float = 1
    max_grade: float | None = None
    ties: Ties = "average"
    empty: Empty = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        p = check_number("p", self.p, above=0, below=1, otherwise=", the probability to read on")
        object.__setattr__(self, "p", p)
        super().__post_init__()
        if self.max_grade is None:
            return
        most = check_number(
            "max_grade", self.max_grade, above=0, otherwise=", the highest of the scale, or None for `relevant` alone"
        )
        object.__setattr__(self, "max_grade", whole(most))
        if self.relevant != type(self).relevant:
            raise ValueError(
                f"relevant={self.relevant} has no effect beside max_grade, since all grades above 0 then count; "
                "leave one of them out"
            )

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the value of each query."""
        gains, ideal = queries.remember(
            ("shares of relevance", self.relevant, self.max_grade), lambda: self._gains(queries), limit=4
        )
        weights = queries.remember(("chances to read", self.p), lambda: self._weights(queries), limit=4)
        return self.filled(dcg_ap.dcg(scores, gains, queries.boundaries, weights, average=self.average, ideal=ideal))

    def _weights(self, queries: Queries) -> Floats:
        longest = int(queries.group.max(initial=0))
        return frozen((1.0 - self.p) * self.p ** np.arange(longest, dtype=np.float64))

    def _gains(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return the gain of each row, and by query what its sum is divided by: 1, or 0 without relevant documents."""
        if self.max_grade is None:
            gains, n_relevant = relevance(queries, self.relevant)
        else:
            gains = frozen(grades_up_to(self.max_grade, queries, "RBP", "gain") / self.max_grade)
            _, n_relevant = relevance(queries, ABOVE_0)
        return gains, frozen(np.minimum(n_relevant, 1.0))
