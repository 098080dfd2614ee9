"""NDCGBoost: a smooth bound of the expected NDCG over all pairs (Valizadegan et al., NIPS 2009)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import frozen
from boostplug.core.values import Range
from boostplug.data.queries import Queries
from boostplug.losses.base.gains import ideal_dcg, rising_gains
from boostplug.losses.base.logistic import SIGMOID
from boostplug.losses.base.pair_loss import Normalization
from boostplug.losses.base.smooth_pair_loss import SmoothPairLoss
from boostplug.losses.base.traits import HessianKind, LabelRange, Traits
from boostplug.metrics.gains import Gain, check_gain


@dataclass(frozen=True, kw_only=True)
class NDCGBoost(SmoothPairLoss):
    r"""Logistic surrogate of the expected NDCG, over all pairs of a query, in linear time.

    Pairs of very different grades count most, as in NDCG. It is not convex, and a document far in the wrong place is
    given up.

    .. math:: J_q(F) = \frac{c_q}{Z_q} \sum_{r_i > r_j} \sqrt{v_i v_j}\; |G_i - G_j|\; \sigma(-s\,(F_i - F_j))

    with G the gains, σ the logistic function, s of `sigmoid`, v the row weights and :math:`c_q` of `normalization`.
    :math:`Z_q` is the ideal DCG of the whole list (judged documents of positive weight) with discount
    :math:`1/\log_2(1 + j)`, as in ``NDCG(k=None)``. A query with :math:`Z_q = 0` teaches nothing.

    This is Eq. 11 of Valizadegan et al. (2009) times their n. Pairs of equal grades are left out, as they add a
    constant. Their F is twice the ranking score, so ``sigmoid=2`` is theirs. They write the discount
    :math:`1/\log(1 + j)`; another base of the logarithm multiplies everything by a constant.

    Parameters
    ----------
    sigmoid : float, default 1.0
        Multiplies score differences; from 1e-100 to 1e100.
    hessian : {"newton", "bound", "global"}
        With :math:`\gamma = \sigma (1 - \sigma)` and :math:`w_{ij} = s^2 c_q \sqrt{v_i v_j}\, |G_i - G_j| / Z_q`:
        "newton" is :math:`h_i = \sum_j w_{ij} \gamma`, the curvature of the paper's majoriser (its Proposition 2) at
        the current scores. It is never below the size of the true second derivative (kind "model"). "bound" is twice
        that, a bound of the full Hessian at the current scores (kind "bound"). "global" is
        :math:`h_i = \sum_j w_{ij} / (3 \sqrt 3)`, which no score changes (kind "global").
    gain : {"exp2", "linear"} or callable, default "exp2"
        As in `NDCG`: :math:`2^r - 1`, r, or a function of grades. Gains must not fall as grades rise; grades of equal
        gains make no pair.
    normalization : {"none", "rows", "query"}
        What the pairs of a query weigh together, before their :math:`|G_i - G_j| / Z_q`: see `Loss`.

    Notes
    -----
    Gradient: :math:`g_i = -s\, c_q \sum_j \sqrt{v_i v_j}\, \frac{G_i - G_j}{Z_q}\, \gamma\bigl(s\,(F_i - F_j)\bigr)`,
    the paper's Eq. 16.

    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q c_q W_q` over the queries that hold a pair, with
    :math:`n_q` documents and :math:`W_q = \sum \sqrt{v_i v_j}\, |G_i - G_j| / Z_q` over the pairs: a document stands
    for about 1.

    Accuracy: lists with more than 160 pairs a document are summed on a grid of scores, to 1e-9 of every pair. Others
    are exact. The grid also serves `value`. It takes σ for 0 or 1 if a pair is further apart than 39/s.

    Cost: :math:`O(n \log K)` for K grades.

    References
    ----------
    Valizadegan, Jin, Zhang, Mao. Learning to rank by optimizing NDCG measure. NIPS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug.losses.ndcg_boost import NDCGBoost
    >>> from boostplug import Queries
    >>> queries = Queries([1, 0], group=[2])
    >>> NDCGBoost().value(np.zeros(2), queries)
    array([0.5])
    >>> gradient, hessian = NDCGBoost().gradient_hessian(np.zeros(2), queries)
    >>> gradient
    array([-0.5,  0.5])
    >>> hessian
    array([0.5, 0.5])
    """

    sigmoid: float = 1.0
    hessian: Literal["newton", "bound", "global"] = "newton"
    gain: Gain = "exp2"
    normalization: Normalization = "none"

    pair_function = SIGMOID
    search_ranges: ClassVar = {"sigmoid": Range(0.25, 4.0, log=True)}  # the paper's is 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gain(self.gain)

    @property
    def traits(self) -> Traits:
        """Labels from 0 with the two named gains; "newton" is a Hessian of its own."""
        kinds: dict[str, HessianKind] = {"newton": "model", "bound": "bound", "global": "global"}
        labels = LabelRange() if callable(self.gain) else LabelRange(0.0)
        return Traits(hessian=kinds[self.hessian], labels=labels)

    def grade_gains(self, queries: Queries) -> Floats:
        """Return the gains over Z_q."""
        return queries.remember((NDCGBoost, self.gain), lambda: _relative_gains(queries, self.gain))


def _relative_gains(queries: Queries, gain: Gain) -> Floats:
    groups = queries.grade_groups
    query_of_group = groups.query_of_group
    level = rising_gains("NDCGBoost", queries, gain)
    ideal = ideal_dcg(groups, level)
    level -= level[groups.query_group[:-1]][query_of_group]  # only gaps count, and the ratios of these lose less
    level = np.divide(level, ideal[query_of_group], out=np.zeros_like(level), where=ideal[query_of_group] > 0)
    return frozen(level)
