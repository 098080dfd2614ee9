"""Binary preference, for lists of which few documents are judged: `Bpref`."""

from dataclasses import KW_ONLY, dataclass

from boostplug.core.arrays import Floats
from boostplug.core.threads import numbers_by_query
from boostplug.data.queries import Queries
from boostplug.kernels.metrics.ranks import binary_preference
from boostplug.metrics.by_rank import Empty, RankMetric, Ties, relevance
from boostplug.metrics.grades import grades_of


@dataclass(frozen=True)
class Bpref(RankMetric):
    r"""Binary preference: how rarely documents judged non-relevant stand above relevant ones.

    .. math:: \frac1R \sum_{i\,\mathrm{relevant}} \left(1 - \frac{\min(n_i, R)}{\min(N, R)}\right)

    R documents are judged relevant and N non-relevant, of which :math:`n_i` stand above i. A fraction 0/0 is 0. The sum
    leaves out documents with the score -inf, which count as not retrieved. Buckley & Voorhees, "Retrieval evaluation
    with incomplete information" (SIGIR 2004), in the form of `trec_eval` since its version 8, whose divisor is
    min(N, R) and not R.

    Rows that are not labelled are the ones that are not judged: other metrics count them as non-relevant.

    Parameters
    ----------
    relevant, ties, empty See `Metric`. The expected value over tied documents is a closed form.

    Examples
    --------
    >>> from boostplug import Queries
    >>> labelled = [True, False, True, True, True]
    >>> queries = Queries([0, 0, 1, 0, 1], group=[5], labelled=labelled)
    >>> Bpref()([5.0, 4.0, 3.0, 2.0, 1.0], queries)  # below 1 of 2, and below 2 of 2
    0.25
    >>> Bpref()([3.0, 4.0, 3.0, 2.0, 1.0], queries)  # the first of them below or above the other, by chance
    0.375
    """

    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the value of each query."""
        relevant, n_relevant = relevance(queries, self.relevant)
        code = grades_of(queries).code
        bounds = queries.boundaries
        return self.filled(
            numbers_by_query(binary_preference, bounds, scores, relevant, n_relevant, code, bounds, self.average)
        )
