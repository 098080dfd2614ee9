"""ListNet: softmax cross entropy over whole lists (Cao et al., ICML 2007), and the conditional logit."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_choice, check_values, frozen
from boostplug.core.values import Space
from boostplug.data.queries import Queries
from boostplug.kernels.base.single_precision import positive_beside
from boostplug.kernels.lists import softmax as kernels
from boostplug.losses.base.lists import sums_over_lists
from boostplug.losses.base.loss import Loss
from boostplug.losses.base.traits import LabelRange, Traits

Target = Literal["softmax", "labels"]


@dataclass(frozen=True, kw_only=True)
class ListNet(Loss):
    r"""Cross entropy between shares that a list's labels make and the softmax of its scores.

    .. math:: J_q(F) = -\bar v_q \sum_i P_i \log p_i, \qquad p_i = \frac{v_i\, e^{F_i}}{\sum_j v_j\, e^{F_j}}

    over the judged documents of a query, with v the row weights. A list counts once, whatever its length.

    Parameters
    ----------
    target : {"softmax", "labels"}
        "softmax": :math:`P_i \propto v_i\, e^{r_i}`, ListNet's top-one probabilities. Labels may be any real numbers.
        Their unit matters: a gap of 1 makes a document e times as likely to be the best. "labels":
        :math:`P_i \propto v_i\, r_i`, for lists of which one document was chosen: bought, booked, clicked, the winner.
        Several chosen documents, grades and amounts count by their labels, which are ≥ 0.

    Notes
    -----
    With ``target="labels"`` and one chosen document this is McFadden's conditional logit (1974). J is minus the log
    likelihood of the choice. The softmax of scores within a list estimates the probability of each choice. Other names
    are softmax cross entropy (TF-Ranking, rax: ``softmax_loss``) and QuerySoftMax (CatBoost). A list without a label
    above 0 teaches nothing, and its value is 0.

    The gradient is :math:`p - P`, the Hessian :math:`p\,(1 - p)`, the second derivative (kind "exact"). 1 - p is the
    sum of the other documents' shares, so all is finite for scores of any size. Where the Hessian vanishes beside the
    gradient, it is held at 1e-16 of the gradient, as XGBoost does.

    Weights: a document of weight v stands in its list v times. So a document drawn with probability 1/v stands for
    those that were not. The list itself weighs :math:`\bar v = \sum v^2 / \sum v`. That is the weight of each of its
    documents if they all weigh the same. Weight 0 removes the document.

    Equal labels teach too. P is then uniform (in proportion to weights), and pulls the scores together. A document
    alone in its list gets no step.

    Scale: outputs are multiplied by :math:`\sum_q n_q / \sum_q \bar v_q` over the lists of two documents and more that
    have a target. A document then stands for about 1.

    Cost: O(n), an exponential for each document.

    Raises
    ------
    ValueError
        If a label is below 0 with ``target="labels"``.

    References
    ----------
    Cao, Qin, Liu, Tsai, Li. Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    McFadden. Conditional logit analysis of qualitative choice behavior. Frontiers in Econometrics, 1974.

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
    >>> ListNet(target="labels").gradient_hessian(np.zeros(2), queries)[0]
    array([-1.,  1.])
    """

    target: Target = "softmax"

    def __post_init__(self) -> None:
        check_choice("ListNet: target", self.target, get_args(Target))

    @property
    def traits(self) -> Traits:
        """Labels of 0 and more where they are shares."""
        return Traits(hessian="exact", labels=LabelRange(0.0) if self.target == "labels" else LabelRange())

    @property
    def search_space(self) -> Space:
        """The search space without `target`, which the meaning of the labels determines."""
        space = dict(super().search_space)
        del space["target"]
        return space

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return Σ n_q and Σ v̄_q over the lists of two documents and more that have a target."""
        n, weight = np.diff(queries.judged_lists.start), self._weights(queries)
        learnt = (n > 1) & (weight > 0.0)
        return np.array([float(n[learnt].sum())]), np.array([weight[learnt].sum()])

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return J of each query."""
        return sums_over_lists(kernels.values, scores, queries, self._target(queries), self._weights(queries)).value

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of J, and p (1 - p)."""
        target, factor = self._target(queries), scale * self._weights(queries)
        _, gradient, hessian = sums_over_lists(kernels.derivatives, scores, queries, target, factor)
        positive_beside(gradient, hessian)
        return gradient, hessian

    def _target(self, queries: Queries) -> Floats:
        """Return P of each judged document. It is 0 in a list without a label above 0 if labels are shares."""

        def compute() -> Floats:
            judged = queries.judged_lists
            if self.target == "labels":
                negative = queries.judged & (queries.labels < 0.0)
                check_values("labels", negative, queries.labels, "is below 0; ListNet(target='labels') takes shares")
                return judged.label_shares
            if not len(judged.query):
                return frozen(np.zeros(0))
            best = np.repeat(np.maximum.reduceat(judged.grade, judged.start[:-1]), np.diff(judged.start))
            return frozen(judged.over_sums(judged.weight * np.exp(judged.grade - best)))

        return queries.remember((ListNet, self.target), compute)

    def _weights(self, queries: Queries) -> Floats:
        """Return v̄ of each list, 0 without a target."""

        def compute() -> Floats:
            judged = queries.judged_lists
            if not len(judged.query):
                return frozen(np.zeros(0))
            first, v = judged.start[:-1], judged.weight
            learnt = np.add.reduceat(self._target(queries), first) > 0.0
            return frozen(learnt * np.add.reduceat(v**2, first) / np.add.reduceat(v, first))

        return queries.remember((ListNet, "weights", self.target), compute)
