"""Squared error on the labels: plain regression, or centred in each query (CatBoost's QueryRMSE)."""

from dataclasses import dataclass

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_flag
from boostplug.data.queries import Queries
from boostplug.kernels.lists.centred import centred_squares
from boostplug.losses.base.lists import sums_over_lists
from boostplug.losses.base.loss import LARGEST_VALUE, Loss
from boostplug.losses.base.traits import Traits

_LARGEST = 1e150  # bound of |r - F|: its square is finite


def label_squares(scores: Floats, queries: Queries) -> Floats:
    """Return Σ v (r - F)² of each query."""
    x, v = residuals(scores, queries)
    with np.errstate(over="ignore"):  # values are cut
        squares = x * x if v is None else v * x * x
        return np.bincount(queries.query_of_row, squares, queries.n_queries).astype(np.float64, copy=False)


def residuals(scores: Floats, queries: Queries) -> tuple[Floats, Floats | None]:
    """Return F - r, cut, and the rows' weights, 0 without a label; None where all are 1."""
    with np.errstate(over="ignore"):  # what is infinite is cut
        x: Floats = scores - queries.labels
    v = queries.row_weight
    if queries.labelled is not None:
        v = queries.labelled.astype(np.float64) if v is None else v * queries.labelled
    return np.clip(x, -_LARGEST, _LARGEST, out=x), v


@dataclass(frozen=True, kw_only=True)
class SquaredError(Loss):
    r"""Squared error on the labels, over the queries' rows or over each query's differences.

    .. math:: J_q(F) = \frac12 \sum_i v_i\, (r_i - F_i - m_q)^2

    with v the row weights, over the labelled rows. m is 0. With `centred` it is the weighted mean of :math:`r - F` over
    the query. Then only differences within a query count, not the level of its labels.

    Parameters
    ----------
    centred : bool, default False
        False: regression on the labels, with the trees of the frameworks' own if all weights are 1. Else its numbers
        are divided by the mean weight. It is the label term of `QBRank`. True: CatBoost's QueryRMSE.

    Notes
    -----
    Hessian: :math:`v_i` (kind "global"). Not centred, it is the second derivative. Centred, the second derivatives are
    :math:`v_i\,(1 - v_i / \sum v)` and, mixed, :math:`-v_i v_j / \sum v`. The quadratic with :math:`v_i` lies above the
    loss for any step, and CatBoost has it too. A document alone in its list then gets no step. Its Hessian is 0
    (CatBoost: :math:`v_i`), so it holds no other one back.

    Scale: outputs are multiplied by the number of the labelled rows over their total weight: 1 without weights.

    :math:`|r - F|` is cut at 1e150. Centred, labels and scores are taken relative to those of the query's heaviest
    document. So no offset costs digits.

    References
    ----------
    CatBoost's documentation, "Ranking: objectives and metrics": QueryRMSE.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import Queries, SquaredError
    >>> queries = Queries([2, 1, 0], group=[3])
    >>> SquaredError().value(np.zeros(3), queries)
    array([2.5])
    >>> SquaredError(centred=True).value(np.zeros(3), queries)
    array([1.])
    >>> gradient, hessian = SquaredError(centred=True).gradient_hessian(np.zeros(3), queries)
    >>> gradient + 0.0  # without the sign of 0
    array([-1.,  0.,  1.])
    >>> hessian
    array([1., 1., 1.])
    """

    centred: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "centred", check_flag("SquaredError: centred", self.centred))

    @property
    def traits(self) -> Traits:
        """Centred, it compares documents: a query's own mean is taken out of scores and labels."""
        return Traits(hessian="global", shift_invariant=self.centred)

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        if self.centred:
            return sums_over_lists(centred_squares, scores, queries, queries.labels, 1.0).value
        return np.minimum(0.5 * label_squares(scores, queries), LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J, and `scale` times the weights."""
        if self.centred:
            sums = sums_over_lists(centred_squares, scores, queries, queries.labels, scale)
            return sums.gradient, sums.hessian
        gradient, weight = residuals(scores, queries)
        hessian = np.full(queries.n_rows, scale) if weight is None else scale * weight
        gradient *= hessian
        return gradient, hessian
