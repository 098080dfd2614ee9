"""Metrics of scores as probabilities, `LogLoss` and `ECE`: scores are logits, p = 1 / (1 + e^(-score))."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_integer, check_number, scores_of_rows
from boostplug.data.queries import Queries, row_weights
from boostplug.metrics.grades import check_on_scale
from boostplug.metrics.metric import Metric

_FAR = 700.0  # logits beyond it are cut: the loss stays finite


@dataclass(frozen=True)
class LogLoss(Metric):
    r"""Mean over documents of the cross entropy between label / max_grade and the probability of the score.

    .. math:: -\left[y \log σ(F) + (1 - y) \log(1 - σ(F))\right], \qquad y = r / \text{max\_grade}

    It judges probabilities, not order: two scores that rank alike may differ in it. Losses whose scores are logits are
    `LogisticError` and `CalibratedSoftmax`. Scores of other losses have no such meaning.

    The metric's value is the mean over all judged documents, each with its row's weight. `per_query` gives the mean
    within each query, so that queries of any length count the same in its mean. Significance in `compare` is about that
    one.

    Parameters
    ----------
    max_grade : float, default 1.0
        The top of the scale of labels, which run from 0 to it. Labels outside are refused.

    Notes
    -----
    For labels 0 and 1 it is ``sklearn.metrics.log_loss``. Scores beyond ±700 count as ±700.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 1], group=[2, 1])
    >>> round(LogLoss()([2.0, -1.0, 0.0], queries), 4)
    0.3778
    """

    greater_is_better: ClassVar[bool] = False

    max_grade: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_number("max_grade", self.max_grade, least=1e-100, most=1e100)

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the mean over the documents of each query."""
        total, weight = self._sums(scores, queries)
        values: Floats = np.divide(total, weight, out=np.full(queries.n_queries, np.nan), where=weight > 0)
        return values

    def sum_and_count(self, scores: ArrayLike, queries: Queries) -> tuple[float, float]:
        """Return the sum over documents and their weight; see `Metric`."""
        total, weight = self._sums(scores_of_rows(scores, queries.n_rows, finite=False), queries)
        return float(total.sum()), float(weight.sum())

    def _sums(self, scores: Floats, queries: Queries) -> tuple[Floats, Floats]:
        """Return the loss and the weight of each query's documents."""
        labels, weight = _labels_and_weight(queries, self.max_grade)
        logits = np.clip(scores, -_FAR, _FAR)
        loss = labels * np.logaddexp(0.0, -logits) + (1.0 - labels) * np.logaddexp(0.0, logits)
        rows, n = queries.query_of_row, queries.n_queries
        total, count = (np.bincount(rows, values, n).astype(np.float64) for values in (weight * loss, weight))
        return total, count


@dataclass(frozen=True)
class ECE(Metric):
    r"""Expected calibration error: how far probabilities are from what happens, in bins of the probability.

    .. math:: \sum_b \frac{n_b}{n} \left|\bar p_b - \bar y_b\right|

    over bins of equal width of :math:`p = σ(F)`, with the mean probability and the mean label / max_grade in each
    (Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015). Documents are judged
    ones, with the weights of their rows.

    All documents are binned together. So there is no value per query, no significance in `compare`, and no sum over
    several workers. It says nothing of the order: a constant score at the mean label has an ECE of 0.

    Parameters
    ----------
    bins : int, default 10
    max_grade : float, default 1.0
        The top of the scale of labels, which run from 0 to it. Labels outside are refused.

    Examples
    --------
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0, 1, 0], group=[4])
    >>> ECE()([9.0, -9.0, 0.0, 0.0], queries) < 1e-3
    True
    """

    greater_is_better: ClassVar[bool] = False
    couples_queries: ClassVar[bool] = True
    has_per_query: ClassVar[bool] = False

    bins: int = 10
    max_grade: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "bins", check_integer("bins", self.bins, 1, most=10_000))
        check_number("max_grade", self.max_grade, least=1e-100, most=1e100)

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:  # noqa: ARG002 (there is none)
        """Refuse: there is no value per query."""
        raise TypeError(f"{self.name} bins the documents of all queries together and has no value per query; call it")

    def __call__(self, scores: ArrayLike, data: Any) -> Any:
        """Return the error over all documents, or what a framework expects of a metric; see `Metric`."""
        if not isinstance(data, Queries):
            return super().__call__(scores, data)
        checked = scores_of_rows(scores, data.n_rows, finite=False)
        weight, predicted, observed = bin_sums(checked, data, self.bins, self.max_grade)
        total = weight.sum()
        return float(np.abs(predicted - observed).sum() / total) if total > 0 else np.nan


def bin_sums(scores: Floats, queries: Queries, bins: int, max_grade: float) -> Floats:
    """Return weight, weighted probability and weighted label / max_grade of each bin of the probability.

    Returns
    -------
    ndarray of shape (3, bins)
    """
    labels, weight = _labels_and_weight(queries, max_grade)
    p = expit(scores)
    place = np.minimum((p * bins).astype(np.int64), bins - 1)
    return np.array([np.bincount(place, values, bins) for values in (weight, weight * p, weight * labels)])


def _labels_and_weight(queries: Queries, max_grade: float) -> tuple[Floats, Floats]:
    """Return label / max_grade and weight of each row, both 0 where it is not judged. Refuse labels off the scale."""
    check_on_scale(queries, float(max_grade))
    judged = queries.labelled_rows
    return np.where(judged, queries.labels, 0.0) / float(max_grade), np.where(judged, row_weights(queries), 0.0)
