"""Mean average precision: `MAP`."""

from dataclasses import KW_ONLY, dataclass

from boostplug.kernels.metrics import dcg_ap as positions
from boostplug.metrics.by_rank import BinaryRelevanceMetric, Empty, Ties


@dataclass(frozen=True)
class MAP(BinaryRelevanceMetric):
    r"""Mean over the relevant documents of the precision at their rank.

    .. math:: \frac1R \sum_{j \le k} \mathrm{rel}_j \frac{\#\{i \le j : \mathrm{rel}_i\}}{j}

    R counts all relevant documents of the query, also with a cut-off (`trec_eval`'s ``map_cut``, ir-measures' AP@k).

    Parameters
    ----------
    k, relevant, ties, empty
        See `Metric`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> MAP().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.8333,    nan])
    >>> MAP(relevant=2, empty=0).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.3333, 0.    ])
    """

    k: int | None = None
    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None

    kernel = staticmethod(positions.average_precision)
