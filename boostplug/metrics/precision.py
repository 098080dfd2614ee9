"""Metrics of binary relevance, by how many relevant documents stand at the top: precision, recall and their like."""

from dataclasses import KW_ONLY, dataclass

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_integer
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import dcg_ap
from boostplug.metrics.by_rank import Divisor, Empty, RankMetric, Ties


@dataclass(frozen=True)
class Precision(RankMetric):
    r"""Share of relevant documents among the best k.

    .. math:: \frac1k \#\{j \le k : \mathrm{rel}_j\}

    A list shorter than k is filled up with documents that are not relevant. The divisor stays k, as in `trec_eval` and
    the script of LETOR 4.0. (The script of LETOR 3.0 counts 0 for such a query.)

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

    def __post_init__(self) -> None:
        """Check the parameters; the cut-off is not None."""
        check_integer("k", self.k, 1)
        super().__post_init__()

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the precision of each query."""
        return self.by_relevance(dcg_ap.precision, scores, queries)


@dataclass(frozen=True)
class WTA(RankMetric):
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
    k = 1  # no parameter

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the precision at 1 of each query."""
        return self.by_relevance(dcg_ap.precision, scores, queries)


@dataclass(frozen=True)
class Recall(RankMetric):
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

    def __post_init__(self) -> None:
        """Check the parameters; the cut-off is not None."""
        check_integer("k", self.k, 1)
        super().__post_init__()

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the recall of each query."""
        return self.by_relevance(dcg_ap.recall, scores, queries)


@dataclass(frozen=True)
class RPrecision(RankMetric):
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

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the R-precision of each query."""
        return self.by_relevance(dcg_ap.r_precision, scores, queries)


@dataclass(frozen=True)
class MAP(RankMetric):
    r"""Mean over the relevant documents of the precision at their rank.

    .. math:: \frac1D \sum_{j \le k} \mathrm{rel}_j \frac{\#\{i \le j : \mathrm{rel}_i\}}{j}

    Parameters
    ----------
    k, relevant, ties, empty
        See `Metric`.
    divisor : {"relevant", "reachable"}, default="relevant"
        "relevant": D is R, the number of relevant documents of the query, as in `trec_eval`'s ``map_cut`` and
        ir-measures' AP@k. "reachable": D is min(R, k), as in ``map@k`` of LightGBM and XGBoost and in Kaggle's MAP@k.
        They differ only where a query has more than k relevant documents.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 2, 0], group=[3, 1])
    >>> MAP().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.8333,    nan])
    >>> MAP(relevant=2, empty=0).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.3333, 0.    ])
    >>> [MAP(1, divisor=divisor)([3.0, 2.0, 1.0, 0.5], queries) for divisor in ("relevant", "reachable")]
    [0.5, 1.0]
    """

    k: int | None = None
    relevant: float = 1
    _: KW_ONLY
    ties: Ties = "average"
    empty: Empty = None
    divisor: Divisor = "relevant"

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the average precision of each query."""
        return self.by_relevance(dcg_ap.average_precision, scores, queries)
