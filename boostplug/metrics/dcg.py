"""Metrics on discounted cumulative gain: `NDCG`, `DCG`, `MeanNDCG`."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import frozen
from boostplug.data.queries import Queries
from boostplug.kernels.metrics import dcg_ap
from boostplug.metrics.by_rank import Empty, RankMetric, Ties
from boostplug.metrics.gains import (
    Convention,
    Gain,
    discounts_of_ranks,
    gains_in_units,
    gains_of,
)


@dataclass(frozen=True)
class NDCG(RankMetric):
    r"""Normalised discounted cumulative gain of the best k documents.

    .. math:: \frac{\mathrm{DCG}_k}{\max_\pi \mathrm{DCG}_k(\pi)}, \qquad
              \mathrm{DCG}_k = \sum_{j=1}^{\min(k, n)} d_j\, g(r_{(j)})

    Järvelin & Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (TOIS 2002). The exponential gain is of
    Burges et al. (2005).

    Parameters
    ----------
    convention : {"standard", "letor"}, default="standard"
        "standard": :math:`d_j = 1/\log_2(1+j)`, as scikit-learn, LightGBM and XGBoost have it.
        "letor": the scripts of LETOR 3.0, LETOR 4.0 and MSLR, and the MPBoost paper: :math:`d_1 = d_2 = 1`, then
        :math:`d_j = 1/\log_2 j`, and a query with fewer than k rows counts 0.
    gain : {"exp2", "linear"} or callable, default="exp2"
        "exp2": :math:`g(r) = 2^r - 1`; "linear": :math:`g(r) = r`; or a hashable callable from the float64 grades of
        all labelled rows to their gains (module-level if the metric is to be pickled). Gains are from 0 to 1e198, so
        both named gains refuse negative grades.
    k, ties, empty
        See `Metric`. A query without relevant documents is one whose ideal DCG is 0.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 2, 0], group=[3, 1])
    >>> NDCG(k=2).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.1738,    nan])
    >>> round(NDCG(k=2)([3.0, 2.0, 1.0, 0.5], queries), 4)
    0.1738
    >>> NDCG(k=2, convention="letor", ties="order").name
    'NDCG@2(letor,order)'
    """

    k: int | None = 10
    _: KW_ONLY
    convention: Convention = "standard"
    gain: Gain = "exp2"
    ties: Ties = "average"
    empty: Empty = None

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the NDCG of each query."""
        gains, discount = gains_in_units(queries, self.gain), discounts_of_ranks(queries, self.k, self.convention)
        ideal = queries.remember(
            ("ideal DCG", self.k, self.convention, self.gain), lambda: self._ideal(queries, gains, discount), limit=128
        )
        return self.filled(dcg_ap.dcg(scores, gains, queries.boundaries, discount, average=self.average, ideal=ideal))

    def _ideal(self, queries: Queries, gains: Floats, discount: Floats) -> Floats:
        """Return the DCG of each query that counts 1; ∞ where all counts 0."""
        ideal = dcg_ap.dcg(gains, gains, queries.boundaries, discount, average=False)
        if self.convention == "letor" and self.k is not None:
            ideal[(queries.group < self.k) & (ideal > 0)] = np.inf
        return frozen(ideal)


@dataclass(frozen=True)
class DCG(RankMetric):
    r"""Discounted cumulative gain of the best k documents, not normalised.

    .. math:: \sum_{j=1}^{\min(k, n)} d_j\, g(r_{(j)})

    The QBRank paper's DCG-5 is ``DCG(5)``. Unlike `NDCG` it has a value for every query with rows: 0 without relevant
    documents. Lists shorter than k count as they are under both conventions.

    Parameters
    ----------
    k, ties
        See `Metric`.
    convention, gain
        See `NDCG`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 2, 0], group=[3, 1])
    >>> DCG(k=2).per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)
    array([0.6309, 0.    ])
    """

    k: int | None = 10
    _: KW_ONLY
    convention: Convention = "standard"
    gain: Gain = "exp2"
    ties: Ties = "average"

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the DCG of each query."""
        gains, discount = gains_of(queries, self.gain), discounts_of_ranks(queries, self.k, self.convention)
        return dcg_ap.dcg(scores, gains, queries.boundaries, discount, average=self.average)


@dataclass(frozen=True)
class MeanNDCG(RankMetric):
    r"""Mean NDCG over all cut-offs 1 … n of a list of n documents: "MeanNDCG" of LETOR 4.0 and MSLR.

    .. math:: \frac1n \sum_{k=1}^n \mathrm{NDCG}_k

    The defaults are the scripts' own, but for ties.

    Parameters
    ----------
    convention : {"letor", "standard"}, default="letor"
    gain : {"exp2", "linear"} or callable, default="exp2"
        See `NDCG`. No list is shorter than its cut-offs here.
    ties, empty
        See `Metric`.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([0, 1, 1, 0], group=[3, 1])
    >>> MeanNDCG().per_query([3.0, 2.0, 1.0, 0.5], queries).round(4)  # NDCG 0, 1/2, .8155
    array([0.4385, 0.    ])
    """

    _: KW_ONLY
    convention: Convention = "letor"
    gain: Gain = "exp2"
    ties: Ties = "average"
    empty: Empty = None

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the mean NDCG of each query."""
        gains = gains_in_units(queries, self.gain)
        weights, ideal = queries.remember(
            ("mean NDCG weights", self.convention, self.gain), lambda: self._weights(queries, gains), limit=4
        )
        return self.filled(
            dcg_ap.dcg(scores, gains, queries.boundaries, weights, average=self.average, ideal=ideal, by_row=True)
        )

    def _weights(self, queries: Queries, gains: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the ranks, and 1 for each query with relevant documents, else 0."""
        discount = discounts_of_ranks(queries, None, self.convention)
        weights = dcg_ap.mean_ndcg_weights(gains, queries.boundaries, discount)
        relevant = np.bincount(queries.query_of_row, weights > 0, minlength=queries.n_queries) > 0
        return weights, frozen(relevant.astype(np.float64))
