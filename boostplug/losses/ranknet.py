"""RankNet: the logistic loss of score differences, over all pairs of a query (Burges et al., ICML 2005)."""

from dataclasses import dataclass
from typing import ClassVar

from boostplug.core.values import Range
from boostplug.losses.base.logistic import LOGISTIC
from boostplug.losses.base.pair_loss import Normalization
from boostplug.losses.base.smooth_pair_loss import SmoothPairLoss
from boostplug.losses.base.traits import Traits


@dataclass(frozen=True, kw_only=True)
class RankNet(SmoothPairLoss):
    r"""Logistic loss of the score difference, over all pairs of a query, in linear time.

    The standard loss on pairs: a pair in the wrong order costs nearly in proportion to its distance.

    .. math:: J_q(F) = c_q \sum_{r_i > r_j} \sqrt{v_i v_j}\; \log\left(1 + e^{-s\,(F_i - F_j)}\right)

    with s of `sigmoid`, v the row weights and :math:`c_q` of `normalization`. This is Eq. 3 of Burges et al. (2005)
    with target 1. Explicit pairs (`boostplug.Pairs`) take the place of those from the grades.

    Parameters
    ----------
    sigmoid : float, default 1.0
        Multiplies score differences; from 1e-100 to 1e100.
    normalization : {"none", "rows", "query"}
        What the pairs of a query weigh together: see `Loss`.

    Notes
    -----
    Hessian: :math:`h_i = s^2 \sum_j \sigma (1 - \sigma)`, the true second derivative (kind "exact"). It vanishes beside
    the gradient for pairs in the wrong order by 37/s and more. There it is held at 1e-16 of the gradient, as XGBoost
    does.

    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q c_q W_q` over the queries that hold a pair.
    :math:`n_q` is the number of documents. :math:`W_q = \sum \sqrt{v_i v_j}` over the pairs, explicit ones times their
    own weights.

    Accuracy: lists with more than 160 pairs a document are summed on a grid of scores, to 1e-9 of every pair. Others
    are exact. The grid also serves `value`. It takes σ for 0 or 1 if a pair is further apart than 39/s.

    Cost: :math:`O(n \log K)` for K grades.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender. Learning to rank using gradient descent. ICML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug.losses.ranknet import RankNet
    >>> from boostplug import Queries
    >>> queries = Queries([2, 1, 0], group=[3])
    >>> RankNet().value(np.zeros(3), queries) / np.log(2.0)
    array([3.])
    >>> gradient, hessian = RankNet().gradient_hessian(np.zeros(3), queries)
    >>> gradient
    array([-1.,  0.,  1.])
    >>> hessian
    array([0.5, 0.5, 0.5])
    """

    sigmoid: float = 1.0
    normalization: Normalization = "none"

    pair_function = LOGISTIC
    traits = Traits(hessian="exact", pairs=True)
    search_ranges: ClassVar = {"sigmoid": Range(0.25, 4.0, log=True)}  # around lambdarank's 1
