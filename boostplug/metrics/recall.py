"""Metrics of how many of the relevant documents are found: `Recall` and `RPrecision`."""

from dataclasses import KW_ONLY, dataclass

from boostplug.kernels.metrics import dcg_ap as positions
from boostplug.metrics.by_rank import BinaryRelevanceMetric, CutOffMetric, Empty, Ties


@dataclass(frozen=True)
class Recall(CutOffMetric):
    r"""Share of the relevant documents that are among the best k.

    .. math:: \frac1R \#\{j \le k : \mathrm{rel}_j\}

    R counts all relevant documents of the query (`trec_eval`'s ``recall_k``, ir-measures' R@k): with R > k the best
    ranking has k / R.

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
    >>> Recall(2).per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([0.5, nan])
    >>> Recall(2, relevant=2)([3.0, 2.0, 2.0, 0.5], queries)  # second or third, by chance
    0.5
    """

    k: int = 10
    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None

    kernel = staticmethod(positions.recall)


@dataclass(frozen=True)
class RPrecision(BinaryRelevanceMetric):
    r"""Share of relevant documents among the best R, where R is how many there are: precision and recall at R.

    .. math:: \frac1R \#\{j \le R : \mathrm{rel}_j\}

    1 is a ranking with all relevant documents on top, whatever their number (`trec_eval`'s ``Rprec``).

    Parameters
    ----------
    relevant, ties, empty
        See `Metric`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> RPrecision().per_query([3.0, 2.0, 1.0, 0.5], queries)
    array([0.5, nan])
    >>> RPrecision(relevant=2)([3.0, 2.0, 4.0, 0.5], queries)
    1.0
    """

    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None

    kernel = staticmethod(positions.r_precision)
