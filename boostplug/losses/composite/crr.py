"""CRR: combined regression and ranking (Sculley, KDD 2010)."""

from dataclasses import dataclass, field
from typing import ClassVar

from boostplug.core.checks import check_instance, check_number
from boostplug.core.values import Range
from boostplug.losses.base.loss import CombinedLoss, Loss, parts_of
from boostplug.losses.ranknet import RankNet
from boostplug.losses.squared_error import SquaredError


@dataclass(frozen=True, kw_only=True)
class CRR(CombinedLoss):
    r"""Combined regression and ranking: a loss on pairs plus a loss on labels, in one objective.

    .. math:: J_q(F) = w\, s_P\, J^{\text{pairs}}_q(F) + (1 - w)\, s_L\, J^{\text{labels}}_q(F)

    with w of `preference_weight` and :math:`s_P`, :math:`s_L` the scales of the two losses. By its scale, a document
    stands for about 1 in each. Sculley (2010). The pairs order the documents of a query. The labels keep the scores on
    the labels' scale, and teach across queries.

    It is ``w * pair_loss + (1 - w) * label_loss`` under a name of its own: same value, gradient and Hessian.

    Parameters
    ----------
    preference_weight : float, default 0.5
        w, from 0 to 1: what the pairs weigh. It is :math:`1 - α` of the paper, whose α weighs regression.
    pair_loss : Loss, default RankNet(normalization="rows")
        The paper takes squared or logistic loss on score differences.
    label_loss : Loss, default SquaredError()
        `LogisticError` for probabilities.

    Notes
    -----
    The paper draws pairs at random, one for each step of stochastic gradient descent, and learns a linear model. Here
    every pair counts in every round, and trees learn. Hessian kind and everything else are those of the sum: see
    `LossSum`.

    References
    ----------
    Sculley. Combined regression and ranking. KDD 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import boostplug as bp
    >>> queries = bp.Queries([2, 1, 0], group=[3])
    >>> loss = bp.CRR(preference_weight=0.25)
    >>> loss.name
    'CRR(.25)'
    >>> same = 0.25 * bp.RankNet(normalization="rows") + 0.75 * bp.SquaredError()
    >>> bool(np.all(loss.value(np.zeros(3), queries) == same.value(np.zeros(3), queries)))
    True
    """

    preference_weight: float = 0.5
    pair_loss: Loss = field(default_factory=lambda: RankNet(normalization="rows"))
    label_loss: Loss = field(default_factory=SquaredError)

    search_ranges: ClassVar = {"preference_weight": Range(0.0, 1.0)}

    def __post_init__(self) -> None:
        check_number("CRR: preference_weight", self.preference_weight, least=0.0, most=1.0)
        check_instance("CRR: pair_loss", self.pair_loss, Loss, "RankNet()")
        check_instance("CRR: label_loss", self.label_loss, Loss, "SquaredError()")

    @property
    def weighted(self) -> list[tuple[Loss, float]]:
        """The two losses and their weights."""
        w = float(self.preference_weight)
        both = ((self.pair_loss, w), (self.label_loss, 1.0 - w))
        return [(part, weight * by) for loss, weight in both if weight > 0.0 for part, by in parts_of(loss)]
