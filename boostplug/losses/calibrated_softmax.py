"""CalibratedSoftmax: regression-compatible ranking (Bai et al., 2022): order of lists and calibrated probabilities."""

from dataclasses import dataclass
from typing import ClassVar

from boostplug.core.values import Range
from boostplug.losses.base.calibrated import CalibratedLoss


@dataclass(frozen=True, kw_only=True)
class CalibratedSoftmax(CalibratedLoss):
    r"""Logistic error on each label plus a softmax over each list's probabilities: both have the same minimum.

    .. math:: J_q(F) = (1 - α) \sum_i v_i\, \text{logistic}(y_i, F_i)
              - α\, \bar v_q \sum_i t_i \log \frac{v_i σ(F_i)}{\sum_j v_j σ(F_j)}, \qquad
              t_i = \frac{v_i y_i}{\sum_j v_j y_j}

    with α of `list_weight`, y = label / max_grade, :math:`σ(F) = 1 / (1 + e^{-F})`, v the row weights and
    :math:`\bar v = \sum v^2 / \sum v` as in `ListNet`. This is the regression-compatible ranking of Bai et al. (2022).
    A softmax of scores is smallest where the scores are logarithms of the labels. This one is smallest where σ is
    proportional to the labels. There the logistic error is smallest too, so one does not undo the other.

    Parameters
    ----------
    list_weight : float, default 0.5
        α, from 0 to 1. A list counts once in the list part, a document once in the logistic part. So .5 leans towards
        calibration. On lists of 20 to 80 documents .9 ranked best and stayed calibrated.
    max_grade : float, default 1.0
        The top of the scale of labels, which run from 0 to it. It is never taken from the data.

    Notes
    -----
    Gradient of the list part: :math:`\bar v\,(1 - σ_i)(p_i - t_i)`, with p the shares. Its exact diagonal,
    :math:`(1 - σ_i)[(1 - σ_i) p_i (1 - p_i) - σ_i (p_i - t_i)]`, is often negative. We take
    :math:`(1 - σ_i)[t_i σ_i + p_i (1 - σ_i)]`, which lies above it and above what couples the documents (kind "bound").
    A tighter bound has :math:`p_i (1 - σ_i) \max(0, 1 - 2σ_i)` in place of the last term. It is 0 for irrelevant
    documents from the first round on. So it would let them take steps of any size. A list without a positive label has
    no list part.

    Scale: outputs are multiplied by the number of judged rows over their total weight: 1 without weights.

    Raises
    ------
    ValueError
        If a label lies outside 0 … max_grade.

    References
    ----------
    Bai, Jagerman, Qin, Yan, Kar, Lin, Wang, Bendersky, Najork. Regression compatible listwise objectives for calibrated
    ranking with binary relevance. 2022, arXiv 2211.01494.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import CalibratedSoftmax, Queries
    >>> queries = Queries([1, 0], group=[2])
    >>> CalibratedSoftmax(list_weight=1.0).value(np.zeros(2), queries) / np.log(2.0)
    array([1.])
    >>> gradient, hessian = CalibratedSoftmax().gradient_hessian(np.zeros(2), queries)
    >>> gradient
    array([-0.375,  0.375])
    >>> hessian
    array([0.3125, 0.1875])
    """

    list_weight: float = 0.5
    max_grade: float = 1.0

    search_ranges: ClassVar = {"list_weight": Range(0.0, 1.0)}
