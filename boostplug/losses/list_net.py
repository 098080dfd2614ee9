"""ListNet: softmax cross entropy over whole lists (Cao et al., ICML 2007)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import frozen
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.lists import softmax as kernels
from boostplug.losses.base.lists import sums_over_lists
from boostplug.losses.base.loss import Loss

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ListNet(Loss):
    r"""Cross entropy between the softmax of a list's grades and the softmax of its scores.

    .. math:: J_q(F) = -\bar v_q \sum_i P_i \log p_i, \qquad p_i = \frac{v_i\, e^{F_i}}{\sum_j v_j\, e^{F_j}}

    over the judged documents of a query, with v the row weights. A list counts once, whatever its length. The target is
    :math:`P_i \propto v_i\, e^{r_i}`, ListNet's top-one probabilities. Labels may be any real numbers. Their unit
    matters: a gap of 1 makes a document e times as likely to be the best.

    Notes
    -----
    The gradient is :math:`p - P`, the Hessian :math:`p\,(1 - p)`, the second derivative (kind "exact"). 1 - p is the
    sum of the other documents' shares, so all is finite for scores of any size. Where the Hessian vanishes beside the
    gradient, it is held at 1e-16 of the gradient, as XGBoost does.

    Weights: a document of weight v stands in its list v times. So a document drawn with probability 1/v stands for
    those that were not. The list itself weighs :math:`\bar v = \sum v^2 / \sum v`, which is the weight of each of its
    documents if they all weigh the same. Weight 0 removes the document.

    Equal grades teach too: P is then uniform (in proportion to weights), and the scores are pulled together. A document
    alone in its list gets no step.

    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q \bar v_q` over the lists of two documents and more. A
    document then stands for about 1.

    Cost: O(n), an exponential for each document.

    References
    ----------
    Cao, Qin, Liu, Tsai, Li. Learning to rank: from pairwise approach to listwise approach. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import ListNet, Queries
    >>> queries = Queries([1, 0], group=[2])
    >>> ListNet().value(np.zeros(2), queries) / np.log(2.0)
    array([1.])
    >>> gradient, hessian = ListNet().gradient_hessian(np.zeros(2), queries)
    >>> gradient.round(3)
    array([-0.462,  0.462])
    >>> hessian
    array([0.5, 0.5])
    """

    hessian_kind = "exact"

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ n_q and Σ v̄_q over the lists of two documents and more."""
        n = np.diff(queries.judged_lists.start)
        return np.array([float(n[n > 1].sum())]), np.array([_weights(queries)[n > 1].sum()])

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        return sums_over_lists(kernels.values, scores, queries, _target(queries), _weights(queries)).value

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J, and p (1 - p)."""
        how = _target(queries), scale * _weights(queries)
        _, gradient, hessian = sums_over_lists(kernels.derivatives, scores, queries, *how)
        positive_beside(gradient, hessian)
        return gradient, hessian


def _target(queries: Queries) -> Floats:
    """Return P of each judged document."""

    def compute() -> Floats:
        judged = queries.judged_lists
        if not len(judged.query):
            return frozen(np.zeros(0))
        first, sizes = judged.start[:-1], np.diff(judged.start)
        best = np.maximum.reduceat(judged.grade, first)
        e = judged.weight * np.exp(judged.grade - np.repeat(best, sizes))
        return frozen(e / np.repeat(np.add.reduceat(e, first), sizes))

    return queries.remember((ListNet, "target"), compute)


def _weights(queries: Queries) -> Floats:
    """Return v̄ of each list."""

    def compute() -> Floats:
        judged = queries.judged_lists
        if queries.row_weight is None or not len(judged.query):
            return frozen(np.ones(len(judged.query)))
        total, square = (np.add.reduceat(x, judged.start[:-1]) for x in (judged.weight, judged.weight**2))
        return frozen(square / total)

    return queries.remember((ListNet, "weights"), compute)
