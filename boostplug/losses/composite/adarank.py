"""AdaRank on trees: each query weighs e^(-its metric), on top of a smooth loss (Xu & Li, SIGIR 2007)."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.arrays import Floats
from boostplug.core.checks import frozen, scores_of_rows, shown
from boostplug.data.queries import Queries
from boostplug.losses.base.loss import LARGEST_VALUE, Loss
from boostplug.losses.base.traits import Traits
from boostplug.losses.ranknet import RankNet
from boostplug.metrics import NDCG, Metric
from boostplug.metrics.metric import MetricOnLabel

_LARGEST_METRIC = 300.0  # larger values count as this one, so that e^E stays finite; most metrics are within [-1, 1]
_LEAST = 1e-200  # of a factor: a Hessian times less might vanish beside its gradient


@dataclass(frozen=True, kw_only=True)
class AdaRank(Loss):
    r"""A smooth loss whose queries are weighted by how badly they are ranked now.

    Queries with a low metric count more in the next round. Take it if bad queries cost more than good ones gain.

    .. math:: J(F) = \sum_q a_q\, B_q(F), \qquad a_q = \frac{e^{-E_q}}{\frac 1m \sum_p e^{-E_p}}

    with B the base loss, :math:`E_q` the metric of query q at the current scores, and m the number of queries on which
    it is defined. AdaRank minimises :math:`\sum_q e^{-E_q}` by reweighting queries round by round (Xu & Li 2007, Eq. 5
    and Algorithm 1). Here the same weights multiply gradient and Hessian of a loss that trees can follow. They are
    constants within a call.

    Parameters
    ----------
    metric : Metric, default NDCG(5)
        Higher is better. In the paper it lies within [-1, 1]. Others, such as `DCG`, may give a few queries all the
        weight. Values beyond ±300 count as ±300. A query on which it is undefined has :math:`a_q = 1`.
    base : Loss, default RankNet()
        Any loss that does not couple queries itself.

    Notes
    -----
    The mean of the :math:`a_q` is 1, so the scale is the base's. One query's weight depends on all others
    (`couples_queries`). Metrics jump where documents change places. So the gradient is not that of J, and the Hessian's
    kind is "model".

    References
    ----------
    Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import AdaRank, MPBoost, NDCG, Queries
    >>> loss = AdaRank(metric=NDCG(5), base=MPBoost())
    >>> queries = Queries([1, 0, 1, 0], group=[2, 2])
    >>> loss.factors(np.array([1.0, 0.0, 0.0, 1.0]), queries).round(3)  # the second query is ranked wrongly
    array([0.818, 1.182])
    """

    metric: Metric = field(default_factory=lambda: NDCG(5))
    base: Loss = field(default_factory=RankNet)

    def __post_init__(self) -> None:
        if not isinstance(self.metric, Metric) or not self.metric.greater_is_better:
            raise ValueError(f"AdaRank: metric must be a Metric of which higher is better; got {shown(self.metric)}")
        if not isinstance(self.base, Loss) or self.base.couples_queries:
            raise ValueError(f"AdaRank: base must be a Loss that does not couple queries; got {shown(self.base)}")

    @property
    def traits(self) -> Traits:
        """Those of the base, with factors that count as constants. Not every metric and base takes labels below 0."""
        metric = self.metric.metric if isinstance(self.metric, MetricOnLabel) else self.metric
        base: Traits = self.base.traits
        return replace(
            base,
            hessian="model",
            labels=base.labels._replace(least=max(0.0, base.labels.least)),
            gradient_of_value=False,
            ties_in_row_order=base.ties_in_row_order or getattr(metric, "ties", None) == "order",
            pairs=False,
            couples_queries=True,
            n_totals=base.n_totals + 2,
        )

    def with_own_labels(self, queries: Queries) -> Queries:
        """Return the queries with the labels that the base reads."""
        return self.base.with_own_labels(queries)

    def why_no_order(self, queries: Queries) -> str | None:
        """Return the base's."""
        return self.base.why_no_order(queries)

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return the base's."""
        return self.base.scale_terms(queries)

    def scale(self, queries: Queries) -> float:
        """Return the base's."""
        return self.base.scale(queries)

    def position_bias(self, scores: ArrayLike, queries: Queries) -> dict[str, NDArray[Any]]:
        """Return the base's."""
        return self.base.position_bias(scores, queries)

    def factors(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return a_q of each query, of shape (n_queries,), with the mean over these queries alone.

        Parameters
        ----------
        scores : array-like of shape (n_rows,)
            Finite.
        queries : Queries

        Raises
        ------
        ValueError
            If a score is not a finite real number, their number is not the number of rows, or the metric is infinite.
        """
        weight, defined = self._weights(scores_of_rows(scores, queries.n_rows, finite=True), queries)
        return _relative_to_mean(weight, defined, _sum_and_number(weight, defined))

    def _weights(self, scores: Floats, queries: Queries) -> tuple[Floats, NDArray[np.bool_]]:
        """Return e^-E of each query, 1 where E is not defined, and where it is."""
        weight = queries.row_weight
        if weight is not None and (weight == 0).any():  # rows of weight 0 are not there, for the metric too
            kept = weight > 0
            scores, queries = frozen(scores[kept]), queries.remember((AdaRank,), lambda: queries.of_rows(kept))
        exponents = -self.metric.per_query(scores, queries)
        defined = np.isfinite(exponents)
        if not defined.all() and np.isinf(exponents).any():
            q = int(np.argmax(np.isinf(exponents)))
            raise ValueError(
                f"AdaRank: {self.metric.name} is {-exponents[q]} for query {q}; use a metric that is finite, or NaN"
            )
        exponents = np.clip(np.where(defined, exponents, 0.0), -_LARGEST_METRIC, _LARGEST_METRIC)
        return np.exp(exponents), defined

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return a_q B_q of each query."""
        return np.minimum(self.factors(scores, queries) * self.base.value(scores, queries), LARGEST_VALUE)

    def gradient_hessian(
        self, scores: ArrayLike, queries: Queries, *, totals: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the derivatives of the base, each query's times its factor; see `Loss.gradient_hessian`."""
        self._check_pairs(queries)
        weight, defined = self._weights(scores_of_rows(scores, queries.n_rows, finite=True), queries)
        terms, of_base = (_sum_and_number(weight, defined), None) if totals is None else (totals[-2:], totals[:-2])
        gradient, hessian = self.base.gradient_hessian(scores, queries, totals=of_base)
        factor = _relative_to_mean(weight, defined, terms)[queries.query_of_row]
        return gradient * factor, hessian * factor

    def totals(self, scores: ArrayLike, queries: Queries) -> Floats:
        """Return those of the base, the sum of e^-E, and the number of queries with a metric."""
        self._check_pairs(queries)
        weights = self._weights(scores_of_rows(scores, queries.n_rows, finite=True), queries)
        return np.concatenate([self.base.totals(scores, queries), _sum_and_number(*weights)])


def _sum_and_number(weight: Floats, defined: NDArray[np.bool_]) -> Floats:
    """Return the sum of the weights of queries with a metric, and their number."""
    return np.array([weight[defined].sum(), np.count_nonzero(defined)])


def _relative_to_mean(weight: Floats, defined: NDArray[np.bool_], terms: Floats) -> Floats:
    """Return the weights over their mean, 1 where the metric is not defined, 0 instead of next to nothing."""
    mean = terms[0] / max(terms[1], 1.0)
    factors = np.divide(weight, mean, out=np.ones(len(weight)), where=defined)
    return np.where(factors < _LEAST, 0.0, factors)
