"""Correlation: one minus Pearson's correlation of scores and labels, list by list."""

from dataclasses import dataclass

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_number, frozen
from boostplug.data.queries import Queries
from boostplug.kernels.lists.pearson import one_minus_pearson
from boostplug.losses.base.lists import sums_over_lists
from boostplug.losses.base.loss import Loss
from boostplug.losses.base.traits import Traits


@dataclass(frozen=True, kw_only=True)
class Correlation(Loss):
    r"""One minus Pearson's correlation of scores and labels over each query, as for cross-sections in finance.

    .. math:: J_q(F) = V_q \left(1 - \frac{\operatorname{cov}(F, r)}{s_r \sqrt{s_F^2 + ε^2}}\right)

    over the judged documents of a query. Means, covariance and standard deviations s are weighted by the row weights.
    Their sum is :math:`V_q`: without weights the number of documents.

    Parameters
    ----------
    epsilon : float, default 1.0
        ε, beside the standard deviation of a query's scores. All scores are equal in the first round, where Pearson's
        correlation is undefined. With ε it is 0 there, and its gradient is minus the standardised labels. If it is
        smaller, a correlation needs smaller scores, and the loss between them is steeper.

    Notes
    -----
    Gradient: with :math:`τ = \sqrt{s_F^2 + ε^2}`, z the standardised labels and ρ the regularised correlation,
    :math:`g_i = -v_i\,(z_i - ρ\,(F_i - \bar F) / τ) / τ`. The exact diagonal may be negative. The Hessian is
    :math:`h_i = (2 / \sqrt 3)\, v_i / τ^2`, the largest curvature that the loss has in any direction (kind "bound").

    A query whose labels are all equal takes no part: there is nothing to correlate with. Differences of scores are cut
    at 1e140.

    Scale: outputs are multiplied by the number of judged rows over their total weight: 1 without weights.

    Cost: O(n), no elementary function per document.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import Correlation, Queries
    >>> queries = Queries([1, 0, -1, 0], group=[4])
    >>> Correlation().value(np.zeros(4), queries)
    array([4.])
    >>> gradient, hessian = Correlation().gradient_hessian(np.zeros(4), queries)
    >>> gradient.round(3) + 0.0
    array([-1.414,  0.   ,  1.414,  0.   ])
    >>> hessian.round(3)
    array([1.155, 1.155, 1.155, 1.155])
    """

    epsilon: float = 1.0

    traits = Traits(hessian="bound")

    def __post_init__(self) -> None:
        check_number("Correlation: epsilon", self.epsilon, least=1e-100, most=1e100)

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        return sums_over_lists(
            one_minus_pearson, scores, queries, _standardised(queries), float(self.epsilon), 1.0
        ).value

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J and the largest curvature of each query."""
        target = _standardised(queries)
        _, gradient, hessian = sums_over_lists(one_minus_pearson, scores, queries, target, float(self.epsilon), scale)
        return gradient, hessian


def _standardised(queries: Queries) -> Floats:
    """Return the labels of the judged documents, of mean 0 and standard deviation 1 in each list, or 0."""

    def compute() -> Floats:
        judged = queries.judged_lists
        if not len(judged.query):
            return frozen(np.zeros(0))
        first, sizes = judged.start[:-1], np.diff(judged.start)

        def mean(x: Floats) -> Floats:
            return np.repeat(np.add.reduceat(judged.weight * x, first) / np.add.reduceat(judged.weight, first), sizes)

        apart = judged.grade - np.repeat(judged.grade[first], sizes)  # exactly 0 where all labels are equal
        unit = np.repeat(np.maximum.reduceat(np.abs(apart), first), sizes)
        apart = np.divide(apart, unit, out=np.zeros(len(apart)), where=unit > 0.0)
        apart -= mean(apart)
        spread = np.sqrt(mean(apart**2))
        return frozen(np.divide(apart, spread, out=np.zeros(len(apart)), where=(unit > 0.0) & (spread > 0.0)))

    return queries.remember((Correlation,), compute)
