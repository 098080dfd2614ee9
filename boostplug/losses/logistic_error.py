"""LogisticError: cross entropy of each label with the probability that its score stands for."""

from dataclasses import dataclass

from boostplug.losses.base.calibrated import CalibratedLoss


@dataclass(frozen=True, kw_only=True)
class LogisticError(CalibratedLoss):
    r"""Pointwise cross entropy of label / max_grade: scores become the logits of calibrated probabilities.

    .. math:: J_q(F) = -\sum_i v_i \left[y_i \log σ(F_i) + (1 - y_i) \log(1 - σ(F_i))\right], \qquad
              y_i = r_i / \text{max\_grade}

    over the judged documents, with v the row weights. :math:`σ(F) = 1 / (1 + e^{-F})` is the probability of a click, of
    relevance, or the expected label / max_grade.

    Parameters
    ----------
    max_grade : float, default 1.0
        The top of the scale of labels, which run from 0 to it. It is never taken from the data, so that training sets,
        folds and workers agree.

    Notes
    -----
    Gradient :math:`v\,(σ - y)`, Hessian :math:`v\,σ(1 - σ)`, the second derivative (kind "exact"), not below 1e-16 of
    the gradient. For labels 0 and 1 these are LightGBM's ``cross_entropy`` and XGBoost's ``binary:logistic``. If
    positive labels are rare, start from the logit of the mean label (``init_score``, ``base_margin``). Else the first
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
