"""QBRank: squared hinges on pairs mixed with squared error on labels (Zheng et al., NIPS 2007)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from boostplug.core import buffers
from boostplug.core.checks import check_number, frozen
from boostplug.core.values import Range
from boostplug.data.grade_groups import GradeRuns
from boostplug.data.queries import Queries
from boostplug.kernels.pairs import hinge as kernels
from boostplug.losses.base.loss import LARGEST_VALUE, HessianKind, Loss
from boostplug.losses.base.pair_loss import PairLoss, runs_of
from boostplug.losses.squared_error import squared_errors

__all__ = ["QBRank"]

Floats = NDArray[np.float64]

Normalization = Literal["none", "rows", "query", "documents"]

_NONE = frozen(np.zeros(0))


@dataclass(frozen=True, kw_only=True)
class QBRank(PairLoss):
    r"""Squared hinge on all pairs of different grades, mixed with squared error on the labels.

    .. math::
        R_q(F) = c_q \frac w2 \sum_{r_i > r_j} \sqrt{v_i v_j}\, \max(0,\ F_j - F_i + τ_{ij})^2
               + \frac{1 - w}2 \sum_i v_i\, (r_i - F_i)^2

    with w of `preference_weight`, v the row weights and :math:`c_q` of `normalization`; the last sum is over all
    labelled documents, those in no pair too. Zheng et al. (2007), their objective, with :math:`c_q = 1` ("none"). Where
    the queries come with explicit `Pairs`, the first sum runs over them instead, each times its own weight; labels stay
    beside them.

    Parameters
    ----------
    margin : "grade" or float
        τ: how far ahead a preferred document should score. "grade": the pair's grade gap, the paper's choice for
        graded documents, or the explicit pair's own margin. A number ≥ 0: the same for all pairs.
    preference_weight : float
        The paper's w, from 0 to 1. 1: pairs alone. 0: squared error: where all weights are 1, the same numbers and so
        the same trees as the frameworks' regression; else those numbers over the mean weight.
    hessian : {"bound", "global"}
        "bound": :math:`h_i = 2 w\, c_q \sum_{\text{active}} \sqrt{v_i v_j} + (1 - w)\, v_i`, over the active pairs,
        those with a loss above 0 (kind "bound": it dominates at the current scores, where no pair stands exactly at its
        margin). "global": the same over all pairs, active or not (kind "global": the quadratic lies above R
        everywhere). The 2 turns the Hessian of a pair, which couples two documents, into a diagonal.
    normalization : {"rows", "none", "query", "documents"}
        What the pairs of a query weigh together: see `Loss`; with "rows" as much as their labels. "none" is the paper's
        sum. "documents": the paper's averaged targets, see Notes (kind "model"; `hessian` changes nothing).

    Notes
    -----
    "documents" is the paper's Algorithm 2 with its Remark: a document stands in the training set of a step once for
    each of its pairs, active or not, and once for its label; it gets the average of these targets, and weighs
    :math:`v_i`:

    .. math:: t_i = \frac{w \sum_j \sqrt{v_i v_j}\, (±\max(0,·)) + (1 - w)\, v_i (r_i - F_i)}
              {w \sum_j \sqrt{v_i v_j} + (1 - w)\, v_i}, \\ g_i = -v_i t_i, \quad h_i = v_i .

    There is no 2, so this is no bound, and no function has this gradient; `value` is that of "none". The average's
    other form, where a document weighs the sum in the denominator, is "none" with half of the "global" pair Hessian.

    Scale: outputs are multiplied by
    :math:`\bigl(w \sum_q n_q + (1 - w) N\bigr) / \bigl(w \sum_q c_q W_q + (1 - w) V\bigr)`, where q are the queries
    that hold a pair, with :math:`n_q` documents and :math:`W_q` what the pairs weigh together,
    :math:`\sum \sqrt{v_i v_j}` (explicit ones times their own weights); N is the number of all judged documents and V
    what these weigh. The terms of a document then weigh 1 on average, as in plain squared error. It multiplies both
    sums, so their balance is w's alone. "documents" is multiplied by :math:`N / V`, the documents of explicit pairs
    counted in. Where all weights are 1, the scale is 1 for w = 0, "rows" and "documents".

    A pair is active where :math:`(r_i - F_i) - (r_j - F_j) > 0` or, for a constant margin, :math:`F_i - F_j < τ`, in
    float64: exactly at its margin it is not. :math:`|r - F|` is cut at 1e150.

    Cost: a query of n documents takes :math:`O(n \log n)`, for any number of grades, and :math:`O(n)` memory (72 bytes
    each). One query of :math:`10^6` documents takes about .25 s with five grades, .7 s with real-valued ones.

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

    takes_pairs = True
    search_ranges: ClassVar = {"preference_weight": Range(0.0, 1.0)}

    def __post_init__(self) -> None:
        if not isinstance(self.margin, str) or self.margin != "grade":
            check_number("QBRank: margin", self.margin, least=0.0, most=1e100, otherwise=", or 'grade'")
        check_number("QBRank: preference_weight", self.preference_weight, least=0.0, most=1.0)
        super().__post_init__()

    @property
    def hessian_kind(self) -> HessianKind:
        """What the Hessian is: "model" where normalization is "documents", else as `hessian` says."""
        return "model" if self.normalization == "documents" else self.hessian

    @property
    def shift_invariant(self) -> bool:
        """Whether pairs alone count: a label term knows where 0 is, and averages per document do not sum to 0."""
        return self.preference_weight == 1.0 and self.normalization != "documents"

    @property
    def has_gradient_of_value(self) -> bool:
        """False for "documents", whose averages are no function's gradient."""
        return self.normalization != "documents"

    @property
    def degree_in_labels(self) -> int | None:
        """1 where scores are in the labels' unit; with a constant margin 0 for pairs alone, none beside labels."""
        w = self.preference_weight
        if self.margin == "grade" or w == 0.0:
            return 1
        if w == 1.0:
            return 0
        return 1 if self.margin == 0.0 else None

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
        out, of_pairs = self._sums(scores, queries, 1.0, 2.0, squares_too=True)
        with np.errstate(over="ignore"):  # cut below
            value = (0.5 * (1.0 - w)) * out.squares
            if w > 0.0:
                runs = runs_of(queries)
                value[runs.query] += 0.5 * (w * self.factors(queries)) * of_pairs
        return np.minimum(value, LARGEST_VALUE)

    def compute_gradient_hessian(self, scores: Floats, queries: Queries, scale: float) -> tuple[Floats, Floats]:
        """Return `scale` times the gradient of R and the Hessian of `hessian`, or the averages of "documents"."""
        if self.normalization != "documents":
            (gradient, hessian, _), _ = self._sums(scores, queries, scale, 2.0)
            return gradient, hessian
        (gradient, terms, _), _ = self._sums(scores, queries, 1.0, 1.0)
        weight = scale if queries.row_weight is None else scale * queries.row_weight
        hessian = np.where(terms > 0.0, weight, 0.0)
        gradient *= np.divide(hessian, terms, out=np.zeros(queries.n_rows), where=terms > 0.0)
        return gradient, hessian

    def _sums(
        self, scores: Floats, queries: Queries, scale: float, curvature_of_pair: float, *, squares_too: bool = False
    ) -> tuple[kernels.Sums, Floats]:
        """Return scale · (gradient, Hessian) with squares of labels, and those of each query's pairs: not scaled.

        The latter are right with `squares_too` alone.
        """
        w = float(self.preference_weight)
        if w == 1.0:
            gradient, hessian = buffers.zeros(2, queries.n_rows)
            out = kernels.Sums(gradient, hessian, np.zeros(queries.n_queries))
        else:
            out = squared_errors(scores, queries, scale * (1.0 - w))
        squares = _NONE
        if w > 0.0:
            runs = runs_of(queries)
            slope = w * self.factors(queries)
            factors = kernels.Factors(scale * slope, curvature_of_pair * scale * slope)
            every_pair = self.hessian == "global" or self.normalization == "documents"
            by_grade = self.margin == "grade"
            margin = 0.0 if by_grade else float(self.margin)
            if isinstance(runs, GradeRuns):
                hinge = kernels.Hinge(float(by_grade), margin, every_pair, squares_too)
                squares = kernels.add_pairs(scores, runs.view, hinge, factors, out)
            else:
                pairs = runs.view
                if not by_grade:
                    pairs = pairs._replace(margin=np.full(len(runs.margin), margin))
                squares = kernels.add_listed(scores, pairs, every_pair, factors, out)
        return out, squares
