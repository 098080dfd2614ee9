"""Metrics of what stands at the top: `Precision` and `WTA`."""

from dataclasses import KW_ONLY, dataclass

from boostplug.kernels.metrics import dcg_ap as positions
from boostplug.metrics.by_rank import BinaryRelevanceMetric, CutOffMetric, Empty, Ties


@dataclass(frozen=True)
class Precision(CutOffMetric):
    r"""Share of relevant documents among the best k.

    .. math:: \frac1k \#\{j \le k : \mathrm{rel}_j\}

    A list shorter than k is filled up with documents that are not relevant: the divisor stays k, as in `trec_eval` and
    the script of LETOR 4.0 (the script of LETOR 3.0 counts 0 for such a query).

    Parameters
    ----------
    k : int, default=10
        Cut-off.
    relevant, ties, empty
        See `Metric`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> Precision(2).per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([0.5, nan])
    >>> Precision(5)([3.0, 2.0, 1.0, 0.5], queries)
    0.4
    """

    k: int = 10
    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None

    kernel = staticmethod(positions.precision)


@dataclass(frozen=True)
class WTA(BinaryRelevanceMetric):
    r"""Winner takes all: 1 if the best document is relevant, else 0.

    As Burges, Ragno & Le define it ("Learning to rank with nonsmooth cost functions", NIPS 2006: the cost is 0 if the
    top document is relevant, else 1), and the AdaRank paper uses it: a metric of binary relevance. With grades, choose
    what counts as relevant. It is `Precision` at 1.

    Parameters
    ----------
    relevant, ties, empty
        See `Metric`; "average" is the share of relevant documents among those that tie for the best score.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> WTA().per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([ 1., nan])
    >>> WTA(relevant=2)([3.0, 2.0, 1.0, 0.5], queries)
    0.0
    """

    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None

    kernel = staticmethod(positions.precision)
    k = 1
