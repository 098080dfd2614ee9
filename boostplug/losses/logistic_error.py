"""LogisticError: cross entropy of each label with the probability that its score stands for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import check_number, refuse_where
from boostplug.core.values import Space
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.lists.calibrated import calibrated_softmax
from boostplug.losses.base.lists import ListSums, sums_over_lists
from boostplug.losses.base.loss import Loss

__all__ = ["LogisticError", "calibrated_sums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class LogisticError(Loss):
    r"""Pointwise cross entropy of label / max_grade: scores become the logits of calibrated probabilities.

    .. math:: J_q(F) = -\sum_i v_i \left[y_i \log σ(F_i) + (1 - y_i) \log(1 - σ(F_i))\right], \qquad
              y_i = r_i / \text{max\_grade}

    over the judged documents, with v the row weights and :math:`σ(F) = 1 / (1 + e^{-F})`, the probability of a click,
    of relevance, or the expected label / max_grade.

    Parameters
    ----------
    max_grade : float, default 1.0
        The top of the scale of labels, which run from 0 to it. It is never taken from the data, so that training sets,
        folds and workers agree.

    Notes
    -----
    Gradient :math:`v\,(σ - y)`, Hessian :math:`v\,σ(1 - σ)`, the second derivative (kind "exact"), not below 1e-16 of
    the gradient. For labels 0 and 1 these are LightGBM's ``cross_entropy`` and XGBoost's ``binary:logistic``. Start
    from the logit of the mean label (``init_score``, ``base_margin``) if positive labels are rare: else the first
    rounds only find it.

    Scale: outputs are multiplied by the number of judged rows over their total weight: 1 without weights.

    Raises
    ------
    ValueError
        If a label lies outside 0 … max_grade.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import LogisticError, Queries
    >>> queries = Queries([1, 0], group=[2])
    >>> LogisticError().value(np.zeros(2), queries) / np.log(2.0)
    array([2.])
    >>> gradient, hessian = LogisticError().gradient_hessian(np.zeros(2), queries)
    >>> gradient
    array([-0.5,  0.5])
    >>> hessian
    array([0.25, 0.25])
    """

    max_grade: float = 1.0

    hessian_kind = "exact"
    shift_invariant = False
    takes_negative_labels = False

    def __post_init__(self) -> None:
        check_number("LogisticError: max_grade", self.max_grade, least=1e-100, most=1e100)

    @property
    def search_space(self) -> Space:
        """What the parameters say, except the top of the labels' scale, which is no choice."""
        space = dict(super().search_space)
        del space["max_grade"]
        return space

    @property
    def largest_label(self) -> float:
        """`max_grade`."""
        return float(self.max_grade)

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        return calibrated_sums(scores, queries, 0.0, self.max_grade, 1.0).value

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the second derivatives."""
        _, gradient, hessian = calibrated_sums(scores, queries, 0.0, self.max_grade, scale)
        positive_beside(gradient, hessian)
        return gradient, hessian


def calibrated_sums(scores: Floats, queries: Queries, list_weight: float, max_grade: float, scale: float) -> ListSums:
    """Return the values of `CalibratedSoftmax`, and scale times its derivatives.

    Raises
    ------
    ValueError
        If a label lies outside 0 … max_grade.
    """
    top = float(max_grade)

    def check() -> None:
        labels = queries.labels
        outside = queries.labelled_rows & ((labels < 0.0) | (labels > top))
        refuse_where(
            "labels", outside, labels, f"is not from 0 to max_grade={top:g}; pass the top of the scale as max_grade="
        )

    queries.remember((calibrated_sums, top), check)
    weights = 1.0 - list_weight, float(list_weight)
    return sums_over_lists(calibrated_softmax, scores, queries, *weights, 1.0 / top, float(scale))
