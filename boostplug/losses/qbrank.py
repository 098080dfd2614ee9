"""QBRank: squared hinges on pairs mixed with squared error on labels (Zheng et al., NIPS 2007)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.core.checks import check_number
from boostplug.core.threads import run_over_queries
from boostplug.core.values import Range
from boostplug.data.queries import Queries
from boostplug.kernels.pairs import hinge as kernels
from boostplug.losses.base.loss import LARGEST_VALUE, Loss
from boostplug.losses.base.pair_loss import PairFunction, PairLoss, pairs_to_learn
from boostplug.losses.base.traits import Traits
from boostplug.losses.squared_error import label_squares, residuals

Normalization = Literal["none", "rows", "query", "documents"]


@dataclass(frozen=True, kw_only=True)
class QBRank(PairLoss):
    r"""Squared hinge on all pairs of different grades, mixed with squared error on the labels.

    The loss to start with. The pairs teach the order within each query. The labels teach what a grade means across
    queries.

    .. math::
        R_q(F) = c_q \frac w2 \sum_{r_i > r_j} \sqrt{v_i v_j}\, \max(0,\ F_j - F_i + τ_{ij})^2
               + \frac{1 - w}2 \sum_i v_i\, (r_i - F_i)^2

    with w of `preference_weight`, v the row weights and :math:`c_q` of `normalization`. The last sum is over all
    labelled documents, also those in no pair. This is the objective of Zheng et al. (2007); theirs has :math:`c_q = 1`
    ("none"). With explicit `Pairs`, the first sum runs over these, each times its own weight. The labels stay.

    Parameters
    ----------
    margin : "grade" or float
        τ: how far ahead a preferred document should score. "grade": by the pair's grade gap, which is the paper's
        choice for graded documents. An explicit pair then has its own margin. A number ≥ 0: the same for all pairs.
    preference_weight : float
        The paper's w, from 0 to 1. 1: only pairs. 0: only squared error. Its trees are then those of the frameworks'
        regression, if all weights are 1.
    hessian : {"bound", "global"}
        "bound": :math:`h_i = 2 w\, c_q \sum_{\text{active}} \sqrt{v_i v_j} + (1 - w)\, v_i`, over the active pairs,
        those with a loss above 0. It is a bound at the current scores. "global": the same sum over all pairs. Its
        quadratic lies above R everywhere, so steps are smaller. The 2 turns the Hessian of a pair, which couples two
        documents, into a diagonal.
    normalization : {"rows", "none", "query", "documents"}
        What the pairs of a query weigh together: see `Loss`. With "rows" they weigh as much as the labels. "none" is
        the paper's sum. "documents" has the paper's averaged targets (see Notes; `hessian` then changes nothing).

    Notes
    -----
    "documents" is the paper's Algorithm 2 with its Remark. In each step a document has a target for its label, and one
    for each of its pairs, active or not. It gets the average of these targets, and weighs :math:`v_i`:

    .. math:: t_i = \frac{w \sum_j \sqrt{v_i v_j}\, (±\max(0,·)) + (1 - w)\, v_i (r_i - F_i)}
              {w \sum_j \sqrt{v_i v_j} + (1 - w)\, v_i}, \\ g_i = -v_i t_i, \quad h_i = v_i .

    It has no factor 2, so this Hessian is not a bound (kind "model"). No function has this gradient; `value` is that of
    "none". If a document weighed the sum in the denominator instead, this would be "none" with half of the "global"
    pair Hessian.

    Scale: outputs are multiplied by
    :math:`\bigl(w \sum_q n_q + (1 - w) N\bigr) / \bigl(w \sum_q c_q W_q + (1 - w) V\bigr)`. The queries q hold a
    pair and :math:`n_q` documents. :math:`W_q = \sum \sqrt{v_i v_j}` over their pairs, explicit ones times their own
    weights. N is the number of all judged documents, V their weight. The terms of a document then weigh 1 on average,
    as in squared error. The factor is that of both sums, so w alone balances them. For "documents" it is :math:`N / V`,
    with the documents of explicit pairs. It is 1 for w = 0, "rows" and "documents" if all weights are 1.

    A pair is active where :math:`(r_i - F_i) - (r_j - F_j) > 0`. With a constant margin, where :math:`F_i - F_j < τ`.
    Exactly at its margin a pair is not active. :math:`|r - F|` is cut at 1e150.

    Cost: :math:`O(n \log n)` time and :math:`O(n)` memory (72 bytes a document) for a query of n documents with any
    number of grades. One query of :math:`10^6` documents takes about .25 s with five grades, .7 s with real-valued
    ones.

    References
    ----------
    Zheng, Zha, Zhang, Chapelle, Chen, Sun. A general boosting method and its application to learning ranking functions
    for web search. NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from boostplug import QBRank, Queries
    >>> loss = QBRank(preference_weight=1.0)
    >>> queries = Queries([2, 1, 0], group=[3])
    >>> loss.value(np.zeros(3), queries)
    array([3.])
    >>> gradient, hessian = loss.gradient_hessian(np.zeros(3), queries)
    >>> gradient
    array([-3.,  0.,  3.])
    >>> hessian
    array([4., 4., 4.])
    """

    margin: Literal["grade"] | float = "grade"
    preference_weight: float = 0.5
    hessian: Literal["bound", "global"] = "bound"
    normalization: Normalization = "rows"

    search_ranges: ClassVar = {"preference_weight": Range(0.0, 1.0)}

    def __post_init__(self) -> None:
        if not isinstance(self.margin, str) or self.margin != "grade":
            check_number("QBRank: margin", self.margin, least=0.0, most=1e100, otherwise=", or 'grade'")
        check_number("QBRank: preference_weight", self.preference_weight, least=0.0, most=1.0)
        super().__post_init__()

    @property
    def traits(self) -> Traits:
        """Of pairs alone it is shift-invariant, but not as averages per document, which are no function's gradient."""
        averages = self.normalization == "documents"
        return Traits(
            hessian="model" if averages else self.hessian,
            shift_invariant=self.preference_weight == 1.0 and not averages,
            compares_documents=self.preference_weight > 0.0,
            gradient_of_value=not averages,
            pairs=True,
        )

    @property
    def scaled_pair_function(self) -> PairFunction:
        """Half of the squared hinge."""
        margin = 1.0 if isinstance(self.margin, str) else float(self.margin)
        return PairFunction(
            lambda d: 0.5 * np.maximum(margin - d, 0.0) ** 2,
            lambda d: np.minimum(d - margin, 0.0),
            lambda d: (d < margin).astype(np.float64),
        )

    def scale_terms(self, queries: Queries) -> tuple[Floats, Floats]:
        """Return w Σ n_q + (1 - w) N and w Σ c_q W_q + (1 - w) Σ v_i (see Notes)."""
        if self.normalization == "documents":
            return Loss.scale_terms(self, queries)
        w = float(self.preference_weight)
        judged = queries.judged
        number = np.array([float(np.count_nonzero(judged))])
        weight = number if queries.row_weight is None else np.array([queries.row_weight[judged].sum()])
        if w == 0.0:  # and no pair is looked at
            return number, weight
        documents, pairs = super().scale_terms(queries)
        return w * documents + (1.0 - w) * number, w * pairs + (1.0 - w) * weight

    def compute_value(self, scores: Floats, queries: Queries) -> Floats:
        """Return R of each query."""
        w = float(self.preference_weight)
        value = np.zeros(queries.n_queries)
        with np.errstate(over="ignore"):  # cut below
            if w < 1.0:
                value += (0.5 * (1.0 - w)) * label_squares(scores, queries)
            if w > 0.0:
                of_pairs = self._add_pairs(scores, queries, 1.0, *np.zeros((2, queries.n_rows)), squares=True)
                value[pairs_to_learn(queries).query] += 0.5 * (w * self.normalization_factors(queries)) * of_pairs
        return np.minimum(value, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of R and the Hessian of `hessian`, or the averages of "documents"."""
        w, averaged = float(self.preference_weight), self.normalization == "documents"
        of_terms = 1.0 if averaged else scale
        if w == 1.0:
            gradient, hessian = np.zeros((2, queries.n_rows))
        else:
            gradient, weight = residuals(scores, queries)
            factor = of_terms * (1.0 - w)
            hessian = np.full(queries.n_rows, factor) if weight is None else factor * weight
            gradient *= hessian
        if w > 0.0:
            self._add_pairs(scores, queries, of_terms, gradient, hessian)
        if not averaged:
            return gradient, hessian
        terms, of_row = hessian, scale if queries.row_weight is None else scale * queries.row_weight
        hessian = np.where(terms > 0.0, of_row, 0.0)
        gradient *= np.divide(hessian, terms, out=np.zeros(queries.n_rows), where=terms > 0.0)
        return gradient, hessian

    def _add_pairs(
        self,
        scores: Floats,
        queries: Queries,
        scale: float,
        gradient: Floats,
        hessian: Floats,
        *,
        squares: bool = False,
    ) -> Floats:
        """Add scale times the derivatives of the pairs; or return each query's sum of squares, not scaled."""
        factor = queries.remember((QBRank, self.normalization), lambda: self.normalization_factors(queries))
        factor = scale * (float(self.preference_weight) * factor)
        averaged, by_grade = self.normalization == "documents", self.margin == "grade"
        margin = 0.0 if by_grade else float(self.margin)
        every_pair = averaged or self.hessian == "global"
        hinge = kernels.Hinge(float(by_grade), margin, every_pair, 1.0 if averaged else 2.0, squares)
        of_query = np.empty(len(factor))
        outputs = factor, gradient, hessian, of_query
        if queries.pairs is None:
            groups = queries.grade_groups
            short = groups.view.longest <= kernels.BY_PAIR_UP_TO and not squares
            kernel = kernels.add_short if short else kernels.add_any
            run_over_queries(kernel, groups.query_start, scores, groups.view, hinge, *outputs)
        else:
            pairs = queries.listed_pairs.view
            pairs = pairs if by_grade else pairs._replace(margin=np.full(len(pairs.margin), margin))
            threads = 1 if pairs.crosses else None
            run_over_queries(kernels.add_listed, pairs.start, scores, pairs, hinge, *outputs, num_threads=threads)
        return of_query
